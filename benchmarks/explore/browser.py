"""The explorer's one file in Chromium: how large it is, how soon it opens, how fast a drag is.

``python -m benchmarks.explore.browser`` writes its section of the page.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks import report
from benchmarks.trees.checks import adult_frame
from tacit.explore import Explorer
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_OPENED = 5  # times
_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
# Drags over every column with a few labels, first with nothing else selected, then with a
# condition on another column: from the first label to the last, a step at a time.
_DRAGS = """async () => {
  const [ready, steps] = [[], []];
  for (const others of [false, true]) {
    for (let c = 0; c < tacit.arities.length; c++) {
      const n = tacit.arities[c];
      if (n < 3) continue;
      const other = (c + 1) % tacit.arities.length;
      await tacit.set({ a: new Map(others ? [[other, { codes: [0], excluded: true }]] : []) });
      const start = performance.now();
      await tacit.linked.prepare(c, tacit.state.a, tacit.needed);
      ready.push(performance.now() - start);
      for (let k = 1; k < n; k++) {
        const codes = Array.from({ length: k }, (_, i) => i);
        await new Promise(requestAnimationFrame);
        const begun = performance.now();
        tacit.change(c, { codes, excluded: false }, false);
        steps.push(performance.now() - begun);
      }
    }
  }
  return { ready, steps };
}"""


def main() -> None:
    """Write the section."""
    from playwright.sync_api import sync_playwright

    section = report.Section("explore-browser", "The explorer's one file")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=_OPTIONS
        )
        section.made_with("polars", "playwright", note=f"Chromium {browser.version}.")
        section.say(
            "`tacit explore FILE -o page.html`, opened from the disk. *Opens*: from the navigation "
            "until all histograms stand, median of five. *Ready*: from the pointer's coming near a "
            "histogram until all that a drag over it needs has been counted, in a worker beside "
            "the page. *Step*: one step of a drag, until all linked histograms are drawn; over "
            "every column, with and without another condition. *Asked*: what was to be reached.",
            "",
        )
        rows = []
        for name, table, most in _tables():
            path = Path(folder) / "page.html"
            start = time.process_time()
            Explorer(table).save(path, max_records=most)
            written = time.process_time() - start
            rows.append([name, human_bytes(path.stat().st_size), report.milliseconds(written),
                         *_seen(browser, path)])  # fmt: skip
        frames = sorted(_scrolled(browser, Path(folder) / "wide.html"))
        browser.close()
    section.table(
        ["data", "file", "written in (CPU)", "opens", "asked", "ready, median (max)",
         "step: median, 95 %, max", "asked"], rows,
    )  # fmt: skip
    parts = [frames[int(part * (len(frames) - 1))] for part in (0.5, 0.95, 1)]
    section.say(
        f"Scrolling through 800 columns of 2,000 records, two selected, 200 pixels a frame: "
        f"{parts[0]:.0f}, {parts[1]:.0f} and {parts[2]:.0f} ms between frames (median, 95 %, max) "
        f"of {len(frames):,}.",
        "",
    )
    section.write()


def _scrolled(browser: Browser, path: Path) -> list[float]:
    """Return the milliseconds between frames while a wide table is scrolled through."""
    rng = np.random.default_rng(0)
    Explorer(tacit.Table(rng.poisson(0.6, (2_000, 800)))).save(path)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    while page.evaluate("!(globalThis.tacit && tacit.sizes.a)"):
        time.sleep(0.05)
    found = page.evaluate(
        """async () => {
          const condition = { codes: [0], excluded: false };
          await tacit.set({ a: new Map([[3, condition], [5, condition]]) });
          const taken = [];
          let last = await new Promise(requestAnimationFrame);
          while (scrollY + innerHeight < document.documentElement.scrollHeight - 1) {
            scrollBy(0, 200);
            const now = await new Promise(requestAnimationFrame);
            taken.push(now - last);
            last = now;
          }
          return taken;
        }"""
    )
    page.close()
    return [float(x) for x in found]


def _tables() -> Any:
    yield "Adult, 48,842 × 15 (asked: 5 MB)", tacit.Table(adult_frame()), None
    flights = tacit.Table(tacit.datasets.make_flights(10_000_000))
    yield "flights, 10 million × 7 (asked: 100 MB)", flights, None
    yield "the same, a sample of 1 million", flights, 1_000_000


def _seen(browser: Browser, path: Path) -> list[str]:
    """Return what is measured of a file, as it is written."""
    opened = []
    for _ in range(_OPENED):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.add_init_script(
            """const look = () => {
              if (globalThis.tacit?.sizes?.a) globalThis.opened = performance.now();
              else setTimeout(look, 4);
            };
            look();"""
        )
        page.goto(path.as_uri())
        while page.evaluate("globalThis.opened === undefined"):
            time.sleep(0.05)
        opened.append(page.evaluate("opened"))
        if len(opened) == _OPENED:
            found = page.evaluate(_DRAGS)
        context.close()
    ready, steps = sorted(found["ready"]), sorted(found["steps"])
    at = [steps[int(part * (len(steps) - 1))] for part in (0.5, 0.95, 1)]
    return [
        report.milliseconds(statistics.median(opened) / 1000), "2 s",
        f"{statistics.median(ready):.0f} ({ready[-1]:.0f}) ms",
        ", ".join(f"{x:.1f}" for x in at) + f" ms of {len(steps):,}", "16 ms",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
