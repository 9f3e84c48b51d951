from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.counts import Count, Counts, HeavyKey, KeyLevel, KeyName
from analyzer.model.finding import Direction
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.requests.digest import Digest
from analyzer.requests.digest_limits import DigestLimits
from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.templates import Template
from analyzer.requests.tokens import Salt
from tests.support.request_lines import LEXICON, START_MS, line, lines_of

MINUTE = Window(START_MS, START_MS + 60_000)
CASE = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}
CASES = Target(None, None, "cases")


def digest_of(*records: dict[str, Any], lexicon: Lexicon = LEXICON, limits: DigestLimits | None = None) -> Digest:
    digest = Digest(lexicon, limits)
    digest.update(lines_of(list(records)))
    return digest


def result_of(*records: dict[str, Any], lexicon: Lexicon = LEXICON) -> Counts:
    return digest_of(*records, lexicon=lexicon).result(MINUTE)


def sums(counts: Counts, column: Count) -> int:
    return int(counts.values[:, column].sum())


def keys_at(counts: Counts, target: Target, direction: Direction, level: KeyLevel) -> list[HeavyKey]:
    sides = [keys for keys in counts.keys if (keys.target, keys.direction) == (target, direction)]
    return [key for keys in sides for key in keys.keys if key.name.level is level]


def query(condition: str, **fields: Any) -> dict[str, Any]:
    return line("Query", key_condition=condition, **fields)


class TestLines:
    def test_a_counter_line_tells_what_the_sampler_left_out(self) -> None:
        digest = digest_of(
            {"v": 1, "counter": "dropped", "count": 7, "start": "2026-11-30T10:00:00Z"},
            {"v": 1, "counter": "unsampled", "count": 5, "time": "2026-11-30T10:00:00Z"},
            {"v": 1, "counter": "unsampled"},
            {"v": 1, "counter": "invented", "count": 1},
        )
        assert (digest.read.dropped, digest.read.unsampled, digest.read.read, digest.read.bad) == (7, 5, 0, 1)

    def test_a_counter_among_requests_is_no_request(self) -> None:
        digest = digest_of(line(), {"v": 1, "counter": "dropped", "count": 2, "time": "2026-11-30T10:00:00Z"})
        assert (digest.read.read, digest.read.dropped) == (1, 2)

    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            (b'{"v":2,"time":"2026-11-30T10:00:00Z","op":"Scan"}', "Invalid enum value 2 - at `$.v`"),
            (b'{"v":1,"time":"2026-11-30T10:00:00Z"}', "object missing required field `op`"),
            (b'{"v":1,"op":"Scan"}', "time is not RFC 3339"),
            (b'{"v":1,"op":"Scan","time":"yesterday"}', "time is not RFC 3339"),
            (b'{"v":1,"op":"Scan","time":"1969-01-01T00:00:00Z"}', "time is not RFC 3339"),
            (b'{"v":1,"time":"2026-11-30T10:00:00Z","op":null}', "object missing required field `op`"),
            (b'{"v":1,"count":"3"}', "Expected `int`, got `str` - at `$.count`"),
            (b"\x00\xff\xfe junk", "not one JSON object in UTF-8"),
            (b'{"v":1,"time":"2026-', "not one JSON object in UTF-8"),
            (b"[" * 100_000, "not one JSON object in UTF-8"),
        ],
    )
    def test_a_bad_line_is_counted_with_its_reason_and_stops_nothing(self, bad: bytes, reason: str) -> None:
        digest = Digest(LEXICON)
        digest.update(lines_of([line()]) + bad + b"\n" + lines_of([line(at=1)]))
        assert (digest.read.read, digest.read.bad) == (2, 1)
        assert digest.read.samples == (reason,)

    def test_samples_of_bad_lines_are_few_and_hold_nothing_of_them(self) -> None:
        digest = Digest(LEXICON)
        digest.update(b'{"v":1,"op":{"secret":1}}\n' * 20)
        assert digest.read.bad == 20
        assert digest.read.samples == ("Expected `str`, got `object` - at `$.op`",)

    def test_a_line_beyond_a_mebibyte_is_bad_and_overlong(self) -> None:
        digest = Digest(LEXICON)
        digest.update(lines_of([line(filter="x" * 2_000_000), line()]))
        assert (digest.read.read, digest.read.bad, digest.read.overlong) == (1, 1, 1)

    def test_a_record_may_go_over_several_lines(self) -> None:
        digest = Digest(LEXICON)
        key = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}
        written = lines_of([line(key=key), line(key=key, names={"#a": "b"}, consumed={"total": 1})])
        digest.update(written.replace(b"{", b"{\n"))
        counts = digest.result(MINUTE)
        assert digest.read.read == 2
        assert {heavy.name.partition for side in counts.keys for heavy in side.keys} == {"CASE#1"}

    def test_null_is_not_known(self) -> None:
        digest = Digest(LEXICON)
        digest.update(lines_of([line(count=None, error=None, caller=None, key=None)]))
        assert digest.read.read == 1
        assert sums(digest.result(MINUTE), Count.FAILED) == 0

    @pytest.mark.parametrize(
        "time",
        ["2026-11-30T10:00:07Z", "2026-11-30T10:00:07.123456Z", "2026-11-30T11:00:07+01:00", "2026-11-30T10:00:07z"],
    )
    def test_every_spelling_of_a_time_is_read(self, time: str) -> None:
        assert digest_of({**line(), "time": time}).slices() == [START_MS]

    def test_the_future_is_counted_and_not_analysed(self) -> None:
        digest = Digest(LEXICON)
        digest.update(lines_of([line(at=50), line(at=200)]), now=START_MS)
        digest.update(lines_of([line(at=200)]), now=START_MS)
        assert (digest.read.read, digest.read.future) == (1, 2)
        assert digest.take_ahead_seconds() > 60
        assert digest.take_ahead_seconds() == 0
        assert digest.span() == Window(START_MS + 50_000, START_MS + 60_000)

    def test_late_records_are_counted_where_they_belong(self) -> None:
        digest = digest_of(line(at=100))
        digest.forget_before(START_MS + 60_000)
        digest.update(lines_of([line(at=3)]))
        assert (digest.read.read, digest.read.late) == (2, 1)
        assert sums(digest.totals(), Count.REQUESTS) == 2

    def test_a_request_id_counts_once_a_minute(self) -> None:
        digest = digest_of(line(request_id="R1"), line(request_id="R1"), line(), line())
        digest.update(lines_of([line(at=59, request_id="R1"), line(at=60, request_id="R2")]))
        digest.span()
        digest.update(lines_of([line(at=61, request_id="R1")]))
        assert digest.read.duplicate == 3
        digest.update(lines_of([line(at=400, request_id="R1")]))
        assert (digest.read.read, digest.read.duplicate) == (5, 3)

    def test_request_ids_are_remembered_within_bounds(self) -> None:
        digest = Digest(LEXICON, DigestLimits(ids=2))
        for number in range(6):
            digest.update(lines_of([line(request_id=f"R{number}")]), now=START_MS)
        digest.update(lines_of([line(request_id="R0"), line(request_id="R5")]), now=START_MS)
        assert digest.read.duplicate == 1

    def test_ids_are_let_go_once_no_more_will_be_read(self) -> None:
        digest = digest_of(line(request_id="a"), line(request_id="a"))
        digest.rest()
        assert (digest.read.read, digest.read.duplicate) == (1, 1)
        assert not digest._intake.recent

    def test_an_unknown_operation_is_kept(self) -> None:
        (cell,) = result_of(line("TimeTravel")).cells
        assert cell.shape.operation == "TimeTravel"

    def test_an_unknown_table_has_no_name(self) -> None:
        record = line("GetItem")
        del record["table"]
        assert result_of(record).cells[0].target == Target(None, None, "")

    def test_an_arn_is_reduced_to_its_table(self) -> None:
        arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"
        assert result_of({**line(key=CASE), "table": arn}).cells[0].target == CASES

    def test_the_requests_of_a_slice_are_those_of_its_result(self) -> None:
        digest = digest_of(line(at=1), line(at=2, key=CASE), line(at=12))
        starts = digest.slices()
        assert [digest.requests(start) for start in starts] == [2, 1]
        assert digest.requests(starts[-1] + 10_000) == 0


