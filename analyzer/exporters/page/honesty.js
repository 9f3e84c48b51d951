// What the page rests on: the stretch, what is explained of what was billed, what was not visible, and how exact it is.

import { at, el, fill } from "./dom.js";
import { clock, count, gap_words, place, share } from "./words.js";

const LOW = 0.9;

/** Show how much of it all was seen; `beside` is what the daemon alone knows, null where it does not tell. */
export function show_honesty(report, beside) {
  const told = [stretch(report), ...(beside === null ? [] : exactness(beside))];
  const { coverage, gaps } = beside ?? report; // the report is as old as the page, what is beside it is not
  told.push(fact("Coverage, explained ÷ billed units", coverage_words(coverage), is_low(coverage)));
  told.push(fact("Gaps", gaps.length ? list(gaps.map(gap_words)) : "none", gaps.length > 0));
  const skipped = new Set((beside ?? report).skipped.map((one) => one.detector)).size;
  told.push(fact("Not judged", skipped ? el("details", {}, el("summary", { "data-focus": "skipped",
    text: `${skipped} detector${skipped === 1 ? "" : "s"} on some target` }), list(skipped_words(report.skipped))) : "nothing"));
  fill(at("honesty-list"), el("dl", { class: "facts" }, ...told));
}

function exactness(beside) {
  const { sampling, sources, sketch_error, records } = beside;
  const lost = ["bad", "dropped", "late", "future"].filter((name) => records[name]).map((name) => `${count(records[name])} ${name}`);
  const down = sources.filter((one) => !one.up);
  return [
    fact("Sampling", sampling.sampled ? `${share(sampling.lowest_rate)} of requests at the least; numbers are estimates` : "every request counts"),
    fact("Sources", list(sources.map(source_words)), down.length > 0),
    fact("Records", [`${count(records.read)} read`, ...(lost.length ? lost : ["none lost"])].join(", "), lost.length > 0),
    fact("Keys told apart", sketch_error === null ? "not known" : `a key below ${share(sketch_error)} of a target's units may be missing`),
    beside.cost_usd === null ? null : fact("Reading from AWS", `$${count(beside.cost_usd)} so far`),
  ].filter(Boolean);
}

function source_words(one) {
  const late = one.delay_seconds === null ? "" : `, ${count(Math.round(one.delay_seconds))} s behind`;
  return `${one.source}${one.up ? late : `: down${one.last_success ? ` since ${clock(one.last_success)} UTC` : ""}`}`;
}

function stretch(report) {
  if (report.window === null) return fact("Window", "nothing was read");
  const { start, end } = report.window;
  return fact("Window", `${start.slice(0, 10)} ${clock(start)}–${clock(end, start)} UTC, as of ${clock(report.as_of, start)}`);
}

function coverage_words(lines) {
  const known = lines.filter((one) => one.ratio !== null);
  if (known.length === 0) return "not known: nothing tells what was billed";
  return list(known.map((one) => `${place(one.table, one.index)} ${one.direction}s: ${share(one.ratio)} of ${count(one.billed_units)} units`));
}

function is_low(lines) {
  return lines.some((one) => one.ratio !== null && one.ratio < LOW);
}

function skipped_words(skipped) {
  const groups = new Map();
  for (const one of skipped) {
    const why = [one.reason.replaceAll("-", " "), ...one.needs].join(": ");
    groups.set(why, (groups.get(why) ?? new Set()).add(one.detector));
  }
  return [...groups].map(([why, names]) => `${[...names].join(", ")} (${why})`);
}

function fact(name, value, is_bad = false) {
  return el("div", { class: is_bad ? "fact bad" : "fact" }, el("dt", { text: name }), el("dd", {}, value));
}

function list(entries) {
  return el("ul", {}, ...entries.map((text) => el("li", { text })));
}
