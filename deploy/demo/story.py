"""The story: fifteen quiet seconds, five faults one after the other, and what the daemon made of them."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deploy.demo.alarm import alerts_for, unexplained
from deploy.demo.cases import TABLE
from deploy.demo.faults import FAULTS
from deploy.demo.watch import Seen, Watcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from deploy.demo.alarm import Fired, Prometheus
    from deploy.demo.faults import Expected, Fault
    from deploy.demo.watch import Daemon
    from deploy.demo.workload import Workload

__all__ = ["Outcome", "Story", "alarms", "complaints", "judge"]

QUIET_SECONDS = 15.0
FAULT_SECONDS = 7.0
PAUSE_SECONDS = 2.0  # a refused call waits up to a second before its second try
CLOSING_SECONDS = 45.0
_SLICE_SECONDS = 10.0
_SPARE_SECONDS = 0.3
_LOOK_SECONDS = 0.5
_HEAD = (
    f"{'planted fault':<17} {'found as':<20} {'severity':<9} {'cause':<12} {'caller':<19} {'opened':>8} {'closed':>8}"
)
_COLORS = {"critical": "31;1", "high": "31", "medium": "33", "low": "2", "ok": "32", "head": "1"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one fault."""

    fault: Fault
    found: tuple[Seen | None, ...]

    @property
    def is_found(self) -> bool:
        """Whether everything was found that had to be."""
        return all(seen is not None for seen in self.found)

    @property
    def is_closed(self) -> bool:
        """Whether all of that has closed."""
        return self.is_found and all(seen is not None and seen.closed_at is not None for seen in self.found)


def _first(expected: Expected, findings: Mapping[str, Seen]) -> Seen | None:
    return next((seen for seen in findings.values() if seen.is_noted and any(map(expected.fits, seen.forms))), None)


def judge(findings: Mapping[str, Seen]) -> tuple[list[Outcome], list[Seen]]:
    """Return what became of each fault, and what was noted that no fault explains."""
    outcomes = [Outcome(fault, tuple(_first(each, findings) for each in fault.must)) for fault in FAULTS]
    wanted = [each for fault in FAULTS for each in (*fault.must, *fault.may)]
    strays = [
        seen
        for seen in findings.values()
        if seen.is_noted and not any(each.fits(form) for each in wanted for form in seen.forms)
    ]
    return outcomes, strays


