"""The declared access patterns as loaded: frozen values with no library behind them, made to be looked things up in.

Durations are seconds, shares 0 to 1, rates requests a second. None means "not declared".
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.operations import WRITES
from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.target import Target
    from analyzer.requests.tokens import Salt

__all__ = [
    "EMPTY_CONTRACT",
    "UNNAMED",
    "Allowance",
    "CallerNames",
    "Contract",
    "EntityDeclaration",
    "FilterLimit",
    "IndexDeclaration",
    "KeyTemplate",
    "PatternDeclaration",
    "PerKey",
    "Rate",
    "Replicas",
    "StreamConsumer",
    "TableDeclaration",
    "Where",
    "is_glob",
]

UNNAMED = "*"
"""The name of the one table that a Markdown table without a heading declares: it stands for any table."""


def is_glob(name: str) -> bool:
    """Whether a name stands for several."""
    return any(mark in name for mark in "*?[")


class CallerNames(Struct, frozen=True):
    """How one caller looks to each source; each entry exact or a glob."""

    name: str
    services: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    user_agents: tuple[str, ...] = ()


class Where(Struct, frozen=True):
    """Where a declaration holds; what is not known of a target never excludes it."""

    accounts: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    tags: dict[str, str] = {}

    def takes(self, target: Target) -> bool:
        """Whether a target may be meant."""
        return _fits(target.account, self.accounts) and _fits(target.region, self.regions)


class KeyTemplate(Struct, frozen=True):
    """What a pattern or entity says of one key attribute."""

    attribute: str
    template: Template


class FilterLimit(Struct, frozen=True):
    """Whether a filter belongs to a pattern, and what share of what is read it may discard."""

    allowed: bool
    discards_at_most: float | None = None
    text: str | None = None


class Rate(Struct, frozen=True):
    """Requests a second."""

    p95: float | None = None
    peak: float | None = None

    @property
    def most(self) -> float | None:
        """The higher of the two, as far as they are declared."""
        return max((rate for rate in (self.p95, self.peak) if rate is not None), default=None)


class PerKey(Struct, frozen=True):
    """What one key gets; `top_share` is the hottest key's share of the pattern."""

    read_rate: float | None = None
    write_rate: float | None = None
    growth_per_day: float | None = None
    top_share: float | None = None


class Allowance(Struct, frozen=True):
    """A finding that is accepted, why, and until which day."""

    detector: str
    until: str
    reason: str


class Replicas(Struct, frozen=True):
    """Regions that write, and how replicas agree."""

    write_regions: tuple[str, ...] = ()
    consistency: str | None = None


class StreamConsumer(Struct, frozen=True):
    """A consumer of a table's stream."""

    consumer: str
    purpose: str | None = None
    idempotent: bool | None = None
    max_age_seconds: float | None = None


class EntityDeclaration(Struct, frozen=True):
    """A kind of item and the shape of its keys."""

    name: str
    key: tuple[KeyTemplate, ...] = ()
    item_bytes: int | None = None
    line: int | None = None


class IndexDeclaration(Struct, frozen=True, kw_only=True):
    """A secondary index; `projection` is keys_only, all, or attributes; `keys_assumed`: nobody named its keys."""

    name: str
    kind: str = "gsi"
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    projection: str | tuple[str, ...] | None = None
    sparse: bool | None = None
    staleness_tolerance_seconds: float | None = None
    expected_write_amplification: float | None = None
    backfill_impact: str | None = None
    hot_key_risk: str | None = None
    owner: str | None = None
    types: dict[str, str] = {}
    keys_assumed: bool = False
    file: str = ""
    line: int | None = None


