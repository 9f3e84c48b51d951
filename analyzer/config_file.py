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

Lines = dict[tuple[str, ...], int]
"""Path of a key to its line, counted from 1."""


def read_yaml(path: Path) -> tuple[dict[str, Any], Lines]:
    """Return content and lines of a mapping; raises ConfigError with file, line and mend."""
    try:
        node = YAML(typ="rt").load(path.read_text("utf-8"))
    except OSError as error:
        mend = "name a file that exists and can be read"
        raise ConfigError((Fault(str(path), None, "", error.strerror or "cannot be read", mend),)) from None
    except UnicodeDecodeError:
        raise ConfigError((Fault(str(path), None, "", "not UTF-8 text", "save it as UTF-8"),)) from None
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