class TestCounts:
    def test_a_filter_wastes_what_it_discards(self) -> None:
        counts = result_of(line("Scan", count=1, scanned=4, consumed={"total": 3.5}))
        assert sums(counts, Count.READ_HALF_UNITS) == 7
        assert sums(counts, Count.WASTED_HALF_UNITS) == 5, "7 × 3/4, rounded down"
        assert sums(counts, Count.UNITS_SQUARED) == 49

    def test_units_that_were_not_told_are_not_known(self) -> None:
        counts = result_of(line(), line(consumed={}), line(consumed={"total": -1}), line(consumed={"total": "x"}))
        assert sums(counts, Count.REQUESTS) == 4
        assert sums(counts, Count.UNITS_KNOWN) == 0

    def test_a_write_costs_its_table_and_its_indexes(self) -> None:
        consumed = {"total": 5, "table": 2, "indexes": {"GSI1": {"write": 2}, "LSI1": 1}}
        counts = result_of(line("PutItem", key=CASE, consumed=consumed))
        own, other = counts.cells
        assert (own.target, other.target, other.secondary) == (CASES, CASES.at("GSI1"), True)
        assert counts.values[:, Count.WRITE_HALF_UNITS].tolist() == [6, 4], "a local index counts on its table"
        assert counts.values[:, Count.REQUESTS].tolist() == [1, 0]

    def test_a_declared_global_index_is_its_own_target_whatever_its_keys(self) -> None:
        keys = TableKeys(
            name="cases",
            partition_key=("PK",),
            sort_key=("SK",),
            indexes={"LSI1": (("PK",), ("LSI1SK",)), "GSI9": (("PK",), ("GSI9SK",))},
            global_indexes=frozenset({"GSI9"}),
        )
        asked = [line("Query", index=name, key={"PK": {"S": "CASE#7"}}) for name in ("LSI1", "GSI9")]
        cells = result_of(*asked, lexicon=Lexicon([keys])).cells
        assert [(cell.target.index, cell.shape.index) for cell in cells] == [(None, "LSI1"), ("GSI9", "GSI9")]

    def test_a_query_of_an_index_costs_the_index_and_what_it_fetches_the_table(self) -> None:
        consumed = {"total": 3, "table": 1, "indexes": {"GSI1": 2}}
        counts = result_of(query("GSI1PK = :p", index="GSI1", key={"GSI1PK": {"S": "STATUS#a"}}, consumed=consumed))
        assert [cell.target for cell in counts.cells] == [CASES.at("GSI1"), CASES]
        assert counts.values[:, Count.READ_HALF_UNITS].tolist() == [4, 2]

    def test_parts_of_units_add_up_where_no_total_was_told(self) -> None:
        consumed = {"table": {"read": 1}, "indexes": {"GSI2": 2}}
        assert sums(result_of(line("Scan", consumed=consumed)), Count.READ_HALF_UNITS) == 6

    def test_the_unparsed_are_counted(self) -> None:
        counts = result_of(line("Scan", filter="((("), line("Scan"))
        assert counts.unparsed == 1

    def test_conditions_of_one_form_are_one_shape_whatever_the_placeholders(self) -> None:
        cells = result_of(
            query("#a = :a", names={"#a": "PK"}, key={"PK": {"S": "CASE#1"}}),
            query("#zz = :q", names={"#zz": "PK"}, key={"PK": {"S": "CASE#22"}}),
        ).cells
        assert len(cells) == 1

    def test_a_sort_condition_belongs_to_the_template_that_it_falls_under(self) -> None:
        condition = "PK = :p AND begins_with(SK, :s)"
        key = {"PK": {"S": "CASE#1"}}
        declared, other, escaped = (
            result_of(query(condition, key=key, values={":p": key["PK"], ":s": {"S": prefix}})).cells[0].shape.key[1]
            for prefix in ("AUDIT#", "ZZZ", 'A"')
        )
        assert declared.declared == ("begins_with AUDIT#",)
        assert other.declared == ()
        assert escaped.declared == ()

    def test_a_placeholder_that_is_not_there_leaves_the_template_open(self) -> None:
        condition = "PK = :p AND begins_with(SK, :s)"
        for values in ({}, {":x": {"S": "AUDIT#"}}, "nonsense"):
            shape = result_of(query(condition, key={"PK": {"S": "CASE#1"}}, values=values)).cells[0].shape
            assert shape.key[1].template == ""

    def test_a_range_has_two_values(self) -> None:
        values = {":a": {"S": "AUDIT#1"}, ":b": {"S": "AUDIT#9"}}
        condition = "PK = :p AND SK BETWEEN :a AND :b"
        shape = result_of(query(condition, key={"PK": {"S": "CASE#1"}}, values=values)).cells[0].shape
        assert shape.key[1].template == "AUDIT#<id> and AUDIT#<id>"

    def test_a_condition_without_a_key_takes_it_from_the_values(self) -> None:
        counts = result_of(query("PK = :p", values={":p": {"S": "CASE#1"}}, consumed={"total": 1}))
        assert counts.cells[0].shape.key[0].template == "CASE#<id>"
        (key,) = keys_at(counts, CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.name.partition, key.low) == ("CASE#1", 2)

    def test_a_statement_takes_its_key_from_its_parameters(self) -> None:
        record = line(
            "ExecuteStatement",
            statement="SELECT * FROM cases WHERE PK = ? AND SK = ?",
            values={"?1": {"S": "CASE#1"}, "?2": {"S": "META"}},
            consumed={"total": 1},
        )
        counts = result_of({**record, "table": None}, record)
        assert {cell.shape.table for cell in counts.cells} == {"cases"}
        assert not counts.cells[0].shape.scans
        (key,) = keys_at(counts, CASES, Direction.READ, KeyLevel.ITEM)
        assert key.name == KeyName(KeyLevel.ITEM, "CASE#1", "META")

    def test_segments_of_a_parallel_scan_are_one_shape(self) -> None:
        cells = result_of(*(line("Scan", segment=n, total_segments=4) for n in range(4))).cells
        assert [cell.shape.segmented for cell in cells] == [True]

    def test_rates_of_a_reservoir_do_not_each_make_a_cell(self) -> None:
        cells = result_of(line(sample_rate=0.123412), line(sample_rate=0.123399)).cells
        assert [cell.sample_rate for cell in cells] == [0.1234]

    def test_a_window_of_days_has_no_series(self) -> None:
        digest = digest_of(line(), line(at=30))
        week = Window(START_MS - 86_400_000, START_MS + 86_400_000)
        assert digest.result(week).series.shape == (0, 1, 3)
        assert sums(digest.result(week), Count.REQUESTS) == 2

    def test_hours_count_clock_hours(self) -> None:
        digest = digest_of(line(), line(at=10), line(at=3700), limits=DigestLimits(hours=2))
        assert list(digest.hours().values()) == [2]
        digest.update(lines_of([line(at=7300)]))
        assert list(digest.hours().values()) == [2], "the bound holds"

    def test_an_empty_digest_has_no_span(self) -> None:
        digest = Digest(LEXICON)
        assert digest.span() is None
        assert digest.totals().window == Window(0, 0)
        assert digest.slices() == []


