"""What `dynascope diagnose` does between its options and what it prints."""

from __future__ import annotations

import asyncio
import sys
from asyncio import sleep
from typing import TYPE_CHECKING

import msgspec
import typer
from msgspec import Struct

from analyzer.ahead import wall_clock
from analyzer.cli.calling import say_region
from analyzer.cli.foreign import choose
from analyzer.cli.inputs import STDIN, expand
from analyzer.cli.logs_beside import judge_beside
from analyzer.cli.output import Format, Keys, is_colorful, write
from analyzer.cli.reading import LogFile, at_rest, is_recording
from analyzer.cli.recording_to import Recorder
from analyzer.cli.shapes import Input
from analyzer.collect_once import Question
from analyzer.config import Settings, parse_duration
from analyzer.config_prices import prices_of_section
from analyzer.config_structs import build_detectors, build_struct
from analyzer.detectors import DETECTORS
from analyzer.diagnose import Bench, Looked, diagnose, follow
from analyzer.errors import UsageError
from analyzer.model.instant import DAY_MS, MINUTE_MS, Instant, parse_instant
from analyzer.planning.diagnosis import Diagnosis, shown
from analyzer.render.words import plain
from analyzer.requests.digest_limits import DigestLimits
from analyzer.setup import contract_of, process_salt, salt_of
from collectors.asking import Spot
from collectors.aws.config import AwsAccount, AwsConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from analyzer.diagnose import Judge
    from analyzer.requests.tokens import Salt
    from collectors.aws.session import Aws

__all__ = [
    "Asked",
    "Told",
    "aws_config",
    "bench_of",
    "duration_of",
    "logs_of",
    "note",
    "print_as_shown",
    "print_diagnosis",
    "question_of",
    "recorder_of",
    "regions_of",
    "run",
    "sweep_agreement",
]

_SHORTEST_MS = MINUTE_MS
_LONGEST_MS = DAY_MS
_RATE_SHARE = 0.9
"""Somebody waits for one look: for that moment it may take nearly all of what AWS allows."""
_READ_MS = 10_000
_ATTEMPTS = 3
_DEADLINE_MS = 20_000
"""What does not answer by then is told as that: two rounds of it still end within the first minute of a page."""
_FREE_USD = 0.10
"""A sweep that costs no more is not worth a question at three in the morning."""


class Told(Struct, frozen=True, kw_only=True):
    """How a diagnosis is printed."""

    output: Format
    keys: Keys
    verbose: bool = False


class Asked(Struct, frozen=True, kw_only=True):
    """What was asked, ready to be done; `wait_ms` None looks once, `is_watching` looks until it is stopped.

    `recorder` keeps what each look saw.
    """

    question: Question
    bench: Bench
    regions: tuple[str, ...] = ()
    role: str | None = None
    logs: tuple[LogFile, ...] = ()
    recorder: Recorder | None = None
    wait_ms: int | None = None
    is_watching: bool = False
    yes: bool = False


def bench_of(settings: Settings, *, hides: bool, profile: str | None, role: str | None = None) -> Bench:
    """Return what judges; without a salt tokens are this process's own."""
    contract, salt = contract_of(settings), salt_of(settings)
    return Bench(
        contract=contract,
        detectors=tuple(build_detectors(settings, DETECTORS)),
        lexicon=contract.lexicon(salt),
        limits=build_struct(settings, "limits", DigestLimits),
        salt=salt or process_salt(),
        window_ms=settings.window_ms,
        secret=settings.salt_bytes() or b"",
        prices=prices_of_section(settings.prices),
        hides=hides,
        profile=profile,
        role=role,
    )


def question_of(table: str | None, index: str | None, since: str, at: str | None) -> Question:
    """Read what is asked; raises UsageError."""
    if index is not None and table is None:
        raise UsageError("--index needs the TABLE that it is of")
    length = duration_of("--since", since)
    if not _SHORTEST_MS <= length <= _LONGEST_MS:
        raise UsageError(f"--since {since}: a diagnosis looks 1m to 1d back")
    return Question(table=table, index=index, length_ms=length, at=None if at is None else _time(at))


