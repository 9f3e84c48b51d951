// The map as values: what the API sends, decoded, and what one cell says.

import { clock, count, place } from "./words.js";

export const UNKNOWN = 255;
const HUNDRED = 100;
const LEAST = 30; // columns that a young map shows
const NOW = 3; // columns: the newest may not be known yet
const NAMES = { key: "", prefix: "other keys", rest: "all other keys" };

/** Turn the API's answer into a map whose matrices are bytes, row by row. */
export function decode(told) {
  return with_skip({
    ...told,
    at: Date.parse(told.start),
    heat: bytes(told.heat),
    throttled: bytes(told.throttled),
    low: bytes(told.low),
    high: bytes(told.high),
  });
}

/** Leave out the columns before anything was known, where they are most of the map: the daemon is younger than it. */
function with_skip(map) {
  let known = map.columns;
  for (let row = 0; row < map.rows.length; row += 1) {
    const first = map.heat.subarray(row * map.columns, (row + 1) * map.columns).findIndex((value) => value !== UNKNOWN);
    if (first >= 0) known = Math.min(known, first);
  }
  const is_young = known > map.columns / 2 && known < map.columns;
  return { ...map, known, skip: is_young ? Math.min(known, Math.max(0, map.columns - LEAST)) : 0 };
}

/** Return the time at which what is shown of a map begins. */
export function shown_from(map) {
  return time_of(map, map.skip);
}

/** Put the columns of an update into a map; returns null where the map has to be fetched anew. */
export function patched(map, update) {
  const is_same = update.rows_id === map.rows_id && update.step_ms === map.step_ms && update.mode === map.mode
    && update.table === map.table && update.index === map.index && update.direction === map.direction;
  const shift = (Date.parse(update.start) - map.at) / map.step_ms;
  if (!is_same || update.columns === null || shift < 0 || !Number.isInteger(shift)) return null;
  const { first, columns } = update;
  const moved = (old, fresh, missing) => {
    const made = new Uint8Array(old.length).fill(missing);
    for (let row = 0; row < map.rows.length; row += 1) {
      const from = row * map.columns;
      made.set(old.subarray(from + Math.min(shift, map.columns), from + map.columns), from);
      if (fresh) made.set(fresh.subarray(row * columns, (row + 1) * columns), from + first);
    }
    return made;
  };
  const heat = moved(map.heat, bytes(update.heat), UNKNOWN);
  const shifted = moved(map.heat, null, UNKNOWN);
  const bound = (old) => moved(old, null, UNKNOWN).map((value, cell) => (heat[cell] === shifted[cell] ? value : UNKNOWN));
  const units = [...map.top.units.slice(shift), ...Array(Math.min(shift, map.columns)).fill(null)];
  units.splice(first, columns, ...update.top);
  return with_skip({
    ...map,
    start: update.start,
    at: Date.parse(update.start),
    heat,
    throttled: moved(map.throttled, bytes(update.throttled), 0),
    low: bound(map.low), // bounds are not sent: those of cells that are as they were still hold
    high: bound(map.high),
    top: { ...map.top, units },
  });
}

/** Return the rows for plotly: numbers, and null for what is not known. */
export function matrix(map) {
  return map.rows.map((_, row) => Array.from(map.heat.subarray(row * map.columns, (row + 1) * map.columns),
    (value) => (value === UNKNOWN ? null : value)));
}

/** Return the start of a column, in milliseconds. */
export function time_of(map, column) {
  return map.at + column * map.step_ms;
}

/** Return the end of the map, in milliseconds. */
export function end_of(map) {
  return time_of(map, map.columns);
}

/** Return the column that holds a time, within the map. */
export function column_of(map, time) {
  return Math.max(0, Math.min(map.columns - 1, Math.floor((time - map.at) / map.step_ms)));
}

/** Whether a row is over its ceiling now: in the last of its newest columns that is known. */
export function is_over_now(map, row) {
  const newest = map.heat.subarray((row + 1) * map.columns - NOW, (row + 1) * map.columns);
  return map.mode !== "relative" && (newest.findLast((value) => value !== UNKNOWN) ?? 0) >= HUNDRED;
}

/** Whether a shape is a key that is hot now: what somebody has to act on. */
export function is_hot_now(map, label) {
  return label.kind === "hot-band" && Date.parse(label.to) >= time_of(map, map.columns - NOW);
}

/** Return the hottest cell: where somebody who comes by the keyboard begins. */
export function hottest(map) {
  let best = 0;
  for (let cell = 1; cell < map.heat.length; cell += 1) {
    if (map.heat[cell] !== UNKNOWN && (map.heat[best] === UNKNOWN || map.heat[cell] > map.heat[best])) best = cell;
  }
  return { row: Math.floor(best / map.columns), column: best % map.columns };
}

/** Say everything about one cell: [what is said first, [further words]]. */
export function cell_words(map, row, column) {
  const told = map.rows[row];
  const cell = row * map.columns + column;
  const value = map.heat[cell];
  const more = [`${clock(time_of(map, column))} UTC`];
  if (value === UNKNOWN) more.push("not known");
  else more.push(map.mode === "relative" ? `${value}% of the map's hottest cell` : heat_words(map, cell));
  if (map.throttled[cell]) more.push(`${map.throttled[cell]}${map.throttled[cell] === UNKNOWN ? " or more" : ""} tries refused`);
  if (NAMES[told.kind]) more.push(`the hottest of ${count(told.members)} ${NAMES[told.kind]}`);
  if (told.pattern) more.push(told.pattern);
  if (told.caller) more.push(told.caller);
  return [told.label, more];
}

function heat_words(map, cell) {
  const bound = (of) => (of[cell] === UNKNOWN ? null : of[cell] / HUNDRED);
  const [low, high] = [bound(map.low), bound(map.high)];
  const value = map.heat[cell] / HUNDRED;
  const edges = low === null || high === null || (low === value && high === value) ? "" : ` [${low}–${high}]`;
  const most = map.heat[cell] === 250 ? " or more" : "";
  return `${value.toFixed(2)}${most}${edges} of a partition's ceiling ≈ ${count(value * map.top.ceiling)} ${map.direction} units a second`;
}

/** Say what the map is of. */
export function map_title(map) {
  const whose = map.mode === "relative" ? "relative to the map's hottest cell" : "share of what one partition serves";
  return `${place(map.table, map.index)}, ${map.direction}s: ${whose}`;
}

function bytes(text) {
  return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
}
