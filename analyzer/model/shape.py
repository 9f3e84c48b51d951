"""The structure of a request without its values: what makes two requests the same access pattern."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

__all__ = ["Attribution", "AttributionKind", "KeyPredicate", "PartShape", "Shape"]


class KeyPredicate(Struct, frozen=True):
    """One condition on a key attribute.

    `template` is the value's shape (`CASE#<id>`), empty where the value is not known; `declared` holds the texts of all
    the contract's templates for that attribute which the value fits, the most literal first.
    """

    attribute: str
    operator: str
    template: str = ""
    declared: tuple[str, ...] = ()


class PartShape(Struct, frozen=True):
    """The structure of one member of a batch or transaction."""

    operation: str
    key: tuple[KeyPredicate, ...] = ()
    condition: str | None = None
    update: str | None = None


class Shape(Struct, frozen=True, kw_only=True):
    """A request shape of one table or index; `fingerprint` is its stable id (16 hex digits) everywhere.

    `operation` is the API operation. Expressions are canonical: names resolved, placeholders renumbered, IN lists
    squashed. `limit_bucket` is the power of two at or above `Limit`. `parsed` is False for the one shape a table and
    operation into which everything falls that could not be parsed. `scans` tells a Scan, or PartiQL that DynamoDB
    executes as one.
    """

    fingerprint: str
    operation: str
    table: str
    index: str | None = None
    key: tuple[KeyPredicate, ...] = ()
    filter: str | None = None
    filter_attributes: tuple[str, ...] = ()
    projection: tuple[str, ...] = ()
    condition: str | None = None
    update: str | None = None
    statement: str | None = None
    consistent: bool | None = None
    forward: bool | None = None
    limit_bucket: int | None = None
    select: str | None = None
    segmented: bool = False
    parts: tuple[PartShape, ...] = ()
    tagged: str | None = None
    scans: bool = False
    writes: bool = False
    parsed: bool = True

    def text(self) -> str:
        """Write the shape as one readable line."""
        place = self.table if self.index is None else f"{self.table}/{self.index}"
        words = [self.operation, place]
        if self.key:
            words.append("where " + " and ".join(f"{p.attribute} {p.operator} {p.template or '?'}" for p in self.key))
        if self.filter:
            words.append(f"filter {self.filter}")
        if self.statement and not self.key:
            words.append(self.statement)
        if not self.parsed:
            words.append("(not parsed)")
        return " ".join(words)


class AttributionKind(StrEnum):
    """How a shape relates to the contract."""

    DECLARED = "declared"
    UNDECLARED = "undeclared"
    AMBIGUOUS = "ambiguous"
    UNPARSED = "unparsed"


class Attribution(Struct, frozen=True):
    """Which declared pattern a shape belongs to, and why; `candidates` are those that no request can tell apart."""

    kind: AttributionKind
    pattern: str | None = None
    candidates: tuple[str, ...] = ()
    because: str = ""

    @property
    def label(self) -> str:
        """The value of the metrics' label `pattern`: an id, `undeclared`, `ambiguous` or `unparsed`."""
        return self.pattern if self.pattern is not None else self.kind.value
