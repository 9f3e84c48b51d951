"""Traffic of single-table designs: what each asks, as templates with variables, and requests drawn from them.

A design tells its own truth: every key value was written from one of its templates.
"""

from __future__ import annotations

import random
import re
import string
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Ask", "Design", "Drawn", "KeyLine", "normal", "requests", "words"]

_BASE = datetime(2026, 6, 1, 10, tzinfo=UTC)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE62 = string.digits + string.ascii_letters
_VARIABLE = re.compile(r"<([^<>]+)>")
_OPERATOR = re.compile(r"(begins_with|between|<=|>=|<|>) (?=\S)")
_FIRST = (
    "anna",
    "bo",
    "chidi",
    "dora",
    "emre",
    "fatma",
    "goran",
    "hana",
    "ivan",
    "jin",
    "kofi",
    "lena",
    "mateo",
    "nils",
)
_LAST = (
    "abe",
    "berg",
    "costa",
    "diaz",
    "eze",
    "fox",
    "gupta",
    "haas",
    "ito",
    "jones",
    "khan",
    "lind",
    "moreau",
    "novak",
)


class Ask(NamedTuple):
    """One access pattern: how often of all, by whom, and its key as a contract would write it."""

    weight: float
    operation: str
    key: Mapping[str, str]
    target: str | None = None
    written: Mapping[str, Mapping[str, str]] = {}
    limit: int | None = None
    caller: str = "api"


class Design(NamedTuple):
    """A table, what is asked of it, and what each variable holds: a kind and how many values there are."""

    name: str
    source: str
    variables: Mapping[str, tuple[str, int]]
    asks: tuple[Ask, ...]


class KeyLine(NamedTuple):
    """One condition on a key attribute: where it was asked, its operator and values, and the template of each."""

    attribute: str
    operator: str
    values: tuple[str, ...]
    truth: str


class Drawn(NamedTuple):
    """One request: its record, the ask that it came from, and its key conditions."""

    record: dict[str, Any]
    ask: int
    lines: tuple[KeyLine, ...]


def words(*listed: str) -> tuple[str, int]:
    """Return a variable that takes one of these words."""
    return "=" + "|".join(listed), len(listed)


def normal(text: str) -> str:
    """Write a template with every variable as `<*>`."""
    return _VARIABLE.sub("<*>", text)


def requests(design: Design, number: int, seed: int = 1) -> Iterator[Drawn]:
    """Draw so many requests, six a second; some keys are asked far more often than others."""
    rng = random.Random(f"{design.name} {seed}")
    pools = {name: _pool(kind, size, rng) for name, (kind, size) in design.variables.items()}
    weights = [ask.weight for ask in design.asks]
    for count in range(number):
        (place,) = rng.choices(range(len(weights)), weights)
        at = _BASE + timedelta(seconds=count / 6)
        yield _request(design, place, lambda name: _pick(pools[name], rng), at)


def _pick(pool: list[str], rng: random.Random) -> str:
    return pool[int(len(pool) * rng.random() ** 1.5)]


def _request(design: Design, place: int, fill: Callable[[str], str], at: datetime) -> Drawn:
    ask = design.asks[place]
    lines = tuple(_line(attribute, template, fill) for attribute, template in ask.key.items())
    record: dict[str, Any] = {
        "v": 1,
        "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "op": ask.operation,
        "table": design.name,
        "caller": ask.caller,
        "key": {line.attribute: {"S": line.values[0]} for line in lines if line.operator == "="},
    }
    if ask.target is not None:
        record["index"] = ask.target
    if ask.limit is not None:
        record["limit"] = ask.limit
    if ask.operation == "Query":
        record |= _condition(lines) | {"count": 3, "scanned": 3, "more": False, "resumed": False}
    if ask.written:
        record["index_keys"] = {
            index: {name: {"S": _line(name, text, fill).values[0]} for name, text in key.items()}
            for index, key in ask.written.items()
        }
    return Drawn(record, place, lines)


def _line(attribute: str, template: str, fill: Callable[[str], str]) -> KeyLine:
    found = _OPERATOR.match(template)
    operator = found.group(1) if found else "="
    rest = template[found.end() :] if found else template
    operands = rest.split(" and ") if operator == "between" else [rest]
    values = [_VARIABLE.sub(lambda variable: fill(variable.group(1)), operand) for operand in operands]
    return KeyLine(attribute, operator, tuple(sorted(values)), normal(template))


def _condition(lines: tuple[KeyLine, ...]) -> dict[str, Any]:
    texts: list[str] = []
    values: dict[str, dict[str, str]] = {}
    for number, line in enumerate(lines):
        places = [f":{number}{part}" for part in "ab"[: len(line.values)]]
        values |= {place: {"S": value} for place, value in zip(places, line.values, strict=True)}
        if line.operator == "begins_with":
            texts.append(f"begins_with({line.attribute}, {places[0]})")
        elif line.operator == "between":
            texts.append(f"{line.attribute} BETWEEN {places[0]} AND {places[1]}")
        else:
            texts.append(f"{line.attribute} {line.operator} {places[0]}")
    return {"key_condition": " AND ".join(texts), "values": values}


def _pool(kind: str, size: int, rng: random.Random) -> list[str]:
    if kind.startswith("="):
        return kind[1:].split("|")
    return [_KINDS[kind](rng) for _ in range(size)]


def _moment(rng: random.Random) -> datetime:
    return _BASE - timedelta(milliseconds=rng.randrange(90 * 86_400_000))


def _text(alphabet: str, length: int, before: str = "", after: str = "") -> Callable[[random.Random], str]:
    return lambda rng: before + "".join(rng.choices(alphabet, k=length)) + after


def _name(rng: random.Random) -> str:
    name = rng.choice(_FIRST) + rng.choice(["", ".", "_", "-"]) + rng.choice(_LAST)
    return name + (str(rng.randrange(100)) if rng.random() < 0.3 else "")


_KINDS: dict[str, Callable[[random.Random], str]] = {
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "ulid": _text(_CROCKFORD, 23, "01J"),
    "ksuid": _text(_BASE62, 26, "2"),
    "nanoid": _text(_BASE62 + "_-", 21),
    "short": _text(_BASE62, 8),
    "base64": _text(_BASE62, 15, after="="),
    "hex": _text("0123456789abcdef", 32),
    "int": lambda rng: str(rng.randrange(1, 100_000)),
    "small": lambda rng: str(rng.randrange(1, 30)),
    "padded": lambda rng: f"{rng.randrange(100_000):08}",
    "digit": lambda rng: str(rng.randrange(10)),
    "timestamp": lambda rng: _moment(rng).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    "second": lambda rng: _moment(rng).isoformat(timespec="seconds").replace("+00:00", "Z"),
    "date": lambda rng: _moment(rng).date().isoformat(),
    "month": lambda rng: _moment(rng).date().isoformat()[:7],
    "epoch": lambda rng: str(int(_moment(rng).timestamp())),
    "epoch_ms": lambda rng: str(int(_moment(rng).timestamp() * 1000)),
    "email": lambda rng: f"{_name(rng)}@{rng.choice(['example.com', 'mail.example.org', 'firm.co.uk'])}",
    "name": _name,
    "slug": lambda rng: "-".join(rng.choices(_FIRST + _LAST, k=2)),
    "ip": lambda rng: ".".join(str(rng.randrange(256)) for _ in range(4)),
    "iban": lambda rng: rng.choice(["DE", "FR", "NL"]) + "".join(rng.choices(string.digits, k=20)),
}
