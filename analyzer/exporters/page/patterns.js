// The table of access patterns: how often, how much, how much for nothing, how slow, declared or not.

import { at, el, fill, svg } from "./dom.js";
import { look, state } from "./state.js";
import { compact, count, milliseconds, pattern_name, percent, place, share } from "./words.js";

const WIDE = 90;
const TALL = 18;
let everything = false;
const MOST = 12;

/** What a pattern is called in filters and in the address. */
export function pattern_id(line) {
  return line.pattern ?? line.fingerprint ?? pattern_name(line);
}

/** Show the patterns, the most units first; `lines` may carry `calls`, calls a second by slice. */
export function show_patterns(lines) {
  const total = lines.reduce((sum, line) => sum + (line.units ?? 0), 0);
  const ranked = [...lines].sort((a, b) => (b.units ?? 0) - (a.units ?? 0) || b.requests - a.requests);
  const kept = state.pattern === null ? ranked : ranked.filter((line) => pattern_id(line) === state.pattern);
  const is_cut = !everything && kept.length > MOST;
  const foreign = ranked.filter((line) => line.kind === "undeclared").length;
  fill(at("patterns-count"), state.pattern === null
    ? `${ranked.length}${foreign ? `, ${foreign} undeclared` : ", all declared"}`
    : `${kept.length} of ${ranked.length}`,
  state.pattern === null ? null : el("button", { type: "button", class: "link", text: "show all",
    onclick: () => look({ pattern: null, row: null, column: null }) }));
  const head = ["pattern", "declared", "where", "calls", "calls over time", "units", "share of units", "waste", "p99", "errors", "throttled"];
  fill(
    at("patterns-list"),
    kept.length === 0 ? el("p", { class: "quiet", text: "No requests were seen." })
      : el("table", {}, el("caption", { class: "unseen", text: "Access patterns, the most units first" }),
        el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col", text: name })))),
        el("tbody", {}, ...(is_cut ? kept.slice(0, MOST) : kept).map((line) => row(line, total)))),
    is_cut ? el("button", { type: "button", class: "link", "data-focus": "more patterns", text: `and ${kept.length - MOST} more`,
      onclick: () => { everything = true; show_patterns(lines); } }) : null,
  );
}

function row(line, total) {
  const id = pattern_id(line);
  const is_chosen = state.pattern === id;
  const part = total && line.units !== null ? line.units / total : null;
  const waste = line.units && line.waste_units !== null ? line.waste_units / line.units : null;
  const button = el("button", { type: "button", class: "link", "aria-pressed": is_chosen, "data-focus": `pattern ${id}`, text: pattern_name(line),
    title: line.text ?? null, onclick: () => look({ pattern: is_chosen ? null : id, row: null, column: null }, { is_step: true }) });
  return el("tr", { class: is_chosen ? "chosen" : null },
    el("th", { scope: "row" }, button),
    el("td", {}, line.kind === "declared" ? "yes" : el("span", { class: "flag", text: line.kind })),
    el("td", { text: line.table === null ? "" : place(line.table, line.index) }),
    number(compact(Math.round(line.requests)), bounds(line)),
    el("td", {}, line.calls ? spark(line.calls) : null),
    number(compact(line.units)),
    el("td", { class: "number" }, part === null ? "?" : el("span", { class: "share-part" }, bar(part), el("span", { text: percent(part) }))),
    number(waste === null ? "?" : share(waste), null, waste > 0.5),
    number(milliseconds(line.p99_ms)),
    number(compact(Math.round(line.errors)), null, line.errors > 0),
    number(compact(Math.round(line.throttled)), null, line.throttled > 0));
}

function bounds(line) {
  return line.requests_low === line.requests_high ? null : `between ${count(line.requests_low)} and ${count(line.requests_high)}`;
}

function number(text, title = null, is_bad = false) {
  return el("td", { class: is_bad ? "number bad" : "number", title, text });
}

/** A bar as wide as a share. */
export function bar(part) {
  const filled = svg("rect", { width: Math.max(1, 40 * Math.min(1, part)), height: 8, y: 1, class: "filled" });
  return svg("svg", { width: 40, height: 10, class: "share-bar", "aria-hidden": "true" },
    svg("rect", { width: 40, height: 8, y: 1, class: "empty" }), filled);
}

/** A line of numbers without axes; its title says how far it goes. */
export function spark(calls) {
  const known = calls.values.findIndex((one) => one !== null);
  const values = calls.values.slice(Math.max(0, known - 1)); // before, nobody looked
  const most = Math.max(...values.map((one) => one ?? 0), 1e-9);
  const step = WIDE / Math.max(1, values.length - 1);
  const points = values.map((one, index) => `${(index * step).toFixed(1)},${(TALL - 1 - ((one ?? 0) / most) * (TALL - 3)).toFixed(1)}`);
  return svg("svg", { width: WIDE, height: TALL, class: "spark", role: "img", "aria-label": `at most ${count(most)} a second` },
    svg("polyline", { points: points.join(" ") }));
}
