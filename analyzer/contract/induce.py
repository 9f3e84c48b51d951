"""A first contract from traffic: what was asked, by whom, how often; a file for its owners to edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.contract.draft import Draft, SetAside, Unsure
from analyzer.contract.induce_table import TableDraft
from analyzer.contract.lint import lint
from analyzer.contract.load import contract_from
from analyzer.contract.seen import gather
from analyzer.contract.union import Part, unite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.contract.evidence import Evidence
    from analyzer.contract.model import Contract, IndexDeclaration

__all__ = ["induce"]

_HEAT_RULES = frozenset({"peak-over-ceiling", "constant-index-key"})
_KEPT = frozenset({"scan-pattern"})
"""A Scan that happens is declared: `check` asks its owners why, and `analyze` still tells what it costs."""


def induce(evidence: Evidence) -> Draft:
    """Draft what these requests keep of a contract and the known one lacks.

    What `check` would fail is set aside with the reason, but for Scans.
    """
    tables = gather(evidence.counts, evidence.declared_name, evidence.is_undeclared)
    drafts = [TableDraft(name, seen, evidence).draft() for name, seen in tables.items()]
    whole = Draft(
        {"version": 1, "tables": [table for draft in drafts for table in draft.document["tables"]]},
        tuple(one for draft in drafts for one in draft.set_aside),
        tuple(one for draft in drafts for one in draft.unsure),
        {table: count for draft in drafts for table, count in draft.left_out.items()},
    )
    return _checked(whole, evidence.known)


def _checked(draft: Draft, known: Contract) -> Draft:
    """Set aside what `check` fails, until nothing is left that it would, but for Scans and what was declared before."""
    aside: list[SetAside] = []
    unsure = list(draft.unsure)
    tables = {table["name"]: table for table in draft.document["tables"]}
    failing = True
    while failing:
        failing = False
        for remark in lint(_with_known(draft.document, known)):
            patterns = tables[remark.table]["patterns"] if remark.table in tables else []
            pattern = next((p for p in patterns if p["id"] == remark.field), None)
            if remark.severity != "fail" or pattern is None or remark.rule in _KEPT:
                continue
            failing = True
            if remark.rule in _HEAT_RULES and pattern.pop("rate", None) is not None:
                unsure.append(Unsure(remark.table, "patterns", remark.field, "id", f"no rate: {remark.message}"))
                continue
            patterns.remove(pattern)
            aside.append(SetAside(remark.table, pattern, f"{remark.message}; {remark.mend}"))
    gone = {(one.table, one.pattern["id"]) for one in aside}
    kept = tuple(one for one in unsure if one.part != "patterns" or (one.table, one.name) not in gone)
    return msgspec.structs.replace(draft, set_aside=(*aside, *draft.set_aside), unsure=kept)


def _with_known(document: Mapping[str, Any], known: Contract) -> Contract:
    """Return the contract that a document makes together with what is declared already."""
    if not known.tables:
        return contract_from(document)
    tables = []
    for table in document["tables"]:
        declared = next((one for one in known.tables if one.name == table["name"]), None)
        beside = [] if declared is None else [_index_of(index) for index in declared.indexes]
        tables.append(table | {"indexes": [*table.get("indexes", ()), *beside]})
    drafted = contract_from({**document, "tables": tables})
    return unite([Part(known.tables, known.callers), Part(drafted.tables)])[0]


def _index_of(index: IndexDeclaration) -> dict[str, Any]:
    return {
        "name": index.name,
        "kind": index.kind,
        "partition_key": [*index.partition_key],
        "sort_key": [*index.sort_key],
    }
