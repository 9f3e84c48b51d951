// What is looked at, kept in the address after `#`, so that a link shows a colleague the same.

const NAMES = ["account", "region", "table", "index", "direction", "mode", "view", "from", "to", "row", "column", "finding", "pattern"];
const PLACE = ["account", "region", "table", "index", "direction", "from", "to", "row", "column", "finding", "pattern"];
const listeners = [];
let is_free = true; // nobody chose: what is looked at follows the fault

/** What is looked at now; null is not chosen. `index` is "" for the base table. */
export const state = Object.fromEntries(NAMES.map((name) => [name, null]));

/** Call back with the names that changed. */
export function on_change(listener) {
  listeners.push(listener);
}

/** Whether the reader chose nothing yet, so that map and findings follow the fault. */
export function is_following() {
  return is_free;
}

/** Keep what is looked at where it is: the reader chose. */
export function stay() {
  is_free = false;
}

/** Choose nothing any more: follow the fault again. */
export function follow_fault() {
  is_free = true;
  Object.assign(state, Object.fromEntries(PLACE.map((name) => [name, null])));
  write(true);
  tell(PLACE);
}

/** Change what is looked at: tell everyone who listens, and the address. */
export function look(changes, { is_step = false } = {}) {
  const changed = assign(changes);
  if (changed.length === 0) return;
  if (changed.some((name) => PLACE.includes(name))) stay();
  write(is_step);
  tell(changed);
}

/** Change what is looked at for a reader who did not ask for it: nobody hears of it, nor the address but where it is wrong. */
export function look_unasked(changes, { is_wrong = false } = {}) {
  assign(changes);
  if (is_wrong) write(false);
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
  is_free = PLACE.every((name) => state[name] === null);
  return changed;
}

function assign(changes) {
  const changed = Object.keys(changes).filter((name) => state[name] !== changes[name]);
  Object.assign(state, changes);
  return changed;
}

function tell(changed) {
  for (const listener of listeners) listener(changed);
}

function write(is_step) {
  const told = new URLSearchParams(NAMES.filter((name) => state[name] !== null).map((name) => [name, state[name]]));
  const address = `${location.pathname}${location.search}${told.size ? `#${told}` : ""}`;
  if (is_step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

function moved() {
  const changed = read();
  if (changed.length > 0) tell(changed);
}

window.addEventListener("hashchange", moved);
window.addEventListener("popstate", moved);
