from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import AbsentError, CollectError, DeniedError, ThrottledError, UnreachableError
from analyzer.model.batch import Position
from analyzer.model.sight import Gap, GapReason
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.s3.config import S3Config
from collectors.request_log.s3.parse import periods
from tests.collectors.streams.conftest import NOW, FakeAws, Kept, lines_of, record

HOUR = 3_600_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(at: int) -> datetime:
    return EPOCH + timedelta(milliseconds=at)


class Bucket:
    """A bucket that lists in the order of keys, a few a page."""

    def __init__(self, page: int = 2) -> None:
        self.objects: dict[str, tuple[bytes, int]] = {}
        self.page = page
        self.aws = FakeAws(ListObjectsV2=self.list, GetObject=self.get)

    def put(self, key: str, body: bytes, at: int) -> None:
        self.objects[key] = (body, at)

    def firehose(self, number: int, body: bytes, at: int) -> str:
        key = f"ddb/{moment(at):%Y/%m/%d/%H}/ddb-1-{moment(at):%Y-%m-%d-%H-%M-%S}-{number:04d}"
        self.put(key, body, at + 1000)
        return key

    def list(self, Prefix: str, StartAfter: str = "", **params: Any) -> dict[str, Any]:  # noqa: N803 -- AWS's names
        keys = sorted(key for key in self.objects if key.startswith(Prefix) and key > StartAfter)
        folders: dict[str, None] = {}
        if "Delimiter" in params:
            for key in keys:
                below, slash, _ = key[len(Prefix) :].partition("/")
                if slash:
                    folders[f"{Prefix}{below}/"] = None
            keys = []
        start = int(params.get("ContinuationToken", 0))
        shown = keys[start : start + self.page]
        answer: dict[str, Any] = {
            "Contents": [
                {"Key": key, "LastModified": moment(at), "Size": len(body), "ETag": '"e"'}
                for key in shown
                for body, at in [self.objects[key]]
            ],
            "CommonPrefixes": [{"Prefix": folder} for folder in folders],
            "IsTruncated": start + self.page < len(keys),
        }
        if answer["IsTruncated"]:
            answer["NextContinuationToken"] = str(start + self.page)
        return answer

    def get(self, Key: str, Range: str, **_: Any) -> dict[str, Any]:  # noqa: N803 -- AWS's names
        if Key not in self.objects:
            raise AbsentError("GetObject: NoSuchKey", hint="it was deleted", code="NoSuchKey")
        first, last = map(int, Range.removeprefix("bytes=").split("-"))
        return {"Body": self.objects[Key][0][first : last + 1]}

    def stream(self, positions: tuple[Position, ...] = (), now: int = NOW, **bounds: Any) -> S3Stream:
        config = S3Config("logs", **{"prefix": "ddb/", **bounds})
        return S3Stream(config, self.aws, positions, lambda: now)


async def test_every_object_is_read_once_look_after_look(kept: Kept) -> None:
    bucket = Bucket()
    for number in range(5):
        bucket.firehose(number, lines_of([record(number)]), NOW - 60_000 * number)
    stream = bucket.stream()
    await kept.read(stream.look())
    assert sorted(kept.ids) == ["r0", "r1", "r2", "r3", "r4"]
    bucket.firehose(9, lines_of([record(9)]), NOW)
    await kept.read(stream.look())
    await kept.read(stream.look())
    assert sorted(kept.ids) == ["r0", "r1", "r2", "r3", "r4", "r9"]


async def test_objects_come_in_the_order_in_which_they_were_written(kept: Kept) -> None:
    bucket = Bucket()
    for number, age in enumerate([10, 30, 20]):
        bucket.firehose(number, lines_of([record(number)]), NOW - age * 1000)
    await kept.read(bucket.stream().look())
    assert kept.ids == ["r1", "r2", "r0"]