class TestFailures:
    def test_a_throttled_try_counts_at_its_resource_and_key(self) -> None:
        reason = "TableReadKeyRangeThroughputExceeded"
        arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"
        error = {"code": "ThrottlingException", "reasons": [{"reason": reason, "resource": arn}]}
        tries = [{"at_ms": 1, "code": "ThrottlingException", "reason": reason}, {"code": "ThrottlingException"}]
        counts = result_of(line(key=CASE, error=error, tries=tries))
        (throttle,) = counts.throttles
        assert (throttle.reason, throttle.tries, throttle.failed) == (reason, 2, 1)
        assert throttle.resource == Target("111122223333", "us-east-1", "cases")
        assert sums(counts, Count.THROTTLED_TRIES) == 2
        assert sums(counts, Count.THROTTLED_FAILED) == 1
        (key,) = keys_at(counts, CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.name.partition, key.tries, key.low) == ("CASE#1", 2, 0)
        both = result_of(line(key=CASE, error=error, tries=tries), line(key=CASE, error=error, tries=tries, at=20))
        (key,) = keys_at(both, CASES, Direction.READ, KeyLevel.PARTITION)
        assert key.tries == 4

    def test_retries_that_helped_leave_no_failure(self) -> None:
        counts = result_of(line(tries=[{"code": "ProvisionedThroughputExceededException"}, {"code": "ReadTimeout"}]))
        assert (sums(counts, Count.THROTTLED), sums(counts, Count.FAILED)) == (1, 0)
        assert counts.throttles[0].reason == ""
        assert counts.throttles[0].resource is None

    def test_a_try_that_a_retry_absorbed_tells_its_own_resource(self) -> None:
        arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases/index/GSI1"
        one = {"code": "ThrottlingException", "reason": "IndexWriteKeyRangeThroughputExceeded", "resource": arn}
        (throttle,) = result_of(line("PutItem", key=CASE, tries=[one])).throttles
        assert throttle.resource == Target("111122223333", "us-east-1", "cases", "GSI1")

    def test_an_index_that_holds_a_write_up_bears_the_tries(self) -> None:
        reason = "IndexWriteKeyRangeThroughputExceeded"
        arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases/index/GSI1"
        write: dict[str, Any] = {
            "key": CASE,
            "index_keys": {"GSI1": {"GSI1PK": {"S": "STATUS#OPEN"}, "GSI1SK": {"S": "1"}}},
            "error": {"code": "ThrottlingException", "reasons": [{"reason": reason, "resource": arn}]},
        }
        counts = result_of(line("PutItem", **write), line("PutItem", **{**write, "index_keys": {}}))
        (throttle,) = counts.throttles
        assert throttle.resource == Target("111122223333", "us-east-1", "cases", "GSI1")
        (key,) = keys_at(counts, CASES.at("GSI1"), Direction.WRITE, KeyLevel.PARTITION)
        assert (key.name.partition, key.tries) == ("STATUS#OPEN", 1)
        assert all(not key.tries for key in keys_at(counts, CASES, Direction.WRITE, KeyLevel.PARTITION))

    @pytest.mark.parametrize(
        ("record", "resource"),
        [
            (line("PutItem"), None),
            (query("GSI1PK = :p", index="GSI1"), CASES.at("GSI1")),
        ],
    )
    def test_without_an_arn_an_index_is_known_only_if_the_request_names_it(
        self, record: dict[str, Any], resource: Target | None
    ) -> None:
        reasons = [{"reason": "IndexReadProvisionedThroughputExceeded"}]
        counts = result_of({**record, "error": {"code": "ThrottlingException", "reasons": reasons}})
        assert counts.throttles[0].resource == resource
        assert counts.throttles[0].direction is Direction.READ

    def test_without_an_arn_a_table_limit_is_the_requests_own_tables(self) -> None:
        reasons = [{"reason": "TableReadAccountLimitExceeded"}]
        record = query("GSI1PK = :p", index="GSI1", error={"code": "ThrottlingException", "reasons": reasons})
        assert result_of(record).throttles[0].resource == CASES

    def test_a_cancelled_transaction_is_judged_by_its_reasons(self) -> None:
        parts = [{"op": "Put", "table": "cases", "key": CASE}]
        error = {"code": "TransactionCanceledException", "cancellation": [None, "ConditionalCheckFailed"]}
        counts = result_of(line("TransactWriteItems", parts=parts, error=error))
        assert sums(counts, Count.CONDITION_FAILED) == 1
        assert sums(counts, Count.THROTTLED) == 0

    @pytest.mark.parametrize(
        ("code", "column"),
        [
            ("InternalServerError", Count.SERVER_ERRORS),
            ("HTTP503", Count.SERVER_ERRORS),
            ("ConnectTimeoutError", Count.TRANSPORT_FAILURES),
            ("ConditionalCheckFailedException", Count.CONDITION_FAILED),
        ],
    )
    def test_failures_are_told_apart(self, code: str, column: Count) -> None:
        counts = result_of(line(error={"code": code}))
        assert (sums(counts, column), sums(counts, Count.FAILED)) == (1, 1)

    def test_refusals_keep_few_messages(self) -> None:
        counts = result_of(*(line(error={"code": "ValidationException", "message": "m" * n}) for n in range(1, 301)))
        assert sum(refusal.calls for refusal in counts.refusals) == 300
        assert len(counts.refusals) == 257

    def test_an_error_that_cannot_be_read_is_none(self) -> None:
        assert sums(result_of(line(error=["oh"], tries="no"), line(error="")), Count.FAILED) == 0

    def test_an_error_of_one_word_is_its_code(self) -> None:
        counts = result_of(line(error="AccessDeniedException"), line(error="no access to CASE#1"))
        assert sums(counts, Count.FAILED) == 2
        assert {refusal.code for refusal in counts.refusals} == {"AccessDeniedException", "other"}


