"""A reload: configuration and contract are read again; a door that is open keeps its lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.errors import ConfigError, ContractError, DynascopeError
from analyzer.exporters.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from analyzer.exporters.access import Access
    from analyzer.setup import Setup

__all__ = ["access_at_open_door", "through_reload", "try_loading"]


def access_at_open_door(before: Setup, wanted: Setup) -> Access | None:
    """Return what is to be asked of clients from now on, None where the old must stay.

    Address and certificates are those that the daemon began with: a configuration that is safe with others may leave
    what others reach without a lock. One that says `listen_unprotected` means it.
    """
    access = msgspec.structs.replace(wanted.access, tls=before.access.tls)
    is_lock_lost = before.access.is_guarded and not access.is_guarded
    return None if is_lock_lost and not (wanted.is_unprotected or is_loopback(before.listen_host)) else access


def through_reload(before: Setup, wanted: Setup, log: FilteringBoundLogger) -> Setup:
    """Return what holds from now on; what takes a restart stays as it is, and is said."""
    for name in before.fixed:
        if before.fixed[name] != wanted.fixed[name]:
            log.warning("takes a restart", setting=name)
    access = access_at_open_door(before, wanted)
    if access is None:
        log.error(
            "who may ask stays as it was: until a restart others reach this address, and nothing would guard it",
            address=before.listen_host,
        )
    # the door that is open stays, and what is polled stays what it was, and is judged as such
    kept = {name: getattr(before, name) for name in ("fixed", "collected", "listen_host", "listen_port")}
    return msgspec.structs.replace(wanted, access=access or before.access, **kept)


def try_loading(load: Callable[[], Setup]) -> tuple[Setup | None, list[dict[str, str | int | None]]]:
    """Return what was loaded, or None and every fault in words."""
    try:
        return load(), []
    except (ConfigError, ContractError) as error:
        names = ("file", "line", "field", "message", "mend")
        return None, [{name: getattr(fault, name) for name in names} for fault in error.faults]
    except DynascopeError as error:
        return None, [{"message": str(error)}]
