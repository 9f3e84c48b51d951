"""Strata, the reservoir, and that the rate on a record is the probability with which it was kept."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from dynascope_sampler.sampling import Reservoir, Strata, is_always_kept

from tests.sampler.stub_dynamodb import StubDynamoDB, failure

if TYPE_CHECKING:
    from tests.sampler.conftest import Log

KEY = b"k" * 32
CASE = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}


def key_of(number: int) -> dict[str, Any]:
    return {"PK": {"S": f"CASE#{number}"}, "SK": {"S": "META"}}


def test_a_rate_of_one_keeps_all_and_says_nothing_of_it() -> None:
    assert Strata(1.0, 0.1, 0.1, KEY).choose("t", {"p"}) == (1.0, None)


def test_the_rate_of_several_strata_is_that_none_of_them_misses() -> None:
    strata = Strata(0.5, 0.5, None, KEY)
    kept = [choice for n in range(4_000) if (choice := strata.choose(f"trace-{n}", ())) is not None]
    assert {probability for probability, _ in kept} == {0.75}
    assert 2_850 < len(kept) < 3_150
    assert {strata for _, strata in kept} == {
        (("request", 0.5),),
        (("trace", 0.5),),
        (("request", 0.5), ("trace", 0.5)),
    }


def test_a_trace_is_whole_in_every_process_even_without_a_common_salt() -> None:
    mine, theirs = Strata(0.0, 0.3, None, b"a" * 32), Strata(0.0, 0.3, None, b"b" * 32)
    traces = [f"trace-{n}" for n in range(300)]
    chosen = [trace for trace in traces if mine.choose(trace, ()) is not None]
    assert 50 < len(chosen) < 130
    assert chosen == [trace for trace in traces if theirs.choose(trace, ()) is not None]


def test_the_key_stratum_is_for_calls_without_a_trace() -> None:
    strata = Strata(0.0, 0.5, 1.0, KEY)
    assert strata.choose(None, {"p"}) == (1.0, None)
    assert strata.probability("t", {"p"}) == 0.5


def test_a_call_of_several_keys_is_kept_if_any_of_them_is() -> None:
    strata = Strata(0.0, None, 0.2, KEY)
    kept = [n for n in range(3_000) if strata.choose(None, {f"a{n}", f"b{n}"}) is not None]
    assert strata.probability(None, {"a", "b"}) == pytest.approx(0.36)
    assert 1_000 < len(kept) < 1_160


def test_the_application_sees_its_own_random_numbers(log: Log) -> None:
    client = log.start(request_rate=0.5)
    random.seed(7)
    expected = [random.random() for _ in range(3)]
    random.seed(7)
    client.get_item(TableName="cases", Key=CASE)
    assert [random.random() for _ in range(3)] == expected


def test_the_unsampled_are_counted_on_a_line_of_their_own(log: Log) -> None:
    client = log.start(request_rate=0.3)
    for number in range(60):
        client.get_item(TableName="cases", Key=key_of(number))
    lines = log.all()
    kept = [line for line in lines if "counter" not in line]
    counters = [line for line in lines if "counter" in line]
    assert len(kept) + sum(line["count"] for line in counters) == 60
    assert {line["counter"] for line in counters} == {"unsampled"}
    assert {"v", "counter", "count", "start", "end", "caller"} == set(counters[0])
    assert all(line["sample_rate"] == 0.3 for line in kept)
    assert all(line["strata"] == [{"by": "request", "rate": 0.3}] for line in kept)
    assert log.stats.unsampled == 60 - len(kept)


def test_failures_are_kept_whatever_the_rate_but_failed_conditions_are_not(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start(request_rate=0.0)
    codes = ["ConditionalCheckFailedException", "ValidationException", "AccessDeniedException", "ThrottlingException"]
    for code in codes:
        dynamodb.script = [failure(code)]
        with pytest.raises(ClientError):
            client.get_item(TableName="cases", Key=CASE)
    records = log.records()
    assert [record["error"]["code"] for record in records] == codes[1:]
    assert all(record["sample_rate"] == 1.0 and record["strata"] == [] for record in records)
    assert log.stats.unsampled == 1


def test_a_call_that_was_throttled_on_its_way_is_kept(log: Log, dynamodb: StubDynamoDB) -> None:
    log.start(request_rate=0.0)
    client = log.client(attempts=3)
    dynamodb.script = [failure("ThrottlingException")]
    client.get_item(TableName="cases", Key=CASE)
    client.get_item(TableName="cases", Key=CASE)
    assert log.record()["attempts"] == 2


def test_a_batch_that_was_partly_refused_is_kept(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start(request_rate=0.0)
    dynamodb.script = [{"UnprocessedKeys": {"cases": {"Keys": [CASE]}}}, {"UnprocessedKeys": {}}]
    for _ in range(2):
        client.batch_get_item(RequestItems={"cases": {"Keys": [CASE]}})
    assert log.record()["unprocessed"] == 1


def test_a_transaction_is_daily_life_unless_it_was_throttled() -> None:
    def cancelled(*codes: str | None) -> bool:
        return is_always_kept({"code": "TransactionCanceledException", "cancellation": list(codes)})

    assert not cancelled(None, "ConditionalCheckFailed", "TransactionConflict")
    assert cancelled(None, "ThrottlingError")


def test_the_reservoir_keeps_a_uniform_sample_with_its_true_rate() -> None:
    reservoir = Reservoir(20)
    seen = [0] * 100
    for _ in range(400):
        for number in range(100):
            reservoir.offer(number, (0.0, ()))
        kept = list(reservoir.close())
        assert len(kept) == 20
        assert all(probability == pytest.approx(0.2) for _, (probability, _strata) in kept)
        for number, _ in kept:
            seen[number] += 1
    assert reservoir.take_lost() == 400 * 80
    assert min(seen) > 40
    assert max(seen) < 125


def test_what_a_stratum_keeps_the_reservoir_does_not_lose() -> None:
    reservoir = Reservoir(5)
    for number in range(100):
        reservoir.offer(number, (0.5, (("request", 0.5),) if number % 2 else ()))
    kept = dict(reservoir.close())
    assert {number for number, (_, strata) in kept.items() if strata} == set(range(1, 100, 2))
    assert {probability for probability, _ in kept.values()} == {1 - 0.5 * 0.95}
    assert list(reservoir.close()) == []


def test_an_index_read_belongs_to_the_keys_that_it_returned(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start(request_rate=0.0, key_rate=0.2)
    chosen = set()
    for number in range(60):
        client.put_item(TableName="cases", Item=key_of(number))
    chosen = {record["key"]["PK"]["S"] for record in log.records()}
    assert 0 < len(chosen) < 30
    puts = len(log.records())
    for number in range(60):
        dynamodb.script = [{"Items": [key_of(number)], "Count": 1, "ScannedCount": 1}]
        client.query(
            TableName="cases",
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :p",
            ExpressionAttributeValues={":p": {"S": "x"}},
        )
    reads = log.records()[puts:]
    assert {record["returned"][0]["key"].split("\t")[0] for record in reads} == chosen
    assert all(record["strata"] == [{"by": "key", "rate": pytest.approx(0.2)}] for record in reads)


def test_reads_of_a_partition_and_writes_to_it_are_one_sequence(log: Log) -> None:
    client = log.start(request_rate=0.0, key_rate=0.3)
    for number in range(40):
        client.delete_item(TableName="cases", Key=key_of(number))
        client.query(
            TableName="cases",
            KeyConditionExpression="#p = :p",
            ExpressionAttributeNames={"#p": "PK"},
            ExpressionAttributeValues={":p": {"S": f"CASE#{number}"}},
        )
        client.batch_write_item(RequestItems={"cases": [{"PutRequest": {"Item": key_of(number)}}]})
    operations = [record["op"] for record in log.records()]
    assert operations
    assert operations == ["DeleteItem", "Query", "BatchWriteItem"] * (len(operations) // 3)
