from __future__ import annotations

import gzip
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.batch import Position

Append = Callable[[Path, str], None]
Readers = Callable[..., Any]


def rotate(log: Path, keep: int = 9) -> None:
    for number in range(keep, 0, -1):
        old = log.with_name(f"{log.name}.{number}")
        if old.exists():
            old.rename(log.with_name(f"{log.name}.{number + 1}"))
    log.rename(log.with_name(f"{log.name}.1"))


def test_lines_are_read_once_as_they_are_written(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\nb\n")
    tail = reader(str(log))
    assert tail.read() == ["a", "b"]
    assert tail.read() == []
    append(log, "c\n")
    assert tail.read() == ["c"]


def test_an_unfinished_line_waits_for_its_end(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\nhal")
    tail = reader(str(log))
    assert tail.read() == ["a"]
    assert tail.stream.status().pending_bytes == 3
    append(log, "f\n")
    assert tail.read() == ["half"]


def test_a_file_may_appear_later(log: Path, append: Append, reader: Readers) -> None:
    tail = reader(str(log))
    assert tail.read() == []
    assert tail.stream.status().missing == (log.name,)
    append(log, "a\n")
    assert tail.read() == ["a"]
    assert tail.stream.status().missing == ()


def test_a_renamed_file_is_finished_before_the_new_one(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    tail = reader(str(log))
    assert tail.read() == ["a"]
    append(log, "b\n")
    rotate(log)
    append(log, "c\n")
    assert tail.read() == ["b", "c"]


def test_a_renamed_file_is_left_only_when_nobody_writes_to_it(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    tail = reader(str(log))
    assert tail.read() == ["a"]
    rotate(log)
    append(log, "c\n")
    old = log.with_name(f"{log.name}.1")
    tail.now = old.stat().st_mtime_ns // 1_000_000 + 500
    assert tail.read() == []
    append(old, "b\n")
    tail.now = old.stat().st_mtime_ns // 1_000_000 + 2000
    assert tail.read() == ["b", "c"]


def test_without_a_new_file_the_renamed_one_is_still_read(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    tail = reader(str(log))
    tail.read()
    rotate(log)
    append(log.with_name(f"{log.name}.1"), "b\n")
    assert tail.read() == ["b"]


def test_the_unfinished_end_of_a_rotated_file_is_a_line(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\ntorn")
    tail = reader(str(log))
    assert tail.read() == ["a"]
    rotate(log)
    append(log, "b\n")
    assert tail.read() == ["torn", "b"]


def test_files_rotated_while_the_daemon_was_down_come_oldest_first(log: Path, append: Append, reader: Readers) -> None:
    append(log, "old\n")
    rotate(log)
    append(log, "a\n")
    first = reader(str(log))
    assert first.read() == ["a"]
    append(log, "b\n")
    for line in "cde":
        rotate(log)
        append(log, f"{line}\n")
    second = reader(str(log), positions=first.checkpoint())
    assert second.read() == ["b", "c", "d", "e"]


def test_a_restart_amid_rotated_files_goes_on_from_there(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    first = reader(str(log))
    first.read()
    for line in "bcd":
        rotate(log)
        append(log, f"{line}\n")
    second = reader(str(log), positions=first.checkpoint())
    block = second.stream.next_block()
    assert block.lines == b"b\n"
    third = reader(str(log), positions=(block.position,))
    assert third.read() == ["c", "d"]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_file_compressed_while_the_daemon_was_down_goes_on_inside(
    log: Path, append: Append, reader: Readers, ending: str
) -> None:
    append(log, "a\n")
    first = reader(str(log))
    first.read()
    append(log, "b\n" * 3)
    content = log.read_bytes()
    stat = log.stat()
    log.unlink()
    packed = log.with_name(f"{log.name}.1{ending}")
    packed.write_bytes(gzip.compress(content) if ending == ".gz" else zstandard.compress(content))
    os.utime(packed, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    append(log, "c\n")
    assert reader(str(log), positions=first.checkpoint()).read() == ["b", "b", "b", "c"]


def test_a_file_compressed_after_it_was_read_is_not_read_again(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    tail = reader(str(log))
    tail.read()
    rotate(log)
    append(log, "b\n")
    assert tail.read() == ["b"]
    old = log.with_name(f"{log.name}.1")
    packed = log.with_name(f"{log.name}.2.gz")
    packed.write_bytes(gzip.compress(old.read_bytes()))
    old.unlink()
    rotate(log)
    append(log, "c\n")
    assert tail.read() == ["c"]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_file_that_is_being_compressed_is_not_read_again(
    log: Path, append: Append, reader: Readers, ending: str
) -> None:
    append(log, "".join(f"{random.Random(n).random()}\n" for n in range(20_000)))
    tail = reader(str(log))
    assert len(tail.read()) == 20_000
    rotate(log)
    old = log.with_name(f"{log.name}.1")
    pack = gzip.compress if ending == ".gz" else zstandard.compress
    whole = pack(old.read_bytes())
    packed = log.with_name(f"{log.name}.1{ending}")
    packed.write_bytes(whole[: len(whole) // 2])
    append(log, "c\n")
    assert tail.read() == ["c"]
    packed.write_bytes(whole)
    old.unlink()
    rotate(log)
    append(log, "d\n")
    assert tail.read() == ["d"]
    assert tail.stream.status().damaged == 0


def test_nor_one_that_was_compressed_after_it_was_read(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    rotate(log)
    append(log, "b\n")
    tail = reader(str(log))
    assert tail.read() == ["b"]
    rotate(log)
    for number in (2, 1):
        old = log.with_name(f"{log.name}.{number}")
        packed = log.with_name(f"{log.name}.{number}.gz")
        packed.write_bytes(gzip.compress(old.read_bytes()))
        os.utime(packed, ns=(old.stat().st_mtime_ns + 5_000_000_000,) * 2)  # not all keep the time
        old.unlink()
    append(log, "c\n")
    assert tail.read() == ["c"]


def test_a_long_line_is_looked_through_by_and_by(log: Path, append: Append, reader: Readers) -> None:
    append(log, "x" * 10_000)
    stream = reader(str(log), block_bytes=64, longest_line_bytes=100).stream
    assert [block and (block.lines, block.position.offset) for block in (stream.next_block(), stream.next_block())] == [
        (b"", 0),
        (b"", 0),
    ]
    assert stream.next_block() is None


def test_so_is_a_compressed_file_up_to_where_it_was_left(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n" * 9_000_000)
    tail = reader(str(log))
    while tail.stream.next_block() is not None:
        pass
    (position,) = tail.stream.begin()
    append(log, "b\n")
    log.with_name(f"{log.name}.1.gz").write_bytes(gzip.compress(log.read_bytes(), 1))
    log.unlink()
    append(log, "c\n")
    stream = reader(str(log), positions=(position,)).stream
    first = stream.next_block()
    assert (first.lines, first.position.offset) == (b"", position.offset)
    assert stream.next_block().lines == b"b\n"
    stream.close()


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_torn_compressed_file_is_read_as_far_as_it_goes(
    log: Path, append: Append, reader: Readers, ending: str
) -> None:
    lines = "".join(f"{random.Random(n).random()}\n" for n in range(50_000))
    append(log, lines)
    first = reader(str(log))
    first.stream.next_block()
    start = Position(str(log), log.stat().st_ino, 0, "4:aaaa")
    packed = log.with_name(f"{log.name}.1{ending}")
    pack = gzip.compress if ending == ".gz" else zstandard.compress
    packed.write_bytes(pack(lines.encode())[:-20_000])
    log.unlink()
    append(log, "c\n")
    tail = reader(str(log), positions=(start,))
    read = tail.read()
    assert read[-1] == "c"
    assert read[:1000] == lines.splitlines()[:1000]
    assert tail.stream.status().damaged == 1


def test_a_cut_file_is_read_from_its_beginning(log: Path, append: Append, reader: Readers) -> None:
    append(log, "aaaa\nbbbb\n")
    tail = reader(str(log))
    tail.read()
    log.write_text("c\n")
    assert tail.read() == ["c"]
    assert tail.stream.status().truncated == 1


def test_a_file_cut_and_grown_beyond_its_old_length_is_seen(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    tail = reader(str(log))
    tail.read()
    log.write_text("cc\ndd\n")
    assert tail.read() == ["cc", "dd"]


def test_a_copied_and_cut_file_is_finished_in_its_copy(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    tail = reader(str(log))
    tail.read()
    append(log, "b\n")
    log.with_name(f"{log.name}.1").write_bytes(log.read_bytes())
    log.write_text("c\n")
    assert tail.read() == ["b", "c"]


def test_a_new_file_that_got_the_old_inode_is_read_whole(log: Path, append: Append, reader: Readers) -> None:
    append(log, "new file\nsecond\n")
    stale = Position(str(log), log.stat().st_ino, 9, "9:0000", 1)
    assert reader(str(log), positions=(stale,)).read() == ["new file", "second"]


def test_a_file_gone_before_it_was_finished_is_said_to_be_lost(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    first = reader(str(log))
    first.read()
    inode = log.stat().st_ino
    log.rename(log.with_name("elsewhere"))
    append(log, "c\n")
    assert log.stat().st_ino != inode
    tail = reader(str(log), positions=first.checkpoint())
    assert tail.read() == ["c"]
    assert tail.stream.status().lost == 1


def test_a_file_that_began_and_was_rotated_since_the_checkpoint_is_read(
    log: Path, append: Append, reader: Readers
) -> None:
    append(log, "a\n")
    rotate(log)
    append(log, "b\n")
    since = log.stat().st_mtime_ns // 1_000_000
    assert reader(str(log), since=since).read() == ["a", "b"]
    assert reader(str(log), since=since + 60_000).read() == ["b"]
    assert reader(str(log), since=since).stream.status().lost == 0


def test_a_position_before_the_first_block_is_kept(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    begun = reader(str(log)).stream.begin()
    rotate(log)
    append(log, "b\n")
    assert [position.offset for position in begun] == [0]
    assert reader(str(log), positions=begun).read() == ["a", "b"]


def test_a_line_of_50_megabytes_is_passed_over_and_counted(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n" + "x" * 50_000_000 + "\nb\n")
    tail = reader(str(log))
    assert tail.read() == ["a", "b"]
    assert tail.overlong == 1


def test_an_overlong_line_still_being_written_is_counted_once(log: Path, append: Append, reader: Readers) -> None:
    tail = reader(str(log), block_bytes=64, longest_line_bytes=100)
    for _ in range(5):
        append(log, "x" * 90)
        assert tail.read() == []
    append(log, "\nb\n")
    assert tail.read() == ["b"]
    assert tail.overlong == 1


def test_a_line_longer_than_a_block_is_read(log: Path, append: Append, reader: Readers) -> None:
    append(log, "x" * 90 + "\n" + "b\n")
    assert reader(str(log), block_bytes=64, longest_line_bytes=100).read() == ["x" * 90, "b"]


def test_a_restart_inside_an_overlong_line_counts_it_once(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n" + "x" * 200)
    first = reader(str(log), block_bytes=64, longest_line_bytes=100)
    assert first.read() == ["a"]
    append(log, "x" * 200 + "\nb\n")
    second = reader(str(log), positions=first.checkpoint(), block_bytes=64, longest_line_bytes=100)
    assert second.read() == ["b"]
    assert second.overlong == 1


def test_a_glob_takes_new_files_and_leaves_rotated_ones(tmp_path: Path, append: Append, reader: Readers) -> None:
    tail = reader(str(tmp_path / "app*"))
    append(tmp_path / "app.jsonl", "a\n")
    append(tmp_path / "app.jsonl.1", "rotated\n")
    append(tmp_path / "app-worker.jsonl", "w\n")
    (tmp_path / "app-folder").mkdir()
    assert sorted(tail.read()) == ["a", "w"]
    append(tmp_path / "app-other.jsonl", "o\n")
    assert tail.read() == ["o"]


def test_more_files_than_the_bound_are_counted(tmp_path: Path, append: Append, reader: Readers) -> None:
    for name in "abc":
        append(tmp_path / f"{name}.jsonl", f"{name}\n")
    tail = reader(str(tmp_path / "*.jsonl"), most_files=2)
    assert tail.read() == ["a", "b"]
    assert tail.stream.status().skipped == 1


def test_a_deleted_file_of_a_glob_is_let_go(tmp_path: Path, append: Append, reader: Readers) -> None:
    append(tmp_path / "a.jsonl", "a\n")
    tail = reader(str(tmp_path / "*.jsonl"))
    tail.read()
    assert tail.stream.paths() == {str(tmp_path / "a.jsonl")}
    (tmp_path / "a.jsonl").unlink()
    tail.read()
    assert tail.stream.paths() == frozenset()


def test_files_take_turns(tmp_path: Path, append: Append, reader: Readers) -> None:
    append(tmp_path / "a", "1\n2\n3\n")
    append(tmp_path / "b", "1\n2\n3\n")
    tail = reader(str(tmp_path / "a"), str(tmp_path / "b"), block_bytes=2)
    tail.read()
    assert [Path(block.position.path).name for block in tail.blocks] == ["a", "b"] * 3


def test_a_pipe_is_no_log(log: Path, reader: Readers) -> None:
    os.mkfifo(log)
    assert reader(str(log)).read() == []


async def test_a_stopped_stream_ends_after_what_is_there(log: Path, append: Append, reader: Readers) -> None:
    append(log, "a\n")
    stream = reader(str(log)).stream
    stream.stop()
    assert [block.lines async for block in stream.blocks()] == [b"a\n"]
    stream.close()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["write", "half", "rotate", "read", "restart"]), max_size=40), st.integers(2, 40))
def test_every_line_is_read_once_in_order_through_rotations_and_restarts(steps: list[str], block_bytes: int) -> None:
    import tempfile  # noqa: PLC0415 -- a folder for each example

    from tests.collectors.conftest import Reader  # noqa: PLC0415 -- same

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        written: list[str] = []
        read: list[str] = []
        tail = Reader(str(log), block_bytes=block_bytes)
        is_open = False
        for step in [*steps, "write", "restart", "read"]:
            if step in ("write", "half"):
                text = f"line-{len(written)}"
                with log.open("a") as file:
                    file.write(text + ("\n" if step == "write" else ""))
                if is_open:
                    written[-1] += text
                else:
                    written.append(text)
                is_open = step == "half"
            elif step == "rotate" and log.exists():
                if not tail.positions:
                    read += tail.read()  # without a checkpoint only the live file is read
                if tail.positions:
                    rotate(log, keep=40)
                    is_open = False
            elif step == "read":
                read += tail.read()
            elif step == "restart":
                tail.stream.close()
                tail = Reader(str(log), positions=tail.checkpoint(), block_bytes=block_bytes)
        tail.stream.close()
        assert read == written


def test_what_has_the_name_of_a_log_and_is_none_is_a_gap(log: Path, append: Append, reader: Readers) -> None:
    log.mkdir()
    tail = reader(str(log))
    assert tail.read() == []
    assert [gap.detail for gap in tail.stream.status().gaps] == [f"{log.name} cannot be read"]
    log.rmdir()
    append(log, "a\n")
    assert tail.read() == ["a"]
    assert tail.stream.status().gaps == ()
