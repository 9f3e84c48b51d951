"""Writes that go wrong by themselves: items, transactions, conditions and locks, as `dynascope replay` tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Severity
from tests.docs.examples import writes_items as examples
from tests.support.recordings import Recorded, alarms, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.report import Report

MINE = {
    "conditional-contention",
    "item-growth",
    "item-too-large",
    "stuck-lock",
    "transaction-conflict",
    "unneeded-transaction",
    "write-cost",
}
FAILED = {"code": "ConditionalCheckFailedException"}
TOO_LARGE = "Item size has exceeded the maximum allowed size"
DAY, HOUR = 86_400.0, 3600.0


def told(report: Report) -> set[str]:
    """Return which of the detectors of writes spoke."""
    return {finding.detector for finding in report.findings} & MINE


def raised(report: Report) -> set[str]:
    """Return the actions that anything advises."""
    return {advice.action for finding in report.findings for advice in finding.advice if "raise" in advice.action}


# A counter that many workers move by a transaction of its own.


def finishes(*, tasks: int = 240, every: int = 40, **fields: Any) -> Recorded:
    """Workers count finished tasks of a build in one item; one in so many meets another."""
    made = Recorded(minutes=4, table="builds").table("build")
    for number in range(tasks):
        part = {"op": "Update", "table": "builds", "key": {"build": {"S": "BUILD#5"}}}
        told: dict[str, Any] = {"parts": [part], "caller": "worker", "attempts": 1}
        if number % every == 7:
            told["error"] = {"code": "TransactionCanceledException", "cancellation": ["TransactionConflict"]}
        units = None if "error" in told else 2
        made.request("TransactWriteItems", number, units=units, **told | fields)
    return made


def test_rare_conflicts_of_a_counter_are_medium_beside_a_transaction_that_needs_not_be(tmp_path: Path) -> None:
    report = finishes().replayed(tmp_path)
    conflict, needless = only_of(report, "transaction-conflict"), only_of(report, "unneeded-transaction")
    assert (conflict.severity, conflict.key, conflict.caller) == (Severity.MEDIUM, {"build": "BUILD#5"}, "worker")
    assert (needless.severity, needless.caller) == (Severity.LOW, "worker")
    assert "drop-transaction" in {advice.action for advice in conflict.advice}
    assert (alarms(report), raised(report)) == (set(), set())


def test_a_token_of_its_own_is_a_reason_for_the_transaction(tmp_path: Path) -> None:
    report = finishes(token_sent=True).replayed(tmp_path)
    assert told(report) == {"transaction-conflict"}


def test_without_parts_the_item_and_the_need_are_not_known(tmp_path: Path) -> None:
    report = finishes(parts=None).replayed(tmp_path)
    assert told(report) == {"transaction-conflict"}
    assert only_of(report, "transaction-conflict").key is None


def test_conflicts_that_retries_would_mend_in_one_call_of_a_thousand_stay_low(tmp_path: Path) -> None:
    report = finishes(tasks=240, every=120).replayed(tmp_path)
    assert only_of(report, "transaction-conflict").severity is Severity.LOW


# Transactions whose every cancellation is taken for one thing.

REASONS = (("TransactionConflict", 0), ("ConditionalCheckFailed", 1), ("ProvisionedThroughputExceeded", 0))


def cancellations(*, served: int = 0, by_message: bool = False) -> Recorded:
    """Ten cancellations of each of three reasons, in turn."""
    made = Recorded(minutes=5, table="polls").table()
    for number in range(30):
        code, at = REASONS[number % 3]
        codes = ["None", "None", "None"]
        codes[at] = code
        said = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{', '.join(codes)}]"
        error: dict[str, Any] = {"code": "TransactionCanceledException", "message": said}
        if not by_message:
            error["cancellation"] = [None if one == "None" else one for one in codes]
        made.request("TransactWriteItems", 5 + 9 * number, caller="poll-api", error=error)
    for number in range(served):
        made.request("TransactWriteItems", 290 * number / served, caller="poll-api", units=6)
    return made


def test_each_reason_of_a_cancellation_is_told_for_itself(tmp_path: Path) -> None:
    report = cancellations().replayed(tmp_path)
    conflict, throttled = only_of(report, "transaction-conflict"), only_of(report, "throttling")
    assert (conflict.severity, conflict.evidence["conflict_share"]) == (Severity.MEDIUM, None)
    assert "TransactionConflict" in str(conflict.evidence["cancellations"])
    assert (throttled.cause, throttled.direction) == ("unknown", "write")
    assert only_of(report, "conditional-contention").severity is Severity.LOW
    assert raised(report) == set()


def test_the_share_is_told_where_what_was_served_is(tmp_path: Path) -> None:
    report = cancellations(served=300).replayed(tmp_path)
    conflict = only_of(report, "transaction-conflict")
    assert conflict.severity is Severity.MEDIUM
    assert 0.01 <= float(conflict.evidence["conflict_share"] or 0) <= 0.05
    assert "conditional-contention" not in told(report)


def test_a_trail_tells_its_reasons_in_the_message_alone(tmp_path: Path) -> None:
    report = cancellations(by_message=True).replayed(tmp_path)
    assert only_of(report, "transaction-conflict").severity in {Severity.LOW, Severity.MEDIUM}


# An item that grows until it no longer fits.


def notebook(*, with_error: bool = True, sizes: str = "units") -> Recorded:
    """One notebook gains 50 KB a day; another one no longer fits."""
    made = Recorded(minutes=5 * 24 * 60 + 1, table="notebooks").table("notebook")
    for day in range(6):
        kilobytes = 40 + 50 * day
        size: dict[str, Any] = {"units": kilobytes} if sizes == "units" else {"item_bytes": kilobytes * 1024 - 100}
        made.request("PutItem", DAY * day, key={"notebook": "BOOK#12"}, caller="editor", **size)
    if with_error:
        error = {"code": "ValidationException", "message": TOO_LARGE}
        made.request("PutItem", 5 * DAY + 5, key={"notebook": "BOOK#3"}, caller="editor", error=error)
    return made


def test_the_item_that_no_longer_fits_and_the_one_that_soon_will_not(tmp_path: Path) -> None:
    report = notebook().replayed(tmp_path)
    lost, grows = only_of(report, "item-too-large"), only_of(report, "item-growth")
    assert (lost.severity, lost.key, lost.caller) == (Severity.CRITICAL, {"notebook": "BOOK#3"}, "editor")
    assert (grows.severity, grows.key) == (Severity.HIGH, {"notebook": "BOOK#12"})
    assert 2 <= float(grows.evidence["days_to_limit"] or 0) <= 3
    assert "throttling" not in {finding.detector for finding in report.findings}
    assert report.verdict.finding == lost.id


def test_it_is_told_before_the_first_failure(tmp_path: Path) -> None:
    report = notebook(with_error=False, sizes="bytes").replayed(tmp_path)
    assert told(report) == {"item-growth"}
    assert only_of(report, "item-growth").severity is Severity.HIGH


def test_an_update_that_is_refused_for_its_size_is_as_critical(tmp_path: Path) -> None:
    made = Recorded(table="carts").table("cart")
    said = "Item size to update has exceeded the maximum allowed size"
    for number in range(4):
        error = {"code": "ValidationException", "message": said}
        made.request("UpdateItem", 20 * number, key={"cart": "CART#9"}, update="SET lines = :l", error=error)
    lost = only_of(made.replayed(tmp_path), "item-too-large")
    assert (lost.severity, lost.key) == (Severity.CRITICAL, {"cart": "CART#9"})


# A list that makes each write pay for its past.


def history(*, update: str = "SET visits = list_append(visits, :v)", **fields: Any) -> Recorded:
    """A visitor's list since the spring, and an afternoon of visitors with long lists."""
    made = Recorded(minutes=150 * 24 * 60, table="visits").table("visitor", "page")
    for number, units in enumerate((1, 5, 9, 16, 24, 33)):
        key = {"visitor": "V#1", "page": "/home"}
        made.request("UpdateItem", 29 * DAY * number, key=key, units=units, update=update, caller="tracker", **fields)
    for number in range(150):
        key = {"visitor": f"V#{100 + number}", "page": "/home"}
        at = 145 * DAY + 2 * number
        made.request("UpdateItem", at, key=key, units=19, update=update, caller="tracker", **fields)
    return made