async def test_without_a_checkpoint_reading_begins_a_while_ago(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of([record(1)]), NOW - 2 * HOUR)
    bucket.firehose(2, lines_of([record(2)]), NOW - 60_000)
    stream = bucket.stream()
    (begun,) = stream.begin()
    assert begun == Position("s3://logs/ddb/", 0, 0, modified=NOW - 900_000)
    await kept.read(stream.look())
    assert kept.ids == ["r2"]


async def test_what_came_while_the_daemon_was_down_is_read_from_the_checkpoint_on(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of([record(1)]), NOW - 60_000)
    await kept.read(bucket.stream().look())
    later = NOW + 30 * HOUR
    for number in range(2, 30):
        bucket.firehose(number, lines_of([record(number)]), NOW + number * HOUR)
    await kept.read(bucket.stream(kept.checkpoint(), later).look())
    assert kept.ids == [f"r{number}" for number in range(1, 30)]
    await kept.read(bucket.stream(kept.checkpoint(), later).look())
    assert len(kept.ids) == 29
    assert len(kept.positions["s3://logs/ddb/"].seen) <= 2


async def test_an_object_that_comes_late_is_read(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of([record(1)]), NOW - 60_000)
    stream = bucket.stream()
    await kept.read(stream.look())
    bucket.put(f"ddb/{moment(NOW - 1800_000):%Y/%m/%d/%H}/late", lines_of([record(2)]), NOW - 300_000)
    await kept.read(stream.look())
    assert kept.ids == ["r1", "r2"]


async def test_only_the_hours_that_may_hold_something_new_are_listed(kept: Kept) -> None:
    bucket = Bucket()
    stream = bucket.stream()
    await kept.read(stream.look())
    bucket.aws.calls.clear()
    await kept.read(stream.look())
    asked = [params["Prefix"] for _, params in bucket.aws.calls]
    assert asked == ["ddb/2025/11/30/09/", "ddb/2025/11/30/10/"]


PACKED = [
    ("plain", lambda body: body),
    ("gzip", gzip.compress),
    ("gzip in gzip", lambda body: gzip.compress(gzip.compress(body))),
    ("members one after the other", lambda body: gzip.compress(body[:700]) + gzip.compress(body[700:])),
    ("members filled up with zeros", lambda body: gzip.compress(body) + b"\0" * 100),
    ("zstandard", zstandard.compress),
]


@pytest.mark.parametrize(("name", "pack"), PACKED, ids=[name for name, _ in PACKED])
async def test_an_object_is_read_however_it_is_packed(kept: Kept, name: str, pack: Any) -> None:
    bucket = Bucket()
    bucket.firehose(1, pack(lines_of(record(n) for n in range(50))), NOW - 1000)
    await kept.read(bucket.stream(part_bytes=100).look())
    assert kept.ids == [f"r{number}" for number in range(50)]


async def test_records_without_newlines_between_them_are_told_apart(kept: Kept) -> None:
    bucket = Bucket()
    body = b"".join(json.dumps(record(n, filter="a }{ b")).encode() for n in range(40))
    bucket.firehose(1, gzip.compress(body), NOW - 1000)
    await kept.read(bucket.stream().look())
    assert kept.ids == [f"r{number}" for number in range(40)]


async def test_what_a_subscription_of_a_log_group_put_there_is_unwrapped(kept: Kept) -> None:
    def envelope(kind: str, *numbers: int) -> bytes:
        events = [{"id": str(n), "timestamp": NOW, "message": json.dumps(record(n))} for n in numbers]
        content = {"messageType": kind, "owner": "1", "logGroup": "g", "logStream": "s", "logEvents": events}
        return gzip.compress(json.dumps(content).encode())

    bucket = Bucket()
    parts = [envelope("DATA_MESSAGE", 1, 2), envelope("DATA_MESSAGE", 3)]
    bucket.firehose(1, gzip.compress(b"".join(parts)), NOW - 1000)
    await kept.read(bucket.stream().look())
    assert kept.ids == ["r1", "r2", "r3"]


