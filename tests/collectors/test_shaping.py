"""Files of other shapes are tailed as well: the first lines of each tell which, and nothing is lost on a restart."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.batch import Block, Position
from collectors.request_log.shaping import Shaping

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.collectors.conftest import Reader

    Append = Callable[[Path, str], None]
    Readers = Callable[..., Reader]

NATIVE = '{"v":1,"ts":"2026-06-01T10:00:00Z","op":"GetItem","table":"cases"}\n'
WEB = '{"level":"info","msg":"GET /health"}\n'


def call(number: int, *, indent: int | None = None) -> str:
    entry: dict[str, Any] = {
        "timestamp": f"2026-06-01T10:00:{number:02d}Z",
        "clientName": "DynamoDBClient",
        "commandName": "GetItemCommand",
        "input": {"TableName": "cases", "Key": {"PK": {"S": f"CASE#{number}ä"}}},
        "output": {"ConsumedCapacity": {"TableName": "cases", "CapacityUnits": 0.5}},
        "metadata": {"attempts": 1, "requestId": f"R{number}"},
    }
    return json.dumps(entry, indent=indent, ensure_ascii=False) + "\n"


def ids(lines: list[str]) -> list[str]:
    return [json.loads(line)["request_id"] for line in lines]


def test_a_log_of_the_javascript_sdk_is_tailed_as_records(log: Path, append: Append, reader: Readers) -> None:
    append(log, call(1) + call(2))
    tail = reader(str(log))
    assert ids(tail.read()) == ["R1", "R2"]
    append(log, call(3))
    (line,) = tail.read()
    assert (json.loads(line)["op"], json.loads(line)["table"]) == ("GetItem", "cases")


def test_records_of_our_own_and_what_is_not_known_pass_as_they_are(log: Path, append: Append, reader: Readers) -> None:
    append(log, NATIVE + "torn\n")
    tail = reader(str(log))
    assert tail.read() == [NATIVE.strip(), "torn"]
    other = log.with_name("other.jsonl")
    append(other, WEB)
    assert reader(str(other)).read() == [WEB.strip()]


def test_what_can_not_be_read_is_counted_by_reason(log: Path, append: Append, reader: Readers) -> None:
    append(log, call(1) + call(2).replace("timestamp", "when"))
    tail = reader(str(log))
    assert ids(tail.read()) == ["R1"]
    assert tail.blocks[0].bad == {"a request has no time: let the logger add one (`timestamp`)": 1}


def test_the_shape_is_looked_for_until_it_is_found(log: Path, append: Append, reader: Readers) -> None:
    append(log, WEB)
    tail = reader(str(log))
    tail.read()
    append(log, WEB + call(1))
    assert ids(tail.read()) == ["R1"]


def test_a_shape_that_is_not_found_in_the_beginning_is_not_looked_for_any_more() -> None:
    shaping = Shaping()
    web = Block(WEB.encode() * 40_000, Position("a", 1, 0))
    assert shaping.records(web) is web
    late = Block(call(1).encode(), Position("a", 1, 0))
    assert (shaping.records(late), shaping.shape) == (late, None)
    assert shaping.records(Block(late.lines, Position("a", 2, 0))).lines != late.lines


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("block_bytes", [64, 200, 4096])
def test_a_restart_at_any_block_reads_each_request_once(
    log: Path, append: Append, reader: Readers, block_bytes: int, indent: int | None
) -> None:
    append(log, "".join(call(number, indent=indent) for number in range(1, 6)) + WEB * 40)
    whole = reader(str(log), block_bytes=block_bytes)
    whole.read()
    for cut in range(len(whole.blocks)):
        taken = b"".join(block.lines for block in whole.blocks[: cut + 1]).decode().splitlines()
        position = whole.blocks[cut].position
        assert position is not None
        rest = reader(str(log), positions=(position,), block_bytes=block_bytes).read()
        assert ids(taken) + ids(rest) == ["R1", "R2", "R3", "R4", "R5"]


def test_the_shape_is_kept_through_rotation_and_told_anew_by_the_next_file(
    log: Path, append: Append, reader: Readers
) -> None:
    append(log, call(1))
    tail = reader(str(log))
    assert ids(tail.read()) == ["R1"]
    append(log, call(2) + call(3)[:-3])
    os.replace(log, log.with_name(f"{log.name}.1"))  # noqa: PTH105 -- as logrotate does
    append(log, NATIVE)
    assert ids(tail.read()[:1]) == ["R2"]
    assert tail.read() == []


def test_lines_of_an_object_that_is_not_whole_wait_for_its_end(log: Path, append: Append, reader: Readers) -> None:
    append(log, "{\n")
    tail = reader(str(log))
    assert tail.read() == []
    assert tail.positions[str(log)].offset == 0
    os.replace(log, log.with_name(f"{log.name}.1"))  # noqa: PTH105 -- as logrotate does
    append(log, WEB)
    assert tail.read() == ["{", WEB.strip()]


def test_another_shape_may_begin_within_a_file(log: Path, append: Append, reader: Readers) -> None:
    append(log, call(1))
    tail = reader(str(log))
    tail.read()
    append(log, NATIVE)
    assert tail.read() == [NATIVE.strip()]


def test_a_shape_that_was_told_is_not_looked_for() -> None:
    shaping = Shaping("aws-sdk-js")
    found = shaping.records(Block((WEB + call(1)).encode(), Position("a", 1, 0)))
    assert ids(found.lines.decode().splitlines()) == ["R1"]
    assert shaping.records(Block(NATIVE.encode(), Position("a", 1, 0))).lines == b""
    native = Shaping("native")
    block = Block(call(1).encode())
    assert native.records(block) is block
