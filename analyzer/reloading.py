"""A reload: configuration and contract are read again beside the loop; a door that is open keeps its lock."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, TypeVar

import msgspec

from analyzer.errors import ConfigError, ContractError, DynascopeError
from analyzer.exporters.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.exporters.access import Access
    from analyzer.setup import Setup

__all__ = ["access_at_open_door", "beside", "try_loading"]

T = TypeVar("T")


def access_at_open_door(before: Setup, wanted: Setup) -> Access | None:
    """Return what is to be asked of clients from now on, None where the old must stay.

    Address and certificates are those that the daemon began with: a configuration that is safe with others may leave
    what others reach without a lock. One that says `listen_unprotected` means it.
    """
    access = msgspec.structs.replace(wanted.access, tls=before.access.tls)
    is_lock_lost = before.access.is_guarded and not access.is_guarded
    return None if is_lock_lost and not (wanted.is_unprotected or is_loopback(before.listen_host)) else access


def beside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Do something that may take for ever beside the loop; the end of the process does not wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(settle_it: Callable[..., None], value: object) -> None:
        if not done.done():
            settle_it(value)

    def run() -> None:
        told: tuple[Callable[..., None], object]
        try:
            told = done.set_result, work()
        except Exception as bug:  # noqa: BLE001 -- it is raised where it is awaited
            told = done.set_exception, bug
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, *told)

    threading.Thread(target=run, daemon=True).start()
    return done


def try_loading(load: Callable[[], Setup]) -> tuple[Setup | None, list[dict[str, str | int | None]]]:
    """Return what was loaded, or None and every fault in words."""
    try:
        return load(), []
    except (ConfigError, ContractError) as error:
        names = ("file", "line", "field", "message", "mend")
        return None, [{name: getattr(fault, name) for name in names} for fault in error.faults]
    except DynascopeError as error:
        return None, [{"message": str(error)}]