def _time(text: str) -> Instant:
    try:
        time = parse_instant(text)
    except ValueError:
        raise UsageError(f"--at {text} is no time; write one such as 2026-06-01T02:58:00Z") from None
    if time > wall_clock() + MINUTE_MS:  # clocks differ
        raise UsageError(f"--at {text} has not come yet; leave it out to look at now")
    return time


def regions_of(table: str | None, regions: Sequence[str] | None) -> tuple[str, ...]:
    """Return the regions to look at, each once; raises UsageError where one table is asked for in several."""
    once = tuple(dict.fromkeys(regions or ()))
    if table is not None and len(once) > 1:
        raise UsageError(f"a TABLE is of one region: name {' or '.join(once)}, or leave {table} out to sweep them")
    return once


def duration_of(option: str, text: str) -> int:
    """Read a duration in milliseconds; raises UsageError."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def logs_of(names: Sequence[str], stack: ExitStack) -> tuple[LogFile, ...]:
    """Return the request logs that were named, each with what decodes it; raises UsageError where one is not there.

    Standard input is laid down in a file while the stack is open: it may be looked into, and read, again.
    """
    paths = [stack.enter_context(at_rest(path)) for path in expand(list(names))] if names else []
    for path, name in zip(paths, names, strict=False):
        if name != str(STDIN) and is_recording(path):
            raise UsageError(f"{path} is a recording; read it with `dynascope replay {path}`")
    logs = tuple(LogFile(path) for path in paths)
    for said in choose(logs, Input.AUTO, None):
        typer.echo(f"dynascope: {said}", err=True)
    return logs


def recorder_of(path: Path, bench: Bench, settings: Settings, logs: Sequence[LogFile]) -> Recorder:
    """Return what keeps each look; raises UsageError where there is no place for it, before anything is asked."""
    if path.exists() and not path.is_file():
        raise UsageError(f"--record {path}: this is no file; what is written is read back")
    if not path.resolve().parent.is_dir():
        raise UsageError(f"--record {path}: there is no folder {path.parent}")
    return Recorder(path, bench, settings, logs, wall_clock)


def note(looked: Looked, asked: Asked) -> None:
    """Say what a recording holds, and where a log was not read; a look that named no table is kept here."""
    if asked.recorder is not None:
        if looked.table is None:
            asked.recorder.keep(looked.recording, looked.described)
        typer.echo(f"dynascope: {asked.recorder.note}", err=True)
    elif asked.logs and looked.table is None:
        typer.echo("dynascope: the request log was not read: no table is suspected; name one", err=True)


def run(asked: Asked, tell: Callable[[Looked], None], clock: Callable[[], Instant] = wall_clock) -> Looked:
    """Look, once or until it is decided or stopped; each look of a watch is told, else the last one.

    Who stops waiting is told the look that there was; KeyboardInterrupt goes on where there was none.
    """
    from collectors.aws.session import Aws  # noqa: PLC0415 (heavy)

    seen: list[Looked] = []

    async def work() -> Looked:
        aws = Aws(aws_config(asked))
        say_region(aws)
        try:
            return await _work(asked, aws, tell, clock, seen)
        finally:
            await aws.close()

    try:
        return asyncio.run(work())
    except KeyboardInterrupt:
        if asked.wait_ms is None or not seen:
            raise
        tell(seen[-1])
        return seen[-1]


def _say(told: str) -> None:
    """Say on a terminal what goes on: an AWS that hangs takes most of a minute, and waiting longer."""
    if sys.stderr.isatty():
        typer.echo(f"dynascope: {plain(told)}", err=True)


def aws_config(asked: Asked) -> AwsConfig:
    """Return the way to AWS: where, and as whom."""
    account = () if asked.role is None else (AwsAccount(account=_account_of(asked.role), role=asked.role),)
    return AwsConfig(
        regions=asked.regions,
        profile=asked.bench.profile,
        accounts=account or (AwsAccount(),),
        rate_share=_RATE_SHARE,
        read_ms=_READ_MS,
        attempts=_ATTEMPTS,
        deadline_ms=_DEADLINE_MS,
    )


def _account_of(role: str) -> str:
    parts = role.split(":")
    if len(parts) < 6 or not parts[4].isdigit():  # noqa: PLR2004 -- arn:aws:iam::ACCOUNT:role/NAME
        raise UsageError(f"--role {role} is no role; write its ARN, arn:aws:iam::111122223333:role/NAME")
    return parts[4]


async def _work(
    asked: Asked, aws: Aws, tell: Callable[[Looked], None], clock: Callable[[], Instant], seen: list[Looked]
) -> Looked:
    """Look as was asked, and keep each look in `seen`."""
    spots = [Spot(place.region, place.account) for place in aws.places()]
    question = asked.question
    agree = sweep_agreement(yes=asked.yes)
    judging = _judging(asked)

    async def once() -> Looked:
        nonlocal question, spots
        paid = _usd(aws)
        where = ", ".join(dict.fromkeys(spot.region for spot in spots if spot.region))
        _say(f"looking at {question.table or 'all tables'}{where and f' in {where}'}")
        looked = await diagnose(aws, question, spots, asked.bench, clock, agree, judging)
        report = looked.diagnosis.report
        if question.table is None and looked.table is not None:  # swept once; what follows looks at the suspect alone
            question = msgspec.structs.replace(question, table=looked.table)
            spots = [spot for spot in spots if spot.region == report.region] or spots
        spent = msgspec.structs.replace(looked.diagnosis.spent, usd=_usd(aws) - paid)
        seen.append(msgspec.structs.replace(looked, diagnosis=msgspec.structs.replace(looked.diagnosis, spent=spent)))
        del seen[:-1]
        return seen[-1]

    async def nap(seconds: float) -> None:
        known = seen[-1].diagnosis.report.verdict.text
        _say(f"not decided yet: {known}; it looks again in {seconds:.0f} s, and an interrupt prints this look")
        await sleep(seconds)

    if asked.wait_ms is not None:
        looked = await follow(once, for_ms=asked.wait_ms, clock=clock, sleep=nap)
    else:
        looked = await once()
    tell(looked)
    while asked.is_watching:
        await sleep(MINUTE_MS / 1000)
        looked = await once()
        tell(looked)
    return looked


def _usd(aws: Aws) -> float:
    return sum(aws.budget.spent().usd.values())


def _judging(asked: Asked) -> Judge | None:
    """Return what judges a look: with a recording that which was written, else what was seen and the logs."""
    if asked.recorder is not None:
        return asked.recorder.judge
    return None if not asked.logs else lambda recording, _: judge_beside(asked.logs, recording, asked.bench)


def sweep_agreement(*, yes: bool) -> Callable[[int, int, float], None]:
    """Return what is asked before a sweep: nothing of a cheap one; of a dear one its price is told, once, and agreed.

    On a pipe nobody can agree: it raises UsageError.
    """

    def agree(tables: int, series: int, usd: float) -> None:
        if usd <= _FREE_USD:
            return
        told = f"a sweep of {tables:,} tables asks CloudWatch for {series:,} metrics: {usd:.2f} dollars at list price"
        if yes:
            typer.echo(f"dynascope: {told}", err=True)
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(f"{told}; agree with --yes, or name a TABLE, which costs under a cent")
        if not typer.confirm(f"{told}. Sweep?", err=True):
            raise UsageError("nothing was swept; name a TABLE, which costs under a cent")

    return agree


def print_diagnosis(diagnosis: Diagnosis, told: Told, salt: Salt | None) -> None:
    """Print a diagnosis as far as the policy lets keys be seen."""
    print_as_shown(shown(diagnosis, told.keys.value, salt), told)


def print_as_shown(seen: Diagnosis, told: Told) -> None:
    """Print a diagnosis whose keys are shown as they may be."""
    if told.output is Format.JSON:
        from analyzer.render.diagnosis_json import render_diagnosis_json  # noqa: PLC0415 -- only what is asked for

        write(render_diagnosis_json(seen))
    elif told.output is Format.MARKDOWN:
        from analyzer.render.diagnosis_markdown import render_diagnosis_markdown  # noqa: PLC0415 -- same

        write(render_diagnosis_markdown(seen, verbose=told.verbose))
    else:
        from analyzer.render.diagnosis_text import render_diagnosis  # noqa: PLC0415 -- same

        write(render_diagnosis(seen, color=is_colorful(), verbose=told.verbose))
