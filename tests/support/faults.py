"""How one call to AWS goes wrong, as the way to AWS tells it, with the reason of the gap that it leaves."""

from __future__ import annotations

from typing import Any

from analyzer.errors import BudgetError, DeniedError, MalformedError, ThrottledError, UnreachableError
from analyzer.model.sight import GapReason

__all__ = ["FAULTS"]

FAULTS: dict[str, tuple[Any, GapReason]] = {
    "denied": (DeniedError("AccessDeniedException", hint="grant it"), GapReason.DENIED),
    "throttled": (ThrottledError("ThrottlingException", hint="it is tried again"), GapReason.THROTTLED),
    "timeout": (UnreachableError("no answer in time", hint="check the network"), GapReason.TIMEOUT),
    "truncated body": (MalformedError("the answer is no whole JSON", hint="check proxies"), GapReason.MALFORMED),
    "500 HTML": (MalformedError("the body is none of AWS's", hint="check proxies"), GapReason.MALFORMED),
    "wrong JSON": ({"Unexpected": True}, GapReason.MALFORMED),
    "expired token": (DeniedError("ExpiredTokenException", hint="renew the credentials"), GapReason.DENIED),
    "budget": (BudgetError("the day's money is spent", hint="it goes on at midnight"), GapReason.BUDGET),
}
