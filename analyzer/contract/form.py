"""The contract file as people write it (formats.md §4), for pydantic: every fault at once, and the JSON Schema.

What is loaded is turned into the frozen values of `contract.model`; nothing outside this folder sees these classes.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator

from analyzer.contract.quantities import parse_bytes, parse_multiple, parse_rate, parse_seconds, parse_share
from analyzer.requests.templates import Template

__all__ = [
    "ASSUMED",
    "OPERATIONS",
    "ContractForm",
    "EntityForm",
    "IndexForm",
    "PatternForm",
    "TableForm",
    "json_schema",
    "operation_named",
]

OPERATIONS = (
    "GetItem",
    "Query",
    "Scan",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchGetItem",
    "BatchWriteItem",
    "TransactGetItems",
    "TransactWriteItems",
    "ExecuteStatement",
    "BatchExecuteStatement",
    "ExecuteTransaction",
    "SearchVectors",
)
_BY_SHORT_NAME = {re.sub("Items?$", "", name).lower(): name for name in OPERATIONS}
ASSUMED = "(assumed)"
"""Marks a table or index whose key attributes nobody named; no file of the user's has a field of that name."""

_RESERVED_IDS = frozenset({"undeclared", "ambiguous", "unparsed", "other"})


def operation_named(text: str) -> str | None:
    """Return DynamoDB's name of an operation, however it is written: `get`, `batch_get`, `Batch Get Item`."""
    return _BY_SHORT_NAME.get(re.sub("items?$", "", re.sub(r"[\s_-]", "", text.lower())))


def _operations(value: object) -> object:
    names = value if isinstance(value, list) else [value]
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


def _words(*words: str) -> BeforeValidator:
    """Accept a word in any case, with spaces, dashes or underscores."""
    known = {re.sub(r"[\s_-]", "", word): word for word in words}

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


def _filter(value: object) -> object:
    if value is False or (isinstance(value, str) and value.strip().lower() in ("none", "no", "")):
        return {"allowed": False}
    if value is True or isinstance(value, str):
        return {"text": None if value is True else value}
    return value


def _rate(value: object) -> object:
    return value if isinstance(value, dict) or value is None else {"p95": value}


class _OrAlso:
    """Let the JSON Schema take a short form as well, which a validator turns into the long one."""

    def __init__(self, *forms: dict[str, Any]) -> None:
        self._forms = forms

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:  # noqa: ANN401 (pydantic's)
        return {"anyOf": [handler(core), *self._forms]}


def _quantity(parse: Any, example: str) -> tuple[BeforeValidator, WithJsonSchema]:  # noqa: ANN401 (any parser)
    return BeforeValidator(parse), WithJsonSchema({"type": ["string", "number"], "examples": [example]})


Seconds = Annotated[float, *_quantity(parse_seconds, "5s")]
Share = Annotated[float, *_quantity(parse_share, "10%")]
Bytes = Annotated[int, *_quantity(parse_bytes, "2000")]
Multiple = Annotated[float, *_quantity(parse_multiple, "10x")]
Rate = Annotated[float, *_quantity(parse_rate, "100/s")]
_SCALAR = {"type": ["string", "number"]}
Text = Annotated[str, BeforeValidator(_as_text), WithJsonSchema(_SCALAR)]
TemplateText = Annotated[
    str, BeforeValidator(_as_text), AfterValidator(_template), WithJsonSchema(_SCALAR | {"examples": ["CASE#<caseId>"]})
]
Names = Annotated[list[str], BeforeValidator(_as_list), _OrAlso({"type": "string"})]
Whole = Annotated[int, Field(ge=0)]
KeyForm = dict[str, TemplateText]
_KEY_SCHEMA = {"type": "object", "additionalProperties": _SCALAR}


class _Form(BaseModel):
    """Unknown keys are faults: a typo never becomes a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CallerForm(_Form):
    """How one caller looks to each source; each entry exact or a glob."""

    services: Names = []
    roles: Names = []
    user_agents: Names = []


class WhereForm(_Form):
    """Where a declaration of a table holds."""

    accounts: Annotated[list[Text], BeforeValidator(_as_list), _OrAlso(_SCALAR)] = []
    regions: Names = []
    tags: dict[str, Text] = {}


class ReplicasForm(_Form):
    """Regions that write, and how replicas agree."""

    write_regions: Text | list[str] | None = None
    consistency: Annotated[Literal["eventual", "strong"] | None, _words("eventual", "strong")] = None


class StreamForm(_Form):
    """A consumer of the table's stream."""

    consumer: str
    purpose: str | None = None
    idempotent: bool | None = None
    max_age: Seconds | None = None


