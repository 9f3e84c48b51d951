"""The same read again and again on a clock, whether anything changed or not."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.money import capacity_share, cost_of
from analyzer.detectors.reading import declared_of, one_key, read_refusals, share_of_reads
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.knowledge.throttling import is_throttle
from analyzer.model.calls import Call, Calls
from analyzer.model.finding import Advice, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.statistics.period import Period, period_of
from analyzer.traffic.sequences import Repeated, repeats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.knowledge.prices import Cost
    from analyzer.model.calls import CallBook
    from analyzer.model.traffic import Traffic

__all__ = ["PollingRead"]


class _Poll(Struct, frozen=True):
    """One caller's reads of one shape on a clock: `first` pages in order of time and all pages.

    `asked` is how many different reads there are, `units` what they take in the window (None: no call told).
    """

    first: Calls
    every: Calls
    period: Period
    asked: int
    units: float | None


class PollingRead(Struct, frozen=True):
    """Judges reads of one shape and key that keep a period, by what they take of the target."""

    least_times: Whole = 6
    jitter: Share = 0.1
    regular_share: Share = 0.8
    least_seconds: Positive = 1.0
    least_share: Share = 0.1
    most_share: Share = 0.5
    least_dollars: Positive = 1.0
    medium_dollars: Positive = 10.0

    name: ClassVar[str] = "polling-read"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.METRICS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller and shape; the tables of known libraries are polled by design."""
        if traffic.calls is None or traffic.place.library is not None:
            return
        for poll in self._polls(traffic.calls, traffic):
            throttled = sum(_is_throttled(call) for call in poll.every)
            share, dollars = _share(poll, traffic), _cost(poll, traffic).dollars
            is_dear = dollars >= self.medium_dollars or (share >= self.least_share and dollars >= self.least_dollars)
            is_dear = is_dear and not _is_declared(poll, traffic)
            is_refused = bool(throttled) or (share >= self.least_share and bool(read_refusals(traffic)))
            if is_dear or is_refused:
                yield self._finding(poll, share, throttled, traffic)

    def _polls(self, book: CallBook, traffic: Traffic) -> Iterator[_Poll]:
        of_target = book.of(traffic.target)
        clocks: dict[tuple[str | None, str], list[tuple[Repeated, Period]]] = defaultdict(list)
        for repeated in repeats(of_target, has_all=book.share >= 1):
            calls = repeated.calls
            shape = calls[0].shape
            if len(calls) < self.least_times or shape.writes or shape.segmented or _is_lease(repeated, book, traffic):
                continue
            times = [call.time / 1000 for call in calls]
            period = period_of(times, jitter=self.jitter, regular_share=self.regular_share)
            if period is not None and period.seconds >= self.least_seconds:
                clocks[repeated.caller, repeated.fingerprint].append((repeated, period))
        for (caller, fingerprint), found in clocks.items():
            asked = {(repeated.key, repeated.calls[0].asked) for repeated, _ in found}
            every = tuple(
                call
                for call in of_target
                if call.fingerprint == fingerprint and call.caller == caller and (call.key, call.asked) in asked
            )
            yield _Poll(
                first=tuple(sorted((c for repeated, _ in found for c in repeated.calls), key=lambda c: c.time)),
                every=every,
                period=max(found, key=lambda one: len(one[0].calls))[1],
                asked=len(asked),
                units=_units(every, _stretch(book, traffic)),
            )

    def _finding(self, poll: _Poll, share: float, throttled: int, traffic: Traffic) -> Finding:
        call = poll.first[0]
        cost = _cost(poll, traffic)
        of_what = "calls that read" if poll.units is None else "read units"
        row = next((row for row in traffic.rows if row.shape.fingerprint == call.fingerprint), None)
        key = one_key(poll.first, traffic)
        refusals = read_refusals(traffic)
        told = (source for hit in refusals for source in hit.sources)
        many = f"{number(poll.asked)} keys of " if poll.asked > 1 else ""
        place = f"{many}{traffic.target}" if key is None else f"{{key}} in {traffic.target}"
        beside = ", while reads are refused" if throttled or refusals else ""
        return finding(
            self.name,
            traffic,
            self._severity(poll, share, throttled, refused=bool(refusals), traffic=traffic),
            f"{who(call.caller)} reads {place} every {number(round(poll.period.seconds, 1))} seconds by"
            f" {call.operation}, {number(len(poll.first))} times, {counted(len(poll.every), 'call')}:"
            f" {percent(share)} of the {of_what}{beside}",
            sources=tuple(dict.fromkeys((SourceName.REQUEST_LOG.value, *told))),
            subject=call.fingerprint,
            key=key,
            fingerprint=call.fingerprint,
            caller=call.caller,
            pattern=None if row is None else row.attribution.pattern,
            direction=Direction.READ,
            evidence={
                "period_s": round(poll.period.seconds, 2),
                "clocks": poll.period.clocks,
                "regular_share": round(poll.period.regular_share, 3),
                "times": len(poll.first),
                "different_reads": poll.asked,
                "calls": len(poll.every),
                "read_units": None if poll.units is None else round(poll.units, 1),
                "units_a_time": None if poll.units is None else round(poll.units / len(poll.first), 1),
                "share_of_read_units": None if poll.units is None else round(share, 4),
                "share_of_reads": round(share, 4) if poll.units is None else None,
                "throttled_calls": throttled,
                "filter_attributes": ", ".join(call.shape.filter_attributes) or None,
                "price": cost.basis,
            },
            cost_per_month_usd=None if poll.units is None else round(cost.dollars, 2),
            advice=tuple(_advice(call, traffic)),
        )

    def _severity(self, poll: _Poll, share: float, throttled: int, *, refused: bool, traffic: Traffic) -> Severity:
        if (throttled or refused) and share >= self.most_share:
            return Severity.HIGH
        if any(is_throttle(call.error) for call in poll.every):
            return Severity.HIGH
        taken = None if poll.units is None else capacity_share(poll.units, traffic, Direction.READ)
        is_much = taken is not None and taken >= self.least_share
        is_medium = throttled or refused or is_much or _cost(poll, traffic).dollars >= self.medium_dollars
        return Severity.MEDIUM if is_medium else Severity.LOW


