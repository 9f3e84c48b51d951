from __future__ import annotations

import gzip
import io
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cli import reading
from analyzer.cli.inputs import STDIN
from analyzer.cli.reading import LogFile, at_rest, end_of, is_recording, read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINES = [
    f'{{"v":1,"time":"2026-06-01T10:00:{n % 60:02d}.000Z","op":"GetItem","n":{n}}}\n'.encode() for n in range(9000)
]
WHOLE = b"".join(LINES)


class FakeStdin:
    def __init__(self, content: bytes) -> None:
        self.buffer = io.BufferedReader(io.BytesIO(content))


@pytest.fixture(params=["plain", "gz", "zst"])
def packed(request: pytest.FixtureRequest) -> bytes:
    pack: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gz": gzip.compress, "zst": zstandard.compress}
    return pack[request.param](WHOLE)


def test_a_log_is_read_whole_whatever_it_is_packed_in_or_called(tmp_path: Path, packed: bytes) -> None:
    path = tmp_path / "requests.log"
    path.write_bytes(packed)
    seen: list[int] = []
    blocks = list(read_blocks(LogFile(path), seen=seen.append))
    assert b"".join(blocks) == WHOLE
    assert all(block.endswith(b"\n") for block in blocks)
    assert sum(seen) == len(packed)


def test_standard_input_is_read_likewise(monkeypatch: pytest.MonkeyPatch, packed: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", FakeStdin(packed))
    log = LogFile(STDIN)
    assert b"".join(read_blocks(log)) == WHOLE
    assert log.name == "standard input"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("cut_off", [1, 20, 200])
def test_a_packed_log_that_breaks_off_is_read_so_far_and_told(
    tmp_path: Path, pack: Callable[[bytes], bytes], cut_off: int
) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(pack(WHOLE * 20)[:-cut_off])
    log = LogFile(path)
    assert len(b"".join(read_blocks(log))) > 0
    assert log.breaks_off is not None
    assert log.breaks_off.startswith(f"{path} breaks off: ")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor(write_checksum=True).compress])
def test_a_packed_log_that_is_damaged_is_told(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a.log"
    content = bytearray(pack(WHOLE))
    content[200:400] = b"\xff" * 200
    path.write_bytes(content)
    log = LogFile(path)
    assert b"".join(read_blocks(log)) != WHOLE
    assert log.breaks_off is not None


def test_members_that_were_joined_are_read_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    for pack in (gzip.compress, zstandard.compress):
        path.write_bytes(pack(LINES[0]) + pack(LINES[1]))
        assert b"".join(read_blocks(LogFile(path))) == LINES[0] + LINES[1]


@given(st.lists(st.integers(0, len(WHOLE)), max_size=5))
def test_parts_of_a_file_hold_every_line_once(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    path = tmp_path_factory.getbasetemp() / "parts.log"
    path.write_bytes(WHOLE)
    edges = sorted({0, len(WHOLE), *cuts})
    parts = [LogFile(path, start, stop) for start, stop in pairwise(edges)]
    assert b"".join(block for part in parts for block in read_blocks(part)) == WHOLE


@given(st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=30), st.integers(1, 64))
def test_blocks_are_whole_lines_whatever_their_size(lines: list[bytes], size: int) -> None:
    content = b"\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_BLOCK", size)
        blocks = list(reading._whole_lines(io.BytesIO(content), None, LogFile(STDIN)))
    joined = b"".join(blocks)
    assert joined == content + (b"" if content.endswith(b"\n") or not content else b"\n")
    assert all(block.endswith(b"\n") for block in blocks)


def test_a_line_beyond_all_measure_costs_no_more_than_the_longest(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LINES[0] + b"x" * (50 << 20) + b"\n" + LINES[1])
    blocks = list(read_blocks(LogFile(path)))
    assert max(map(len, blocks)) < 2 << 20
    lines = b"".join(blocks).splitlines(keepends=True)
    assert (lines[0], lines[2], len(lines)) == (LINES[0], LINES[1], 3)
    assert len(lines[1]) > 1 << 20


def test_a_stretch_is_cut_out(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"".join(LINES[:60]))
    end = end_of([LogFile(path)])
    assert end is not None
    assert b"".join(read_blocks(LogFile(path), since=end - 1000)) == b"".join(LINES[58:60])
    assert list(read_blocks(LogFile(path), since=end + 1)) == []


def test_the_end_of_a_log_is_its_newest_time(tmp_path: Path, packed: bytes) -> None:
    (tmp_path / "a").write_bytes(packed)
    (tmp_path / "b").write_bytes(LINES[3])
    (tmp_path / "c").write_bytes(b"junk")
    logs = [LogFile(tmp_path / name) for name in "abc"]
    newest = end_of(logs)
    assert newest is not None
    assert newest == end_of(logs[:1])
    assert end_of(logs[2:]) is None


def test_a_recording_is_known_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(b'{"v": 1, "kind": "recording"}\n')
    assert is_recording(path)
    path.write_bytes(LINES[0] + b'{"kind": "recording"}\n')
    assert not is_recording(path)
    path.write_bytes(b"")
    assert not is_recording(path)


def test_standard_input_is_laid_down_and_goes_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", FakeStdin(WHOLE))
    with at_rest(STDIN) as path:
        assert path.read_bytes() == WHOLE
    assert not path.exists()
    with at_rest(tmp_path) as path:
        assert path == tmp_path


@pytest.mark.parametrize(
    ("end", "is_torn", "kept"),
    [
        (b'{"v":1,"time":"2026-06-01T1', True, b""),
        (b'{"v":1,"caller":"\xc3', True, b""),
        (b'{"v":1}', False, b'{"v":1}\n'),
        (b"no record at all", False, b"no record at all\n"),
        (b"", False, b""),
    ],
)
def test_a_last_line_that_is_being_written_is_left_out(
    tmp_path: Path, end: bytes, *, is_torn: bool, kept: bytes
) -> None:
    (tmp_path / "log").write_bytes(LINES[0] + end)
    log = LogFile(tmp_path / "log")
    assert b"".join(read_blocks(log)) == LINES[0] + kept
    assert log.is_torn is is_torn


def test_a_log_of_half_a_line_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b'{"v":1,')
    log = LogFile(tmp_path / "log")
    assert b"".join(read_blocks(log)) == b'{"v":1,\n'
    assert not log.is_torn
