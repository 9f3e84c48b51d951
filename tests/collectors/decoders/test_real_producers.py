"""What real clients write, as they write it: nothing here was typed by hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest

from analyzer.model.request import Consumed, Part, RequestError, RequestRecord
from collectors.request_log.decoders.decoding import decode
from collectors.request_log.decoders.otlp import decode_request
from collectors.request_log.decoders.recognize import decoder_named
from collectors.request_log.decoders.schema import DeclaredKeys
from tests.collectors.decoders.conftest import recognized, records

if TYPE_CHECKING:
    from tests.collectors.decoders.conftest import Printed, Spans

FIRST = {"PK": {"S": "CUSTOMER#1"}, "SK": {"S": "ORDER#1"}}
SECOND = {"PK": {"S": "CUSTOMER#1"}, "SK": {"S": "ORDER#2"}}
CALLS = Counter(
    {
        "PutItem": 4,
        "GetItem": 2,
        "Query": 3,
        "Scan": 1,
        "UpdateItem": 1,
        "BatchGetItem": 1,
        "BatchWriteItem": 1,
        "TransactWriteItems": 1,
        "DeleteItem": 1,
    }
)


def of(found: list[RequestRecord], op: str, at: int = 0) -> RequestRecord:
    return [record for record in found if record.op == op][at]


@pytest.fixture(params=["bare", "document"])
def sdk(request: pytest.FixtureRequest, printed: Printed) -> list[RequestRecord]:
    decoder, found, decoded = recognized(printed(request.param))
    assert (decoder.name, decoded.bad) == ("aws-sdk-js", {})
    assert decoded.others == (request.param == "bare"), "DescribeTable is no request of an access pattern"
    return found


class TestTheJavaScriptSdk:
    """Typed values and plain ones give the same records."""

    def test_every_call_is_a_record_of_its_table_its_caller_and_its_attempts(self, sdk: list[RequestRecord]) -> None:
        assert Counter(record.op for record in sdk) == CALLS
        assert {(r.table, r.caller, r.attempts, r.keys) for r in sdk} == {("orders", "shop", 1, None)}
        assert len({record.request_id for record in sdk}) == len(sdk)

    def test_a_query_has_its_condition_its_key_values_alone_its_counts_and_its_units(
        self, sdk: list[RequestRecord]
    ) -> None:
        query = of(sdk, "Query")
        assert query.key_condition == "#p = :p AND begins_with(SK, :s)"
        assert query.values == {":p": {"S": "CUSTOMER#1"}, ":s": {"S": "ORDER#"}}
        assert (query.filter, query.names) == ("#t > :t", {"#p": "PK", "#t": "total"})
        assert (query.forward, query.limit, query.count, query.scanned) == (False, 2, 2, 2)
        assert (query.more, query.resumed) == (True, False)
        assert query.consumed == Consumed(total=0.5, table=0.5)

    def test_an_index_is_charged_and_an_empty_page_counts_nothing(self, sdk: list[RequestRecord]) -> None:
        query = of(sdk, "Query", 1)
        assert (query.index, query.count, query.more) == ("GSI1", 0, False)
        assert query.scanned is not None
        assert query.scanned > 0
        assert query.consumed == Consumed(total=0.5, table=0.0, indexes={"GSI1": 0.5})

    def test_a_miss_counts_nothing_and_a_strong_read_is_one(self, sdk: list[RequestRecord]) -> None:
        hit, miss = of(sdk, "GetItem"), of(sdk, "GetItem", 1)
        assert (hit.key, hit.consistent, hit.count) == (FIRST, True, 1)
        assert (miss.consistent, miss.count) == (None, 0)

    def test_the_key_of_a_put_is_known_as_soon_as_another_call_has_shown_which_attributes_it_is(
        self, sdk: list[RequestRecord]
    ) -> None:
        first, refused = of(sdk, "PutItem"), of(sdk, "PutItem", 3)
        assert (first.key, first.item_bytes) == (None, 49)
        assert (refused.key, refused.condition) == (FIRST, "attribute_not_exists(PK)")
        assert refused.error == RequestError("ConditionalCheckFailedException", "The conditional request failed")
        assert refused.consumed is None

    def test_a_declared_key_is_known_at_once_and_so_are_index_entries(self, printed: Printed) -> None:
        decoder = decoder_named("aws-sdk-js")
        assert decoder is not None
        decoding = decoder.begin((DeclaredKeys("ord*", ("PK", "SK"), {"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("X",)}),))
        first = decoding.feed(printed("bare")).splitlines()[0]
        put = msgspec.json.decode(first, type=RequestRecord)
        assert put.key == FIRST
        assert put.index_keys == {"GSI1": {"GSI1PK": {"S": "OPEN"}, "GSI1SK": {"S": "DUE#1"}}}

    def test_members_of_batches_and_transactions_are_parts_in_their_order(self, sdk: list[RequestRecord]) -> None:
        read, written = of(sdk, "BatchGetItem"), of(sdk, "BatchWriteItem")
        assert (read.parts, read.count, read.unprocessed) == (
            [Part("Get", "orders", FIRST), Part("Get", "orders", SECOND)],
            2,
            0,
        )
        assert written.parts is not None
        assert [(part.op, part.key) for part in written.parts] == [
            ("Put", {"PK": {"S": "CUSTOMER#2"}, "SK": {"S": "ORDER#1"}}),
            ("Delete", {"PK": {"S": "CUSTOMER#1"}, "SK": {"S": "ORDER#3"}}),
        ]

    def test_a_cancelled_transaction_tells_why_by_position_and_its_names_do_not_collide(
        self, sdk: list[RequestRecord]
    ) -> None:
        call = of(sdk, "TransactWriteItems")
        assert call.error is not None
        assert call.error.cancellation == [None, "ConditionalCheckFailed"]
        assert call.parts is not None
        names = call.names or {}
        conditions = [(part.condition or "").partition("(")[2].rstrip(")") for part in call.parts]
        assert [names[one] for one in conditions] == ["PK", "SK"]

    def test_the_message_of_a_refused_call_holds_no_value(self, sdk: list[RequestRecord]) -> None:
        refused = of(sdk, "Query", 2)
        assert refused.error == RequestError("ValidationException", "The table does not have the specified index: ?")


class TestOpenTelemetryOfJavaScript:
    """OTLP in JSON, as the exporter sends it: one request a span, in any order."""

    def test_spans_have_table_index_units_and_latency_but_neither_key_nor_filter(self, exported: list[bytes]) -> None:
        decoder, found, decoded = recognized(b"\n".join(exported))
        assert (decoder.name, decoded.bad) == ("opentelemetry", {})
        assert Counter(record.op for record in found) == CALLS
        assert {(record.key, record.values, record.key_condition, record.filter) for record in found} == {(None,) * 4}
        assert {(record.caller, record.region) for record in found} == {("shop", "us-east-1")}
        assert all(record.latency_ms and record.trace_id for record in found)

    def test_a_count_of_zero_that_was_left_out_is_zero(self, exported: list[bytes]) -> None:
        found = sorted(recognized(b"\n".join(exported))[1], key=lambda record: record.time)
        empty = of(found, "Query", 1)
        assert (empty.index, empty.count) == ("GSI1", 0)
        assert empty.scanned is not None
        assert empty.scanned > 0
        assert of(found, "PutItem").count is None

    def test_a_transaction_has_no_table_and_tells_its_reasons(self, exported: list[bytes]) -> None:
        _, found, _ = recognized(b"\n".join(exported))
        call = of(found, "TransactWriteItems")
        assert (call.table, call.parts) == (None, None)
        assert call.error is not None
        assert call.error.cancellation == [None, "ConditionalCheckFailed"]


class TestOpenTelemetryOfPython:
    """OTLP in protobuf, and what the console exporter prints."""

    OPS = ("PutItem", "GetItem", "Query", "Query", "Scan", "BatchGetItem", "TransactWriteItems", "PutItem")

    def test_both_exporters_give_the_same_records_but_for_parts_of_milliseconds(self, spans: Spans) -> None:
        decoder, printed, decoded = recognized(spans.console)
        assert (decoder.name, decoded.bad, decoded.others) == ("opentelemetry", {}, 1)
        sent = [record for body in spans.bodies for record in records(decode_request(body))]
        assert tuple(record.op for record in sent) == self.OPS
        for one, other in zip(printed, sent, strict=True):
            assert one.latency_ms == pytest.approx(other.latency_ms, abs=1.5)
            one.latency_ms = other.latency_ms = None
        assert printed == sent

    def test_queries_have_no_counts_and_scans_have(self, spans: Spans) -> None:
        _, found, _ = recognized(spans.console)
        query, scan = of(found, "Query"), of(found, "Scan")
        assert (query.count, query.scanned, query.forward) == (None, None, False)
        assert scan.count == scan.scanned is not None
        assert (query.attempts, query.caller, query.caller_version) == (1, "shop", "1.4.2")

    def test_a_failed_call_has_the_code_that_its_exception_quotes(self, spans: Spans) -> None:
        _, found, _ = recognized(spans.console)
        error = of(found, "PutItem", 1).error
        assert error is not None
        assert error.code == "ConditionalCheckFailedException"

    def test_a_file_of_requests_is_read_with_lengths_before_them_and_without(self, spans: Spans) -> None:
        body = spans.bodies[0]
        framed = b"".join(len(one).to_bytes(4, "big") + one for one in (body, body))
        assert [recognized(content)[0].name for content in (body, framed)] == ["otlp", "otlp"]
        alone, twice = recognized(body)[1], recognized(framed)[1]
        assert twice == alone * 2


def test_dynamoose_gives_requests_with_their_answers(printed: Printed) -> None:
    decoder, found, decoded = recognized(printed("dynamoose"))
    assert (decoder.name, decoded.bad) == ("dynamoose", {})
    assert [record.op for record in found] == ["PutItem", "GetItem", "Query", "Scan"]
    put, get, query, scan = found
    assert put.item_bytes == 28
    assert (get.key, get.count) == ({"PK": {"S": "CUSTOMER#7"}, "SK": {"S": "ORDER#1"}}, 1)
    assert (query.filter, query.count, query.scanned) == ("#a1 > :v1", 0, 1)
    assert query.values == {":qhv": {"S": "CUSTOMER#7"}}
    assert (scan.more, scan.attempts) == (False, 1)
    assert all(record.request_id for record in found)


def test_electrodb_gives_requests_with_their_results(printed: Printed) -> None:
    decoder, found, decoded = recognized(printed("electrodb"))
    assert (decoder.name, decoded.bad) == ("electrodb", {})
    assert [record.op for record in found] == ["PutItem", "GetItem", "Query", "PutItem"]
    _, get, query, refused = found
    assert get.key == {"PK": {"S": "$shop#customer_8"}, "SK": {"S": "$order_1#order_1"}}
    assert (query.filter, query.count, query.scanned) == ("#total > :total0", 0, 1)
    assert refused.error == RequestError("ConditionalCheckFailedException", "The conditional request failed")
    assert (refused.key, refused.caller) == (get.key, "shop")


@pytest.mark.parametrize("library", ["bare", "document", "dynamoose", "electrodb"])
def test_a_log_cut_into_any_chunks_gives_the_same_records(printed: Printed, library: str) -> None:
    content = printed(library)
    decoder, _, whole = recognized(content)
    for size in (1000, 4099):
        decoding = decoder.begin()
        lines = [decoding.feed(content[start : start + size]) for start in range(0, len(content), size)]
        assert b"".join(lines) + decoding.finish() == whole.lines
    assert decode(decoder, content) == whole