def test_an_append_that_pays_for_all_before_it_grows_and_costs(tmp_path: Path) -> None:
    report = history().replayed(tmp_path)
    grows, costs = only_of(report, "item-growth"), only_of(report, "write-cost")
    assert (grows.severity, grows.evidence["attribute"]) == (Severity.MEDIUM, "visits")
    assert grows.key == {"visitor": "V#1", "page": "/home"}
    assert (costs.cause, costs.evidence["units_a_write"]) == ("large-items", 18.8)
    assert alarms(report) == set()


def test_a_map_of_entries_grows_as_a_list_does(tmp_path: Path) -> None:
    report = history(update="SET #v.#d = :v", names={"#v": "visits", "#d": "d0601"}).replayed(tmp_path)
    assert only_of(report, "item-growth").evidence["attribute"] == "visits"
    assert only_of(report, "write-cost").confidence == "likely"


def test_tokens_instead_of_keys_tell_the_same(tmp_path: Path) -> None:
    report = history(keys="token", salt_id="s1").replayed(tmp_path)
    assert {"item-growth", "write-cost"} == told(report)


# Conditions that are meant to fail, and those that are not.


def leases(*, condition: str = "leaseCounter = :c", losing: int = 3, key: str = "leaseKey") -> Recorded:
    """Two workers renew the lease of one shard; of five renewals so many lose."""
    made = Recorded(minutes=15, table="consumer-leases").table(key)
    for number in range(400):
        error = FAILED if number % 5 < losing else None
        said: dict[str, Any] = {"condition": condition, "error": error, "caller": "consumer"}
        made.request("UpdateItem", 2 * number, key={key: "shard-1"}, units=1, **said)
    return made


