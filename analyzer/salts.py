"""Which salts the key tokens of a request log were made with: those of one never meet those of another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.model.sight import Gap, GapReason, SourceName

if TYPE_CHECKING:
    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["Salts"]

_SALT_ID = re.compile(rb'"salt_id"\s*:\s*"([A-Za-z0-9._-]{1,64})"')
_MOST = 32


class Salts:
    """Remembers when each salt was last met, of no more than 32 at a time."""

    def __init__(self) -> None:
        self._seen: dict[str, Instant] = {}

    def look(self, lines: bytes, now: Instant) -> None:
        """Take in the salts that a block names."""
        for name in {found.decode() for found in _SALT_ID.findall(lines)}:
            self._seen.pop(name, None)
            if len(self._seen) >= _MOST:
                del self._seen[next(iter(self._seen))]
            self._seen[name] = now

    def gaps(self, window: Window, own: str | None) -> tuple[Gap, ...]:
        """Return what a window lacks; `own` names the salt that was configured."""
        ids = sorted(name for name, at in self._seen.items() if at >= window.start)
        foreign = [name for name in ids if name != own]
        if own is not None and foreign:
            detail = (
                f"keys were made tokens with the salt {', '.join(foreign[:3])}{' …' if foreign[3:] else ''}, not {own}"
            )
            hint = "give the samplers and the daemon the same salt: salt_file, or DYNASCOPE_SALT"
        elif len(ids) > 1:
            detail = f"keys were made tokens with {len(ids)} salts, and those of one never meet those of another"
            hint = "give every sampler the same salt"
        else:
            return ()
        return (Gap(SourceName.REQUEST_LOG, GapReason.INCONSISTENT, detail, hint, start=window.start, end=window.end),)
