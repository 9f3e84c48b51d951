// The map of heat: keys by time, drawn, labelled, and kept up to date.

import { get } from "./api.js";
import { at, el, fill } from "./dom.js";
import { cell_words, column_of, decode, end_of, is_hot_now, is_over_now, map_title, matrix, patched, shown_from, time_of } from "./heat.js";
import { listen } from "./map_input.js";
import { show_controls, show_foot } from "./map_controls.js";
import { draw_overlay } from "./overlay.js";
import { color, draw, scale } from "./plot.js";
import { lay_out, row_at, share_bar, share_words, shares_scale } from "./rows.js";
import { state } from "./state.js";
import { clock, count } from "./words.js";

const FINE_MS = 10 * 60_000;
const AXIS = 22;
const TOP = 50;
const FLAT = 5;
const NEAR = 0.04; // of the width: closer marks share one text
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const KINDS = { "all-rows-jump": "rows jump together" };
const KEYS = "Arrow keys move, Shift and arrows select a stretch, Enter pins or zooms, Escape goes back. The button table shows it in words.";

let map = null;
let parts = null; // the elements of the frame
let cursor = null;
let brush = null;
let turn = 0;

/** The map that is shown, null before the first. */
export function current_map() {
  return map;
}

/** What of the map is asked for, as the API's parameters. */
export function map_query() {
  const is_zoomed = state.from !== null && state.to !== null;
  const is_fine = is_zoomed && Date.parse(state.to) - Date.parse(state.from) <= FINE_MS;
  return { account: state.account, region: state.region, table: state.table, index: state.index || null,
    direction: state.direction, mode: state.mode ?? "ceiling",
    since: is_zoomed ? state.from : null, until: is_zoomed ? state.to : null, step: is_fine ? "1s" : null };
}

/** Fetch the map that is asked for, and show it. */
export async function load_map(targets) {
  turn += 1;
  const mine = turn;
  const asked = map_query();
  const told = await fetch_map(asked);
  if (mine !== turn) return;
  const kept = map !== null && map.rows_id === told.map.rows_id && cursor !== null
    ? { row: cursor.row, column: column_of(told.map, time_of(map, cursor.column)) } : null;
  map = told.map;
  show_controls(targets, map);
  if (map.rows.length === 0) return show_empty();
  build(told);
  point(kept, null);
  await redraw(told.figures);
}

/** Take the columns of an update; returns false where the map has to be fetched anew. */
export function take_columns(update) {
  if (map === null) return false;
  if (state.from !== null) return true;
  const made = patched(map, update);
  if (made === null) return false;
  if (cursor !== null) cursor = { ...cursor, column: column_of(made, time_of(map, cursor.column)) };
  map = made;
  if (parts !== null) redraw(parts.figures);
  return true;
}

/** Draw again what depends on what is chosen, or on the colors. */
export async function redraw(figures = parts?.figures) {
  if (parts === null || map === null) return;
  parts.figures = figures;
  const tall = parts.edges.at(-1);
  const x = { type: "date", range: [shown_from(map), end_of(map)], autorange: false };
  const [trace, ...rest] = figures.heatmap.data.filter((one) => one.type === "heatmap");
  const cells = { ...trace, ...(rest[0] ?? {}), z: matrix(map), x: undefined, y: parts.edges, x0: map.at + map.step_ms / 2, dx: map.step_ms,
    colorscale: scale(map.mode), zmin: 0, zmax: map.mode === "relative" ? 100 : 250, zauto: false, showscale: false,
    hoverinfo: "none", xgap: 0, ygap: 1, text: undefined, customdata: undefined };
  await Promise.all([
    draw(parts.heat, { data: [cells], layout: {} }, { height: tall + AXIS, margin: { l: 0, r: 0, t: 0, b: AXIS },
      layout: { xaxis: { ...x, showgrid: false, nticks: 8, tickformat: tick_format() }, shapes: [], annotations: [],
        yaxis: { range: [tall, 0], autorange: false, showgrid: false, showticklabels: false } } }),
    draw(parts.top, top_figure(figures.top), { height: TOP, margin: { l: 0, r: 0, t: 4, b: 1 },
      layout: { xaxis: { ...x, showticklabels: false, showgrid: false }, annotations: [],
        yaxis: { range: top_range(), autorange: false, showgrid: false, showticklabels: false } } }),
  ]);
  draw_marks();
  over();
}

