"""The lives of findings and what people said of them, in one SQLite file: it stores, it does not judge.

Every write is one transaction, on disk before it returns: whoever is killed at any moment leaves the file whole. Two
processes may have it open, a daemon and a command. Keys are never in it, not even as tokens: of a key the template.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.errors import DynascopeError
from analyzer.history.life_schema import APPLICATION, SCHEMA, STEPS
from analyzer.model.finding import Status
from analyzer.model.life import Life, Snooze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Self

    from analyzer.model.finding import Finding
    from analyzer.model.instant import Instant

__all__ = ["FILE_NAME", "LOST_HINT", "LifeError", "LifeFile", "NewerLifeError", "lost_snoozes"]

FILE_NAME = "life.sqlite"
_CORRUPT = ".corrupt"
LOST_HINT = "snooze anew what is still known, then remove that file"
_LEAST_FREE = 64 * 1024
"""Bytes below which no page and no journal beside it finds room."""
_BESIDE = ("", "-wal", "-shm")
"""The file, and what SQLite keeps beside it."""
_WAIT_SECONDS = 5.0
"""How long to wait for another process that writes; a write takes milliseconds."""
_KEPT_MS = 90 * 86_400_000
_MOST_LIVES = 10_000
_MOST_SEVERITIES = 100
"""Changes of severity kept of one finding; one that wavers for months says no more with the thousandth."""
_TIDY_EVERY_MS = 3_600_000


class LifeError(DynascopeError):
    """The file could not be read or written."""


class NewerLifeError(LifeError):
    """The file was written by a newer version."""


class LifeFile:
    """The file, open; `torn` says why an earlier one was set aside. May be used from several threads."""

    def __init__(self, database: sqlite3.Connection, path: Path, torn: str | None = None) -> None:
        self.path = path
        self.torn = torn
        self._database = database
        self._lock = threading.Lock()
        self._tidied: Instant | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the file, and bring an older one to the present schema; one that is no such file is set aside.

        Raises NewerLifeError for a newer one, and LifeError where it cannot be opened.
        """
        try:
            return cls(_connect(path), path)
        except sqlite3.OperationalError as error:
            raise LifeError(f"cannot open {path}: {_because(error, path)}") from None
        except sqlite3.DatabaseError as error:  # not a database, or one that is damaged
            torn = str(error)
        try:
            _set_aside(path)
        except OSError as error:
            raise LifeError(f"cannot set {path} aside: {error.strerror}; mend its permissions") from None
        return cls(_connect(path), path, torn)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Give the database for one transaction; raises LifeError, and then nothing has changed."""
        with self._lock:
            try:
                with _transaction(self._database):
                    yield self._database
            except sqlite3.Error as error:
                raise LifeError(f"cannot write {self.path}: {_because(error, self.path)}") from None

    def _asked(self, question: str, *values: object) -> list[Any]:
        with self._lock:
            try:
                return self._database.execute(question, values).fetchall()
            except sqlite3.Error as error:
                raise LifeError(f"cannot read {self.path}: {error}") from None

    def begin(self, at: Instant) -> Instant:
        """Return when this install began: what was noted first."""
        with self._changing() as database:
            database.execute("INSERT OR IGNORE INTO mark (name, value) VALUES ('began', ?)", (at,))
        ((began,),) = self._asked("SELECT value FROM mark WHERE name = 'began'")
        return int(began)

    def note(self, findings: Iterable[Finding], at: Instant) -> None:
        """Carry on the lives of all findings that there are now; what is open and not among them has closed."""
        alive = {finding.id: finding for finding in findings}
        gone = {
            identity for (identity,) in self._asked("SELECT id FROM finding WHERE closed_at IS NULL")
        } - alive.keys()
        is_time = self._tidied is None or at - self._tidied >= _TIDY_EVERY_MS or at < self._tidied
        if not alive and not gone and not is_time:
            return
        with self._changing() as database:
            for finding in alive.values():
                _note(database, finding, at)
            closing = "UPDATE finding SET status = 'closed', closed_at = ? WHERE id = ?"
            database.executemany(closing, [(at, identity) for identity in gone])
            if is_time:
                _tidy(database, at)
                self._tidied = at

    def snooze(self, snooze: Snooze) -> None:
        """Keep a snooze; it takes the place of one of the same finding."""
        with self._changing() as database:
            columns = "INSERT OR REPLACE INTO snooze (id, until, reason, who, at) VALUES (?, ?, ?, ?, ?)"
            database.execute(columns, (snooze.id, snooze.until, snooze.reason, snooze.who, snooze.at))

    def end(self, identity: str) -> bool:
        """End a snooze; return whether there was one."""
        with self._changing() as database:
            return database.execute("DELETE FROM snooze WHERE id = ?", (identity,)).rowcount > 0

    def snoozes(self, at: Instant) -> tuple[Snooze, ...]:
        """Return the snoozes that stand, the one that ends first before the others."""
        rows = self._asked("SELECT id, until, reason, who, at FROM snooze WHERE until > ? ORDER BY until, id", at)
        return tuple(Snooze(id=i, until=until, reason=reason, who=who, at=said) for i, until, reason, who, said in rows)

    def identities(self) -> tuple[str, ...]:
        """Return the ids of all findings that there are and were."""
        return tuple(identity for (identity,) in self._asked("SELECT id FROM finding ORDER BY id"))

    def listed(self, at: Instant) -> tuple[tuple[Snooze, Life | None], ...]:
        """Return the snoozes that stand, each with the life of its finding, where that is kept."""
        by_id = {life.id: life for life in self.lives()}
        return tuple((snooze, by_id.get(snooze.id)) for snooze in self.snoozes(at))

    def lives(self) -> tuple[Life, ...]:
        """Return every life that is kept, the one that was seen last before the others."""
        severities: dict[str, list[tuple[Instant, str]]] = {}
        for identity, at, severity in self._asked("SELECT id, at, severity FROM severity ORDER BY at"):
            severities.setdefault(identity, []).append((at, severity))
        names = (*_FACTS, *_TIMES, "closed_at", "times")
        rows = self._asked(f"SELECT {', '.join(map(_column, names))} FROM finding ORDER BY last_seen DESC, id")  # noqa: S608 -- our own names
        return tuple(
            msgspec.convert(
                {**_told(dict(zip(names, row, strict=True))), "severities": severities.get(row[0], [])}, Life
            )
            for row in rows
        )


_FACTS = (
    "id",
    "detector",
    "account",
    "region",
    "table",
    "index",
    "pattern",
    "fingerprint",
    "cause",
    "direction",
    "key_template",
    "status",
    "severity",
)
_TIMES = ("first_seen", "opened_at", "last_seen")
_MARKS = ", ".join("?" for _ in (*_FACTS, *_TIMES))


def _column(name: str) -> str:
    return f'"{name}"'


_LATER = (
    "pattern",
    "fingerprint",
    "cause",
    "direction",
    "key_template",
    "status",
    "severity",
    "last_seen",
    "closed_at",
)
_INSERT = f"INSERT INTO finding ({', '.join(map(_column, (*_FACTS, *_TIMES)))}, closed_at) VALUES ({_MARKS}, ?)"  # noqa: S608 -- our own names
_KEEP = f"{_INSERT} ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _LATER)}"
_REOPEN = f"{_KEEP}, opened_at = excluded.opened_at, times = times + 1"


def lost_snoozes(path: Path) -> str | None:
    """Say that snoozes are lost where a damaged file lies set aside beside this one, whoever did it; None elsewhere.

    It is said until somebody removes what lies there: whoever set it aside may have been a command that nobody read.
    """
    aside = path.with_name(path.name + _CORRUPT)
    if not aside.exists():
        return None
    return f"snoozes are lost: {path.name} was damaged, and lies set aside as {aside}"


def _told(row: dict[str, Any]) -> dict[str, Any]:
    template = row["key_template"]
    return {**row, "key_template": None if template is None else msgspec.json.decode(template)}


def _note(database: sqlite3.Connection, finding: Finding, at: Instant) -> None:
    """Carry on one life; a severity is noted when it changes, and when the finding opens."""
    before = database.execute("SELECT severity, closed_at FROM finding WHERE id = ?", (finding.id,)).fetchone()
    is_closed = finding.status is Status.CLOSED
    reopens = before is not None and before[1] is not None and not is_closed
    first = finding.first_seen if finding.first_seen is not None else at
    last = finding.last_seen if finding.last_seen is not None else at
    facts = [_plain(getattr(finding, name)) for name in _FACTS]
    closed_at = None if not is_closed else at if before is None or before[1] is None else before[1]
    database.execute(_REOPEN if reopens else _KEEP, (*facts, first, first, last, closed_at))
    if before is None or reopens or before[0] != finding.severity.value:
        row = (finding.id, last, finding.severity.value)
        database.execute("INSERT OR REPLACE INTO severity (id, at, severity) VALUES (?, ?, ?)", row)
        newest = "SELECT at FROM severity WHERE id = ? ORDER BY at DESC LIMIT ?"
        too_many = f"DELETE FROM severity WHERE id = ? AND at NOT IN ({newest})"  # noqa: S608 -- our own words
        database.execute(too_many, (finding.id, finding.id, _MOST_SEVERITIES))


def _plain(value: object) -> object:
    """Return a value as SQLite keeps it; a template is JSON."""
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else value


def _tidy(database: sqlite3.Connection, at: Instant) -> None:
    """Forget what closed or ended long ago, and of too many lives those that closed first."""
    database.execute("DELETE FROM finding WHERE closed_at < ?", (at - _KEPT_MS,))
    database.execute("DELETE FROM snooze WHERE until < ?", (at - _KEPT_MS,))
    ((count,),) = database.execute("SELECT count(*) FROM finding")
    oldest = "SELECT id FROM finding ORDER BY closed_at IS NULL, coalesce(closed_at, last_seen) LIMIT ?"
    too_many = f"DELETE FROM finding WHERE id IN ({oldest})"  # noqa: S608 -- our own words
    database.execute(too_many, (max(0, count - _MOST_LIVES),))


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file, which nobody else may read, and bring it to the present schema."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600))
    except OSError as error:
        raise LifeError(f"cannot open {path}: {error.strerror}; mend that, or move it away to begin anew") from None
    if not path.is_file():
        raise LifeError(f"cannot open {path}: it is no file; move it away to begin anew")
    database = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        _prepare(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _because(error: sqlite3.Error, path: Path) -> str:
    """Say why, in SQLite's words; where the disk is full it may speak of an error of the disk instead."""
    with suppress(OSError):
        if shutil.disk_usage(path.parent).free < _LEAST_FREE:
            return f"the disk is full ({error}); free some space"
    return str(error)


def _set_aside(path: Path) -> None:
    for ending in _BESIDE:
        with suppress(FileNotFoundError):  # nothing may lie beside it
            path.with_name(path.name + ending).replace(path.with_name(path.name + ending + _CORRUPT))


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    ((schema,),) = database.execute("PRAGMA user_version")
    if schema > SCHEMA:
        raise NewerLifeError(
            f"{path} has schema {schema}, this version reads up to {SCHEMA}: "
            "run the newer version again, or move the file away to begin anew"
        )
    ((application,),) = database.execute("PRAGMA application_id")
    if schema and application != APPLICATION:
        raise sqlite3.DatabaseError("it is of another program")
    ((health,),) = database.execute("PRAGMA quick_check(1)")
    if health != "ok":
        raise sqlite3.DatabaseError(health)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    with _transaction(database):
        ((schema,),) = database.execute("PRAGMA user_version")  # another process may have been faster
        for step in STEPS[schema:]:
            for statement in step:
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {SCHEMA}")


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if database.in_transaction:  # a full disk has ended it already
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
