from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.detectors.reads.polling_read import PollingRead
from analyzer.model.calls import CallTry
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.traffic import Capacity, Declared, Place
from tests.support.calls import book, call, item
from tests.support.evidence import limit, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

SCAN = shape("Scan", "scan", key=(), filter="due < :0", filter_attributes=("due",))
POLL = Attribution(AttributionKind.DECLARED, "poll")
CODE = "ProvisionedThroughputExceededException"


def polls(times: int = 30, every: float = 10.0, units: float | None = 100.0, **fields: Any) -> list[Call]:
    fields = dict[str, Any]({"of": SCAN, "key": None, "caller": "cron"}) | fields
    return [call("Scan", every * number, read_units=units, **fields) for number in range(times)]


def evidence(*calls: Call, others: float = 0, of: Any = SCAN, **fields: Any) -> Traffic:
    units = sum(one.read_units or 0.0 for one in calls)
    rows = (row(of, POLL, "cron", read_units=units), row(read_units=others))
    mine: dict[str, Any] = {"calls": book(*calls), "rows": rows}
    return traffic(**mine | fields)


def found(*calls: Call, **fields: Any) -> list[Finding]:
    return [one for one in PollingRead().detect(evidence(*calls, **fields)) if isinstance(one, Finding)]


def only(*calls: Call, **fields: Any) -> Finding:
    (one,) = found(*calls, **fields)
    return one


def test_a_scan_on_a_clock_that_takes_much_is_found_with_its_period() -> None:
    one = only(*polls())
    assert (one.severity, one.caller, one.evidence["period_s"]) == (Severity.LOW, "cron", 10)
    assert "cron reads cases every 10 seconds by Scan, 30 times, 30 calls: 100% of the read units" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "make-index-sparse", "use-stream"]


def test_what_comes_more_often_than_once_a_second_is_load_and_no_clock() -> None:
    assert found(*polls(every=0.9, units=4000.0)) == []
    assert only(*polls(every=1.0, units=4000.0)).evidence["period_s"] == 1


def test_units_that_nobody_tells_are_not_nothing() -> None:
    one = only(*polls(units=None, error=CODE))
    told = ("read_units", "units_a_time", "share_of_read_units")
    assert [one.evidence[name] for name in told] == [None] * 3
    assert one.evidence["share_of_reads"] == 0.015
    assert one.cost_per_month_usd is None
    assert "30 calls: 2% of the calls that read" in one.summary


def test_a_few_reads_by_chance_are_no_clocks_that_share_a_period() -> None:
    times = (0, 3, 9, 14, 40, 44, 49, 55, 81)
    calls = [call("Scan", at, of=SCAN, key=None, caller="cron", error=CODE, read_units=None) for at in times]
    assert found(*calls) == []


def test_segments_of_one_scan_are_no_clock() -> None:
    segment = shape("Scan", "segment", key=(), segmented=True)
    assert found(*polls(of=segment), of=segment) == []


def test_ten_dollars_a_month_are_medium_whatever_the_share() -> None:
    assert only(*polls(units=400.0), others=1_000_000).severity is Severity.MEDIUM


def test_a_tenth_of_what_is_provisioned_is_medium() -> None:
    place = Place(capacity=Capacity("PROVISIONED", 100.0, 10.0))
    assert only(*polls(units=100.0, every=2.0, times=150), place=place).severity is Severity.MEDIUM


def test_under_a_tenth_of_the_reads_stays_just_below() -> None:
    assert found(*polls(), others=27_001) == []
    assert len(found(*polls(), others=27_000)) == 1


def test_a_health_check_costs_cents() -> None:
    check = shape("GetItem", "check")
    assert found(*polls(of=check, key=item(), units=0.5), of=check) == []


def test_five_times_may_be_chance() -> None:
    assert found(*polls(times=5, units=1000.0)) == []


def test_what_keeps_no_period_is_no_poll() -> None:
    times = (0, 3, 4, 11, 25, 27, 40, 61, 62, 80)
    assert found(*(call("Scan", at, of=SCAN, key=None, caller="cron", read_units=900.0) for at in times)) == []


