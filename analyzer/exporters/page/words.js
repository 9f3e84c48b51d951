// Numbers, times and places in words, the same as in the terminal (analyzer/render/words.py).

export const RANKS = { low: 0, medium: 1, high: 2, critical: 3 };

/** Write a number as people do; `?` for unknown. */
export function count(number) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "?";
  if (Math.abs(number) >= 100 || Number.isInteger(number)) {
    return Math.round(number).toLocaleString("en-US");
  }
  return String(Number(number.toPrecision(Math.abs(number) >= 0.1 ? 3 : 2)));
}

/** Write a number in five characters: `812`, `1.2k`, `3.4M`. */
export function compact(number) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "?";
  for (const [size, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(number) >= size) return `${Number((number / size).toPrecision(3))}${name}`;
  }
  return String(Number(number.toPrecision(3)));
}

/** Write a share of 0 to 1 as a percentage. */
export function share(part) {
  if (part === null || part === undefined || !Number.isFinite(part)) return "?";
  if (part > 0 && part < 0.001) return "<0.1%";
  const value = part * 100;
  return value === 0 || (value >= 1 && value <= 99) ? `${Math.round(value)}%` : `${Number(value.toPrecision(3))}%`;
}

/** Write a share beside its bar, to the percent: `<1%`, `42%`. */
export function percent(part) {
  return part > 0 && part < 0.01 ? "<1%" : part < 1 && part > 0.99 ? ">99%" : share(part);
}

/** Write the upper bound of a latency. */
export function milliseconds(number) {
  if (number === null || number === undefined) return "?";
  return number < 10000 ? `≤ ${count(number)} ms` : `≤ ${count(number / 1000)} s`;
}

/** Write the time of day in UTC: of an RFC 3339 text or of milliseconds; the day too where it is not that of `beside`. */
export function clock(time, beside = null, digits = 19) {
  if (time === null || time === undefined) return "?";
  const text = typeof time === "number" ? new Date(time).toISOString() : time;
  const day = beside !== null && text.slice(0, 10) !== beside.slice(0, 10) ? `${text.slice(0, 10)} ` : "";
  return day + text.slice(11, digits);
}

/** Write how long something lasted: `40 s`, `12 min`, `3 h`, `2 days`. */
export function lasted(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

/** Write `table` or `table/index`. */
export function place(table, index) {
  if (table === null || table === undefined) return "everywhere";
  if (table === "") return "an unnamed table";
  return index === null || index === undefined ? table : `${table}/${index}`;
}

/** Write who does it. */
export function actor(caller, pattern) {
  return caller && pattern ? `${caller} (${pattern})` : caller || pattern || null;
}

/** Write who does most of it and who suffers, null where nobody is known. */
export function who_words(finding) {
  const does = actor(finding.caller, finding.pattern);
  const others = finding.victims.filter((one) => one.caller !== finding.caller || one.pattern !== finding.pattern);
  const hurts = [...new Set(others.map((one) => actor(one.caller, one.pattern)).filter(Boolean))].join(", ");
  if (does && hurts) return `${does}; hurts ${hurts}`;
  return does ?? (hurts ? `not known; hurts ${hurts}` : null);
}

function exact(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120 || seconds >= 3600) return lasted(ms);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Write a change: what, when, how long before what began then, who, more about it. */
export function change_words(change, began = null) {
  const before = began === null ? "" : `, ${exact(Date.parse(began) - Date.parse(change.time))} before`;
  return [`${change.what} at ${clock(change.time)}${before}`, change.who && `by ${change.who}`, change.detail]
    .filter(Boolean).join(", ");
}

/** Return the names and numbers that convict, each with its bounds. */
export function evidence(finding) {
  const told = finding.evidence;
  const bounds = new Set(Object.keys(told).flatMap((name) => [`${name}_low`, `${name}_high`]));
  return Object.keys(told).filter((name) => !bounds.has(name)).map((name) => {
    const label = name.replace(/_(ms|usd|seconds)$/, "").replaceAll("_", " ");
    const ends = [told[`${name}_low`], told[`${name}_high`]].filter((one) => typeof one === "number");
    const [shown, ...edges] = [told[name], ...ends].map((one) => one_number(name, one));
    const is_told = edges.length === 2 && !(edges[0] === shown && edges[1] === shown);
    return [label, is_told ? `${shown} [${edges[0]}–${edges[1]}]` : shown];
  });
}

function one_number(name, value) {
  if (value === null) return "not known";
  if (typeof value !== "number") return String(value);
  const last = name.split("_").at(-1);
  if (name.split("_").includes("share")) return share(value);
  if (last === "usd") return `$${count(value)}`;
  return count(value) + (last === "ms" ? " ms" : last === "seconds" ? " s" : "");
}

/** Write what a row of the patterns table is about. */
export function pattern_name(line) {
  if (line.kind === "declared") return line.pattern ?? "?";
  if (line.kind === "ambiguous") return line.candidates?.length ? line.candidates.join(" or ") : "ambiguous";
  if (line.kind === "other") return "(all others)";
  return line.text ?? line.fingerprint ?? "?";
}

/** Say what could not be looked at, and how to mend it. */
export function gap_words(gap) {
  const of = gap.table === null || gap.table === undefined ? "" : ` of ${place(gap.table, gap.index)}`;
  const hint = gap.hint ? `; ${gap.hint}` : "";
  return `${gap.source}${of}: ${gap.reason.replaceAll("-", " ")}, ${gap.detail ?? ""}${hint}`;
}

/** Put each finding under the one that explains it in the end: [[cause, [what it explains]]], what goes on and is worst first. */
export function fold(findings) {
  const by_id = new Map(findings.filter((one) => one.id).map((one) => [one.id, one]));
  const chain = (finding) => {
    const found = [finding];
    while (by_id.has(found.at(-1).caused_by)) {
      const cause = by_id.get(found.at(-1).caused_by);
      if (found.includes(cause)) return [finding];
      found.push(cause);
    }
    return found;
  };
  const groups = new Map();
  for (const finding of findings) {
    const root = chain(finding).at(-1);
    if (!groups.has(root)) groups.set(root, []);
    if (finding !== root) groups.get(root).push(finding);
  }
  const asleep = (one) => (one.status === "closed" || one.status === "snoozed" ? 1 : 0);
  const worst = (one) => [asleep(one), -RANKS[one.severity], one.table, one.index ?? "", one.detector, one.id];
  const first = (a, b) => (compare(worst(a), worst(b)) <= 0 ? a : b);
  return [...groups]
    .map(([root, under]) => [root, under.sort((a, b) =>
      chain(a).length - chain(b).length || compare(worst(a), worst(b)))])
    .sort(([a, under], [b, beneath]) => compare(worst(under.reduce(first, a)), worst(beneath.reduce(first, b))));
}

function compare(a, b) {
  const at = a.findIndex((one, index) => one !== b[index]);
  return at < 0 ? 0 : a[at] < b[at] ? -1 : 1;
}
