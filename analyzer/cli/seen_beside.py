"""What a log holds beside the key that was asked for: it says why nothing was found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from analyzer.errors import closest
from analyzer.render.words import plain
from analyzer.requests.digest_routes import table_name
from analyzer.requests.masking import mask_statement
from analyzer.requests.statements import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from analyzer.model.request import RequestRecord
    from analyzer.requests.tokens import Salt

__all__ = ["SeenBeside"]

_NAMED = 5
_COUNTER = b'"counter"'
_MOST_NAMES = 10_000
"""No account has so many tables, indexes or key attributes; a log that says so is not believed further."""


class SeenBeside:
    """Counts tables, and of the one that is meant indexes, key attributes and how its key values are written."""

    def __init__(self, table: str, index: str | None) -> None:
        self._table = table
        self._index = index
        self._tables: Counter[str] = Counter()
        self._indexes: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self._policies: Counter[str] = Counter()
        self._salts: Counter[str] = Counter()
        self._alone: Counter[str] = Counter()
        self._keyed = 0
        self.unreadable = 0
        """Lines that are neither a request nor a sampler's counter."""

    def pass_over(self, line: bytes) -> None:
        """Look at a line that is no record."""
        self.unreadable += bool(line.strip()) and _COUNTER not in line

    def take(self, record: RequestRecord) -> None:
        """Look at a record."""
        tables = _tables_of(record)
        _count(self._tables, tables)
        if self._table not in tables:
            return
        _count(self._indexes, _indexes_of(record))
        keys = [key for key in self._keys_of(record) if key]
        if keys:
            self._keyed += 1
            self._policies[record.keys or "reveal"] += 1
            _count(self.attributes, {name for key in keys for name in key})
            _count(self._alone, {name for key in keys if len(key) == 1 for name in key})
            _count(self._salts, {record.salt_id} if record.salt_id is not None else set())

    def _keys_of(self, record: RequestRecord) -> Iterator[Mapping[str, Any] | None]:
        index = self._index
        if record.index == index:
            yield record.key
        yield (record.index_keys or {}).get(index or "")
        for part in record.parts or ():
            if table_name(part.table or record.table) == self._table:
                yield part.key if index is None else (part.index_keys or {}).get(index)

    def partition_key(self) -> str | None:
        """Return the attribute that stands alone in keys, as in a query of a whole collection; None where none does.

        A sort key never does. Where several do, the log is not believed.
        """
        return next(iter(self._alone)) if len(self._alone) == 1 else None

    def why_nothing(self, attribute: str, salt: Salt | None) -> str:
        """Say why no request to a key was found: the table, the index, the attribute or the value is not there."""
        table, index = self._table, self._index
        if not self._tables:
            return "the log has no request that names a table; is it a request log?"
        if table not in self._tables:
            return (
                f"the log has no request to a table {plain(table)}; {_named('it has requests to', self._tables, table)}"
            )
        place = plain(table if index is None else f"{table}/{index}")
        if index is not None and index not in self._indexes:
            used = _named("it uses", self._indexes, index) if self._indexes else "it uses none"
            return f"no request of the log uses an index {plain(index)} of {plain(table)}; {used}"
        if not self._keyed:
            return f"the log tells no key of {place}: {_KEYLESS}"
        if attribute not in self.attributes:
            known = _named("they have", self.attributes, attribute)
            return f"no key of {place} in the log has an attribute {plain(attribute)}; {known}"
        count = f"{self._tables[table]:,} to {plain(table)}, {self._keyed:,} of them with a key"
        return f"no request of the log goes to that {plain(attribute)} of {place} ({count})\n  {self._hint(salt)}"

    def _hint(self, salt: Salt | None) -> str:
        """Say what is mistaken most often: keys of a sampled log are tokens."""
        if not self._policies["token"]:
            only = set(self._policies) == {"template"}
            return _KEYLESS if only else "its keys stand in clear: write the value as the application does"
        if salt is None:
            return (
                "its keys are tokens: give the sampler's salt with --salt-file, or the token itself, which\n"
                "  `dynascope analyze LOG --keys token` shows where a report shows <id>"
            )
        if self._salts and salt.id not in self._salts:
            return f"its tokens are of {_named('the salt', self._salts)}, and not of {salt.id}, which was given"
        return "check the value: it is written as the application does, or as a token"


_KEYLESS = "traces, CloudTrail and templates have none; a sampler with tokens does"


def _count(counter: Counter[str], names: set[str]) -> None:
    if len(counter) < _MOST_NAMES:
        counter.update(names)


def _tables_of(record: RequestRecord) -> set[str]:
    tables = {table_name(record.table)}
    tables |= {table_name(part.table) or _told_by(part.statement) for part in record.parts or ()}
    if record.table is None:
        tables.add(_told_by(record.statement))
    return tables - {""}


def _told_by(statement: str | None) -> str:
    return "" if statement is None else table_of(mask_statement(statement))


def _indexes_of(record: RequestRecord) -> set[str]:
    told = {record.index, *(record.index_keys or ())}
    told |= {name for part in record.parts or () for name in part.index_keys or ()}
    told |= set((record.consumed.indexes or {}) if record.consumed is not None else ())
    return {name for name in told if name}


def _named(words: str, counter: Counter[str], meant: str | None = None) -> str:
    """Name the most frequent ones: `it has requests to orders, users and 3 more; did you mean orders?`."""
    ordered = sorted(counter, key=lambda name: (-counter[name], name))
    names = [plain(name) for name in ordered[:_NAMED]]
    more = len(counter) - len(names)
    listed = ", ".join(names) + (f" and {more:,} more" if more else "")
    near = None if meant is None else closest(meant, counter)
    return f"{words} {listed}" + ("" if near is None or len(counter) == 1 else f"; did you mean {plain(near)}?")
