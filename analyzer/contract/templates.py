"""Templates of key values, learnt from the values themselves: what many share is literal, what varies a variable.

Values are cut at their delimiters, each piece is masked by its kind, and from left to right a word stays literal where
enough values bear it. Drain, a miner of log templates, works so; typed masks first are what makes it exact (arXiv
2412.05254). A word that follows a word is one of its values: `STATUS#OPEN` and `STATUS#DONE` are `STATUS#<status>`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from analyzer.contract.templates_masks import DELIMITERS, Segment, cut
from analyzer.requests.tokens import DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["Learnt", "learn"]

_LEAST = 3
_LEAST_SHARE = 0.002
_MOST_LITERALS = 16
"""A place with more words than that holds names, not kinds."""

_MOST_FORMS = 12
_MOST_SEGMENTS = 12
_MOST_PREFIXES = 3
_LEAST_VARIETY = 10
"""So many different rests make a prefix one: `cus_…`; so many other values a number that never changes a literal."""

_STRAY = 0.1
"""The share of values that may stand beside the literals of a place without making all of them a variable."""

_LONGEST_CONSTANT = 4
_KNOWN = frozenset({"uuid", "ulid", "ksuid", "email", "timestamp", "date", "month", "ip", "epoch", "number"})
_NAME = re.compile(r"[A-Za-z][A-Za-z_]*")


class Learnt(Struct, frozen=True):
    """One template, how many requests asked for it, and the values that it was learnt from.

    `unsure` says in words why it may be wrong.
    """

    text: str
    weight: int
    values: tuple[str, ...]
    unsure: str = ""


class _Row(NamedTuple):
    """A value with the number of requests that bore it; `sure`: whoever wrote it left words in clear on purpose."""

    text: str
    weight: int
    segments: tuple[Segment, ...]
    sure: bool


class _Part(NamedTuple):
    """What stands at one place: a literal, perhaps with a variable after it; `kind` is empty for a literal alone."""

    literal: str
    kind: str = ""


class _Label(NamedTuple):
    """How one segment is read; segments of one label go on together."""

    part: _Part
    is_variable: bool


class _Place(NamedTuple):
    """Where a decision is made: the segments of all rows, what stands before, how much makes a word literal."""

    before: str | None
    is_start: bool
    least: float


def learn(values: Mapping[str, int], sure: Iterable[str] = ()) -> tuple[Learnt, ...]:
    """Learn the templates of an attribute's values, heaviest first; `values` counts requests by value.

    `sure` are values as samplers write them: what stands there in clear is known to be literal.
    """
    known = frozenset(sure)
    total = sum(values.values())
    least = max(_LEAST, total * _LEAST_SHARE)
    delimiters = "".join(d for d in DELIMITERS if _is_delimiter(d, values, least))
    forms: dict[str, list[_Row]] = {}
    for text, weight in values.items():
        segments, form = cut(text, delimiters)
        forms.setdefault(form, []).append(_Row(text, weight, tuple(segments), text in known))
    learnt: list[Learnt] = []
    rest: list[_Row] = []
    by_weight = sorted(forms.items(), key=lambda each: (-sum(row.weight for row in each[1]), each[0]))
    for rank, (form, rows) in enumerate(by_weight):
        is_kept = rank < _MOST_FORMS and len(form) < _MOST_SEGMENTS
        if is_kept and (sum(row.weight for row in rows) >= least or rank == 0 or any(row.sure for row in rows)):
            for parts, found in _grow(rows, 0, None, least):
                learnt.append(_written(parts, form, found))
        else:
            rest += rows
    learnt += _of_rest(rest, delimiters, learnt)
    return tuple(sorted(_united(learnt), key=lambda each: (-each.weight, each.text)))


def _is_delimiter(delimiter: str, values: Mapping[str, int], least: float) -> bool:
    """Whether a character parts values: words or known kinds stand beside it, or all bear it equally often."""
    bearing = [text for text in values if delimiter in text]
    if not bearing:
        return False
    beside: Counter[str] = Counter()
    typed = 0
    pieces: list[list[Segment]] = []
    for text in bearing:
        segments, form = cut(text)
        at = [place for place, mark in enumerate(form) if mark == delimiter]
        near = [segments[place + side] for place in at for side in (0, 1)]
        pieces.append(near)
        beside.update({s.text: values[text] for s in near if s.kind in {"word", "empty"}})
    if not any(pieces):
        return False  # it stands only inside of timestamps and addresses
    counts = Counter(text.count(delimiter) for text in values)
    for near in pieces:
        typed += any(s.kind in _KNOWN or (s.kind in {"word", "empty"} and beside[s.text] >= least) for s in near)
    return typed >= len(bearing) * (1 - 2 * _STRAY) or counts.most_common(1)[0][1] >= len(values) * (1 - _STRAY / 2)


def _grow(
    rows: Sequence[_Row], depth: int, before: str | None, least: float
) -> Iterable[tuple[tuple[_Part, ...], list[_Row]]]:
    """Read rows of one form from left to right; yield what stands at each place, and the rows that say so.

    `before` is the literal on the left, empty after a variable, None at the start.
    """
    if depth == len(rows[0].segments):
        yield (), list(rows)
        return
    read = _reader(rows, depth, _Place(before, before is None, least))
    groups: dict[_Label, list[_Row]] = {}
    for row in rows:
        groups.setdefault(read(row), []).append(row)
    for label, members in groups.items():
        literal = label.part.literal
        after = "" if label.is_variable else literal or before
        part = label.part
        if label.is_variable:
            part = _Part(literal, part.kind or _kind(members, depth, before))
        for parts, found in _grow(members, depth + 1, after, least):
            yield (part, *parts), found


def _reader(rows: Sequence[_Row], depth: int, place: _Place) -> Callable[[_Row], _Label]:
    """Decide how the segments of one place are read."""
    whole = sum(row.weight for row in rows)
    words, stems, prefixes = _tally(rows, depth)
    clear = {row.segments[depth].text for row in rows if row.sure and row.segments[depth].kind == "word"}
    if len(clear) > _MOST_LITERALS:  # a log may say token and bear keys
        clear = set()
    literals = clear | _literals(words, rows, depth, place, whole)
    kept_stems = _frequent(stems, place, whole, literals, _MOST_LITERALS if place.is_start else _MOST_PREFIXES, 2)
    kept = _frequent(prefixes, place, whole, literals, _MOST_PREFIXES, _LEAST_VARIETY)

    def read(row: _Row) -> _Label:
        segment = row.segments[depth]
        if segment.kind == "empty" or segment.text in literals:
            return _Label(_Part(segment.text), is_variable=False)
        if segment.stem in kept_stems:
            return _Label(_Part(segment.stem, "number"), is_variable=True)
        if segment.prefix in kept:
            return _Label(_Part(segment.prefix, "id"), is_variable=True)
        return _Label(_Part(""), is_variable=True)

    return read


def _tally(rows: Sequence[_Row], depth: int) -> tuple[Counter[str], dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Count words, and what has a beginning by that: words with a number, words with one of the lesser delimiters."""
    words: Counter[str] = Counter()
    stems: dict[str, Counter[str]] = {}
    prefixes: dict[str, Counter[str]] = {}
    for row in rows:
        segment = row.segments[depth]
        if segment.kind == "counted":
            stems.setdefault(segment.stem, Counter())[segment.text] += row.weight
        if segment.kind == "word":
            words[segment.text] += row.weight
        if segment.prefix:
            prefixes.setdefault(segment.prefix, Counter())[segment.text] += row.weight
    for stem, texts in list(stems.items()):
        if len(texts) == 1:  # a number that never changes: `V1`
            words.update(texts)
            del stems[stem]
    return words, stems, prefixes


