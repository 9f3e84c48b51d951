from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from analyzer.render.blocks import Block, Bullets, Commands, Facts, Grid, Heading, HeatGrid, Paragraph, Snippet
from analyzer.render.blocks_html import render_html_page
from analyzer.render.blocks_markdown import render_markdown_page
from analyzer.render.blocks_svg import drawn
from analyzer.render.blocks_text import render_text_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GRID = Grid(("name", "units", "why"), (("a", "12", "short"), ("bcd", "3", "long " * 40)), frozenset({1}))
PAGE: tuple[Block, ...] = (
    Heading("Capacity of t", 1),
    Paragraph("First."),
    Paragraph("keys first", is_warning=True),
    Heading("Ways"),
    GRID,
    Heading("A part", 3),
    Bullets(("one", "two")),
    Commands(("aws dynamodb list-tables",)),
)
FACTS: tuple[Block, ...] = (Heading("1. it", 3, "high"), Facts((("caller", "web"), ("do", "look"), ("or", "wait"))))
HOSTILE = "\x1b[31m<script>alert(1)</script> | *x* @all"


class Tags(HTMLParser):
    """Collects tags and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts += [f"{name}={value}" for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_text_keeps_its_width_and_numbers_stand_to_the_right() -> None:
    lines = render_text_page(PAGE).splitlines()
    assert lines[:3] == ["CAPACITY OF T", "First.", ""]
    assert max(map(len, lines)) <= 98
    assert "  a        12  short" in lines
    assert "! keys first" in lines
    assert "- one" in lines
    assert "  $ aws dynamodb list-tables" in lines
    assert "A part" in lines


def test_columns_give_way_down_to_their_longest_words() -> None:
    wide = Grid(tuple("abcdefghijkl"), (tuple("w" * 19 for _ in range(12)),))
    assert "w" * 19 in render_text_page((wide,))
    assert render_text_page((Grid(("", ""), ()),)) == "\n"


def test_markdown_has_headings_tables_and_code() -> None:
    text = render_markdown_page(PAGE)
    assert text.startswith(
        "# Capacity of t\n\nFirst.\n\n> **keys first**\n\n## Ways\n\n| name | units | why |\n| --- | ---: | --- |\n"
    )
    assert text.endswith("### A part\n\n- one\n- two\n\n    aws dynamodb list-tables\n")


def test_html_stands_alone() -> None:
    page = render_html_page(PAGE)
    seen = Tags()
    seen.feed(page)
    assert page.startswith("<!DOCTYPE html>")
    assert "script" not in seen.tags
    assert "link" not in seen.tags
    assert not [text for text in seen.texts if text.startswith(("src=", "href="))]
    assert {"h1", "h2", "h3", "table", "ul", "pre", "main"} <= set(seen.tags)
    assert "<title>Capacity of t</title>" in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert render_html_page(()).count("<title>Dynascope</title>") == 1


def test_facts_say_first_what_they_are_about() -> None:
    assert render_text_page(FACTS).splitlines() == ["1. it", "", "- caller: web", "- do: look", "- or: wait"]
    assert render_markdown_page(FACTS) == "### 1. it\n\n- **caller**: web\n- **do**: look\n- **or**: wait\n"
    html = render_html_page(FACTS)
    assert '<h3 class="high">1. it</h3>' in html
    assert '<li class="do"><b>do</b>\nlook</li>' in html


def test_a_cell_bears_its_head_for_narrow_screens_and_the_color_of_its_state() -> None:
    word = "w" * 25
    html = render_html_page(
        (Grid(("", "stands", "units"), ((word, "FAILED", "1"), ("a", "odd", "2")), frozenset({2}), 1),)
    )
    assert f'<td class="long">{word}</td>' in html
    assert '<td class="bad" data-head="stands">FAILED</td>' in html
    assert '<td data-head="stands">odd</td>' in html
    assert '<td class="number" data-head="units">1</td>' in html


def test_a_paragraph_that_introduces_stays_with_what_it_introduces() -> None:
    html = render_html_page((Paragraph("add:"), Snippet(("- id: a",)), Paragraph("so")))
    assert '<p class="lead">add:</p>' in html
    assert "<p>so</p>" in html


@pytest.mark.parametrize(
    "block",
    [
        Heading("n" * 300_000),
        Paragraph("n" * 300_000),
        Bullets(("a b" * 100_000,)),
        Facts((("do", "n " * 150_000),)),
        Grid(("n" * 300_000, "b"), (("n" * 300_000, "a-b " * 75_000),)),
        Commands(("n" * 300_000,)),
    ],
)
@pytest.mark.parametrize("render", [render_text_page, render_markdown_page, render_html_page])
def test_no_name_is_longer_than_a_page_bears(render: Callable[[Sequence[Block]], str], block: Block) -> None:
    page = render((block,))
    assert len(page) - len(render((Heading("n"),))) < 45_000
    assert "…" in page


@pytest.mark.parametrize(
    "block",
    [
        Heading(HOSTILE),
        Paragraph(HOSTILE),
        Bullets((HOSTILE,)),
        Facts(((HOSTILE, HOSTILE),)),
        Grid((HOSTILE,), ((HOSTILE,),)),
        Commands((HOSTILE,)),
    ],
)
def test_what_was_read_never_becomes_markup_or_steers_a_terminal(block: Block) -> None:
    assert "\x1b" not in render_text_page((block,))
    assert "<script>" not in render_html_page((block,))
    if not isinstance(block, Commands):
        assert "<script>" not in render_markdown_page((block,))


MAP = HeatGrid(
    title="Heat",
    labels=("carts CART#<id>", "a name that is far too long to stand beside a row"),
    notes=("carts: 80% at noon", HOSTILE),
    cells=((0.01, 0.01, None, 0.8, 1.2), (None, 0.1, 0.1, 0.3, 0.5)),
    ticks=((0, "Mon"), (3, "Tue")),
)


def test_steps_of_one_heat_that_follow_one_another_are_one_piece() -> None:
    drawing = drawn(MAP)
    paths = dict(drawing.paths)
    assert paths["h0"] == "M301 1h10v16h-10z"
    assert [paths[name].count("M") for name in ("h1", "h2", "h3", "h4", "h5")] == [1, 1, 1, 1, 1]
    assert (drawing.width, drawing.height) == (326, 58)
    assert drawing.texts[1].text.endswith("…")
    assert drawn(HeatGrid(title="", labels=(), notes=(), cells=())).width == 16


def test_a_map_is_drawn_in_html_and_said_nowhere_else() -> None:
    page = (Heading("A", 1), MAP, Snippet(("- id: a", "  operation: Query")))
    html = render_html_page(page)
    tags = Tags()
    tags.feed(html)
    assert tags.tags.count("svg") == 1
    assert "carts: 80% at noon" in tags.texts
    assert "alert(1)" in html
    assert "<script>" not in html
    assert render_markdown_page(page) == "# A\n\n    - id: a\n      operation: Query\n"
    assert render_text_page(page).splitlines() == ["A", "  - id: a", "    operation: Query"]
