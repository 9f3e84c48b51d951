"""The command line: one file a command, imported when it is asked for, so that a small command starts at once."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from analyzer.errors import CollectError, ConfigError, ContractError, DynascopeError, closest

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["app", "execute", "main"]

COMMANDS = (
    "analyze",
    "canary",
    "capacity",
    "check",
    "config",
    "diagnose",
    "diff",
    "doctor",
    "document",
    "explain",
    "findings",
    "iam-policy",
    "infer",
    "insights",
    "key",
    "mark",
    "replay",
    "report",
    "run",
    "snooze",
    "top",
    "version",
    "whatif",
)
_BUG = 70


class _Commands(TyperGroup):
    """Finds the command `a-name` as the function `a_name` of `analyzer.cli.a_name`."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 -- typer's own context
        return [name for name in COMMANDS if find_spec(f"analyzer.cli.{_module(name)}") is not None]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- typer's own types
        meant = closest(args[0], COMMANDS)
        if meant is not None and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}; did you mean {meant}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 -- typer's own types
        if cmd_name not in self.list_commands(ctx):
            return None
        single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        name = _module(cmd_name)
        single.command(cmd_name)(getattr(import_module(f"analyzer.cli.{name}"), name))
        return typer.main.get_command(single)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 -- same
        """Run a command; a wrong value is told without the words of the library that found it."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


def _module(command: str) -> str:
    return command.replace("-", "_")


app = typer.Typer(
    name="dynascope",
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # they print local variables, and those hold keys
    help="Compare the requests that a DynamoDB workload sends with the access patterns its owners declared, and say "
    "what is wrong, why, who does it, whether it heals alone, and what to do.",
    epilog="Exit codes: 0 clean, 1 findings, 2 wrong usage or configuration, 3 a source failed or it cannot be told.",
)


def _say_version(is_asked: bool) -> None:
    if is_asked:
        from analyzer.cli.version import version  # noqa: PLC0415 -- light start

        version(as_json=False)
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="say which version this is, and stop"),
    ] = False,
) -> None:
    pass


def execute(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; what the user did wrong is told in words, never as a traceback."""
    try:
        app(list(arguments), prog_name="dynascope")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:  # noqa: BLE001 -- the one place where errors become words
        text, code = _told(error)
        sys.stderr.write(f"{text}\n")
        return code
    return 0


def main() -> None:
    """Run the command that the process was started with."""
    sys.exit(execute(sys.argv[1:]))


def _told(error: Exception) -> tuple[str, int]:
    """Return what to say and the exit code; of a bug not its message, which may hold a customer's key."""
    if isinstance(error, ConfigError | ContractError):
        return str(error), 2  # every fault begins with its file and line
    if isinstance(error, CollectError):
        return f"dynascope: {error}\n  {error.hint}", 3
    if isinstance(error, DynascopeError):
        return f"dynascope: {error}", 2
    if isinstance(error, OSError) and error.strerror is not None:  # a file that the user named, or a full disk
        place = "" if error.filename is None else f"{error.filename}: "
        return f"dynascope: {place}{error.strerror[0].lower()}{error.strerror[1:]}", 2
    return f"dynascope: {_anonymous(error)}", _BUG


def _anonymous(bug: Exception) -> str:
    """Say where a bug is, without what its message or any variable holds."""
    frames = traceback.extract_tb(bug.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    places = "".join(f"  {frame.filename}:{frame.lineno} in {frame.name}\n" for frame in ours)
    return f"this is a bug of ours: {type(bug).__name__} (its message is withheld, it may hold a key) at\n{places}"