def _literals(words: Counter[str], rows: Sequence[_Row], depth: int, place: _Place, whole: int) -> set[str]:
    """Return the words of one place that are literal."""
    supported = {word for word in words if words[word] >= place.least}
    stray = sum(words[word] for word in words if word not in supported)
    if not supported or len(supported) > _MOST_LITERALS:
        return set()
    if place.is_start:
        return supported
    if not place.before:
        return supported if stray <= _STRAY * whole else set()
    others = whole - sum(words.values())
    if len(words) == 1 and not others:
        return supported if _is_alike(next(iter(supported)), place.before) else set()
    bearing: dict[str, list[_Row]] = {}
    for row in rows:
        bearing.setdefault(row.segments[depth].text, []).append(row)
    told = [_what_follows(bearing[word], depth, place.least) for word in sorted(supported)]
    return supported if len(set(told)) == len(told) > 1 and not stray else set()


def _what_follows(rows: Sequence[_Row], depth: int, least: float) -> frozenset[tuple[str, ...]]:
    """Return the words that go on after a place, empty where anything but a few words stands.

    Names may be words too, and those that follow two values differ by chance: only what most of them share tells kinds
    apart.
    """
    whole = sum(row.weight for row in rows)
    columns: list[set[str]] = []
    for place in range(depth + 1, len(rows[0].segments)):
        words: Counter[str] = Counter()
        for row in rows:
            if row.segments[place].kind == "word":
                words[row.segments[place].text] += row.weight
        frequent = {word for word, weight in words.items() if weight >= least}
        is_steady = len(frequent) <= _MOST_LITERALS and sum(words[w] for w in frequent) >= (1 - _STRAY) * whole
        columns.append(frequent if is_steady else set())
    ways = [[*zip(columns, row.segments[depth + 1 :], strict=True)] for row in rows]
    return frozenset(
        tuple(s.text if words else "" for words, s in way)
        for way in ways
        if all(s.text in words for words, s in way if words)
    )


