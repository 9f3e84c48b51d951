// What lies over the drawn heat: hatching of refused cells, what is not known, shapes that were found, cursor and pin.

import { UNKNOWN, column_of, is_hot_now, shown_from, time_of } from "./heat.js";
import { color } from "./plot.js";

const TAG = 8;

/** Draw the overlay of a map whose rows have these edges; `look` holds cursor, pin, chosen pattern and brush, each null where there is none. */
export function draw_overlay(canvas, map, edges, look) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const dense = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * dense);
  canvas.height = Math.round(height * dense);
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  const size = { wide: width / (map.columns - map.skip), skip: map.skip, edges, width, height };
  dim_others(pen, map, size, look.pattern);
  fill_cells(pen, map, size, (cell) => map.heat[cell] === UNKNOWN, dots(pen));
  fill_cells(pen, map, size, (cell) => map.throttled[cell] > 0, hatch(pen));
  for (const mark of map.marks) draw_mark(pen, map, size, mark);
  for (let number = map.labels.length - 1; number >= 0; number -= 1) draw_label(pen, map, size, map.labels[number], number); // the worst on top
  if (look.brush !== null) draw_brush(pen, size, look.brush);
  if (look.pin !== null) frame(pen, size, look.pin, color("pin"));
  if (look.cursor !== null) frame(pen, size, look.cursor, color("ink"));
}

function fill_cells(pen, map, size, is_meant, pattern) {
  pen.fillStyle = pattern;
  for (let row = 0; row < map.rows.length; row += 1) {
    for (let column = size.skip; column < map.columns; column += 1) {
      if (!is_meant(row * map.columns + column)) continue;
      let end = column + 1;
      while (end < map.columns && is_meant(row * map.columns + end)) end += 1;
      pen.fillRect(x_of(size, column), size.edges[row], (end - column) * size.wide, tall_of(size, row));
      column = end;
    }
  }
}

function x_of({ wide, skip }, column) {
  return (column - skip) * wide;
}

function tall_of({ edges }, row) {
  return edges[row + 1] - edges[row];
}

function hatch(pen) {
  return tile(pen, 6, (small) => {
    for (const [ink, thick] of [[color("hatch-edge"), 2.6], [color("hatch"), 1.3]]) {
      small.strokeStyle = ink;
      small.lineWidth = thick;
      for (const shift of [-6, 0, 6]) {
        small.beginPath();
        small.moveTo(shift - 1, 7);
        small.lineTo(shift + 7, -1);
        small.stroke();
      }
    }
  });
}

function dots(pen) {
  return tile(pen, 6, (small) => {
    small.fillStyle = color("unknown");
    small.fillRect(0, 0, 6, 6);
    small.fillStyle = color("quiet");
    small.fillRect(2, 2, 1, 1);
  });
}

function tile(pen, side, paint) {
  const small = document.createElement("canvas");
  small.width = side;
  small.height = side;
  paint(small.getContext("2d"));
  return pen.createPattern(small, "repeat");
}

function dim_others(pen, map, size, pattern) {
  if (pattern === null || !map.rows.some((row) => row.pattern === pattern)) return;
  pen.fillStyle = color("veil");
  map.rows.forEach((row, number) => {
    if (row.pattern !== pattern) pen.fillRect(0, size.edges[number], size.width, tall_of(size, number));
  });
}

function draw_mark(pen, map, size, mark) {
  const time = Date.parse(mark.at);
  if (time < shown_from(map) || time > time_of(map, map.columns)) return;
  const x = ((time - shown_from(map)) / map.step_ms) * size.wide;
  pen.strokeStyle = color("ink");
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  pen.beginPath();
  pen.moveTo(x, 0);
  pen.lineTo(x, size.height);
  pen.stroke();
  pen.setLineDash([]);
}

/** Draw where a shape is: strongly what is hot now, lightly all else. */
function draw_label(pen, map, size, label, number) {
  const from = Math.max(map.skip, column_of(map, Date.parse(label.from)));
  const to = Math.max(from + 1, column_of(map, Date.parse(label.to) - 1) + 1);
  const top = label.row === null ? 0 : size.edges[label.row];
  const tall = label.row === null ? size.height : tall_of(size, label.row);
  const ink = color(is_hot_now(map, label) ? "ink" : "quiet");
  if (label.kind !== "rolling-diagonal" && (to - from < map.columns - map.skip || label.row !== null)) {
    pen.strokeStyle = ink;
    pen.lineWidth = is_hot_now(map, label) ? 2 : 1;
    pen.setLineDash(label.row === null ? [2, 4] : []);
    pen.strokeRect(x_of(size, from) + 0.75, top + 0.75, (to - from) * size.wide - 1.5, tall - 1.5);
    pen.setLineDash([]);
  }
  tag(pen, x_of(size, from) + 2, top + (label.row === null ? 2 + (number % 3) * 18 : (tall - 2 * TAG) / 2), size, String(number + 1), ink);
}

function tag(pen, x, y, size, text, ink) {
  const [left, top] = [Math.max(0, Math.min(size.width - 2 * TAG, x)), Math.max(0, Math.min(size.height - 2 * TAG, y))];
  pen.fillStyle = ink;
  pen.beginPath();
  pen.arc(left + TAG, top + TAG, TAG - 0.5, 0, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = color("page");
  pen.font = "bold 11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, left + TAG, top + TAG + 0.5);
}

function draw_brush(pen, size, { from, to }) {
  const [left, right] = [x_of(size, Math.min(from, to)), x_of(size, Math.max(from, to) + 1)];
  pen.fillStyle = color("veil");
  pen.fillRect(0, 0, left, size.height);
  pen.fillRect(right, 0, size.width - right, size.height);
  pen.strokeStyle = color("ink");
  pen.lineWidth = 1.5;
  pen.strokeRect(left, 1, right - left, size.height - 2);
}

/** Frame a cell, or a whole row where it names no column. */
function frame(pen, size, { row, column }, ink) {
  const left = column === null ? 0 : x_of(size, column);
  const wide = column === null ? size.width : Math.max(size.wide, 4);
  for (const [one, thick] of [[color("page"), 4], [ink, 2]]) {
    pen.strokeStyle = one;
    pen.lineWidth = thick;
    pen.strokeRect(left, size.edges[row], wide, tall_of(size, row));
  }
}
