// The strip of indexes: how far each lags behind its table, who is refused there, and whether it holds writes back.

import { at, el, fill } from "./dom.js";
import { reveal_finding } from "./findings.js";
import { count, place } from "./words.js";

const PUSHES_BACK = "gsi-back-pressure";
const asked = new Set(); // whose why is unfolded

/** Show the indexes; `findings` are the report's. */
export function show_indexes(indexes, findings) {
  fill(at("indexes-list"), indexes.length === 0
    ? el("p", { class: "quiet", text: "No index was seen." })
    : el("ul", { class: "cards" }, ...indexes.map((one) => card(one, findings))));
}

function card(index, findings) {
  const found = findings.filter((one) => index.findings.includes(one.id) && one.status !== "closed");
  const refused = index.throttles.reduce((sum, one) => sum + one.tries, 0);
  const is_pushing = found.some((one) => one.detector === PUSHES_BACK);
  const rows = [[index.lag === null ? "lag" : "lag p50", lag(index, "p50")], ["lag p99", lag(index, "p99")], ["throttled", throttles(index)],
    ["writes", writes(index)]].filter(([, value]) => value !== null);
  return el("li", { class: is_pushing || refused > 0 ? "card bad" : "card" },
    el("h3", {}, place(index.table, index.index), is_pushing ? el("span", { class: "flag", text: "▲ back-pressure" }) : null),
    el("dl", { class: "pairs" }, ...rows.map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", {}, ...[value].flat())))),
    ...found.map((one) => el("button", { type: "button", class: "link", "data-focus": `${index.index} ${one.id}`,
      text: `${one.severity} ${one.detector}`, onclick: () => reveal_finding(one.id) })));
}

/** Say in words why nothing is known of a lag, where somebody asks. */
function why(index) {
  const id = `${index.account} ${index.region} ${index.table} ${index.index} why`;
  return el("details", { class: "folded", open: asked.has(id), ontoggle: ({ target }) => (target.open ? asked.add(id) : asked.delete(id)) },
    el("summary", { "data-focus": id, text: "why?" }),
    el("p", {}, index.hint, " ", el("a", { href: "/docs/detectors/gsi-lag", text: "More about it" }), "."));
}

function lag(index, name) {
  const told = index.lag?.[name] ?? null;
  if (told === null) return name === "p50" ? ["not known", index.lag === null && index.hint ? why(index) : null] : null;
  const most = index.tolerance_seconds === null || name !== "p99" ? "" : `, ${count(index.tolerance_seconds)} s declared`;
  return `${count(told.value)} s [${count(told.low)}–${count(told.high)}]${most}`;
}

function throttles(index) {
  if (index.throttles.length === 0) return "none";
  return index.throttles.map((one) => `${count(one.tries)} ${one.direction} tries (${one.cause.replaceAll("-", " ")})`).join(", ");
}

function writes(index) {
  if (index.write_units_a_second === null) return null;
  const most = index.write_limit === null ? "" : ` of ${count(index.write_limit)}`;
  return `${count(index.write_units_a_second)}${most} units a second`;
}
