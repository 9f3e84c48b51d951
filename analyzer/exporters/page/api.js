// The daemon's API: a token where one is set, in a header and never in an address.

const TOKEN = "dynascope-token";
const RETRY_MS = 3000;

/** The daemon asks for a token, or refuses the one that it got. */
export class SignInError extends Error {}

/** The daemon answered that it cannot: `status`, and why. */
export class RefusedError extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/** Keep a token in this tab, or forget it. */
export function keep_token(token) {
  if (token === null) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, token);
}

/** Ask for a path of the API; `asked` are its parameters, null left out. */
export async function get(path, asked = {}) {
  return (await answer(address(path, asked), {})).json();
}

/** Tell the daemon something, or with `method` take it back. */
export async function send(path, told, method = "POST") {
  const body = told === null ? undefined : JSON.stringify(told);
  return (await answer(path, { method, body, headers: { "Content-Type": "application/json" } })).json();
}

/** Follow the daemon's events until `signal` ends it: `take(name, value)` for each; what was cut is joined again. */
export async function follow(path, asked, take, signal) {
  while (!signal.aborted) {
    try {
      await read_events(await answer(address(path, asked), { signal, headers: { Accept: "text/event-stream" } }), take);
    } catch (error) {
      if (error instanceof SignInError) throw error;
    }
    await new Promise((done) => { setTimeout(done, RETRY_MS); });
  }
}

function address(path, asked) {
  const told = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== null && value !== undefined));
  return told.size ? `${path}?${told}` : path;
}

async function answer(path, asked) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...asked.headers, ...(token === null ? {} : { Authorization: `Bearer ${token}` }) };
  const found = await fetch(path, { ...asked, headers, cache: "no-store", credentials: "same-origin" });
  if (found.status === 401) throw new SignInError(token === null ? "" : "The daemon refuses this token.");
  if (!found.ok) throw new RefusedError(found.status, (await found.text()).trim().slice(0, 500));
  return found;
}

async function read_events(found, take) {
  const reader = found.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value.replaceAll("\r", "")).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) read_event(block, take);
  }
}

function read_event(block, take) {
  let name = "message";
  const lines = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) lines.push(line.slice(5).trimStart());
  }
  take(name, lines.length ? JSON.parse(lines.join("\n")) : null);
}
