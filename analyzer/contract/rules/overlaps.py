"""Rules over two patterns: whether one request can fall under both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.contract.scope import FAIL, WARN, Objection, Scope, of_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import PatternDeclaration
    from analyzer.requests.templates import Template

__all__ = ["ambiguous_templates", "same_request"]


_MOST_RIVALS = 5
"""Of one pattern no more are told: one is mended, the next run tells what is left."""


def ambiguous_templates(scope: Scope) -> Iterator[Objection]:
    """Refuse two different templates that one value fits, neither more literal: either pattern may be meant."""
    for one, two, pair in _rivals(scope, same=False):
        message = f"{one.id} and {two.id} overlap: one key can fit {pair[0]} and {pair[1]}"
        mend = "begin each kind of key with a literal of its own, or let the client tag the requests"
        yield of_pattern(WARN if _is_assumed(scope, one) else FAIL, two, message, mend)


def same_request(scope: Scope) -> Iterator[Objection]:
    """Find two patterns of one and the same request: it will be told as ambiguous between them."""
    for one, two, _ in _rivals(scope, same=True):
        message = f"no request can tell {one.id} and {two.id} apart: same operation, target and key"
        yield of_pattern(WARN, two, message, "unite them, give each its callers, or let the client tag the requests")


def _rivals(scope: Scope, *, same: bool) -> Iterator[tuple[PatternDeclaration, PatternDeclaration, tuple[str, str]]]:
    patterns = scope.table.patterns
    texts = [_text(pattern, 0) if len(pattern.keys) == 1 and not pattern.scans else "" for pattern in patterns]
    for position, earlier in enumerate(_candidates(scope)):
        found = 0
        for place in (place for place in earlier if (texts[place] == texts[position]) is same):
            one, two = patterns[place], patterns[position]
            if _is_told_apart(one, two) or (_is_assumed(scope, one) and one.entity != two.entity):
                continue  # of which table each is, nobody said
            if same or _is_colliding(scope, one, two):
                yield one, two, (texts[place], texts[position])
                found += 1
            if found == _MOST_RIVALS:
                break


def _candidates(scope: Scope) -> list[list[int]]:
    """Return for each pattern the earlier ones that may ask the same: a few each, where literals differ."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for position, pattern in enumerate(scope.table.patterns):
        kind = _kind(scope, pattern)
        for operation in pattern.operations:
            groups.setdefault((pattern.index, operation, kind), []).append(position)
    earlier: list[set[int]] = [set() for _ in scope.table.patterns]
    for (_, _, kind), positions in groups.items():
        names = [name for name, _ in kind] if isinstance(kind, tuple) else []
        prefixes = [
            {at: _literal(scope.table.patterns[at].template(name), end) for at in positions}
            for name in names
            for end in (0, -1)
        ]
        prefix = max(prefixes, key=lambda each: len(set(each.values())), default=dict.fromkeys(positions, ""))
        ordered = sorted(positions, key=prefix.__getitem__)
        for rank, at in enumerate(ordered):
            for other in ordered[rank + 1 :]:
                if not prefix[other].startswith(prefix[at]):
                    break  # no later one does
                earlier[max(at, other)].add(min(at, other))
    return [sorted(places) for places in earlier]


def _kind(scope: Scope, pattern: PatternDeclaration) -> object:
    """Return what two patterns have in common if one request can fall under both."""
    if pattern.scans or not pattern.keys:
        return f"{pattern.scans} {bool(pattern.keys)}"
    if len(pattern.keys) > 1:
        return frozenset(_text(pattern, position) for position in range(len(pattern.keys)))
    partition, sort = scope.table.schema(pattern.index)
    told = ((name, pattern.template(name)) for name in (*partition, *sort))
    return tuple((name, template.operator) for name, template in told if template is not None)


def _literal(template: Template | None, end: int) -> str:
    """Return the literal that every value begins with, or the one that it ends with, from its end."""
    if template is None or template.operator not in ("=", "begins_with")[: 2 + end]:
        return ""
    literal = template.operands[0][end]
    return "" if not isinstance(literal, str) else literal[::-1] if end else literal


def _is_assumed(scope: Scope, pattern: PatternDeclaration) -> bool:
    """Whether nobody named the key attributes, and the templates say nothing either: an imported mapping."""
    literals = sum(k.template.literal_characters for key in pattern.keys for k in key)
    return not literals and not scope.table.has_sure_keys(pattern.index)


def _is_told_apart(one: PatternDeclaration, two: PatternDeclaration) -> bool:
    """Whether order, filter or callers tell their requests apart."""
    if one.order is not None and two.order is not None and one.order != two.order:
        return True
    if one.filter is not None and two.filter is not None and one.filter.allowed != two.filter.allowed:
        return True
    return bool(one.callers and two.callers) and not set(one.callers) & set(two.callers)


def _is_colliding(scope: Scope, one: PatternDeclaration, two: PatternDeclaration) -> bool:
    """Whether one request can fall under two patterns of one kind, neither more literal."""
    partition, sort = scope.table.schema(one.index)
    pairs = [(one.template(name), two.template(name)) for name in (*partition, *sort)]
    both = [(first, second) for first, second in pairs if first is not None and second is not None]
    literals = [sum(template.literal_characters for template in side) for side in zip(*both, strict=True)]
    return len(set(literals)) < 2 and all(first.overlaps(second) for first, second in both)  # noqa: PLR2004 - equal


def _text(pattern: PatternDeclaration, position: int) -> str:
    return ", ".join(f"{k.attribute} {k.template.text}" for k in pattern.keys[position])
