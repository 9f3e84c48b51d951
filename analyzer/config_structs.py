"""Structs made of a configuration's sections: thresholds of detectors, bounds of what is kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from analyzer.config import REFERENCE
from analyzer.config_faults import did_you_mean
from analyzer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.config import Settings
    from analyzer.errors import Fault

__all__ = ["build_detectors", "build_struct"]

S = TypeVar("S")


def build_detectors(settings: Settings, known: Sequence[type[S]]) -> tuple[S, ...]:
    """Make every known detector with its configured thresholds; raises ConfigError with all faults."""
    by_name = {cast("str", vars(detector)["name"]): detector for detector in known}
    faults = [
        settings.fault(("detectors", name), "no such detector", did_you_mean(name, by_name, "`dynascope explain`"))
        for name in settings.detectors
        if name not in by_name
    ]
    built: list[S] = []
    for name, detector in by_name.items():
        made = _convert(settings, ("detectors", name), detector, settings.detectors.get(name, {}), faults)
        built.extend(made)
    if faults:
        raise ConfigError(tuple(faults))
    return tuple(built)


def build_struct(settings: Settings, section: str, kind: type[S]) -> S:
    """Make a struct such as the digest's limits from a section of whole numbers; raises ConfigError."""
    faults: list[Fault] = []
    made = _convert(settings, (section,), kind, getattr(settings, section), faults)
    if faults:
        raise ConfigError(tuple(faults))
    return made[0]


def _convert(
    settings: Settings, path: tuple[str, ...], kind: type[S], values: Mapping[str, object], faults: list[Fault]
) -> list[S]:
    fields = msgspec.structs.fields(cast("type[msgspec.Struct]", kind))
    defaults = {field.encode_name: field.default for field in fields}
    before = len(faults)
    for name in values:
        if name not in defaults:
            mend = did_you_mean(name, defaults, REFERENCE)
            faults.append(settings.fault((*path, name), "unknown key", mend))
    for name, default in defaults.items():
        if name in values:
            try:
                msgspec.convert({name: values[name]}, kind)
            except (msgspec.ValidationError, ValueError) as error:
                message = str(error).split(" - at `$", maxsplit=1)[0]
                mend = f"its default is {default}; see {REFERENCE}"
                faults.append(settings.fault((*path, name), message, mend))
    return [msgspec.convert(dict(values), kind)] if len(faults) == before else []
