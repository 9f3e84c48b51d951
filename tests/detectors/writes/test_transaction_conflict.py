from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.transaction_conflict import TransactionConflict
from analyzer.model.calls import CallPart
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.traffic import Place
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, UNDECLARED, refused, row, shape, traffic
from tests.support.told import series

KEYED = Place(partition_key=("PK",), sort_key=("SK",))
WRITE = shape("TransactWriteItems", "tw", writes=True, key=())
TOTAL = item("TOTAL", "DAY")


def conflict(at: float, *codes: str | None, parts: tuple[CallPart, ...] = (), of: Any = WRITE, **fields: Any) -> Any:
    told = codes or ("TransactionConflict",)
    error = {"error": "TransactionCanceledException", "cancellation": told}
    return call(at=at, of=of, key=None, parts=parts, **error | fields)


def on(key: Any, code: str | None = "TransactionConflict") -> tuple[CallPart, ...]:
    return (CallPart(position=0, operation="Update", table="cases", key=key, canceled=code),)


def hits(times: int, key: Any = TOTAL, members: int = 2, start: float = 1.0, every: float = 1.0) -> list[Any]:
    return [conflict(start + every * n, parts=on(key), members=members) for n in range(times)]


def found(*calls: Any, requests: float = 1000, failed: float | None = None, **fields: Any) -> list[Finding]:
    conflicts = sum(one.failed for one in calls)
    lost = conflicts if failed is None else failed
    given: dict[str, Any] = {
        "rows": (row(WRITE, UNDECLARED, requests=requests, failed=lost),),
        "refusals": (refused("", conflicts, code="TransactionCanceledException"),),
        "calls": book(*calls),
        "place": KEYED,
    }
    return [one for one in TransactionConflict().detect(traffic(**given | fields)) if isinstance(one, Finding)]


def test_conflicts_of_one_in_a_hundred_are_medium_and_name_the_item() -> None:
    (one,) = found(*hits(20))
    assert (one.severity, one.confidence, one.direction) == (Severity.MEDIUM, Confidence.CERTAIN, Direction.WRITE)
    assert (one.key, one.evidence["key_conflicts"]) == ({"PK": "TOTAL", "SK": "DAY"}, 20)
    assert one.evidence["cancellations"] == "TransactionConflict 20 (part 1)"
    assert [advice.action for advice in one.advice] == ["check-client", "retry-with-jitter", "shard-key"]
    assert one.because is None


@pytest.mark.parametrize(
    ("times", "requests", "severity"),
    [
        (4, 100, Severity.LOW),
        (2, 2000, Severity.LOW),
        (9, 1000, Severity.LOW),
        (10, 1000, Severity.MEDIUM),
        (5, 400, Severity.MEDIUM),
        (19, 40, Severity.MEDIUM),
        (19, 76, Severity.MEDIUM),
        (20, 80, Severity.HIGH),
        (20, 81, Severity.MEDIUM),
        (40, 100, Severity.HIGH),
        (24, 100, Severity.MEDIUM),
    ],
)
def test_severity_follows_the_share_that_fails(times: int, requests: float, severity: Severity) -> None:
    (one,) = found(*hits(times, start=100), requests=requests)
    assert one.severity is severity


def test_one_conflict_or_one_in_two_thousand_is_silent() -> None:
    assert found(*hits(1)) == []
    assert found(*hits(2), requests=2001) == []


def growing(first: int, last: int, served: tuple[int, int] = (30, 30)) -> list[Any]:
    """Conflicts and served transactions in the first third of the window, and in its last."""
    calls = [*hits(first, every=1.0), *hits(last, start=201, every=0.5)]
    times = [begin + 0.01 * number for begin, many in zip((0, 200), served, strict=True) for number in range(many)]
    return [*calls, *(call(at=at, of=WRITE, key=None, members=2) for at in times)]


def test_conflicts_that_fail_twice_the_part_of_the_attempts_are_worse() -> None:
    (one,) = found(*growing(10, 60, (90, 90)), requests=500)
    assert (one.severity, one.evidence["growth"]) == (Severity.HIGH, 4.0)
    assert "4 times as often in the end as at first" in one.summary
    assert one.advice[-1].action == "use-queue"
    (one,) = found(*growing(10, 60), requests=120)
    assert one.severity is Severity.CRITICAL
    (one,) = found(*growing(10, 60), requests=2000)
    assert one.severity is Severity.MEDIUM


@pytest.mark.parametrize(
    ("served", "requests", "severity"),
    [
        ((90, 40), 400, Severity.HIGH),
        ((90, 41), 400, Severity.MEDIUM),
        ((90, 40), 401, Severity.MEDIUM),
        ((90, 40), 40, Severity.CRITICAL),
        ((90, 40), 41, Severity.HIGH),
    ],
    ids=["twice of a twentieth", "less than twice", "less than a twentieth", "of a half", "of less than a half"],
)
def test_a_backlog_is_what_doubles(served: tuple[int, int], requests: float, severity: Severity) -> None:
    (one,) = found(*growing(10, 10, served), requests=requests)
    assert one.severity is severity


def test_conflicts_that_become_more_get_a_queue() -> None:
    (one,) = found(*growing(10, 15, (90, 85)), requests=500)
    assert "1.5 times as often in the end as at first" in one.summary
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("check-client", None),
        ("retry-with-jitter", True),
        ("shard-key", True),
        ("use-queue", True),
    ]


def test_conflicts_that_rise_with_the_load_are_no_backlog() -> None:
    (one,) = found(*growing(10, 40, (90, 360)), requests=500)
    assert (one.severity, one.evidence["growth"]) == (Severity.MEDIUM, 1.0)
    assert "in the end" not in one.summary
    assert [advice.action for advice in one.advice] == ["check-client", "retry-with-jitter", "shard-key"]


