"""The schema of the file of lives, step by step: what a new file is made of is what an older one goes through."""

from __future__ import annotations

__all__ = ["APPLICATION", "SCHEMA", "STEPS"]

APPLICATION = 0x44596E73
"""Tells the file from other programs' (SQLite's application_id): `DYns`."""

_LIVES = (
    """
    CREATE TABLE finding (
        id TEXT PRIMARY KEY, detector TEXT NOT NULL, account TEXT, region TEXT, "table" TEXT NOT NULL, "index" TEXT,
        pattern TEXT, fingerprint TEXT, cause TEXT, direction TEXT, key_template TEXT,
        status TEXT NOT NULL, severity TEXT NOT NULL,
        first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, closed_at INTEGER
    )
    """,
    "CREATE INDEX finding_closed ON finding (closed_at)",
    """
    CREATE TABLE severity (
        id TEXT NOT NULL REFERENCES finding (id) ON DELETE CASCADE,
        at INTEGER NOT NULL, severity TEXT NOT NULL, PRIMARY KEY (id, at)
    )
    """,
    "CREATE TABLE mark (name TEXT PRIMARY KEY, value INTEGER NOT NULL)",
)
_SNOOZES = (
    """
    CREATE TABLE snooze (
        id TEXT PRIMARY KEY, until INTEGER NOT NULL, reason TEXT NOT NULL, who TEXT, at INTEGER NOT NULL
    )
    """,
    "ALTER TABLE finding ADD COLUMN opened_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE finding ADD COLUMN times INTEGER NOT NULL DEFAULT 1",
    "UPDATE finding SET opened_at = first_seen",
)

STEPS: tuple[tuple[str, ...], ...] = (_LIVES, _SNOOZES)
"""Step n makes schema n + 1 of schema n; none is ever changed."""

SCHEMA = len(STEPS)
"""Version of the file; an older one is brought up, a newer one is refused."""
