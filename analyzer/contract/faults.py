"""What pydantic found wrong, told as faults of the file: line, field, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from analyzer.contract.document import ListNode, MapNode, line_at
from analyzer.contract.form import ContractForm
from analyzer.contract.shorthand import SPELLINGS
from analyzer.errors import Fault, closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_core import ErrorDetails

__all__ = ["did_you_mean", "field_path", "validate"]

_MENDS = {
    "string_type": "write a text here",
    "list_type": "write a list here: [a, b]",
    "dict_type": "write a mapping here: {name: value}",
    "model_type": "write a mapping here: {name: value}",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "int_from_float": "write a whole number",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "greater_than": "write a larger number",
    "greater_than_equal": "write a larger number",
    "finite_number": "write a number that something can reach",
    "int_parsing_size": "write a smaller number",
}


_MARKS = frozenset({"assumed", "is_key_empty"})


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return the mend for a name that is not among the known ones: the closest, or all."""
    meant = closest(word, known)
    if meant is not None:
        return f"did you mean {meant}?"
    return f"one of {', '.join(known)}" if known else "remove it"


def validate(document: MapNode, file: str) -> tuple[ContractForm, list[Fault]]:
    """Check a canonical document; what is faulty is told, taken out, and the rest is still read."""
    faults: list[Fault] = []
    taken: set[tuple[int, str]] = set()
    while True:  # each round takes something out
        try:
            return ContractForm.model_validate(document), faults
        except ValidationError as error:
            details = error.errors(include_url=False)
        told = {(fault.line, fault.field) for fault in faults}
        for detail in details:
            fault = _fault(detail, document, file)
            if (fault.line, fault.field) not in told and not _is_aftermath(detail, document, taken):
                told.add((fault.line, fault.field))
                faults.append(fault)
        taken |= _take_out([_place(detail, document) for detail in details])


def field_path(location: Sequence[str | int], document: object) -> str:
    """Write where a fault is as people say it: `tables.cases.patterns.list-open.order`."""
    words: list[str] = []
    node: Any = document
    for step in location:
        inside = node.get(str(step)) if isinstance(node, MapNode) else None
        if isinstance(node, ListNode) and isinstance(step, int) and step < len(node):
            inside = node[step]
            name = inside.get("id", inside.get("name")) if isinstance(inside, MapNode) else None
            words.append(str(step + 1 if name is None else name))
        else:
            words.append(str(step))
        node = inside
    return ".".join(word for word in words if word)


def _fault(detail: ErrorDetails, document: MapNode, file: str) -> Fault:
    location = _steps(detail, document)
    kind = detail["type"]
    field = field_path(location, document)
    line = line_at(document, location)
    if kind == "extra_forbidden":
        name = str(location[-1])
        message, mend = _no_field(name, location[:-1], document)
        return Fault(file, line, field, message, mend)
    if kind == "missing":
        return Fault(file, line, field, f"{location[-1]!r} is missing", _missing_mend(str(location[-1])))
    if kind == "value_error":
        message, _, mend = str(detail["ctx"]["error"]).partition("; ")
        return Fault(file, line, field, message, mend or "write another value")
    if kind == "literal_error":
        expected = str(detail["ctx"]["expected"]).replace("'", "")
        return Fault(file, line, field, f"{detail['input']!r} is not known here", f"write {expected}")
    if kind == "too_short":
        return Fault(file, line, field, "it is empty", "write at least one")
    message = detail["msg"][0].lower() + detail["msg"][1:]
    return Fault(file, line, field, message, _MENDS.get(kind, "write another value"))


def _no_field(name: str, location: Sequence[str | int], document: MapNode) -> tuple[str, str]:
    meant = SPELLINGS.get(name)
    if meant is not None and meant in _node_at(location, document):
        return f"{name!r} and {meant!r} say different things", "keep one of the two"
    return f"{name!r} is no field here", did_you_mean(name, _fields_at(location))


def _missing_mend(name: str) -> str:
    mends = {
        "operation": "say what serves it: operation: Query (or query_type)",
        "id": "give it an id, such as get-case",
        "name": "give it a name",
        "partition_key": "name the partition key attribute: partition_key: PK",
    }
    return mends.get(name, "add it")


def _steps(detail: ErrorDetails, document: object) -> tuple[str | int, ...]:
    """Keep of a location what the document holds, and what it lacks: pydantic adds the names of union members."""
    location = detail["loc"]
    steps: list[str | int] = []
    node: Any = document
    for position, step in enumerate(location):
        if isinstance(node, MapNode) and (step in node or _is_lacking(detail, position)):
            steps.append(step)
            node = node.get(str(step))
        elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node):
            steps.append(step)
            node = node[step]
    return tuple(steps)


def _is_lacking(detail: ErrorDetails, position: int) -> bool:
    return detail["type"] == "missing" and position == len(detail["loc"]) - 1


def _fields_at(location: Sequence[str | int]) -> list[str]:
    """Return the fields that the form knows at a place."""
    model: type[BaseModel] | None = ContractForm
    for step in location:
        if isinstance(step, int) or model is None:
            continue
        field = model.model_fields.get(step)
        if field is not None:
            model = _model_in(field.annotation)
    return [] if model is None else [name for name in model.model_fields if name not in _MARKS]


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _model_in(arg)) is not None), None)


def _node_at(location: Sequence[str | int], document: MapNode) -> Any:  # noqa: ANN401 (any part of a document)
    node: Any = document
    for step in location:
        node = node[step]
    return node


def _is_aftermath(detail: ErrorDetails, document: MapNode, taken: set[tuple[int, str]]) -> bool:
    """Whether a value is missing only because a faulty one was taken out."""
    location = _steps(detail, document)
    return detail["type"] == "missing" and (id(_node_at(location[:-1], document)), str(location[-1])) in taken


def _place(detail: ErrorDetails, document: MapNode) -> tuple[MapNode | ListNode, str | int]:
    """Return where the faulty value stands, or the element of a list that lacks something."""
    location = _steps(detail, document)
    if detail["type"] == "missing":
        last = max(position for position, step in enumerate(location) if isinstance(step, int))
        location = location[: last + 1]
    return _node_at(location[:-1], document), location[-1]


def _take_out(places: Sequence[tuple[MapNode | ListNode, str | int]]) -> set[tuple[int, str]]:
    """Remove faulty values, so that the rest can be checked; return what was taken out of mappings."""
    taken = set()
    positions: dict[int, tuple[ListNode, set[int]]] = {}
    for node, key in places:
        if isinstance(node, ListNode):
            positions.setdefault(id(node), (node, set()))[1].add(int(key))
        else:
            node.pop(str(key), None)
            taken.add((id(node), str(key)))
    for listed, each in positions.values():
        for position in sorted(each, reverse=True):
            del listed[position], listed.lines[position]
    return taken
