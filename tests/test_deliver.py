from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from analyzer.deliver import Delivery, _error_words, _posting, _proxy_of, deliver, fitting, needs_aws, place_of
from analyzer.errors import UnreachableError, UsageError
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPIC = "arn:aws:sns:eu-west-1:111122223333:weekly"
PAGE = Delivery("DynamoDB in 2026-W48: 3 things", "dynascope-2026-W48", "html", "<p>three</p>")
CHAT = Delivery("DynamoDB in 2026-W48: 3 things", "dynascope-2026-W48", "markdown", "# three\n")


class Hook(BaseHTTPRequestHandler):
    """Takes what is posted; `answers` are the codes to come."""

    answers: list[int]
    taken: list[tuple[str, str, bytes]]
    elsewhere: str = "/elsewhere"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append((self.path, self.headers["Content-Type"], body))
        code = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.send_response(code)
        if 300 <= code < 400:
            self.send_header("Location", self.elsewhere)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hook() -> Iterator[str]:
    Hook.answers, Hook.taken, Hook.elsewhere = [200], [], "/elsewhere"
    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/T0/s3cret"
    server.shutdown()
    thread.join()
    server.server_close()


def send(where: str, delivery: Delivery, aws: ScriptedAws | None = None) -> None:
    asyncio.run(deliver(place_of(where), delivery, aws, wait_seconds=0))


def test_markdown_is_posted_as_a_chat_takes_it(hook: str) -> None:
    send(hook, CHAT)
    assert Hook.taken == [("/T0/s3cret", "application/json", json.dumps({"text": "# three\n"}).encode())]


def test_a_page_is_posted_as_it_is(hook: str) -> None:
    send(hook, PAGE)
    assert Hook.taken == [("/T0/s3cret", "text/html; charset=utf-8", b"<p>three</p>")]


def test_what_passes_is_tried_again_and_what_does_not_is_not(hook: str) -> None:
    Hook.answers = [503, 429, 200]
    send(hook, CHAT)
    assert len(Hook.taken) == 3
    Hook.answers, Hook.taken[:] = [404], []
    with pytest.raises(UnreachableError, match=r"http://127\.0\.0\.1 did not take the report: 404") as refused:
        send(hook, CHAT)
    assert len(Hook.taken) == 1
    assert "s3cret" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize("code", [301, 302, 307, 308])
@pytest.mark.parametrize("elsewhere", ["/elsewhere", "{hook}/other", "https://other.example.com/x"])
def test_nobody_is_followed_to_another_address(hook: str, code: int, elsewhere: str) -> None:
    Hook.answers, Hook.elsewhere = [code], elsewhere.format(hook=hook)
    with pytest.raises(UnreachableError, match=str(code)):
        send(hook, CHAT)
    assert [path for path, _, _ in Hook.taken] == ["/T0/s3cret"]


def test_who_always_fails_is_left_alone_after_three_tries(hook: str) -> None:
    Hook.answers = [500]
    with pytest.raises(UnreachableError, match="500 Internal Server Error"):
        send(hook, CHAT)
    assert len(Hook.taken) == 3


