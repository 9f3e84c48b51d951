"""Blocks as one HTML file that needs nothing beside it: no script, no font, light and dark, ready to be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from analyzer.render.blocks import Heading
from analyzer.render.blocks_svg import drawn
from analyzer.render.words import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.render.blocks import Block

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
  --h0: #e9f0f5; --h1: #b5d3df; --h2: #6fabbf; --h3: #2f7f96; --h4: #f2a900; --h5: #c2172c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --faint: #9198a1; --line: #3d444d; --paper: #0d1117; --warn: #fdba74;
    --h0: #14263a; --h1: #1c4c63; --h2: #2f7f8f; --h3: #5fb3a1; --h4: #f2a900; --h5: #ff5a5f; }
}
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
.grid { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
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
@media print {
  :root { --ink: #000; --faint: #444; --line: #bbb; --paper: #fff; --warn: #7c2d12;
    --h0: #e9f0f5; --h1: #b5d3df; --h2: #6fabbf; --h3: #2f7f96; --h4: #f2a900; --h5: #c2172c; }
  .heat { width: 100%; height: auto; }
  body { margin: 0; max-width: none; font-size: 10pt; }
  .grid, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
  tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
}
</style>
</head>
<body>
<main>
{% for block in blocks -%}
{% set kind = block.__class__.__name__ -%}
{% if kind == "Heading" -%}
<h{{ block.level }}>{{ block.text | plain }}</h{{ block.level }}>
{% elif kind == "Paragraph" -%}
<p{% if block.is_warning %} class="warning"{% endif %}>{{ block.text | plain }}</p>
{% elif kind == "Bullets" -%}
<ul>
{% for item in block["items"] %}<li>{{ item | plain }}</li>
{% endfor %}</ul>
{% elif kind == "HeatGrid" -%}
{% set heat = drawn(block) -%}
<div class="grid" tabindex="0" role="region" aria-label="{{ block.title | plain }}">
<svg class="heat" role="img" viewBox="0 0 {{ heat.width }} {{ heat.height }}"
  width="{{ heat.width }}" height="{{ heat.height }}">
<title>{{ block.title | plain }}</title>
{% for line in heat.lines %}<path class="tick" d="{{ line }}"/>
{% endfor %}{% for name, path in heat.paths %}<path class="{{ name }}" d="{{ path }}"/>
{% endfor %}{% for one in heat.texts -%}
<text x="{{ one.x }}" y="{{ one.y }}" class="{{ one.name }}">{{ one.text | plain }}</text>
{% endfor %}{% for row in heat.rows -%}
<rect class="over" y="{{ row.y }}" width="{{ heat.width }}" height="{{ row.height }}"><title>{{ row.text | plain -}}
</title></rect>
{% endfor %}</svg></div>
<p class="legend">{% for name, text in heat.legend %}<span><i class="{{ name }}"></i> {{ text }}</span> {% endfor %}</p>
{% elif kind in ("Commands", "Snippet") -%}
<pre tabindex="0">{% for line in block.lines %}{{ line | plain }}
{% endfor %}</pre>
{% else -%}
<div class="grid" tabindex="0" role="region" aria-label="table"><table>
<thead><tr>{% for cell in block.head %}
<th scope="col"{% if loop.index0 in block.numeric %} class="number"{% endif %}>{{ cell | plain }}</th>
{% endfor %}</tr></thead>
<tbody>
{% for row in block.rows %}<tr>{% for cell in row %}
<td{% if loop.index0 in block.numeric %} class="number"{% endif %}>{{ cell | plain }}</td>
{%- endfor %}</tr>
{% endfor %}</tbody>
</table></div>
{% endif -%}
{% endfor -%}
</main>
</body>
</html>
"""


def render_html_page(blocks: Sequence[Block]) -> str:
    """Write a page as HTML; every text is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["plain"] = plain
    environment.globals["drawn"] = drawn
    title = next((plain(block.text) for block in blocks if isinstance(block, Heading)), "Dynascope")
    return environment.from_string(_PAGE).render(title=title, blocks=blocks)
