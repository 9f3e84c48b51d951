"""Recordings of our own making: a few lines of Python become the lines that collectors would have written.

    made = Recorded(minutes=5).table("orders", "PK", "SK", read=500, write=200)
    made.request("GetItem", at=12.5, key={"PK": "ORDER#7"}, units=0.5, caller="shop")
    report = made.replayed(tmp_path)

Times are seconds after the start. The same calls give the same bytes, so that a page's recording can be written anew.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from analyzer.cli.judging import judge_recording
from analyzer.config import Settings
from analyzer.model.instant import format_instant, parse_instant
from analyzer.recording import read_recording
from tests.support.advices import faults_of_advice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report

__all__ = ["Recorded", "alarms", "only_of", "typed"]

ACCOUNT, REGION, TABLE = "222233334444", "eu-central-1", "orders"
_ALARMING = {"high", "critical"}


class Recorded:
    """A recording that is being made; every method returns it."""

    def __init__(self, *, minutes: float = 5, start: str = "2026-03-02T09:00:00.000Z", table: str = TABLE) -> None:
        self.start = parse_instant(start)
        self.end = self.start + round(minutes * 60_000)
        self.name = table
        self._lines: list[dict[str, Any]] = []

    def time(self, at: float) -> str:
        """Write so many seconds after the start as a time."""
        return format_instant(self.start + round(at * 1000))

    def line(self, kind: str, **fields: Any) -> Recorded:
        """Add a line as it stands; what is None is left out."""
        self._lines.append({"kind": kind} | {name: value for name, value in fields.items() if value is not None})
        return self

    def contract(self, *patterns: dict[str, Any], key: Sequence[str] = ("PK", "SK"), **fields: Any) -> Recorded:
        """Declare the table with these patterns; `fields` are the table's other ones, `callers` the contract's."""
        callers = fields.pop("callers", None)
        names = dict(zip(("partition_key", "sort_key"), key, strict=False))
        table = {"name": self.name, **names, **fields, "patterns": list(patterns)}
        said = {"version": 1, "tables": [table]} | ({"callers": callers} if callers else {})
        return self.line("contract", contract=said)

    def table(self, *key: str, read: int | None = None, write: int | None = None, **fields: Any) -> Recorded:
        """Describe the table, on demand unless `read` or `write` units are given.

        `indexes` are GSIs: name to its key attributes; `local` are LSIs. Other fields are DescribeTable's own.
        """
        kinds = {"GlobalSecondaryIndexes": fields.pop("indexes", {}), "LocalSecondaryIndexes": fields.pop("local", {})}
        units = {"ReadCapacityUnits": read or 0, "WriteCapacityUnits": write or 0}
        is_provisioned = read is not None or write is not None
        keyed = [key or ("PK", "SK"), *(names for indexes in kinds.values() for names in indexes.values())]
        names = dict.fromkeys(name for names in keyed for name in names)
        described: dict[str, Any] = {
            "TableName": self.name,
            "TableStatus": "ACTIVE",
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
            "KeySchema": _key_schema(key or ("PK", "SK")),
            "ProvisionedThroughput": units,
            "BillingModeSummary": {"BillingMode": "PROVISIONED" if is_provisioned else "PAY_PER_REQUEST"},
        }
        for kind, indexes in kinds.items():
            if indexes:
                described[kind] = [_index(name, attributes, kind, units) for name, attributes in indexes.items()]
        return self.line("table", table=described | fields)

    def request(
        self, op: str, at: float, *, key: dict[str, Any] | None = None, units: float | None = None, **fields: Any
    ) -> Recorded:
        """Add a call; key values are plain strings and numbers, `units` those of its table, or of the index
        that it names.

        Of a Query the key becomes its condition, unless `key_condition` is given too. A field of None is left out.
        """
        record: dict[str, Any] = {"v": 1, "time": self.time(at), "op": op, "table": self.name}
        if key is not None:
            record["key"] = {name: typed(value) for name, value in key.items()}
            if op == "Query" and "key_condition" not in fields:
                fields["key_condition"] = " AND ".join(f"{name} = :v{number}" for number, name in enumerate(key))
                fields["values"] = {f":v{number}": typed(value) for number, value in enumerate(key.values())}
        if units is not None:
            record["consumed"] = _consumed(units, fields.get("index"))
        record |= {name: value for name, value in fields.items() if value is not None}
        return self.line("request", request={name: value for name, value in record.items() if value is not None})

    def metric(
        self,
        metric: str,
        values: Iterable[float],
        *,
        index: str | None = None,
        stat: str = "Sum",
        period: int = 60,
        at: float = 0,
        status: str = "Complete",
        **dimensions: str,
    ) -> Recorded:
        """Add a series of the table or an index, whose points follow one another from `at`."""
        place = {"TableName": self.name} | ({"GlobalSecondaryIndexName": index} if index else {})
        listed = list(values)
        times = [self.time(at + number * period) for number in range(len(listed))]
        parts = {"metric": metric, "dimensions": place | dimensions, "stat": stat, "period": period}
        return self.line("metric", **parts, timestamps=times, values=listed, status=status)

    def quiet_metrics(self, read: float = 600, write: float = 300, operation: str = "GetItem") -> Recorded:
        """Add what a healthy table's metrics tell of the whole recording: units a minute, and nothing refused."""
        minutes = (self.end - self.start) // 60_000
        self.metric("ConsumedReadCapacityUnits", [read] * minutes).metric(
            "ConsumedWriteCapacityUnits", [write] * minutes
        )
        for none in ("ReadThrottleEvents", "WriteThrottleEvents"):
            self.metric(none, [])
        self.metric("SystemErrors", [], Operation=operation)
        return self.metric("SuccessfulRequestLatency", [5.0] * minutes, stat="p99", Operation=operation)

    def text(self) -> str:
        """Return the recording's lines, one JSON object each."""
        place = {"region": REGION, "account": ACCOUNT}
        start, end = format_instant(self.start), format_instant(self.end)
        header = {"kind": "recording", "v": 1, "start": start, "end": end, **place}
        return "".join(json.dumps(line, separators=(", ", ": ")) + "\n" for line in (header, *self._lines))

    def write(self, path: Path) -> Path:
        """Write the recording to a file."""
        path.write_text(self.text(), "utf-8")
        return path

    def replayed(self, folder: Path, **settings: Any) -> Report:
        """Return what `dynascope replay` says of it; `settings` are the configuration's.

        The first advice of each finding changes nothing, and commands are filled in: here, so that it holds for all.
        """
        path = self.write(folder / "recording.jsonl")
        report = judge_recording(path, read_recording(path), Settings.model_validate(settings))
        assert list(faults_of_advice(report.findings)) == []
        return report


