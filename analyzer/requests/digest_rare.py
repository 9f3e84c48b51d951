"""What happens to few requests: failures, throttled tries, and calls over several tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.knowledge.throttling import ACCOUNT_CODE, cause_of, is_throttle, limit_of, target_of_arn
from analyzer.model.counts import Count, Refusal, ThrottleCount
from analyzer.model.finding import Direction
from analyzer.model.request import RequestError, Try
from analyzer.model.target import Target
from analyzer.requests.digest_block import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.counts import Cell
    from analyzer.requests.digest_told import Told

__all__ = ["Failure", "RareCounts", "code_word", "find_failures", "read_failure"]

_MOST_MESSAGES = 256
_MOST_THROTTLES = 1024
_OTHER = "other"
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_VALUES = re.compile(r"\"[^\"]*\"|'[^']*'|\S*[#|]\S*|\d{3,}")
_LONGEST_MESSAGE = 300
_READ_ERROR = msgspec.json.Decoder(RequestError | str | None).decode
_READ_TRIES = msgspec.json.Decoder(list[Try] | None).decode
_CONDITION = frozenset({"ConditionalCheckFailedException", "ConditionalCheckFailed"})
_SERVER = frozenset(
    {
        "InternalServerError",
        "InternalServerErrorException",
        "InternalFailure",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    }
)

_TRANSPORT = (
    "ClosedError",
    "ConnectionError",
    "HTTPClientError",
    "IncompleteReadError",
    "NetworkingError",
    "SSLError",
    "StreamingError",
    "TimeoutError",
)

ThrottleKey = tuple[int, str, Target | None, Direction]
RefusalKey = tuple[int, str, str]


class Failure(Struct):
    """What a record tells of its failed tries: throttled ones as (reason, ARN), and how the call ended.

    Where no reason is told, the code that names a limit by itself stands in for it.
    """

    code: str | None = None
    message: str = ""
    throttles: list[tuple[str, str | None]] = []
    is_throttled: bool = False
    is_condition: bool = False
    is_server: bool = False
    is_transport: bool = False

    def columns(self) -> list[tuple[Count, int]]:
        """Return what to add to the counts of the call's cell."""
        has_failed = self.code is not None
        amounts = {
            Count.FAILED: has_failed,
            Count.THROTTLED: bool(self.throttles),
            Count.THROTTLED_TRIES: len(self.throttles),
            Count.THROTTLED_FAILED: self.is_throttled,
            Count.CONDITION_FAILED: self.is_condition,
            Count.SERVER_ERRORS: self.is_server,
            Count.TRANSPORT_FAILURES: self.is_transport,
        }
        return [(column, int(amount)) for column, amount in amounts.items() if amount]

    def by_index(self, *, writes: bool) -> dict[str | None, int]:
        """Count refused tries by the index that held a write up; None: the call's own target."""
        counts: dict[str | None, int] = {}
        for reason, arn in self.throttles:
            limit = limit_of(reason)
            index = None
            if writes and limit is not None and limit.is_index:
                resource = None if arn is None else target_of_arn(arn)
                if resource is None or resource.index is None:
                    continue
                index = resource.index
            counts[index] = counts.get(index, 0) + 1
        return counts


def code_word(code: str) -> str:
    """Return an error code as it may be told; what a log writes there by mistake may be a key."""
    return code if _WORD.fullmatch(code) else _OTHER


def find_failures(told: Told) -> list[tuple[int, Failure]]:
    """Return the failures among lines, each with the number of its line."""
    if told.error.count(ABSENT) == told.tries.count(ABSENT) == len(told.lines):
        return []
    found = []
    for at, (error, tries) in enumerate(zip(told.error, told.tries, strict=True)):
        if error is not ABSENT or tries is not ABSENT:
            failure = read_failure(bytes(error), bytes(tries))
            if failure is not None:
                found.append((at, failure))
    return found