class TestKeys:
    def test_a_key_is_counted_as_item_partition_and_prefix(self) -> None:
        key = {"PK": {"S": "TENANT#7#CASE#1"}, "SK": {"S": "META"}}
        counts = result_of(line(key=key, consumed={"total": 1}), line(key=key, at=11, consumed={"total": 2}))
        found = {
            level: keys_at(counts, CASES, Direction.READ, level)[0]
            for level in (KeyLevel.PREFIX, KeyLevel.PARTITION, KeyLevel.ITEM)
        }
        assert found[KeyLevel.PREFIX].name == KeyName(KeyLevel.PREFIX, "TENANT#7#")
        assert found[KeyLevel.PARTITION].name == KeyName(KeyLevel.PARTITION, "TENANT#7#CASE#1")
        item = found[KeyLevel.ITEM]
        assert item.name == KeyName(KeyLevel.ITEM, "TENANT#7#CASE#1", "META")
        assert item.series == ((START_MS, 2, 2), (START_MS + 10_000, 4, 4))
        assert (item.low, item.high, item.sampled, item.requests) == (6, 6, 2, 2)
        assert item.by_cell == ((0, 6),)
        assert item.templates == ("TENANT#<n>#CASE#<n>", "META")
        assert counts.keys[0].attributes == ("PK", "SK")
        assert counts.keys[0].distinct == 1

    def test_sampling_weighs_keys(self) -> None:
        counts = result_of(line(key=CASE, consumed={"total": 1}, sample_rate=0.1))
        (key,) = keys_at(counts, CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.low, key.sampled, key.requests, counts.keys[0].total) == (20, 1, 10, 20)

    def test_seconds_of_a_hot_key_are_told(self) -> None:
        hot = [line(at=second / 4, key=CASE, consumed={"total": 800}) for second in range(20)]
        (key,) = keys_at(result_of(*hot), CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.peak_second, key.seconds_over, key.tracked_since) == (6400, 5, START_MS)
        digest = digest_of(*hot)
        digest.forget_before(START_MS + 60_000)
        digest.update(lines_of([line(at=70 + second / 4, key=CASE, consumed={"total": 800}) for second in range(4)]))
        (key,) = keys_at(digest.totals(), CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.peak_second, key.seconds_over, key.tracked_since) == (6400, 6, START_MS)
        assert key.series == ((START_MS, 32_000, 32_000), (START_MS + 70_000, 6400, 6400))

    def test_a_hot_key_of_which_the_rows_come_in_two_folds_is_one(self) -> None:
        digest = Digest(LEXICON, DigestLimits(rows=5))
        for _ in range(2):
            digest.update(lines_of([line(at=second, key=CASE, consumed={"total": 800}) for second in range(9)]))
            digest.result(MINUTE)
        (key,) = keys_at(digest.result(MINUTE), CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.low, key.high, key.peak_second, key.sampled) == (28_800, 28_800, 3200, 18)

    def test_a_condition_on_the_sort_key_alone_names_no_key(self) -> None:
        counts = result_of(query("SK = :s", values={":s": {"S": "META"}}, consumed={"total": 1}))
        assert counts.keys == ()

    def test_an_escape_that_stands_for_no_character_is_no_json(self) -> None:
        text = lines_of([line(key={"PK": {"S": "MARK"}}, consumed={"total": 1})]).replace(b"MARK", b"\\ud800")
        digest = Digest(LEXICON)
        digest.update(text)
        assert digest.read.bad == 1

    def test_templates_are_no_keys(self) -> None:
        counts = result_of(line(key={"PK": {"S": "CASE#<id>"}}, keys="template", consumed={"total": 1}))
        assert counts.keys == ()
        assert counts.cells[0].shape.key[0].template == "CASE#<id>"

    @pytest.mark.parametrize(
        "key",
        [{"PK": {"BOOL": True}}, {"PK": {"S": 5}}, {"PK": "x"}, [], {}, {"PK": {"S": "x" * 3000}}, {"SK": {"S": "x"}}],
    )
    def test_what_is_no_key_is_not_counted_as_one(self, key: object) -> None:
        counts = result_of(line(key=key, consumed={"total": 1}))
        assert sums(counts, Count.REQUESTS) == 1
        assert all(not keys.keys for keys in counts.keys)

    def test_numbers_and_binary_values_are_keys(self) -> None:
        lexicon = Lexicon([TableKeys(name="cases", partition_key=("id",))])
        spellings = [{"N": "7"}, {"N": "7.0"}, {"N": "70e-1"}, {"B": "AAE="}]
        counts = result_of(*(line(key={"id": key}, consumed={"total": 1}) for key in spellings), lexicon=lexicon)
        keys = keys_at(counts, CASES, Direction.READ, KeyLevel.PARTITION)
        assert [(key.name.partition, key.low) for key in keys] == [("7", 6), ("AAE=", 2)]

    def test_keys_are_alike_whatever_the_spaces_order_and_escapes(self) -> None:
        digest = Digest(LEXICON)
        texts = [
            '{"PK":{"S":"CASE#1"},"SK":{"S":"META"}}',
            '{ "PK" : {"S": "CASE#1"}, "SK": {"S": "META"} }',
            '{"SK":{"S":"META"},"PK":{"S":"CASE#1"}}',
            '{"PK":{"S":"CASE\\u00231"},"SK":{"S":"\\u004dETA"}}',
        ]
        rest = '"v":1,"time":"2026-11-30T10:00:00Z","op":"GetItem","table":"cases","consumed":{"total":1}'
        digest.update("".join(f'{{{rest},"key":{text}}}\n' for text in texts).encode())
        (key,) = keys_at(digest.result(MINUTE), CASES, Direction.READ, KeyLevel.ITEM)
        assert (key.name.partition, key.name.sort, key.low) == ("CASE#1", "META", 8)

    def test_a_quoted_value_is_read_as_it_is(self) -> None:
        key = {"PK": {"S": 'CASE#"1"'}, "SK": {"S": "a\\b"}}
        (item,) = keys_at(result_of(line(key=key, consumed={"total": 1})), CASES, Direction.READ, KeyLevel.ITEM)
        assert (item.name.partition, item.name.sort) == ('CASE#"1"', "a\\b")

    def test_index_keys_are_joined_from_their_attributes(self) -> None:
        schema = (("region", "status"), ("due", "id"))
        lexicon = Lexicon([TableKeys(name="cases", partition_key=("PK",), indexes={"GSI1": schema})])
        entry = {"region": {"S": "eu"}, "status": {"S": "open"}, "due": {"S": "1"}, "id": {"S": "2"}}
        consumed = {"total": 2, "table": 1, "indexes": {"GSI1": 1}}
        counts = result_of(
            line("PutItem", key={"PK": {"S": "1"}}, index_keys={"GSI1": entry}, consumed=consumed), lexicon=lexicon
        )
        (key,) = keys_at(counts, CASES.at("GSI1"), Direction.WRITE, KeyLevel.ITEM)
        assert (key.name.partition, key.name.sort) == ("eu|open", "1|2")
        read = query("region = :r AND #s = :s", index="GSI1", names={"#s": "status"}, consumed={"total": 1})
        counts = result_of({**read, "key": {"region": {"S": "eu"}, "status": {"S": "open"}}}, lexicon=lexicon)
        (key,) = keys_at(counts, CASES.at("GSI1"), Direction.READ, KeyLevel.PARTITION)
        assert key.name.partition == "eu|open"

    @pytest.mark.parametrize(
        "written",
        [
            {"GSI1": {"GSI1PK": {"S": "STATUS#a"}, "GSI1SK": {"S": "1"}}},
            {"GSI1": {"GSI1SK": {"S": "1"}, "GSI1PK": {"S": "STATUS#a"}}},
            {"GSI1": {"GSI1PK": {"S": "STATUS#a"}, "GSI1SK": {"N": "1.0"}}},
            {"GSI9": {"x": {"S": "9"}}, "GSI1": {"GSI1PK": {"S": "STATUS#a"}, "GSI1SK": {"S": "1"}}},
        ],
    )
    def test_index_entries_are_read_however_they_are_written(self, written: dict[str, Any]) -> None:
        consumed = {"total": 2, "table": 1, "indexes": {"GSI1": 1}}
        record = line("PutItem", key=CASE, index_keys=written, consumed=consumed)
        counts = result_of(record, record)
        (key,) = keys_at(counts, CASES.at("GSI1"), Direction.WRITE, KeyLevel.ITEM)
        assert (key.name.partition, key.name.sort, key.low) == ("STATUS#a", "1", 4)

    @pytest.mark.parametrize("written", [{"GSI1": {}}, {"GSI1": {"GSI1SK": {"S": "1"}}}, {"GSI1": 5}, {"G": {}}, []])
    def test_an_index_entry_without_its_partition_key_is_not_counted(self, written: object) -> None:
        consumed = {"total": 2, "table": 1, "indexes": {"GSI1": 1}}
        counts = result_of(line("PutItem", key=CASE, index_keys=written, consumed=consumed))
        assert keys_at(counts, CASES.at("GSI1"), Direction.WRITE, KeyLevel.PARTITION) == []
        assert sums(counts, Count.WRITE_HALF_UNITS) == 4

    def test_keys_of_an_undeclared_table_are_told_apart_by_their_names(self) -> None:
        lexicon = Lexicon()
        records = [
            line(key={"sk": {"S": "b-1"}, "pk": {"S": f"u#{n}"}}, consumed={"total": 1}, keys=keys)
            for n in (1, 2)
            for keys in ("reveal", "token")
        ]
        records.append(line(key={"key2": {"S": "s"}, "key1": {"S": "p"}}, consumed={"total": 1}))
        counts = result_of(*records, lexicon=lexicon)
        names = {key.name.partition for key in keys_at(counts, CASES, Direction.READ, KeyLevel.PARTITION)}
        assert names == {"u#1", "u#2", "s"}
        assert counts.keys[0].attributes == ()

    def test_tokens_of_literals_are_those_literals(self) -> None:
        salt = Salt(b"secret")
        keys = TableKeys(name="cases", partition_key=("PK",), templates={"PK": (Template.parse("CASE#<id>"),)})
        token = f"{salt.token('CASE')}#{salt.token('1')}"
        other = f"{salt.token('USER')}#{salt.token('2')}"
        counts = result_of(
            *(line(key={"PK": {"S": text}}, keys="token") for text in (token, other)), lexicon=Lexicon([keys], salt)
        )
        assert [cell.shape.key[0].declared for cell in counts.cells] == [("CASE#<id>",), ()]

    def test_digits_of_literals_are_told_from_those_of_values(self) -> None:
        def shapes(*templates: str) -> list[tuple[str, ...]]:
            declared = {"PK": tuple(map(Template.parse, templates))}
            lexicon = Lexicon([TableKeys(name="cases", partition_key=("PK",), templates=declared)])
            texts = ("Y2026#1", "Y1#1", "Y77777#123456", "V12")
            counts = result_of(*(line(key={"PK": {"S": text}}) for text in texts), lexicon=lexicon)
            return sorted({cell.shape.key[0].declared for cell in counts.cells})

        assert shapes("Y2026#<id>") == [(), ("Y2026#<id>",)]
        assert shapes("V1<id>") == [(), ("V1<id>",)]

    def test_ids_with_dashes_are_of_one_class(self) -> None:
        uuids = ("3f2a9c1b-0001-4abc-8def-0123456789ab", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
        digest = Digest(LEXICON)
        for uuid in uuids * 2:
            digest.update(lines_of([line(key={"PK": {"S": f"CASE#{uuid}"}})]), now=START_MS)
        assert len(digest.result(MINUTE).cells) == 1


class TestBatches:
    def test_a_call_over_two_tables_is_one_request_at_each(self) -> None:
        parts = [
            {"op": "Put", "table": "cases", "key": CASE},
            {"op": "Put", "table": "audit", "key": {"id": {"S": "1"}}},
            {"op": "Update", "table": "cases", "key": {**CASE, "SK": {"S": "AUDIT#1"}}, "update": "SET a = :a"},
        ]
        consumed = {"total": 9, "by_table": {"cases": {"total": 7}, "audit": {"total": 2}}}
        record = line("TransactWriteItems", parts=parts, consumed=consumed)
        del record["table"]
        counts = result_of(record)
        assert [(cell.target.table, len(cell.shape.parts)) for cell in counts.cells] == [("cases", 2), ("audit", 1)]
        assert counts.values[:, Count.WRITE_HALF_UNITS].tolist() == [14, 4]
        assert [k.low for k in keys_at(counts, CASES, Direction.WRITE, KeyLevel.ITEM)] == [7, 7]

    def test_units_without_a_split_are_not_known_over_two_tables(self) -> None:
        parts = [{"op": "Get", "table": "cases", "key": CASE}, {"op": "Get", "table": "audit", "key": CASE}]
        assert sums(result_of(line("BatchGetItem", parts=parts, consumed={"total": 1})), Count.UNITS_KNOWN) == 0

    def test_members_inherit_the_table(self) -> None:
        parts = [{"op": "Get", "key": CASE}] * 3
        arn = "arn:aws:dynamodb:us-east-1:1:table/cases"
        counts = result_of(
            line("BatchGetItem", parts=parts, consumed={"total": 1}),
            {**line("BatchGetItem", parts=parts), "table": arn},
        )
        assert {cell.target.table for cell in counts.cells} == {"cases"}
        (key,) = keys_at(counts, CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.low, key.sampled) == (2, 6)

    def test_members_write_index_entries(self) -> None:
        entries = [{"GSI1": {"GSI1PK": {"S": f"STATUS#{n}"}, "GSI1SK": {"S": "1"}}} for n in "ab"]
        parts = [{"op": "Put", "key": CASE, "index_keys": entry} for entry in [*entries, {}]]
        consumed = {"total": 6, "table": 3, "indexes": {"GSI1": 3}}
        counts = result_of(line("BatchWriteItem", parts=parts, consumed=consumed))
        keys = keys_at(counts, CASES.at("GSI1"), Direction.WRITE, KeyLevel.PARTITION)
        assert {key.name.partition: key.low for key in keys} == {"STATUS#a": 3, "STATUS#b": 3}

    def test_statements_name_their_tables(self) -> None:
        parts = [{"op": "Get", "statement": "SELECT * FROM audit WHERE id = ?"}]
        record = line("BatchExecuteStatement", parts=parts)
        del record["table"]
        assert result_of(record).cells[0].target.table == "audit"

    @pytest.mark.parametrize("parts", ["junk", [], [{"op": "Get", "key": CASE, "item_bytes": "x"}]])
    def test_members_that_cannot_be_read_leave_a_request(self, parts: object) -> None:
        assert sums(result_of(line("BatchGetItem", parts=parts)), Count.REQUESTS) == 1

    def test_what_was_handed_back_is_counted(self) -> None:
        counts = result_of(line("BatchGetItem", parts=[{"op": "Get", "key": CASE}], unprocessed=3))
        assert sums(counts, Count.UNPROCESSED) == 3


class TestBounds:
    def test_cells_beyond_the_bound_are_counted_as_unparsed(self) -> None:
        records = [line("Scan", filter=f"a{n} = :v", caller=f"c{n}") for n in range(9)]
        digest = digest_of(*records, limits=DigestLimits(cells=4))
        counts = digest.totals()
        assert sums(counts, Count.REQUESTS) == 9
        assert counts.unparsed == 5
        assert len(counts.cells) == 5
        assert digest.read.squeezed == 1

    def test_tables_without_end_are_counted_under_no_name(self) -> None:
        records = [
            line(table=f"t{number}", op="Op" + "abcdefg"[number % 7], account=f"{number:012}") for number in range(500)
        ]
        digest = digest_of(*records, limits=DigestLimits(cells=32))
        counts = digest.totals()
        assert len(counts.cells) <= 32 + 2 + 1
        assert len(counts.keys) <= len(counts.cells)
        assert int(counts.values[:, Count.REQUESTS].sum()) == 500
        merged = digest_of(limits=DigestLimits(cells=32))
        merged.merge(digest)
        assert int(merged.totals().values[:, Count.REQUESTS].sum()) == 500
        assert merged.read.squeezed > 0

    def test_the_grammar_is_asked_so_many_times_a_second(self) -> None:
        records = [line("Scan", filter=f"a{n} = :v", at=n // 10) for n in range(20)]
        records.append(line("ExecuteStatement", statement="SELECT * FROM audit", at=1))
        digest = digest_of(*records, limits=DigestLimits(grammar=4))
        assert digest.totals().unparsed == 13
        assert digest.read.squeezed == 13
        merged = Digest(LEXICON)
        merged.merge(digest)
        assert merged.read.squeezed == 13

    def test_caches_are_emptied_when_they_are_full(self) -> None:
        digest = Digest(LEXICON, DigestLimits(routes=3))
        for n in range(40):
            index = {"GSI1": n + 1}
            record = query(f"PK = :p{n}", index=f"I{n}", key={"PK": {"S": f"v{n}"}}, consumed={"indexes": index})
            parts = [{"op": "Get", "key": CASE, "condition": f"a{n} = :a"}]
            digest.update(lines_of([record, line("BatchGetItem", parts=parts, caller=f"c{n % 5}")]), now=START_MS)
        assert sums(digest.totals(), Count.REQUESTS) == 80
        assert len(digest._columns.router.routes) <= 8

    def test_slices_beyond_the_bound_are_forgotten_by_themselves(self) -> None:
        digest = Digest(LEXICON, DigestLimits(slices=3, batch=1))
        for slice_ in range(6):
            digest.update(lines_of([line(at=10 * slice_)]))
            digest.span()
        assert len(digest.slices()) == 3
        assert sums(digest.totals(), Count.REQUESTS) == 6

    def test_of_many_tables_keys_are_told_of_the_refused_and_the_heaviest_ones(self) -> None:
        error = {"code": "ThrottlingException"}
        log = [line(table=f"t{n}", key=CASE, consumed={"total": 1 + n}, request_id=f"R{n}") for n in range(1100)]
        log.append(line(table="t0", key=CASE, error=error, request_id="R"))
        told = {heavy.target.table for heavy in digest_of(*log).totals().keys}
        assert len(told) == 1024
        assert {"t0", "t77", "t1099"} <= told
        assert not {"t1", "t76"} & told

    def test_memory_follows_tracked_keys_and_not_the_keys_that_were_seen(self) -> None:
        digest = Digest(LEXICON, DigestLimits(rows=500))
        for block in range(20):
            keys = [{"PK": {"S": f"CASE#{block}x{n}"}, "SK": {"S": str(n)}} for n in range(200)]
            digest.update(lines_of([line(at=block, key=key, consumed={"total": 1}) for key in keys]))
        (heavy,) = digest.result(MINUTE).keys
        sides = [side for slice_ in digest._heavy.slices.values() for side in slice_.values()]
        assert max(len(sketch) for side in sides for sketch in side.sketches) <= 2 * 200
        assert heavy.total == 8000
        assert 3500 < heavy.distinct < 4500

    def test_many_spellings_of_units_are_forgotten_again(self) -> None:
        digest = digest_of(*(line("Scan", consumed={"total": n / 2}) for n in range(4200)))
        digest.update(lines_of([line("Scan", consumed={"total": 1})]))
        assert sums(digest.totals(), Count.READ_HALF_UNITS) == sum(range(4200)) + 2

    def test_cells_of_batches_are_forgotten_again(self) -> None:
        parts = [[{"op": "Get", "key": CASE, "condition": f"a{n} = :a"}] for n in range(9)]
        digest = Digest(LEXICON, DigestLimits(routes=4))
        digest.update(lines_of([line("BatchGetItem", parts=one) for one in parts]))
        assert sums(digest.totals(), Count.REQUESTS) == 9

    def test_slices_may_lie_far_apart(self) -> None:
        late = {**line(key=CASE, consumed={"total": 1}), "time": "2080-01-01T00:00:00Z"}
        digest = digest_of(late, line(key=CASE, consumed={"total": 1}))
        assert len(digest.slices()) == 2
        assert digest.totals().keys[0].total == 4

    def test_merged_hours_keep_to_the_bound(self) -> None:
        merged = Digest(LEXICON, DigestLimits(hours=1))
        merged.merge(digest_of(line(), line(at=3700)))
        assert list(merged.hours().values()) == [1]

    def test_made_up_codes_and_reasons_are_bounded(self) -> None:
        made_up = [
            line(error={"code": f"Code{n:05}"}, tries=[{"code": "ThrottlingException", "reason": f"R{n:05}"}])
            for n in range(2000)
        ]
        counts = digest_of(*made_up).totals()
        assert len(counts.refusals) == 257
        assert len(counts.throttles) == 1025
        assert sum(throttle.tries for throttle in counts.throttles) == 2000


class TestNames:
    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"table": "CASE#1"}, "table is no name of a table"),
            ({"index": "a b"}, "index is no name of an index"),
            ({"op": "CASE#1"}, "op is no name of an operation"),
        ],
    )
    def test_what_aws_could_not_have_named_is_a_bad_line(self, fields: dict[str, str], reason: str) -> None:
        digest = digest_of(line() | fields)
        assert (digest.read.read, digest.read.bad, digest.read.samples) == (0, 1, (reason,))

    def test_an_operation_that_nobody_knows_is_kept(self) -> None:
        assert digest_of(line("InventedLater")).read.read == 1


