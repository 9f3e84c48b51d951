"""The last report, and how it may be shown: what every route of the server reads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp import web

from analyzer.render.json import report_object
from analyzer.render.show import show

if TYPE_CHECKING:
    from analyzer.model.report import Report
    from analyzer.render.show import Policy
    from analyzer.requests.tokens import Salt

__all__ = ["Shown"]


class Shown:
    """Keeps the last report; the document of it is made when it is first asked for, beside the loop."""

    def __init__(self, policy: Policy, salt: Salt | None) -> None:
        self.policy: Policy = policy
        self.salt = salt
        self.report: Report | None = None
        self._document: asyncio.Task[dict[str, Any]] | None = None

    def take(self, report: Report) -> None:
        """Show a report from now on."""
        self.report, self._document = report, None

    def forget(self) -> None:
        """Make the document anew: keys are to be shown in another way."""
        self._document = None

    def judged(self) -> Report:
        """Return the last report with its evidence; raises HTTPServiceUnavailable before the first."""
        if self.report is None:
            raise web.HTTPServiceUnavailable(reason="nothing judged yet")
        return self.report

    async def document(self) -> dict[str, Any]:
        """Return the last report as the show policy allows; raises HTTPServiceUnavailable before the first."""
        report = self.judged()
        if self._document is None:
            made = asyncio.to_thread(_made, report, self.policy, self.salt)
            self._document = asyncio.ensure_future(made)
        return await asyncio.shield(self._document)

    async def verdict(self) -> str:
        """Return the one sentence."""
        return "nothing judged yet" if self.report is None else str((await self.document())["verdict"]["text"])


def _made(report: Report, policy: Policy, salt: Salt | None) -> dict[str, Any]:
    return report_object(show(report, policy, salt))
