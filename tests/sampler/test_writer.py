"""Queue, thread and sinks: bounded, fork-safe, whole lines, and quiet when all goes wrong."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from dynascope_sampler.sinks import FileSink, open_sink
from dynascope_sampler.writer import Writer, format_time

from tests.sampler.conftest import Log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sampler.stub_dynamodb import StubDynamoDB

CASE = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}
CERTAIN = (1.0, None)

PREAMBLE = """
import os, sys, threading, dynascope_sampler
from botocore.awsrequest import AWSResponse
from botocore.session import Session
class Raw:
    def stream(self, *_, **__): yield b"{}"
session = Session()
session.set_credentials("x", "x")
sampler = dynascope_sampler.instrument(session, sink=sys.argv[1], salt="s")
client = session.create_client("dynamodb", region_name="us-east-1")
client.meta.events.register("before-send.dynamodb", lambda request, **_: AWSResponse(request.url, 200, {}, Raw()))
def get(count):
    for number in range(count):
        client.get_item(TableName="t", Key={"id": {"S": "x"}})
"""


def run(program: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    arguments = [sys.executable, "-W", "ignore", "-c", PREAMBLE + program, str(path)]
    return subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=60, check=False)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Blocked:
    """A sink that waits until it is let go."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.entered = threading.Event()
        self.go = threading.Event()

    def write(self, block: bytes) -> None:
        self.entered.set()
        self.go.wait(10)
        self.written.append(block)

    def close(self) -> None:
        """Nothing to close."""


class Broken:
    """A sink that fails until it is mended."""

    def __init__(self) -> None:
        self.mended = False
        self.written = b""

    def write(self, block: bytes) -> None:
        if not self.mended:
            raise OSError("no space left")
        self.written += block

    def close(self) -> None:
        """Nothing to close."""


def writer(sink: Any, queue_size: int = 10) -> Writer:
    return Writer(sink, lambda raw, _choice: {"v": 1, "n": raw}, "tests", queue_size)


def test_a_full_queue_drops_and_counts_and_never_waits() -> None:
    sink = Blocked()
    queue = writer(sink)
    queue.put(0, CERTAIN, 0, always=False)
    assert sink.entered.wait(10)
    for number in range(25):
        queue.put(number, CERTAIN, 0, always=False)
    assert queue.counts.total(1) == 15
    sink.go.set()
    assert queue.close(10)
    found = [json.loads(line) for line in b"".join(sink.written).splitlines()]
    assert [line["n"] for line in found if "n" in line] == [0, *range(10)]
    assert [line["count"] for line in found if line.get("counter") == "dropped"] == [15]


def test_a_sink_that_fails_costs_records_that_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    sink = Broken()
    queue = writer(sink)
    queue.put(1, CERTAIN, 0, always=False)
    assert queue.flush(10)
    sink.mended = True
    queue.put(2, CERTAIN, 0, always=False)
    assert queue.close(10)
    assert (queue.written, queue.lost, queue.write_failures > 0) == (1, 1, True)
    assert json.loads(sink.written.splitlines()[-1])["counter"] == "dropped"
    assert "OSError" in caplog.text


def test_a_record_that_cannot_be_written_costs_only_itself() -> None:
    written: list[bytes] = []
    queue = writer(open_sink(written.append, 1, 1, 1))
    queue.put(object(), CERTAIN, 0, always=False)
    queue.put(1, CERTAIN, 0, always=False)
    assert queue.close(10)
    assert (queue.written, queue.lost, queue.counts.total(3)) == (1, 1, 1)


