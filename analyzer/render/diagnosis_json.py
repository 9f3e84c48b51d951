"""A diagnosis as JSON: a report, version 1, with one field more, `diagnosis`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from analyzer.model.instant import format_instant
from analyzer.render.diagnosis import first_words
from analyzer.render.json import plain_value, report_object

if TYPE_CHECKING:
    from analyzer.planning.diagnosis import Diagnosis

__all__ = ["diagnosis_object", "render_diagnosis_json"]


def render_diagnosis_json(diagnosis: Diagnosis) -> str:
    """Write a diagnosis as one JSON document."""
    return json.dumps(diagnosis_object(diagnosis), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def diagnosis_object(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as plain values; rates are a second, unknown is null."""
    label, _ = first_words(diagnosis)
    behind = diagnosis.behind_ms
    told = {
        "kind": diagnosis.kind,
        "label": label.lower(),
        "finding": None if diagnosis.lead is None else diagnosis.lead.id,
        "since": None if diagnosis.since is None else format_instant(diagnosis.since),
        "behind_seconds": None if behind is None else behind / 1000,
        "who": diagnosis.who or None,
        "facts": list(diagnosis.facts),
        "change": None if diagnosis.change is None else plain_value(diagnosis.change),
        "compared": [
            {**asdict(line), "direction": line.direction and line.direction.value, "ratio": line.ratio}
            for line in diagnosis.compared
        ],
        "steps": [plain_value(step) for step in diagnosis.steps],
        "suspects": [
            {"table": one.target.table, "region": one.target.region, "why": one.why} for one in diagnosis.suspects
        ],
        "spent": asdict(diagnosis.spent),
    }
    return {**report_object(diagnosis.report), "diagnosis": plain_value(told)}
