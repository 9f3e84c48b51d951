"""The configuration of one command: its file, and what the command line says beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.setup import checked_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.config import Settings

__all__ = ["settings_of"]


def settings_of(
    config: Path | None, contract: Sequence[Path] | None, window: str | None = None, salt_file: Path | None = None
) -> Settings:
    """Read the configuration, with contracts, window and salt of the command line before it.

    Raises ConfigError or ContractError with every fault of all that they name.
    """
    given = {"window": window, "salt_file": salt_file}
    overrides = {name: value for name, value in given.items() if value is not None}
    return checked_settings(config, overrides=overrides, contract=contract or ())
