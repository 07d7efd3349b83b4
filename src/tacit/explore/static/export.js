// Out again: pictures, tables of numbers, and code that gives the same numbers.

import { conditionWords } from "./conditions.js";
import { bdi, el } from "./dom.js";
import { SvgPainter, ROW, drawBars, drawRows, plain } from "./paint.js";
import { allowed, selectionText } from "./state.js";
import { csvLines, csvText, pythonCode, shellCommand } from "./code.js";

/** @typedef {import("./page.js").Page} Page */

/**
 * Open the dialog for some columns: none for the selection as a whole.
 * @param {Page} page
 * @param {number[]} columns
 */
export function openExport(page, columns) {
  const names = columns.map((c) => page.schema.columns[c].name);
  const close = el("button", { "aria-label": "Close", onclick: () => dialog.close() }, "✕");
  const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-label": "Export" }));
  dialog.addEventListener("close", () => dialog.remove());
  const title = el("h2", {}, names.length ? bdi(names.join(" × "), 120) : "The selection");
  const pictures = el("div", { class: "row" });
  if (columns.length) {
    pictures.append(
      el("button", { onclick: () => save(`${fileName(names)}.svg`, "image/svg+xml", pictureOf(page, columns)) }, "SVG"),
      el("button", { onclick: () => savePng(page, columns, fileName(names)) }, "PNG"),
      el("button", {
        onclick: async () => {
          try {
            save(`${fileName(names)}.csv`, "text/csv", await csvOf(page, columns));
          } catch (error) {
            page.fail(error);
          }
        },
      }, "CSV"));
  }
  const { a, b } = page.state;
  const codes = [el("h3", {}, "In Python"), copied(pythonCode(page.schema, a, columns))];
  if (b) codes.push(el("h3", {}, "B in Python"), copied(pythonCode(page.schema, b, columns)));
  const command = shellCommand(page.schema, a, columns);
  codes.push(el("h3", {}, "On the command line"), command.possible ? copied(command.text) : el("p", { class: "quiet" }, command.text));
  codes.push(el("h3", {}, "This view"), copied(location.hash || `#${page.address}`));
  const words = [...a].map(([c, condition]) => {
    const column = page.schema.columns[c];
    return `${plain(column.name.slice(0, 80))} ${conditionWords(column, condition)}`;
  });
  dialog.append(el("div", { class: "bar" }, title, close),
    el("p", { class: "quiet" }, words.length ? bdi(`Given: ${words.join("; ")}`, 400) : "All records."),
    pictures, ...codes);
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {string} text */
function copied(text) {
  const button = el("button", {}, "Copy");
  const block = el("pre", { tabindex: 0 }, text);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(block);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  return el("div", {}, block, button);
}

/** @param {string[]} names */
function fileName(names) {
  return names.join("-").replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 60) || "tacit";
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string | Blob} content
 */
function save(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * The view of one column or of two as SVG.
 * @param {Page} page
 * @param {number[]} columns
 */
export function pictureOf(page, columns) {
  const width = 640;
  const title = columns.map((c) => page.schema.columns[c].name.slice(0, 120)).join(" × ");
  const [c] = columns;
  if (columns.length > 1) {
    return page.pair.picture(width, title);
  }
  const card = page.card(c);
  const condition = page.state.a.get(c);
  const drawn = {
    ...page.shown(c), column: card.column, order: card.order, cursor: -1,
    through: condition ? allowed(condition, page.arities[c]) : null,
  };
  const painter = new SvgPainter();
  const height = card.bars ? 240 : card.order.length * ROW + 4;
  if (card.bars) drawBars(painter, drawn, width, height, page.colours);
  else drawRows(painter, drawn, width, page.colours);
  return painter.picture(width, height, title, page.colours.card);
}

/**
 * @param {Page} page
 * @param {number[]} columns
 * @param {string} name
 */
async function savePng(page, columns, name) {
  const url = URL.createObjectURL(new Blob([pictureOf(page, columns)], { type: "image/svg+xml" }));
  const image = new Image();
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && save(`${name}.png`, "image/png", blob));
  } catch (error) {
    page.fail(error);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * The counts of a view as CSV.
 * @param {Page} page
 * @param {number[]} columns
 */
export async function csvOf(page, columns) {
  const { a, b, against } = page.state;
  const infos = columns.map((c) => page.schema.columns[c]);
  const [[ofA]] = await page.source.tables([{ given: selectionText(a), sets: [columns] }]);
  /** @type {[string, ArrayLike<number>][]} */
  const counts = [];
  /**
   * @param {string} ending of the names
   * @param {ArrayLike<number>} found
   * @param {Iterable<number>} given columns with conditions
   */
  const add = (ending, found, given) => {
    counts.push([`count${ending}`, found]);
    const margin = page.margin([...columns, ...given]);
    if (!margin) return;
    const ends = Array.from(found, margin);
    counts.push([`low${ending}`, ends.map(([low]) => low)], [`high${ending}`, ends.map(([, high]) => high)]);
  };
  add("", ofA, a.keys());
  if (against === "b" && b) {
    const [[ofB]] = await page.source.tables([{ given: selectionText(b), sets: [columns] }]);
    add("_b", ofB, b.keys());
  } else if (a.size) {
    const [[all]] = await page.source.tables([{ given: "", sets: [columns] }]);
    add("_all", all, []);
  }
  return csvText(infos, counts);
}

/**
 * A table of texts as CSV, as a download.
 * @param {Page} page
 * @param {string} name
 * @param {string[][]} rows the first has the names
 */
export function openTable(page, name, rows) {
  save(`${fileName([page.schema.title, name])}.csv`, "text/csv", csvLines(rows));
}

/**
 * A table of the page.
 * @param {string} name for screen readers
 * @param {string[]} head names of columns; numbers begin with "#"
 * @param {(Node | string)[][]} rows
 */
export function tableOf(name, head, rows) {
  const numeric = head.map((text) => (text.startsWith("#") ? "number" : null));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((text, k) => el("th", { scope: "col", class: numeric[k] }, text.replace("#", ""))))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, k) => el("td", { class: numeric[k] }, cell)))))));
}
