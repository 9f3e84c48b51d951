"""Two snapshots of a table become what was changed between them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.finding import Change
from analyzer.model.sight import SourceName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from analyzer.model.finding import Direction
    from analyzer.model.instant import Instant
    from analyzer.model.table import Provisioning, ScalingLimits, TableDescription, TableSnapshot, TimeToLive
    from analyzer.model.target import Target

    Bounds = Mapping[tuple[Target, Direction], ScalingLimits]

__all__ = ["bounds_changes", "first_changes", "table_changes", "without_doubles"]

_UNITS = (("read_units", "read units"), ("write_units", "write units"))
_MOST = (("most_read_units", "maximum of read units"), ("most_write_units", "maximum of write units"))


def table_changes(before: TableSnapshot, after: TableSnapshot, since: Instant, at: Instant) -> Iterator[Change]:
    """Yield what differs between a snapshot taken at `since` and one taken at `at`.

    A change is placed where AWS says that it was, if that lies between the two, else at the second snapshot. A table
    that was deleted and made anew is another one: nothing is compared.
    """
    old, new = before.table, after.table
    if old.created is not None and new.created is not None and old.created != new.created:
        yield from first_changes(after, since)
        return
    if None not in {old.billing_mode, new.billing_mode} and old.billing_mode != new.billing_mode:
        yield _change(at, "billing-mode", new.name, f"{old.billing_mode} → {new.billing_mode}")
    yield from _capacity(old.provisioning, new.provisioning, since, at, new.name, None)
    yield from _indexes(old, new, since, at)
    yield from _time_to_live(before.ttl, after.ttl, at, new.name)
    if old.stream != new.stream:
        yield _change(at, "stream", new.name, f"{old.stream or 'off'} → {new.stream or 'off'}")
    yield from _replicas(old, new, at)


def first_changes(snapshot: TableSnapshot, since: Instant) -> Iterator[Change]:
    """Yield what a table that was not known before tells of its own past, as far back as `since`."""
    table = snapshot.table
    if table.restored is not None and table.restored >= since:
        yield _change(table.restored, "restore", table.name, "restored from a backup")
    served = (
        (None, table.provisioning),
        *((index.name, index.provisioning) for index in table.indexes if index.kind == "gsi"),
    )
    for index, provisioning in served:
        for moment, word in ((provisioning.increased_at, "raised"), (provisioning.decreased_at, "lowered")):
            if moment is not None and moment >= since:
                yield _change(moment, "capacity", table.name, f"capacity was {word}", index)


def bounds_changes(
    before: Mapping[tuple[Target, Direction], ScalingLimits], after: Bounds, at: Instant
) -> list[Change]:
    """Return what differs between the autoscaling targets of two polls."""
    changes = []
    for place in (*before, *(place for place in after if place not in before)):
        target, direction = place
        old, new = before.get(place), after.get(place)
        texts = tuple("off" if one is None else _bounds(one) for one in (old, new))
        if texts[0] != texts[1]:
            detail = f"autoscaling of {direction.value}s: {texts[0]} → {texts[1]}"
            changes.append(_change(at, "scaling", target.table, detail, target.index))
    return changes


def _bounds(limits: ScalingLimits) -> str:
    share = "" if limits.target_share is None else f" at {limits.target_share:.0%}"
    return f"{limits.minimum:,} to {limits.maximum:,} units{share}"


def _capacity(
    old: Provisioning, new: Provisioning, since: Instant, at: Instant, table: str, index: str | None
) -> Iterator[Change]:
    for field, word in (*_UNITS, *_MOST):
        was, now = getattr(old, field), getattr(new, field)
        is_maximum = field.startswith("most")
        if was == now or (not is_maximum and (was is None or now is None)):
            continue
        moment = new.increased_at if was is not None and now is not None and now > was else new.decreased_at
        time = moment if moment is not None and since < moment <= at else at
        yield _change(time, "capacity", table, f"{word} {_units(was)} → {_units(now)}", index)


def _units(units: float | None) -> str:
    return "none" if units is None else f"{units:,.0f}"


def _indexes(old: TableDescription, new: TableDescription, since: Instant, at: Instant) -> Iterator[Change]:
    before, after = ({index.name: index for index in table.indexes} for table in (old, new))
    for name in sorted(after.keys() - before.keys()):
        yield _change(at, "index-created", new.name, f"{after[name].kind.upper()} {name}", name)
    for name in sorted(before.keys() - after.keys()):
        yield _change(at, "index-deleted", new.name, f"{before[name].kind.upper()} {name}", name)
    for name in sorted(before.keys() & after.keys()):
        yield from _capacity(before[name].provisioning, after[name].provisioning, since, at, new.name, name)


def _time_to_live(old: TimeToLive | None, new: TimeToLive | None, at: Instant, table: str) -> Iterator[Change]:
    if old is not None and new is not None and old != new:
        yield _change(at, "ttl", table, f"{_ttl(old)} → {_ttl(new)}")


def _ttl(ttl: TimeToLive) -> str:
    return " on ".join(part for part in (ttl.status, ttl.attribute) if part is not None) or "not told"


def _replicas(old: TableDescription, new: TableDescription, at: Instant) -> Iterator[Change]:
    before, after = ({one.region: one.status for one in table.replicas} for table in (old, new))
    for region in sorted(before.keys() | after.keys()):
        was, now = _replica(before, region), _replica(after, region)
        if was != now:
            yield _change(at, "replica", new.name, f"{region}: {was} → {now}")


def _replica(statuses: Mapping[str, str | None], region: str) -> str:
    return (statuses[region] or "there") if region in statuses else "none"


def _change(time: Instant, what: str, table: str, detail: str, index: str | None = None) -> Change:
    source = SourceName.TABLE_CATALOG.value
    return Change(time=time, what=what, table=table, index=index, detail=detail, source=source)


def without_doubles(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return each change once, in the order of time."""
    return tuple(sorted(dict.fromkeys(changes), key=lambda change: change.time))
