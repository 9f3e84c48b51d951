"""The errors that are expected: the user's, and those of what we look at. Bugs are never caught."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AbsentError",
    "BudgetError",
    "CollectError",
    "ConfigError",
    "ContractError",
    "DeniedError",
    "DynascopeError",
    "Fault",
    "MalformedError",
    "ThrottledError",
    "UnreachableError",
    "UnsupportedError",
    "UsageError",
    "because",
    "closest",
]


class Fault(Struct, frozen=True):
    """One thing wrong in a file of the user's: where, what, and how to mend it."""

    file: str
    line: int | None
    field: str
    message: str
    mend: str

    def __str__(self) -> str:
        """Write `file:line: field: message; mend`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return (
            f"{place}: {self.field}: {self.message}; {self.mend}"
            if self.field
            else f"{place}: {self.message}; {self.mend}"
        )


class DynascopeError(Exception):
    """What the program tells the user instead of a traceback."""


class UsageError(DynascopeError):
    """A command was called in a way that cannot work; exit 2."""


class _FaultyFileError(DynascopeError):
    """A file of the user's that is wrong, with every fault in it."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class ConfigError(_FaultyFileError):
    """The configuration is wrong; exit 2, before anything starts."""


class ContractError(_FaultyFileError):
    """The contract cannot be read; exit 2 (`check`: 1)."""


class CollectError(DynascopeError):
    """Something could not be looked at; it becomes a gap. `code` is AWS's own word for the error, where it said one."""

    def __init__(self, message: str, *, hint: str, code: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code


class DeniedError(CollectError):
    """A permission is missing, or the credentials are none: absent, expired, or signed by a clock that is wrong."""


class ThrottledError(CollectError):
    """AWS asked us to slow down."""


class UnreachableError(CollectError):
    """Nobody answered in time: endpoint down, connection lost, time-out, or a fault of the service's own."""


class MalformedError(CollectError):
    """An answer that cannot be read: half of one, or a page of HTML where JSON or XML belongs."""


class AbsentError(CollectError):
    """What was asked for is not there: a table, rule, log group or bucket."""


class UnsupportedError(CollectError):
    """AWS refuses the request itself: it does not know the operation here, or finds a parameter wrong."""


class BudgetError(CollectError):
    """The day's money is spent; nothing was sent."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that somebody probably meant, whatever its case; None where nothing is near."""
    by_lower = {name.lower(): name for name in reversed([*known])}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1)
    return by_lower[found[0]] if found else None


def because(error: OSError | CollectError) -> str:
    """Say why something could not be read or written, without its name: in the system's words, or in ours."""
    return str(error) if isinstance(error, CollectError) else error.strerror or type(error).__name__