class Story:
    """Tells the story to whoever watches the terminal."""

    def __init__(
        self, daemon: Daemon, workload: Workload, started: float, prometheus: Prometheus | None = None
    ) -> None:
        self._daemon = daemon
        self._workload = workload
        self._prometheus = prometheus
        self._started = started
        self.watcher = Watcher(daemon, started)

    def say(self, text: str, color: str | None = None) -> None:
        """Print a line with its second."""
        line = f"[{time.monotonic() - self._started:6.1f} s] {text}"
        print(f"\033[{_COLORS[color]}m{line}\033[0m" if color and sys.stdout.isatty() else line, flush=True)

    def play(self) -> bool:
        """Tell it once; returns whether all that had to hold held."""
        is_quiet = self._wait_quietly()
        begun = time.monotonic()
        for number, fault in enumerate(FAULTS, 1):
            self._play(fault)
            self._watch(begun + number * (FAULT_SECONDS + PAUSE_SECONDS) - time.monotonic())
        self._wait_for_the_end()
        return self._conclude(is_quiet=is_quiet)

    def go_on(self) -> None:
        """Switch the faults on one after the other until interrupted."""
        while True:
            for fault in FAULTS:
                self._play(fault)
                self._watch(_SLICE_SECONDS * 3)

    def _wait_quietly(self) -> bool:
        """Let healthy traffic flow, until faults that start now will end with a slice of the daemon's clock."""
        self.say(f"quiet: healthy traffic alone for {QUIET_SECONDS:.0f} s, and nothing may be found", "head")
        lasting = len(FAULTS) * (FAULT_SECONDS + PAUSE_SECONDS) - PAUSE_SECONDS + _SPARE_SECONDS
        self._watch(QUIET_SECONDS)
        self._watch(-(time.time() + lasting) % _SLICE_SECONDS)
        report = self._daemon.report()
        requests = 0.0 if report is None else sum(line["requests"] for line in report["patterns"])
        is_quiet = not self.watcher.findings and requests > 0
        told = "nothing found" if not self.watcher.findings else f"{len(self.watcher.findings)} findings"
        self.say(
            f"{told} in healthy traffic; {requests:,.0f} requests in the last window", "ok" if is_quiet else "high"
        )
        return is_quiet

    def _play(self, fault: Fault) -> None:
        self.say(f"ON   {fault.name}: {fault.story}", "head")
        bursts = fault.start(dict(self._workload.clients()))
        try:
            self._watch(FAULT_SECONDS)
            for burst in bursts:
                burst.halt()
            self.say(f"OFF  {fault.name}")
            self._watch(PAUSE_SECONDS)
        finally:
            for burst in bursts:
                burst.halt()
            for burst in bursts:
                burst.stop()

    def _watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            for line in self.watcher.look():
                self._tell(line)
            for fired in () if self._prometheus is None else self._prometheus.look():
                place = TABLE if fired.at is None else f"{TABLE}/{fired.at}"
                self.say(f"  Prometheus: {fired} fires on {place}", "medium")
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(_LOOK_SECONDS, left))

    def _tell(self, line: Mapping[str, Any]) -> None:
        finding = line["finding"]
        place = finding["table"] if finding.get("index") is None else f"{finding['table']}/{finding['index']}"
        if line["event"] == "closed":
            self.say(f"  closed   {finding['detector']} on {place}", "ok")
            return
        because = " (explained by another)" if finding.get("caused_by") else ""
        self.say(
            f"  {finding['severity']:<8} {finding['detector']} on {place}{because}: {finding['summary']}",
            finding["severity"],
        )

    def _wait_for_the_end(self) -> None:
        self.say("all faults are off: findings close when they have left the window of 20 s", "head")
        until = time.monotonic() + CLOSING_SECONDS
        while time.monotonic() < until:
            outcomes, _ = judge(self.watcher.findings)
            if all(outcome.is_closed for outcome in outcomes):
                return
            self._watch(_LOOK_SECONDS)

    def _conclude(self, *, is_quiet: bool) -> bool:
        outcomes, strays = judge(self.watcher.findings)
        print()
        print(_HEAD)
        for outcome in outcomes:
            for expected, seen in zip(outcome.fault.must, outcome.found, strict=True):
                print(_row(outcome.fault.name, expected, seen))
        for seen in strays:
            print(_row("(none)", None, seen))
        surprises = self._workload.outcomes.surprises
        for text in surprises:
            print(f"a healthy call failed: {text}")
        fired = None if self._prometheus is None else self._prometheus.fired
        if fired is not None:
            print()
            print("\n".join(alarms(fired)))
        wrong = tuple(complaints(outcomes, strays, is_quiet=is_quiet, surprises=len(surprises), fired=fired))
        print()
        told = f"NOT as it should be: {'; '.join(wrong)}" if wrong else "all found, all closed, nothing else"
        self.say(told, "high" if wrong else "ok")
        return not wrong


def alarms(fired: Iterable[Fired]) -> Iterator[str]:
    """Say of each fault which alerts it raised, and what fired beside."""
    known = set(fired)
    for fault in FAULTS:
        for name, found in alerts_for(fault, known):
            told = f"{name} ({', '.join(one.severity for one in found)}) fired" if found else f"{name} DID NOT FIRE"
            place = f" on {found[0].at}" if found and found[0].at else ""
            yield f"{fault.name:<17} Prometheus: {told}{place}"
    beside = unexplained(FAULTS, known)
    if beside:
        yield f"{'(none)':<17} Prometheus: {', '.join(map(str, beside))} fired as well"


def complaints(
    outcomes: list[Outcome],
    strays: list[Seen],
    *,
    is_quiet: bool,
    surprises: int,
    fired: Iterable[Fired] | None = None,
) -> Iterator[str]:
    """Say what does not hold; `fired` is None where there is no Prometheus."""
    if not is_quiet:
        yield "healthy traffic was not quiet, or not seen"
    for outcome in outcomes:
        if not outcome.is_found:
            yield f"{outcome.fault.name} was not found"
        elif not outcome.is_closed:
            yield f"{outcome.fault.name} did not close"
    for outcome in outcomes if fired is not None else ():
        for name, found in alerts_for(outcome.fault, fired or ()):
            if not found:
                yield f"{name} did not fire for {outcome.fault.name}"
    if strays:
        yield f"no fault explains {', '.join(seen.worst['detector'] for seen in strays)}"
    if surprises:
        yield "healthy calls failed"


def _row(fault: str, expected: Expected | None, seen: Seen | None) -> str:
    if seen is None:
        return f"{fault:<17} {'' if expected is None else expected.detector:<20} NOT FOUND"
    worst = seen.worst
    closed = "STILL" if seen.closed_at is None else f"{seen.closed_at:.1f} s"
    return (
        f"{fault:<17} {worst['detector']:<20} {worst['severity']:<9} {worst.get('cause') or '-':<12} "
        f"{worst.get('caller') or '-':<19} {seen.opened_at:6.1f} s {closed:>8}"
    )
