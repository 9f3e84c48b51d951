"""Traffic that breaks its declaration, or has left its own past."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, days_before, statistics
from analyzer.detectors.money import dollars_of
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import between, counted, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.instant import DAY_SECONDS
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.statistics.rates import Standing
from analyzer.traffic.begun import began
from analyzer.traffic.drift import Facet, Tolerance, facets_of
from analyzer.traffic.drift_rate import key_rate_facet, past_facet, rate_facet
from analyzer.traffic.measure import add, busiest_caller, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Declared, PatternTraffic, Traffic

__all__ = ["PatternDrift"]

_SHARES = frozenset({"index", "consistency", "caller", "filter", "discards", "order", "page_size", "top_share"})
"""Facets whose number is a share of requests."""


class PatternDrift(Struct, frozen=True):
    """Judges each pattern's requests facet by facet; one that lies wholly outside its bounds convicts.

    It began when the first requests came that break the facet which is told first, where the call book shows that.
    """

    margin: Positive = 1.5
    other_share: Share = 0.05
    least_requests: Whole = 20
    false_discovery_rate: Share = 0.05
    low_dollars: Positive = 5.0
    least_foreign_writes: Whole = 1

    name: ClassVar[str] = "pattern-drift"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.REQUESTS, Sight.CONTRACT}),
        frozenset({Sight.REQUESTS, Sight.SPAN_14D}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset(
        {Sight.REQUEST_KEYS, Sight.REQUEST_UNITS, Sight.REQUEST_COUNTS, Sight.REQUEST_SEQUENCES, Sight.SPAN_14D}
    )

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a pattern, and one for strangers that write to a projection."""
        patterns: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if row.attribution.pattern in traffic.place.patterns and not row.secondary:
                patterns.setdefault(row.attribution.pattern or "", []).append(row)
        judged: list[Facet] = []
        for pattern, rows in patterns.items():
            facets = self._facets(traffic.place.patterns[pattern], rows, traffic)
            judged += facets
            if any(facet.standing is Standing.OUT for facet in facets):
                yield self._finding(pattern, rows, facets, traffic)
        if judged and all(facet.standing is Standing.UNKNOWN for facet in judged):
            target = traffic.target
            yield Skipped(self.name, target.table, target.index, SkipReason.TOO_LITTLE, ("more requests",))
        yield from self._foreign_writes(traffic)

    def _facets(self, declared: Declared, rows: list[PatternTraffic], traffic: Traffic) -> list[Facet]:
        tolerance = Tolerance(self.margin, self.other_share, self.least_requests)
        facets = facets_of(declared, rows, traffic, tolerance)
        by_time = (
            rate_facet(declared, rows, traffic, tolerance),
            key_rate_facet(declared, rows, traffic, tolerance),
            past_facet(declared.id, traffic.target, traffic.history, tolerance, self.false_discovery_rate),
        )
        return [*facets, *(facet for facet in by_time if facet is not None)]

    def _finding(self, pattern: str, rows: list[PatternTraffic], facets: list[Facet], traffic: Traffic) -> Finding:
        out = sorted((f for f in facets if f.standing is Standing.OUT), key=lambda f: not f.is_harm)
        dollars = dollars_of(rows, traffic)
        is_cheap = dollars is None or dollars < self.low_dollars
        is_harm = any(facet.is_harm for facet in out)
        caller = busiest_caller(rows)
        shape = max(rows, key=lambda row: row.requests.value).shape
        direction = Direction.WRITE if shape.writes else Direction.READ
        said = "; ".join(f"{_told(facet)} (declared: {facet.declared})" for facet in out)
        is_short = all(f.name == "rate" for f in out) and traffic.window.seconds < DAY_SECONDS
        return finding(
            self.name,
            traffic,
            Severity.LOW if is_cheap and not is_harm else Severity.MEDIUM,
            f"{pattern} of {traffic.target}, as {who(caller)} uses it, is not as declared: {said}",
            confidence=Confidence.LIKELY if is_short else Confidence.CERTAIN,
            **({"because": "less than a day was looked at: a p95 may be passed for an hour of it"} if is_short else {}),
            sources=(SourceName.REQUEST_LOG.value, SourceName.CONTRACT.value),
            subject=pattern,
            pattern=pattern,
            fingerprint=shape.fingerprint,
            caller=caller,
            cause=out[0].name.replace("_", "-"),
            direction=direction,
            first_seen=began(out[0].breaking, traffic),
            evidence={
                **{f"{facet.name}_standing": facet.standing.value for facet in facets},
                **{name: value for facet in out for name, value in evidence_of(**{facet.name: facet.seen}).items()},
                **{f"{facet.name}_declared": facet.declared for facet in out},
                "margin": self.margin,
                "requests": round(add(row.requests for row in rows).value, 1),
                **_segments(rows),
            },
            cost_per_month_usd=None if dollars is None else round(dollars, 2),
            advice=tuple(_advice(pattern, out, caller, direction, traffic)),
        )

    def _foreign_writes(self, traffic: Traffic) -> Iterator[Finding]:
        """Judge writes to a table that is declared a projection, by callers that no pattern of it lets write."""
        place = traffic.place
        if place.source_of_truth is not False or traffic.target.index is not None:
            return
        writers = {caller for one in place.patterns.values() if _writes(one) for caller in one.callers}
        is_closed = bool(writers) and writers <= place.mapped_callers
        rows = [
            row
            for row in traffic.rows
            if row.shape.writes
            and not row.secondary
            and row.caller is not None
            and row.caller not in writers
            and (is_closed or row.caller in place.known_callers)
        ]
        calls = add(row.requests for row in rows)
        if not writers or not rows or calls.value < self.least_foreign_writes:
            return
        strangers = ", ".join(sorted({who(row.caller) for row in rows}))
        caller = busiest_caller(rows)
        yield finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{strangers} wrote {counted(calls, 'time')} to {traffic.target}, a projection that only"
            f" {', '.join(sorted(writers))} builds: it is gone with the next rebuild",
            sources=(SourceName.REQUEST_LOG.value, SourceName.CONTRACT.value),
            subject="projection",
            fingerprint=rows[0].shape.fingerprint,
            caller=caller,
            cause="foreign-write",
            direction=Direction.WRITE,
            evidence={
                **evidence_of(foreign_writes=calls),
                "strangers": strangers,
                "declared_writers": ", ".join(sorted(writers)),
                "operations": ", ".join(sorted({row.shape.operation for row in rows})),
            },
            advice=(
                advise(
                    "check-client",
                    f"Ask the owner of {strangers} what is written to {traffic.target}, and why not to its source",
                    effect="tells whether it is meant",
                    takes="minutes",
                ),
                advise(
                    "fix-caller",
                    f"Let {strangers} write to the source of truth, from which {traffic.target} is built",
                    effect="what is written stays, and both tables agree",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                ),
                _update(f"If it may, declare it: a pattern that writes, with callers: [{strangers}]", None),
            ),
        )


