"""Survivors that change nothing, each with its reason: tests/mutate/explained.yaml."""

from __future__ import annotations

from pathlib import Path

from ruamel.yaml import YAML

__all__ = ["explanations"]


def explanations() -> dict[str, dict[str, str]]:
    """Return module → mutant → why no test could notice it."""
    read = YAML(typ="safe").load(Path(__file__).with_name("explained.yaml").read_text(encoding="utf-8"))
    return dict(read or {})
