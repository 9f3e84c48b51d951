// Says when nothing was judged for longer than three judgements: what stands here may no longer hold.

import { at } from "./dom.js";
import { clock, lasted } from "./words.js";

const MOST = 3;
const LOOK_MS = 1000;
const SLICE_MS = 10_000;

let last = null; // when something came, on this machine's clock
let as_of = null;
let slice = SLICE_MS;

/** Something was judged, as of a time; `slice_ms` says how often that happens. */
export function heard(of, slice_ms = slice) {
  if (of !== as_of) last = Date.now();
  as_of = of;
  slice = slice_ms;
  tell();
}

/** Look every second whether it is stale. */
export function watch() {
  setInterval(tell, LOOK_MS);
}

function tell() {
  const is_stale = last !== null && Date.now() - last > MOST * slice;
  at("stale").hidden = !is_stale;
  document.body.classList.toggle("is-stale", is_stale);
  const text = is_stale ? `Stale since ${clock(as_of)} UTC: nothing was judged for ${lasted(Date.now() - last)}. Is the daemon running?` : "";
  if (at("stale").textContent !== text) at("stale").textContent = text;
}
