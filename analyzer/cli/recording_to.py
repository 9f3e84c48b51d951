"""What a diagnosis saw, written as a recording, and judged as that: its replay rests on the same file.

Requests of a log are written with tokens for keys, and it is those that are judged. The clear keys would tell a little
more (whether sort keys follow the clock), but then a replay could not come to the same verdict.
"""

from __future__ import annotations

import gzip
from contextlib import ExitStack, closing
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec

from analyzer.cli.judging import judge_recording
from analyzer.cli.logs_beside import LogsBeside, judge_beside, logs_of_look
from analyzer.cli.replacing import replace_file_by
from analyzer.cli.thinning import Thinned
from analyzer.contract.load import plain_document
from analyzer.diagnose import as_beside
from analyzer.model.sight import SourceName
from analyzer.recording import read_recording
from analyzer.recording_lines import counter_line
from analyzer.recording_requests import CLEAR, Concealer
from analyzer.recording_writer import gap_line, recording_lines, request_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from analyzer.cli.reading import LogFile
    from analyzer.config import Settings
    from analyzer.diagnose import Bench
    from analyzer.model.instant import Instant
    from analyzer.model.report import Report
    from analyzer.recording import Recording

__all__ = ["Recorder"]


class Recorder:
    """Writes a recording of each look, the newest in place of the one before; `note` says what it holds.

    `has_failed` where the last one could not be written, which `note` says.

    The contract goes into it where it is one file. Whoever may see keys is told what they show in clear.
    """

    def __init__(
        self, path: Path, bench: Bench, settings: Settings, logs: Sequence[LogFile], clock: Callable[[], Instant]
    ) -> None:
        self._path = path
        self._bench = bench
        self._settings = settings
        self._logs = tuple(logs)
        self._clock = clock
        self._contract = plain_document(settings.contract) if settings.contract else None
        self.note = ""
        self._has_clear_keys = False
        self.has_failed = False

    def judge(self, recording: Recording, described: Mapping[str, Mapping[str, Any]]) -> Report:
        """Write what was seen of a table with the requests of the logs, and judge what was written."""
        with ExitStack() as stack:
            requests = stack.enter_context(Thinned())
            logs = logs_of_look(self._logs, recording)
            counters = list(self._lay_down(logs, requests)) if logs is not None else []
            gaps = () if logs is None else tuple(logs.gaps())
            seen = recording if logs is None else as_beside(recording, gaps)
            self._write(msgspec.structs.replace(seen, contract=self._contract), described, counters, requests)
        self.note = self.note if self.has_failed else self._said(logs, requests)
        if self.has_failed or not self._bench.hides:
            return judge_beside(self._logs, recording, self._bench)
        return judge_recording(self._path, read_recording(self._path), self._settings)

    def keep(self, recording: Recording, described: Mapping[str, Mapping[str, Any]]) -> None:
        """Write what a sweep saw: of no table, so that no request is of it."""
        with Thinned() as nothing:
            self._write(msgspec.structs.replace(recording, contract=self._contract), described, (), nothing)
        self.note = self.note if self.has_failed else self._said(None, nothing)

    def _lay_down(self, logs: LogsBeside, requests: Thinned) -> Iterator[bytes]:
        """Keep the requests, and yield the lines of samplers' counters."""
        concealer = Concealer(self._bench.lexicon, self._bench.salt)
        for _, line in logs.lines():
            if line.counter is None:
                self._has_clear_keys |= line.keys in CLEAR
                requests.add(concealer.record(line))
            elif line.counter in {"dropped", "unsampled"}:
                yield counter_line(line.counter, max(0, line.count))

    def _write(
        self,
        recording: Recording,
        described: Mapping[str, Mapping[str, Any]],
        counters: Sequence[bytes],
        requests: Thinned,
    ) -> None:
        def write(file: IO[bytes]) -> None:
            with ExitStack() as stack:
                if self._path.suffix == ".gz":
                    packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0)
                    file = cast("IO[bytes]", stack.enter_context(closing(packed)))
                file.writelines(recording_lines(recording, described, self._bench.keep, self._clock()))
                file.writelines(gap_line(gap) for gap in recording.batch.gaps if gap.source is SourceName.REQUEST_LOG)
                file.writelines(counters)
                file.writelines(map(request_line, requests.records()))

        self.has_failed = False
        try:
            replace_file_by(self._path, write)
        except OSError as error:  # whoever is on call is told the verdict all the same
            self.has_failed = True
            self.note = (
                f"{self._path} could not be written: {error.strerror or type(error).__name__}; nothing is recorded"
            )

    def _said(self, logs: LogsBeside | None, requests: Thinned) -> str:
        """Say what of the requests the recording holds."""
        name = self._path
        lacks = "" if self._contract is not None or not self._settings.contract else _NO_CONTRACT
        if logs is None:
            told = f"{name} holds what AWS showed, and no request" if self._logs else f"{name} holds what AWS showed"
            return told + lacks
        rests = _RESTS[self._bench.hides] + (_MORE if self._bench.hides and self._has_clear_keys else "")
        aside = [
            f"{number:,} {words}"
            for number, words in ((logs.others, "of other tables or places"), (logs.nameless, "that name no table"))
            if number
        ]
        left = f"; left out are {' and '.join(aside)}" if aside else ""
        left += f"; {logs.strays_words()}" if logs.strays else ""
        if not requests.seen:
            return f"{name} holds what AWS showed: the log has no request to the table in this stretch{left}{lacks}"
        share = "" if requests.rate >= 1 else f" of {requests.seen:,} (1 in {round(1 / requests.rate)}, to stay small)"
        return (
            f"{name} holds what AWS showed and {requests.kept:,}{share} requests of the log, keys as tokens; the"
            f" verdict rests on {rests}{left}{lacks}"
        )


_RESTS = {True: "these, as that of a replay does", False: "clear keys, that of a replay on tokens"}
_MORE = " (clear keys may tell more, whether sort keys follow the clock: look once without --record)"
_NO_CONTRACT = "; the contract is several files and not in it: give --contract to the replay too"
