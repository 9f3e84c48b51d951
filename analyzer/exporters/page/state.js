// What is looked at, kept in the address after `#`, so that a link shows a colleague the same.

const NAMES = ["account", "region", "table", "index", "direction", "mode", "view", "from", "to", "row", "column", "finding", "pattern"];
const listeners = [];

/** What is looked at now; null is not chosen. `index` is "" for the base table. */
export const state = Object.fromEntries(NAMES.map((name) => [name, null]));

/** Call back with the names that changed. */
export function on_change(listener) {
  listeners.push(listener);
}

/** Change what is looked at; tell everyone who listens but where it is `silent`, and the address. */
export function look(changes, { is_step = false, is_silent = false } = {}) {
  const changed = Object.keys(changes).filter((name) => state[name] !== changes[name]);
  if (changed.length === 0) return;
  Object.assign(state, changes);
  write(is_step);
  if (!is_silent) for (const listener of listeners) listener(changed);
}

/** Read the address, at the start and when it is changed by hand or by the browser's Back. */
export function read() {
  const told = new URLSearchParams(location.hash.slice(1));
  const changed = [];
  for (const name of NAMES) {
    const value = told.has(name) ? told.get(name) : null;
    if (state[name] !== value) changed.push(name);
    state[name] = value;
  }
  return changed;
}

function write(is_step) {
  const told = new URLSearchParams(NAMES.filter((name) => state[name] !== null).map((name) => [name, state[name]]));
  const address = `${location.pathname}${location.search}${told.size ? `#${told}` : ""}`;
  if (is_step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

function moved() {
  const changed = read();
  if (changed.length > 0) for (const listener of listeners) listener(changed);
}

window.addEventListener("hashchange", moved);
window.addEventListener("popstate", moved);
