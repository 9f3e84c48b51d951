// The page: asks the daemon what it concluded, shows it, and follows what changes.

import { RefusedError, SignInError, follow, get, keep_token } from "./api.js";
import { at, el, fill } from "./dom.js";
import { reveal_finding, show_findings } from "./findings.js";
import { show_honesty } from "./honesty.js";
import { show_indexes } from "./indexes.js";
import { current_map, load_map, map_query, over, redraw, row_of, take_columns } from "./map.js";
import { show_controls, show_foot } from "./map_controls.js";
import { back, pin } from "./map_input.js";
import { show_patterns } from "./patterns.js";
import { heard, watch } from "./stale.js";
import { follow_fault, is_following, look, look_unasked, on_change, read, state } from "./state.js";
import { show_verdict, show_waiting } from "./verdict.js";
import { place } from "./words.js";

const WAIT_MS = 3000;
const WHOLE = 6; // updates after which the map is fetched whole: shares, shapes and bounds come with it alone
const NOT_FOUND = 404;
const ANYWHERE = { account: null, region: null, table: null, index: null, direction: null, from: null, to: null };
const OF_THE_MAP = ["account", "region", "table", "index", "direction", "mode", "from", "to"];
const known = { report: null, patterns: [], indexes: [], honesty: null, targets: [] };
let following = null;
let followed = null; // the place of the fault that was gone to
let updates = 0;

async function start() {
  try {
    known.report = await get("/api/v1/report");
    at("sign-in").hidden = true;
    document.body.classList.add("ready");
    show_everything();
    await Promise.all([refresh_beside(), choose_map()]);
  } catch (error) {
    return refuse(error);
  }
  if (state.finding !== null) reveal_finding(state.finding);
  pin_finding();
  return listen();
}

function refuse(error) {
  if (error instanceof SignInError) return ask_for_token(error.message);
  if (!(error instanceof RefusedError)) show_waiting("The daemon does not answer. Trying again …");
  else if (error.status === 503) show_waiting("Nothing judged yet: the first judgement comes within a window of traffic.");
  else show_waiting(`The daemon refuses: ${error.message}. Trying again …`);
  setTimeout(start, WAIT_MS);
  return null;
}

function ask_for_token(reason) {
  show_waiting("Sign in to see the verdict.");
  at("sign-in-refused").textContent = reason;
  at("sign-in").hidden = false;
  document.body.classList.remove("ready");
  at("token").focus();
}

function show_everything() {
  const { report } = known;
  show_verdict(report);
  show_findings(report);
  show_patterns(known.patterns.length ? known.patterns : report.patterns);
  show_indexes(known.indexes, report.findings);
  show_honesty(report, known.honesty);
  heard(report.as_of);
}

/** Fetch what the report does not hold; a daemon without one of them shows the rest. */
async function refresh_beside() {
  const ask = async (path, take) => {
    try {
      take(await get(path));
    } catch (error) {
      if (error instanceof SignInError) throw error;
    }
  };
  await Promise.all([
    ask("/api/v1/patterns", (told) => { known.patterns = told.patterns; }),
    ask("/api/v1/gsi", (told) => { known.indexes = told.indexes; }),
    ask("/api/v1/honesty", (told) => { known.honesty = told; }),
    ask("/api/v1/targets", (told) => { known.targets = told.targets; }),
  ]);
  show_everything();
}

/** Go to what the verdict is about where nothing was chosen, and show the map of what is looked at. */
async function choose_map() {
  go_to_fault();
  await show_map();
}

/** Return the finding that the verdict is about, where it has a place. */
function fault() {
  const found = known.report.findings.find((one) => one.id === known.report.verdict.finding);
  return found?.table ? found : null;
}

/** Look at the place of the fault where nothing was chosen; returns whether that is another one than before. */
function go_to_fault() {
  const finding = fault();
  if (finding === null || !is_following()) return false;
  const { account, region } = known.report; // null where there are several
  const where = { account: account === null ? finding.account : null, region: region === null ? finding.region : null,
    table: finding.table, index: finding.index ?? "", direction: finding.direction };
  const sign = JSON.stringify(where);
  if (sign === followed) return false;
  followed = sign;
  look_unasked(where);
  return true;
}

