// The page: what is selected, and the views that follow it.

import { Card } from "./cards.js";
import { withCondition, within } from "./conditions.js";
import { DifferenceView } from "./difference.js";
import { bdi, choice, el, hint, number, select } from "./dom.js";
import { openExport } from "./export.js";
import { selectionBar } from "./header.js";
import { Linked } from "./linked.js";
import { crossMeasures, difference, entropy, sampleInterval, sum } from "./measures.js";
import { colours } from "./paint.js";
import { ModelsView } from "./models.js";
import { PairView } from "./pair.js";
import { firstState, parseState, selectionText, stateText } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Schema} Schema */
/** @typedef {import("./source.js").Counts} Counts */

const CARDS = 1000; // to a page
const FIRST_CARDS = 40; // that are taken to be seen until it is known which ones are

export class Page {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    this.state = firstState();
    /** @type {Schema} */
    this.schema = { columns: [], records: 0, weighted: false, fingerprint: "", leftOut: [], title: "", target: null, start: "", code: "", file: "" };
    /** @type {number[]} */
    this.arities = [];
    /** @type {Counts[]} */
    this.base = [];
    this.total = 0;
    this.linked = new Linked(source, []);
    /** @type {Map<number, Card>} */
    this.cards = new Map();
    /** @type {number[]} */
    this.listed = [];
    /** @type {Map<number, number>} */
    this.scores = new Map();
    this.scored = "";
    /** @type {Map<number, Counts>} */
    this.a = new Map();
    /** @type {Map<number, Counts>} */
    this.b = new Map();
    this.grid = el("div", { class: "cards" });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.soon = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.typing = undefined;
    this.generation = 0;
    this.selected = 0; // how often the selection has changed in drags
    this.sizes = { a: 0, b: 0 };
    this.busy = false;
    this.again = false;
    this.settled = Promise.resolve();
    /** @type {Record<string, string>} */
    this.colours = {};
    this.difference = new DifferenceView(this);
    this.pair = new PairView(this);
    this.models = new ModelsView(this);
    /** @type {Set<number>} columns whose cards are seen, or nearly */
    this.seen = new Set();
    this.watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const c = Number(/** @type {HTMLElement} */ (entry.target).dataset.column);
        if (entry.isIntersecting) this.seen.add(c);
        else this.seen.delete(c);
        this.cards.get(c)?.look(entry.isIntersecting);
      }
      this.appear();
    }, { rootMargin: "400px" });
  }

  async open() {
    try {
      this.schema = await this.source.schema();
      this.arities = this.schema.columns.map((column) => column.labels.length);
      this.linked = new Linked(this.source, this.arities);
      const base = await this.linked.marginals(new Map(), this.arities.map((_, c) => c));
      this.base = this.arities.map((_, c) => /** @type {Counts} */ (base.get(c)));
    } catch (error) {
      this.fail(error);
      return;
    }
    this.total = sum(this.base[0]);
    document.title = `${this.schema.title} · tacit explore`;
    this.place("title").replaceChildren(this.schema.title);
    this.colours = colours();
    const start = location.hash.slice(1) || this.schema.start;
    this.read(start);
    if (!location.hash && this.schema.target !== null && !this.schema.start) {
      this.state.target = this.schema.target;
      this.state.order = "target";
    }
    history.replaceState({ depth: history.state?.depth ?? 0 }, "", `#${this.address}`);
    addEventListener("popstate", () => {
      this.read(location.hash.slice(1));
      this.settled = this.refresh();
    });
    const redraw = () => {
      this.colours = colours();
      this.draw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    let width = 0;
    const views = this.place("views");
    new ResizeObserver(() => {
      if (views.clientWidth !== width) redraw();
      width = views.clientWidth;
    }).observe(views);
    addEventListener("keydown", (event) => this.key(event));
    await this.refresh();
  }

  /** @param {string} id */
  place(id) {
    return /** @type {HTMLElement} */ (document.getElementById(id));
  }

  get address() {
    return stateText(this.state, this.schema.fingerprint);
  }

  /** @param {string} text */
  read(text) {
    const { state, problem } = parseState(text, this.schema.fingerprint, this.arities);
    this.state = state;
    this.problem(problem);
  }

  /** @param {string} text */
  problem(text) {
    const box = this.place("problem");
    box.hidden = !text;
    box.replaceChildren(text, el("button", { onclick: () => this.problem("") }, "Dismiss"));
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    this.problem(error instanceof Error ? error.message : String(error));
  }

  /**
   * Change what is shown, as a step that can be undone.
   * @param {Partial<State>} change
   */
  set(change) {
    Object.assign(this.state, change);
    const address = `#${this.address}`;
    if (address !== location.hash) {
      history.pushState({ depth: (history.state?.depth ?? 0) + 1 }, "", address);
    }
    this.settled = this.refresh();
    return this.settled;
  }

  get canUndo() {
    return (history.state?.depth ?? 0) > 0;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing && this.canUndo) {
      event.preventDefault();
      history.back();
    } else if (event.key === "/" && !typing) {
      const search = document.querySelector("input[type=search]");
      if (search instanceof HTMLInputElement) {
        event.preventDefault();
        search.focus();
      }
    } else if (event.key === "Escape") {
      hint("");
    }
  }

  // What cards ask for

  /** @param {number} column */
  condition(column) {
    return this.state.a.get(column);
  }

  /**
   * @param {number} column
   * @param {import("./state.js").Condition | null} condition
   * @param {boolean} last whether a drag has ended with this
   */
  change(column, condition, last) {
    const a = withCondition(this.state.a, column, condition, this.arities[column]);
    if (last) {
      this.set({ a });
      return;
    }
    this.state.a = a;
    this.selected++;
    this.follow();
  }

  /** @param {number} column */
  ready(column) {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      this.linked.prepare(column, this.state.a, this.needed).catch((error) => this.fail(error));
    }, 40);
  }

  /** @param {number} column */
  openPair(column) {
    const { x, y } = this.state;
    this.set({ view: "pair", x: column, y: y !== column ? y : x !== column ? x : (column + 1) % this.arities.length });
  }

  /** @param {number} column */
  openMenu(column) {
    openExport(this, [column]);
  }

  // Following the selection

  /** Columns whose counts are needed: those that are seen, and those with conditions. */
  get needed() {
    const near = this.listed.filter((c, k) => k < FIRST_CARDS || this.seen.has(c));
    return [...new Set([...near, ...this.state.a.keys()])].sort((x, y) => x - y);
  }

  /**
   * Whether all is known that the card of a column shows.
   * @param {number} c
   */
  counted(c) {
    const { a, b, against } = this.state;
    return (!a.size || this.a.has(c)) && (!b || against !== "b" || this.b.has(c));
  }

  /** Have the cards counted that have come into sight. */
  appear() {
    const { a, b } = this.state;
    const { generation, selected } = this;
    if (this.busy || this.state.view !== "overview" || this.needed.every((c) => this.counted(c))) return;
    this.settled = Promise.all([
      this.linked.marginals(a, this.needed),
      b ? this.linked.marginals(b, [...new Set([...this.needed, ...b.keys()])]) : new Map(),
    ]).then(([ofA, ofB]) => {
      if (generation !== this.generation || selected !== this.selected) return;
      this.a = ofA;
      this.b = ofB;
      this.show();
      this.appear(); // others may have come since
    }, (error) => this.fail(error));
  }

  /** Show the counts of a selection in the making; from here if they are here. */
  follow() {
    const local = this.linked.local(this.state.a, this.needed);
    if (local) {
      this.a = local;
      this.show();
      return;
    }
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    const generation = this.generation;
    this.settled = this.linked.marginals(this.state.a, this.needed)
      .then((found) => {
        if (generation !== this.generation) return; // all is shown anew since
        this.a = found;
        this.show();
      }, (error) => this.fail(error))
      .finally(() => {
        this.busy = false;
        if (this.again) {
          this.again = false;
          this.follow();
        } else {
          this.appear();
        }
      });
  }

  /** Show everything anew. */
  async refresh() {
    this.generation++;
    const generation = this.generation;
    this.tabs();
    this.tools();
    try {
      await this.rank();
      if (generation !== this.generation) return;
      this.list();
      const { a, b, against } = this.state;
      const [ofA, ofB] = await Promise.all([
        this.linked.local(a, this.needed) ?? this.linked.marginals(a, this.needed),
        b ? this.linked.marginals(b, [...new Set([...this.needed, ...b.keys()])]) : new Map(),
      ]);
      if (generation !== this.generation) return;
      this.a = ofA;
      this.b = ofB;
      if (against === "b" && !b) this.state.against = "all";
      this.show();
      this.appear();
      if (this.state.view === "difference") await this.difference.refresh(this.place("views"));
      if (this.state.view === "models") this.models.refresh(this.place("views"));
      if (this.state.view === "pair") await this.pair.refresh(this.place("views"));
    } catch (error) {
      if (generation === this.generation) this.fail(error);
    }
  }

  /**
   * The number of records of a selection, of which linked counts are known.
   * @param {Selection} selection
   * @param {Map<number, Counts>} counts
   */
  sizeOf(selection, counts) {
    for (const [c, condition] of selection) {
      const known = counts.get(c);
      if (known) return sum(within(known, condition));
    }
    return this.total;
  }

  show() {
    const sizes = { a: this.sizeOf(this.state.a, this.a), b: this.state.b ? this.sizeOf(this.state.b, this.b) : 0 };
    this.sizes = sizes;
    selectionBar(this, sizes);
    if (this.state.view !== "overview") return;
    for (const c of this.listed) this.cards.get(c)?.show(this.counted(c) ? this.shown(c) : null);
  }

  /**
   * Counts of A in a column and of what A is compared with.
   * @param {number} c
   * @returns {import("./cards.js").Shown}
   */
  shown(c) {
    const { a, b, against, scale } = this.state;
    const linked = this.a.get(c) ?? this.base[c];
    const note = this.note(c);
    const margin = this.margin([c, ...a.keys()]);
    const { unit } = this;
    if (against === "all") {
      return { a: linked, other: a.size ? this.base[c] : null, otherName: "all", paired: false, scale, note, unit, margin, otherEnds: null };
    }
    const own = within(linked, a.get(c));
    if (against === "b" && b) {
      const other = within(this.b.get(c) ?? this.base[c], b.get(c));
      const about = this.margin([c, ...b.keys()]);
      return { a: own, other, otherName: "B", paired: true, scale, note, unit, margin, otherEnds: about && ((k) => about(other[k])) };
    }
    const all = this.base[c]; // which is known: the rest is as uncertain as A
    /** @type {import("./cards.js").Shown["otherEnds"]} */
    const otherEnds = margin && ((k) => {
      const [low, high] = margin(own[k]);
      return [Math.max(all[k] - high, 0), Math.max(all[k] - low, 0)];
    });
    return { a: own, other: this.rest(c, own), otherName: "the rest", paired: true, scale, note, unit, margin, otherEnds };
  }

  /**
   * Counts of the records that are not in A. Those of A may be estimates, and too high.
   * @param {number} c
   * @param {Counts} own
   * @returns {Counts}
   */
  rest(c, own) {
    return Float64Array.from(this.base[c], (count, k) => Math.max(count - own[k], 0));
  }

  /** What is counted. */
  get unit() {
    return this.schema.weighted ? "weight" : "records";
  }

  get heading() {
    return this.schema.weighted ? "Weight" : "Records";
  }

  /**
   * The interval of counts that these columns take part in; null if they are exact.
   * @param {Iterable<number>} columns
   * @returns {import("./paint.js").Margin}
   */
  margin(columns) {
    const { sample } = this.source;
    const every = [...new Set(columns)].sort((x, y) => x - y);
    if (!sample || !every.length || sample.exact.has(every.join())) return null;
    return (count) => sampleInterval(count, sample.size, sample.of);
  }

  /** @param {number} c */
  note(c) {
    const { order, target } = this.state;
    const score = this.scores.get(c);
    if (score === undefined) return "";
    if (order === "target") {
      if (c === target) return "the target";
      return `${score.toPrecision(3)} nats about ${this.schema.columns[target].name.slice(0, 60)}`;
    }
    if (order === "difference") return `differs by ${score.toPrecision(3)} nats`;
    return order === "variety" ? `entropy ${score.toPrecision(3)} nats` : "";
  }

  draw() {
    if (this.state.view === "overview") for (const c of this.listed) this.cards.get(c)?.draw();
    if (this.state.view === "pair") this.pair.draw();
  }

  // The order of cards

  async rank() {
    const { generation } = this;
    const { order, target, a, b, against } = this.state;
    const key = order === "target" ? `${order} ${target} ${selectionText(a)}`
      : order === "difference" ? `${order} ${selectionText(a)} ${against} ${b ? selectionText(b) : ""}` : order;
    if (key === this.scored) return;
    const every = this.arities.map((_, c) => c);
    /** @type {Map<number, number>} */
    const scores = new Map();
    if (order === "variety") for (const c of every) scores.set(c, entropy(this.base[c]));
    if (order === "target") {
      const groups = [{ given: selectionText(a, target), sets: /** @type {number[][]} */ ([]) }];
      for (const c of every) {
        if (c === target) continue;
        if (!a.has(c)) groups[0].sets.push([target, c]);
        else groups.push({ given: selectionText(a, target, c), sets: [[target, c]] });
      }
      const answers = await this.source.tables(groups);
      scores.set(target, Infinity);
      groups.forEach((group, g) => group.sets.forEach(([, c], k) => {
        scores.set(c, crossMeasures(answers[g][k], this.arities[target], this.arities[c]).information);
      }));
    }
    if (order === "difference") {
      for (const { column, nats } of await this.differences()) scores.set(column, nats);
    }
    if (generation !== this.generation) return;
    this.scores = scores;
    this.scored = key;
  }

  /** How A differs from what it is compared with, in each column; the largest difference first. */
  async differences() {
    const { a, b, against } = this.state;
    const every = this.arities.map((_, c) => c);
    const [ofA, ofB] = await Promise.all([
      this.linked.marginals(a, every),
      against === "b" && b ? this.linked.marginals(b, every) : null,
    ]);
    return every.map((column) => {
      const own = within(/** @type {Counts} */ (ofA.get(column)), a.get(column));
      const other = ofB && b
        ? within(/** @type {Counts} */ (ofB.get(column)), b.get(column))
        : this.rest(column, own);
      return { column, a: own, other, nats: difference(own, other) };
    }).sort((x, y) => y.nats - x.nats || x.column - y.column);
  }

  /** Put the cards that are to be seen in their order. */
  list() {
    const { order, search, view } = this.state;
    const columns = this.schema.columns;
    const wanted = search.trim().toLowerCase();
    const matches = columns.map((_, c) => c).filter((c) => !wanted
      || columns[c].name.toLowerCase().includes(wanted)
      || columns[c].labels.some((label) => label !== null && label.toLowerCase().includes(wanted)));
    if (order === "name") {
      matches.sort((x, y) => columns[x].name.localeCompare(columns[y].name, "en", { numeric: true }));
    } else if (order !== "file") {
      matches.sort((x, y) => (this.scores.get(y) ?? 0) - (this.scores.get(x) ?? 0) || x - y);
    }
    const pages = Math.max(Math.ceil(matches.length / CARDS), 1);
    const page = Math.min(this.state.page, pages - 1);
    this.listed = matches.slice(page * CARDS, (page + 1) * CARDS);
    const views = this.place("views");
    if (view !== "overview") return;
    this.grid.classList.toggle("small", this.listed.every((c) => this.arities[c] <= 3));
    const cards = this.listed.map((c) => this.card(c).element);
    const same = cards.length === this.grid.children.length && cards.every((x, k) => this.grid.children[k] === x);
    if (!same) {
      const focused = document.activeElement;
      this.grid.replaceChildren(...cards);
      if (focused instanceof HTMLElement && this.grid.contains(focused)) focused.focus({ preventScroll: true });
    }
    const below = [];
    if (!matches.length) below.push(el("p", { class: "quiet" }, "No column has this in its name or labels."));
    if (pages > 1) below.push(this.pager(page, pages, matches.length));
    if (this.schema.leftOut.length) below.push(this.leftOut());
    if (!this.source.model) below.push(this.limits());
    if (views.firstChild !== this.grid) views.replaceChildren(this.grid);
    while (this.grid.nextSibling) this.grid.nextSibling.remove();
    views.append(...below);
  }

  /** @param {number} c */
  card(c) {
    let card = this.cards.get(c);
    if (!card) {
      card = new Card(this.schema.columns[c], c, this.base[c], this);
      this.cards.set(c, card);
      this.watcher.observe(card.element);
    }
    return card;
  }

  /**
   * @param {number} page
   * @param {number} pages
   * @param {number} n
   */
  pager(page, pages, n) {
    const turn = (/** @type {number} */ to) => {
      this.set({ page: to }).then(() => scrollTo(0, 0));
    };
    return el("div", { class: "pager" },
      el("button", { disabled: page === 0, onclick: () => turn(page - 1) }, "← Previous"),
      el("span", { class: "quiet" }, `${number(page * CARDS + 1)}–${number(Math.min((page + 1) * CARDS, n))} of ${number(n)} columns`),
      el("button", { disabled: page === pages - 1, onclick: () => turn(page + 1) }, "Next →"));
  }

  leftOut() {
    const list = this.schema.leftOut.flatMap(({ name, why }, k) => [k ? "; " : "", bdi(name, 80), ` (${why})`]);
    return el("p", { class: "notes" }, "Not shown: ", ...list, ".");
  }

  /** What a file cannot answer. */
  limits() {
    const { sample } = this.source;
    return el("p", { class: "notes" },
      sample ? `This file holds a sample of ${number(sample.size)} of ${number(sample.of)} records. ${sample.exact.has("0,1") ? "Counts of one or two columns (a column under one condition, say) are exact" : "Counts of one column are exact"}; those of more are estimates, drawn with their 95 % intervals. ` : "Counts in this file are exact. ",
      "Models, and the search for combinations, need `tacit explore` and the data.");
  }

  // What is above the views

  tabs() {
    const { view } = this.state;
    /** @type {[State["view"], string][]} */
    const names = [["overview", "Overview"], ["difference", "What is different"], ["pair", "Two columns"], ["models", "Models"]];
    this.place("tabs").replaceChildren(...names.map(([value, text]) =>
      el("button", {
        "aria-current": value === view ? "page" : null,
        onclick: () => this.set({ view: value }),
      }, text)));
    this.place("tabs").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  tools() {
    const { view, order, target, search, scale } = this.state;
    const tools = this.place("tools");
    tools.hidden = view !== "overview";
    if (view !== "overview") return;
    const key = [order, target, scale, this.arities.length].join();
    const field = tools.querySelector("input");
    if (field && tools.dataset.key === key) {
      if (document.activeElement !== field) field.value = search;
      return;
    }
    tools.dataset.key = key;
    const input = /** @type {HTMLInputElement} */ (
      el("input", { type: "search", placeholder: "Search columns and labels", "aria-label": "Search columns and labels" })
    );
    input.value = search;
    input.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.set({ search: input.value, page: 0 }), 180);
    });
    /** @type {[string, string][]} */
    const columns = this.schema.columns.map((column, c) => [String(c), column.name]);
    tools.replaceChildren(
      input,
      select("Order", [
        ["file", "as in the file"], ["name", "by name"], ["target", "by what they say about …"],
        ["difference", "by how A differs"], ["variety", "by variety"],
      ], order, (value) => this.set({ order: value, target: value === "target" && target < 0 ? 0 : target, page: 0 })),
      order === "target"
        ? select("About", columns, String(target), (value) => this.set({ target: Number(value) }), true)
        : "",
      el("span", { class: "end" },
        choice("Scale", [["fraction", "Fractions"], ["count", "Counts"]], scale, (value) => this.set({ scale: value }))),
    );
  }
}
