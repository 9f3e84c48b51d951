"""`instrument`: puts the sampler together and attaches it to a session, a client, or all sessions to come."""

from __future__ import annotations

import logging
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import botocore

from dynascope_sampler.context import current_trace, default_caller, default_caller_version
from dynascope_sampler.describe import Describer
from dynascope_sampler.finisher import Finisher
from dynascope_sampler.hooks import HANDLE_EVENT, Hooks
from dynascope_sampler.keys import POLICIES, KeyPolicy, Salt, SaltLike
from dynascope_sampler.sampling import Strata
from dynascope_sampler.schema import Schema, SchemaLike, TableSchema, load_schema
from dynascope_sampler.sinks import SinkLike, open_sink
from dynascope_sampler.writer import Writer

if TYPE_CHECKING:
    from dynascope_sampler.sinks import Sink

__all__ = ["Sampler", "Stats", "instrument"]

_new_sessions: Sampler | None = None
_LOGGER = logging.getLogger("dynascope_sampler")


class Stats(NamedTuple):
    """What the sampler did since it was attached (in a forked child: since the fork)."""

    written: int
    """Records handed to the sink."""
    waiting: int
    """Records in the queue."""
    dropped: int
    """Records lost: the queue was full, or the sink failed."""
    unsampled: int
    """Calls that no sample kept."""
    key_unknown: int
    """Records of items put whose key attributes were not known."""
    write_failures: int
    """Failures of the sink."""
    failures: int
    """Faults of the sampler itself, none of which the application saw."""
    joinable: bool
    """Whether tokens are those of a shared salt."""
    salt_id: str
    """Name of the salt."""


class Sampler:
    """The handle of an instrumented session or client."""

    def __init__(self, writer: Writer, hooks: list[Hooks], salt: Salt) -> None:
        """Made by `instrument`."""
        self._writer = writer
        self._hooks = hooks
        self._emitters: list[Any] = []
        self._salt = salt
        self.is_closed = False

    @property
    def stats(self) -> Stats:
        """Return the counters."""
        writer = self._writer
        counts = writer.counts
        return Stats(
            written=writer.written,
            waiting=writer.waiting,
            dropped=counts.total(1) + writer.lost,
            unsampled=counts.total(0),
            key_unknown=counts.total(2),
            write_failures=writer.write_failures,
            failures=counts.total(3),
            joinable=self._salt.joinable,
            salt_id=self._salt.salt_id,
        )

    def flush(self, timeout: float = 2.0) -> bool:
        """Wait until every record so far is written; False if that took longer. A Lambda handler calls this last."""
        return self._writer.flush(timeout)

    def close(self, timeout: float = 2.0) -> bool:
        """Stop listening, write what waits, close the sink; True if all that fitted into the time."""
        global _new_sessions  # noqa: PLW0603 - same
        self.is_closed = True
        if _new_sessions is self:
            _new_sessions = None
        for hooks in self._hooks:
            hooks.is_closed = True
            for emitter in self._emitters:
                hooks.unregister(emitter)
        self._emitters.clear()
        return self._writer.close(timeout)


def instrument(  # noqa: PLR0913 - keyword arguments are the configuration
    session_or_client: Any = None,
    sink: SinkLike = None,
    *,
    request_rate: float = 1.0,
    trace_rate: float | None = None,
    key_rate: float | None = None,
    keys: str = "token",
    salt: SaltLike = None,
    schema: SchemaLike = None,
    capacity: bool = False,
    caller: str | None = None,
    caller_version: str | None = None,
    account: str | None = None,
    pattern: str | Callable[[], str | None] | None = None,
    trace: Callable[[], str | None] | None = current_trace,
    describe: bool = False,
    queue_size: int = 10_000,
    max_bytes: int = 64 * 1024 * 1024,
    max_age_seconds: float = 3600.0,
    backups: int = 5,
) -> Sampler:
    """Log the DynamoDB requests of a session's later clients, of one client or resource, or of all sessions to come.

    Takes boto3, botocore, aioboto3 and aiobotocore sessions, clients and resources; without one, every session made
    from now on (PynamoDB makes its own). What is instrumented already keeps its sampler, which is returned.
    Raises ValueError for an option that makes no sense, and nothing else, then or later.
    """
    _check_options(keys, queue_size, request_rate=request_rate, trace_rate=trace_rate, key_rate=key_rate)
    _check_kinds(
        sink=(sink, (str, os.PathLike), "a path, a callable or None"),
        salt=(salt, (str, bytes), "bytes, text, a callable or None"),
        pattern=(pattern, (str,), "the id of a pattern, a callable or None"),
        trace=(trace, (), "a callable or None"),
    )
    _check_numbers(max_bytes=max_bytes, max_age_seconds=max_age_seconds, backups=backups)
    emitter = None if session_or_client is None else _emitter_of(session_or_client)
    existing, is_async = (_new_sessions, False) if emitter is None else _existing_handle(emitter)
    if existing is not None:
        return existing
    shared = Salt(salt)
    strata = Strata(request_rate, trace_rate, key_rate, shared.key)
    known = Schema(_load(schema))
    caller = _text(caller) or default_caller()
    version = _text(caller_version) or default_caller_version()
    constant = {"caller": caller, "caller_version": version, "account": _text(account), "keys": keys}
    constant["salt_id"] = shared.salt_id if keys == "token" else None
    finisher = Finisher(
        KeyPolicy(keys, shared), known, {name: value for name, value in constant.items() if value is not None}
    )
    sink_: Sink = open_sink(sink, max_bytes, max_age_seconds, backups)
    writer = Writer(sink_, finisher, caller, queue_size, after_fork=strata.reseed)
    named = pattern if callable(pattern) or pattern is None else _always(pattern)

    def make_hooks(source: Any, *, is_async: bool) -> Hooks:
        return Hooks(
            strata,
            known,
            writer,
            trace=trace,
            pattern=named,
            asks_capacity=capacity,
            describer=Describer(source, known, is_async=is_async) if describe else None,
        )

    sampler = Sampler(writer, [], shared)
    weakref.finalize(sampler, writer.retire).atexit = False  # sessions, clients and the application hold the handle

    def attach(source: Any, emitter: Any, *, is_async: bool) -> None:
        hooks = make_hooks(source, is_async=is_async)
        sampler._hooks.append(hooks)  # noqa: SLF001 - the handle is made here
        sampler._emitters.append(emitter)  # noqa: SLF001 - same
        hooks.register(emitter, sampler)

    if emitter is not None:
        attach(session_or_client, emitter, is_async=is_async)
    else:
        _attach_to_new_sessions(sampler, attach)
    return sampler


