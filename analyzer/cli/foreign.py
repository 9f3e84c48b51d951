"""Logs of other shapes: told by their beginning, said to the user, and read as blocks of request records."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, cast

from analyzer.cli.inputs import STDIN
from analyzer.cli.shapes import Input
from analyzer.errors import UsageError
from analyzer.model.sight import Sight
from collectors.request_log.decoders.mapped import MappedDecoder
from collectors.request_log.decoders.mapping_file import read_mapping
from collectors.request_log.decoders.recognize import DECODERS, SAMPLE_BYTES, recognize
from collectors.request_log.decoders.splitting import LONGEST
from collectors.request_log.unpacking import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader
    from pathlib import Path

    from analyzer.cli.reading import LogFile
    from analyzer.contract.model import Contract
    from collectors.request_log.decoders.seam import Decoder, Decoding
    from collectors.request_log.unpacking import Readable

__all__ = ["choose", "declare_keys", "foreign_blocks"]

_CHUNK = 256 * 1024
_BLOCK = 256 * 1024
_MOST_HELD = 64 * 1024 * 1024
"""Bytes of records that are put in order of time: CloudTrail's files hold events of minutes in any order."""

_TIME = slice(len('{"time":"'), len('{"time":"2026-01-01T00:00:00.000Z'))
_TOLD = {
    Sight.REQUEST_KEYS: "keys",
    Sight.REQUEST_COUNTS: "counts",
    Sight.REQUEST_UNITS: "units",
    Sight.REQUEST_FILTERS: "filters",
    Sight.REQUEST_SEQUENCES: "sequences",
}
"""What to say of a shape: the sights whose lack makes detectors be skipped."""

_PRINTED = re.compile(rb"^\s*(?:clientName: '\w+'|commandName: '\w+Command'),?\s*$", re.MULTILINE)
"""Lines of what Node.js prints of the objects that the SDK for JavaScript hands to a logger."""

_JSON_LOGGER = """\
    const logger = { trace() {}, debug() {}, warn: log, error: log, info: log };
    function log(entry) {
      console.log(JSON.stringify({ timestamp: new Date().toISOString(), service: "orders", ...entry }));
    }
    const client = new DynamoDBClient({ logger });
"""
"""docs/collectors/request-log.md shows the same."""


def choose(logs: Sequence[LogFile], shape: Input, mapping: Path | None) -> tuple[str, ...]:
    """Set each log's decoder, and return what to tell the user of those that are not our own records.

    Raises UsageError, and ConfigError with every fault of the mapping file.
    """
    if (shape is Input.MAPPED) != (mapping is not None):
        raise UsageError(f"--input {Input.MAPPED} and --mapping FILE go together")
    given = _given(shape, mapping)
    told: dict[str, list[LogFile]] = {}
    unknown: list[str] = []
    for log in logs:
        decoder = given if given is not None else _recognized(log, unknown)
        if decoder is None or decoder.name == Input.NATIVE:
            continue
        log.decoder = decoder
        told.setdefault(decoder.title, []).append(log)
    return (*(_said(title, found) for title, found in told.items()), *unknown)


def declare_keys(logs: Sequence[LogFile], contract: Contract) -> None:
    """Tell the decoders what a contract says of tables' keys: clients' own logs do not name those of a put."""
    from analyzer.setup import declared_keys  # noqa: PLC0415 -- light start

    declared = declared_keys(contract)
    for log in logs:
        log.declared = declared


def _given(shape: Input, mapping: Path | None) -> Decoder | None:
    if mapping is not None:
        try:
            content = mapping.read_bytes()
        except OSError as error:
            raise UsageError(f"{mapping} cannot be read: {error.strerror}") from None
        return MappedDecoder(read_mapping(content, str(mapping)))
    return next((decoder for decoder in DECODERS if decoder.name == shape), None)


def _recognized(log: LogFile, unknown: list[str]) -> Decoder | None:
    """Look at the beginning of a log; what was read of standard input is kept for later."""
    raw = cast("BufferedReader", sys.stdin.buffer if log.path == STDIN else log.path.open("rb"))
    file = unpacked(raw)
    first = _first_of(file, SAMPLE_BYTES)
    decoder = recognize(first)
    if decoder is None and len(first) == SAMPLE_BYTES:  # its first entry may be longer
        first += _first_of(file, LONGEST)
        decoder = recognize(first)
    if log.path == STDIN:
        log.opened = _Joined(first, file)
    else:
        raw.close()
    if decoder is None and _PRINTED.search(first):
        unknown.append(
            f"{log.name} is what console.log prints of the entries of the AWS SDK for JavaScript: it is no JSON, keys"
            f" and times are not in it, and it cannot be read. Let the SDK write JSON:\n\n{_JSON_LOGGER}"
        )
    elif decoder is None and not first.isspace() and first:
        shapes = ", ".join(shape for shape in Input if shape not in {Input.AUTO, Input.NATIVE})
        unknown.append(
            f"{log.name} is of no shape that is known, and read as request records; --input names a shape: {shapes}"
        )
    return decoder


def _first_of(file: Readable, size: int) -> bytes:
    first = bytearray()
    try:
        while len(first) < size and (chunk := file.read(size - len(first))):
            first += chunk
    except EOFError:  # reading says so again
        pass
    return bytes(first)


class _Joined:
    """What was read of a file already, and the rest of it."""

    def __init__(self, first: bytes, rest: Readable) -> None:
        self._first = first
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        if not self._first:
            return self._rest.read(size)
        taken, self._first = self._first[:size], self._first[size:]
        return taken


def _said(title: str, logs: Sequence[LogFile]) -> str:
    sights = logs[0].decoder.sights if logs[0].decoder is not None else frozenset()
    what = logs[0].name if len(logs) == 1 else f"{len(logs)} logs"
    told = ", ".join(f"{word} {'yes' if sight in sights else 'no'}" for sight, word in _TOLD.items())
    of_units = " (units of calls that ask for ReturnConsumedCapacity)" if Sight.REQUEST_UNITS in sights else ""
    return f"reading {what} as {title}: {told}{of_units}"


def foreign_blocks(file: Readable, log: LogFile, decoder: Decoder) -> Iterator[bytes]:
    """Yield a log as blocks of request records in the order of time, as far as is held; count what cannot be read.

    Raises EOFError after the last block where the log breaks off.
    """
    decoding = decoder.begin(log.declared)
    held: list[bytes] = []
    size = 0
    breaks_off: list[EOFError] = []
    for lines in _decoded(file, decoding, breaks_off):
        held += lines.splitlines(keepends=True)
        size += len(lines)
        if size > _MOST_HELD:
            held.sort(key=_time)
            half = len(held) // 2
            yield from _blocks(held[:half])
            del held[:half]
            size = sum(map(len, held))
    yield from _blocks(sorted(held, key=_time))
    log.bad, log.others = dict(decoding.bad), decoding.others
    if breaks_off:
        raise breaks_off[0]


def _decoded(file: Readable, decoding: Decoding, breaks_off: list[EOFError]) -> Iterator[bytes]:
    """Yield the records of a file; one that breaks off is decoded so far, and the error kept for later."""
    try:
        while chunk := file.read(_CHUNK):
            yield decoding.feed(chunk)
    except EOFError as error:
        breaks_off.append(error)
    yield decoding.finish()


def _time(line: bytes) -> bytes:
    return line[_TIME] if line.startswith(b'{"time":"') else b""


def _blocks(lines: Sequence[bytes]) -> Iterator[bytes]:
    block: list[bytes] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= _BLOCK:
            yield b"".join(block)
            block, size = [], 0
    if block:
        yield b"".join(block)