def test_leases_that_are_lost_are_worth_knowing_and_no_more(tmp_path: Path) -> None:
    report = leases().replayed(tmp_path)
    lost = only_of(report, "conditional-contention")
    assert (lost.severity, lost.cause, lost.key) == (Severity.LOW, "lock", {"leaseKey": "shard-1"})
    assert told(report) == {"conditional-contention"}
    assert alarms(report) == set()


def test_a_version_that_is_lost_as_often_is_medium(tmp_path: Path) -> None:
    report = leases(condition="version = :c", key="document").replayed(tmp_path)
    lost = only_of(report, "conditional-contention")
    assert (lost.severity, lost.cause, lost.caller) == (Severity.MEDIUM, "version", "consumer")


def test_a_version_that_is_lost_now_and_then_is_silent(tmp_path: Path) -> None:
    made = Recorded(minutes=15, table="documents").table("document")
    for number in range(400):
        error = FAILED if number % 8 == 0 else None
        said: dict[str, Any] = {"condition": "version = :c", "error": error, "caller": "editor"}
        made.request("UpdateItem", 2 * number, key={"document": "D1"}, units=1, **said)
    assert told(made.replayed(tmp_path)) == set()


def own_loop(*, trace: bool = True, keyed: bool = True) -> Recorded:
    """A scheduler writes a task, looks for tasks by an index, and updates what it found on an old state."""
    made = Recorded(minutes=2, table="tasks").table("task", indexes={"by-phase": ("phase", "changed")})
    for number in range(24):
        at, name = 4.5 * number, {"trace_id": f"run-{number}"} if trace else {}
        key = {"task": f"TASK#{number}"} if keyed else None
        said: dict[str, Any] = {"update": "SET phase = :p", "caller": "scheduler", **name}
        made.request("UpdateItem", at, key=key, units=1, **said)
        found: dict[str, Any] = {"index": "by-phase", "count": 9, "scanned": 9, "caller": "scheduler", **name}
        made.request("Query", at + 0.012, key={"phase": "RUNNING"}, units=1.5, **found)
        made.request("UpdateItem", at + 0.03, key=key, units=1, condition="phase = :old", error=FAILED, **said)
    return made


def test_a_loop_that_reads_its_writes_through_an_index_loses_its_conditions(tmp_path: Path) -> None:
    report = own_loop().replayed(tmp_path)
    lost, stale = only_of(report, "conditional-contention"), only_of(report, "gsi-stale-read")
    assert (lost.severity, lost.caused_by) == (Severity.LOW, stale.id)
    assert stale.severity is Severity.MEDIUM
    assert alarms(report) == set()


@pytest.mark.parametrize(("trace", "keyed"), [(False, True), (True, False)], ids=["no traces", "no keys"])
def test_with_less_to_see_the_conditions_are_still_told_and_never_loudly(
    tmp_path: Path,
    trace: bool,  # noqa: FBT001 -- a parameter
    keyed: bool,  # noqa: FBT001 -- a parameter
) -> None:
    report = own_loop(trace=trace, keyed=keyed).replayed(tmp_path)
    assert only_of(report, "conditional-contention").severity.rank <= Severity.MEDIUM.rank
    assert alarms(report) == set()


# A lock whose owner is gone.


def locked(
    *, freed: bool = False, name: str = "state-locks", condition: str = "attribute_not_exists(LockID)"
) -> Recorded:
    """A run took a lock in the evening and was killed; runs of the next morning wait for it."""
    made = Recorded(minutes=14 * 60, table=name).table("LockID", write=1, read=1)
    key = {"LockID": "prod/network"}
    made.request("PutItem", 0, key=key, units=1, condition=condition, caller="ci")
    for at in (1.5 * HOUR, 1.5 * HOUR + 20, 1.5 * HOUR + 41, 13 * HOUR, 13 * HOUR + 21, 13 * HOUR + 44):
        made.request("PutItem", at, key=key, units=1, condition=condition, caller="ci", error=FAILED)
    if freed:
        made.request("DeleteItem", 2 * HOUR, key=key, units=1, caller="ci")
        made.request("PutItem", 12.9 * HOUR, key=key, units=1, condition=condition, caller="ci")
    return made


