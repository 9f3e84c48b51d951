// Findings: the cause first, what it explains folded beneath it, why, what to do, and a form to snooze it.

import { send } from "./api.js";
import { at, copy, el, fill } from "./dom.js";
import { is_following, look, state, stay } from "./state.js";
import { badge } from "./verdict.js";
import { change_words, clock, count, evidence, fold, place, who_words } from "./words.js";

const WEEK_MS = 7 * 86_400_000;
let open = new Set(); // ids of what is unfolded
let followed = null; // the fault that was unfolded for a reader who chose nothing
let shown = "";
let drafts = new Map(); // id to what is being typed into its snooze form

/** Show a report's findings; what is unfolded or being typed stays. */
export function show_findings(report) {
  const groups = fold(report.findings);
  const kept = groups.filter(([cause, under]) => [cause, ...under].some(is_asked));
  follow(groups, report.verdict.finding);
  const sign = JSON.stringify([kept, state.pattern, state.finding, followed]);
  if (sign === shown) return;
  shown = sign;
  const told = kept.length === groups.length ? counted(groups.length)
    : `${kept.length} of ${groups.length}, those of ${state.pattern}`;
  fill(at("findings-count"), told, kept.length === groups.length ? null : all_button());
  fill(at("findings-list"), kept.length === 0
    ? el("p", { class: "quiet", text: groups.length ? "None of this pattern." : "Nothing was found." })
    : el("ol", {}, ...kept.map((group) => el("li", {}, one_group(...group)))));
}

/** Unfold what the verdict is about, and nothing else: at first, and as long as the reader chose nothing. */
function follow(groups, fault) {
  if (!is_following() && (shown !== "" || state.finding !== null)) return;
  const group = groups.find(([cause, under]) => [cause, ...under].some((one) => one.id === fault)) ?? groups[0];
  const id = group?.[0].id ?? null;
  if (id === followed) return;
  followed = id;
  open = new Set(id === null || fault === null || fault === id ? [id] : [id, `${id} explains`, fault]);
}

/** Unfold a finding and bring it into view. */
export function reveal_finding(id) {
  open.add(id);
  const found = [...document.querySelectorAll("#findings details[data-id]")].filter((one) => one.dataset.id === id);
  for (const one of found) {
    for (let up = one; up; up = up.parentElement.closest("details")) up.open = true;
    one.scrollIntoView({ block: "nearest" });
    one.querySelector("summary").focus({ preventScroll: true });
  }
}

function is_asked(finding) {
  return state.pattern === null || finding.pattern === state.pattern || finding.fingerprint === state.pattern
    || finding.victims.some((one) => one.pattern === state.pattern);
}

function counted(number) {
  return number === 1 ? "1, with what it explains" : `${number || "none"}, causes first`;
}

function all_button() {
  return el("button", { type: "button", class: "link", text: "show all", onclick: () => look({ pattern: null, row: null, column: null }) });
}

function one_group(cause, under) {
  const explained = under.length === 0 ? null : folded(`${cause.id} explains`,
    `explains ${under.length} more: ${under.map((one) => one.detector).join(", ")}`, ...under.map((one) => card(one, null)));
  return card(cause, explained);
}

/** Make a part that is folded until somebody opens it, and stays open when the page is drawn anew. */
function folded(id, text, ...parts) {
  return el("details", { class: "folded", "data-id": id, open: is_open(id), ontoggle: remember },
    el("summary", { "data-focus": id, text, onclick: stay }), ...parts);
}

function card(finding, explained) {
  const where = [place(finding.table, finding.index), finding.direction, finding.cause].filter(Boolean).join(" · ");
  return el("details", { class: `finding ${finding.severity} ${finding.status}`, "data-id": finding.id,
    open: is_open(finding.id), ontoggle: remember },
  el("summary", { "data-focus": finding.id, onclick: stay },
    badge(finding.severity), " ", el("strong", { text: finding.detector }), " ", el("span", { text: where }), " ",
    el("span", { class: "quiet", text: life(finding) }),
    el("span", { class: "summary", text: finding.summary })),
  body(finding), explained);
}

function life(finding) {
  if (!finding.first_seen) return finding.status;
  if (finding.status === "closed") return `closed, ${clock(finding.first_seen)}–${clock(finding.last_seen)}`;
  return `${finding.status} since ${clock(finding.first_seen)}`;
}

