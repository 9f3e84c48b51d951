"""Blocks as one HTML file that needs nothing beside it: no script, no font, light and dark, ready to be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from analyzer.render.blocks import Heading
from analyzer.render.blocks_svg import drawn
from analyzer.render.words import copied, readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.render.blocks import Block, Grid

__all__ = ["render_html_page"]

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #59636e; --line: #d1d9e0; --paper: #fff; --warn: #9a3412;
  --good: #116329; --bad: #b42318;
  --h0: #e9f0f5; --h1: #b5d3df; --h2: #6fabbf; --h3: #2f7f96; --h4: #f2a900; --h5: #c2172c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --faint: #9198a1; --line: #3d444d; --paper: #0d1117; --warn: #fdba74;
    --good: #7ee787; --bad: #ff8f8a;
    --h0: #14263a; --h1: #1c4c63; --h2: #2f7f8f; --h3: #5fb3a1; --h4: #f2a900; --h5: #ff5a5f; }
}
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
h1, h2, h3, p, li, td.long { overflow-wrap: anywhere; }
h3.critical, h3.high { border-left: 4px solid var(--bad); padding-left: .6rem; }
h3.medium { border-left: 4px solid var(--warn); padding-left: .6rem; }
h3.low { border-left: 4px solid var(--faint); padding-left: .6rem; }
.facts { list-style: none; padding: 0; margin: .4rem 0 0; }
.facts li { padding-left: 5.5rem; margin: .15rem 0; }
.facts b { float: left; width: 5rem; margin-left: -5.5rem; color: var(--faint); font-weight: 600; }
.facts .do b { color: var(--ink); }
.grid { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
td:first-child { min-width: 6rem; } td.long { min-width: 9rem; }
th { color: var(--faint); font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .unknown { color: var(--faint); }
.warning { color: var(--warn); font-weight: 600; border-left: 4px solid var(--warn); padding-left: .7rem; }
.heat { display: block; } .heat text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.heat .row { text-anchor: end; } .heat .tick { stroke: var(--line); fill: none; } .heat .over { fill: transparent; }
.h0 { fill: var(--h0); background: var(--h0); } .h1 { fill: var(--h1); background: var(--h1); }
.h2 { fill: var(--h2); background: var(--h2); } .h3 { fill: var(--h3); background: var(--h3); }
.h4 { fill: var(--h4); background: var(--h4); } .h5 { fill: var(--h5); background: var(--h5); }
.legend { color: var(--faint); font-size: .85rem; margin: .4rem 0 1rem; }
.legend span { white-space: nowrap; margin-right: .8rem; }
.legend i { display: inline-block; width: .9rem; height: .9rem; vertical-align: -.1rem; border: 1px solid var(--line);
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
pre { overflow-x: auto; padding: .7rem; border: 1px solid var(--line); font-size: .85rem; }
@media screen and (max-width: 40rem) {
  body { margin: 1rem auto; } h1 { font-size: 1.4rem; }
  .facts li { padding-left: 5.2rem; } .facts b { width: 5rem; margin-left: -5.2rem; }
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td { border: 0; padding: .1rem 0; overflow-wrap: anywhere; } td:empty { display: none; }
  td.number { text-align: left; white-space: normal; }
  td:first-child { font-weight: 600; }
  td[data-head]:not(:first-child)::before { content: attr(data-head) ": "; color: var(--faint); font-weight: 400; }
}
@page { margin: 14mm; }
@media print {
  :root { color-scheme: light; --ink: #000; --faint: #444; --line: #bbb; --paper: #fff; --warn: #7c2d12;
    --good: #116329; --bad: #9b1c13;
    --h0: #e9f0f5; --h1: #b5d3df; --h2: #6fabbf; --h3: #2f7f96; --h4: #f2a900; --h5: #c2172c; }
  .heat { width: 100%; height: auto; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { margin: 0; padding: 0; max-width: none; font-size: 9.5pt; line-height: 1.4; }
  .grid, pre { overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  h2 { margin-top: 1.1rem; } h3 { margin-top: .9rem; } p { margin: .6rem 0; }
  table { font-size: 8.5pt; } th, td { padding: .15rem .5rem; }
  tr, li, pre, .heat, .facts { break-inside: avoid; } h1, h2, h3, .lead { break-after: avoid; }
  .legend { break-before: avoid; }
  tbody tr:nth-child(-n+3), tbody tr:nth-last-child(-n+3):not(:last-child) { break-after: avoid; }
  p { orphans: 3; widows: 3; }
}
</style>
</head>
<body>
<main>
{% for block in blocks -%}
{% set kind = block.__class__.__name__ -%}
{% if kind == "Heading" -%}
<h{{ block.level }}{% if block.mark %} class="{{ block.mark }}"{% endif %}>{{ block.text | text -}}
</h{{ block.level }}>
{% elif kind == "Paragraph" -%}
<p{% if block.is_warning %} class="warning"{% elif loop.nextitem.__class__.__name__ in bound %} class="lead"{% endif %}>
{{- block.text | text }}</p>
{% elif kind == "Bullets" -%}
<ul>
{% for item in block["items"] %}<li>{{ item | text }}</li>
{% endfor %}</ul>
{% elif kind == "Facts" -%}
<ul class="facts">
{% for label, text in block.rows %}<li{% if label in ("do", "or") %} class="do"{% endif %}><b>{{ label | text }}</b>
{{ text | text }}</li>
{% endfor %}</ul>
{% elif kind == "HeatGrid" -%}
{% set heat = drawn(block) -%}
<div class="grid" tabindex="0" role="region" aria-label="{{ block.title | text }}">
<svg class="heat" role="img" viewBox="0 0 {{ heat.width }} {{ heat.height }}"
  width="{{ heat.width }}" height="{{ heat.height }}">
<title>{{ block.title | text }}</title>
{% for line in heat.lines %}<path class="tick" d="{{ line }}"/>
{% endfor %}{% for name, path in heat.paths %}<path class="{{ name }}" d="{{ path }}"/>
{% endfor %}{% for one in heat.texts -%}
<text x="{{ one.x }}" y="{{ one.y }}" class="{{ one.name }}">{{ one.text | text }}</text>
{% endfor %}{% for row in heat.rows -%}
<rect class="over" y="{{ row.y }}" width="{{ heat.width }}" height="{{ row.height }}"><title>{{ row.text | text -}}
</title></rect>
{% endfor %}</svg></div>
<p class="legend">{% for name, text in heat.legend %}<span><i class="{{ name }}"></i> {{ text }}</span> {% endfor %}</p>
{% elif kind in ("Commands", "Snippet") -%}
<pre tabindex="0">{% for line in block.lines %}{{ line | code }}
{% endfor %}</pre>
{% else -%}
<div class="grid" tabindex="0" role="region" aria-label="table"><table>
<thead><tr>{% for cell in block.head %}
<th scope="col"{% if loop.index0 in block.numeric %} class="number"{% endif %}>{{ cell | text }}</th>
{% endfor %}</tr></thead>
<tbody>
{% for row in block.rows %}<tr>{% for cell in row %}
<td{{ class_of(block, loop.index0, cell) | xmlattr }}
{%- if block.head[loop.index0] %} data-head="{{ block.head[loop.index0] | text }}"{% endif %}>{{ cell | text }}</td>
{%- endfor %}</tr>
{% endfor %}</tbody>
</table></div>
{% endif -%}
{% endfor -%}
</main>
</body>
</html>
"""


_STATES = {"FAILED": "bad", "proved": "good", "declared": "good", "not observable": "unknown"}
_BOUND = frozenset({"Snippet", "Commands", "Grid", "HeatGrid", "Bullets"})
"""What a paragraph right before it introduces: print keeps both on one page."""


_LONG = 24
"""Characters of a word that a column may break anywhere: shorter ones stay whole, and lines up."""


def _class_of(grid: Grid, column: int, cell: str) -> dict[str, str]:
    """Return the class of a cell as an attribute; nothing where it has none."""
    name = "number" if column in grid.numeric else _STATES.get(cell, "") if column == grid.state else ""
    if not name and max(map(len, cell.split()), default=0) > _LONG:
        name = "long"
    return {"class": name} if name else {}


def render_html_page(blocks: Sequence[Block]) -> str:
    """Write a page as HTML; every text is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters |= {"text": readable, "code": copied}
    environment.globals |= {"drawn": drawn, "class_of": _class_of, "bound": _BOUND}
    title = next((readable(block.text) for block in blocks if isinstance(block, Heading)), "Dynascope")
    return environment.from_string(_PAGE).render(title=title, blocks=blocks)
