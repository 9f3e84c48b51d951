"""Whether a request shape falls under one declared pattern: surely, perhaps, or not."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from analyzer.model.shape import KeyPredicate, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.contract.model import KeyTemplate, PatternDeclaration, TableDeclaration
    from analyzer.requests.templates import Template

__all__ = ["Asked", "Fit", "Match", "asked_of", "executed_as", "match_pattern"]

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


Conditions = dict[str, KeyPredicate]

_OTHER_OPERATION = Match(Fit.NO, why="operation")
_OTHER_INDEX = Match(Fit.NO, why="index")
_OTHER_KEY = Match(Fit.NO, why="key")
_OTHER_SORT = Match(Fit.NO, why="sort")


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


class Asked(NamedTuple):
    """A request as patterns are compared with it: what it counts as, and its conditions by attribute."""

    shape: Shape
    operations: frozenset[str]
    partition: tuple[str, ...]
    sort: tuple[str, ...]
    has_sure_keys: bool
    key: Conditions
    parts: tuple[Conditions, ...]


def asked_of(shape: Shape, table: TableDeclaration) -> Asked:
    """Prepare a shape, once for all patterns of its table."""
    index = None if shape.parts else shape.index
    partition, sort = table.schema(index)
    parts = tuple(_by_attribute(part.key) for part in shape.parts)
    sure = table.has_sure_keys(index)
    return Asked(shape, executed_as(shape, table), partition, sort, sure, _by_attribute(shape.key), parts)


def _by_attribute(predicates: Iterable[KeyPredicate]) -> Conditions:
    return {predicate.attribute: predicate for predicate in predicates}


def match_pattern(asked: Asked, pattern: PatternDeclaration) -> Match:
    """Compare operation, index and key templates; what only sets equals apart is left to the caller."""
    shared = [name for name in pattern.operations if name in asked.operations]
    if not shared:
        return _OTHER_OPERATION
    if pattern.index != asked.shape.index:
        return _OTHER_INDEX
    if not pattern.keys or "Scan" in shared:
        return Match(Fit.SURE)
    if shared[0] in _MANY_ITEMS or asked.parts:
        return _match_parts(asked, pattern)
    return _closest([_match_key(key, asked.key, asked, is_query="Query" in shared) for key in pattern.keys])


def _closest(matches: list[Match]) -> Match:
    return matches[0] if len(matches) == 1 else max(matches, key=lambda match: (match.fit, match.literals))


def _match_parts(asked: Asked, pattern: PatternDeclaration) -> Match:
    """Each part has to fall under one of the pattern's maps; parts that are not known may."""
    if not asked.parts:
        takes_all = any(all(_takes_anything(k.template) for k in key) for key in pattern.keys)
        return Match(Fit.SURE if takes_all else Fit.PERHAPS, why="the keys of the parts are not known")
    fit, literals, why = Fit.SURE, 0, ""
    for part in asked.parts:
        best = _closest([_match_key(key, part, asked, is_query=False) for key in pattern.keys])
        if best.fit < fit:
            fit, why = best.fit, best.why
        literals += best.literals
    return Match(fit, literals, why)


def _match_key(key: tuple[KeyTemplate, ...], conditions: Conditions, asked: Asked, *, is_query: bool) -> Match:
    """Compare one map of templates with a request's conditions on key attributes; other attributes say nothing."""
    fit, literals, why, has_sort = Fit.SURE, 0, "", False
    for declared in key:
        attribute, template = declared.attribute, declared.template
        is_sort = attribute in asked.sort
        if not is_sort and attribute not in asked.partition:
            continue
        has_sort = has_sort or is_sort
        predicate = conditions.get(attribute)
        if predicate is not None:
            found = _compare(template, predicate)
        elif is_query and is_sort:
            found = Fit.NO if conditions and asked.has_sure_keys else Fit.PERHAPS
        else:
            found = Fit.SURE if _takes_anything(template) else Fit.PERHAPS
        if found is Fit.NO:
            return _OTHER_SORT if is_sort else _OTHER_KEY
        if found is Fit.PERHAPS:
            fit, why = found, f"the value of {attribute} is not known"
        literals += template.literal_characters
    return Match(fit, literals, why, has_sort)


def _compare(template: Template, predicate: KeyPredicate) -> Fit:
    if template.text in predicate.declared:
        return Fit.SURE
    if not predicate.template:
        return Fit.SURE if template.operator == predicate.operator and _takes_anything(template) else Fit.PERHAPS
    return Fit.NO


def _takes_anything(template: Template) -> bool:
    """Whether every value falls under a template: variables alone, without a list of values."""
    return template.literal_characters == 0 and all(not slot.values for slot in template.slots)
