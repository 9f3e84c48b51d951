from __future__ import annotations

from analyzer.requests.digest_block import Line
from analyzer.requests.digest_parts import Member
from tests.bench.floor import SlimPart, SlimRecord


def test_the_floor_decodes_the_fields_of_the_digest() -> None:
    assert SlimRecord.__struct_fields__ == Line.__struct_fields__
    assert set(SlimPart.__struct_fields__) == set(Member.__struct_fields__)