def _units(calls: Calls, stretch: float) -> float | None:
    told = [call.read_units for call in calls if call.read_units is not None]
    return sum(told) * stretch if told else None


def _cost(poll: _Poll, traffic: Traffic) -> Cost:
    """Return what it costs a month: nothing that is known, where no call tells its units."""
    return cost_of(poll.units or 0.0, traffic, Direction.READ)


def _share(poll: _Poll, traffic: Traffic) -> float:
    """Return which part of the target's read units it takes; of its calls, where nothing tells units."""
    if poll.units is not None:
        return share_of_reads(poll.units, traffic)
    reads = sum(row.requests.value for row in traffic.rows if not row.shape.writes)
    return len(poll.every) / max(reads, len(poll.every))


def _is_declared(poll: _Poll, traffic: Traffic) -> bool:
    """Whether its pattern has a schedule, or declares that it is asked for as often."""
    first, last = poll.first[0], poll.first[-1]
    row = next((row for row in traffic.rows if row.shape.fingerprint == first.fingerprint), None)
    declared = declared_of(row, traffic)
    if declared is None:
        return False
    rate = len(poll.first) * 1000 / (last.time - first.time)
    often = max(declared.p95_rate or 0.0, declared.peak_rate or 0.0)
    return declared.schedule is not None or rate <= often


def _is_lease(repeated: Repeated, book: CallBook, traffic: Traffic) -> bool:
    """Whether it is a lease or a lock: its key is written under a condition."""
    at_key: Calls = () if repeated.key is None else book.by_key(traffic.target).get(repeated.key, ())
    return any(call.shape.writes and call.condition is not None for call in at_key)


def _stretch(book: CallBook, traffic: Traffic) -> float:
    """Return by how much the window is longer than what the book covers of it; 1 where it covers nothing of it."""
    window = traffic.window
    covered = window.end - max(book.since or window.start, window.start)
    return window.seconds * 1000 / covered if covered > 0 else 1.0


def _is_throttled(call: Call) -> bool:
    return any(is_throttle(code) for code in (call.error, *(one.code for one in call.tries)))


def _advice(call: Call, traffic: Traffic) -> Iterator[Advice]:
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(call.caller)} how old an answer may be, and whether it must ask so often",
        effect="half as often is half the units",
        takes="minutes",
    )
    if call.operation == "Scan":
        filtered = call.shape.filter_attributes
        what = f"where {filtered[0]} is set" if filtered else "that are due"
        yield advise(
            "make-index-sparse",
            f"Keep only the items {what} in a sparse index, and Query that with a Limit",
            effect="a poll that finds nothing costs half a unit",
            risk=Risk.LOW,
            reversible=True,
            takes="an index build, and a deploy that writes its key on those items alone",
            snippet='table.query(IndexName="due", KeyConditionExpression=Key("due_shard").eq("0"), Limit=25)',
        )
    elif call.operation == "GetItem":
        yield advise(
            "cache-item",
            "Keep the item in the process for as long as its age does not matter, or put DAX before it",
            effect="one read a process and time to live",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
    yield advise(
        "use-stream",
        f"Let the stream of {traffic.target.table} tell of changes, or hand work over with a queue",
        effect="nothing is read while nothing changes",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
    )
