// Pointer and keyboard on the map: point, pin, select a stretch to zoom into, and go back.

import { hottest, time_of } from "./heat.js";
import { point, pointed } from "./map.js";
import { look, state } from "./state.js";

const STRIDE = 10;
const LEAST_PIXELS = 6;
const before = []; // stretches that were left by zooming in

/** Listen on the box of cells; `map_of` returns the map that is shown, `row_of` the row at a height. */
export function listen(box, map_of, row_of) {
  const cell_at = (event) => {
    const [{ columns, skip }, edge] = [map_of(), box.getBoundingClientRect()];
    const column = skip + Math.floor(((event.clientX - edge.left) / edge.width) * (columns - skip));
    return { row: row_of(event.clientY - edge.top), column: Math.max(skip, Math.min(columns - 1, column)) };
  };
  let start = null;
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = { x: event.clientX, ...cell_at(event) };
    if (event.pointerType !== "touch") box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    const is_brushing = start !== null && event.pointerType !== "touch" && Math.abs(event.clientX - start.x) > LEAST_PIXELS;
    const to = cell_at(event);
    point(to, is_brushing ? { from: start.column, to: to.column } : null);
  });
  box.addEventListener("pointerup", (event) => {
    if (start === null) return;
    start = null;
    const { brush } = pointed();
    if (brush === null) pin(map_of(), cell_at(event));
    else zoom(map_of(), brush);
  });
  box.addEventListener("pointercancel", () => { start = null; point(null, null); });
  box.addEventListener("pointerleave", () => { if (start === null && document.activeElement !== box) point(null, null); });
  box.addEventListener("blur", () => point(null, null));
  box.addEventListener("focus", () => { if (start === null && pointed().cursor === null) point(first_cell(map_of()), null); });
  box.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && press(event, map_of())) event.preventDefault();
  });
}

/** Pin a row, or let it go; what belongs to its pattern is shown alone. */
export function pin(map, { row, column }) {
  const { label, pattern } = map.rows[row];
  const time = column === null ? null : new Date(time_of(map, column)).toISOString();
  const is_same = state.row === label && state.column === time;
  look(is_same ? { row: null, column: null, pattern: null } : { row: label, column: time, pattern: known(pattern) });
}

/** Look at the stretch between two columns alone. */
export function zoom(map, { from, to }) {
  const [first, last] = [Math.min(from, to), Math.max(from, to) + 1];
  point(pointed().cursor, null);
  if (last - first < 2 || last - first >= map.columns - map.skip) return;
  before.push({ from: state.from, to: state.to });
  const text = (column) => new Date(time_of(map, column)).toISOString();
  look({ from: text(first), to: text(last) }, { is_step: true });
}

/** Go one step back: the selection, the pin, the zoom; returns whether there was any. */
export function back() {
  if (pointed().brush !== null) point(pointed().cursor, null);
  else if (state.row !== null || state.pattern !== null) look({ row: null, column: null, pattern: null });
  else if (state.from !== null) look(before.pop() ?? { from: null, to: null });
  else return false;
  return true;
}

function known(pattern) {
  return pattern === undefined || pattern === "" ? null : pattern;
}

function first_cell(map) {
  const row = map.rows.findIndex((one) => one.label === state.row);
  return row < 0 ? hottest(map) : { row, column: map.columns - 1 };
}

function press(event, map) {
  const { cursor, brush } = pointed();
  const at = cursor ?? first_cell(map);
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -map.columns],
    End: [0, map.columns], PageUp: [0, -STRIDE], PageDown: [0, STRIDE] };
  if (event.key in steps) {
    const [down, right] = steps[event.key];
    const clamp = (value, most) => Math.max(0, Math.min(most - 1, value));
    const to = { row: clamp(at.row + down, map.rows.length), column: Math.max(map.skip, clamp(at.column + right, map.columns)) };
    point(to, event.shiftKey && right !== 0 ? { from: brush?.from ?? at.column, to: to.column } : null);
    return true;
  }
  if (event.key !== "Enter" && event.key !== " ") return false;
  if (brush !== null) zoom(map, brush);
  else pin(map, at);
  return true;
}