class PatternDeclaration(Struct, frozen=True, kw_only=True):
    """One declared access pattern; `keys` are the maps that a request's key, or each part of a batch, has to match.

    `is_key_empty`: its partition key was written down without a value.
    """

    id: str
    operations: tuple[str, ...]
    title: str | None = None
    entity: str | None = None
    index: str | None = None
    keys: tuple[tuple[KeyTemplate, ...], ...] = ()
    order: str | None = None
    page_size: int | None = None
    returns_all: bool | None = None
    consistency: str | None = None
    freshness_seconds: float | None = None
    filter: FilterLimit | None = None
    items_per_key: float | None = None
    item_bytes: int | None = None
    rate: Rate = Rate()
    frequency: str | None = None
    per_key: PerKey = PerKey()
    surge: dict[str, float] = {}
    condition: str | None = None
    idempotency: str | None = None
    transaction_items: int | None = None
    transaction_because: str | None = None
    slo_p99_seconds: float | None = None
    slo_errors: float | None = None
    callers: tuple[str, ...] = ()
    failure_mode: str | None = None
    allow: tuple[Allowance, ...] = ()
    purpose: str | None = None
    ends: str | None = None
    schedule: str | None = None
    max_units_per_second: float | None = None
    is_key_empty: bool = False
    file: str = ""
    line: int | None = None

    @property
    def scans(self) -> bool:
        """Whether it is served by a Scan."""
        return "Scan" in self.operations

    @property
    def writes(self) -> bool:
        """Whether any of its operations writes."""
        return any(operation in WRITES for operation in self.operations)

    def template(self, attribute: str) -> Template | None:
        """Return what its first key map says of an attribute."""
        return next((k.template for key in self.keys[:1] for k in key if k.attribute == attribute), None)