@pytest.mark.parametrize("body", [b"\x89PNG rubbish", b"{}", b'{"a": 1}\n' * 40, b"PK\x03\x04zip"])
async def test_an_object_that_is_no_request_log_is_counted_and_passed_over(kept: Kept, body: bytes) -> None:
    bucket = Bucket()
    bucket.firehose(1, body, NOW - 2000)
    bucket.firehose(2, lines_of([record(2)]), NOW - 1000)
    stream = bucket.stream()
    await kept.read(stream.look())
    await kept.read(stream.look())
    assert kept.ids == ["r2"]
    assert kept.bad == {"a log is of no shape that is known": 1}


async def test_an_object_of_two_bytes_is_passed_over(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, b"\n\n", NOW - 2000)
    await kept.read(bucket.stream().look())
    assert (kept.ids, kept.bad) == ([], {})


async def test_a_torn_object_is_read_as_far_as_it_goes_and_said_to_be_damaged(kept: Kept) -> None:
    bucket = Bucket()
    body = gzip.compress(lines_of(record(n) for n in range(2000)))
    bucket.firehose(1, body[: len(body) // 2], NOW - 2000)
    bucket.firehose(2, lines_of([record(5000)]), NOW - 1000)
    stream = bucket.stream()
    await kept.read(stream.look())
    assert 100 < len(kept.ids) < 2000
    assert kept.ids[-1] == "r5000"
    assert stream.status().damaged == 1


async def test_a_gzip_bomb_is_unpacked_in_chunks(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, gzip.compress(b" " * 50_000_000 + lines_of([record(1)])), NOW - 2000)
    await kept.read(bucket.stream().look())
    assert kept.bad == {"a log is of no shape that is known": 1}


async def test_a_large_object_is_fetched_in_parts_and_gone_on_with_after_a_kill(kept: Kept) -> None:
    bucket = Bucket()
    body = gzip.compress(b"".join(json.dumps(record(n)).encode() for n in range(9000)))
    bucket.firehose(1, body, NOW - 1000)
    for _ in range(10):
        await kept.read(bucket.stream(kept.checkpoint(), part_bytes=20_000).look(), most=1)
    assert kept.ids == [f"r{number}" for number in range(9000)]
    assert kept.blocks > 3


async def test_an_object_that_came_late_does_not_disturb_one_that_is_half_read(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of(record(n) for n in range(6000)), NOW - 1000)
    await kept.read(bucket.stream().look(), most=1)
    bucket.put("ddb/2025/11/30/10/a-late-one", lines_of([record(7000)]), NOW - 300_000)
    await kept.read(bucket.stream(kept.checkpoint()).look())
    assert kept.ids == [*(f"r{number}" for number in range(6000)), "r7000"]


async def test_a_half_read_object_that_was_deleted_is_lost(kept: Kept) -> None:
    bucket = Bucket()
    key = bucket.firehose(1, lines_of(record(n) for n in range(6000)), NOW - 1000)
    await kept.read(bucket.stream().look(), most=1)
    del bucket.objects[key]
    stream = bucket.stream(kept.checkpoint())
    await kept.read(stream.look())
    assert stream.status().lost == 1


async def test_an_object_deleted_since_it_was_listed_is_lost_and_the_rest_is_read(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of([record(1)]), NOW - 2000)
    bucket.firehose(2, lines_of([record(2)]), NOW - 1000)
    bucket.aws.fail("GetObject", AbsentError("GetObject: NoSuchKey", hint="gone", code="NoSuchKey"))
    stream = bucket.stream()
    await kept.read(stream.look())
    await kept.read(stream.look())
    assert kept.ids == ["r2"]
    assert stream.status().lost == 1


FAILURES = [
    (DeniedError("ListObjectsV2: AccessDenied", hint="grant s3:ListBucket"), GapReason.DENIED),
    (DeniedError("ListObjectsV2: ExpiredToken", hint="renew the credentials"), GapReason.DENIED),
    (ThrottledError("ListObjectsV2: SlowDown", hint="look less often"), GapReason.THROTTLED),
    (UnreachableError("ListObjectsV2: no answer in time", hint="check the network"), GapReason.TIMEOUT),
]


@pytest.mark.parametrize("operation", ["ListObjectsV2", "GetObject"])
@pytest.mark.parametrize(("error", "reason"), FAILURES, ids=[str(error) for error, _ in FAILURES])
async def test_a_failure_is_a_gap_while_it_lasts_and_nothing_is_lost(
    kept: Kept, operation: str, error: CollectError, reason: GapReason
) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of([record(1)]), NOW - 1000)
    stream = bucket.stream(poll_ms=1)
    bucket.aws.fail(operation, error, error)
    told: list[Gap] = []

    def get(**params: Any) -> dict[str, Any]:
        told.extend(stream.status().gaps)
        return bucket.get(**params)

    bucket.aws.operations["GetObject"] = get
    async for block in stream.blocks():
        kept.take(block)
        if kept.ids:
            stream.stop()
    assert kept.ids == ["r1"]
    assert [(gap.reason, gap.detail, gap.hint) for gap in told] == [(reason, f"s3://logs/ddb/: {error}", error.hint)]


async def test_a_failing_stream_says_so_looks_less_often_and_recovers() -> None:
    bucket = Bucket()
    error, _ = FAILURES[0]
    bucket.aws.fail("ListObjectsV2", error, error)
    stream = bucket.stream(poll_ms=10)
    states = []

    def watched(**params: Any) -> dict[str, Any]:
        states.append((stream.status().files, [gap.reason for gap in stream.status().gaps], stream.pause_ms()))
        stream.stop()
        return bucket.list(**params)

    bucket.aws.operations["ListObjectsV2"] = watched
    assert [block async for block in stream.blocks() if block.lines] == []
    assert states[0] == (0, [GapReason.DENIED], 40)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"Contents": [{"Key": "a"}], "IsTruncated": False},
        {"Contents": [{"Key": "a", "LastModified": "yesterday", "Size": 1}], "IsTruncated": False},
        {"Contents": [], "IsTruncated": True},
        {"Contents": [], "IsTruncated": True, "NextContinuationToken": "same"},
    ],
)
async def test_half_an_answer_is_a_failure(kept: Kept, answer: dict[str, Any]) -> None:
    bucket = Bucket()
    bucket.aws.operations["ListObjectsV2"] = lambda **_: answer
    with pytest.raises(CollectError, match="ListObjectsV2"):
        await kept.read(bucket.stream().look())


