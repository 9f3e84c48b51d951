"""An AwsCaller that answers by script: a value, a function of what is asked, an error, or a list of these in turn."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from analyzer.errors import AbsentError, CollectError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ScriptedAws", "absent"]


class ScriptedAws:
    """Answers by operation; of a list the first is taken and the last stays. What has no script is refused."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = dict(answers)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.places: set[tuple[str | None, str | None]] = set()

    async def call(
        self, service: str, operation: str, *, region: str | None = None, account: str | None = None, **params: Any
    ) -> dict[str, Any]:
        self.calls.append((operation, params))
        self.places.add((region, account))
        if operation not in self.answers:
            raise UnsupportedError(f"{service} {operation} is not in the script", hint="write it there")
        answer = self.answers[operation]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(params)
            if inspect.isawaitable(answer):
                answer = await answer
        if isinstance(answer, CollectError):
            raise answer
        return dict(answer)

    def operations(self) -> list[str]:
        return [operation for operation, _ in self.calls]

    def asked(self, operation: str) -> list[dict[str, Any]]:
        return [params for name, params in self.calls if name == operation]


def absent(asked: Mapping[str, Any]) -> CollectError:
    return AbsentError("ResourceNotFoundException", hint="it was deleted, or never was")
