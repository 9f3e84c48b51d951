"""Reports are sent over HTTP to the S3 and SNS of moto, which check what they are sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.calling import with_aws
from analyzer.deliver import Delivery, deliver, place_of
from analyzer.errors import CollectError

if TYPE_CHECKING:
    from analyzer.interfaces import AwsCaller
    from tests.support.emulator import LocalAws

PAGE = Delivery("DynamoDB in 2026-W48: 3 things to know", "dynascope-2026-W48", "html", "<p>drei Dinge: \u00e4</p>")
CHAT = Delivery("DynamoDB in 2026-W48: 3 things to know", "dynascope-2026-W48", "markdown", "# three\n")


@pytest.fixture(autouse=True)
def here(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)


def send(where: str, delivery: Delivery) -> None:
    async def work(aws: AwsCaller, _: str) -> None:
        await deliver(place_of(where), delivery, aws)

    with_aws(work, "us-east-1", None)


def test_a_bucket_holds_the_page_under_the_name_of_its_week(emulator: LocalAws) -> None:
    emulator.client("s3").create_bucket(Bucket="reports")
    send("s3://reports/weekly/", PAGE)
    found = emulator.client("s3").get_object(Bucket="reports", Key="weekly/dynascope-2026-W48.html")
    assert found["ContentType"] == "text/html; charset=utf-8"
    assert found["Body"].read().decode() == PAGE.text
    with pytest.raises(CollectError) as refused:
        send("s3://nobody/weekly/", PAGE)
    assert "NoSuchBucket" in f"{refused.value} {refused.value.code}"


def test_who_subscribed_to_a_topic_gets_the_report(emulator: LocalAws) -> None:
    topic = emulator.client("sns").create_topic(Name="weekly")["TopicArn"]
    queue = emulator.client("sqs").create_queue(QueueName="readers")["QueueUrl"]
    arn = emulator.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]
    emulator.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn["QueueArn"])
    send(f"sns:{topic}", CHAT)
    (message,) = emulator.client("sqs").receive_message(QueueUrl=queue)["Messages"]
    body = json.loads(message["Body"])
    assert (body["Subject"], body["Message"]) == (CHAT.title, CHAT.text)
    with pytest.raises(CollectError, match="Publish"):
        send(f"sns:{topic}-gone", CHAT)