def _is_alike(word: str, before: str) -> bool:
    """Whether two words are written alike, both in capitals or both not: kinds mostly are, names mostly not."""
    return word.isupper() == before.isupper()


def _frequent(
    groups: Mapping[str, Counter[str]], place: _Place, whole: int, literals: set[str], most: int, least_variety: int
) -> frozenset[str]:
    """Return the beginnings that enough values share, each with different rests."""
    weights = {
        begin: sum(weight for text, weight in texts.items() if text not in literals) for begin, texts in groups.items()
    }
    kept = {b for b, weight in weights.items() if weight >= place.least and len(groups[b]) >= least_variety}
    if not kept or len(kept) > most:
        return frozenset()
    stray = sum(weight for begin, weight in weights.items() if begin not in kept)
    if place.is_start:
        return frozenset(kept) if stray <= _STRAY * sum(weights.values()) else frozenset()
    return frozenset(kept) if sum(weights[begin] for begin in kept) >= (1 - _STRAY) * whole else frozenset()


def _kind(rows: Sequence[_Row], depth: int, before: str | None) -> str:
    """Return the name of a variable: the one kind of its values, or what they are values of."""
    kinds = {row.segments[depth].kind for row in rows}
    if kinds <= {"number", "epoch"} and len(kinds) > 1:
        return "number"
    (kind,) = kinds if len(kinds) == 1 else ("id",)
    if kind == "word" and before and _NAME.fullmatch(before) and len(_texts(rows, depth)) <= _MOST_LITERALS:
        return before.lower()
    return kind if kind in _KNOWN else "id"


def _texts(rows: Sequence[_Row], depth: int) -> set[str]:
    return {row.segments[depth].text for row in rows}


def _written(parts: Sequence[_Part], form: str, rows: Sequence[_Row]) -> Learnt:
    """Write a template; a short number that never changes while all else does is a literal."""
    texts: list[str] = []
    unsure = ""
    weight = sum(row.weight for row in rows)
    for depth, part in enumerate(parts):
        seen = _texts(rows, depth) if part.kind else set()
        if len(seen) == 1 and len(rows) >= _LEAST_VARIETY and not part.literal and part.kind == "number":
            (constant,) = seen
            if len(constant) <= _LONGEST_CONSTANT:
                texts.append(constant)
                unsure = f"{constant} never changes, and may be a variable"
                continue
        if len(seen) == 1 and weight >= _LEAST_VARIETY:
            unsure = unsure or "it was seen with one value alone, and may be a constant"
        texts.append(part.literal + _variable(part.kind))
    text = texts[0] + "".join(mark + piece for mark, piece in zip(form, texts[1:], strict=True))
    return Learnt(text, weight, tuple(row.text for row in rows), unsure)


def _variable(kind: str) -> str:
    """Write a variable; digits have the name that they have wherever a key is shown without a contract."""
    if kind == "number":
        return DIGITS
    return f"<{kind}>" if kind else ""


def _of_rest(rows: Sequence[_Row], delimiters: str, learnt: Sequence[Learnt]) -> list[Learnt]:
    """Write values of rare forms by what they begin with: the last variable takes the rest, delimiters and all."""
    begins = {cut(each.text, delimiters)[0][0].text for each in learnt}
    groups: dict[str, list[_Row]] = {}
    for row in rows:
        first = row.segments[0].text
        is_known = first and first in begins and len(row.text) > len(first) + 1
        text = f"{first}{row.text[len(first)]}<id>" if is_known else "<id>"
        groups.setdefault(text, []).append(row)
    why = "values of many forms begin like this"
    return [
        Learnt(text, sum(row.weight for row in found), tuple(row.text for row in found), why)
        for text, found in groups.items()
    ]


def _united(learnt: Iterable[Learnt]) -> list[Learnt]:
    by_text: dict[str, Learnt] = {}
    for each in learnt:
        known = by_text.get(each.text, Learnt(each.text, 0, ()))
        weight, values = known.weight + each.weight, known.values + each.values
        by_text[each.text] = Learnt(each.text, weight, values, known.unsure or each.unsure)
    return list(by_text.values())
