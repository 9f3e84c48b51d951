"""Which declared pattern a request shape belongs to, and why (formats.md §4, "Which pattern")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.model import UNNAMED, PatternDeclaration
from analyzer.correlator.fits import Asked, Fit, Match, asked_of, match_pattern
from analyzer.knowledge.operations import STATEMENTS
from analyzer.model.shape import Attribution, AttributionKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.contract.model import Contract, TableDeclaration
    from analyzer.model.shape import Shape
    from analyzer.model.target import Target

__all__ = ["attribute"]

_MOST_NAMED = 3
_UNNAMED = "its table is not known, and no contract declares such a call"


class _Candidate(Struct, frozen=True):
    """A pattern that a shape may belong to."""

    pattern: PatternDeclaration
    match: Match


def attribute(shape: Shape, target: Target, caller: str | None, contract: Contract) -> Attribution:
    """Return the declared pattern of a shape; too little knowledge gives `ambiguous`, never a false `undeclared`.

    Pure and cheap, the same for the same arguments: callers may keep the answer.
    """
    table = contract.table(target)
    if shape.tagged is not None:
        return _by_tag(shape, shape.tagged, table, contract)
    if table is None:
        return _without_table(shape, target, contract)
    if not shape.parsed:
        return Attribution(AttributionKind.UNPARSED, because="its expressions could not be parsed")
    asked = asked_of(shape, table)
    matches = [_Candidate(pattern, match_pattern(asked, pattern)) for pattern in table.patterns]
    possible = _without_wider(asked, table, [each for each in matches if each.match.fit is not Fit.NO])
    if not possible:
        hidden = tuple(p.id for p in table.patterns if "Query" in p.operations) if _hides_index(shape) else ()
        if hidden:
            return _perhaps(hidden, "neither its key nor its index is known")
        because = _nearest_miss(shape, table, asked.operations, matches)
        return Attribution(AttributionKind.UNDECLARED, because=because)
    return _choose(shape, contract.caller_of(caller), possible)


def _hides_index(shape: Shape) -> bool:
    """Whether a source told nothing of a query but its table: then that it names no index says nothing either."""
    return shape.operation == "Query" and not shape.key and shape.index is None


def _without_table(shape: Shape, target: Target, contract: Contract) -> Attribution:
    """Attribute a request to a table that is not declared, or that its source does not name."""
    names = tuple(
        pattern.id
        for table in contract.tables
        for pattern in table.patterns
        if shape.operation in pattern.operations or shape.operation in STATEMENTS
    )
    if target.table or not names:
        return _undeclared("no contract declares this table" if target.table else _UNNAMED)
    return _perhaps(names, "its table is not known")


def _perhaps(names: tuple[str, ...], what: str) -> Attribution:
    return Attribution(
        AttributionKind.AMBIGUOUS, candidates=names, because=f"{what}, so it may be {_listed(names, 'or')}"
    )


def _undeclared(because: str) -> Attribution:
    return Attribution(AttributionKind.UNDECLARED, because=because)


def _by_tag(shape: Shape, tag: str, table: TableDeclaration | None, contract: Contract) -> Attribution:
    if table is not None and table.pattern(tag) is not None:
        return Attribution(AttributionKind.DECLARED, tag, because=f"the client tagged the request {tag}")
    elsewhere = next((t.name for t in contract.tables if t.pattern(tag) is not None), None)
    if elsewhere is not None and shape.parts:
        because = f"the client tagged the call {tag}, which {elsewhere} declares"
        return Attribution(AttributionKind.DECLARED, tag, because=because)
    if table is None and elsewhere is None:
        return Attribution(AttributionKind.UNDECLARED, because="no contract declares this table")
    place = "" if elsewhere is None else f"; {elsewhere} declares one of that name"
    because = f"the client tagged the request {tag}, which no pattern of this table is called{place}"
    return Attribution(AttributionKind.UNDECLARED, because=because)


def _without_wider(asked: Asked, table: TableDeclaration, possible: list[_Candidate]) -> list[_Candidate]:
    """Leave out patterns without a sort condition where a Query has one and a sibling declares one."""
    is_query = "Query" in asked.operations and "GetItem" not in asked.operations
    if not is_query or not any(name in asked.key for name in asked.sort):
        return possible
    wide = [each for each in possible if not _declares_sort(each.pattern, asked.sort)]
    texts = {_partition_texts(each.pattern, asked.partition) for each in wide}
    narrow = {
        _partition_texts(pattern, asked.partition)
        for pattern in (table.patterns if texts else ())
        if pattern.index == asked.shape.index and "Query" in pattern.operations and _declares_sort(pattern, asked.sort)
    }
    return [
        each for each in possible if each not in wide or _partition_texts(each.pattern, asked.partition) not in narrow
    ]


def _partition_texts(pattern: PatternDeclaration, partition: Sequence[str]) -> tuple[str | None, ...]:
    templates = [pattern.template(name) for name in partition]
    return tuple(None if template is None else template.text for template in templates)


def _declares_sort(pattern: PatternDeclaration, sort: Sequence[str]) -> bool:
    return any(pattern.template(name) is not None for name in sort)


def _choose(shape: Shape, caller: str | None, possible: list[_Candidate]) -> Attribution:
    """Take the most literal of those that fit surely, unless one that may fit could be closer still."""
    sure = [each for each in possible if each.match.fit is Fit.SURE]
    perhaps = [each for each in possible if each.match.fit is Fit.PERHAPS]
    if sure:
        most = max(each.match.literals for each in sure)
        level = [each for each in possible if each.match.literals == most]
        for rank in (_rank_sort, _rank_order, _rank_filter, _rank_caller):
            level = _least(level, rank, shape, caller)
        perhaps = [each for each in perhaps if each.match.literals > most or each in level]
        sure = [each for each in level if each not in perhaps]
    if len(sure) == 1 and not perhaps:
        return Attribution(AttributionKind.DECLARED, sure[0].pattern.id, because=_reason(sure[0], possible))
    names = tuple(each.pattern.id for each in possible if each in sure or each in perhaps)
    if perhaps:
        because = f"{perhaps[0].match.why}, so it may be {_listed(names, 'or')}"
    else:
        because = f"no request can tell {_listed(names, 'and')} apart; a tag on the request would"
    return Attribution(AttributionKind.AMBIGUOUS, candidates=names, because=because)


def _least(
    left: list[_Candidate],
    rank: Callable[[_Candidate, Shape, str | None], int],
    shape: Shape,
    caller: str | None,
) -> list[_Candidate]:
    ranks = [rank(each, shape, caller) for each in left]
    return [each for each, its in zip(left, ranks, strict=True) if its == min(ranks)]


def _rank_sort(each: _Candidate, shape: Shape, _caller: str | None) -> int:
    """Put a pattern that declares the sort condition before one that takes any."""
    return 0 if each.match.has_sort or not shape.key else 1


def _rank_order(each: _Candidate, shape: Shape, _caller: str | None) -> int:
    """DynamoDB reads in ascending order unless it is told otherwise."""
    if each.pattern.order is None:
        return 1
    return 0 if (each.pattern.order == "descending") == (shape.forward is False) else 2


def _rank_filter(each: _Candidate, shape: Shape, _caller: str | None) -> int:
    if each.pattern.filter is None:
        return 1
    return 0 if each.pattern.filter.allowed == (shape.filter is not None) else 2


def _rank_caller(each: _Candidate, _shape: Shape, caller: str | None) -> int:
    if not each.pattern.callers or caller is None:
        return 1
    return 0 if caller in each.pattern.callers else 2


def _reason(chosen: _Candidate, possible: list[_Candidate]) -> str:
    pattern = chosen.pattern
    place = "the base table" if pattern.index is None else pattern.index
    keys = " and ".join(f"{k.attribute} {k.template.text}" for key in pattern.keys[:1] for k in key)
    what = f"{'/'.join(pattern.operations)} on {place}" + (f" with {keys}" if keys else "")
    others = [each.pattern.id for each in possible if each is not chosen]
    return f"it is {what}" + (f", closer than {_listed(others, 'and')}" if others else "")


def _nearest_miss(shape: Shape, table: TableDeclaration, operations: frozenset[str], matches: list[_Candidate]) -> str:
    """Say what the closest declarations lack."""
    name = "the contract's unnamed table" if table.name == UNNAMED else table.name
    place = name if shape.index is None else f"{name}/{shape.index}"
    word = shape.operation if operations == {shape.operation} else "/".join(sorted(operations))
    close = [each.pattern.id for each in matches if each.match.why in ("key", "sort")]
    sorts = [each.pattern.id for each in matches if each.match.why == "sort"]
    if sorts:
        return f"{_listed(sorts, 'and')} of {place} declare{_s(sorts)} another sort condition for {word}"
    if close:
        return f"{_listed(close, 'and')} of {place} declare{_s(close)} {word} of another key"
    if not any(each.pattern.index == shape.index for each in matches):
        return f"no pattern of {name} is served by {shape.index or 'the base table'}"
    return f"no pattern of {place} declares {word}"


def _s(names: Sequence[str]) -> str:
    return "s" if len(names) == 1 else ""


def _listed(names: Sequence[str], word: str) -> str:
    shown = list(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        shown.append(f"{len(names) - _MOST_NAMED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"