class TestLateRecords:
    @pytest.mark.parametrize(("behind", "late"), [(119, 0), (121, 1)])
    def test_two_minutes_behind_the_newest_is_late_and_counted_all_the_same(self, behind: int, late: int) -> None:
        digest = digest_of(line(at=600))
        digest.update(lines_of([line(at=600 - behind)]))
        assert (digest.read.late, digest.read.read, sums(digest.totals(), Count.REQUESTS)) == (late, 2, 2)


class TestCollecting:
    SALT = Salt(b"a secret")

    def collected(self, *records: dict[str, Any], salt: Salt | None = SALT) -> Digest:
        digest = Digest(LEXICON, collect=salt)
        digest.update(lines_of(list(records)))
        return digest

    def test_clear_keys_leave_as_tokens_with_literals_standing(self) -> None:
        refused = {"tries": [{"code": "ThrottlingException"}], "error": {"code": "ThrottlingException"}}
        got = line(key={"PK": {"S": "TENANT#42#CASE#1"}, "SK": {"S": "META"}}, consumed={"total": 1})
        digest = self.collected(got, got | refused)
        keys = keys_at(digest.result(MINUTE), CASES, Direction.READ, KeyLevel.ITEM)
        tenant, one = self.SALT.token("42"), self.SALT.token("1")
        assert [(key.name.partition, key.name.sort) for key in keys] == [(f"TENANT#{tenant}#CASE#{one}", "META")]
        assert keys[0].tries == 1
        (prefix,) = keys_at(digest.result(MINUTE), CASES, Direction.READ, KeyLevel.PREFIX)
        assert prefix.name.partition == f"TENANT#{tenant}#"

    def test_tokens_stay_and_meet_the_clear_key_that_they_stand_for(self) -> None:
        token = {"PK": {"S": f"CASE#{self.SALT.token('1')}"}, "SK": {"S": "META"}}
        digest = self.collected(
            line(key=CASE, consumed={"total": 1}),
            line(key=token, keys="token", salt_id=self.SALT.id, consumed={"total": 1}),
        )
        (key,) = keys_at(digest.result(MINUTE), CASES, Direction.READ, KeyLevel.PARTITION)
        assert (key.low, key.sampled) == (4, 2)

    def test_no_clear_key_is_in_what_is_stored(self) -> None:
        digest = self.collected(
            line(key={"PK": {"S": "CASE#canary-4711"}, "SK": {"S": "META"}}, caller="api", more=True),
            line(error={"code": "X", "message": "no 'canary-4711' here"}),
            line(error={"code": "Odd canary-4711", "message": "the key CASE#canary-4711 is odd"}),
        )
        assert b"canary-4711" not in digest.snapshot()
        again = Digest.restore(digest.snapshot(), LEXICON, collect=self.SALT)
        assert again.snapshot() == digest.snapshot()


