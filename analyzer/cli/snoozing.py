"""Where `dynascope snooze` says what it has to say: to the daemon, or into its state folder where it does not run."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from analyzer.cli.talking import DAEMON, ask_daemon
from analyzer.errors import CollectError, UnreachableError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.config import Settings
    from analyzer.history.life import LifeFile

__all__ = ["Place", "place_of"]

_PATH = "/api/v1/snoozes"


class Place(Protocol):
    """Who keeps snoozes; refuses with UsageError."""

    def add(self, told: dict[str, str | None]) -> dict[str, Any]:
        """Keep a snooze, and return it as it is kept."""
        ...

    def end(self, identity: str) -> None:
        """End a snooze."""
        ...

    def listed(self) -> list[dict[str, Any]]:
        """Return the snoozes that stand."""
        ...

    def lost(self) -> str | None:
        """Say that snoozes were lost, as far as that is known; None elsewhere."""
        ...


def place_of(url: str | None, config: Path | None) -> Place:
    """Return the daemon where it answers, else the state folder that a configuration names.

    Raises UnreachableError where no daemon answers and none is configured.
    """
    if config is None:
        return _Daemon(url or DAEMON)
    from analyzer.config import load_settings  # noqa: PLC0415 -- only where it is needed

    settings = load_settings(config)
    daemon = _Daemon(url or _address(settings))
    try:
        daemon.listed()
    except UnreachableError:
        return _Folder(settings)
    return daemon


def _address(settings: Settings) -> str:
    """Return where to reach a daemon of this configuration from its own machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.listen_host, settings.listen_host)  # noqa: S104 -- not bound here
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.listen_port}"


class _Daemon:
    def __init__(self, url: str) -> None:
        self._url = url

    def add(self, told: dict[str, str | None]) -> dict[str, Any]:
        said = {name: text for name, text in told.items() if text is not None}
        return ask_daemon(self._url, _PATH, said, what="the snooze")

    def end(self, identity: str) -> None:
        ask_daemon(self._url, f"{_PATH}/{quote(identity, safe='')}", method="DELETE", what="to end it")

    def listed(self) -> list[dict[str, Any]]:
        return list(ask_daemon(self._url, _PATH).get("snoozes", ()))

    def lost(self) -> str | None:
        with contextlib.suppress(CollectError, UsageError):  # that it does not answer is said by what was asked for
            said = ask_daemon(self._url, _PATH).get("lost")
            return said if isinstance(said, str) else None
        return None


class _Folder:
    """The state folder of a daemon that does not run; one that does, elsewhere, reads it within ten seconds too."""

    def __init__(self, settings: Settings) -> None:
        from pathlib import Path  # noqa: PLC0415 -- only where it is needed

        from analyzer.history.life import FILE_NAME  # noqa: PLC0415 -- same

        self._file = Path(settings.state) / FILE_NAME
        if not self._file.exists():
            raise UsageError(
                f"no daemon answers, and none has run with this configuration: {self._file} is not there; "
                "start it with `dynascope run`, or say with --url where it listens"
            )

    def _open(self) -> LifeFile:
        from analyzer.history.life import LifeFile  # noqa: PLC0415 -- only where it is needed

        return LifeFile.open(self._file)

    def add(self, told: dict[str, str | None]) -> dict[str, Any]:
        from analyzer.exporters.snoozes import snooze_object  # noqa: PLC0415 -- only where it is needed
        from analyzer.lifecycle.snooze import snooze_of  # noqa: PLC0415 -- same

        file = self._open()
        try:
            said = (told["id"] or "", told["until"] or "", told["reason"] or "", told["who"])
            snooze = snooze_of(said, file.identities(), _now())
            file.snooze(snooze)
            return snooze_object(snooze, dict(file.listed(_now())).get(snooze))
        except ValueError as error:
            raise UsageError(str(error)) from None
        finally:
            file.close()

    def end(self, identity: str) -> None:
        from analyzer.lifecycle.snooze import unknown  # noqa: PLC0415 -- only where it is needed

        file = self._open()
        try:
            if not file.end(identity):
                raise UsageError(unknown(identity, [one.id for one in file.snoozes(_now())], "snoozed finding"))
        finally:
            file.close()

    def listed(self) -> list[dict[str, Any]]:
        from analyzer.exporters.snoozes import snooze_object  # noqa: PLC0415 -- only where it is needed

        file = self._open()
        try:
            return [snooze_object(snooze, life) for snooze, life in file.listed(_now())]
        finally:
            file.close()

    def lost(self) -> str | None:
        from analyzer.history.life import lost_snoozes  # noqa: PLC0415 -- only where it is needed

        return lost_snoozes(self._file)


def _now() -> int:
    return time.time_ns() // 1_000_000
