from __future__ import annotations

import re
from pathlib import Path

from analyzer.model.sight import Sight
from collectors.request_log.decoders.mapped import MappedDecoder
from collectors.request_log.decoders.mapping_file import FIELDS, read_mapping
from collectors.request_log.decoders.recognize import DECODERS

PAGE = (Path(__file__).parents[3] / "docs" / "collectors" / "request-log.md").read_text("utf-8")
COLUMNS = (
    Sight.REQUEST_KEYS,
    Sight.REQUEST_COUNTS,
    Sight.REQUEST_UNITS,
    Sight.REQUEST_FILTERS,
    Sight.REQUEST_SEQUENCES,
)


def test_the_table_of_the_page_says_of_every_shape_what_it_can_give() -> None:
    rows = dict(re.findall(r"^\| `(\w[\w-]*)` \| [^|]+ \| ((?:[^|]+ \| ){5})", PAGE, re.MULTILINE))
    told = {name: [word.strip() for word in cells.split("|")][:5] for name, cells in rows.items()}
    expected = {decoder.name: ["yes" if sight in decoder.sights else "no" for sight in COLUMNS] for decoder in DECODERS}
    assert told == expected | {MappedDecoder.name: ["as mapped"] * 5}


def test_the_mapping_on_the_page_is_one() -> None:
    text = re.search(r"^    when: .*?(?=\n\n`time`)", PAGE, re.DOTALL | re.MULTILINE)
    assert text is not None
    mapping = read_mapping(text[0].replace("\n    ", "\n").removeprefix("    ").encode(), "the page")
    assert {*mapping.fields, "key"} <= {*FIELDS}
    assert (list(mapping.key), mapping.operations) == (["PK"], {"load": "GetItem"})