class TestForeignSalts:
    OURS, THEIRS = Salt(b"ours"), Salt(b"theirs")

    def declared(self, salt: Salt) -> list[tuple[str, ...]]:
        lexicon = Lexicon([TableKeys(name="cases", templates={"PK": (Template.parse("CASE#<id>"),)})], self.OURS)
        value = f"{salt.token('CASE')}#{salt.token('1')}"
        records = (
            line(key={"PK": {"S": value}}, keys="token", salt_id=salt.id),
            line("BatchGetItem", parts=[{"op": "Get", "key": {"PK": {"S": value}}}], keys="token", salt_id=salt.id),
        )
        shapes = [cell.shape for cell in digest_of(*records, lexicon=lexicon).result(MINUTE).cells]
        return [p.declared for s in shapes for p in (*s.key, *(q for part in s.parts for q in part.key))]

    def test_our_own_tokens_are_recognised(self) -> None:
        assert self.declared(self.OURS) == [("CASE#<id>",), ("CASE#<id>",)]

    def test_those_of_another_salt_may_hide_what_is_declared(self) -> None:
        lexicon = Lexicon([TableKeys(name="cases", templates={"PK": (Template.parse("CASE#<id>"),)})], self.OURS)
        value = f"{self.THEIRS.token('CASE')}#{self.THEIRS.token('1')}"
        record = line(key={"PK": {"S": value}}, keys="token", salt_id=self.THEIRS.id)
        (cell,) = digest_of(record, lexicon=lexicon).result(MINUTE).cells
        assert [(p.template, p.declared) for p in cell.shape.key] == [("", ())]


