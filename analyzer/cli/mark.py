"""dynascope mark."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Annotated
from urllib.parse import urlsplit

import typer

from analyzer.errors import CollectError, UsageError

__all__ = ["mark"]

_DAEMON = "http://127.0.0.1:8642"
_SECONDS = 10
_REFUSED = 400


def mark(
    text: Annotated[str, typer.Argument(metavar="TEXT", help='what was changed, such as "deploy 1.4.2"')],
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="the only table that it concerns; else it concerns all")
    ] = None,
    what: Annotated[str, typer.Option(metavar="WORD", help="the kind of change")] = "deploy",
    who: Annotated[str | None, typer.Option(metavar="NAME", help="who did it")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="when, within the last day; else now")] = None,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="where the daemon listens")] = _DAEMON,
) -> None:
    """Tell the daemon of a change that nobody else can tell it, such as a deploy.

    Findings that begin within half an hour name it. The daemon keeps it for a day.

    Exit 0 when the daemon took it, 2 when it refused it, 3 when no daemon answers.
    """
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start

    told = {"detail": text, "what": what, "table": table, "who": who, "time": at}
    body = json.dumps({name: value for name, value in told.items() if value is not None}).encode()
    answer = _send(f"{url.rstrip('/')}/api/v1/changes", body)
    write(f"marked at {answer['time']}: {answer['detail']}\n")


def _send(url: str, body: bytes) -> dict[str, str]:
    """Send a mark; raises UsageError where it is refused, CollectError where nobody answers."""
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise UsageError(f"{url} is no address of a daemon; write one such as {_DAEMON}")
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 -- http alone, above
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the daemon is on this machine
    try:
        with opener.open(asked, timeout=_SECONDS) as answer:
            taken: dict[str, str] = json.load(answer)
            return {"time": str(taken["time"]), "detail": str(taken["detail"])}
    except urllib.error.HTTPError as refusal:
        with refusal:
            reason = refusal.read(_LONGEST_REASON).decode("utf-8", "replace").strip()
        if refusal.code == _REFUSED:
            raise UsageError(f"the daemon refuses the mark: {reason}") from None
        raise CollectError(f"{url}: {refusal.code} {reason}", hint=_HINT) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CollectError(f"no daemon answers at {url}: {_why(error)}", hint=_HINT) from None


_LONGEST_REASON = 500
_HINT = "start it with `dynascope run`, or say with --url where it listens; marks are taken on its own machine alone"


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return getattr(reason, "strerror", None) or type(error).__name__