class EntityForm(BaseModel):
    """A kind of item: templates of the key attributes it has, each under the attribute's name."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, TemplateText]

    name: str
    item_bytes: Bytes | None = None


class IndexForm(_Form):
    """A secondary index."""

    assumed: Annotated[bool, Field(alias=ASSUMED)] = False

    name: str
    kind: Annotated[Literal["gsi", "lsi", "vector"], _words("gsi", "lsi", "vector")] = "gsi"
    partition_key: Names = []
    sort_key: Names = []
    projection: Annotated[
        Literal["keys_only", "all"] | list[str] | None,
        BeforeValidator(_projection),
        WithJsonSchema({"anyOf": [{"enum": ["keys_only", "all"]}, {"type": "array", "items": {"type": "string"}}]}),
    ] = None
    sparse: bool | None = None
    staleness_tolerance: Seconds | None = None
    expected_write_amplification: Annotated[float, Field(ge=0)] | None = None
    backfill_impact: Text | None = None
    hot_key_risk: Text | None = None
    owner: Text | None = None
    types: dict[str, Literal["S", "N", "B"]] = {}


class FilterForm(_Form):
    """Whether a filter belongs to the pattern, and how much it may throw away."""

    allowed: bool = True
    discards_at_most: Share | None = None
    text: Text | None = None


class RateForm(_Form):
    """Requests a second."""

    p95: Rate | None = None
    peak: Rate | None = None


class PerKeyForm(_Form):
    """What one key, or the hottest one, gets; rates are requests a second."""

    read_rate: Rate | None = None
    write_rate: Rate | None = None
    growth_per_day: Annotated[float, Field(ge=0)] | None = None
    top_share: Share | None = None


class TransactionForm(_Form):
    """What a transaction holds together."""

    items: Whole | None = None
    because: Text | None = None


class SloForm(_Form):
    """What the callers were promised."""

    p99: Seconds | None = None
    errors: Share | None = None


class AllowForm(_Form):
    """A finding that is accepted, why, and until when."""

    detector: str
    until: Text
    reason: str


class PatternForm(_Form):
    """One declared access pattern."""

    id: Annotated[str, BeforeValidator(_as_text), Field(min_length=1)]
    title: Text | None = None
    entity: Text | None = None
    operation: Annotated[
        list[str],
        BeforeValidator(_operations),
        WithJsonSchema({"anyOf": [{"enum": [*OPERATIONS]}, {"type": "array", "items": {"enum": [*OPERATIONS]}}]}),
    ]
    index: str | None = None
    key: Annotated[list[KeyForm], BeforeValidator(_as_maps), _OrAlso(_KEY_SCHEMA)] = []
    order: Annotated[Literal["ascending", "descending"] | None, _words("ascending", "descending")] = None
    page_size: Whole | None = None
    returns_all: bool | None = None
    consistency: Annotated[Literal["eventual", "strong"] | None, _words("eventual", "strong")] = None
    freshness: Seconds | None = None
    filter: Annotated[FilterForm | None, BeforeValidator(_filter), _OrAlso({"type": ["string", "boolean"]})] = None
    items_per_key: Annotated[float, Field(ge=0)] | None = None
    item_bytes: Bytes | None = None
    rate: Annotated[RateForm | None, BeforeValidator(_rate), _OrAlso(_SCALAR)] = None
    frequency: Annotated[Literal["high", "medium", "low"] | None, _words("high", "medium", "low")] = None
    per_key: PerKeyForm | None = None
    surge: dict[str, Multiple] = {}
    condition: Annotated[
        Literal["none", "required", "create-only", "version"] | None,
        _words("none", "required", "create-only", "version"),
    ] = None
    idempotency: Annotated[Literal["natural", "token", "record"] | None, _words("natural", "token", "record")] = None
    transaction: TransactionForm | None = None
    slo: SloForm | None = None
    callers: Names = []
    failure_mode: Text | None = None
    allow: list[AllowForm] = []
    purpose: Text | None = None
    ends: Text | None = None
    schedule: Text | None = None
    max_units_per_second: Annotated[float, Field(gt=0)] | None = None

    @field_validator("id")
    @classmethod
    def _is_free(cls, value: str) -> str:
        if value in _RESERVED_IDS:
            raise ValueError(f"{value!r} is a word of the reports themselves; choose another id")
        return value


class TableForm(_Form):
    """A table, or a glob that stands for its per-stage copies."""

    assumed: Annotated[bool, Field(alias=ASSUMED)] = False
    name: str
    where: WhereForm = WhereForm()
    partition_key: Annotated[Names, Field(min_length=1)]
    sort_key: Names = []
    owner: Text | None = None
    ttl_attribute: str | None = None
    ttl_purpose: Annotated[Literal["cleanup", "session"] | None, _words("cleanup", "session")] = None
    source_of_truth: bool | None = None
    rebuild: Text | None = None
    replicas: ReplicasForm | None = None
    streams: list[StreamForm] = []
    types: dict[str, Literal["S", "N", "B"]] = {}
    entities: list[EntityForm] = []
    indexes: list[IndexForm] = []
    patterns: list[PatternForm] = []


class ContractForm(_Form):
    """The whole file."""

    version: Literal[1] = 1
    callers: dict[str, CallerForm] = {}
    tables: list[TableForm] = []


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a contract file."""
    schema = ContractForm.model_json_schema()
    for form in schema["$defs"].values():
        form.get("properties", {}).pop(ASSUMED, None)
    schema["title"] = "Dynascope contract, version 1"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