class TestSnapshots:
    def test_another_version_is_refused_by_name(self) -> None:
        snapshot = bytearray(Digest(LEXICON).snapshot())
        snapshot[len(b"dynascope digest ")] = 9
        with pytest.raises(ValueError, match="version 9"):
            Digest.restore(bytes(snapshot), LEXICON)

    @pytest.mark.parametrize("written", [b"", b"dynascope digest ", b"nonsense"])
    def test_what_is_no_snapshot_is_refused(self, written: bytes) -> None:
        with pytest.raises(ValueError, match="digest"):
            Digest.restore(written, LEXICON)

    def test_everything_is_in_it(self) -> None:
        error = {"code": "ThrottlingException", "reasons": [{"reason": "TableReadKeyRangeThroughputExceeded"}]}
        hot = [line(at=n / 9, key=CASE, consumed={"total": 900}, request_id=f"R{n}") for n in range(30)]
        digest = digest_of(*hot, line(key=CASE, error=error, at=4), line("Scan", more=True, trace_id="t", at=5))
        digest.update(lines_of([{"v": 1, "counter": "dropped", "count": 3}]))
        again = Digest.restore(digest.snapshot(), LEXICON)
        assert again.read == digest.read
        assert again.calls() == digest.calls()
        assert len(again.calls()) == 32
        one, two = digest.result(MINUTE), again.result(MINUTE)
        assert (one.keys, one.throttles, one.refusals) == (two.keys, two.throttles, two.refusals)
        again.update(lines_of([line(request_id="R1")]))
        assert again.read.duplicate == 1


