"""Contracts from files: YAML, JSON, Markdown, and AWS's access pattern mapping; every fault of all of them at once."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.contract.document import MapNode, parse_document, to_node
from analyzer.contract.faults import validate
from analyzer.contract.freeze import freeze
from analyzer.contract.likeness import is_contract_like
from analyzer.contract.mapping import read_mapping
from analyzer.contract.markdown import is_markdown, read_markdown
from analyzer.contract.model import Contract
from analyzer.contract.shorthand import canonical
from analyzer.contract.union import Part, unite
from analyzer.errors import ContractError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Reading", "contract_from", "load_contract", "plain_document", "read_contract", "read_text"]

_YAML = frozenset({".yaml", ".yml"})
_MARKDOWN = frozenset({".md", ".markdown"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages"})
_HINTS = ("contract", "access_pattern", "access-pattern", "dynascope", "patterns")
_WORDS = ("patterns", "patternmapping", "operation", "query", "scan", "partitionkey")
"""What no contract lacks: it is looked for in lower case, without dashes and underscores, to parse few files."""
_MOST_BYTES = 8 * 1024 * 1024


class Reading(Struct, frozen=True):
    """What was read: all that is sound of it, every fault, the files that declare something and those that do not."""

    contract: Contract
    faults: tuple[Fault, ...] = ()
    files: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def load_contract(paths: Iterable[Path | str] | Path | str) -> Contract:
    """Load files, or all contract files of folders, as one contract; raises ContractError with every fault."""
    reading = read_contract(paths)
    if reading.faults:
        raise ContractError(reading.faults)
    return reading.contract


def read_contract(paths: Iterable[Path | str] | Path | str) -> Reading:
    """Read like `load_contract`, but return the faults, with all that can be read beside them."""
    listed = [Path(paths)] if isinstance(paths, Path | str) else [Path(path) for path in paths]
    parts: list[Part] = []
    files: list[str] = []
    ignored: list[str] = []
    for path in listed:
        for file in sorted(_files(path)) if path.is_dir() else [path]:
            part = _read_file(file, is_searched=path.is_dir())
            (ignored if part is None else files).append(str(file))
            if part is not None:
                parts.append(part)
    contract, faults = unite(parts)
    return Reading(contract, faults, tuple(files), tuple(ignored))


def contract_from(document: object, name: str = "contract") -> Contract:
    """Build a contract from a decoded structure, such as a recording's line; raises ContractError."""
    contract, faults = unite([_from_document(to_node(document), name)])
    if faults:
        raise ContractError(faults)
    return contract


def plain_document(paths: Iterable[Path | str]) -> dict[str, Any] | None:
    """Return the structure of a contract of one file, as a recording holds it; None of several, or a faulty one."""
    files = read_contract(paths).files
    if len(files) != 1:
        return None
    path = Path(files[0])
    text = path.read_text(encoding="utf-8-sig")
    suffix = path.suffix.lower()
    if suffix in _MARKDOWN or (suffix not in _YAML | {".json"} and is_markdown(text)):
        document: Any = read_markdown(text, files[0])[0]
    else:
        document = parse_document(text, files[0], is_json=suffix == ".json")
    document = {"patterns": document} if isinstance(document, list) else document
    try:
        contract_from(copy.deepcopy(document))
    except ContractError:
        return None
    return dict(document) if isinstance(document, dict) else None


def read_text(text: str, file: str) -> Reading:
    """Read a contract from a text; the suffix of `file` tells what it is, else the text itself."""
    contract, faults = unite([_from_text(text, file)])
    return Reading(contract, faults, (file,))


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        inner = path.relative_to(folder).parts
        if any(part.startswith(".") or part in _SKIPPED for part in inner):
            continue
        is_there = path.is_file() or (path.is_symlink() and not path.exists())  # what leads nowhere is told
        if is_there and path.suffix.lower() in _YAML | _MARKDOWN | {".json"}:
            yield path


def _read_file(path: Path, *, is_searched: bool) -> Part | None:
    """Read one file; one that was only found in a folder, and declares nothing, is None."""
    file = str(path)
    try:
        status = path.stat()
        if not S_ISREG(status.st_mode):
            fault = Fault(file, None, "", "it is no regular file", "give a text file, or a folder that holds some")
            return Part(faults=(fault,))
        if status.st_size > _MOST_BYTES:
            if is_searched and not _is_named(path):
                return None
            message = f"it is {status.st_size:,} bytes long"
            return Part(faults=(Fault(file, None, "", message, "a contract is a file of at most 8 MB"),))
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        fault = Fault(file, None, "", f"it cannot be read: {reason}", "give a readable text file in UTF-8")
        return Part(faults=(fault,))
    if is_searched and not _declares(text, path):
        return None
    return _from_text(text, file)


def _declares(text: str, path: Path) -> bool:
    """Whether a file that was only found in a folder is a contract; one that breaks is, if its words say so."""
    if path.suffix.lower() in _MARKDOWN:
        document, faults = read_markdown(text, str(path))
        return bool(document or faults)
    is_named = _is_named(path)
    words = re.sub(r"[_-]", "", text.lower())
    if not is_named and not any(word in words for word in _WORDS):
        return False
    try:
        document = parse_document(text, str(path), is_json=path.suffix.lower() == ".json")
    except ContractError:
        return is_named or "partitionkey" in words or "querytype" in words
    return document is not None and (is_named or is_contract_like(document))


def _is_named(path: Path) -> bool:
    return any(hint in path.name.lower() for hint in _HINTS)


def _from_text(text: str, file: str) -> Part:
    suffix = Path(file).suffix.lower()
    if suffix in _MARKDOWN or (suffix not in _YAML | {".json"} and is_markdown(text)):
        document, faults = read_markdown(text, file)
        part = _judge(document, file)
        return Part(part.tables, part.callers, (*faults, *part.faults))
    try:
        return _from_document(parse_document(text, file, is_json=suffix == ".json"), file)
    except ContractError as error:
        return Part(faults=error.faults)


def _from_document(document: Any, file: str) -> Part:  # noqa: ANN401 (a document is what its author wrote)
    if isinstance(document, MapNode) and "access_pattern_mapping" in document:
        document = read_mapping(document)
    else:
        document = canonical(document)
    if not isinstance(document, MapNode):
        mend = "write `tables:`, or a list of patterns"
        return Part(faults=(Fault(file, 1, "", "a contract is a mapping, and this is none", mend),))
    return _judge(document, file)


def _judge(document: MapNode, file: str) -> Part:
    form, faults = validate(document, file)
    tables, callers, more = freeze(form, document, file)
    return Part(tables, callers, tuple(sorted((*faults, *more), key=lambda fault: (fault.line or 0, fault.field))))
