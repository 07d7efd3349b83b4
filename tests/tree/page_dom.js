// Runs the script of a network's page on a document that does just enough, then plays a person.
// Prints as JSON what the person would see.
const fs = require("fs");
const page = fs.readFileSync(process.argv[2], "utf8");

class Element {
  constructor(kind, id) {
    Object.assign(this, { kind, id, children: [], attributes: {}, listeners: {}, text: "" });
    this.value = "";
  }
  set textContent(text) { this.text = String(text); this.children = []; }
  get textContent() { return this.text + this.children.map(c => c.textContent).join(""); }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  toggleAttribute(name, on) { if (on) this.attributes[name] = ""; else delete this.attributes[name]; }
  appendChild(child) { this.children.push(child); return child; }
  replaceChildren() { this.children = []; }
  addEventListener(name, body) { this.listeners[name] = body; }
  getBoundingClientRect() { return { left: 0, top: 0, width: 800, height: 600 }; }
  focus() { document.focused = this; }
  fire(name, event = {}) { this.listeners[name]({ preventDefault() {}, target: this, ...event }); }
  get shown() { return !("hidden" in this.attributes); }
  get style() { return this.attributes.class; }
}
const known = {};
for (const [, id] of page.matchAll(/ id="(\w+)"/g)) known[id] = new Element("div", id);
known.data.textContent = page.match(/id="data">([\s\S]*?)<\/script>/)[1];
known.strength.value = page.match(/id="strength"[^>]* value="(\d+)"/)[1];
const root = new Element("document");
const document = Object.assign(root, {
  getElementById: id => known[id],
  createElement: kind => new Element(kind),
  createElementNS: (_, kind) => new Element(kind),
});
const addEventListener = () => {};
eval(page.match(/<script>([\s\S]*?)<\/script>/)[1]);

const [under, over] = known.graph.children;
const lines = () => under.children.filter(e => e.style.startsWith("arc"));
const boxes = () => over.children;
const named = name => boxes().find(e => e.attributes["aria-label"] === name);
const see = () => ({
  arcs: lines().filter(e => e.shown).length,
  boxes: boxes().filter(e => e.shown).map(e => e.attributes["aria-label"]).sort(),
  chosen: boxes().filter(e => /chosen/.test(e.style)).map(e => e.attributes["aria-label"]),
  near: boxes().filter(e => /near/.test(e.style)).map(e => e.attributes["aria-label"]).sort(),
  into: lines().filter(e => e.shown && / in/.test(e.style)).length,
  out: lines().filter(e => e.shown && / out/.test(e.style)).length,
  panel: known.panel.textContent,
  message: known.message.textContent,
  focused: document.focused ? document.focused.attributes["aria-label"] : null,
});
const steps = { start: see() };
known.strength.value = "2";
known.strength.fire("input");
steps.two = see();
known.strength.value = "0";
const target = process.argv[3];
named(target).fire("keydown", { key: "Enter" });
steps.chosen = see();
root.fire("keydown", { key: "Escape" });
steps.let_go = see();
known.search.value = target.slice(0, -1).toUpperCase();
known.search.fire("change");
steps.found = see();
known.search.value = "nothing like it";
known.search.fire("change");
steps.lost = see();
console.log(JSON.stringify(steps));
