"""One write that costs several, because of indexes: dear ones are those that change the key of an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from analyzer.detectors.advice import advise
from analyzer.detectors.money import prices_at
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.knowledge.prices import write_cost
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.amplification import Amplification, amplification_of
from analyzer.traffic.measure import busiest_caller

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.knowledge.prices import Cost
    from analyzer.model.traffic import Traffic

__all__ = ["WriteAmplification"]


class WriteAmplification(Struct, frozen=True):
    """Judges what an index adds to its table's writes: against what was expected, else by moves and by dollars."""

    most_ratio: Positive = 3.0
    moved_share: Share = 0.5
    told_ratio: Positive = 1.0
    least_units: Whole = 100
    low_dollars: Positive = 5.0

    name: ClassVar[str] = "write-amplification"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_UNITS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.CONTRACT, Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one outcome an index, and one a table whose indexes together cost too much."""
        if traffic.target.index is None:
            yield from self._of_table(traffic)
            return
        seen = amplification_of(traffic)
        if seen is None:
            return
        if seen.table_units < self.least_units:
            yield Skipped(self.name, traffic.target.table, traffic.target.index, SkipReason.TOO_LITTLE)
            return
        cost = _cost([seen], traffic)
        judged = self._judge(seen, traffic, is_dear=cost.dollars >= self.low_dollars)
        if judged is not None:
            yield self._finding(seen, traffic, cost, *judged)

    def _judge(self, seen: Amplification, traffic: Traffic, *, is_dear: bool) -> tuple[Severity, str] | None:
        """Return how bad it is, and what is wrong with it."""
        severity = Severity.MEDIUM if is_dear else Severity.LOW
        expected = traffic.place.expected_write_amplification
        if expected is not None:
            return (severity, f"{number(expected)} were expected") if seen.ratio > expected else None
        if seen.moved_share >= self.moved_share:
            return severity, "most of its units move entries from one key to another, which is a delete and a put"
        if seen.ratio >= self.told_ratio and is_dear:
            return Severity.LOW, "each of the table's writes is paid for again there"
        return None

    def _finding(self, seen: Amplification, traffic: Traffic, cost: Cost, severity: Severity, why: str) -> Finding:
        target = traffic.target
        rows = seen.movers or seen.writers
        caller = busiest_caller(rows, Direction.WRITE)
        row = rows[0] if rows else None
        factor = seen.factor or 1 + seen.ratio
        expected = traffic.place.expected_write_amplification
        return finding(
            self.name,
            traffic,
            severity,
            f"a write to {target.table} that reaches index {target.index} costs {_units(factor, seen.ratio)}: {why}",
            confidence=Confidence.CERTAIN if row is not None else Confidence.LIKELY,
            **({} if row is not None else {"because": "metrics tell sums, not what a single write costs"}),
            sources=(seen.source.value,),
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=None if row is None else row.shape.fingerprint,
            caller=caller,
            direction=Direction.WRITE,
            evidence={
                "amplification": round(seen.ratio, 3),
                "factor": round(factor, 2),
                "index_write_units": seen.index_units,
                "table_write_units": seen.table_units,
                "moved_share": round(min(seen.moved_share, 1.0), 3),
                **({} if expected is None else {"expected": expected}),
                **({} if row is None or row.shape.update is None else {"update": row.shape.update}),
                "price": cost.basis,
            },
            cost_per_month_usd=round(cost.dollars, 2),
            advice=tuple(_advice(seen, traffic, caller)),
        )

    def _of_table(self, traffic: Traffic) -> Iterator[Finding]:
        """Yield the finding of a table: no index of its own is too dear, all of them together are."""
        related = {one.target.index: amplification_of(replace(one, base=traffic)) for one in traffic.indexes}
        seen = {index: one for index, one in related.items() if one is not None and one.table_units >= self.least_units}
        ratio = sum(one.ratio for one in seen.values())
        is_expected = any(one.place.expected_write_amplification is not None for one in traffic.indexes)
        if ratio < self.most_ratio or is_expected:
            return
        cost = _cost(seen.values(), traffic)
        dearest = max(seen, key=lambda index: seen[index].ratio)
        yield finding(
            self.name,
            traffic,
            Severity.MEDIUM if cost.dollars >= self.low_dollars else Severity.LOW,
            f"for each write unit of {traffic.target.table} its {counted(len(seen), 'index takes', 'indexes take')} "
            f"{number(round(ratio, 2))}: most goes to {dearest}",
            sources=tuple(dict.fromkeys(one.source.value for one in seen.values())),
            direction=Direction.WRITE,
            evidence={
                "amplification": round(ratio, 3),
                "factor": round(1 + ratio, 2),
                "indexes": len(seen),
                "dearest_index": dearest,
                "price": cost.basis,
            },
            cost_per_month_usd=round(cost.dollars, 2),
            advice=(
                advise(
                    "collect-longer",
                    "Look which of the indexes are read at all (unused-index) before any is changed",
                    effect="no index goes that somebody needs",
                    takes="two weeks",
                ),
                _narrow(str(dearest)),
            ),
        )


def _units(factor: float, ratio: float) -> str:
    """Say what a write costs altogether for each unit of its table, and over all writes where that differs."""
    there, over_all = number(round(factor - 1, 2)), number(round(ratio, 2))
    beside = "" if there == over_all else f" ({over_all} over all writes of the table)"
    return f"{number(round(factor, 2))} units for each unit of the table, {there} of them in the index{beside}"


def _cost(seen: Iterable[Amplification], traffic: Traffic) -> Cost:
    """Return what indexes cost a month, each at the rate of its own stretch: a second at least."""
    a_second = sum(one.index_units / max(one.seconds, 1.0) for one in seen)
    return write_cost(a_second, traffic.place.capacity.billing_mode, prices_at(traffic))


def _advice(seen: Amplification, traffic: Traffic, caller: str | None) -> Iterator[Advice]:
    index = traffic.target.index or ""
    keys = ", ".join((*traffic.place.partition_key, *traffic.place.sort_key)) or "its key attributes"
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(caller)} whether each of its writes has to touch {index}, keyed by {keys}",
        effect="a write that changes nothing of the entry costs the index nothing",
        takes="a talk",
    )
    if seen.movers or seen.moved_share:
        yield advise(
            "change-key",
            f"Take what changes often out of the key of {index} ({keys}): filter by it, or keep it in the sort key of"
            " an index that few items are in",
            effect=f"{percent(min(seen.moved_share, 1.0))} of its units are moves; a change in place costs half",
            risk=Risk.HIGH,
            reversible=True,
            takes="an index build",
        )
        yield advise(
            "make-index-sparse",
            f"Write the key attribute of {index} only while an item is looked for, and remove it after",
            effect="an item leaves with one write, and moves no more",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f'update_expression = "REMOVE {(traffic.place.partition_key or ("key",))[0]}"  # when it is done',
        )
    table = traffic.place.table
    described = None if table is None else table.index(index)
    if described is None or described.projection != "keys_only":
        yield _narrow(index)


def _narrow(index: str) -> Advice:
    return advise(
        "narrow-projection",
        f"Project into {index} no more than its readers use: build one beside it, move the readers, delete it",
        effect="writes that change no projected attribute cost it nothing, the others fewer units",
        risk=Risk.HIGH,
        reversible=True,
        takes="an index build",
    )
