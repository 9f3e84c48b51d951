// The verdict as Markdown, for the channel of an incident: short enough to be read there.

import { actor, change_words, clock, evidence, fold, place } from "./words.js";

const MOST = 3;

/** Write a report's verdict and its worst findings. */
export function report_as_markdown(report) {
  const lines = [`**${plain(report.verdict.state.replaceAll("-", " ").toUpperCase())}**: ${plain(report.verdict.text)}`];
  const groups = fold(report.findings.filter((one) => one.status !== "closed" || one.id === report.verdict.finding));
  for (const [cause, under] of groups.slice(0, MOST)) lines.push("", ...finding_lines(cause, under));
  if (groups.length > MOST) lines.push("", `and ${groups.length - MOST} more`);
  lines.push("", `${[report.region, report.account].filter(Boolean).join(" ")}, as of ${report.as_of} · ${location.href}`);
  return `${lines.join("\n")}\n`;
}

function finding_lines(cause, under) {
  const at = cause.first_seen ? `, since ${clock(cause.first_seen)} UTC` : "";
  const lines = [`**${cause.severity} ${cause.detector}** on ${plain(place(cause.table, cause.index))} (${cause.confidence}${at})`,
    `- what: ${plain(cause.summary)}`];
  const who = actor(cause.caller, cause.pattern);
  if (who) lines.push(`- who: ${plain(who)}`);
  if (cause.because) lines.push(`- why: ${plain(cause.because)}`);
  if (cause.caveat) lines.push(`- but: ${plain(cause.caveat)}`);
  if (cause.since_change) lines.push(`- after: ${plain(change_words(cause.since_change, cause.first_seen))}`);
  if (cause.self_heals) lines.push(`- heals alone: ${plain(`${cause.self_heals.answer}: ${cause.self_heals.reason}`)}`);
  const shown = evidence(cause).map(([name, value]) => `${name} ${value}`).slice(0, 8).join(" · ");
  if (shown) lines.push(`- shows: ${plain(shown)}`);
  if (cause.advice.length) lines.push(`- do: ${plain(cause.advice[0].text)}`);
  if (under.length) lines.push(`- explains: ${under.map((one) => `${one.detector} (${one.severity})`).join(", ")}`);
  return lines;
}

/** Let nothing of a name become a link, a mention or a picture. */
function plain(text) {
  return text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>|]/g, (one) => `\\${one}`).replaceAll("@", "@\u200b");
}
