"""A real browser, one for all tests; without Chromium or Playwright these tests are skipped."""

import shutil
from dataclasses import dataclass, field

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE, DESK = 390, 1280


# Not for the session: while Playwright is open, nobody else can run an event loop.
@pytest.fixture(scope="package")
def chromium():
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is absent")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on the path")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


@dataclass
class Seen:
    """A page in the browser, and what went wrong on it."""

    page: object
    errors: list = field(default_factory=list)

    def run(self, script, argument=None):
        return self.page.evaluate(script, argument)

    @property
    def width(self):
        return self.run("document.documentElement.scrollWidth")

    def contrasts(self, selector="body *"):
        """Return text and contrast of everything that says something."""
        return self.run(CONTRASTS, selector)


@pytest.fixture(scope="package")
def windows(chromium):
    """Windows by width and colour scheme, opened when they are first asked for."""
    opened = {}

    def window(width, scheme):
        if (width, scheme) not in opened:
            size = {"width": width, "height": 800}
            seen = Seen(chromium.new_context(viewport=size, color_scheme=scheme).new_page())
            seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
            seen.page.on(
                "console",
                lambda line: seen.errors.append(line.text) if line.type == "error" else None,
            )
            opened[width, scheme] = seen
        return opened[width, scheme]

    return window


@pytest.fixture
def see(windows, tmp_path):
    """Open HTML or SVG in the browser: width in pixels, light or dark."""

    def open_page(text, width=PHONE, scheme="light", ending="html"):
        path = tmp_path / f"page.{ending}"
        path.write_text(text, encoding="utf-8")
        seen = windows(width, scheme)
        seen.errors.clear()
        seen.page.goto(path.as_uri())
        return seen

    return open_page


# The contrast of each text with what is behind it, after WCAG 2: 1 to 21. Opacity counts.
CONTRASTS = """
selector => {
  const number = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const over = (top, below) => {
    const a = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(k => a * top[k] + (1 - a) * below[k]);
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = getComputedStyle(document.documentElement).colorScheme;
  const canvas = dark && scheme.includes("dark") ? [18, 18, 18] : [255, 255, 255];
  const inSvg = element => element instanceof SVGElement && element.ownerSVGElement;
  const behind = element => {
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.unshift(e);
    let colour = canvas;
    for (const e of chain) {
      const fill = number(getComputedStyle(e).backgroundColor);
      if (fill.length) colour = over(fill, colour);
      const paper = e.tagName === "svg" && e.querySelector(":scope > rect[width='100%']");
      if (paper) colour = over(number(getComputedStyle(paper).fill), colour);
    }
    return colour;
  };
  const light = colour => {
    const [r, g, b] = colour.map(x => x / 255)
      .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.querySelectorAll(selector)) {
    const text = [...element.childNodes].filter(n => n.nodeType === 3)
      .map(n => n.textContent.trim()).join("");
    if (!text || /^(SCRIPT|STYLE|TITLE|OPTION)$/i.test(element.tagName)) continue;
    if (!element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    if (inSvg(element) && style.stroke !== "none") continue;  // the halo of another text
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
    const paper = behind(element);
    const ink = number(inSvg(element) ? style.fill : style.color);
    const shown = over([...ink.slice(0, 3), (ink.length > 3 ? ink[3] : 1) * opacity], paper);
    const [high, low] = [light(shown), light(paper)].sort((a, b) => b - a);
    found.push([text.slice(0, 40), (high + 0.05) / (low + 0.05)]);
  }
  return found;
}
"""


@pytest.fixture
def explore(chromium, tmp_path):
    """Open a table; whatever a test does, no error may be logged and no other host asked."""
    opened = []

    def open_table(table, **options):
        from browser.explored import explored

        manager = explored(chromium, table, tmp_path, **options)
        opened.append((manager, manager.__enter__()))
        return opened[-1][1]

    yield open_table
    for manager, seen in reversed(opened):
        try:
            seen.check()
        finally:
            manager.__exit__(None, None, None)