def read_failure(error_raw: bytes, tries_raw: bytes) -> Failure | None:
    """Read the error and the failed tries of a record; None where there is nothing to read."""
    error = _read(_READ_ERROR, error_raw)
    if isinstance(error, str):  # a log written by hand names the code alone
        error = RequestError(error) if error else None
    tries = _read(_READ_TRIES, tries_raw) or []
    if error is None and not tries:
        return None
    reasons = [] if error is None else [(told.reason, told.resource) for told in error.reasons or ()]
    throttles = [_throttle(one, reasons) for one in tries if is_throttle(one.code) or limit_of(one.reason or "")]
    if error is None:
        return Failure(throttles=throttles)
    codes = {error.code, *(code for code in error.cancellation or () if code is not None)}
    is_throttled = is_throttle(error.code) or any(is_throttle(code) for code in codes)
    if is_throttled and not throttles:
        throttles = [_unreasoned(ACCOUNT_CODE if ACCOUNT_CODE in codes else error.code, reasons)]
    return Failure(
        code=code_word(error.code),
        message=_VALUES.sub("?", (error.message or "")[:_LONGEST_MESSAGE]),
        throttles=throttles,
        is_throttled=is_throttled,
        is_condition=not codes.isdisjoint(_CONDITION),
        is_server=error.code in _SERVER or error.code.startswith("HTTP5"),
        is_transport=_is_transport(error.code),
    )


def _read(decode: Any, raw: bytes) -> Any:  # noqa: ANN401 - either of two decoders
    try:
        return decode(raw) if raw else None
    except (ValueError, RecursionError):
        return None


def _throttle(one: Try, reasons: list[tuple[str, str | None]]) -> tuple[str, str | None]:
    """Return reason and resource of a throttled try; the resource stands in the error, by its reason."""
    if one.reason is None:
        return _unreasoned(one.code, reasons)
    told = next((resource for reason, resource in reasons if reason == one.reason), None)
    return one.reason, one.resource or told


def _unreasoned(code: str | None, reasons: list[tuple[str, str | None]]) -> tuple[str, str | None]:
    """Return reason and resource of a try that tells none: the error's, unless its own code names another limit."""
    if code == ACCOUNT_CODE:
        named = (told for told in reasons if cause_of(told[0]) == cause_of(code))
        return next(named, (code, None))
    return reasons[0] if reasons else ("", None)


def _is_transport(code: str) -> bool:
    """Whether the call got no answer: SDKs name those errors so, the service calls its own `…Exception`."""
    return code.endswith(_TRANSPORT)