async def test_a_body_that_breaks_off_is_read_again(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of(record(n) for n in range(9)), NOW - 1000)
    bucket.aws.operations["GetObject"] = lambda **_: {"Body": b'{"v":1'}
    stream = bucket.stream()
    with pytest.raises(CollectError, match="broke off"):
        await kept.read(stream.look())
    bucket.aws.operations["GetObject"] = bucket.get
    await kept.read(stream.look())
    assert len(kept.ids) == 9


TRAIL = "AWSLogs/o-abc123/111122223333/CloudTrail/eu-west-1/"


def trail_key(at: int, number: int, root: str = TRAIL) -> str:
    account, _, region = root.removeprefix("AWSLogs/o-abc123/").strip("/").split("/")
    name = f"{account}_CloudTrail_{region}_{moment(at):%Y%m%dT%H%MZ}_{number:016d}.json.gz"
    return f"{root}{moment(at):%Y/%m/%d}/{name}"


async def test_the_regions_and_accounts_of_a_trail_are_found_and_its_digests_are_not_read(kept: Kept) -> None:
    bucket = Bucket(page=100)
    other = "AWSLogs/o-abc123/444455556666/CloudTrail/us-east-1/"
    bucket.put(trail_key(NOW - 2000, 1), gzip.compress(lines_of([record(1)])), NOW - 2000)
    bucket.put(trail_key(NOW - 1000, 2, other), gzip.compress(lines_of([record(2)])), NOW - 1000)
    for folder in ("CloudTrail-Digest", "Config", "elasticloadbalancing"):
        bucket.put(f"AWSLogs/o-abc123/111122223333/{folder}/eu-west-1/2025/11/30/x", b"junk", NOW - 1000)
    stream = bucket.stream(prefix="", layout="cloudtrail", shape="native")
    await kept.read(stream.look())
    assert kept.ids == ["r1", "r2"]
    bucket.aws.calls.clear()
    await kept.read(stream.look())
    assert not any("Delimiter" in params for _, params in bucket.aws.calls)


