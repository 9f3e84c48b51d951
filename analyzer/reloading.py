"""A reload: configuration and contract are read again beside the loop, and every fault is told."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, TypeVar

from analyzer.errors import ConfigError, ContractError, DynascopeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.setup import Setup

__all__ = ["beside", "try_loading"]

T = TypeVar("T")


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
