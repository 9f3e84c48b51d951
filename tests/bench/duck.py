"""The bench's question in SQL, by hand: requests by minute and pattern, and the keys with the most read units.

Run as `python -m tests.bench.duck FILE`; prints JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import duckdb

__all__ = ["ask"]

_PART = 'STRUCT("PK" STRUCT("S" VARCHAR, "N" VARCHAR, "B" VARCHAR), "SK" STRUCT("S" VARCHAR))'
_COLUMNS = {
    "time": "VARCHAR",
    "op": "VARCHAR",
    "table": "VARCHAR",
    "index": "VARCHAR",
    "key": _PART,
    "parts": f'STRUCT("key" {_PART})[]',
    "key_condition": "VARCHAR",
    "filter": "VARCHAR",
    "projection": "VARCHAR",
    "update": "VARCHAR",
    "condition": "VARCHAR",
    "values": "JSON",
    "consistent": "BOOLEAN",
    "caller": "VARCHAR",
    "consumed": 'STRUCT("read" DOUBLE)',
}

_PATTERNS = """
SELECT substr(time, 1, 16) AS minute, op, "table", coalesce("index", '') AS "index", count(*) AS requests
FROM log
GROUP BY minute, op, "table", "index", key_condition, filter, projection, "update", condition, consistent, caller,
         regexp_replace(coalesce("key"."SK"."S", ''), '#.*', ''), json_extract_string("values", '$.":k1".S')
"""

_KEYS = """
SELECT "table", coalesce(k."PK"."S", k."PK"."N", k."PK"."B") AS part, sum(consumed."read") AS units
FROM (SELECT "table", coalesce("key", parts[1]."key") AS k, consumed FROM log
      WHERE "index" IS NULL AND op IN ('GetItem', 'Query', 'BatchGetItem'))
WHERE part IS NOT NULL GROUP BY ALL ORDER BY units DESC LIMIT 20
"""


def ask(path: str) -> dict[str, Any]:
    """Return the counts as (operation, table, index) → minute → sorted counts, and the top keys."""
    connection = duckdb.connect()
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in _COLUMNS.items())
    read = f"read_json('{path}', format = 'newline_delimited', columns = {{{columns}}})"
    connection.execute(f"CREATE TEMP TABLE log AS SELECT * FROM {read}")
    counts: dict[str, dict[str, list[int]]] = {}
    for minute, op, table, index, requests in connection.execute(_PATTERNS).fetchall():
        counts.setdefault(f"{op} {table} {index}", {}).setdefault(minute, []).append(requests)
    for minutes in counts.values():
        for listed in minutes.values():
            listed.sort()
    keys = [[table, part, units] for table, part, units in connection.execute(_KEYS).fetchall()]
    return {"counts": counts, "keys": keys}


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1])))
