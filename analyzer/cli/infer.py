"""dynascope infer."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.shapes import Input
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.cli.reading import LogFile
    from analyzer.model.counts import Counts
    from analyzer.requests.lexicon import TableKeys

__all__ = ["infer"]

_SUFFIXES = frozenset({".yaml", ".yml"})
_MOST_LEARNT = 200_000


def infer(
    logs: Annotated[list[str], typer.Argument(metavar="LOG...", help="request logs, .gz and .zst too; - is stdin")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="write there; it must not exist yet")
    ] = None,
    shape: Annotated[Input, typer.Option("--input", help="what wrote the logs; auto looks at them")] = Input.AUTO,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where the fields stand, for --input mapped")
    ] = None,
) -> None:
    """Draft a contract from request logs.

    It is for its owners to edit. It loads and passes `dynascope check`; what would not is commented out, with the
    reason.

    \b
      dynascope infer requests.jsonl -o contract.yaml
      dynascope infer trail/*.json.gz > contract.yaml

    Exit 0 when one was drafted, 2 on wrong usage or where no request can be read.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.foreign import choose  # noqa: PLC0415 -- light start
    from analyzer.cli.inputs import expand  # noqa: PLC0415 -- light start
    from analyzer.cli.output import counted, write  # noqa: PLC0415 -- light start
    from analyzer.cli.reading import LogFile, at_rest  # noqa: PLC0415 -- light start
    from analyzer.contract.induce import induce  # noqa: PLC0415 -- light start
    from analyzer.contract.write import write_contract  # noqa: PLC0415 -- light start

    if output is not None:
        _check_place(output)
    with ExitStack() as stack:
        files = [LogFile(stack.enter_context(at_rest(path))) for path in expand(logs)]
        for said in choose(files, shape, mapping):
            print(f"dynascope: {said}", file=sys.stderr)
        counts = _count(files, _learn(files))
    complaints = [file.breaks_off for file in files if file.breaks_off is not None]
    for complaint in complaints:
        print(f"dynascope: {complaint}", file=sys.stderr)
    if counts is None:
        raise UsageError("the logs hold no request that can be read; `dynascope analyze` says what is wrong with them")
    draft = induce(counts)
    text = write_contract(draft)
    if output is None:
        write(text)
    else:
        output.write_text(text, encoding="utf-8")
        patterns = sum(len(table["patterns"]) for table in draft.document["tables"])
        write(
            f"{output}: {counted(patterns, 'pattern')}; set aside: {len(draft.set_aside)}. "
            f"Next: dynascope check {output}\n"
        )
    if complaints:
        raise typer.Exit(3)


def _check_place(output: Path) -> None:
    """Refuse before the work what could only fail after it."""
    if output.exists():
        raise UsageError(f"{output} exists: infer never overwrites a contract; choose another file")
    if not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no folder {output.parent}")
    if not os.access(output.parent, os.W_OK):
        raise UsageError(f"{output} cannot be written: the folder {output.parent} is not yours to write in")
    if output.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{output}: infer writes YAML; name the file {output.with_suffix('.yaml')}")


def _learn(files: Sequence[LogFile]) -> tuple[TableKeys, ...]:
    """Learn from the first records of each file which segments of their keys are literals."""
    import msgspec  # noqa: PLC0415 -- light start

    from analyzer.contract.literals import Literals  # noqa: PLC0415 -- light start
    from analyzer.model.request import RequestRecord  # noqa: PLC0415 -- light start

    literals = Literals()
    decoder = msgspec.json.Decoder(RequestRecord)
    for file in files:
        for line in _lines(file):
            try:
                literals.add(decoder.decode(line))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue  # the digest counts it
    return literals.tables()


def _lines(file: LogFile) -> Iterator[bytes]:
    from analyzer.cli.reading import read_blocks  # noqa: PLC0415 -- light start

    left = _MOST_LEARNT
    for block in read_blocks(file):
        lines = block.splitlines()
        yield from lines[:left]
        left -= len(lines)
        if left <= 0:
            return


def _count(files: Sequence[LogFile], tables: Sequence[TableKeys]) -> Counts | None:
    from analyzer.cli.reading import read_blocks  # noqa: PLC0415 -- light start
    from analyzer.requests.digest import Digest  # noqa: PLC0415 -- light start
    from analyzer.requests.lexicon import Lexicon  # noqa: PLC0415 -- light start

    digest = Digest(Lexicon(tables))
    for file in files:
        for block in read_blocks(file):
            digest.update(block)
    span = digest.span()
    return None if span is None else digest.result(span)
