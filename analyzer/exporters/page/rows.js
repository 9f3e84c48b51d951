// How tall each row is: all alike where there is room, else those that say something taller than the others.

import { el } from "./dom.js";
import { end_of, shown_from } from "./heat.js";
import { clock, count, percent, share } from "./words.js";

const ROW_MOST = 30;
const ROW_READABLE = 13;
const LOUD = 16;
const QUIET_LEAST = 6;
const TALL = [248, 560];
const BESIDE = 440; // what else a screen shows above and below the rows
const WARM = 0.7;

/** Return the edges of the rows in pixels, one more than there are rows, and which rows are named. */
export function lay_out(map) {
  const room = Math.max(TALL[0], Math.min(TALL[1], window.innerHeight - BESIDE));
  const rows = map.rows.length;
  const even = Math.min(ROW_MOST, Math.floor(room / rows));
  if (even >= ROW_READABLE) return { edges: summed(Array(rows).fill(even)), named: Array(rows).fill(true) };
  const loud = loud_rows(map);
  const many = loud.filter(Boolean).length;
  const quiet = Math.max(QUIET_LEAST, Math.floor((room - many * LOUD) / Math.max(1, rows - many)));
  const edges = summed(loud.map((is_loud) => (is_loud ? LOUD : quiet)));
  return { edges, named: named_rows(map, loud, edges) };
}

/** Return the row at a height. */
export function row_at(edges, y) {
  const row = edges.findIndex((edge) => edge > y) - 1;
  return row < 0 ? (y < 0 ? 0 : edges.length - 2) : row;
}

/** Rows that are hot, refused, or of a shape of their own; of a map relative to itself those that take most. */
function loud_rows(map) {
  const shaped = new Set(map.labels.map((one) => one.row));
  const most = Math.max(...map.rows.map((row) => row.share));
  return map.rows.map((row, number) => shaped.has(number) || row.throttled > 0
    || (map.mode === "relative" ? row.share > most / 2 : (row.heat_max ?? 0) >= WARM));
}

/** Name loud rows, then those that take much, then those where a prefix begins, each where there is room beside the others. */
function named_rows(map, loud, edges) {
  const group = (row) => map.rows[row]?.label.split(/[#<·]/, 1)[0];
  const most = shares_scale(map);
  const worth = map.rows.map((row, number) => (loud[number] ? 3 : row.share > most / 2 ? 2 : group(number) !== group(number - 1) ? 1 : 0));
  const middle = (row) => (edges[row] + edges[row + 1]) / 2;
  const named = [];
  for (const least of [3, 2, 1]) {
    map.rows.forEach((_, row) => {
      if (worth[row] === least && named.every((one) => Math.abs(middle(one) - middle(row)) >= ROW_READABLE)) named.push(row);
    });
  }
  return map.rows.map((_, row) => named.includes(row));
}

/** Return the share at which bars end: that of the row that takes most, as an even percentage. */
export function shares_scale(map) {
  const most = Math.max(0.001, ...map.rows.map((row) => row.share_high));
  return Math.min(1, most < 0.1 ? Math.ceil(most * 100) / 100 : Math.ceil(most * 20) / 20);
}

/** Say of what and of which stretch the bars are, and where they end. */
export function share_words(map, most) {
  return ["share of units", el("br"), `${clock(shown_from(map), null, 16)}–${clock(end_of(map), null, 16)}`,
    el("br"), `bars 0–${share(most)},`, el("br"), "ticks: bounds"];
}

/** Make the bar of a row's share with its bounds; the number of a row that is named. */
export function share_bar(row, tall, is_named, most) {
  const [bar, edge] = [el("span", { class: "share-fill" }), el("span", { class: "share-edge" })];
  const wide = (part) => `${most > 0 ? (100 * part) / most : 0}%`;
  bar.style.width = wide(row.share);
  edge.style.left = wide(row.share_low);
  edge.style.width = wide(Math.max(0.005 * most, row.share_high - row.share_low));
  const made = el("li", { title: `${share(row.share)} [${share(row.share_low)}–${share(row.share_high)}] of units, ${count(row.units)}` },
    el("span", { class: "share-track" }, bar, edge), el("span", { class: "share-number", text: is_named ? percent(row.share) : "" }));
  made.style.height = `${tall}px`;
  return made;
}

function summed(heights) {
  return heights.reduce((edges, height) => [...edges, edges.at(-1) + height], [0]);
}
