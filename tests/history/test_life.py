from __future__ import annotations

import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.history.life import FILE_NAME, LifeError, LifeFile, NewerLifeError
from analyzer.history.life_schema import SCHEMA
from analyzer.model.finding import Direction, Finding, Severity, Status
from analyzer.model.life import Snooze
from tests.exporters.conftest import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = 1_800_000_000_000
DAY = 86_400_000
KEY = "CASE#canary-4711"
SNOOZE = Snooze(id="abc", until=NOW + DAY, reason="sharding ships in Q1", who="ada", at=NOW)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / FILE_NAME


@pytest.fixture
def life(place: Path) -> Iterator[LifeFile]:
    one = LifeFile.open(place)
    yield one
    one.close()


def seen(at: int = NOW, first: int = NOW, **fields: Any) -> Finding:
    return finding(**{"status": Status.ONGOING, "first_seen": first, "last_seen": at, **fields})


def closed(at: int = NOW, **fields: Any) -> Finding:
    return seen(at, status=Status.CLOSED, **fields)


def test_a_life_has_its_place_and_facts_and_of_a_key_the_template_alone(life: LifeFile, place: Path) -> None:
    facts: dict[str, Any] = {"pattern": "load-case", "fingerprint": "f00", "index": "GSI1", "direction": Direction.READ}
    life.note([seen(account="111122223333", region="us-east-1", **facts)], NOW)
    (one,) = life.lives()
    assert (one.id, one.detector, one.table, one.index, one.pattern) == ("abc", "hot-key", "cases", "GSI1", "load-case")
    assert (one.key_template, one.direction, one.cause) == ({"PK": "CASE#<id>"}, Direction.READ, "single-item")
    files = b"".join(path.read_bytes() for path in place.parent.iterdir())
    assert KEY.encode() not in files


def test_first_and_last_seen_and_severity_over_time_are_kept(life: LifeFile) -> None:
    life.note([seen()], NOW)
    life.note([seen(NOW + 10, severity=Severity.CRITICAL)], NOW + 10)
    life.note([seen(NOW + 20, severity=Severity.CRITICAL)], NOW + 20)
    life.note([seen(NOW + 30, severity=Severity.MEDIUM)], NOW + 30)
    (one,) = life.lives()
    assert (one.first_seen, one.last_seen, one.severity, one.status) == (NOW, NOW + 30, Severity.MEDIUM, Status.ONGOING)
    assert one.severities == ((NOW, Severity.HIGH), (NOW + 10, Severity.CRITICAL), (NOW + 30, Severity.MEDIUM))


def test_what_closes_says_when_and_what_opens_anew_goes_on(life: LifeFile) -> None:
    life.note([seen()], NOW)
    life.note([closed()], NOW + 40)
    life.note([closed()], NOW + 50)
    (one,) = life.lives()
    assert (one.status, one.closed_at, one.times) == (Status.CLOSED, NOW + 40, 1)
    life.note([seen(NOW + DAY, first=NOW + DAY)], NOW + DAY)
    (one,) = life.lives()
    assert (one.first_seen, one.opened_at, one.closed_at, one.times) == (NOW, NOW + DAY, None, 2)
    assert [at for at, _ in one.severities] == [NOW, NOW + DAY]


def test_what_is_open_and_nobody_knows_any_more_has_closed(life: LifeFile) -> None:
    life.note([seen(), seen(id="def")], NOW)
    life.note([seen(NOW + 10)], NOW + 10)
    by_id = {one.id: one for one in life.lives()}
    assert (by_id["abc"].closed_at, by_id["def"].closed_at, by_id["def"].status) == (None, NOW + 10, Status.CLOSED)


def test_a_finding_without_times_was_seen_now(life: LifeFile) -> None:
    life.note([finding(), finding(id="def", status=Status.CLOSED)], NOW)
    assert [(one.first_seen, one.last_seen) for one in life.lives()] == [(NOW, NOW), (NOW, NOW)]


def test_closed_lives_are_kept_for_ninety_days(life: LifeFile) -> None:
    life.note([closed()], NOW)
    life.note([], NOW + 90 * DAY)
    assert len(life.lives()) == 1
    life.note([], NOW + 90 * DAY + 3_600_000)
    assert life.lives() == ()


