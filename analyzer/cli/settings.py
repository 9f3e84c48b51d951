"""The configuration of one command: its file, and what the command line says beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.setup import checked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.config import Settings
    from analyzer.contract.model import Contract

__all__ = ["settings_and_contract", "settings_of"]


def settings_and_contract(
    config: Path | None, contract: Sequence[Path] | None, window: str | None = None, salt_file: Path | None = None
) -> tuple[Settings, Contract]:
    """Read the configuration and its contract, with contracts, window and salt of the command line before it.

    Raises ConfigError or ContractError with every fault of all that they name.
    """
    given = {"window": window, "salt_file": salt_file}
    overrides = {name: value for name, value in given.items() if value is not None}
    return checked(config, overrides=overrides, contract=contract or ())


def settings_of(
    config: Path | None, contract: Sequence[Path] | None, window: str | None = None, salt_file: Path | None = None
) -> Settings:
    """Read like `settings_and_contract`, and return the configuration alone."""
    return settings_and_contract(config, contract, window, salt_file)[0]
