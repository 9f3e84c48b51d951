"""A YAML file of the user's as plain values, with the line of every key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from analyzer.errors import ConfigError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Lines", "read_yaml"]

_MOST_BYTES = 256 * 1024
_MOST_VALUES = 100_000
_DEEPEST = 100
_TOO_MUCH = "it holds more than a configuration can: too much text, too many values, or nested too deep"

Lines = dict[tuple[str, ...], int]
"""Path of a key to its line, counted from 1."""


def read_yaml(path: Path) -> tuple[dict[str, Any], Lines]:
    """Return content and lines of a mapping; raises ConfigError with file, line and mend."""
    try:
        node = YAML(typ="rt").load(_text(path))
        _bound(node)
    except OSError as error:
        mend = "name a file that exists and can be read"
        raise ConfigError((Fault(str(path), None, "", error.strerror or "cannot be read", mend),)) from None
    except UnicodeDecodeError:
        raise ConfigError((Fault(str(path), None, "", "not UTF-8 text", "save it as UTF-8"),)) from None
    except (_TooMuchError, RecursionError):
        raise ConfigError((Fault(str(path), None, "", _TOO_MUCH, "say less, and without aliases"),)) from None
    except MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        message = (error.problem or "not YAML").split("\n")[0].split(" with value ")[0]  # it might be the salt
        raise ConfigError((Fault(str(path), line, "", message, "mend the YAML there"),)) from None
    except YAMLError:
        raise ConfigError((Fault(str(path), None, "", "not YAML", "mend the YAML"),)) from None
    if node is None:
        return {}, {}
    if not isinstance(node, dict):
        message = "the configuration is a mapping of keys"
        raise ConfigError((Fault(str(path), 1, "", message, "write `version: 1` and the keys below it"),))
    return _plain(node), dict(_lines_of(node, ()))


class _TooMuchError(Exception):
    """More than a configuration can hold."""


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise _TooMuchError
    return content.decode("utf-8")


def _bound(node: Any) -> None:  # noqa: ANN401 -- same
    """Count values as often as aliases repeat them."""
    waiting, count = [(node, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        inner = list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else ()
        waiting += [(value, depth + 1) for value in inner]
        count += 1
        if count + len(waiting) > _MOST_VALUES or depth > _DEEPEST:
            raise _TooMuchError


def _plain(node: Any) -> Any:  # noqa: ANN401 -- YAML may hold anything
    if isinstance(node, dict):
        return {str(name): _plain(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return next((kind(node) for kind in (bool, int, float, str) if isinstance(node, kind)), node)


def _lines_of(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:  # noqa: ANN401 -- same
    if not hasattr(node, "lc"):
        return
    names = list(node) if isinstance(node, dict) else range(len(node))
    for name in names:
        place = (*path, str(name))
        yield place, node.lc.data[name][0] + 1
        yield from _lines_of(node[name], place)
