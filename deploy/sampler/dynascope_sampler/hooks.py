"""What botocore calls at its events: what happens inside the application's own call. They never raise and never wait.

Botocore emits, in this order (seen in botocore 1.40): `before-parameter-build` → `before-call` → for each try
`request-created`, `response-received` → `after-call`, or `after-call-error` where no answer came. On the same event the
resource API turns parameters and answers into Python values: ours comes last on the way out, first on the way back.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable

from dynascope_sampler.answers import failure_of, throttle_reasons
from dynascope_sampler.context import PATTERN
from dynascope_sampler.learning import learn_from_answer, learn_from_call, partitions_of
from dynascope_sampler.record import OPERATIONS, Call, Raw, build, describe
from dynascope_sampler.sampling import ALL, Choice, Strata, is_always_kept

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from dynascope_sampler.describe import Describer
    from dynascope_sampler.schema import Schema
    from dynascope_sampler.writer import Writer

__all__ = ["HANDLE_EVENT", "Hooks"]

HANDLE_EVENT = "dynascope-sampler.handle"
"""An event of our own: its listener answers with the handle, also on the copies that clients make of their emitter."""

_UNIQUE_ID = "dynascope-sampler"
_CONTEXT = "dynascope_sampler"
_TOKEN_OPERATIONS = frozenset({"TransactWriteItems", "ExecuteTransaction"})
_FAILED_STATUS = 300
_ASK = b'{"ReturnConsumedCapacity": "INDEXES", '
_NONE = b'"ReturnConsumedCapacity": "NONE"'
_INDEXES = b'"ReturnConsumedCapacity": "INDEXES"'
_KEY_UNKNOWN, _FAILURE = 2, 3


_EVENTS_OF_A_BEGINNING = ("before-parameter-build.dynamodb", "before-call.dynamodb")
_EVENTS = (
    *_EVENTS_OF_A_BEGINNING,
    "request-created.dynamodb",
    "response-received.dynamodb",
    "after-call.dynamodb",
    "after-call-error.dynamodb",
)


class Hooks:
    """What one instrumented session or client calls at its events."""

    def __init__(
        self,
        strata: Strata,
        schema: Schema,
        writer: Writer,
        *,
        trace: Callable[[], str | None] | None,
        pattern: Callable[[], str | None] | None,
        asks_capacity: bool,
        describer: Describer | None,
    ) -> None:
        """Take the parts that decide, know and write."""
        self._strata = strata
        self._schema = schema
        self._writer = writer
        self._trace = trace
        self._pattern = pattern
        self._asks_capacity = asks_capacity
        self._describer = describer
        self.is_closed = False

    def register(self, emitter: Any, handle: Any) -> None:
        """Listen to a session's or a client's events, in place of hooks that were closed."""
        self._unregister(emitter, _EVENTS)
        emitter.register(HANDLE_EVENT, lambda **_: handle, unique_id=f"{_UNIQUE_ID}-handle")
        for event, listener, register in self._listeners(emitter):
            register(event, listener, unique_id=f"{_UNIQUE_ID}-{event}")

    def unregister(self, emitter: Any) -> None:
        """Stop listening to calls that begin; those under way end as they began."""
        self._unregister(emitter, _EVENTS_OF_A_BEGINNING)

    @staticmethod
    def _unregister(emitter: Any, events: tuple[str, ...]) -> None:
        emitter.unregister(HANDLE_EVENT, unique_id=f"{_UNIQUE_ID}-handle")
        for event in events:
            emitter.unregister(event, unique_id=f"{_UNIQUE_ID}-{event}")

    def _listeners(self, emitter: Any) -> list[tuple[str, Callable[..., None], Callable[..., None]]]:
        listeners: list[tuple[str, Callable[..., None], Callable[..., None]]] = [
            ("before-parameter-build.dynamodb", self.begin, emitter.register_last),
            ("request-created.dynamodb", self.send, emitter.register_first),
            ("response-received.dynamodb", self.receive, emitter.register_first),
            ("after-call.dynamodb", self.finish, emitter.register_first),
            ("after-call-error.dynamodb", self.fail, emitter.register_first),
        ]
        if self._asks_capacity:
            listeners.append(("before-call.dynamodb", self.ask_capacity, emitter.register_first))
        return listeners

    def begin(self, params: Any = None, model: Any = None, context: Any = None, **_: Any) -> None:
        """Note that a call begins; its parameters are final and low-level here."""
        try:
            operation = model.name
            if operation in OPERATIONS and not self.is_closed and "is_presign_request" not in context:
                sent = operation in _TOKEN_OPERATIONS and bool(params.get("ClientRequestToken"))
                context[_CONTEXT] = Call(operation, params, self, token_sent=sent)
        except Exception:  # noqa: BLE001 - the application must never see a fault of ours
            self._writer.counts.add(_FAILURE)

    def ask_capacity(self, params: Any = None, context: Any = None, **_: Any) -> None:
        """Ask for consumed capacity where the application does not, in the body alone: its parameters stay its own."""
        try:
            call = context.get(_CONTEXT)
            if call is None or call.params.get("ReturnConsumedCapacity", "NONE") != "NONE":
                return
            body = params["body"]
            if "ReturnConsumedCapacity" in call.params:
                asking = body.replace(_NONE, _INDEXES, 1)
            else:
                asking = _ASK + body[1:] if body[:2] == b'{"' else body
            if asking is not body:
                params["body"] = asking
                call.hides_capacity = True
        except Exception:  # noqa: BLE001 - same
            self._writer.counts.add(_FAILURE)

    def send(self, request: Any = None, **_: Any) -> None:
        """Note when a try goes out."""
        try:
            call = request.context.get(_CONTEXT)
            if call is not None:
                call.sent = time.perf_counter()
                call.endpoint = request.url
        except Exception:  # noqa: BLE001 - same
            self._writer.counts.add(_FAILURE)

    def receive(
        self,
        response_dict: Any = None,
        parsed_response: Any = None,
        context: Any = None,
        exception: Any = None,
        **_: Any,
    ) -> None:
        """Note a try that failed: when it was sent, how it ended."""
        try:
            if exception is None and response_dict["status_code"] < _FAILED_STATUS:
                return
            call = context.get(_CONTEXT)
            if call is None:
                return
            failed: dict[str, Any] = {"at_ms": round((call.sent - call.began) * 1000, 3)}
            if exception is not None:
                failed["code"] = type(exception).__name__
            else:
                told = parsed_response.get("Error") or {}
                failed["code"] = str(told.get("Code") or f"HTTP{response_dict['status_code']}")
                reasons = throttle_reasons(parsed_response)
                if reasons and "reason" in reasons[0]:
                    failed.update(reasons[0])
            if call.tries is None:
                call.tries = []
            call.tries.append(failed)
        except Exception:  # noqa: BLE001 - same
            self._writer.counts.add(_FAILURE)

    def finish(
        self, http_response: Any = None, parsed: Any = None, model: Any = None, context: Any = None, **_: Any
    ) -> None:
        """Decide about a call that was answered, and queue its record."""
        try:
            call = context.get(_CONTEXT)
            if call is None:
                if not self.is_closed:
                    learn_from_answer(self._schema, model.name, parsed)
                return
            consumed = parsed.pop("ConsumedCapacity", None) if call.hides_capacity else None
            if call.hooks is not self:
                call.hooks.end(http_response.status_code, parsed, call, context, consumed)
            else:
                self.end(http_response.status_code, parsed, call, context, consumed)
        except Exception:  # noqa: BLE001 - same
            self._writer.counts.add(_FAILURE)

    def end(self, status: int, parsed: Any, call: Call, context: Any, consumed: Any) -> None:
        """Decide about a call that began here, wherever its answer was seen."""
        if self.is_closed:
            return
        try:
            if status < _FAILED_STATUS:
                strata = self._strata
                is_plain = call.tries is None and "UnprocessedKeys" not in parsed and "UnprocessedItems" not in parsed
                if is_plain and strata.is_request_only and not strata.keeps_all:
                    if strata.random() >= strata.request_rate:
                        self._writer.skip()
                        learn_from_call(self._schema, call)
                        return
                    choice: Choice | None = (strata.request_rate, (("request", strata.request_rate),))
                else:
                    choice = self._choose(call, parsed)
                learn_from_call(self._schema, call)
                always = not is_plain and self._must_keep(call, parsed)
                self._keep(call, parsed, None, choice, context, consumed, always=always)
            else:
                error = failure_of(parsed, status, call.params)
                choice = self._choose(call, {})
                self._keep(call, parsed, error, choice, context, consumed, always=is_always_kept(error))
        except Exception:  # noqa: BLE001 - same
            self._writer.counts.add(_FAILURE)

    def fail(self, exception: Any = None, context: Any = None, **_: Any) -> None:
        """Queue the record of a call that got no answer; a transport error's message is not ours to repeat."""
        try:
            call = context.get(_CONTEXT)
            if call is not None and not call.hooks.is_closed:
                call.hooks.lose(call, context, {"code": type(exception).__name__})
        except Exception:  # noqa: BLE001 - same
            self._writer.counts.add(_FAILURE)

    def lose(self, call: Call, context: Any, error: dict[str, Any]) -> None:
        """Queue a call that began here and got no answer."""
        self._keep(call, {}, error, self._choose(call, {}), context, None, always=True)

    def _choose(self, call: Call, parsed: Mapping[str, Any]) -> Choice | None:
        strata = self._strata
        if strata.keeps_all:
            return ALL
        trace = self._told(self._trace) if strata.trace_rate is not None else None
        partitions: AbstractSet[str] = frozenset()
        if trace is None and strata.key_rate is not None:
            partitions = partitions_of(call, parsed, self._schema)
        return strata.choose(trace, partitions)

    @staticmethod
    def _must_keep(call: Call, parsed: Mapping[str, Any]) -> bool:
        """Whether a call that succeeded in the end met a throttle, a fault or a batch's refusal on its way."""
        if parsed.get("UnprocessedKeys") or parsed.get("UnprocessedItems"):
            return True
        return any(is_always_kept(failed) for failed in call.tries or ())

    def _keep(
        self,
        call: Call,
        parsed: Mapping[str, Any],
        error: dict[str, Any] | None,
        choice: Choice | None,
        context: Mapping[str, Any],
        consumed: Any,
        *,
        always: bool,
    ) -> None:
        if choice is None and not always:
            self._writer.skip()
            return
        answer: Mapping[str, Any] = {} if error is not None else parsed
        if consumed is not None:
            answer = {**answer, "ConsumedCapacity": consumed}
        raw = build(call, answer, self._schema)
        describe(raw, call, parsed, error)
        self._surround(raw, context)
        if raw.table is not None and raw.key is None and call.operation == "PutItem":
            self._miss_key(raw.table, call, context)
        if choice is None:
            choice = (self._missed_probability(call, answer), ())
        self._writer.put(raw, choice, len(raw.parts or ()), always=always and choice[0] < 1)

    def _surround(self, raw: Raw, context: Mapping[str, Any]) -> None:
        """Add what surrounds a call: region, declared pattern, trace."""
        region = context.get("client_region")
        if region is not None:
            raw.fields["region"] = region
        pattern = PATTERN.get()
        if pattern is None and self._pattern is not None:
            pattern = self._told(self._pattern)
        if isinstance(pattern, str):
            raw.fields["pattern"] = pattern
        trace = self._told(self._trace)
        if trace is not None:
            raw.fields["trace_id"] = trace

    def _told(self, function: Callable[[], Any] | None) -> str | None:
        """Ask a callable of the user's; one that fails, or tells no text, costs a field and no record."""
        if function is None:
            return None
        try:
            told = function()
        except Exception:  # noqa: BLE001 - same
            self._writer.counts.add(_FAILURE)
            return None
        if told is None or isinstance(told, str):
            return told
        self._writer.counts.add(_FAILURE)
        return None

    def _missed_probability(self, call: Call, parsed: Mapping[str, Any]) -> float:
        """Return with what probability the strata would have kept a call that they did not keep."""
        strata = self._strata
        trace = self._told(self._trace) if strata.trace_rate is not None else None
        partitions: AbstractSet[str] = frozenset()
        if trace is None and strata.key_rate is not None:
            partitions = partitions_of(call, parsed, self._schema)
        return strata.probability(trace, partitions)

    def _miss_key(self, table: str, call: Call, context: Mapping[str, Any]) -> None:
        """Count an item whose key attributes nobody has told us, and look them up once where that is allowed."""
        self._writer.counts.add(_KEY_UNKNOWN)
        if self._describer is not None:
            self._describer.describe(table, context.get("client_region"), call.endpoint)