def test_a_lock_that_nobody_gave_back_is_stuck(tmp_path: Path) -> None:
    report = locked().replayed(tmp_path)
    stuck = only_of(report, "stuck-lock")
    assert (stuck.severity, stuck.key, stuck.caller) == (Severity.MEDIUM, {"LockID": "prod/network"}, "ci")
    assert stuck.evidence["lock_age_seconds"] == 13 * HOUR + 44
    assert alarms(report) == set()
    assert stuck.advice[0].risk == "none"


def test_a_short_wait_before_a_lock_is_given_back_is_normal(tmp_path: Path) -> None:
    assert "stuck-lock" not in told(locked(freed=True).replayed(tmp_path))


def test_a_lock_that_only_its_waiters_betray_is_possible(tmp_path: Path) -> None:
    made = Recorded(minutes=120, table="singletons").table("name")
    for start in (60, 1800, 5400):
        for number in range(5):
            said: dict[str, Any] = {"condition": "attribute_not_exists(#n)", "names": {"#n": "name"}, "error": FAILED}
            made.request("PutItem", start + 8 * number, key={"name": "nightly"}, units=1, caller="cron", **said)
    stuck = only_of(made.replayed(tmp_path), "stuck-lock")
    assert (stuck.severity, stuck.confidence) == (Severity.LOW, "possible")


# Small items that are put one by one.


def bids(*, each: int = 6, size: int | None = 130, trace: bool = True) -> Recorded:
    """A market writes an item for each bidder of a lot."""
    made = Recorded(minutes=2, table="bids").table("lot", "bidder")
    for number in range(110):
        for bidder in range(each):
            told: dict[str, Any] = {"item_bytes": size, "caller": "market"}
            if trace:
                told["trace_id"] = f"lot-{number}"
            key = {"lot": f"LOT#{number}", "bidder": f"B#{bidder}"}
            made.request("PutItem", 1.05 * number + 0.003 * bidder, key=key, units=1, **told)
    return made


def test_items_far_below_a_kilobyte_that_come_together_cost_too_much(tmp_path: Path) -> None:
    report = bids().replayed(tmp_path)
    costs = only_of(report, "write-cost")
    assert (costs.severity, costs.cause, costs.caller) == (Severity.MEDIUM, "small-items", "market")
    assert costs.evidence["saving_percent"] == 83
    assert told(report) == {"write-cost"}
    assert alarms(report) == set()


def test_without_traces_what_comes_in_a_moment_belongs_together(tmp_path: Path) -> None:
    costs = only_of(bids(each=10, size=90, trace=False).replayed(tmp_path), "write-cost")
    assert costs.evidence["saving_percent"] == 90


def test_without_sizes_it_is_not_judged(tmp_path: Path) -> None:
    report = bids(size=None).replayed(tmp_path)
    assert told(report) == set()
    assert "write-cost" in {skipped.detector for skipped in report.skipped}


# What a healthy service does.


def test_an_idle_hour_of_locks_leases_carts_and_transfers_is_quiet(tmp_path: Path) -> None:
    made = Recorded(minutes=60).table()
    for number in range(600):
        at, order = 6.0 * number, {"PK": f"ORDER#{number}", "SK": "META"}
        made.request("PutItem", at, key=order, units=2, item_bytes=1400, condition="attribute_not_exists(PK)")
        cart = {"PK": f"CART#{number % 40}", "SK": "META"}
        made.request("UpdateItem", at + 1, key=cart, units=1 + number // 40 % 6, update="SET lines = :l", caller="shop")
        said: dict[str, Any] = {"condition": "version = :v", "error": FAILED if number % 50 == 0 else None}
        made.request("UpdateItem", at + 2, key={"PK": f"DOC#{number % 9}", "SK": "META"}, units=1, **said)
        parts = [
            {"op": "Update", "table": "orders", "key": {"PK": {"S": f"ACC#{n}"}, "SK": {"S": "B"}}} for n in (1, 2)
        ]
        made.request("TransactWriteItems", at + 3, units=4, parts=parts, caller="ledger")
        lock = {"PK": "LOCK#reindex", "SK": "META"}
        if number % 100 == 0:
            made.request("PutItem", at + 4, key=lock, units=1, condition="attribute_not_exists(PK)")
            made.request("PutItem", at + 9, key=lock, units=1, condition="attribute_not_exists(PK)", error=FAILED)
            made.request("DeleteItem", at + 64, key=lock, units=1)
    assert told(made.replayed(tmp_path)) == set()


@pytest.mark.parametrize("name", examples.__all__)
def test_the_example_of_each_page_tells_its_fault(tmp_path: Path, name: str) -> None:
    report = getattr(examples, name)().replayed(tmp_path)
    assert name.replace("_", "-") in told(report)