/** Draw the overlay anew, and say what is under the cursor or pinned. */
export function over() {
  if (parts === null || map === null) return;
  const pin = pinned_cell();
  draw_overlay(parts.overlay, map, parts.edges, { cursor, pin, brush, pattern: state.pattern });
  const told = cursor ?? pin;
  if (told === null) fill(parts.says, el("span", { class: "quiet" }, "Point at a cell, or move by the arrow keys. ", ...with_code(map.how_to_see ?? "")));
  else {
    const column = told.column ?? column_of(map, Date.parse(map.rows[told.row].heat_max_at ?? map.start));
    const [name, more] = cell_words(map, told.row, column);
    fill(parts.says, el("strong", { text: name }), ` ${more.join(" · ")}`);
  }
  parts.labels.forEach((one, row) => {
    one.classList.toggle("hot", is_over_now(map, row));
    one.classList.toggle("chosen", row === pin?.row);
    one.classList.toggle("pointed", row === cursor?.row);
    one.classList.toggle("dim", state.pattern !== null && map.rows[row].pattern !== state.pattern && map.rows.some((each) => each.pattern === state.pattern));
  });
}

/** Return a text in which what stands between backticks is code. */
function with_code(text) {
  return text.split("`").map((one, number) => (number % 2 ? el("code", { text: one }) : one));
}

/** Move the cursor (null: away), or change the brush. */
export function point(to, selected = brush) {
  cursor = to;
  brush = selected;
  over();
}

export function pointed() {
  return { cursor, brush };
}

async function fetch_map(asked) {
  const fetch_all = async (query) => {
    const [told, heatmap, top] = await Promise.all([get("/api/v1/heatmap", query),
      get("/api/v1/figures/heatmap", query), get("/api/v1/figures/top", query)]);
    return { map: decode(told), figures: { heatmap, top } };
  };
  try {
    return await fetch_all(asked);
  } catch (error) {
    if (asked.step !== "1s" || error.status !== 400) throw error;
    return fetch_all({ ...asked, step: null }); // no seconds are kept of that stretch
  }
}

function show_empty() {
  parts = null;
  fill(at("map-says"), el("strong", { text: map_title(map) }));
  fill(at("map-frame"), el("p", { class: "quiet", text: map.hint ?? "No keys were seen here in this stretch." }));
  fill(at("map-foot"));
}

function build({ figures }) {
  const { edges, named } = lay_out(map);
  const tall = map.rows.map((_, number) => edges[number + 1] - edges[number]);
  const most_share = shares_scale(map);
  const labels = map.rows.map((row, number) => label(row, number, tall[number], named[number]));
  const overlay = el("canvas", { class: "overlay", "aria-hidden": "true" });
  const box = el("div", { class: "cells", tabindex: "0", role: "application", "aria-roledescription": "heat map", "data-focus": "cells",
    "aria-label": `${map_title(map)}. ${KEYS}`,
    "aria-describedby": "cell-says" }, overlay);
  const says = el("p", { id: "cell-says", class: "cell-says", "aria-live": "polite" });
  const [heat, top] = [el("div", { class: "heat" }), el("div", { class: "top" })];
  const marks = el("div", { class: "marks" });
  box.style.height = `${edges.at(-1)}px`;
  fill(at("map-frame"),
    el("p", { class: "top-says" }, ...top_words()),
    el("div", { class: "top-box" }, top, marks),
    el("p", { class: "share-says" }, ...share_words(map, most_share)),
    el("div", { class: "labels" }, ...labels), el("div", { class: "heat-box" }, heat, box),
    el("ol", { class: "shares", "aria-hidden": "true" }, ...map.rows.map((row, number) => share_bar(row, tall[number], named[number], most_share))));
  const events = el("span", { class: "events" });
  fill(at("map-says"), ...shape_words(), events);
  parts = { heat, top, overlay, box, says, labels, marks, events, figures, edges };
  show_foot(map, says);
  listen(box, () => map, (y) => row_at(edges, y));
}

function label(row, number, tall, is_named) {
  const made = el("button", { type: "button", tabindex: "-1", class: is_named ? "label" : "label hush",
    title: [row.label, row.pattern, row.caller].filter(Boolean).join(" · "), "data-row": number, text: row.label });
  made.style.height = `${tall}px`;
  made.style.lineHeight = `${tall}px`;
  return made;
}

function shape_words() {
  const young = map.skip === 0 ? "" : ` Nothing is known from before ${clock(time_of(map, map.known))}.`;
  if (map.labels.length === 0) return [el("span", { class: "quiet", text: `${map_title(map)}. No shape stands out.${young}` })];
  return map.labels.map((one, number) => el("span", { class: is_hot_now(map, one) ? "shape now" : "shape" },
    el("span", { class: "tag", text: String(number + 1) }), " ", el("strong", { text: KINDS[one.kind] ?? one.kind.replaceAll("-", " ") }),
    ` ${one.row === null ? "" : `${map.rows[one.row].label}: `}${one.text}`));
}

