"""Whether a request shape falls under one declared pattern: surely, perhaps, or not."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.contract.model import KeyTemplate, PatternDeclaration, TableDeclaration
    from analyzer.model.shape import KeyPredicate, PartShape, Shape
    from analyzer.requests.templates import Template

__all__ = ["Fit", "Match", "executed_as", "match_pattern"]

_VERBS = {"SELECT": ("Query",), "INSERT": ("PutItem",), "UPDATE": ("UpdateItem",), "DELETE": ("DeleteItem",)}
_SEVERAL = {
    "BatchExecuteStatement": ("BatchGetItem", "BatchWriteItem"),
    "ExecuteTransaction": ("TransactGetItems", "TransactWriteItems"),
}
_MANY_ITEMS = frozenset({"BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems"})


class Fit(IntEnum):
    """What is known of a match; the less of two is the answer for both."""

    NO = 0
    PERHAPS = 1
    SURE = 2


class Match(Struct, frozen=True):
    """How a shape falls under a pattern; `why` names what kept them apart, or what is not known."""

    fit: Fit
    literals: int = 0
    why: str = ""
    has_sort: bool = False


def executed_as(shape: Shape, table: TableDeclaration) -> frozenset[str]:
    """Return the operations that a request counts as: its own, and for PartiQL what DynamoDB executes it as."""
    names = {shape.operation}
    if shape.scans:
        return frozenset(names | {"Scan"})
    if shape.operation == "ExecuteStatement" and shape.statement is not None:
        verb = shape.statement.split(maxsplit=1)[0].upper() if shape.statement.strip() else ""
        names.update(_VERBS.get(verb, ()))
        if verb == "SELECT" and shape.index is None and _names_one_item(shape, table):
            names.add("GetItem")
    elif shape.operation in _SEVERAL:
        read, write = _SEVERAL[shape.operation]
        reads = {part.operation == "Get" for part in shape.parts}
        names.update(name for name, is_read in ((read, True), (write, False)) if not reads or is_read in reads)
    return frozenset(names)


def _names_one_item(shape: Shape, table: TableDeclaration) -> bool:
    bound = {predicate.attribute for predicate in shape.key if predicate.operator == "="}
    return bool(bound) and bound >= {*table.partition_key, *table.sort_key}


def match_pattern(
    shape: Shape, pattern: PatternDeclaration, table: TableDeclaration, operations: Iterable[str]
) -> Match:
    """Compare operation, index and key templates; what only sets equals apart is left to the caller."""
    shared = [name for name in pattern.operations if name in operations]
    if not shared:
        return Match(Fit.NO, why="operation")
    if pattern.index != shape.index:
        return Match(Fit.NO, why="index")
    if not pattern.keys or "Scan" in shared:
        return Match(Fit.SURE)
    if shared[0] in _MANY_ITEMS or shape.parts:
        return _match_parts(shape.parts, pattern, table)
    found = [_match_key(key, shape.key, table, shape, is_query="Query" in shared) for key in pattern.keys]
    return max(found, key=lambda match: (match.fit, match.literals))


def _match_parts(parts: Sequence[PartShape], pattern: PatternDeclaration, table: TableDeclaration) -> Match:
    """Each part has to fall under one of the pattern's maps; parts that are not known may."""
    if not parts:
        takes_all = any(all(_takes_anything(k.template) for k in key) for key in pattern.keys)
        return Match(Fit.SURE if takes_all else Fit.PERHAPS, why="the keys of the parts are not known")
    fit, literals, why = Fit.SURE, 0, ""
    for part in parts:
        found = [_match_key(key, part.key, table, None, is_query=False) for key in pattern.keys]
        best = max(found, key=lambda m: (m.fit, m.literals))
        if best.fit < fit:
            fit, why = best.fit, best.why
        literals += best.literals
    return Match(fit, literals, why)


def _match_key(
    key: tuple[KeyTemplate, ...],
    predicates: tuple[KeyPredicate, ...],
    table: TableDeclaration,
    shape: Shape | None,
    *,
    is_query: bool,
) -> Match:
    """Compare one map of templates with a request's conditions on key attributes; other attributes say nothing."""
    index = None if shape is None else shape.index
    partition, sort = table.schema(index)
    by_name = {predicate.attribute: predicate for predicate in predicates}
    is_sure_of_keys = table.has_sure_keys(index)
    fit, literals, why = Fit.SURE, 0, ""
    for attribute, template in ((k.attribute, k.template) for k in key):
        if attribute not in partition and attribute not in sort:
            continue
        predicate = by_name.get(attribute)
        if predicate is not None:
            found = _compare(template, predicate)
        elif is_query and attribute in sort and predicates and is_sure_of_keys:
            return Match(Fit.NO, why="sort")
        else:
            found = Fit.SURE if _takes_anything(template) and not (is_query and attribute in sort) else Fit.PERHAPS
        if found is Fit.NO:
            return Match(Fit.NO, why="sort" if attribute in sort else "key")
        if found is Fit.PERHAPS:
            why = f"the value of {attribute} is not known"
        fit = min(fit, found)
        literals += template.literal_characters
    return Match(fit, literals, why, has_sort=any(k.attribute in sort for k in key))


def _compare(template: Template, predicate: KeyPredicate) -> Fit:
    if template.text in predicate.declared:
        return Fit.SURE
    if not predicate.template:
        return Fit.SURE if template.operator == predicate.operator and _takes_anything(template) else Fit.PERHAPS
    return Fit.NO


def _takes_anything(template: Template) -> bool:
    """Whether every value falls under a template: variables alone, without a list of values."""
    return template.literal_characters == 0 and all(not slot.values for slot in template.slots)
