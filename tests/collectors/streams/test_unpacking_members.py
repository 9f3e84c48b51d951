"""Gzip of many small members, as Firehose stores what CloudWatch Logs packed: the work grows with the bytes alone."""

from __future__ import annotations

import gzip
import random
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from collectors.request_log.otlp.parse import Refusal, unpack
from collectors.request_log.s3.unpack import Unpacking

if TYPE_CHECKING:
    from collections.abc import Callable

MEMBERS = 5000
PACKED = gzip.compress(b"a") * MEMBERS
ABOUT_A_PART = 20_000


def _unpack_object(packed: bytes) -> bytes:
    unpacking = Unpacking()
    content = b"".join(unpacking.feed(packed))
    unpacking.check_end()
    return content + unpacking.rest()


def _unpack_body(packed: bytes) -> bytes:
    return unpack(packed, 10**8)


@pytest.mark.parametrize("unpack_it", [_unpack_object, _unpack_body])
def test_no_member_is_handed_all_that_follows_it(
    unpack_it: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    fed: list[int] = []
    real = zlib.decompressobj

    class Counting:
        def __init__(self, wbits: int) -> None:
            self._real = real(wbits=wbits)

        def decompress(self, packed: bytes, most: int) -> bytes:
            fed.append(len(packed))
            return self._real.decompress(packed, most)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    assert unpack_it(PACKED) == b"a" * MEMBERS
    assert max(fed) < ABOUT_A_PART


@pytest.mark.parametrize("size", [0, 1, 100, 16_383, 16_384, 262_143, 262_144, 700_000])
@pytest.mark.parametrize("is_dense", [True, False])
def test_a_body_comes_out_as_it_went_in_whatever_its_length(size: int, *, is_dense: bool) -> None:
    content = random.Random(size).randbytes(size) if is_dense else b"a" * size
    packed = gzip.compress(content)
    assert unpack(packed, 10**6) == content
    assert unpack(packed + gzip.compress(b"b"), 10**6) == content + b"b"
    with pytest.raises(Refusal, match="ends before"):
        unpack(packed[:-1], 10**6)