def test_where_the_book_holds_failures_alone_nothing_is_said_of_growth() -> None:
    (one,) = found(*growing(10, 40, (0, 0)), requests=500)
    assert one.evidence["growth"] is None
    assert "in the end" not in one.summary
    assert [advice.action for advice in one.advice] == ["check-client", "retry-with-jitter", "shard-key"]


def test_transactions_of_one_item_need_none() -> None:
    (one,) = found(*hits(20, members=1))
    assert [advice.action for advice in one.advice] == ["check-client", "retry-with-jitter", "drop-transaction"]
    assert one.advice[2].reversible is True


@pytest.mark.parametrize(("times", "named"), [(10, {"PK": "TOTAL", "SK": "DAY"}), (9, None)])
def test_a_key_with_half_of_the_conflicts_is_named(times: int, named: dict[str, str] | None) -> None:
    (one,) = found(*hits(times), *(conflict(n, parts=on(item(f"J{n}", "M")), members=2) for n in range(10)))
    assert one.key == named


def test_of_many_items_none_is_named() -> None:
    (one,) = found(*(conflict(n, parts=on(item(f"J{n}", "M")), members=2) for n in range(20)))
    assert (one.key, one.evidence["keys"]) == (None, 20)
    assert [advice.action for advice in one.advice] == ["check-client", "retry-with-jitter"]


def test_each_reason_counts_for_itself() -> None:
    told = [
        *(conflict(n, "TransactionConflict", None, None) for n in range(9)),
        *(conflict(n, None, "ConditionalCheckFailed", None) for n in range(10)),
        *(conflict(n, "ThrottlingError", "None", None) for n in range(7)),
    ]
    (one,) = found(*told, requests=26)
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.LIKELY)
    assert (one.evidence["conflicts"], one.evidence["conflict_share"]) == (9, None)
    assert (one.because or "").startswith("the log holds nothing but failures")
    assert one.evidence["cancellations"] == (
        "ConditionalCheckFailed 10 (part 2), TransactionConflict 9 (part 1), ThrottlingError 7 (part 1)"
    )


def test_a_conflict_at_another_table_is_not_of_this_one() -> None:
    assert found(*(conflict(n, None, "TransactionConflict", parts=on(TOTAL, None)) for n in range(20))) == []


def test_positions_are_left_out_where_they_are_many() -> None:
    calls = [conflict(n, *([None] * (n % 4)), "TransactionConflict") for n in range(20)]
    (one,) = found(*calls)
    assert one.evidence["cancellations"] == "TransactionConflict 20"
    calls = [conflict(n, *([None] * (n % 3)), "TransactionConflict") for n in range(20)]
    (one,) = found(*calls)
    assert one.evidence["cancellations"] == "TransactionConflict 20 (part 1, 2, 3)"


def test_without_the_book_the_message_tells_the_reason() -> None:
    said = "Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict, None]"
    refusals = (
        refused(said, 20, code="TransactionCanceledException"),
        refused("", 9, code="TransactionCanceledException"),
    )
    (one,) = found(calls=None, refusals=refusals, failed=29)
    assert (one.evidence["conflicts"], one.evidence["cancellations"]) == (20, None)


def test_a_plain_write_that_meets_a_transaction_counts_too() -> None:
    put = shape("PutItem", "put")
    lost = [call(at=n, of=put, key=TOTAL, error="TransactionConflictException") for n in range(20)]
    rows = (row(put, requests=200, failed=20), row(shape("GetItem"), requests=9000))
    refusals = (refused("", 20, code="TransactionConflictException"),)
    (one,) = found(*lost, rows=rows, refusals=refusals)
    assert (one.key, one.evidence["calls"]) == ({"PK": "TOTAL", "SK": "DAY"}, 200)
    assert one.evidence["one_item_share"] is None


def test_reads_in_transactions_collide_too() -> None:
    read = shape("TransactGetItems", "tr", key=())
    calls = [conflict(n, of=read) for n in range(20)]
    (one,) = found(*calls, rows=(row(read, requests=500, failed=20),))
    assert one.direction is Direction.READ


def test_calls_before_the_window_are_past() -> None:
    calls = [*hits(20), *(conflict(400 + n, "ConditionalCheckFailed") for n in range(20))]
    (one,) = found(*calls, refusals=(refused("", 20, code="TransactionCanceledException"),))
    assert one.evidence["conflicts"] == 20


def test_metrics_alone_count_items() -> None:
    told = (
        series("TransactionConflict", (0, 4, 8, 8, 20)),
        series("SuccessfulRequestLatency", (100,) * 4 + (60,), stat="SampleCount", Operation="TransactWriteItems"),
        series("SuccessfulRequestLatency", (), stat="SampleCount", Operation="TransactGetItems"),
    )
    (one,) = found(rows=(), refusals=(), metrics=told)
    assert (one.severity, one.confidence, one.sources) == (Severity.HIGH, Confidence.LIKELY, ("cloudwatch-metrics",))
    assert (one.evidence["conflict_share"], one.evidence["growth"]) == (0.08, 12.75)
    assert one.summary.startswith("CloudWatch counts 40 conflicts of transactions on items of cases")


def test_metrics_without_the_served_ones_leave_the_share_open() -> None:
    (one,) = found(rows=(), refusals=(), metrics=(series("TransactionConflict", (2, 2, 2)),))
    assert (one.severity, one.evidence["conflict_share"]) == (Severity.MEDIUM, None)


def test_nothing_told_and_an_index_are_silent() -> None:
    assert found(rows=(), refusals=()) == []
    assert found(rows=(), refusals=(), metrics=(series("TransactionConflict", ()),)) == []
    assert found(*hits(20), target=GSI2) == []
