"""What stands in a field of a contract file: words, quantities, templates, in every spelling that is clear enough."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from analyzer.contract.quantities import (
    parse_bytes,
    parse_multiple,
    parse_rate,
    parse_seconds,
    parse_share,
    parse_staleness,
)
from analyzer.knowledge.limits import ITEM_BYTES
from analyzer.knowledge.operations import OPERATIONS
from analyzer.requests.templates import Template

__all__ = [
    "SCALAR",
    "Amount",
    "Bytes",
    "Consistency",
    "Count",
    "Day",
    "Identity",
    "ItemBytes",
    "KeyForms",
    "Multiple",
    "Names",
    "Operations",
    "OrAlso",
    "Order",
    "Projection",
    "Rate",
    "Seconds",
    "Share",
    "Staleness",
    "TemplateText",
    "Text",
    "Texts",
    "Whole",
    "operation_named",
    "read_filter",
    "read_rate",
    "words",
]

_BY_SHORT_NAME = {re.sub("Items?$", "", name).lower(): name for name in OPERATIONS}


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|[+]00:00)?)?")


def operation_named(text: str) -> str | None:
    """Return DynamoDB's name of an operation, however it is written: `get`, `batch_get`, `Batch Get Item`."""
    return _BY_SHORT_NAME.get(re.sub("items?$", "", re.sub(r"[\s_-]", "", text.lower())))


def _operations(value: object) -> object:
    names = value if isinstance(value, list) else [value]
    if not names:
        raise ValueError("it is empty; say what serves it, such as Query")
    found = [operation_named(str(name)) for name in names]
    unknown = [str(name) for name, known in zip(names, found, strict=True) if known is None]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no DynamoDB operation; one of {', '.join(OPERATIONS)}")
    return found


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str | int | float) else value


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _template(text: str) -> str:
    Template.parse(text)
    return text


def _day(value: object) -> object:
    text = str(value).strip()
    try:
        found = None if isinstance(value, bool) or not _DAY.fullmatch(text) else date.fromisoformat(text[:10])
    except ValueError:
        found = None
    if found is None:
        raise ValueError(f"{text[:40]!r} is no day; write it like 2027-03-31")
    return found.isoformat()


def _item_size(size: int) -> int:
    if not 1 <= size <= ITEM_BYTES:
        raise ValueError(f"no item has {size:,} bytes; DynamoDB takes at most {ITEM_BYTES:,}")
    return size


def words(*words: str, **also: str) -> BeforeValidator:
    """Accept a word in any case, with spaces, dashes or underscores; `also` are short ones."""
    known = {re.sub(r"[\s_-]", "", word): word for word in words} | also

    def find(value: object) -> object:
        return known.get(re.sub(r"[\s_-]", "", str(value).lower()), value)

    return BeforeValidator(find)


def _as_maps(value: object) -> object:
    return [value] if isinstance(value, dict) else value


def _projection(value: object) -> object:
    if isinstance(value, str):
        word = re.sub(r"[\s_-]", "", value.lower())
        if word not in ("keysonly", "all"):
            raise ValueError(f"{value!r} is no projection; keys_only, all, or a list of attributes")
        return "keys_only" if word == "keysonly" else "all"
    return value


def read_filter(value: object) -> object:
    """Read a filter said in a word, as the expression itself, or as the attributes that it looks at."""
    if value is False or (isinstance(value, str) and value.strip().lower() in ("none", "no", "")):
        return {"allowed": False}
    if isinstance(value, list):
        return {"text": ", ".join(map(str, value))}
    if value is True or isinstance(value, str):
        return {"text": None if value is True else value}
    return value


def read_rate(value: object) -> object:
    """Read a bare rate as the p95."""
    return value if isinstance(value, dict) or value is None else {"p95": value}


class OrAlso:
    """Let the JSON Schema take a short form as well, which a validator turns into the long one."""

    def __init__(self, *forms: dict[str, Any]) -> None:
        self._forms = forms

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:  # noqa: ANN401 (pydantic's)
        return {"anyOf": [handler(core), *self._forms]}


def _quantity(parse: Any, example: str) -> tuple[BeforeValidator, WithJsonSchema]:  # noqa: ANN401 (any parser)
    return BeforeValidator(parse), WithJsonSchema({"type": ["string", "number"], "examples": [example]})


Seconds = Annotated[float, *_quantity(parse_seconds, "5s")]
Staleness = Annotated[float, *_quantity(parse_staleness, "5s")]
Share = Annotated[float, *_quantity(parse_share, "10%")]
Bytes = Annotated[int, *_quantity(parse_bytes, "2000")]
Multiple = Annotated[float, *_quantity(parse_multiple, "10x")]
Rate = Annotated[float, *_quantity(parse_rate, "100/s")]
SCALAR = {"type": ["string", "number"]}
Text = Annotated[str, BeforeValidator(_as_text), WithJsonSchema(SCALAR)]
TemplateText = Annotated[
    str, BeforeValidator(_as_text), AfterValidator(_template), WithJsonSchema(SCALAR | {"examples": ["CASE#<caseId>"]})
]
Names = Annotated[list[str], BeforeValidator(_as_list), OrAlso({"type": "string"})]
Whole = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Day = Annotated[str, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
ItemBytes = Annotated[Bytes, AfterValidator(_item_size)]
KeyForm = dict[str, TemplateText]
KeyForms = Annotated[
    list[KeyForm], BeforeValidator(_as_maps), OrAlso({"type": "object", "additionalProperties": SCALAR})
]
Identity = Annotated[str, BeforeValidator(_as_text), Field(min_length=1)]
Texts = Annotated[list[Text], BeforeValidator(_as_list), OrAlso(SCALAR)]
Consistency = Annotated[Literal["eventual", "strong"], words("eventual", "strong")]
Order = Annotated[
    Literal["ascending", "descending"], words("ascending", "descending", asc="ascending", desc="descending")
]
Operations = Annotated[
    list[str],
    BeforeValidator(_operations),
    WithJsonSchema(
        {"anyOf": [{"enum": [*OPERATIONS]}, {"type": "array", "items": {"enum": [*OPERATIONS]}, "minItems": 1}]}
    ),
]
Projection = Annotated[
    Literal["keys_only", "all"] | list[str],
    BeforeValidator(_projection),
    WithJsonSchema({"anyOf": [{"enum": ["keys_only", "all"]}, {"type": "array", "items": {"type": "string"}}]}),
]
