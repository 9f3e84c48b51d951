"""`infer --into`: what a draft adds to a contract that is there, shown, and written wholly or not at all."""

from __future__ import annotations

import codecs
import difflib
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from analyzer.cli.output import say, so_many, write
from analyzer.cli.replacing import replace_file
from analyzer.contract.load import load_contract, read_text
from analyzer.contract.merge import UnplaceableError, added, merge
from analyzer.contract.write import write_contract
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.contract.draft import Draft
    from analyzer.contract.model import Contract

__all__ = ["Target", "add", "read_target"]

_YAML = frozenset({".yaml", ".yml"})
_ADDABLE = _YAML | {".json"}
_INSTEAD = "with -o FILE.yaml what it lacks goes to a file of its own, which is read beside it"


class Target(NamedTuple):
    """The contract that is added to, as it stood before the logs were read; `output`: what it lacks goes there."""

    path: Path
    output: Path | None
    known: Contract
    content: bytes


def read_target(into: Path, output: Path | None) -> Target:
    """Read what is declared; refuse before the work what could only fail after it."""
    if not into.exists():
        raise UsageError(f"{into} does not exist: write a first contract with -o {into}")
    if output is None:
        if into.is_dir():
            raise UsageError(f"{into} is a folder: name the file of it that is added to, or add -o FILE.yaml")
        if into.suffix.lower() not in _ADDABLE:
            raise UsageError(f"{into}: only YAML and JSON are added to; {_INSTEAD}")
        if not os.access(into, os.W_OK):
            raise UsageError(f"{into} cannot be written: it is not yours to write")
        if not os.access(into.resolve().parent, os.W_OK):
            raise UsageError(f"{into} cannot be written: its folder is not yours to write in")
    content = into.read_bytes() if into.is_file() else b""
    return Target(into, output, load_contract(into), content)


def add(draft: Draft, target: Target, *, is_dry: bool) -> None:
    """Add to a contract, or write what it lacks to another file; say what was added, and show it."""
    counts = added(draft)
    for aside in draft.set_aside:
        say(f"not added: {aside.pattern['id']} of {aside.table}: {aside.because}")
    for table, number in draft.left_out.items():
        say(f"not added: {so_many(number, 'pattern')} of {table}, the rarest")
    if not any(counts.values()):
        write(f"{target.path} declares all that was asked: nothing to add\n")
        return
    place = target.output or target.path
    what = ", ".join(so_many(number, _one(part)) for part, number in counts.items() if number)
    before = "" if target.output else target.content.decode("utf-8-sig")
    text = write_contract(draft) if target.output else _merged(before, draft, target)
    if is_dry or target.output is None:
        write(_diff(before, text, place, "as it would be" if is_dry else "as written"))
    if is_dry:
        say(f"{place} would get {what}; nothing is written")
        return
    _replace(target, text)
    write(f"{place}: added {what}. Next: dynascope check {place}\n")


def _replace(target: Target, text: str) -> None:
    if target.output is not None:
        replace_file(target.output, text.encode())
        return
    if target.path.read_bytes() != target.content:
        raise UsageError(f"{target.path} was changed while the logs were read: nothing is written, run it once more")
    mark = codecs.BOM_UTF8 if target.content.startswith(codecs.BOM_UTF8) else b""
    replace_file(target.path, mark + text.encode())


def _one(part: str) -> str:
    return {"entities": "entity", "indexes": "index", "patterns": "pattern"}[part]


def _merged(before: str, draft: Draft, target: Target) -> str:
    """Return the contract with the additions, read once more before it is written."""
    path = target.path
    is_json = path.suffix.lower() == ".json" or _is_json(before)
    try:
        text = merge(before, draft, [table.name for table in target.known.tables], is_json=is_json)
    except UnplaceableError as error:
        mend = f"{error.mend}; or, " if error.mend else ""
        raise UsageError(f"{path}:{error.line}: nothing can be added here: {error}; {mend}{_INSTEAD}") from None
    faults = read_text(text, str(path)).faults
    if faults:
        raise UsageError(f"{path} cannot be added to: {faults[0].message}; {_INSTEAD}")
    return text


def _is_json(text: str) -> bool:
    """Whether YAML is JSON, as some editors and tools want it: it stays so."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _diff(before: str, after: str, place: Path, state: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(place), f"{place} ({state})", lineterm="")
    return "".join(f"{line}\n" for line in lines)
