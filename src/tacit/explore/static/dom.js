// Elements of the page. Texts of the data only ever become text nodes and attributes.

/**
 * @param {string} tag
 * @param {Record<string, any>} [given] attributes; those that begin with "on" are listeners
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
export function el(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-") && value !== null) element.setAttribute(name, String(value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * A text of the data, kept apart from the direction of the text around it.
 * @param {string} text
 * @param {number} [most] characters
 */
export function bdi(text, most = 300) {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return el("bdi", text.length > most ? { title: text.slice(0, 1000) } : {}, cut);
}

/**
 * Buttons of which one is chosen.
 * @param {string} name
 * @param {[string, string][]} choices values and texts
 * @param {string} chosen
 * @param {(value: any) => void} choose
 */
export function choice(name, choices, chosen, choose) {
  return el(
    "span",
    { class: "group", role: "group", "aria-label": name },
    ...choices.map(([value, text]) =>
      el("button", { "aria-pressed": value === chosen, onclick: () => choose(value) }, text),
    ),
  );
}

/**
 * @param {string} name
 * @param {[string, string][]} choices
 * @param {string} chosen
 * @param {(value: any) => void} choose
 * @param {boolean} [unseen] whether the name is for screen readers only
 */
export function select(name, choices, chosen, choose, unseen = false) {
  const list = /** @type {HTMLSelectElement} */ (
    el("select", {}, ...choices.map(([value, text]) =>
      el("option", { value, selected: value === chosen }, text.slice(0, 80))))
  );
  list.addEventListener("change", () => choose(list.value));
  return el("label", {}, el("span", { class: unseen ? "unseen" : null }, name), list);
}

const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** @param {number} count */
export function number(count) {
  return NUMBER.format(count);
}

/**
 * A count, and if it is an estimate its interval.
 * @param {number} count
 * @param {((count: number) => [number, number]) | null} margin
 */
export function estimate(count, margin) {
  if (!margin) return number(count);
  const [low, high] = margin(count);
  return `≈ ${number(Math.round(count))} (${number(low)} – ${number(high)})`;
}

/**
 * Let screen readers say something.
 * @param {string} message
 */
export function say(message) {
  const said = document.getElementById("said");
  if (said) said.textContent = message;
}

/**
 * Show a hint near a place of the window, or none.
 * @param {string} text
 * @param {number} [x]
 * @param {number} [y]
 */
export function hint(text, x = 0, y = 0) {
  const box = /** @type {HTMLElement} */ (document.getElementById("hint"));
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(Math.max(x + 14, 6), innerWidth - width - 6);
  const top = y + height + 22 > innerHeight ? y - height - 12 : y + 18;
  box.style.transform = `translate(${Math.max(left, 0)}px, ${Math.max(top, 0)}px)`;
}
