"""Which segments of key values are literals, learnt from a log whose contract is not written yet."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from analyzer.knowledge.names import table_name
from analyzer.requests.lexicon import TableKeys
from analyzer.requests.tokens import is_placeholder, is_token, key_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.request import RequestRecord

__all__ = ["Literals"]

_WORD = re.compile(r"[A-Za-z][A-Za-z_.-]{0,31}")
_DELIMITERS = re.compile(r"[#|/]")
_MOST_SEGMENTS = 12
_MOST_PLACES = 2000
_MOST_WORDS = 1000
_MOST_LITERALS = 32
_LEAST_SHARE = 0.001


class Literals:
    """Counts, bounded, the words that stand at each place of the keys; few words that come often are literals."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, str, int], Counter[str]] = {}

    def add(self, record: RequestRecord) -> None:
        """Look at the keys of one record."""
        for table, attribute, text in _texts(record):
            for position, segment in enumerate(_DELIMITERS.split(text)[:_MOST_SEGMENTS]):
                words = self._words.get((table, attribute, position))
                if words is None:
                    if len(self._words) >= _MOST_PLACES:
                        continue
                    words = self._words[table, attribute, position] = Counter()
                is_literal = _WORD.fullmatch(segment) and not is_token(segment) and not is_placeholder(segment)
                word = segment if is_literal else ""
                if word in words or len(words) < _MOST_WORDS:
                    words[word] += 1

    def tables(self) -> tuple[TableKeys, ...]:
        """Return the literals of each table, for a lexicon that knows nothing else."""
        literals: dict[str, set[str]] = {}
        for (table, _, _), words in self._words.items():
            literals.setdefault(table, set()).update(_frequent(words))
        return tuple(TableKeys(name=table, literals=frozenset(found)) for table, found in sorted(literals.items()))


def _frequent(words: Counter[str]) -> Iterator[str]:
    known = [word for word in words if word]
    if len(known) > _MOST_LITERALS:
        return
    least = max(2, words.total() * _LEAST_SHARE)
    yield from (word for word in known if words[word] >= least)


def _texts(record: RequestRecord) -> Iterator[tuple[str, str, str]]:
    """Yield table, attribute and text of every key value that a record bears."""
    keys: list[tuple[str | None, dict[str, dict[str, object]]]] = [(record.table, record.key or {})]
    keys += [(record.table, key) for key in (record.index_keys or {}).values()]
    keys += [(part.table or record.table, part.key or {}) for part in record.parts or ()]
    keys.append((record.table, record.values or {}))
    for table, key in keys:
        for attribute, value in key.items():
            text = key_text(value)
            if table is not None and text is not None:
                yield table_name(table), attribute, text
