"""Key values by the thousand, without looking into each: what they have in common is a form, remembered by signature.

A signature is the raw JSON of a key with everything replaced that cannot matter for its class (`CASE#<id>`, `META`):
tokens, digits. Its form says which class that is, and where in the JSON partition and sort key stand. So a key is never
parsed, and memory does not follow the number of keys.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from analyzer.model.shape import KeyPredicate
from analyzer.requests.digest_cells import is_local_index
from analyzer.requests.digest_entries import written_like
from analyzer.requests.tokens import key_text

if TYPE_CHECKING:
    from analyzer.requests.lexicon import Lexicon

__all__ = [
    "FOREIGN",
    "IRREGULAR",
    "NO_KEY",
    "PREFIXES",
    "Form",
    "FormTable",
    "KeyClass",
    "KeySpace",
    "Squash",
    "canonical",
    "canonical_all",
    "prefix_of",
]

FOREIGN = "foreign"
"""The `keys` policy of tokens that were made with another salt than ours."""

NO_KEY = 0
"""The number of the form of a key that is not known."""

IRREGULAR = -1
"""Stands for the form of keys that have to be parsed one by one."""

PREFIXES = 3
"""How many prefixes of a partition key are counted at most."""

KeyClass = tuple[KeyPredicate, ...]
Squash = Callable[[bytes], bytes]
"""Replaces in many keys at once (with zero bytes between them) what cannot matter for their class."""

_MOST_SIGNATURES = 8192
_LONGEST_VALUE = 2048
_DECODE = msgspec.json.Decoder(dict[str, dict[str, Any]]).decode
_DECODE_ANY = msgspec.json.Decoder().decode
_ENCODE_LINES = msgspec.json.Encoder().encode_lines
_DECODE_ENTRIES = msgspec.json.Decoder(dict[str, dict[str, dict[str, Any]]]).decode
_MOST_LESSONS = 64
"""So often a table's items are looked at for how their index keys are written; few tables write them in many ways."""

_TOKEN = re.compile(rb"~[kd][a-z2-7]{8}")
_TEXT_TOKEN = re.compile(rb"~k[a-z2-7]{8}")
_DIGIT_TOKEN = re.compile(rb"~d[a-z2-7]{8}")
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_DELIMITER = re.compile(rb"[#|/]")
_VARIABLE = re.compile(rb"[0-9]|~[kd][a-z2-7]{8}")
_WORDS = re.compile(rb"0*x[x0]*")
_TO_WORD = bytes(
    ord("0") if byte in b"0123456789" else byte if byte in b'#|/"\0' else ord("x") for byte in range(256)
)  # digits stay digits, all else but delimiters, quotes and what parts the keys becomes an x
_BACKSLASH = rb"\\"
_NEEDLESS = re.compile(rb"\\u00(?:2[013-9a-fA-F]|[346][0-9a-fA-F]|5[0-9abd-fABD-F]|7[0-9a-eA-E])")
"""Characters that some encoders escape and JSON does not ask for: printable ones but quote and backslash."""

_SORT_LIKE = re.compile(r"sk$|sort|range", re.IGNORECASE)


class Form(NamedTuple):
    """What keys of one signature have in common: their class, and where their values stand between the quotes.

    A place of 0 means that there is none. `cuts` are the lengths, in segments, of the prefixes that are counted.
    """

    class_number: int
    part_at: int
    sort_at: int
    cuts: tuple[int, ...] = ()


class FormTable:
    """The forms of all key spaces, by number; bounded by the variety of templates."""

    def __init__(self) -> None:
        self.classes: list[KeyClass] = []
        self._class_numbers: dict[KeyClass, int] = {}
        self.forms: list[Form] = []
        self._numbers: dict[Form, int] = {}
        self.class_of = array("q")
        self.part_at = array("q")
        self.sort_at = array("q")
        self.has_prefix = array("b")
        self.number(Form(self.class_number(()), 0, 0))

    def class_number(self, key_class: KeyClass) -> int:
        """Return the number of a class."""
        number = self._class_numbers.get(key_class)
        if number is None:
            number = self._class_numbers[key_class] = len(self.classes)
            self.classes.append(key_class)
        return number

    def number(self, form: Form) -> int:
        """Return the number of a form."""
        number = self._numbers.get(form)
        if number is None:
            number = self._numbers[form] = len(self.forms)
            self.forms.append(form)
            self.class_of.append(form.class_number)
            self.part_at.append(form.part_at)
            self.sort_at.append(form.sort_at)
            self.has_prefix.append(bool(form.cuts))
        return number