/** Mark what happened by a letter over its line; what it was stands above the map, where texts do not meet. */
function draw_marks() {
  const [from, to] = [shown_from(map), end_of(map)];
  const marks = map.marks.map((one) => ({ ...one, time: Date.parse(one.at) })).filter(({ time }) => time >= from && time < to);
  const groups = clusters(marks, (to - from) * NEAR).slice(-LETTERS.length);
  fill(parts.marks, ...groups.map(([first], number) => {
    const made = el("span", { class: "mark" }, el("span", { class: "mark-tag", text: LETTERS[number] }));
    made.style.left = `${(100 * (first.time - from)) / (to - from)}%`;
    return made;
  }));
  fill(parts.events, ...groups.map((near, number) => el("span", { class: "event", title: near.map((one) => `${clock(one.at)} UTC ${one.what}`).join("\n") },
    el("span", { class: "mark-tag", text: LETTERS[number] }), ` ${clock(near[0].at, null, 16)} ${near[0].what}${others_words(...near)}`)));
}

/** Say what else lies close to a mark: of what began the first, of all else how many. */
function others_words(first, ...others) {
  if (others.length === 0) return "";
  if (began(first) || !others.every(began)) return ` and ${others.length} more`;
  return `, then ${others[0].what}`;
}

function began(mark) {
  return mark.kind === "finding";
}

/** Say what the lines of the target's own units are, in its colors. */
function top_words() {
  const most = Math.max(...map.top.units.map((one) => one ?? 0));
  const line = (name, ...texts) => [el("br"), el("span", { class: `line ${name}`, "aria-hidden": "true" }), " ", ...texts];
  return [`${map.direction} units a second`, el("br"), `${map.step_ms / 1000}-s mean, up to ${count(Math.round(most))}`,
    ...(map.top.limit === null ? [] : line("limit", `provisioned ${count(map.top.limit)}`,
      map.top.limits.length > 1 ? el("span", { class: "beside", text: " now" }) : "")),
    ...(map.top.ceiling > FLAT * most ? [] : line("one", `one partition ${count(map.top.ceiling)}`))];
}

/** Put marks that lie close to one another together, changes before findings that began. */
function clusters(marks, near) {
  const found = [];
  for (const mark of marks.sort((a, b) => a.time - b.time)) {
    const last = found.at(-1);
    if (last && mark.time - last[0].time <= near) last.push(mark);
    else found.push([mark]);
  }
  return found.map((group) => group.sort((a, b) => began(a) - began(b)));
}

/** Return the figure of the target's own units: the line as of now, limits as lines across. */
function top_figure(figure) {
  const x = map.top.units.map((_, column) => time_of(map, column) + map.step_ms / 2);
  const [first] = figure.data;
  const line = { ...first, x, y: map.top.units, line: { ...first?.line, color: color("heat-3"), width: 1.5 }, fillcolor: color("fill") };
  const limits = (figure.layout.shapes ?? []).filter((one) => one.name === "limit" || one.name === "ceiling").map((one) => ({ ...one,
    line: { ...one.line, color: color(one.line.dash === "solid" ? "hot-ink" : "quiet") } }));
  const now = limits.findLast((one) => one.name === "limit");
  if (now && map.top.limit !== null) now.x1 = end_of(map); // the map has moved on since the figure was made
  return { data: [line], layout: { ...figure.layout, shapes: limits } };
}

/** Return how far up the units go: to the limit too, where that does not press them flat. */
function top_range() {
  const most = Math.max(1, ...map.top.units.map((one) => one ?? 0));
  const limits = [map.top.limit, ...map.top.limits.map((one) => one.units), map.top.ceiling].filter((one) => one !== null && one <= FLAT * most);
  return [0, 1.08 * Math.max(most, ...limits)];
}

function tick_format() {
  return end_of(map) - shown_from(map) <= FINE_MS ? "%H:%M:%S" : "%H:%M";
}

/** Return the row of a finding's key, the hottest where several look the same; null where it is not on the map. */
export function row_of(finding) {
  if (map === null || finding.key === null) return null;
  const key = JSON.stringify(finding.key);
  const rows = map.rows.filter((row) => row.kind === "key" && JSON.stringify(row.key) === key);
  return rows.sort((a, b) => (b.heat_max ?? 0) - (a.heat_max ?? 0))[0]?.label ?? null;
}

function pinned_cell() {
  if (state.row === null) return null;
  const row = map.rows.findIndex((one) => one.label === state.row);
  if (row < 0) return null;
  const time = state.column === null ? null : Date.parse(state.column);
  const is_inside = time !== null && time >= map.at && time < end_of(map);
  return { row, column: is_inside ? column_of(map, time) : null };
}