function body(finding) {
  const told = [["who", who_words(finding) ?? "not known"], ["why", [finding.because, finding.caveat && `but ${finding.caveat}`].filter(Boolean).join("; ")]];
  if (finding.since_change) told.push(["after", change_words(finding.since_change, finding.first_seen)]);
  if (finding.self_heals) told.push(["heals", `${finding.self_heals.answer}: ${finding.self_heals.reason}`]);
  if (finding.cost_per_month_usd !== null) told.push(["costs", `about $${count(finding.cost_per_month_usd)} a month if this rate goes on`]);
  told.push(["sure", [finding.confidence, finding.sources.length && `from ${finding.sources.join(", ")}`].filter(Boolean).join(", ")]);
  const rows = told.filter(([, value]) => value).map(([name, value]) => pair(name, value));
  const ready = finding.advice.find((one) => one.command !== null) ?? finding.advice[1];
  const first = finding.advice.filter((one, index) => index === 0 || one === ready);
  const others = finding.advice.filter((one) => !first.includes(one));
  return el("div", { class: "finding-body" },
    el("dl", { class: "pairs" }, ...first.map((one, index) => pair(index === 0 ? "do" : "or", advice(one))), ...rows),
    others.length ? folded(`${finding.id} others`, `or ${others.map((one) => one.action).join(", ")}`,
      el("dl", { class: "pairs" }, ...others.map((one) => pair("or", advice(one))))) : null,
    folded(`${finding.id} numbers`, "the numbers that convict it",
      el("dl", { class: "pairs wide" }, ...evidence(finding).map(([name, value]) => pair(name, value)))),
    el("p", { class: "actions" },
      el("button", { type: "button", class: "link", "data-focus": `${finding.id} map`, text: "show on the map",
        onclick: () => look({ ...where_of(finding), table: finding.table, index: finding.index ?? "", direction: finding.direction ?? state.direction,
          finding: finding.id, row: null, column: null, from: null, to: null }, { is_step: true }) }),
      finding.runbook ? el("a", { href: finding.runbook, text: "runbook" }) : null),
    finding.status === "closed" ? null : snooze_form(finding));
}

/** Return account and region of a finding where the map has to be told them: those of the map that is shown were given. */
function where_of(finding) {
  return { account: state.account === null ? null : finding.account, region: state.region === null ? null : finding.region };
}

function pair(name, value) {
  return el("div", {}, el("dt", { text: name }), el("dd", {}, ...[value].flat()));
}

function advice(one) {
  const told = [el("strong", { text: `${one.action}: ` }), one.text];
  const beside = [one.effect, one.takes && `takes ${one.takes}`, one.risk !== "none" && `${one.risk} risk`].filter(Boolean).join("; ");
  if (beside) told.push(el("span", { class: "quiet", text: ` (${beside})` }));
  for (const text of [one.command, one.snippet].filter(Boolean)) {
    const button = el("button", { type: "button", class: "copy small", text: "Copy" });
    button.addEventListener("click", () => copy(text, button));
    told.push(el("div", { class: "command" }, el("code", { text }), button));
  }
  return told;
}

function snooze_form(finding) {
  const draft = drafts.get(finding.id) ?? { until: new Date(Date.now() + WEEK_MS).toISOString().slice(0, 10), reason: "", who: "" };
  const field = (name, label, type, is_needed) => {
    const input = el("input", { name, type, required: is_needed, "data-focus": `${finding.id} ${name}`,
      oninput: () => drafts.set(finding.id, { ...draft, [name]: draft[name] = input.value }) });
    input.value = draft[name];
    return el("label", {}, `${label} `, input);
  };
  const says = el("p", { class: "quiet", role: "status" });
  const form = el("form", { class: "snooze-form" }, field("until", "Until", "date", true), field("reason", "Reason", "text", true),
    field("who", "Who", "text", false), el("button", { type: "submit", text: "Snooze" }), says);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    snooze(finding, draft, says);
  });
  return folded(`${finding.id} snooze`, "snooze …", form);
}

async function snooze(finding, draft, says) {
  const told = { id: finding.id, until: draft.until, reason: draft.reason, ...(draft.who ? { who: draft.who } : {}) };
  try {
    const taken = await send("/api/v1/snoozes", told);
    drafts.delete(finding.id);
    says.textContent = `Snoozed until ${taken.until.slice(0, 10)}; the next judgement shows it so.`;
  } catch (error) {
    says.textContent = `Not snoozed: ${error.message || "sign in first"}`;
  }
}

function is_open(id) {
  return open.has(id);
}

function remember(event) {
  if (event.target !== event.currentTarget) return;
  const { id } = event.target.dataset;
  if (event.target.open) open.add(id);
  else open.delete(id);
}