class TestThePast:
    def test_of_a_forgotten_key_the_heaviest_slice_is_remembered(self) -> None:
        digest = digest_of(
            line(key=CASE, consumed={"total": 1}),
            line(key=CASE, consumed={"total": 5}, at=10),
            line(key=CASE, consumed={"total": 2}, at=20),
        )
        for end in (10, 20, 30):
            digest.forget_before(START_MS + end * 1000)
        (key,) = keys_at(digest.totals(), CASES, Direction.READ, KeyLevel.PARTITION)
        assert [(start - START_MS, low) for start, low, _ in key.series] == [(10_000, 10)]


class TestSalts:
    def test_the_salts_of_a_log_are_known_after_merging_and_restoring_too(self) -> None:
        token = {"PK": {"S": "CASE#~kaaaaaaaa"}}
        one = digest_of(line(key=token, keys="token", salt_id="s1"))
        one.merge(digest_of(line(key=token, keys="token", salt_id="s2")))
        assert one.salts() == {"s1", "s2"}
        assert Digest.restore(one.snapshot(), LEXICON).salts() == {"s1", "s2"}

    def test_more_salts_than_anybody_has_are_not_remembered(self) -> None:
        many = [line(key={"PK": {"S": "CASE#~kaaaaaaaa"}}, keys="token", salt_id=f"s{n}") for n in range(70)]
        assert len(digest_of(*many).salts()) == 64