def test_pages_count_with_the_read_that_began() -> None:
    pages = polls(units=50.0)
    more = [
        call("Scan", 10.0 * n + 1, of=SCAN, key=None, caller="cron", read_units=50.0, resumed=True) for n in range(30)
    ]
    one = only(*pages, *more)
    assert (one.evidence["times"], one.evidence["calls"], one.evidence["units_a_time"]) == (30, 60, 100)


def test_own_calls_that_are_throttled_and_fail_are_high() -> None:
    assert only(*polls(units=1.0, error=CODE), others=1_000).severity is Severity.HIGH


def test_own_tries_that_are_throttled_are_medium_and_high_with_half_of_the_reads() -> None:
    tried: dict[str, Any] = {"tries": (CallTry(3.0, CODE),), "units": 1.0}
    assert only(*polls(**tried), others=1_000).severity is Severity.MEDIUM
    one = only(*polls(**tried))
    assert (one.severity, one.evidence["throttled_calls"]) == (Severity.HIGH, 30)
    assert one.summary.endswith("while reads are refused")


def test_refusals_beside_half_of_the_reads_are_high_and_beside_few_are_not_its_doing() -> None:
    refused = (limit("provisioned", Direction.READ),)
    assert only(*polls(units=1.0), throttles=refused).severity is Severity.HIGH
    assert found(*polls(units=1.0), others=1_000, throttles=refused) == []


def test_a_poll_of_several_keys_is_one_finding() -> None:
    get = shape("GetItem", "get")
    calls = [one for key in "ab" for one in polls(of=get, key=item(f"K#{key}"), units=100.0)]
    one = only(*calls, of=get)
    assert (one.evidence["different_reads"], one.key, one.evidence["times"]) == (2, None, 60)
    assert "reads 2 keys of cases" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "cache-item", "use-stream"]


def test_one_key_is_named() -> None:
    get = shape("Query", "get")
    assert only(*polls(of=get, key=item()), of=get).key == {"PK": "CASE#7"}


def test_a_lease_is_read_to_be_written_under_a_condition() -> None:
    get, lease = shape("GetItem", "get"), shape("UpdateItem", "renew", condition="owner = :0")
    calls = polls(of=get, key=item())
    assert found(*calls, call(at=5, of=lease), of=get) == []
    assert len(found(*calls, call("UpdateItem", 5), of=get)) == 1


def test_writes_are_no_reads() -> None:
    put = shape("PutItem", "put")
    assert found(*polls(of=put, key=item()), of=put) == []


def test_the_table_of_a_known_library_is_polled_by_design() -> None:
    assert found(*polls(units=1000.0), place=Place(library="Kinesis Client Library")) == []


def declared(**fields: Any) -> Place:
    return Place(declared=True, patterns={"poll": Declared(id="poll", **fields)})


def test_a_schedule_or_a_rate_that_it_keeps_to_declares_it() -> None:
    assert found(*polls(), place=declared(schedule="* * * * *")) == []
    assert found(*polls(), place=declared(p95_rate=0.2)) == []
    assert found(*polls(), place=declared(peak_rate=0.2)) == []
    assert found(*polls(), place=declared(p95_rate=0.01, peak_rate=5.0)) == []
    assert len(found(*polls(), place=declared(p95_rate=0.01))) == 1
    assert len(found(*polls(), place=declared())) == 1


def test_a_declared_poll_is_found_while_reads_are_refused() -> None:
    refused = (limit("provisioned", Direction.READ),)
    assert len(found(*polls(), place=declared(schedule="* * * * *"), throttles=refused)) == 1


def test_a_book_that_begins_late_stands_for_the_whole_window() -> None:
    calls = polls(times=15)
    late = book(*calls, since=150_000)
    early = book(*calls, since=0)
    assert only(*calls, calls=late).evidence["read_units"] == 3000
    assert only(*calls, calls=early).evidence["read_units"] == 1500


def test_units_that_nobody_told_convict_nobody() -> None:
    assert found(*polls(units=None)) == []


def test_a_poll_that_no_row_shows_has_no_pattern() -> None:
    one = only(*polls(), rows=())
    assert one.pattern is None


def test_without_calls_nothing_is_said() -> None:
    assert list(PollingRead().detect(traffic())) == []
    assert found() == []
