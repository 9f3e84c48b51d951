// How tall each row is: all alike where there is room, else those that say something taller than the others.

const ROW_MOST = 30;
const ROW_READABLE = 13;
const LOUD = 16;
const QUIET_LEAST = 6;
const TALL = [272, 560];
const BESIDE = 440; // what else a screen shows above and below the rows
const WARM = 0.7;

/** Return the edges of the rows in pixels, one more than there are rows, and which rows are named. */
export function lay_out(map) {
  const room = Math.max(TALL[0], Math.min(TALL[1], window.innerHeight - BESIDE));
  const rows = map.rows.length;
  const even = Math.min(ROW_MOST, Math.floor(room / rows));
  if (even >= ROW_READABLE) return { edges: summed(Array(rows).fill(even)), named: Array(rows).fill(true) };
  const loud = loud_rows(map);
  const count = loud.filter(Boolean).length;
  const quiet = Math.max(QUIET_LEAST, Math.floor((room - count * LOUD) / Math.max(1, rows - count)));
  return { edges: summed(loud.map((is_loud) => (is_loud ? LOUD : quiet))), named: named_rows(map, loud) };
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

/** A quiet row is named where a prefix begins and there is room beside it. */
function named_rows(map, loud) {
  const group = (row) => map.rows[row]?.label.split(/[#<·]/, 1)[0];
  return loud.map((is_loud, number) => is_loud
    || (group(number) !== group(number - 1) && !loud[number - 1] && !loud[number + 1]));
}

function summed(heights) {
  return heights.reduce((edges, height) => [...edges, edges.at(-1) + height], [0]);
}
