"""Blocks as one HTML file that needs nothing beside it: no script, no font, light and dark, ready to be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from analyzer.render.blocks import Heading
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
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #59636e; --line: #d1d9e0; --paper: #fff; --warn: #9a3412; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --faint: #9198a1; --line: #3d444d; --paper: #0d1117; --warn: #fdba74; }
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
pre { overflow-x: auto; padding: .7rem; border: 1px solid var(--line); font-size: .85rem; }
@media print {
  :root { --ink: #000; --faint: #444; --line: #bbb; --paper: #fff; --warn: #7c2d12; }
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
{% elif kind == "Commands" -%}
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
    title = next((plain(block.text) for block in blocks if isinstance(block, Heading)), "Dynascope")
    return environment.from_string(_PAGE).render(title=title, blocks=blocks)
