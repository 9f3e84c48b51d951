"""What commands that print a report have in common: formats, policies, exit codes, and a reader that left."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.model.report import Report
    from analyzer.requests.tokens import Salt

__all__ = [
    "FailOn",
    "Format",
    "Keys",
    "exit_code",
    "is_colorful",
    "print_report",
    "say",
    "so_many",
    "write",
    "write_line",
    "write_unbuffered",
]


class Format(StrEnum):
    """How a report is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class Keys(StrEnum):
    """How keys are shown."""

    REVEAL = "reveal"
    TEMPLATE = "template"
    TOKEN = "token"  # noqa: S105 -- a word of the policy


class FailOn(StrEnum):
    """From which severity on a finding makes the command end with 1."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"
    NEVER = "never"


def write(text: str) -> None:
    """Write to standard output; one that was closed, or a reader that left, such as `head`, is no error."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Tell the person who typed, beside the output: a line of standard error, under our name."""
    print(f"dynascope: {text}", file=sys.stderr)


def write_line(line: str) -> None:
    """Write a line to standard output, as `write` does."""
    write(f"{line}\n")


def write_unbuffered(text: str) -> None:
    """Write to standard output past its buffer: who is stuck in that, in a thread, would spoil the end of the process.

    Raises OSError where it cannot be written; a reader that left is no error.
    """
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # there is none, or it is none of the system's
        write(text)
        return
    rest = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    try:
        while rest:
            rest = rest[os.write(number, rest) :]
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def so_many(number: int, word: str) -> str:
    """Write how many there are of something: `no faults`, `1 fault`, `2 faults`."""
    return f"{number or 'no'} {word if number == 1 else _plural(word)}"


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith("x") else f"{word}s"


def is_colorful() -> bool:
    """Whether standard output is a terminal whose user has nothing against colors."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def print_report(report: Report, output: Format, keys: Keys, salt: Salt | None) -> None:
    """Print a report as far as the policy lets keys be seen."""
    from analyzer.cli.keys_found import HOW_TO_CHECK  # noqa: PLC0415 -- light start
    from analyzer.render.show import has_tokens, show  # noqa: PLC0415 -- light start

    shown = show(report, keys.value, salt)
    told = [*(one.key for one in shown.findings), *(one.key for one in shown.keys)]
    if keys is Keys.REVEAL and any(map(has_tokens, told)):
        print(f"dynascope: tokens of keys cannot be reversed; {HOW_TO_CHECK} TOKEN", file=sys.stderr)
    if output is Format.JSON:
        from analyzer.render.json import render_json  # noqa: PLC0415 -- only what is asked for

        write(render_json(shown))
    elif output is Format.MARKDOWN:
        from analyzer.render.markdown import render_markdown  # noqa: PLC0415 -- only what is asked for

        write(render_markdown(shown))
    else:
        from analyzer.render.text import render_text  # noqa: PLC0415 -- only what is asked for

        write(render_text(shown, color=is_colorful()))


def exit_code(report: Report, fail_on: FailOn, *, source_failed: bool = False) -> int:
    """Return 1 for a finding at or over `fail_on` that nobody snoozed, else 3 where it cannot be told, else 0."""
    from analyzer.model.finding import Severity, Status  # noqa: PLC0415 -- light start
    from analyzer.model.report import VerdictState  # noqa: PLC0415 -- light start

    if fail_on is not FailOn.NEVER:
        floor = Severity(fail_on.value).rank
        if any(f.severity.rank >= floor for f in report.findings if f.status is not Status.SNOOZED):
            return 1
    return 3 if source_failed or report.verdict.state is VerdictState.CANNOT_TELL else 0
