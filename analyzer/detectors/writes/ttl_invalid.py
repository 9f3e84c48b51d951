"""Times to live that never come: values on which DynamoDB will not act, or an attribute that it does not look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner, aws, quoted, time_to_live_on
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, who
from analyzer.model.calls import TtlValue
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.traffic.expiry import ExpiringWrites, expiring_writes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["TtlInvalid"]

_ON = frozenset({"ENABLED", "ENABLING"})
_SURE_WRITES = 5
_WORDS = {
    "not-a-number": "is no Number",
    "milliseconds": "is in milliseconds, not seconds",
    "duration": "is a duration, not a time",
    "too-old": "lies more than five years back",
}


class TtlInvalid(Struct, frozen=True):
    """Judges the values that items are written with, and the table's setting against the attribute that is meant."""

    wrong_share: Share = 0.01
    least_writes: Whole = 1

    name: ClassVar[str] = "ttl-invalid"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.REQUESTS}),
        frozenset({Sight.TABLE, Sight.CONTRACT}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.TABLE, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding on the table's setting, and one an attribute on its values."""
        if traffic.target.index is not None:
            return
        written = [] if traffic.calls is None else expiring_writes(traffic.calls.of(traffic.target))
        for group in written:
            if group.wrong_count >= max(self.least_writes, self.wrong_share * group.written):
                yield self._values(group, traffic)
        meant = traffic.place.ttl_attribute or next((one.attribute for one in written if one.attribute), None)
        if meant is None:
            return
        if traffic.place.time_to_live is not None:
            yield from self._setting(meant, traffic)
        elif not written:
            needs = ("dynamodb:DescribeTimeToLive", "`ttl_seen` of written items in the request log")
            yield Skipped(self.name, traffic.target.table, None, SkipReason.TOO_LITTLE, needs)

    def _values(self, group: ExpiringWrites, traffic: Traffic) -> Finding:
        fault = group.main_fault
        calls = group.wrong[fault]
        example = calls[-1]
        told = example.ttl or TtlValue()
        attribute = group.attribute or "its time to live"
        share = group.wrong_count / group.written
        is_sure = group.wrong_count >= _SURE_WRITES
        row = next((row for row in traffic.rows if row.shape.fingerprint == example.fingerprint), None)
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{number(group.wrong_count)} of {number(group.written)} items in {traffic.target} will never expire,"
            f" those that {who(example.caller)} wrote among them: {attribute} {_WORDS[fault]}",
            confidence=Confidence.CERTAIN if is_sure else Confidence.LIKELY,
            because=None if is_sure else f"it was seen in {number(group.wrong_count)} writes alone",
            subject=f"values\x1f{group.attribute or ''}",
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=example.fingerprint,
            caller=example.caller,
            cause=fault,
            direction=Direction.WRITE,
            evidence={
                "attribute": group.attribute,
                "writes_wrong": group.wrong_count,
                "writes_with_ttl": group.written,
                "wrong_share": round(share, 4),
                "type": told.type,
                "example_value": told.number,
                **{f"{name.replace('-', '_')}_writes": len(group.wrong[name]) for name in sorted(group.wrong)},
            },
            advice=(
                ask_owner(
                    example.caller,
                    f"in which unit and type it writes {attribute}",
                    "tells what the deploy has to change, and which items never expire",
                ),
                advise(
                    "fix-ttl-units",
                    f"Let {who(example.caller)} write {attribute} as a Number of whole seconds since 1970",
                    effect="items expire; DynamoDB deletes them within days, at no cost",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy; what is there already needs an update of each item",
                    snippet=f'item["{group.attribute or "expires"}"] = int(time.time()) + seconds_to_live',
                ),
            ),
        )

    def _setting(self, meant: str, traffic: Traffic) -> Iterator[Finding]:
        told = traffic.place.time_to_live
        if told is None or told.status is None or (told.status in _ON and told.attribute in {meant, None}):
            return
        is_on = told.status in _ON
        declared = traffic.place.ttl_attribute is not None
        says = "the contract declares" if declared else "items are written with"
        what = f"looks at {told.attribute}" if is_on else "is not enabled"
        yield finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{says} {meant} as the time to live of {traffic.target}, and TTL {what}: nothing expires by it",
            confidence=Confidence.CERTAIN if declared else Confidence.LIKELY,
            because=None if declared else "no contract declares it: the sampler was told of the attribute",
            sources=(
                SourceName.TABLE_CATALOG.value,
                (SourceName.CONTRACT if declared else SourceName.REQUEST_LOG).value,
            ),
            subject="setting",
            cause="attribute-differs" if is_on else "not-enabled",
            direction=Direction.WRITE,
            evidence={"attribute": meant, "enabled_attribute": told.attribute, "ttl_status": told.status},
            advice=tuple(_setting_advice(meant, traffic, is_on=is_on)),
        )


def _setting_advice(meant: str, traffic: Traffic, *, is_on: bool) -> Iterator[Advice]:
    yield advise(
        "enable-ttl",
        "Look at the setting first"
        + (f": an attribute is changed by disabling TTL, waiting an hour, and enabling it on {meant}" if is_on else ""),
        effect="shows what DynamoDB looks at",
        command=aws(traffic.target, f"dynamodb describe-time-to-live --table-name {quoted(traffic.target.table)}"),
    )
    yield advise(
        "enable-ttl",
        f"Enable TTL on {meant}, once no item holds a past time there that must stay: all of those go",
        effect="expired items are deleted within days, at no cost",
        command=aws(
            traffic.target,
            time_to_live_on(traffic.target, meant),
            changes=True,
        ),
        risk=Risk.HIGH,
        reversible=False,
        takes="an hour; deletions follow within days",
    )
