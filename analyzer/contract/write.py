"""A drafted contract as YAML: what is a guess says so in a comment, what was set aside stands there commented out."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

if TYPE_CHECKING:
    from analyzer.contract.induce import Draft, SetAside

__all__ = ["write_contract"]

_HEADER = """\
# Access patterns as traffic showed them; edit this file, it is yours from here on.
# Rates are requests a second as observed: declare the peaks that you expect instead.
# Add what traffic cannot tell: owner, staleness_tolerance, items_per_key, per_key.top_share.
"""
_CONCEALED = """\
# <id>#<id> comes of keys whose words the log conceals: write them as they are, such as USER#<id>.
"""
_WORDLESS = re.compile(r"(?<![^\s{,])<id>(?:[#|/]<id>)+(?![#|/\w])")
_FLOW = frozenset({"key", "rate", "filter"})
_WIDTH = 110
_INDENT = 4


def write_contract(draft: Draft) -> str:
    """Return the YAML text of a draft; it loads as a contract and passes `dynascope check`."""
    document = _commented(draft.document)
    for table in document["tables"]:
        name = table["name"]
        _note(table, "partition_key", draft.notes.get(f"{name}.key"))
        left_out = draft.notes.get(f"{name}.patterns")
        if left_out is not None:
            table.yaml_set_comment_before_after_key("patterns", before=left_out, indent=_INDENT)
        for index in table.get("indexes", ()):
            _note(index, "partition_key", draft.notes.get(f"{name}.{index['name']}"))
        for pattern in table["patterns"]:
            _note(pattern, "id", draft.notes.get(f"{name}.{pattern['id']}"))
    text = _dump(document)
    return (
        _HEADER
        + (_CONCEALED if _WORDLESS.search(text) else "")
        + text
        + "".join(_aside(one) for one in draft.set_aside)
    )


def _note(node: CommentedMap, key: str, text: str | None) -> None:
    if text is not None:
        node.yaml_add_eol_comment(text, key)


def _aside(one: SetAside) -> str:
    lines = _dump(CommentedSeq([_commented(one.pattern)])).splitlines()
    told = f"\n# Seen on {one.table}, and not declared: {one.because}\n"
    return told + "".join(f"#{' ' * 5}{line}\n" for line in lines)


def _commented(value: Any, name: str = "") -> Any:  # noqa: ANN401 (any part of a document)
    if isinstance(value, dict):
        node = CommentedMap((key, _commented(member, key)) for key, member in value.items())
        if name in _FLOW:
            node.fa.set_flow_style()
        return node
    if isinstance(value, list):
        listed = CommentedSeq(_commented(member, "") for member in value)
        if all(isinstance(member, str) for member in value):
            listed.fa.set_flow_style()
        return listed
    return value


def _dump(node: Any) -> str:  # noqa: ANN401 (any part of a document)
    yaml = YAML(typ="rt", pure=True)
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = StringIO()
    yaml.dump(node, stream)
    return stream.getvalue()
