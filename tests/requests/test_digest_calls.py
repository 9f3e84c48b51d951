"""The call book: what it holds of a call, which calls it holds, in any order, and for how long."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.calls import Call, CallBook, CallPart, CallTry, Notable, ReturnedItem, TtlValue
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.requests.digest import Digest
from analyzer.requests.digest_drafts import Draft
from analyzer.requests.digest_limits import DigestLimits
from analyzer.requests.tokens import Salt
from tests.support.plain_calls import facts_of, plain_facts, plain_floor, plainly_kept
from tests.support.request_lines import LEXICON, START_MS, batches, calls, line, lines_of

if TYPE_CHECKING:
    from random import Random

TRACES = [f"trace-{n}" for n in range(6)]
OPAQUE = {blake2b(trace.encode(), digest_size=8).hexdigest(): trace for trace in TRACES}
CASE: dict[str, Any] = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}


def digest_of(*log: dict[str, Any], most: int = 20_000, **fields: Any) -> Digest:
    digest = Digest(LEXICON, DigestLimits(calls=most), **fields)
    digest.update(lines_of(list(log)))
    return digest


def call_of(**fields: Any) -> Call:
    (call,) = digest_of(line(**fields)).calls().calls
    return call


@st.composite
def traced(draw: st.DrawFn) -> list[dict[str, Any]]:
    log = draw(st.lists(st.one_of(calls(), calls(), batches()), max_size=40))
    for record in log:
        trace = draw(st.sampled_from([None, *TRACES]))
        if trace is not None:
            record["trace_id"] = trace
    return log


@st.composite
def split(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]:
    log = draw(traced())
    order: Random = draw(st.randoms(use_true_random=False))
    parts: list[list[dict[str, Any]]] = [[], [], []]
    for record in log:
        parts[order.randrange(3)].append(record)
    for part in parts:
        order.shuffle(part)
    order.shuffle(parts)
    return log, parts


class TestLaws:
    @given(traced())
    @settings(max_examples=100, deadline=None)
    def test_calls_are_those_of_the_records(self, log: list[dict[str, Any]]) -> None:
        told = Counter(facts for record in log for facts in plain_facts(record, LEXICON))
        assert Counter(map(facts_of, digest_of(*log).calls().calls)) == told

    @given(split(), st.sampled_from([1, 3, 10, 20, 40]))
    @settings(max_examples=200, deadline=None)
    def test_the_same_calls_are_kept_for_any_split_and_order(
        self, logs: tuple[list[dict[str, Any]], list[list[dict[str, Any]]]], most: int
    ) -> None:
        log, parts = logs
        merged = digest_of(most=most)
        for part in parts:
            merged.merge(digest_of(*part, most=most))
        whole = digest_of(*log, most=most)
        assert merged.calls() == whole.calls()
        again = Digest.restore(merged.snapshot(), LEXICON, DigestLimits(calls=most))
        assert again.calls() == whole.calls()

    @given(traced(), st.sampled_from([1, 3, 10, 20, 40]))
    @settings(max_examples=200, deadline=None)
    def test_what_is_kept_whole_is_what_the_rule_says(self, log: list[dict[str, Any]], most: int) -> None:
        every = list(digest_of(*log).calls().calls)
        book = digest_of(*log, most=most).calls()
        kept = [call for call in book.calls if call.is_whole or call.sample_rate < 1]
        expected = plainly_kept(every, most, OPAQUE)
        assert [facts_of(call) for call in kept if call.sample_rate == 1] == [
            facts_of(call) for call in expected if call.sample_rate == 1
        ]
        assert book.share == 2.0 ** -plain_floor(every, most, OPAQUE)
        assert book.dropped == len(every) - len(book)

    def test_memory_is_bounded_whatever_comes(self) -> None:
        log = [
            line(at=n / 100, key={"PK": {"S": f"CASE#{n}"}, "SK": {"S": "META"}}, trace_id=f"t{n}") for n in range(3000)
        ]
        digest = digest_of(*log, most=200)
        assert len(digest._calls._kept) <= 250
        book = digest.calls()
        assert 0 < len(book) <= 200
        assert book.share < 0.1
        assert book.dropped == 3000 - len(book)

    def test_of_one_name_the_newest_calls_are_kept(self) -> None:
        book = digest_of(*(line(at=n / 10, key=CASE) for n in range(50)), most=100).calls()
        assert [call.time - START_MS for call in book.calls] == [4000 + 100 * n for n in range(10)]
        assert book.share == 1.0

    def test_of_one_shape_without_trace_and_key_the_newest_calls_are_kept(self) -> None:
        book = digest_of(*(line("Scan", at=n / 10) for n in range(50)), most=100).calls()
        assert [call.time - START_MS for call in book.calls] == [4000 + 100 * n for n in range(10)]

    def test_a_block_of_which_nothing_is_kept_is_counted(self) -> None:
        digest = digest_of(*(line(at=n / 100, key=CASE, trace_id=f"t{n}") for n in range(2000)), most=10)
        before = digest.calls()
        for name in ("CASE#2", "CASE#3", "CASE#4"):
            digest.update(lines_of([line(at=50, key={"PK": {"S": name}})]))
        after = digest.calls()
        assert (len(after) + after.dropped, len(before) + before.dropped) == (2003, 2000)

    def test_a_trace_of_two_lines_is_a_trace(self) -> None:
        book = digest_of(line(trace_id="a\nb"), line(trace_id="c", at=1)).calls()
        assert len(book.by_trace()) == 2

    def test_a_trace_and_a_key_may_each_keep_a_call(self) -> None:
        log = [line(at=n / 10, key=CASE, trace_id=f"t{n}") for n in range(400)]
        book = digest_of(*log, most=100).calls()
        assert sum(call.key_whole for call in book.calls) in {0, 10}
        assert any(call.trace_whole and not call.key_whole for call in book.calls)

    def test_the_book_is_the_same_until_more_was_read(self) -> None:
        digest = digest_of(line(key=CASE))
        book = digest.calls()
        assert digest.calls() is book
        digest.update(lines_of([line(at=1, key=CASE)]))
        assert len(digest.calls()) == 2


class TestWholeness:
    KEYED: ClassVar[dict[str, Any]] = {"key": CASE, "trace_id": "t"}

    @pytest.mark.parametrize(
        ("fields", "whole"),
        [
            (KEYED, (True, True, False)),
            ({"key": CASE}, (False, True, False)),
            ({}, (False, False, True)),
            (KEYED | {"sample_rate": 0.5}, (False, False, False)),
            (KEYED | {"sample_rate": 0.5, "strata": [{"by": "trace", "rate": 0.5}]}, (True, False, False)),
            (KEYED | {"sample_rate": 0.5, "strata": [{"by": "key", "rate": 0.5}]}, (False, True, False)),
            (KEYED | {"sample_rate": 0.5, "strata": [{"by": "request", "rate": 0.5}]}, (False, False, False)),
            ({"sample_rate": 0.5}, (False, False, False)),
            (KEYED | {"sample_rate": 0.5, "strata": "none"}, (False, False, False)),
        ],
    )
    def test_follows_from_the_samples_that_kept_a_record(self, fields: dict[str, Any], whole: tuple[bool, ...]) -> None:
        call = call_of(**fields)
        assert (call.trace_whole, call.key_whole, call.shape_whole) == whole
        assert call.is_whole is any(whole)


class TestNotable:
    REFUSED: ClassVar[dict[str, Any]] = {"error": {"code": "ValidationException"}}

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({}, None),
            ({"unprocessed": 2} | REFUSED, Notable.UNPROCESSED),
            (REFUSED, Notable.FAILED),
            ({"error": {"code": "ThrottlingException"}}, Notable.THROTTLED),
            ({"error": {"code": "TransactionCanceledException"}}, Notable.CANCELED),
            ({"item_bytes": 350 * 1024}, Notable.LARGE),
            ({"item_bytes": 350 * 1024 - 1}, None),
            ({"ttl_seen": {"expired_returned": 1}}, Notable.EXPIRED),
            ({"ttl_seen": {"value": {"N": "1"}}}, Notable.TTL),
            ({"ttl_seen": {"expired_returned": 0}}, None),
            ({"ttl_seen": 5}, None),
        ],
    )
    def test_is_what_went_wrong_or_nearly(self, fields: dict[str, Any], kind: Notable | None) -> None:
        assert call_of(key=CASE, **fields).notable is kind

    def test_calls_are_kept_whatever_their_names_a_few_of_each_kind(self) -> None:
        log = [line(at=n / 100, key={"PK": {"S": f"CASE#{n}"}, "SK": {"S": "X"}}, **self.REFUSED) for n in range(2000)]
        log += [line(at=n, key=CASE, unprocessed=1) for n in range(2)]
        digest = digest_of(most=400)
        for at in range(0, len(log), 200):
            digest.update(lines_of(log[at : at + 200]))
        book = digest.calls()
        failed = [call for call in book.calls if call.notable is Notable.FAILED]
        assert 0 < len(failed) <= 10
        assert any(not call.is_whole for call in failed)
        assert book.notable[Notable.FAILED] < 0.01
        assert book.notable[Notable.UNPROCESSED] == 1.0


class TestWhatIsKnown:
    def test_of_a_plain_call(self) -> None:
        call = call_of(
            op="Query",
            key={"PK": {"S": "CASE#1"}},
            key_condition="PK = :p AND SK < :s",
            values={":p": {"S": "CASE#1"}, ":s": {"S": "AUDIT#9"}},
            consistent=True,
            limit=10,
            count=3,
            scanned=10,
            more=True,
            consumed={"total": 2.5},
            returned_bytes=100,
            latency_ms=4.5,
            attempts=2,
            tries=[{"at_ms": 3.0, "code": "ThrottlingException"}, {"code": "a#b"}, {}],
            caller="api",
            at=1.5,
        )
        assert (call.time, call.operation, call.consistent, call.limit) == (START_MS + 1500, "Query", True, 10)
        assert call.key == KeyName(KeyLevel.PARTITION, "CASE#1")
        assert (call.sort_operator, call.count, call.scanned, call.more) == ("<", 3, 10, True)
        assert (call.read_units, call.write_units, call.units) == (2.5, None, 2.5)
        assert call.tries == (CallTry(3.0, "ThrottlingException"), CallTry(None, "other"), CallTry(None, None))
        assert (call.caller, call.error, call.failed, call.item_bytes) == ("api", None, False, None)

    def test_what_is_not_told_is_not_known(self) -> None:
        call = call_of()
        assert (call.key, call.trace, call.count, call.units, call.returned, call.ttl) == (None,) * 6

    def test_of_a_write(self) -> None:
        call = call_of(
            op="PutItem",
            key=CASE,
            index_keys={"GSI1": {"GSI1PK": {"S": "STATUS#x"}, "GSI1SK": {"S": "1"}}, "GSI9": {}},
            condition="attribute_not_exists(PK)",
            item_bytes=1000,
            token_sent=True,
            ttl_seen={"attribute": "expires", "value": {"N": "1796032800"}},
            consumed={"total": 3, "write": 3, "table": 2, "indexes": {"GSI1": 1}},
        )
        assert call.key == KeyName(KeyLevel.ITEM, "CASE#1", "META")
        assert call.index_keys == (("GSI1", KeyName(KeyLevel.ITEM, "STATUS#x", "1")),)
        assert (call.condition, call.item_bytes, call.token_sent) == ("attribute_not_exists(PK)", 1000, True)
        assert call.ttl == TtlValue(attribute="expires", type="N", number=1796032800.0)
        assert call.write_units == 2.0

    @pytest.mark.parametrize(
        ("value", "kind", "number"),
        [({"S": "2026"}, "S", 2026.0), ({"S": "soon"}, "S", None), ({"BOOL": True}, "BOOL", None)],
    )
    def test_of_a_time_to_live(self, value: dict[str, Any], kind: str, number: float | None) -> None:
        ttl = call_of(ttl_seen={"value": value}).ttl
        assert ttl is not None
        assert (ttl.type, ttl.number) == (kind, number)

    def test_of_a_failure(self) -> None:
        call = call_of(key=CASE, error={"code": "ConditionalCheckFailedException", "message": "of CASE#1 failed"})
        assert (call.error, call.message, call.failed) == ("ConditionalCheckFailedException", "of ? failed", True)

    def test_of_returned_items(self) -> None:
        call = call_of(op="Scan", returned=[{"key": "CASE#1\tMETA", "version": "7"}, {"key": "CASE#2"}])
        assert call.returned == (
            ReturnedItem(KeyName(KeyLevel.ITEM, "CASE#1", "META"), "7"),
            ReturnedItem(KeyName(KeyLevel.PARTITION, "CASE#2"), None),
        )
        assert call_of(op="Scan", returned=[5]).returned is None

    def test_of_a_transaction_over_two_tables(self) -> None:
        parts = [
            {"op": "Put", "table": "cases", "key": CASE, "item_bytes": 7, "condition": "attribute_exists(PK)"},
            {"op": "ConditionCheck", "table": "audit", "key": {"id": {"S": "1"}}},
            {"op": "Break", "table": "cases"},
        ]
        error = {"code": "TransactionCanceledException", "cancellation": ["TransactionConflict", None]}
        record = line("TransactWriteItems", parts=parts, error=error)
        del record["table"]
        book = digest_of(record).calls()
        one, two = sorted(book.calls, key=lambda call: call.target.table, reverse=True)
        assert (one.target.table, two.target.table) == ("cases", "audit")
        assert one.parts == (
            CallPart(
                position=0,
                operation="Put",
                table="cases",
                key=KeyName(KeyLevel.ITEM, "CASE#1", "META"),
                item_bytes=7,
                has_condition=True,
                canceled="TransactionConflict",
            ),
            CallPart(position=2, operation="", table="cases"),
        )
        assert [(part.position, part.has_condition) for part in two.parts] == [(1, True)]
        assert one.members == two.members == 3
        assert one.cancellation == ("TransactionConflict", None)
        assert (one.key, one.key_whole, one.shape_whole) == (None, False, True)
        assert [part.key for part in one.parts] == [KeyName(KeyLevel.ITEM, "CASE#1", "META"), None]

    @pytest.mark.parametrize(
        ("fields", "back"),
        [
            ({"unprocessed": 1, "handed_back": [1]}, [False, True]),
            ({"unprocessed": 1}, [None, None]),
            ({}, [False, False]),
            ({"error": {"code": "ThrottlingException"}}, [None, None]),
        ],
    )
    def test_of_what_a_batch_handed_back(self, fields: dict[str, Any], back: list[bool | None]) -> None:
        parts = [{"op": "Get", "table": "cases", "key": CASE}] * 2
        assert [part.is_handed_back for part in call_of(op="BatchGetItem", parts=parts, **fields).parts] == back

    def test_parts_that_cannot_be_read_are_not_known(self) -> None:
        call = call_of(op="BatchGetItem", parts=[5], trace_id="t")
        assert (call.members, call.parts) == (0, ())

    def test_calls_that_asked_the_same_are_known_by_it(self) -> None:
        log = [line(at=0, key=CASE), line(at=1, key=CASE), line(at=2, key=CASE, limit=5)]
        one, two, three = digest_of(*log).calls().calls
        assert one.asked == two.asked != three.asked

    def test_a_time_whose_fraction_is_none_is_known_to_the_second(self) -> None:
        record = line(key=CASE)
        (one,) = digest_of(record | {"time": "2026-11-30T10:00:01.2xZ"}).calls().calls
        (two,) = digest_of(record | {"time": "2026-11-30T10:00:01.25z"}).calls().calls
        assert (one.time, two.time) == (START_MS + 1000, START_MS + 1250)


class TestOrder:
    def test_of_one_time_first_pages_come_first(self) -> None:
        book = digest_of(line("Scan", resumed=True), line("Scan", more=True)).calls()
        assert [call.resumed for call in book.calls] == [False, True]


class TestDrafts:
    def kept(self, **fields: Any) -> Draft | Call:
        digest = digest_of(line(key=CASE, **fields))
        digest.span()
        told = digest._calls._kept[0].told
        assert digest.calls().calls == (call_of(key=CASE, **fields),)
        return told

    @pytest.mark.parametrize("fields", [{}, {"error": {"code": "ValidationException", "message": "no"}}])
    def test_a_call_is_read_when_somebody_asks_for_it(self, fields: dict[str, Any]) -> None:
        assert isinstance(self.kept(**fields), Draft)

    def test_it_tells_the_same_as_one_that_was_read_at_once(self) -> None:
        told: dict[str, Any] = {
            "op": "Query",
            "key": {"PK": {"S": "CASE#1"}},
            "key_condition": "PK = :p AND SK < :s",
            "values": {":p": {"S": "CASE#1"}, ":s": {"S": "AUDIT#9"}},
            "index_keys": {"GSI1": {"GSI1PK": {"S": "STATUS#x"}, "GSI1SK": {"S": "1"}}},
            "strata": [{"by": "trace", "rate": 0.5}],
            "sample_rate": 0.5,
            "trace_id": "t",
            "limit": 10,
            "count": 3,
            "scanned": 10,
            "more": True,
            "resumed": True,
            "unprocessed": 2,
            "item_bytes": 7,
            "returned_bytes": 100,
            "latency_ms": 4.5,
            "attempts": 2,
            "error": {"code": "ValidationException", "message": "of CASE#1", "cancellation": ["None", "x"]},
            "token_sent": True,
            "ttl_seen": {"attribute": "expires", "value": {"N": "1"}, "expired_returned": 1},
            "consumed": {"total": 2.5},
        }
        draft, whole = call_of(**told), call_of(**told, tries=[{"code": "ThrottlingException"}])
        assert msgspec.structs.replace(whole, tries=()) == draft

    @pytest.mark.parametrize(
        "fields",
        [
            {"tries": [{"code": "ThrottlingException"}]},
            {"returned": [{"key": "CASE#1"}]},
            {"values": {":x": {"S": "x" * 5000}}},
        ],
    )
    def test_one_that_may_take_much_memory_is_read_at_once(self, fields: dict[str, Any]) -> None:
        assert isinstance(self.kept(**fields), Call)

    def test_where_keys_become_tokens_every_call_is_read_at_once(self) -> None:
        digest = digest_of(line(key=CASE), collect=Salt(b"secret"))
        digest.span()
        assert isinstance(digest._calls._kept[0].told, Call)

    def test_where_keys_become_tokens_the_newest_calls_of_a_key_are_kept_too(self) -> None:
        book = digest_of(*(line(at=n / 10, key=CASE) for n in range(50)), most=100, collect=Salt(b"secret")).calls()
        assert [call.time - START_MS for call in book.calls] == [4000 + 100 * n for n in range(10)]

    def test_what_was_not_read_is_in_the_snapshot(self) -> None:
        digest = digest_of(line(key=CASE, trace_id="t"), line("Scan", at=1, error={"code": "InternalServerError"}))
        again = Digest.restore(digest.snapshot(), LEXICON)
        assert all(isinstance(kept.told, Draft) for kept in again._calls._kept)
        assert again.calls() == digest.calls()


class TestHorizon:
    def test_without_one_nothing_is_forgotten(self) -> None:
        digest = digest_of(line(key=CASE))
        digest.forget_before(START_MS + 10_000_000)
        assert (len(digest.calls()), digest.calls().since) == (1, None)

    def test_what_lies_behind_it_is_forgotten_and_is_not_counted_as_dropped(self) -> None:
        digest = digest_of(*(line(at=n, key=CASE) for n in range(100)), calls_horizon_ms=30_000)
        digest.forget_before(START_MS)
        book = digest.calls()
        assert [call.time - START_MS for call in book.calls] == list(range(69_000, 100_000, 1000))
        assert (book.since, book.dropped) == (START_MS + 69_000, 0)

    def test_a_restored_digest_remembers_it(self) -> None:
        digest = digest_of(*(line(at=n, key=CASE) for n in range(100)), calls_horizon_ms=30_000)
        digest.forget_before(START_MS)
        assert Digest.restore(digest.snapshot(), LEXICON, calls_horizon_ms=30_000).calls() == digest.calls()
        merged = digest_of()
        merged.merge(digest)
        merged.merge(digest_of())
        assert merged.calls().since == START_MS + 69_000
        digest.merge(merged)
        assert digest.calls().since == START_MS + 69_000

    def test_after_a_flood_more_is_kept_again_but_told_only_when_the_flood_is_forgotten(self) -> None:
        def keyed(at: float, name: int, **fields: Any) -> dict[str, Any]:
            return line(at=at, key={"PK": {"S": f"CASE#{name}"}, "SK": {"S": "META"}}, **fields)

        flood = [keyed(n / 1000, n, error={"code": "ValidationException"}) for n in range(4000)]
        digest = digest_of(*flood, most=200, calls_horizon_ms=60_000)
        low = digest.calls().share
        assert low < 0.1
        for minute in range(1, 18):
            digest.update(lines_of([keyed(minute * 50 + n / 10, n) for n in range(40)]))
            digest.forget_before(START_MS)
            share = digest.calls().share
            if minute == 2:
                assert digest._calls.floor < -1 + low.as_integer_ratio()[1].bit_length()
                assert share <= low
        assert digest.calls().share == 1.0
        assert digest.calls().notable[Notable.FAILED] == 1.0
        assert all(call.key_whole for call in digest.calls().calls)

    def test_an_empty_book_has_a_horizon_too(self) -> None:
        digest = digest_of(line(key=CASE), calls_horizon_ms=1)
        digest.update(lines_of([line("Scan", at=50, sample_rate=0.5)]))
        digest.forget_before(START_MS + 60_000)
        assert (len(digest.calls()), digest.calls().since) == (0, START_MS + 60_000)


class TestSecrets:
    SALT = Salt(b"secret")
    CLEAR = "zebra"

    def test_nothing_clear_is_in_the_snapshot(self) -> None:
        key = {"PK": {"S": f"CASE#{self.CLEAR}"}, "SK": {"S": self.CLEAR}}
        log = [
            line(key=key, trace_id=self.CLEAR, index_keys={"GSI1": {"GSI1PK": {"S": f"STATUS#{self.CLEAR}"}}}),
            line("Scan", returned=[{"key": f"CASE#{self.CLEAR}\tx", "version": self.CLEAR}]),
            line("BatchGetItem", parts=[{"op": "Get", "table": "cases", "key": key}]),
            line("Query", key_condition="PK = :p", values={":p": {"S": f"CASE#{self.CLEAR}"}}),
            line(key=key, error={"code": f"x#{self.CLEAR}", "cancellation": [f"y#{self.CLEAR}"]}),
        ]
        digest = digest_of(*log, collect=self.SALT)
        assert self.CLEAR.encode() not in digest.snapshot()
        assert self.CLEAR not in repr(digest.calls().calls)
        token = self.SALT.token(self.CLEAR)
        assert digest.calls().by_key(digest.calls().calls[0].target)[KeyName(KeyLevel.ITEM, f"CASE#{token}", token)]

    def test_what_was_asked_cannot_be_guessed(self) -> None:
        (one,) = digest_of(line(key=CASE, trace_id="t")).calls().calls
        (two,) = digest_of(line(key=CASE, trace_id="t"), collect=self.SALT).calls().calls
        assert (two.asked, two.trace) == (self.SALT.token(one.asked), self.SALT.token(one.trace or ""))


def test_a_book_is_equal_to_one_that_tells_the_same() -> None:
    assert CallBook() == CallBook()
    assert CallBook() != CallBook(share=0.5)
    assert CallBook() != ()
    assert msgspec.structs.asdict(call_of())["shape_whole"]
