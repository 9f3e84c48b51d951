"""What pydantic says against a configuration, in words for people: where it stands and how to mend it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from analyzer.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import BaseModel, ValidationError

    from analyzer.config_file import Lines

__all__ = ["did_you_mean", "faults_of", "line_of", "without"]

_SCHEMA = "`dynascope config --schema`"


def faults_of(
    error: ValidationError, file: str, lines: Lines, sections: Mapping[str, type[BaseModel]]
) -> tuple[Fault, ...]:
    """Return one fault a field; `sections` are the models by their place, the whole file's under an empty one."""
    found: dict[tuple[str, ...], Fault] = {}
    for entry in error.errors(include_url=False, include_input=False):
        path = tuple(str(step) for step in entry["loc"])
        while entry["type"] != "missing" and len(path) > 1 and path not in lines and path[:-1] in lines:
            path = path[:-1]  # a union's own name, not the file's
        if path not in found:
            message, mend = _words(entry["type"], entry["msg"], path, sections)
            found[path] = Fault(file, line_of(lines, path), ".".join(path), message, mend)
    return tuple(found.values())


def line_of(lines: Lines, path: tuple[str, ...]) -> int | None:
    """Return the line of a key, or of the section that it belongs to."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


def without(content: dict[str, Any], error: ValidationError) -> dict[str, Any]:
    """Return a configuration without what an error speaks of, so that the rest can be looked at."""
    faulty = {
        _deepest(content, tuple(str(step) for step in entry["loc"]))
        for entry in error.errors(include_url=False, include_input=False)
    }
    pruned: dict[str, Any] = _prune(content, faulty, ())
    return pruned


def _deepest(content: Any, path: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ANN401 -- a file may hold anything
    """Return the part of a path that a configuration has."""
    if path and isinstance(content, dict) and path[0] in content:
        return (path[0], *_deepest(content[path[0]], path[1:]))
    return ()


def _prune(content: Any, faulty: set[tuple[str, ...]], path: tuple[str, ...]) -> Any:  # noqa: ANN401 -- same
    if not isinstance(content, dict):
        return content
    return {
        name: _prune(value, faulty, (*path, name)) for name, value in content.items() if (*path, name) not in faulty
    }


def did_you_mean(name: str, known: Iterable[str], elsewhere: str) -> str:
    """Return the name that was meant, or all there are and where they are explained."""
    names: Sequence[str] = tuple(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(names) or 'none'}; see {elsewhere}"


def _words(kind: str, text: str, path: tuple[str, ...], sections: Mapping[str, type[BaseModel]]) -> tuple[str, str]:
    if kind == "extra_forbidden":
        place = ".".join(step for step in path[:-1] if not step.isdigit())
        section = sections.get(place, sections[""])
        known = [field.alias or name for name, field in section.model_fields.items()]
        return "unknown key", did_you_mean(path[-1], known, _SCHEMA)
    message, _, mend = text.removeprefix("Value error, ").partition("; ")
    return message[:1].lower() + message[1:], mend or f"see {_SCHEMA}"