def typed(value: Any) -> dict[str, Any]:
    """Write a plain value as an AttributeValue; a dictionary is one already."""
    if isinstance(value, dict):
        return value
    return {"S": value} if isinstance(value, str) else {"N": str(value)}


def only_of(report: Report, detector: str) -> Finding:
    """Return the one finding of a detector."""
    found = [finding for finding in report.findings if finding.detector == detector]
    assert len(found) == 1, [(finding.detector, finding.summary) for finding in report.findings]
    return found[0]


def alarms(report: Report) -> set[str]:
    """Return the detectors whose findings are high or critical."""
    return {finding.detector for finding in report.findings if finding.severity in _ALARMING}


def _key_schema(names: Sequence[str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)]


def _index(name: str, attributes: Sequence[str], kind: str, units: dict[str, int]) -> dict[str, Any]:
    described: dict[str, Any] = {"IndexName": name, "KeySchema": _key_schema(attributes)}
    described["Projection"] = {"ProjectionType": "ALL"}
    if kind == "GlobalSecondaryIndexes":
        described |= {"IndexStatus": "ACTIVE", "ProvisionedThroughput": units}
    return described


def _consumed(units: float, index: str | None) -> dict[str, Any]:
    if index is None:
        return {"total": units, "table": units}
    return {"total": units, "table": 0.0, "indexes": {index: units}}
