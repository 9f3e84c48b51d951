"""The contract file as people write it (formats.md §4), for pydantic: every fault at once, and the JSON Schema.

What is loaded is turned into the frozen values of `contract.model`; nothing outside this folder sees these classes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from analyzer.contract.fields import (
    SCALAR,
    Amount,
    Consistency,
    Count,
    Day,
    Identity,
    ItemBytes,
    KeyForms,
    Multiple,
    Names,
    Operations,
    OrAlso,
    Order,
    Projection,
    Rate,
    Seconds,
    Share,
    Staleness,
    TemplateText,
    Text,
    Texts,
    Whole,
    read_filter,
    read_rate,
    words,
)

__all__ = [
    "ASSUMED",
    "EMPTY_KEY",
    "RESERVED_IDS",
    "ContractForm",
    "EntityForm",
    "IndexForm",
    "PatternForm",
    "TableForm",
    "json_schema",
]

ASSUMED = "(assumed)"
"""Marks a table or index whose key attributes nobody named; no file of the user's has a field of that name."""

EMPTY_KEY = "(empty)"
"""Marks a pattern whose partition key was written down without a value."""

RESERVED_IDS = frozenset({"undeclared", "ambiguous", "unparsed", "other"})


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

    accounts: Texts = []
    regions: Names = []
    tags: dict[str, Text] = {}


class ReplicasForm(_Form):
    """Regions that write, and how replicas agree."""

    write_regions: Text | list[str] | None = None
    consistency: Consistency | None = None


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
    item_bytes: ItemBytes | None = None


class IndexForm(_Form):
    """A secondary index."""

    assumed: Annotated[bool, Field(alias=ASSUMED)] = False

    name: str
    kind: Annotated[Literal["gsi", "lsi", "vector"], words("gsi", "lsi", "vector")] = "gsi"
    partition_key: Names = []
    sort_key: Names = []
    projection: Projection | None = None
    sparse: bool | None = None
    staleness_tolerance: Staleness | None = None
    expected_write_amplification: Amount | None = None
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

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.p95 is not None and self.peak is not None and self.peak < self.p95:
            raise ValueError(f"its peak, {self.peak:g}/s, is below its p95, {self.p95:g}/s; correct one of the two")
        return self


class PerKeyForm(_Form):
    """What one key, or the hottest one, gets; rates are requests a second."""

    read_rate: Rate | None = None
    write_rate: Rate | None = None
    growth_per_day: Amount | None = None
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
    until: Day
    reason: str


class PatternForm(_Form):
    """One declared access pattern."""

    is_key_empty: Annotated[bool, Field(alias=EMPTY_KEY)] = False

    id: Identity
    title: Text | None = None
    entity: Text | None = None
    operation: Operations
    index: str | None = None
    key: KeyForms = []
    order: Order | None = None
    page_size: Count | None = None
    returns_all: bool | None = None
    consistency: Consistency | None = None
    freshness: Staleness | None = None
    filter: Annotated[
        FilterForm | None, BeforeValidator(read_filter), OrAlso({"type": ["string", "boolean", "array"]})
    ] = None
    items_per_key: Amount | None = None
    item_bytes: ItemBytes | None = None
    rate: Annotated[RateForm | None, BeforeValidator(read_rate), OrAlso(SCALAR)] = None
    frequency: Annotated[Literal["high", "medium", "low"] | None, words("high", "medium", "low")] = None
    per_key: PerKeyForm | None = None
    surge: dict[str, Multiple] = {}
    condition: Annotated[
        Literal["none", "required", "create-only", "version"] | None,
        words("none", "required", "create-only", "version"),
    ] = None
    idempotency: Annotated[Literal["natural", "token", "record"] | None, words("natural", "token", "record")] = None
    transaction: TransactionForm | None = None
    slo: SloForm | None = None
    callers: Names = []
    failure_mode: Text | None = None
    allow: list[AllowForm] = []
    purpose: Text | None = None
    ends: Day | None = None
    schedule: Text | None = None
    max_units_per_second: Annotated[Amount, Field(gt=0)] | None = None

    @field_validator("id")
    @classmethod
    def _is_free(cls, value: str) -> str:
        if value in RESERVED_IDS:
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
    ttl_purpose: Annotated[Literal["cleanup", "session"] | None, words("cleanup", "session")] = None
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
        for mark in (ASSUMED, EMPTY_KEY):
            form.get("properties", {}).pop(mark, None)
    schema["title"] = "Dynascope contract, version 1"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