async def test_a_trail_s_day_is_not_listed_from_its_beginning_again(kept: Kept) -> None:
    bucket = Bucket(page=100)
    bucket.put(trail_key(NOW - 1000, 1), gzip.compress(lines_of([record(1)])), NOW - 1000)
    stream = bucket.stream(prefix=TRAIL, layout="cloudtrail", shape="native")
    await kept.read(stream.look())
    bucket.aws.calls.clear()
    await kept.read(stream.look())
    asked = [params.get("StartAfter") for _, params in bucket.aws.calls]
    assert asked == [f"{TRAIL}2025/11/30/111122223333_CloudTrail_eu-west-1_20251130T0938"]


async def test_hive_prefixes_and_flat_buckets_are_read(kept: Kept) -> None:
    bucket = Bucket()
    bucket.put("ddb/dt=2025-11-30/h=10/x", lines_of([record(1)]), NOW - 1000)
    await kept.read(bucket.stream(time_prefix="dt=%Y-%m-%d/h=%H/").look())
    await kept.read(bucket.stream(layout="flat").look())
    assert kept.ids == ["r1", "r1"]


async def test_more_objects_than_the_bound_are_read_in_several_looks(kept: Kept) -> None:
    bucket = Bucket()
    for number in range(9):
        bucket.firehose(number, lines_of([record(number)]), NOW - 1000 * (10 - number))
    stream = bucket.stream(most_objects=4)
    for _ in range(4):
        await kept.read(stream.look())
    assert sorted(kept.ids) == [f"r{number}" for number in range(9)]


async def test_unread_bytes_are_told_until_they_are_read(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of([record(1)]), NOW - 2000)
    bucket.firehose(2, lines_of([record(2)]), NOW - 1000)
    stream = bucket.stream()
    pending = [stream.status().pending_bytes async for block in stream.look() if block.lines]
    assert pending[0] > pending[1] > stream.status().pending_bytes == 0


async def test_an_object_is_fetched_as_it_was_listed(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, lines_of([record(1)]), NOW - 1000)
    await kept.read(bucket.stream().look())
    (asked,) = [params for name, params in bucket.aws.calls if name == "GetObject"]
    assert asked["IfMatch"] == '"e"'
    bucket.aws.operations["ListObjectsV2"] = lambda **params: {
        "Contents": [{**one, "ETag": ""} for one in bucket.list(**params)["Contents"]],
        "IsTruncated": False,
    }
    bucket.aws.calls.clear()
    await kept.read(bucket.stream().look())
    assert not any("IfMatch" in params for _, params in bucket.aws.calls)


@pytest.mark.parametrize("body", [zstandard.compress(b"x" * 9)[:-3], b"\x28\xb5\x2f\xfdrubbish", b"\x1f\x8brubbish"])
async def test_a_damaged_object_is_passed_over_and_counted(kept: Kept, body: bytes) -> None:
    bucket = Bucket()
    bucket.firehose(1, body, NOW - 2000)
    bucket.firehose(2, lines_of([record(2)]), NOW - 1000)
    stream = bucket.stream()
    await kept.read(stream.look())
    assert kept.ids == ["r2"]
    assert stream.status().damaged == 1


