"""Which tables a collector is meant to look at, by globs of names."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["is_chosen"]


def is_chosen(name: str, include: Iterable[str], exclude: Iterable[str]) -> bool:
    """Whether a glob of `include` takes a name, and none of `exclude` does; upper and lower case differ."""
    return any(fnmatchcase(name, glob) for glob in include) and not any(fnmatchcase(name, glob) for glob in exclude)
