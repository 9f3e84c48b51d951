from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.logs_beside import LogsBeside, Place
from analyzer.cli.reading import LogFile
from analyzer.model.instant import format_instant, parse_instant
from analyzer.model.window import Window

if TYPE_CHECKING:
    from pathlib import Path

START = parse_instant("2026-06-01T02:30:00.000Z")
WINDOW = Window(START, START + 60_000)
ORDERS = Place("orders", "us-east-1", "123456789012")


def call(at_ms: int, table: str | None = "orders", **fields: Any) -> str:
    return json.dumps({"v": 1, "time": format_instant(START + at_ms), "op": "Scan", "table": table, **fields})


def beside(folder: Path, *logs: list[str], now: int = START + 60_000) -> LogsBeside:
    files = []
    for number, lines in enumerate(logs):
        file = folder / f"{number}.jsonl"
        file.write_text("".join(f"{line}\n" for line in lines))
        files.append(LogFile(file))
    return LogsBeside(files, WINDOW, ORDERS, lambda: now)


def read(logs: LogsBeside) -> list[dict[str, Any]]:
    return [json.loads(line) for block in logs.blocks() for line in block.split(b"\n")]


def test_requests_of_the_table_come_in_the_order_of_time_and_at_home(tmp_path: Path) -> None:
    logs = beside(tmp_path, [call(0), call(30_000)], [call(10_000), call(60_000)], [call(5, "users"), call(7, None)])
    told = read(logs)
    assert [one["time"] for one in told] == [format_instant(START + at) for at in (0, 10_000, 30_000)]
    assert {(one["region"], one["account"]) for one in told} == {("us-east-1", "123456789012")}
    assert (logs.kept, logs.others, logs.nameless) == (3, 1, 1)
    assert not list(logs.gaps())


def test_a_table_of_that_name_elsewhere_is_another_one(tmp_path: Path) -> None:
    logs = beside(tmp_path, [call(0, region="eu-west-1"), call(1, account="999999999999"), call(2, region="us-east-1")])
    assert len(read(logs)) == 1
    assert logs.others == 2


def test_samplers_counters_count_where_they_touch_the_stretch(tmp_path: Path) -> None:
    def counter(**fields: Any) -> str:
        return json.dumps({"v": 1, "counter": "dropped", "count": 1, **fields})

    before = {"start": format_instant(START - 2000), "end": format_instant(START)}
    across = {"start": format_instant(START - 2000), "end": format_instant(START + 1)}
    logs = beside(tmp_path, [counter(**before), counter(**across), counter(), counter(start="soon")])
    assert len(read(logs)) == 3


def test_what_cannot_be_read_is_a_gap(tmp_path: Path) -> None:
    logs = beside(tmp_path, ["no JSON", '{"v":1,"op":"Scan","time":"noon"}', '{"v":1,"op":"a b"}'])
    assert not read(logs)
    (gap,) = logs.gaps()
    assert gap.detail.startswith("3 lines of the request log are no records: ")


@pytest.mark.parametrize(
    ("times", "told", "hint"),
    [
        ([-3_600_000, -3_500_000], "01:30:00–01:31:40 of 2026-06-01", "use --at 2026-06-01T01:32:00Z"),
        ([-9_000_001, -60_000], "23:59:59 of 2026-05-31 to 02:29:00 of 2026-06-01", "use --at 2026-06-01T02:30:00Z"),
        ([90_000], "02:31:30–02:31:30 of 2026-06-01", None),
    ],
)
def test_logs_of_another_time_say_of_which_and_what_to_ask(
    tmp_path: Path, times: list[int], told: str, hint: str | None
) -> None:
    logs = beside(tmp_path, [call(at) for at in times], now=START + 90_000)
    assert not read(logs)
    (gap,) = logs.gaps()
    assert gap.detail == f"the log covers {told}, nothing of the stretch looked at"
    assert (gap.hint, gap.table) == (hint, "orders")
    some = beside(tmp_path, [call(at) for at in (*times, 5)], now=START + 90_000)
    assert len(read(some)) == 1
    assert not list(some.gaps())


def test_times_that_cannot_be_are_told_and_those_of_another_day_are_not(tmp_path: Path) -> None:
    times = [-START + 10, 10**14, -86_400_000, 5]
    logs = beside(tmp_path, [call(at) for at in times] + [call(10**14, "users")])
    assert len(read(logs)) == 1
    assert (logs.strays, logs.others) == (2, 0)
    assert "2 requests lie at times that cannot be (1970-01-01 00:00:00 to 5195-" in logs.strays_words()
    assert not beside(tmp_path, [call(0)]).strays_words()


def test_very_many_logs_are_read_block_by_block(tmp_path: Path) -> None:
    logs = beside(tmp_path, *([call(n)] for n in range(40)))
    assert [one["time"] for one in read(logs)] == [format_instant(START + at) for at in range(40)]


def test_a_long_log_comes_in_several_blocks(tmp_path: Path) -> None:
    logs = beside(tmp_path, [call(n) for n in range(5000)])
    assert [block.count(b"\n") + 1 for block in logs.blocks()] == [2000, 2000, 1000]
