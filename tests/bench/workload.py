"""The bench's workload: ten tables, a hundred and twenty patterns, as templates that turn numbers into lines."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["KEYS", "SHARES", "TABLES", "Pattern", "line_templates", "patterns", "start_text", "token"]

TABLES = 10
KEYS = 1_000_000
_PER_TABLE = 12
_START = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_CLEAR = (
    ("~d%(token)s", "%(key)07d"),
    ("~k%(owner)s", "%(owner_number)d"),
    ("~k%(moment)s", "%(second)s"),
    ("~k%(event)s", "%(number)012d"),
)
_CALLERS = ("case-dashboard-api", "approval-worker", "audit-writer", "complaint-intake")


@dataclass(frozen=True)
class Pattern:
    """One access pattern of the workload: `fields` are (name, JSON with placeholders) in the order of the sampler."""

    name: str
    table: str
    operation: str
    index: str | None
    fields: tuple[tuple[str, str], ...]


def token(number: int) -> str:
    """Write a key number as the eight characters of a token: a bijection that looks like a hash."""
    mixed = (number * 0x9E3779B1 + 0x7F4A7C15) % (1 << 40)
    return "".join(_ALPHABET[(mixed >> shift) & 31] for shift in range(0, 40, 5))


def start_text(second: int) -> str:
    """Write the start of the workload plus so many seconds, without milliseconds."""
    return (_START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")


def patterns(*, hard: bool) -> tuple[Pattern, ...]:
    """Build every pattern; `hard` gives number keys, binary keys and rival templates to some tables."""
    return tuple(_pattern(table, member, hard=hard) for table in range(TABLES) for member in range(_PER_TABLE))


def line_templates(pattern: Pattern, *, hard: bool, seed: int) -> tuple[str, ...]:
    """Write a pattern as line templates: one, or, where it is `hard`, eight with shuffled fields, spaces, escapes."""
    if not hard:
        return ("{" + ",".join(f'"{name}":{value}' for name, value in pattern.fields) + "}\n",)
    shuffle = random.Random(seed)
    lines = []
    for variant in range(8):
        fields = [(name, _in_clear(value)) for name, value in pattern.fields if name not in {"keys", "salt_id"}]
        shuffle.shuffle(fields)
        colon, comma = ((":", ","), (": ", ", "), (" : ", " ,  "))[variant % 3]
        escaped = [(name, value.replace("#", "\\u0023") if variant % 2 else value) for name, value in fields]
        lines.append("{" + comma.join(f'"{name}"{colon}{value}' for name, value in escaped) + "}\n")
    return tuple(lines)


def _in_clear(value: str) -> str:
    """Write keys as they were sent instead of tokens."""
    for token_text, clear in _CLEAR:
        value = value.replace(token_text, clear)
    return value


def _partition(table: int, *, hard: bool) -> str:
    if hard and table == 1:
        return '{"N":"%(key)d"}'
    if hard and table == 2:
        return '{"B":"%(binary)s"}'
    if hard and table == 3:
        return '{"S":"TENANT#%(tenant)d#CASE#~d%(token)s"}'
    return '{"S":"CASE#~d%(token)s"}'


def _pattern(table: int, member: int, *, hard: bool) -> Pattern:
    name = f"cases-{table}"
    key = _partition(table, hard=hard)
    operation, index, own = _MEMBERS[member](key)
    caller = _CALLERS[(table + member) % len(_CALLERS)]
    head = (
        ("v", "1"),
        ("time", '"%(second)s.%(ms)03dZ"'),
        ("op", f'"{operation}"'),
        ("table", f'"{name}"'),
        *((("index", f'"{index}"'),) if index else ()),
        ("region", '"us-east-1"'),
        ("account", '"111122223333"'),
        ("keys", '"token"'),
        ("salt_id", '"9f3a2c1b"'),
    )
    tail = (
        ("returned_bytes", "%(bytes)d"),
        ("latency_ms", "%(latency).2f"),
        ("attempts", "1"),
        ("caller", f'"{caller}"'),
        ("caller_version", '"2026.11.30-rc1"'),
        ("principal", f'"arn:aws:sts::111122223333:assumed-role/{caller}/i-0a1b2c3d4e5f60718"'),
        ("user_agent", '"Boto3/1.40.61 md/Botocore#1.40.61 ua/2.1 os/linux#6.1 md/arch#x86_64 lang/python#3.11.7"'),
        ("trace_id", '"1-692c1a2b-%(trace)024x"'),
        ("request_id", '"%(request)052X"'),
        ("strata", '[{"by":"request","rate":1.0},{"by":"trace","rate":0.05}]'),
    )
    return Pattern(f"{name}/{member}", name, operation, index, (*head, *own, *tail))


_Fields = tuple[tuple[str, str], ...]
_Member = tuple[str, str | None, _Fields]


def _get(key: str, sort: str, *, consistent: str, projection: str) -> _Member:
    return "GetItem", None, (
        ("key", f'{{"PK":{key},"SK":{{"S":"{sort}"}}}}'),
        ("projection", f'"{projection}"'),
        ("names", '{"#k0":"status","#k1":"assignee","#k2":"dueAt","#k3":"priority"}'),
        ("consistent", consistent),
        ("count", "1"),
        ("consumed", '{"total":%(read)s,"read":%(read)s,"table":%(read)s}'),
        ("item_bytes", "%(bytes)d"),
    )  # fmt: skip


def _query(key: str, prefix: str, filtered: str) -> _Member:
    return "Query", None, (
        ("key", f'{{"PK":{key}}}'),
        ("key_condition", '"#k0 = :k0 AND begins_with(#k1, :k1)"'),
        *((("filter", f'"{filtered}"'),) if filtered else ()),
        ("names", '{"#k0":"PK","#k1":"SK","#f0":"status","#f1":"region"}'),
        ("values", f'{{":k0":{key},":k1":{{"S":"{prefix}"}}}}'),
        ("consistent", "false"),
        ("forward", "false"),
        ("limit", "25"),
        ("count", "%(count)d"),
        ("scanned", "%(scanned)d"),
        ("consumed", '{"total":%(read)s,"read":%(read)s,"table":%(read)s}'),
        ("more", "false"),
        ("item_bytes", "%(bytes)d"),
    )  # fmt: skip


def _index_query(index: str, partition: str, sort: str) -> _Member:
    condition = f'"{index}PK = :p AND begins_with({index}SK, :s)"' if sort else f'"{index}PK = :p"'
    values = f'{{":p":{partition},":s":{{"S":"{sort}"}}}}' if sort else f'{{":p":{partition}}}'
    return "Query", index, (
        ("key", f'{{"{index}PK":{partition}}}'),
        ("key_condition", condition),
        ("values", values),
        ("select", '"ALL_PROJECTED_ATTRIBUTES"'),
        ("forward", "true"),
        ("limit", "100"),
        ("count", "%(count)d"),
        ("scanned", "%(count)d"),
        ("consumed", f'{{"total":%(read)s,"read":%(read)s,"table":0,"indexes":{{"{index}":%(read)s}}}}'),
        ("more", "%(more)s"),
        ("item_bytes", "%(bytes)d"),
    )  # fmt: skip


def _written(key: str, sort: str, kind: str) -> _Member:
    own: dict[str, _Fields] = {
        "PutItem": (("condition", '"attribute_not_exists(#k0)"'), ("names", '{"#k0":"PK"}')),
        "UpdateItem": (
            ("update", '"SET #u0 = :u0, #u1 = :u1 ADD #u2 :u2"'),
            ("condition", '"#u2 = :c0"'),
            ("names", '{"#u0":"status","#u1":"changedAt","#u2":"version"}'),
        ),
        "DeleteItem": (("condition", '"attribute_exists(PK)"'),),
    }
    return kind, None, (
        ("key", f'{{"PK":{key},"SK":{{"S":"{sort}"}}}}'),
        *own[kind],
("index_keys", _INDEX_KEYS),
        ("consumed", '{"total":%(write2)d,"write":%(write2)d,"table":%(write)d,"indexes":{"GSI1":%(write)d}}'),
        ("item_bytes", "%(bytes)d"),
    )  # fmt: skip


def _batch(key: str) -> _Member:
    parts = ",".join(f'{{"op":"Get","key":{{"PK":{key},"SK":{{"S":"ENTRY#{part}"}}}}}}' for part in range(4))
    return "BatchGetItem", None, (
        ("parts", f"[{parts}]"),
        ("count", "4"),
        ("consumed", '{"total":2,"read":2,"table":2}'),
        ("unprocessed", "0"),
    )  # fmt: skip


SHARES = (0.17, 0.15, 0.08, 0.10, 0.10, 0.06, 0.10, 0.04, 0.06, 0.09, 0.02, 0.03)
"""How often each access pattern of a table is used: reads are most of the traffic."""

_OWNER = '{"S":"INVESTIGATOR#~k%(owner)s#STATUS#ACTIVE"}'

_INDEX_KEYS = f'{{"GSI1":{{"GSI1PK":{_OWNER},"GSI1SK":{{"S":"DUE#~k%(moment)s"}}}}}}'

_MEMBERS = (
    lambda key: _get(key, "META", consistent="true", projection="#k0, #k1, #k2"),
    lambda key: _get(key, "META", consistent="false", projection="#k0, #k1, #k2, #k3"),
    lambda key: _get(key, "COMPLAINT#~k%(owner)s", consistent="false", projection="#k0, #k1"),
    lambda key: _query(key, "AUDIT#", ""),
    lambda key: _query(key, "ENTRY#", ""),
    lambda key: _query(key, "ENTRY#", "#f0 = :f0 AND #f1 IN (:f1, :f2)"),
    lambda _key: _index_query("GSI1", _OWNER, "DUE#"),
    lambda _key: _index_query("GSI2", '{"S":"REGION#%(tenant)d"}', ""),
    lambda key: _written(key, "AUDIT#~k%(moment)s#~k%(event)s", "PutItem"),
    lambda key: _written(key, "META", "UpdateItem"),
    lambda key: _written(key, "ENTRY#1", "DeleteItem"),
    _batch,
)