class KeySpace:
    """The keys of one table or index as records of one `keys` policy write them; `seen` maps signatures to forms."""

    def __init__(self, forms: FormTable, lexicon: Lexicon, table: str, index: str | None, policy: str | None) -> None:
        if policy == FOREIGN:
            lexicon = lexicon.without_salt()
        self._forms = forms
        self.lexicon = lexicon
        self._table = table
        self._is_clear = policy in {None, "reveal"}
        self._has_identity = policy != "template"
        self._predicates: dict[tuple[str, str, tuple[str, ...] | None], KeyPredicate] = {}
        self._locals: dict[str, bool] = {}
        self._usual: dict[str, re.Pattern[bytes]] = {}
        self._lessons = 0
        self.schema = lexicon.schema(table, index)
        self.seen: dict[bytes, int] = {b"": NO_KEY}
        self._is_declared, self._run = lexicon.vocabulary(table)
        literals = lexicon.literals(table)
        self._behind = frozenset(lexicon.salt.token(text) for text in literals) if lexicon.salt else frozenset[str]()
        self.squash = self._squash(has_uuids=False)

    def _squash(self, *, has_uuids: bool) -> Squash:
        if not self._has_identity:
            return _as_it_is
        if not self._is_clear:
            return _token_squash(self._behind, self._run)
        return _clear_squash(self._run, has_uuids=has_uuids) if self._is_declared else _words

    def is_local(self, index: str) -> bool:
        """Whether the units of an index count on the table."""
        known = self._locals.get(index)
        if known is None:
            known = self._locals[index] = is_local_index(self.lexicon, self._table, index)
        return known

    def learn(self, signature: bytes, raw: bytes) -> int:
        """Return the form of a key whose signature was never seen; IRREGULAR where such keys must be parsed."""
        number = self.seen.get(signature)
        if number is None:
            if len(self.seen) >= _MOST_SIGNATURES:
                self.seen.clear()
                self.seen[b""] = NO_KEY
            number = self.seen[signature] = self._form(raw)
            if self._is_clear and self._is_declared and _UUID.search(raw):
                self.squash = self._squash(has_uuids=True)
        return number

    def _form(self, raw: bytes) -> int:
        texts = _read_texts(raw)
        if not texts:
            return NO_KEY
        class_number = self._class(texts)
        places = self.places(texts)
        if places is None or not self._has_identity:
            return self._forms.number(Form(class_number, 0, 0))
        pieces = raw.split(b'"')
        names = list(texts)
        written = [piece.decode("utf-8", "replace") for piece in pieces[1::6] + pieces[5::6]]
        is_plain = written == names + list(texts.values())
        if not is_plain or self._has_alike(names) or max(map(len, places)) > 1:
            return IRREGULAR
        part_at, sort_at = (5 + 6 * names.index(place[0]) if place else 0 for place in places)
        return self._forms.number(Form(class_number, part_at, sort_at, _cuts(pieces[part_at])))

    def _has_alike(self, names: list[str]) -> bool:
        """Whether two attributes look alike in a signature: then their order has to be looked at."""
        return len(set(map(self.squash, (name.encode() for name in names)))) < len(names)

    def _class(self, texts: dict[str, str]) -> int:
        predicates = [self.predicate(attribute, "=", (text,)) for attribute, text in texts.items()]
        return self._forms.class_number(tuple(sorted(predicates, key=lambda predicate: predicate.attribute)))

    def predicate(self, attribute: str, operator: str, texts: tuple[str, ...] | None) -> KeyPredicate:
        """Return the class of the values that one condition compares an attribute with."""
        what = (attribute, operator, texts)
        predicate = self._predicates.get(what)
        if predicate is None:
            predicate = self.lexicon.classify(self._table, attribute, operator, texts, clear=self._is_clear)
            if len(self._predicates) >= _MOST_SIGNATURES:
                self._predicates.clear()
            self._predicates[what] = predicate
        return predicate

    def parse(self, raw: bytes) -> tuple[int, bytes, bytes]:
        """Return form, partition and sort key of an irregular key."""
        return self.parsed(_read_texts(raw))

    def parsed(self, texts: dict[str, str]) -> tuple[int, bytes, bytes]:
        """Return form, partition and sort key of decoded key attributes."""
        if not texts:
            return NO_KEY, b"", b""
        form = self._forms.number(Form(self._class(texts), 0, 0))
        places = self.places(texts)
        if places is None or not self._has_identity:
            return form, b"", b""
        return form, *_joined(texts, places)

    def entry(self, raw: bytes, index: str) -> tuple[bytes, bytes] | None:
        """Return partition and sort key of an entry of this index, from the raw `index_keys` of an item written."""
        usual = self._usual.get(index)
        found = None if usual is None else usual.fullmatch(raw)
        if found is not None:
            part, sort = found.group("part", "sort")
            return part, sort
        return self._parse_entry(raw, index)

    def _parse_entry(self, raw: bytes, index: str) -> tuple[bytes, bytes] | None:
        try:
            written = _DECODE_ENTRIES(raw)
        except (ValueError, RecursionError):
            return None
        texts = _texts(written.get(index, {}))
        places = self.places(texts) if texts else None
        if places is None:
            return None
        entry = _joined(texts, places)
        if self._lessons < _MOST_LESSONS:
            self._lessons += 1
            self._usual[index] = written_like(raw, written, (index, *places), entry)
        return entry

    def places(self, names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Tell partition and sort key attributes apart; None where the partition key is not whole."""
        partition, sort = self.schema or _guess(names)
        known = set(names)
        if not known.issuperset(partition):
            return None
        return partition, sort if known.issuperset(sort) else ()


def prefix_of(part: bytes, cut: int) -> bytes:
    """Return the first segments of a partition key, with the delimiter after them."""
    end = 0
    for _, found in zip(range(cut), _DELIMITER.finditer(part), strict=False):
        end = found.end()
    return part[:end]


def canonical(raw: bytes) -> bytes:
    """Write a key without the escapes that JSON does not ask for; what cannot be read stays as it is."""
    try:
        return msgspec.json.encode(msgspec.json.decode(raw))
    except (ValueError, RecursionError):
        return raw


def canonical_all(joined: bytes, separator: bytes) -> bytes:
    """Write keys without the escapes that JSON does not ask for, those that have any."""
    if _BACKSLASH not in joined:
        for escaped in set(_NEEDLESS.findall(joined)):
            joined = joined.replace(escaped, bytes([int(escaped[-2:], 16)]))
        if b"\\" not in joined:
            return joined
    raws = joined.split(separator)
    escaped = [at for at, raw in enumerate(raws) if b"\\" in raw]
    try:
        values = _DECODE_ANY(b"[" + b",".join([raws[at] for at in escaped]) + b"]")
        written = _ENCODE_LINES(values).split(b"\n")
    except (ValueError, RecursionError):
        written = [canonical(raws[at]) for at in escaped]
    for at, raw in zip(escaped, written, strict=False):
        raws[at] = raw
    return separator.join(raws)


def _joined(texts: dict[str, str], places: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[bytes, bytes]:
    part, sort = ("|".join([texts[name] for name in place]).encode("utf-8", "surrogatepass") for place in places)
    return part, sort


def _read_texts(raw: bytes) -> dict[str, str]:
    try:
        return _texts(_DECODE(raw))
    except (ValueError, RecursionError):
        return {}


def _texts(attributes: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the texts of a key's attributes; none where one of them is no key value."""
    texts: dict[str, str] = {}
    for attribute, value in attributes.items():
        text = key_text(value)
        if text is None or len(text) > _LONGEST_VALUE:
            return {}
        texts[attribute] = text
    return texts


def _guess(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell the keys of an undeclared table apart by their names; else the first one is the partition key."""
    first, *rest = sorted(names, key=lambda name: _SORT_LIKE.search(name) is not None)
    return (first,), tuple(rest)


def _cuts(part: bytes) -> tuple[int, ...]:
    """Return after which segments a prefix ends that names a part of the keys: variable, and not the whole key."""
    segments = _DELIMITER.split(part)
    variable = [number for number, segment in enumerate(segments, 1) if _VARIABLE.search(segment)]
    return tuple(variable[:-1][:PREFIXES])


def _as_it_is(keys: bytes) -> bytes:
    return keys


def _words(keys: bytes) -> bytes:
    return _WORDS.sub(b"x", keys.translate(_TO_WORD))


@lru_cache(maxsize=64)
def _digit_squash(run: int | None) -> Squash:
    """Return what makes all digits alike that no literal can match: where literals have some, only longer runs."""
    if run is None:
        return _as_it_is
    if run == 0:
        return lambda keys: keys.translate(_TO_ZERO)
    longer = re.compile(rb"[0-9]{%d,}" % (run + 1))
    zeros = b"0" * (run + 1)
    return lambda keys: longer.sub(zeros, keys)


@lru_cache(maxsize=64)
def _token_squash(behind: frozenset[str], run: int | None) -> Squash:
    """Return what makes all tokens alike but those that a literal hides behind."""
    digits = _digit_squash(run)
    if not behind:
        return lambda keys: digits(_TEXT_TOKEN.sub(b"~k", _DIGIT_TOKEN.sub(b"~d", keys)))
    kept = {token.encode() for token in behind}

    def blank(found: re.Match[bytes]) -> bytes:
        token = found.group()
        return token if token in kept else token[:2]

    return lambda keys: _TOKEN.sub(blank, keys)


@lru_cache(maxsize=64)
def _clear_squash(run: int | None, *, has_uuids: bool) -> Squash:
    digits = _digit_squash(run)
    return (lambda keys: digits(_UUID.sub(b"0", keys))) if has_uuids else digits
