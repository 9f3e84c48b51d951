// The verdict bar: what is wrong in one sentence, since when, what changed just before, and what to do first.

import { at, copy, el, fill } from "./dom.js";
import { report_as_markdown } from "./markdown.js";
import { actor, change_words, clock, lasted, place } from "./words.js";

const FIRST = "Do first";
const THEN = "Then, or instead";
const JUST_MS = 5 * 60_000; // what was changed longer before is not "just before"
export const MARKS = { critical: "◆", high: "▲", medium: "●", low: "○", clean: "✓", "cannot-tell": "?", fault: "▲" };

/** A badge whose sign and word say what its color says. */
export function badge(level, word = level) {
  return el("span", { class: `badge ${level}` }, el("span", { "aria-hidden": "true", text: `${MARKS[level] ?? "●"} ` }),
    word.replaceAll("-", " "));
}

/** Show a report's verdict. */
export function show_verdict(report) {
  const { verdict } = report;
  const finding = report.findings.find((one) => one.id === verdict.finding) ?? null;
  const level = finding === null ? verdict.state : finding.severity;
  const state = verdict.state.replaceAll("-", " ");
  const text = verdict.text.startsWith(`${state}: `) ? verdict.text.slice(state.length + 2) : verdict.text;
  const button = el("button", { type: "button", class: "copy", "data-focus": "copy", text: "Copy as Markdown" });
  button.addEventListener("click", () => copy(report_as_markdown(report), button));
  at("verdict").className = `verdict ${level}`;
  fill(
    at("verdict"),
    el("div", { class: "verdict-head" }, badge(level, finding === null ? verdict.state : level),
      el("p", { class: "when" }, ...when(report, finding)), button),
    el("h1", { class: "sentence", text }),
    finding === null ? null : el("dl", { class: "facts" }, ...facts(report, finding)),
  );
  document.title = `${MARKS[level] ?? ""} ${finding === null ? state : `${level}: ${finding.detector}`} · Dynascope`;
}

/** Say that there is no report yet, and why. */
export function show_waiting(text) {
  at("verdict").className = "verdict";
  fill(at("verdict"), el("p", { class: "wait", text }));
}

function when(report, finding) {
  const told = [];
  if (finding?.first_seen) {
    const is_over = finding.status === "closed";
    const end = is_over ? finding.last_seen : report.as_of;
    const long = lasted(Date.parse(end) - Date.parse(finding.first_seen));
    told.push(el("strong", { text: is_over
      ? `${clock(finding.first_seen)}–${clock(finding.last_seen)} UTC (over, lasted ${long})`
      : `since ${clock(finding.first_seen, report.as_of)} UTC (${long})` }));
  }
  if (finding !== null) told.push(place(finding.table, finding.index));
  told.push(report.region, report.account);
  if (report.verdict.state === "fault") told.push(`cause ${report.verdict.confidence}`);
  if (report.mode === "observe") {
    told.push(`observing${report.observing_until ? ` until ${report.observing_until.slice(0, 16)}Z` : ""}: nothing pages`);
  }
  return told.filter(Boolean).flatMap((one, index) => (index === 0 ? [one] : [" · ", one]));
}

function facts(report, finding) {
  const told = [];
  if (finding.cause) told.push(["Cause", finding.cause]); // the word that the alert says too
  told.push(["From", actor(finding.caller, finding.pattern) ?? "not known"]);
  const change = finding.since_change;
  const is_near = change === null || Date.parse(finding.first_seen) - Date.parse(change.time) <= JUST_MS;
  told.push([is_near ? "Change just before" : "Change before", change === null ? "none seen" : change_words(change, finding.first_seen)]);
  if (finding.self_heals) told.push(["Heals alone", `${finding.self_heals.answer}: ${finding.self_heals.reason}`]);
  if (finding.advice.length) {
    const [first, next] = finding.advice;
    told.push([FIRST, advice_words(first)]);
    if (next) told.push([THEN, advice_words(next)]);
  }
  return told.map(([name, value]) => el("div", { class: name === FIRST || name === THEN ? "fact do" : "fact" },
    el("dt", { text: name }), el("dd", { text: value })));
}

function advice_words(advice) {
  return [advice.text, advice.takes && `takes ${advice.takes}`].filter(Boolean).join("; ");
}
