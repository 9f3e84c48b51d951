"""What no advice may do, whatever it is on: change production first, or leave a word of its command to be filled in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.model.finding import Risk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.finding import Advice, Finding

__all__ = ["faults_of_advice"]

_READS = re.compile(
    r"^(dynascope |aws [\w-]+ (list|describe|get|filter|lookup|query|batch-get)[\w-]*|terraform (show|state list)\b)"
)
_LEFT_OPEN = re.compile(r"\b(START|END|ARN|LOCK_ID|STREAM_ARN)\b|(?<=[ =,])N\b|cron\(M H")


def faults_of_advice(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield what is wrong with the advice of findings."""
    for one in findings:
        for number, advice in enumerate(one.advice):
            where = f"{advice.action} of {one.detector} ({one.table}/{one.index})"
            yield from (f"{fault}: {where}: {advice.command}" for fault in _faults(advice, is_first=number == 0))


def _faults(advice: Advice, *, is_first: bool) -> Iterator[str]:
    if is_first and advice.risk is not Risk.NONE:
        yield "the first advice changes production"
    if is_first and advice.takes is not None and "deploy" in advice.takes:
        yield "the first advice is a deploy"
    if advice.command is None:
        return
    if advice.risk is Risk.NONE and not _READS.match(advice.command):
        yield "a command that does not only read has no risk"
    if is_first and "# read-only" not in advice.command:
        yield "the first command does not say that it reads only"
    if _LEFT_OPEN.search(advice.command):
        yield "a word of the command is left open"
