// Elements, made without markup: whatever comes from the traffic only ever becomes text.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element; `is` holds attributes, `on…` listeners, `class` and `text`; null and false leave one out. */
export function el(name, is = {}, ...children) {
  return furnish(document.createElement(name), is, children);
}

/** Make an element of a drawing. */
export function svg(name, is = {}, ...children) {
  return furnish(document.createElementNS(SVG, name), is, children);
}

/** Put children in place of whatever a place holds; the keyboard's focus stays where it was, if that is still there. */
export function fill(place, ...children) {
  const had = document.activeElement;
  const mark = had && place.contains(had) ? had.closest("[data-focus]")?.dataset.focus : null;
  place.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  if (mark) {
    [...place.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === mark)?.focus({ preventScroll: true });
  }
}

/** Return the element of an id. */
export function at(id) {
  return document.getElementById(id);
}

/** Copy a text and say so on the button for a moment. */
export async function copy(text, button) {
  const before = button.textContent;
  button.textContent = (await copied(text)) ? "Copied" : "Cannot copy";
  setTimeout(() => { button.textContent = before; }, 1500);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // no permission, or no secure context: the old way
    const area = el("textarea", { class: "unseen", "aria-label": "text to copy" });
    area.value = text;
    document.body.append(area);
    area.select();
    const is_done = document.execCommand("copy");
    area.remove();
    return is_done;
  }
}

function furnish(made, is, children) {
  for (const [name, value] of Object.entries(is)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}