/** Say where the fault is, where the reader chose to look elsewhere. */
function show_elsewhere() {
  const [finding, map] = [fault(), current_map()];
  const is_here = finding === null || map === null || (finding.table === map.table && finding.index === map.index
    && ["account", "region", "direction"].every((name) => finding[name] === map[name] || !finding[name] || !map[name]));
  at("map-elsewhere").hidden = is_here;
  if (is_here) return;
  const where = `${place(finding.table, finding.index)}${finding.direction === null ? "" : ` ${finding.direction}s`}`;
  fill(at("map-elsewhere"), `The fault is on ${where}: `,
    el("button", { type: "button", class: "link", "data-focus": "fault", text: "show", onclick: follow_fault }));
}

async function show_map() {
  try {
    await load_map(known.targets);
    show_elsewhere();
  } catch (error) {
    if (error instanceof SignInError) return ask_for_token(error.message);
    if (error instanceof RefusedError && error.status === NOT_FOUND && state.table !== null) {
      look_unasked(ANYWHERE, { is_wrong: true }); // nothing is kept of it: the hottest of all is shown
      return show_map();
    }
    at("map-says").textContent = `The map cannot be shown: ${error.message}`;
  }
  return null;
}

async function listen() {
  following?.abort();
  following = new AbortController();
  const { since: _since, until: _until, step: _step, ...of } = map_query();
  try {
    await follow("/api/v1/events", of, take_event, following.signal);
  } catch (error) {
    if (error instanceof SignInError) ask_for_token(error.message);
  }
}

async function take_event(name, told) {
  if (name !== "report" || told === null) return;
  heard(told.as_of, told.slice_ms);
  const { report } = known;
  advance(report, told.as_of);
  for (const part of ["verdict", "findings"]) if (told[part]) report[part] = told[part];
  if (told.patterns) known.patterns = told.patterns;
  if (told.gsi) known.indexes = told.gsi;
  if (told.honesty) known.honesty = told.honesty;
  show_everything();
  updates += 1;
  if (go_to_fault()) {
    show_map().then(listen);
    return;
  }
  show_elsewhere();
  if (told.heatmap && (!take_columns(told.heatmap) || (updates % WHOLE === 0 && state.from === null))) await show_map();
}

/** Pin the key of the finding that is looked at, where the map shows it. */
function pin_finding() {
  const finding = known.report.findings.find((one) => one.id === state.finding);
  const row = finding && state.row === null ? row_of(finding) : null;
  if (row !== null) look({ row });
}

/** Move a report's window on to a later judgement; what changed beside it comes in the parts. */
function advance(report, as_of) {
  const moved = (time, by) => new Date(Date.parse(time) + by).toISOString();
  const by = report.as_of === null ? 0 : Date.parse(as_of) - Date.parse(report.as_of);
  if (report.window !== null) report.window = { start: moved(report.window.start, by), end: moved(report.window.end, by) };
  report.as_of = as_of;
}

function chosen(changed) {
  if (known.report === null) return;
  if (is_following()) followed = null;
  go_to_fault();
  if (changed.includes("finding") && state.finding !== null) reveal_finding(state.finding);
  show_findings(known.report);
  show_patterns(known.patterns.length ? known.patterns : known.report.patterns);
  if (changed.some((name) => OF_THE_MAP.includes(name))) {
    show_map().then(pin_finding).then(listen);
  } else if (current_map() !== null) {
    show_controls(known.targets, current_map());
    over();
    if (changed.includes("view") || changed.includes("row")) show_foot(current_map(), at("cell-says"));
  }
}

at("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  keep_token(at("token").value);
  at("token").value = "";
  start();
});
at("map-frame").addEventListener("click", (event) => {
  const row = event.target.closest("button.label")?.dataset.row;
  if (row !== undefined) pin(current_map(), { row: Number(row), column: null });
});
document.addEventListener("keydown", (event) => {
  const is_typing = ["INPUT", "SELECT"].includes(event.target.tagName);
  if (event.key === "Escape" && !is_typing && back()) event.preventDefault();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
new ResizeObserver(() => over()).observe(at("map-frame"));
read();
on_change(chosen);
watch();
start();