def _attach_to_new_sessions(sampler: Sampler, attach: Callable[..., None]) -> None:
    global _new_sessions  # noqa: PLW0603 - botocore's list of initializers is as global
    _new_sessions = sampler

    def on_new_session(session: Any) -> None:
        try:
            emitter = _emitter_of(session)
            existing, is_async = _existing_handle(emitter)
            if existing is None and _new_sessions is sampler:
                attach(session, emitter, is_async=is_async)
        except Exception as failure:  # noqa: BLE001 - sessions are the application's
            _LOGGER.warning("a session was not instrumented: %s", type(failure).__name__)

    botocore.register_initializer(on_new_session)


def _check_options(keys: Any, queue_size: Any, **rates: Any) -> None:
    if keys not in POLICIES:
        raise ValueError(f"keys={keys!r} is none of {', '.join(POLICIES)}")
    if not isinstance(queue_size, int) or queue_size < 1:
        raise ValueError(f"queue_size={queue_size!r} holds nothing; it is a number of records")
    for name, rate in rates.items():
        if rate is not None and not (isinstance(rate, (int, float)) and 0 <= rate <= 1):
            raise ValueError(f"{name}={rate!r} is no probability from 0 to 1")


def _check_kinds(**options: tuple[Any, tuple[Any, ...], str]) -> None:
    for name, (value, kinds, wanted) in options.items():
        if value is not None and not callable(value) and not isinstance(value, kinds):
            raise ValueError(f"{name} is of type {type(value).__name__}; it is {wanted}")


def _check_numbers(**numbers: Any) -> None:
    for name, number in numbers.items():
        if not isinstance(number, (int, float)) or not number >= 0:
            raise ValueError(f"{name}={number!r} is no number from 0 on")


def _text(given: Any) -> str | None:
    """Return a text that every record will hold; what is none costs the field and no record."""
    if isinstance(given, bytes):
        return given.decode("utf-8", "replace")
    return given if isinstance(given, str) else None


def _load(schema: SchemaLike) -> dict[str, TableSchema]:
    try:
        return load_schema(schema)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as failure:
        _LOGGER.warning("the schema cannot be read (%s); keys are learnt from calls instead", type(failure).__name__)
        return {}


def _always(pattern_id: str) -> Callable[[], str | None]:
    return lambda: pattern_id


def _emitter_of(target: Any) -> Any:
    """Return the event emitter of a session, a client or a resource, boto3's or aioboto3's."""
    if hasattr(target, "get_component"):  # a botocore or aiobotocore session
        return target.get_component("event_emitter")
    meta: Any = getattr(target, "meta", None)
    if meta is None and hasattr(target, "events"):  # a boto3 or aioboto3 session
        return target.events
    if hasattr(meta, "client"):  # a resource
        meta = meta.client.meta
    if not hasattr(meta, "events"):
        raise ValueError(f"{type(target).__name__} is no session, client or resource of boto3 or aioboto3")
    return meta.events


def _existing_handle(emitter: Any) -> tuple[Sampler | None, bool]:
    """Return the handle that an emitter answers with, and whether it is an asynchronous one."""
    answers = emitter.emit(HANDLE_EVENT)
    is_async = hasattr(answers, "send")
    if is_async:  # a coroutine that never waits: our own listener is all it calls
        try:
            answers.send(None)
        except StopIteration as done:
            answers = done.value
        else:
            answers.close()
            answers = []
    return next((handle for _, handle in answers if handle is not None and not handle.is_closed), None), is_async