async def test_an_object_that_ends_amid_the_next_member_is_damaged(kept: Kept) -> None:
    bucket = Bucket()
    bucket.firehose(1, gzip.compress(lines_of([record(1)])) + b"\x1f", NOW - 2000)
    stream = bucket.stream()
    await kept.read(stream.look())
    assert (kept.ids, stream.status().damaged) == (["r1"], 1)


async def test_nested_packing_beyond_what_anybody_does_is_not_followed(kept: Kept) -> None:
    body = lines_of([record(1)])
    for _ in range(5):
        body = gzip.compress(body)
    bucket = Bucket()
    bucket.firehose(1, body, NOW - 2000)
    await kept.read(bucket.stream().look())
    assert kept.bad == {"a log is of no shape that is known": 1}


@pytest.mark.parametrize(
    ("times", "since", "prefixes"),
    [
        ("%Y/%m/%d/%H/", NOW - HOUR, ["2025/11/30/09/", "2025/11/30/10/"]),
        ("%H-%M/", NOW - 120_000, ["10-51/", "10-52/", "10-53/"]),
        ("%Y/%m/", NOW - 40 * 24 * HOUR, ["2025/10/", "2025/11/"]),
        ("all/", NOW - HOUR, ["all/"]),
    ],
)
def test_the_time_in_the_keys_tells_the_prefixes(times: str, since: int, prefixes: list[str]) -> None:
    found = list(periods(times, since, NOW))
    assert [one.prefix for one in found] == prefixes
    assert found[-1].end >= NOW
    assert all(one.start < one.end for one in found)


def test_no_time_has_no_prefix() -> None:
    assert list(periods("%Y/", NOW, NOW - 366 * 24 * HOUR)) == []


def test_it_names_its_position() -> None:
    stream = Bucket().stream()
    assert stream.paths() == {"s3://logs/ddb/"}
    stream.close()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["put", "big", "late", "look", "kill", "wait"]), st.integers(0, 5))))
async def test_whatever_happens_every_record_is_read_once(steps: list[tuple[str, int]]) -> None:
    bucket, kept, now, number = Bucket(), Kept(), NOW, 0
    kept.positions = {one.path: one for one in bucket.stream().begin()}
    for place, (step, size) in enumerate([*steps, ("look", 0)]):
        if step == "wait":
            now += size * HOUR // 2
        elif step in {"look", "kill"}:
            stream = bucket.stream(kept.checkpoint(), now, part_bytes=5000)
            kept.positions |= {one.path: one for one in stream.begin()}
            await kept.read(stream.look(), most=size if step == "kill" else 10**9)
        else:
            count = 3000 if step == "big" else size
            body = lines_of(record(number + one) for one in range(count))
            number += count
            at = now - (size * 60_000 if step == "late" else 1000)
            bucket.firehose(place, gzip.compress(body), at)
    assert sorted(kept.ids) == sorted(f"r{one}" for one in range(number))


async def test_doctor_is_told_whether_the_bucket_may_be_listed_and_read() -> None:
    bucket = Bucket()
    assert [(one.name, one.state) for one in await bucket.stream().check()] == [
        ("request-log: ListObjectsV2", "ok"),
        ("request-log: GetObject", "unchecked"),
    ]
    bucket.firehose(1, b"x", NOW)
    assert [one.state for one in await bucket.stream().check()] == ["ok", "ok"]
    bucket.aws.fail("GetObject", DeniedError("GetObject: AccessDenied", hint="grant s3:GetObject"))
    assert [one.hint for one in await bucket.stream().check()] == [None, "grant s3:GetObject"]
    bucket.aws.fail("ListObjectsV2", DeniedError("ListObjectsV2: AccessDenied", hint="grant s3:ListBucket"))
    (denied,) = await bucket.stream().check()
    assert (denied.state, denied.hint) == ("error", "grant s3:ListBucket")