def test_of_too_many_lives_those_that_closed_first_go(life: LifeFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.history.life._MOST_LIVES", 3)
    for number in range(4):
        life.note([closed(id=f"old{number}")], NOW + number)
    life.note([seen(id="open")], NOW + DAY)
    assert {one.id for one in life.lives()} == {"old2", "old3", "open"}


def test_of_a_severity_that_wavers_the_last_changes_are_kept(life: LifeFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.history.life._MOST_SEVERITIES", 2)
    for number in range(5):
        life.note([seen(NOW + number, severity=(Severity.HIGH, Severity.LOW)[number % 2])], NOW + number)
    (one,) = life.lives()
    assert [at for at, _ in one.severities] == [NOW + 3, NOW + 4]


def test_nothing_is_written_where_nothing_is_found(life: LifeFile, place: Path) -> None:
    life.note([], NOW)
    before = [path.stat().st_mtime_ns for path in sorted(place.parent.iterdir())]
    life.note([], NOW + 10)
    assert [path.stat().st_mtime_ns for path in sorted(place.parent.iterdir())] == before


def test_a_snooze_stands_until_its_end_or_until_it_is_ended(life: LifeFile) -> None:
    life.snooze(SNOOZE)
    assert life.snoozes(NOW) == (SNOOZE,)
    assert life.snoozes(SNOOZE.until) == ()
    assert (life.end("abc"), life.end("abc"), life.snoozes(NOW)) == (True, False, ())


def test_a_later_snooze_of_a_finding_takes_the_place_of_the_earlier(life: LifeFile) -> None:
    later = Snooze(id="abc", until=NOW + 2 * DAY, reason="one week more", at=NOW + 1)
    life.snooze(SNOOZE)
    life.snooze(later)
    assert life.snoozes(NOW) == (later,)


def test_snoozes_that_ended_long_ago_are_forgotten(life: LifeFile) -> None:
    life.snooze(SNOOZE)
    life.note([], SNOOZE.until + 91 * DAY)
    assert life.snoozes(0) == ()


def test_an_install_begins_once(place: Path) -> None:
    first = LifeFile.open(place)
    assert first.begin(NOW) == NOW
    first.close()
    second = LifeFile.open(place)
    assert second.begin(NOW + DAY) == NOW
    second.close()


def test_two_have_it_open_and_see_what_the_other_wrote(life: LifeFile, place: Path) -> None:
    other = LifeFile.open(place)
    other.snooze(SNOOZE)
    assert life.snoozes(NOW) == (SNOOZE,)
    other.close()


def test_nobody_else_may_read_it(life: LifeFile, place: Path) -> None:
    life.snooze(SNOOZE)
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.parent.iterdir()} == {0o600}


def test_a_newer_file_is_refused_by_name_and_left_alone(place: Path) -> None:
    LifeFile.open(place).close()
    with sqlite3.connect(place) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    before = place.read_bytes()
    with pytest.raises(NewerLifeError, match=f"{FILE_NAME} has schema {SCHEMA + 1}, this version reads up to {SCHEMA}"):
        LifeFile.open(place)
    assert place.read_bytes() == before


def test_an_older_file_is_brought_up_and_keeps_what_it_held(place: Path) -> None:
    shutil.copy(Path(__file__).parents[1] / "compatibility/life-v1.sqlite", place)
    life = LifeFile.open(place)
    by_id = {one.id: one for one in life.lives()}
    hot, scan = by_id["0123456789ab"], by_id["ba9876543210"]
    assert (hot.key_template, hot.opened_at, hot.times, hot.closed_at) == ({"PK": "CASE#<id>"}, hot.first_seen, 1, None)
    assert [severity for _, severity in hot.severities] == [Severity.HIGH, Severity.CRITICAL]
    assert (scan.status, scan.closed_at) == (Status.CLOSED, 1_790_000_060_000)
    assert life.begin(NOW) == 1_780_000_000_000
    life.snooze(SNOOZE)
    life.close()
    again = LifeFile.open(place)
    assert again.snoozes(NOW) == (SNOOZE,)
    again.close()


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to look like something" * 20, b"\x00" * 5000]
)
def test_what_is_no_such_file_is_set_aside(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    life = LifeFile.open(place)
    assert life.torn is not None
    assert life.lives() == ()
    assert place.with_name(f"{FILE_NAME}.corrupt").read_bytes() == content
    life.close()


def test_a_file_of_another_program_is_set_aside(place: Path) -> None:
    with sqlite3.connect(place) as database:
        database.execute("PRAGMA user_version = 1")
    life = LifeFile.open(place)
    assert life.torn == "it is of another program"
    life.close()


def test_what_cannot_be_set_aside_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    place.write_bytes(b"no database" * 200)
    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(LifeError, match=r"cannot set .* aside: Permission denied"):
        LifeFile.open(place)


def test_a_disk_that_fills_up_in_the_middle_changes_nothing(life: LifeFile) -> None:
    life.snooze(SNOOZE)
    life._database.execute("PRAGMA max_page_count = 1")  # no more than there is
    with pytest.raises(LifeError, match=r"cannot write .*full"):
        life.note([seen(id=f"{number:012x}") for number in range(5000)], NOW)
    assert (life.lives(), life.snoozes(NOW)) == ((), (SNOOZE,))


def test_a_disk_that_is_full_is_named_whatever_the_database_says_of_it(
    place: Path, life: LifeFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("analyzer.history.life._prepare", fail)
    with pytest.raises(LifeError, match=r"cannot open .*: disk I/O error$"):
        LifeFile.open(place)
    full = shutil.disk_usage(place.parent)._replace(free=4096)
    monkeypatch.setattr("shutil.disk_usage", lambda _: full)
    with pytest.raises(LifeError, match=r"cannot open .*: the disk is full \(disk I/O error\); free some space"):
        LifeFile.open(place)
    with pytest.raises(LifeError, match=r"cannot write .*the disk is full"):
        life.note([seen(table=None)], NOW)


def test_what_cannot_be_kept_changes_nothing(life: LifeFile) -> None:
    with pytest.raises(LifeError, match=r"cannot write .*NOT NULL"):
        life.note([seen(), seen(id="def", table=None)], NOW)
    life.note([seen(id="ghi")], NOW)
    assert [one.id for one in life.lives()] == ["ghi"]


@pytest.mark.parametrize(("first", "content"), [(8192, b"\xff" * 32_768), (36, b"\x00\x00\x00\x09")])
def test_a_damaged_file_is_set_aside(place: Path, first: int, content: bytes) -> None:
    life = LifeFile.open(place)
    life.note([seen(id=f"{number:012x}") for number in range(400)], NOW)
    life.close()
    whole = bytearray(place.read_bytes())
    whole[first : first + len(content)] = content
    place.write_bytes(whole)
    again = LifeFile.open(place)
    assert again.torn is not None
    again.close()


def test_what_cannot_be_opened_is_said(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(LifeError, match="Is a directory"):
        LifeFile.open(tmp_path / FILE_NAME)
    with pytest.raises(LifeError, match="No such file"):
        LifeFile.open(tmp_path / "nowhere" / FILE_NAME)
    with pytest.raises(LifeError, match="it is no file"):
        LifeFile.open(Path("/dev/null"))


def test_a_file_that_another_holds_for_too_long_is_left_as_it_is(
    life: LifeFile, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyzer.history.life._WAIT_SECONDS", 0.0)
    hasty = LifeFile.open(place)
    with sqlite3.connect(place, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LifeError, match=r"cannot write .*locked"):
            hasty.snooze(SNOOZE)
        with pytest.raises(LifeError, match=r"cannot open .*locked"):
            LifeFile.open(place)
        other.execute("ROLLBACK")
    hasty.snooze(SNOOZE)
    hasty.close()
    assert life.snoozes(NOW) == (SNOOZE,)


def test_one_that_is_closed_gives_nothing(place: Path) -> None:
    life = LifeFile.open(place)
    life.close()
    with pytest.raises(LifeError, match="cannot read"):
        life.lives()
    with pytest.raises(LifeError, match="cannot write"):
        life.snooze(SNOOZE)


def test_what_was_written_is_there_after_a_kill_at_any_moment(place: Path) -> None:
    program = f"""
import itertools, sys
from pathlib import Path
from analyzer.history.life import LifeFile
from analyzer.model.life import Snooze
life = LifeFile.open(Path({str(place)!r}))
for number in itertools.count():
    life.snooze(Snooze(id=f"{{number}}", until=2**50, reason="x", at=number))
    print(number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == 20:
                writer.send_signal(signal.SIGKILL)
                break
        told = [int(line) for line in writer.stdout if line.endswith("\n")]
    last = max([20, *told])
    life = LifeFile.open(place)
    kept = {int(one.id) for one in life.snoozes(0)}
    assert set(range(last + 1)) <= kept
    assert life.torn is None
    life.close()
