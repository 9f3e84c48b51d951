from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from rich.console import Console

from analyzer.model.finding import Status
from analyzer.render.show import show
from analyzer.render.top import plain_top, render_top
from tests.support.page_report import ORDERS, made_report

if TYPE_CHECKING:
    from analyzer.model.report import Report
    from analyzer.render.top import Calls


def shown() -> Report:
    return show(made_report(), "template")


def lines(report: Report, height: int, width: int = 120, calls: Calls | None = None) -> list[str]:
    console = Console(width=width, height=height, no_color=True, force_terminal=False)
    with console.capture() as captured:
        console.print(render_top(report, calls or {}, height=height, note="as of 14:06:00"))
    return captured.get().splitlines()


@pytest.mark.parametrize("height", [24, 30, 50])
def test_a_screen_fits_its_terminal(height: int) -> None:
    assert len(lines(shown(), height)) <= height


def test_what_does_not_fit_is_counted() -> None:
    told = "\n".join(lines(shown(), 24))
    assert "and 2 more: `dynascope findings` lists them" in told
    assert "and 5 more" in told


def test_what_is_over_is_left_out_while_anything_goes_on() -> None:
    report = shown()
    first, *others = report.findings
    told = plain_top(replace(report, findings=(replace(first, status=Status.CLOSED), *others)), {})
    assert "hot-key" not in told
    assert "unexpected-scan" in told


def test_a_report_of_nothing_says_so() -> None:
    report = shown()
    empty = replace(report, findings=(), keys=(), patterns=(), gaps=())
    assert plain_top(empty, {}).count("  none\n") == 3


def test_calls_over_time_are_blocks_and_what_is_not_known_is_a_gap() -> None:
    calls = {(ORDERS, "get-order"): (0.0, 5.0, None, 10.0), (ORDERS, "load-cart"): (0.0,)}
    told = plain_top(shown(), calls)
    assert "▁▄ █\n" in told
    assert "▁\n" in told


def test_what_is_of_another_region_says_so() -> None:
    report = shown()
    told = plain_top(
        replace(
            report,
            findings=(replace(report.findings[0], region="eu-west-1"),),
            patterns=(*report.patterns[:1], replace(report.patterns[0], region="eu-west-1")),
        ),
        {(ORDERS, "get-order"): (5.0,)},
    )
    assert told.count("orders in eu-west-1") == 2
    assert told.count("█\n") == 1


def test_what_a_log_says_cannot_steer_the_terminal() -> None:
    report = shown()
    bad = replace(report.findings[0], summary="\x1b[2Jgone [bold]x[/bold]", cause="\x07")
    told = plain_top(replace(report, findings=(bad,)), {})
    assert "\x1b" not in told
    assert "\\x1b[2Jgone [bold]x[/bold]" in told


@pytest.mark.parametrize(("width", "blocks"), [(120, 16), (92, 9), (80, 0)])
def test_calls_over_time_get_narrower_before_any_name_does(width: int, blocks: int) -> None:
    calls: Calls = {(ORDERS, "get-order"): tuple(float(number) for number in range(1, 31))}
    told = lines(shown(), 60, width, calls)
    assert all(any(name in line for line in told) for name in ("list-orders-of-user", "list-open-orders"))
    row = next(line for line in told if "get-order" in line and "372k" in line)
    assert sum(row.count(block) for block in "▁▂▃▄▅▆▇█") == blocks


def test_one_gap_is_one_gap() -> None:
    report = shown()
    assert "1 gap: not all was visible" in plain_top(replace(report, gaps=report.gaps[:1]), {})
    assert "2 gaps: not all was visible" in plain_top(report, {})


def test_what_is_snoozed_says_until_when_and_by_whom() -> None:
    report = shown()
    because = "snoozed until 2026-06-10T00:00:00.000Z by ann: sharding ships on Tuesday"
    first = replace(report.findings[0], status=Status.SNOOZED, because=because)
    assert because in plain_top(replace(report, findings=(first, *report.findings[1:])), {})