class TableDeclaration(Struct, frozen=True, kw_only=True):
    """One table, or all whose names fit a glob; `keys_assumed`: nobody named its key attributes."""

    name: str
    where: Where = Where()
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    owner: str | None = None
    ttl_attribute: str | None = None
    ttl_purpose: str | None = None
    source_of_truth: bool | None = None
    rebuild: str | None = None
    replicas: Replicas | None = None
    streams: tuple[StreamConsumer, ...] = ()
    types: dict[str, str] = {}
    entities: tuple[EntityDeclaration, ...] = ()
    indexes: tuple[IndexDeclaration, ...] = ()
    patterns: tuple[PatternDeclaration, ...] = ()
    keys_assumed: bool = False
    file: str = ""
    line: int | None = None

    def index(self, name: str | None) -> IndexDeclaration | None:
        """Return a declared index, or None for the base table and for one that is not declared."""
        return next((index for index in self.indexes if index.name == name), None)

    def pattern(self, pattern_id: str | None) -> PatternDeclaration | None:
        """Return the pattern with an id."""
        return next((pattern for pattern in self.patterns if pattern.id == pattern_id), None)

    def entity(self, name: str | None) -> EntityDeclaration | None:
        """Return the entity with a name."""
        return next((entity for entity in self.entities if entity.name == name), None)

    def schema(self, index: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return partition and sort key attributes of the table or an index; both empty where nothing is declared."""
        if index is None:
            return self.partition_key, self.sort_key
        declared = self.index(index)
        return ((), ()) if declared is None else (declared.partition_key, declared.sort_key)

    def has_sure_keys(self, index: str | None) -> bool:
        """Whether somebody named the key attributes of the table or an index."""
        if index is None:
            return not self.keys_assumed
        declared = self.index(index)
        return declared is not None and not declared.keys_assumed

    def keys(self) -> TableKeys:
        """Return its keys, ready for a lexicon."""
        templates: dict[str, tuple[Template, ...]] = {}
        for attribute, template in self._templates():
            templates[attribute] = (*templates.get(attribute, ()), template)
        return TableKeys(
            name=self.name,
            partition_key=() if self.keys_assumed else self.partition_key,
            sort_key=() if self.keys_assumed else self.sort_key,
            indexes={i.name: (i.partition_key, i.sort_key) for i in self.indexes if not i.keys_assumed},
            global_indexes=frozenset(i.name for i in self.indexes if i.kind != "lsi"),
            templates=templates,
        )

    def _templates(self) -> Iterator[tuple[str, Template]]:
        seen: set[tuple[str, str]] = set()
        declared = [*(key for p in self.patterns for key in p.keys), *(entity.key for entity in self.entities)]
        for attribute, template in ((k.attribute, k.template) for key in declared for k in key):
            if (attribute, template.text) not in seen:
                seen.add((attribute, template.text))
                yield attribute, template


class Contract(Struct, frozen=True, dict=True):
    """All that is declared; tables with an exact name come before globs, the unnamed table last."""

    tables: tuple[TableDeclaration, ...] = ()
    callers: tuple[CallerNames, ...] = ()

    def table(self, target: Target) -> TableDeclaration | None:
        """Return the declaration that a target falls under: one with its exact name, else the first glob that fits."""
        exact = (t for t in self._by_name.get(target.table, ()) if t.where.takes(target))
        globs = (t for t in self._globs if fnmatchcase(target.table, t.name) and t.where.takes(target))
        return next(exact, None) or next(globs, None)

    @cached_property
    def _by_name(self) -> dict[str, list[TableDeclaration]]:
        found: dict[str, list[TableDeclaration]] = {}
        for table in self.tables:
            found.setdefault(table.name, []).append(table)
        return found

    @cached_property
    def _globs(self) -> list[TableDeclaration]:
        return sorted((t for t in self.tables if is_glob(t.name)), key=lambda t: t.name == UNNAMED)

    @cached_property
    def callers_named(self) -> frozenset[str]:
        """The callers that are named anywhere."""
        of_patterns = (name for table in self.tables for pattern in table.patterns for name in pattern.callers)
        return frozenset((*of_patterns, *(one.name for one in self.callers)))

    def pattern(self, target: Target, pattern_id: str | None) -> PatternDeclaration | None:
        """Return a pattern of the table that a target falls under."""
        table = self.table(target)
        return None if table is None else table.pattern(pattern_id)

    def lexicon(self, salt: Salt | None = None) -> Lexicon:
        """Return the declared keys of all tables, ready to classify those of requests."""
        return Lexicon(self.table_keys(), salt)

    def table_keys(self) -> list[TableKeys]:
        """Return the keys of each name that is declared, the unnamed table last."""
        by_name: dict[str, list[TableKeys]] = {}
        for table in sorted(self.tables, key=lambda t: t.name == UNNAMED):
            by_name.setdefault(table.name, []).append(table.keys())
        return [_united(listed) for listed in by_name.values()]

    def caller_of(self, service: str | None, role: str | None = None, user_agent: str | None = None) -> str | None:
        """Return the declared name of a caller, by the service, role or user agent that a source saw.

        A service that no declaration names is its own name; without one, an unnamed role or agent is None. Where a
        source knows no service but a role, as CloudTrail does, the role's ARN stands for it.
        """
        if service is not None and role is None and service.startswith("arn:"):
            role = service
        for names in self.callers:
            seen = ((service, (names.name, *names.services)), (role, names.roles), (user_agent, names.user_agents))
            if any(value is not None and globs and _fits(value, globs) for value, globs in seen):
                return names.name
        return service


EMPTY_CONTRACT = Contract()


def _fits(value: str | None, globs: Iterable[str]) -> bool:
    listed = tuple(globs)
    return value is None or not listed or any(fnmatchcase(value, glob) for glob in listed)


def _united(listed: list[TableKeys]) -> TableKeys:
    """Unite declarations of one name that hold in different places: the templates of all, the keys of the first."""
    templates: dict[str, tuple[Template, ...]] = {}
    indexes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    is_global: frozenset[str] = frozenset()
    for keys in listed:
        is_global |= keys.global_indexes - indexes.keys()
        indexes = keys.indexes | indexes
        for attribute, declared in keys.templates.items():
            templates[attribute] = (*templates.get(attribute, ()), *declared)
    first = listed[0]
    return TableKeys(
        name=first.name,
        partition_key=first.partition_key,
        sort_key=first.sort_key,
        indexes=indexes,
        global_indexes=is_global,
        templates=templates,
    )
