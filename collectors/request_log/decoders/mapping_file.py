"""A mapping file: where an application's log entries hold what a request record has, read with all its faults."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from analyzer.errors import ConfigError, Fault, closest
from analyzer.knowledge.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FIELDS", "MappedPath", "Mapping", "read_mapping"]

FIELDS = (
    "time", "op", "table", "index", "region", "account", "key", "key_condition", "filter", "projection", "update",
    "condition", "names", "values", "statement", "consistent", "forward", "limit", "select", "count", "scanned",
    "consumed", "read_units", "write_units", "more", "resumed", "item_bytes", "returned_bytes", "latency_ms",
    "attempts", "error", "caller", "caller_version", "principal", "user_agent", "pattern", "trace_id", "request_id",
    "sample_rate",
)  # fmt: skip
"""What may be mapped: fields of a request record; `consumed`, `read_units` and `write_units` are numbers here."""

_REQUIRED = ("time", "op")
_SECTIONS = ("version", "fields", "operations", "when")
_STEP = re.compile(r"\.([^.\[\]'\"\s]+)|\[(\d{1,6})\]|\[\"([^\"]+)\"\]|\['([^']+)'\]")
_EXAMPLE = "write `fields: {time: $.timestamp, op: $.ddb.op, table: $.ddb.table}`"
_LARGEST = 256 * 1024


class MappedPath(Struct, frozen=True):
    """Where a value stands (`$.ddb.op`: steps), or a value that is always the same."""

    steps: tuple[str | int, ...] | None
    constant: Any = None

    def of(self, value: Any) -> Any:  # noqa: ANN401 -- whatever an application logs
        """Return what stands there; None for nothing."""
        if self.steps is None:
            return self.constant
        for step in self.steps:
            if isinstance(step, int):
                value = value[step] if isinstance(value, list) and step < len(value) else None
            else:
                value = value.get(step) if isinstance(value, dict) else None
        return value


class Mapping(Struct, frozen=True):
    """A mapping that was read: paths by field, key attributes by name, the application's words for operations.

    `when` are paths with the value that an entry must have there to be a request at all.
    """

    fields: dict[str, MappedPath]
    key: dict[str, MappedPath]
    operations: dict[str, str]
    when: tuple[tuple[MappedPath, Any], ...]


def read_mapping(text: bytes, name: str) -> Mapping:
    """Read the content of a mapping file of that name; raises ConfigError with every fault in it."""
    if len(text) > _LARGEST:
        raise ConfigError((Fault(name, None, "", "is no mapping file: it is too large", _EXAMPLE),))
    try:
        document = YAML(typ="rt", pure=True).load(text.decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigError((Fault(name, None, "", "is no text in UTF-8", "save it as UTF-8"),)) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise ConfigError((_form_fault(name, error),)) from None
    reading = _Reading(name)
    mapping = reading.mapping(document)
    if reading.faults:
        raise ConfigError(tuple(reading.faults))
    return mapping


def _form_fault(name: str, error: Exception) -> Fault:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    told = error.problem if isinstance(error, MarkedYAMLError) and error.problem else "is no YAML"
    return Fault(name, None if mark is None else mark.line + 1, "", f"cannot be read as YAML: {told}", _EXAMPLE)


class _Reading:
    """One reading of one file, collecting its faults."""

    def __init__(self, file: str) -> None:
        self.faults: list[Fault] = []
        self._file = file

    def mapping(self, document: Any) -> Mapping:  # noqa: ANN401 -- what a user wrote
        if not isinstance(document, dict):
            self._fault(None, None, "", "holds no mapping", _EXAMPLE)
            return Mapping({}, {}, {}, ())
        self._unknown(document, _SECTIONS, "")
        if document.get("version", 1) != 1:
            self._fault(document, "version", "version", "is not 1", "write `version: 1`, or leave it out")
        fields, key = self._fields(document)
        return Mapping(fields, key, self._operations(document), tuple(self._when(document)))

    def _fields(self, document: Any) -> tuple[dict[str, MappedPath], dict[str, MappedPath]]:  # noqa: ANN401 -- same
        given = self._section(document, "fields")
        self._unknown(given, FIELDS, "fields.")
        for name in _REQUIRED:
            if name not in given:
                self._fault(document, "fields", "fields", f"does not map `{name}`", f"add `{name}: $.…`")
        if not {"table", "statement"} & set(given):
            self._fault(document, "fields", "fields", "maps neither `table` nor `statement`", "add `table: $.…`")
        key = given.get("key", {})
        if not isinstance(key, dict):
            self._fault(given, "key", "fields.key", "names no attributes", "write `key: {PK: $.ddb.pk}`")
            key = {}
        fields = {n: p for n in given if n in FIELDS and n != "key" and (p := self._path(given, n, "fields."))}
        return fields, {str(n): p for n in key if (p := self._path(key, n, "fields.key."))}

    def _operations(self, document: Any) -> dict[str, str]:  # noqa: ANN401 -- same
        given = self._section(document, "operations")
        for word, operation in given.items():
            if operation not in OPERATIONS:
                meant = closest(str(operation), OPERATIONS)
                mend = f"did you mean {meant}?" if meant else "write an operation of DynamoDB's API"
                self._fault(given, word, f"operations.{word}", f"{operation} is no operation", mend)
        return {str(word): str(operation) for word, operation in given.items()}

    def _when(self, document: Any) -> Iterator[tuple[MappedPath, Any]]:  # noqa: ANN401 -- same
        given = self._section(document, "when")
        for written, value in given.items():
            path = self._parsed(given, written, written, "when.")
            if path is None:
                continue
            if path.steps is None:
                self._fault(given, written, f"when.{written}", "is no path", "write `$.message: ddb_query`")
            yield path, value

    def _section(self, document: Any, name: str) -> Any:  # noqa: ANN401 -- same
        given = document.get(name)
        if given is None and name != "fields":
            return {}
        if isinstance(given, dict):
            return given
        self._fault(document, name, name, "is no mapping", _EXAMPLE)
        return {}

    def _path(self, given: Any, name: Any, place: str) -> MappedPath | None:  # noqa: ANN401 -- same
        return self._parsed(given, name, given[name], place)

    def _parsed(self, given: Any, name: Any, written: Any, place: str) -> MappedPath | None:  # noqa: ANN401 -- same
        if not isinstance(written, str) or not written.startswith("$"):
            if written is None or isinstance(written, dict | list):
                self._fault(given, name, f"{place}{name}", "is no path", "write `$.…`, or a text that is always so")
                return None
            return MappedPath(None, written)
        steps: list[str | int] = []
        at = 1
        while at < len(written):
            found = _STEP.match(written, at)
            if found is None:
                mend = 'write steps as `.name`, `["a name"]` or `[0]`'
                self._fault(given, name, f"{place}{name}", f"{written} is no path from character {at + 1} on", mend)
                return None
            steps.append(int(found[2]) if found[2] else found[1] or found[3] or found[4])
            at = found.end()
        return MappedPath(tuple(steps))

    def _unknown(self, given: Any, known: tuple[str, ...], place: str) -> None:  # noqa: ANN401 -- same
        for name in given:
            if name not in known:
                meant = closest(str(name), known)
                mend = f"did you mean {meant}?" if meant else f"known are {', '.join(known)}"
                self._fault(given, name, f"{place}{name}", "is not known", mend)

    def _fault(self, given: Any, name: Any, field: str, message: str, mend: str) -> None:  # noqa: ANN401 -- same
        marks = getattr(given, "lc", None)
        at = None if marks is None else (marks.data or {}).get(name)
        line = at[0] if at is not None else None if marks is None else marks.line
        self.faults.append(Fault(self._file, None if line is None else line + 1, field, message, mend))
