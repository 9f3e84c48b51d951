// What is around the map: which target, reads or writes, which scale, back from a zoom, the legend, the table.

import { at, el, fill } from "./dom.js";
import { end_of } from "./heat.js";
import { back, pin } from "./map_input.js";
import { look, state } from "./state.js";
import { clock, compact, place, share } from "./words.js";

const LOOK_ALIKE = "· 1: most units of keys that look alike";

/** Show the controls for a map; `targets` are the API's, the hottest first. */
export function show_controls(targets, map) {
  const is_mixed = (name) => new Set(targets.map((one) => one[name])).size > 1;
  const [accounts, regions] = [is_mixed("account"), is_mixed("region")];
  const value_of = (one) => JSON.stringify([accounts ? one.account : null, regions ? one.region : null, one.table, one.index, one.direction]);
  const chosen = value_of(map);
  const listed = targets.map((one) => [value_of(one), [`${place(one.table, one.index)} ${one.direction}s`,
    one.heat?.value && `heat ${one.heat.value.toFixed(2)}`, one.throttled && "throttled", accounts && one.account, regions && one.region]
    .filter(Boolean).join(", ")]);
  if (!listed.some(([value]) => value === chosen)) listed.unshift([chosen, `${place(map.table, map.index)} ${map.direction}s`]);
  const select = el("select", { "aria-label": "Table or index, and direction", "data-focus": "target", onchange: () => {
    const [account, region, table, index, direction] = JSON.parse(select.value);
    look({ account, region, table, index: index ?? "", direction, row: null, column: null, pattern: null, from: null, to: null }, { is_step: true });
  } }, ...listed.map(([value, text]) => el("option", { value, text, selected: value === chosen })));
  fill(
    at("map-controls"),
    state.from === null ? null : el("button", { type: "button", "data-focus": "zoom out",
      text: `← back from ${clock(map.start)}–${clock(end_of(map))}`, onclick: back }),
    state.pattern === null && state.row === null ? null : el("button", { type: "button", "data-focus": "unpin",
      text: `✕ ${state.row ?? state.pattern}`, title: "let go of what is pinned (Esc)", onclick: () => look({ row: null, column: null, pattern: null }) }),
    select,
    toggle("relative", map.mode === "relative", () => look({ mode: map.mode === "relative" ? null : "relative" })),
    toggle("table", state.view === "table", () => look({ view: state.view === "table" ? null : "table" })),
  );
}

/** Show what is below the map: what a cell says, the legend, and where it is asked for, the table. */
export function show_foot(map, says) {
  fill(
    at("map-foot"), says,
    map.mode === "relative"
      ? el("p", { class: "legend" }, el("strong", { text: "Relative: " }), "0 ", ramp(),
        " the map's hottest cell. It says nothing about ceilings.", ...others())
      : el("p", { class: "legend" }, "0 ", ramp(), " 0.7 ", swatch("warm", "0.7–1.0"), swatch("hot", "1.0 and more"), "of one partition's ceiling", ...others()),
    state.view === "table" ? table(map) : null,
  );
}

function others() {
  return [" ", swatch("refused", "tries refused"), swatch("not-known", "not known"),
    LOOK_ALIKE];
}

function ramp() {
  return el("span", { class: "ramp", "aria-hidden": "true" });
}

function swatch(name, text) {
  return el("span", { class: "swatch-pair" }, el("span", { class: `swatch ${name}`, "aria-hidden": "true" }), ` ${text} `);
}

function toggle(text, is_on, act) {
  return el("button", { type: "button", class: "toggle", "aria-pressed": String(is_on), "data-focus": text, text, onclick: act });
}

function table(map) {
  const head = ["key", "pattern", "caller", "share of units", "hottest", "at", "refused"];
  const relative = map.mode === "relative";
  return el("div", { class: "scroll map-table", tabindex: "0", role: "region", "aria-label": "The map as a table" }, el("table", {},
    el("caption", { class: "unseen", text: "The map as a table, in the order of its rows" }),
    el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col", text: name })))),
    el("tbody", {}, ...map.rows.map((row, number) => el("tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", text: row.label, "data-focus": `row ${row.label}`,
        "aria-pressed": String(state.row === row.label), onclick: () => pin(map, { row: number, column: null }) })),
      el("td", { text: row.pattern ?? "" }), el("td", { text: row.caller ?? "" }),
      el("td", { class: "number", text: `${share(row.share)} [${share(row.share_low)}–${share(row.share_high)}]` }),
      el("td", { class: "number", text: row.heat_max === null ? "?" : relative ? share(row.heat_max) : row.heat_max.toFixed(2) }),
      el("td", { class: "number", text: clock(row.heat_max_at) }),
      el("td", { class: "number", text: compact(row.throttled) }))))));
}