class RareCounts:
    """Throttled tries and refusals of every slice that is kept, by cell."""

    def __init__(self) -> None:
        self.throttles: dict[int, dict[ThrottleKey, list[int]]] = {}
        self.refusals: dict[int, dict[RefusalKey, int]] = {}
        self.past_throttles: dict[ThrottleKey, list[int]] = {}
        self.past_refusals: dict[RefusalKey, int] = {}

    def add(self, number: int, at: int, cell: Cell, failure: Failure) -> None:
        """Count a failure of a cell in a slice."""
        if failure.throttles:
            counts = self.throttles.setdefault(number, {})
            for position, (reason, arn) in enumerate(failure.throttles):
                limit = limit_of(reason)
                direction = limit.direction if limit else _direction(cell)
                is_last = failure.is_throttled and position == len(failure.throttles) - 1
                _add_throttle(counts, (at, reason, _resource(cell, reason, arn), direction), (1, int(is_last)))
        if failure.code is not None:
            _add_refusal(self.refusals.setdefault(number, {}), (at, failure.code, failure.message), 1)

    def forget(self, number: int) -> None:
        """Fold a slice into the past."""
        for throttle, amounts in self.throttles.pop(number, {}).items():
            _add_throttle(self.past_throttles, throttle, amounts)
        for refusal, calls in self.refusals.pop(number, {}).items():
            _add_refusal(self.past_refusals, refusal, calls)

    def merge(self, other: RareCounts, cells: list[int]) -> None:
        """Take in the counts of another part; `cells` maps its cell numbers to ours."""
        pairs = [(self.throttles.setdefault(number, {}), theirs) for number, theirs in other.throttles.items()]
        for mine, theirs in [*pairs, (self.past_throttles, other.past_throttles)]:
            for (cell, reason, resource, direction), amounts in theirs.items():
                _add_throttle(mine, (cells[cell], reason, resource, direction), amounts)
        refused = [(self.refusals.setdefault(number, {}), theirs) for number, theirs in other.refusals.items()]
        for known, refusals in [*refused, (self.past_refusals, other.past_refusals)]:
            for (cell, code, message), calls in refusals.items():
                _add_refusal(known, (cells[cell], code, message), calls)

    def within(self, numbers: Iterable[int], *, past: bool) -> tuple[tuple[ThrottleCount, ...], tuple[Refusal, ...]]:
        """Return what happened in these slices, and where asked for in the past."""
        chosen = list(numbers)
        throttles: dict[ThrottleKey, list[int]] = {}
        refusals: dict[RefusalKey, int] = {}
        for counts in [self.throttles.get(number, {}) for number in chosen] + [self.past_throttles] * past:
            for throttle, amounts in counts.items():
                _add_throttle(throttles, throttle, amounts)
        for known in [self.refusals.get(number, {}) for number in chosen] + [self.past_refusals] * past:
            for refusal, calls in known.items():
                refusals[refusal] = refusals.get(refusal, 0) + calls
        return (
            tuple(ThrottleCount(*key, *amounts) for key, amounts in sorted(throttles.items(), key=_throttle_order)),
            tuple(Refusal(*key, calls) for key, calls in sorted(refusals.items())),
        )

    def plain(self) -> list[Any]:
        """Return the whole state."""
        return [
            {number: list(counts.items()) for number, counts in self.throttles.items()},
            {number: list(known.items()) for number, known in self.refusals.items()},
            list(self.past_throttles.items()),
            list(self.past_refusals.items()),
        ]

    @classmethod
    def from_plain(cls, state: Any) -> RareCounts:  # noqa: ANN401 - as `plain` wrote it, decoded from MessagePack
        """Rebuild from the state."""
        counts = cls()
        throttles, refusals, past_throttles, past_refusals = state
        counts.throttles = {number: _throttles(listed) for number, listed in throttles.items()}
        counts.refusals = {number: _refusals(listed) for number, listed in refusals.items()}
        counts.past_throttles = _throttles(past_throttles)
        counts.past_refusals = _refusals(past_refusals)
        return counts


def _throttles(listed: Any) -> dict[ThrottleKey, list[int]]:  # noqa: ANN401 - decoded from MessagePack
    return {
        (cell, reason, msgspec.convert(resource, Target | None), Direction(direction)): list(amounts)
        for (cell, reason, resource, direction), amounts in listed
    }


def _refusals(listed: Any) -> dict[RefusalKey, int]:  # noqa: ANN401 - decoded from MessagePack
    return {(cell, code, message): calls for (cell, code, message), calls in listed}


def _throttle_order(item: tuple[ThrottleKey, list[int]]) -> tuple[int, str, tuple[str, ...], str]:
    cell, reason, resource, direction = item[0]
    return cell, reason, () if resource is None else resource.order(), direction


def _add_throttle(counts: dict[ThrottleKey, list[int]], key: ThrottleKey, amounts: Sequence[int]) -> None:
    """Count throttled tries by reason and resource; beyond the bound by cell and direction alone."""
    if key not in counts and len(counts) >= _MOST_THROTTLES:
        key = (key[0], "", None, key[3])
    entry = counts.setdefault(key, [0, 0])
    entry[0] += amounts[0]
    entry[1] += amounts[1]


def _add_refusal(refusals: dict[RefusalKey, int], key: RefusalKey, calls: int) -> None:
    """Count refusals by code and message; beyond the bound by cell alone."""
    if key not in refusals and len(refusals) >= _MOST_MESSAGES:
        key = (key[0], _OTHER, "")
    refusals[key] = refusals.get(key, 0) + calls


def _direction(cell: Cell) -> Direction:
    return Direction.WRITE if cell.shape.writes else Direction.READ


def _resource(cell: Cell, reason: str, arn: str | None) -> Target | None:
    """Return whose limit it was: the ARN's, else what the reason's first word says of the request's own target."""
    if arn is not None:
        return target_of_arn(arn)
    limit = limit_of(reason)
    if limit is None:
        return None
    if not limit.is_index:
        return cell.target.base
    return cell.target if cell.target.index is not None else None