def test_who_drips_does_not_hold_a_report_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.deliver._SECONDS", 0.1)
    heads = []

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readline())
        writer.write(b"HTTP/1.1 200 OK\r\n")
        with closing(writer), suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"X: y\r\n")
                await writer.drain()
                await asyncio.sleep(0.02)

    async def run() -> None:
        server = await asyncio.start_server(drip, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        try:
            await deliver(place_of(f"http://127.0.0.1:{port}/x"), CHAT, None, wait_seconds=0)
        finally:
            server.close()

    with pytest.raises(UnreachableError, match=r"did not take the report: no answer within 0.1 seconds"):
        asyncio.run(run())
    assert len(heads) == 3


HOSTILE = "<!channel> \\<!here\\> <@U0> @here @\u200bsafe <b> & ```x```\n"


def test_in_a_chat_no_name_calls_anybody(hook: str) -> None:
    send(hook, Delivery("t", "n", "markdown", HOSTILE))
    text = json.loads(Hook.taken[0][2])["text"]
    assert not re.search(r"<[!@#]|@(?!\u200b)", text)
    assert text.replace("\u200b", "") == HOSTILE.replace("\u200b", "")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_slack_gets_one_block_of_text_in_which_nothing_is_markup(form: str) -> None:
    place = place_of("https://hooks.slack.com/services/T0/B0/s3cret")
    assert place.otherwise == "text"
    body, kind = _posting(place, Delivery("t", "n", form, HOSTILE * 2000))
    text = json.loads(body)["text"]
    assert kind == "application/json"
    assert text.startswith("```\n")
    assert text.count("```") == 2
    assert not re.search("[<>]|&(?!(amp|lt|gt);)", text)
    assert "The rest did not fit" in text
    assert _posting(place, Delivery("t", "n", "json", "{}")) == (b"{}", "application/json; charset=utf-8")


def test_a_proxy_of_the_environment_is_used_but_for_those_that_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example.com:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1,inside.example.com")
    assert _proxy_of("https://chat.example.com/x") == "http://proxy.example.com:3128"
    assert _proxy_of("https://inside.example.com/x") is None
    assert _proxy_of("/x") is None


def test_nobody_there_is_told_after_three_tries() -> None:
    with pytest.raises(UnreachableError, match="Connection refused"):
        send("http://127.0.0.1:9/x", CHAT)
    assert _error_words(OSError("odd")) == "OSError"
    assert _error_words(socket.gaierror(socket.EAI_NONAME, "Name or service not known")) == "Name or service not known"


def test_a_bucket_gets_an_object_named_for_its_week() -> None:
    aws = ScriptedAws({"PutObject": {}})
    send("s3://b/reports/", PAGE, aws)
    send("s3://b", CHAT, aws)
    send("s3://b/now.html", PAGE, aws)
    keys = [(asked["Key"], asked["ContentType"]) for asked in aws.asked("PutObject")]
    assert keys == [
        ("reports/dynascope-2026-W48.html", "text/html; charset=utf-8"),
        ("dynascope-2026-W48.md", "text/markdown; charset=utf-8"),
        ("now.html", "text/html; charset=utf-8"),
    ]


def test_a_topic_gets_a_subject_and_as_much_as_fits_in_its_own_region() -> None:
    aws = ScriptedAws({"Publish": {}})
    send(f"sns:{TOPIC}", CHAT, aws)
    (asked,) = aws.asked("Publish")
    assert asked == {"TopicArn": TOPIC, "Subject": CHAT.title, "Message": "# three\n"}
    assert aws.places == {("eu-west-1", None)}


def test_a_text_that_does_not_fit_ends_with_a_line_and_says_so() -> None:
    text = "".join(f"line {n} é\n" for n in range(100))
    cut = fitting(text, 500)
    assert len(cut.encode()) <= 500
    assert "(The rest did not fit" in cut
    assert cut.split("\n\n(")[0].endswith("é")
    assert fitting(text, 5000) == text


def test_what_takes_aws_does_not_go_without() -> None:
    assert needs_aws(place_of("s3://b/x"))
    assert not needs_aws(place_of("https://example.com"))
    with pytest.raises(UsageError, match="nothing here has a way to AWS"):
        send("s3://b/x", PAGE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s3://", "names no bucket"),
        ("sns:weekly", "takes the ARN of a topic"),
        ("sns:arn:aws:sns", "takes the ARN of a topic"),
        ("http://example.com/x", "use https://"),
        ("https://", "--to takes"),
        ("https://[CANARY", "no address; write https://host/path"),
        ("https://127.0.0.1:99999/x", "no address; write https://host/path"),
        ("https://host/\r\nX: y", "no address; write https://host/path"),
        ("mail:ann", "--to takes"),
    ],
)
def test_a_place_that_is_none_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        place_of(text)