def test_many_threads_lose_nothing(log: Log) -> None:
    log.start()
    clients = [log.client() for _ in range(4)]

    def get(client: Any) -> None:
        for _ in range(25):
            client.get_item(TableName="cases", Key=CASE)

    threads = [threading.Thread(target=get, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log.records()) == 100


def test_the_end_of_the_interpreter_flushes(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert run("get(50)", path).returncode == 0
    assert len(lines(path)) == 50


def test_a_sink_that_hangs_does_not_hold_the_exit(tmp_path: Path) -> None:
    program = """
import time
sampler.close()
stuck = Session(); stuck.set_credentials("x", "x")
dynascope_sampler.instrument(stuck, sink=lambda _: time.sleep(60))
client = stuck.create_client("dynamodb", region_name="us-east-1")
client.meta.events.register("before-send.dynamodb", lambda request, **_: AWSResponse(request.url, 200, {}, Raw()))
get(3)
"""
    done = run(program, tmp_path / "log")
    assert (done.returncode, done.stderr) == (0, "")


def test_fork_gives_each_process_its_own_writer(tmp_path: Path) -> None:
    path = tmp_path / "log"
    program = """
get(10)
child = os.fork()
if child == 0:
    get(20)
    assert sampler.flush(10)
    os._exit(0 if sampler.stats.written == 20 else 1)
get(5)
assert os.waitpid(child, 0)[1] == 0
"""
    done = run(program, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(lines(path)) == 35


def test_a_multiprocessing_child_flushes_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    program = """
import multiprocessing
children = [multiprocessing.get_context("fork").Process(target=get, args=(15,)) for _ in range(2)]
get(1)
for child in children: child.start()
for child in children: child.join()
assert [child.exitcode for child in children] == [0, 0]
"""
    done = run(program, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(lines(path)) == 31


def test_a_killed_process_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    program = "sampler.flush(1)\nprint('up', flush=True)\nwhile True: get(10)"
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + program, str(path)], stdout=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    process.stdout.readline()
    while not path.exists() or path.stat().st_size < 20_000:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert path.read_bytes().endswith(b"\n")
    assert len(lines(path)) > 20


def test_a_file_is_renamed_when_it_is_large_and_old_ones_go(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "log"
    sink = FileSink(str(path), max_bytes=28, max_age_seconds=1e9, backups=2)
    for number in range(10):
        sink.write(f"line {number} of ten\n".encode())
    sink.close()
    assert sorted(found.name for found in path.parent.iterdir()) == ["log", "log.1", "log.2"]
    kept = [number for name in ("log.2", "log.1", "log") for number in (path.parent / name).read_text().split()[1::4]]
    assert kept == ["4", "5", "6", "7", "8", "9"]


def test_a_file_is_renamed_when_its_first_record_is_old(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"v":1,"time":"2020-01-01T00:00:00.000Z"}\n')
    sink = FileSink(str(path), max_bytes=1_000_000, max_age_seconds=3600, backups=1)
    sink.write(b"new\n")
    sink.close()
    assert path.read_text() == "new\n"
    assert (tmp_path / "log.1").read_text().startswith('{"v":1,"time":"2020')


def test_a_file_that_was_moved_away_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    sink = FileSink(str(path), 1_000_000, 1e9, 1)
    sink.write(b"one\n")
    path.rename(tmp_path / "moved")
    sink.write(b"two\n")
    sink.close()
    assert (path.read_text(), (tmp_path / "moved").read_text()) == ("two\n", "one\n")


@pytest.mark.parametrize("is_made_anew", [False, True])
def test_a_file_that_another_process_renames_while_it_is_opened_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_made_anew: bool
) -> None:
    path = tmp_path / "log"
    path.write_text("theirs\n")
    real = os.open

    def opened(name: str, *options: Any) -> int:
        fd = real(name, *options)
        monkeypatch.setattr(os, "open", real)
        path.rename(tmp_path / "log.1")
        if is_made_anew:
            path.touch()
        return fd

    monkeypatch.setattr(os, "open", opened)
    sink = FileSink(str(path), 1_000_000, 1e9, 1)
    sink.write(b"ours\n")
    sink.close()
    assert (path.read_text(), (tmp_path / "log.1").read_text()) == ("ours\n", "theirs\n")


def test_processes_share_a_file_and_rotate_it_without_a_torn_or_lost_line(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    program = f"import sys; sys.path[:0] = {sys.path!r}\n"
    program += "from dynascope_sampler.sinks import FileSink\n"
    program += "sink = FileSink(sys.argv[1], 4_000, 1e9, 200)\n"
    program += "for _ in range(200): sink.write((sys.argv[2] * 99 + '\\n').encode())\n"
    processes = [subprocess.Popen([sys.executable, "-c", program, path, letter]) for letter in "abc"]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    found = [line for file in tmp_path.iterdir() for line in file.read_text().splitlines()]
    assert sorted(found) == [letter * 99 for letter in "abc" for _ in range(200)]


def test_standard_output_gets_lines_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNASCOPE_SINK", raising=False)
    open_sink(None, 1, 1, 1).write(b"{}\n")
    assert capsys.readouterr().out == "{}\n"


def test_a_torn_line_is_ended_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    sink = FileSink(str(path), 1_000_000, 1e9, 1)
    real = os.write
    monkeypatch.setattr(
        os, "write", lambda fd, block: real(fd, block[:3]) if b"full" in block and len(block) > 9 else fail()
    )
    with pytest.raises(OSError, match="full"):
        sink.write(b"a full disk\n")
    monkeypatch.setattr(os, "write", real)
    sink.write(b"next\n")
    sink.close()
    assert path.read_text() == "a f\nnext\n"


def fail() -> int:
    raise OSError("full")


def test_times_are_rfc_3339_with_milliseconds() -> None:
    assert format_time(0.0625) == "1970-01-01T00:00:00.062Z"
    assert format_time(1796034926.5) == "2026-11-30T10:35:26.500Z"


def counters(block: bytes, name: str) -> list[int]:
    return [line["count"] for line in map(json.loads, block.splitlines()) if line.get("counter") == name]


def test_losses_are_told_when_the_sink_is_well_again() -> None:
    sink = Broken()
    queue = writer(sink)
    for number in range(5):
        queue.put(number, CERTAIN, 0, always=False)
        queue.skip()
        assert queue.flush(10)
    sink.mended = True
    assert queue.close(10)
    assert (counters(sink.written, "dropped"), counters(sink.written, "unsampled")) == ([5], [5])


def test_whole_lines_before_a_full_disk_are_written_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    real = os.write
    rooms = [20]

    def write(fd: int, block: bytes) -> int:
        room = rooms.pop() if rooms else 0
        return real(fd, block[:room]) if room else fail()

    queue = writer(FileSink(str(path), 1_000_000, 1e9, 1))
    for number in range(4):
        queue.put(number, CERTAIN, 0, always=False)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        queue._drain()
    assert path.read_bytes() == b'{"v":1,"n":0}\n{"v":1'
    assert (queue.written, queue.lost) == (1, 3)
    queue.close(10)


def test_a_torn_line_of_another_process_is_ended_first(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"whole":1}\n{"torn')
    sink = FileSink(str(path), 1_000_000, 1e9, 1)
    sink.write(b"next\n")
    sink.write(b"last\n")
    sink.close()
    assert path.read_text() == '{"whole":1}\n{"torn\nnext\nlast\n'


@pytest.mark.parametrize("failure", [SystemExit, asyncio.CancelledError, GeneratorExit])
def test_no_exception_of_a_sink_ends_the_writer(failure: type[BaseException]) -> None:
    taken: list[bytes] = []

    def take(block: bytes) -> None:
        taken.append(block)
        if len(taken) == 1:
            raise failure

    queue = writer(open_sink(take, 1, 1, 1))
    for number in range(2):
        queue.put(number, CERTAIN, 0, always=False)
        assert queue.flush(10)
    assert queue.close(10)
    assert (queue.written, queue.lost, queue.write_failures) == (1, 1, 1)


def test_a_dead_thread_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    queue = writer(open_sink(written.append, 1, 1, 1))
    monkeypatch.setattr(queue, "_wake", None)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    queue.put(0, CERTAIN, 0, always=False)
    for thread in threading.enumerate():
        if thread is queue._thread:
            thread.join(10)
    assert queue._thread is None
    monkeypatch.setattr(queue, "_wake", threading.Event())
    queue.put(1, CERTAIN, 0, always=False)
    assert queue.close(10)
    assert queue.written == 2


def test_a_clock_that_jumps_back_gives_no_interval_that_ends_before_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    queue = writer(open_sink(written.append, 1, 1, 1))
    queue.skip()
    now = time.time() - 3600
    monkeypatch.setattr(time, "time", lambda: now)
    assert queue.close(10)
    (line,) = map(json.loads, b"".join(written).splitlines())
    assert line["start"] <= line["end"]


def test_the_thread_ends_when_the_session_is_gone(dynamodb: StubDynamoDB) -> None:
    def use() -> Any:
        log = Log(dynamodb.url)
        log.start(sink=[].append).get_item(TableName="cases", Key=CASE)
        assert log.sampler is not None
        return log.sampler._writer._thread

    thread = use()
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