def _writes(declared: Declared) -> bool:
    return bool(_WRITES & set(declared.operations))


_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


def _told(facet: Facet) -> str:
    """Write what was seen of a facet."""
    if facet.name not in _SHARES:
        return f"{between(facet.seen)} {facet.text}"
    return f"{percent(facet.seen.value)} {facet.text}"


def _segments(rows: list[PatternTraffic]) -> dict[str, float]:
    """Say which part of its Scans came in parallel segments, where any did."""
    parallel = sum(row.requests.value for row in rows if row.shape.segmented)
    return {"segmented_share": round(parallel / sum(row.requests.value for row in rows), 4)} if parallel else {}


_FIELDS = {
    "consistency": "consistency: eventual",
    "filter": "filter: {discards_at_most: 10%}",
    "discards": "filter: {discards_at_most: N%}",
    "order": "order: descending",
    "page_size": "page_size: N",
    "items_per_key": "items_per_key: N",
    "item_bytes": "item_bytes: N",
    "rate": "rate: {p95: N, peak: N}",
    "past": "rate: {p95: N, peak: N}",
    "index": "index: NAME",
    "caller": "callers: [NAME]",
}
_LOOK_DAYS = 14
"""So far back a rate is shown: two weeks hold each day of the week twice."""
_FIELDS_A_KEY = {"top_share": "top_share: N%", "key_rate": "read_rate: N, write_rate: N"}
"""Facets that are declared of each key: one field holds them all."""


def _fields(out: list[Facet]) -> list[str]:
    """Return the lines of a declaration that say otherwise what is not as declared."""
    of_all = dict.fromkeys(_FIELDS[facet.name] for facet in out if facet.name in _FIELDS)
    a_key = [_FIELDS_A_KEY[facet.name] for facet in out if facet.name not in _FIELDS]
    return [*of_all, f"per_key: {{{', '.join(a_key)}}}"] if a_key else [*of_all]


def _advice(
    pattern: str, out: list[Facet], caller: str | None, direction: Direction, traffic: Traffic
) -> Iterator[Advice]:
    yield advise(
        "check-client",
        f"Ask the owner of {who(caller)} what changed: a new version of it or of a library, more users, another job",
        effect="the traffic goes back, or gets a declaration that fits",
        command=_how_often(direction, traffic) if out[0].name == "rate" else None,
        takes="minutes",
    )
    if any(facet.is_harm for facet in out):
        yield advise(
            "fix-caller",
            f"Let {who(caller)} read with ConsistentRead, as {pattern} needs it",
            effect="it sees every write before its read",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet="table.get_item(Key=key, ConsistentRead=True)",
        )
    yield _update(f"If it is meant, let {pattern} say so", "\n".join([f"id: {pattern}", *_fields(out)]))


def _update(text: str, snippet: str | None) -> Advice:
    return advise(
        "update-declaration", text, effect="it is then watched against what it is", takes="minutes", snippet=snippet
    )


def _how_often(direction: Direction, traffic: Traffic) -> str:
    target = traffic.target
    metric = f"Consumed{direction.value.capitalize()}CapacityUnits"
    return aws(target, statistics(target, metric, days_before(traffic.window, _LOOK_DAYS), "SampleCount"))
