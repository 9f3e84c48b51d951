"""What an examination found: checks in groups, and what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.model.batch import Check

if TYPE_CHECKING:
    from analyzer.errors import Fault

__all__ = ["STATES", "Examined", "Group", "faulty"]

STATES = ("ok", "unchecked", "warning", "error")
"""From what needs nothing to what stops it."""

_USAGE, _SOURCE = 2, 3
"""Exit codes: what the user configured is wrong, a source fails."""


class Group(Struct, frozen=True):
    """Checks of one thing: the configuration, a place, the bill; errors of `is_local` are the user's own to mend."""

    title: str
    checks: tuple[Check, ...]
    is_local: bool = False

    @property
    def has_errors(self) -> bool:
        """Whether anything here stops something."""
        return any(check.state == "error" for check in self.checks)


class Examined(Struct, frozen=True):
    """All groups, in the order in which they are told."""

    groups: tuple[Group, ...]

    def count(self, state: str) -> int:
        """Return how many checks came out so."""
        return sum(check.state == state for group in self.groups for check in group.checks)

    @property
    def state(self) -> str:
        """The worst state of all; ok where nothing was to be checked."""
        found = {check.state for group in self.groups for check in group.checks}
        return max(found, key=STATES.index, default="ok")

    @property
    def exit_code(self) -> int:
        """0 also with warnings, 2 for an error of the configuration, else 3 for one of a source."""
        if any(group.has_errors for group in self.groups if group.is_local):
            return _USAGE
        return _SOURCE if any(group.has_errors for group in self.groups) else 0

    def plain(self) -> dict[str, Any]:
        """Return it as it is printed in JSON, version 1."""
        groups = [
            {
                "title": group.title,
                "checks": [
                    {"name": check.name, "state": check.state, "message": check.message, "mend": check.hint}
                    for check in group.checks
                ],
            }
            for group in self.groups
        ]
        return {"v": 1, "state": self.state, "groups": groups}


def faulty(faults: tuple[Fault, ...]) -> Examined:
    """Return what is told where configuration or contract is faulty: nothing else can be looked at."""
    checks = tuple(
        Check(f"{fault.file}:{fault.line}" if fault.line else fault.file, "error", _told(fault), fault.mend)
        for fault in faults
    )
    return Examined((Group("configuration", checks, is_local=True),))


def _told(fault: Fault) -> str:
    return f"{fault.field}: {fault.message}" if fault.field else fault.message
