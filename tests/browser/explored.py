"""The explorer in a browser: opened by its server or as a file, and what went wrong on the way."""

import contextlib
from urllib.parse import urlsplit

import numpy as np

import tacit
from support.pages import EVIL, LONG
from tacit.explore import Explorer
from tacit.explore.state import Selection

# The columns of mixed_table.
AGE, TOWN, HOURS, RICH, PETS, RARE = range(6)

BIDI = "abc\u202edef\u2066ghi"
HOSTILE = [
    EVIL,
    "\"quoted' \\ \\n `${1}`",
    BIDI,
    "x" * 10_000,
    "",
    "</script><script>alert(1)</script>",
]


def hostile_table(n=600):
    rng = np.random.default_rng(1)
    return tacit.Table(
        {
            EVIL: [HOSTILE[k] for k in rng.integers(0, len(HOSTILE), n)],
            "x" * 10_000: rng.integers(0, 4, n),
            BIDI: rng.choice([True, False], n),
            LONG: [[None, LONG, "=1+1", "-5", "a,b\nc"][k] for k in rng.integers(0, 5, n)],
            "__proto__": rng.normal(size=n).round(2),
            "constructor": ["toString", "__proto__", "hasOwnProperty"] * (n // 3),
        }
    )


def mixed_table(n=2000, weights=None):
    rng = np.random.default_rng(4)
    age = rng.integers(17, 91, n)
    rich = rng.random(n) < np.clip((age - 20) / 80, 0, 1) * 0.8
    town = rng.choice(["north", "south", "east", "west", None], n, p=[0.4, 0.3, 0.2, 0.05, 0.05])
    hours = np.where(rng.random(n) < 0.5, 40.0, rng.normal(38, 10, n).round(1))
    hours[rng.random(n) < 0.1] = np.nan
    return tacit.Table(
        {
            "age": age, "town": town.tolist(), "hours": hours, "rich": rich,
            "pets": rng.poisson(0.2, n), "rare": rng.random(n) < 0.03,
        },
        weights=weights,
    )  # fmt: skip


class Explored:
    """A page of the explorer."""

    def __init__(self, page, url):
        self.page, self.url = page, url
        self.errors, self.hosts, self.requests = [], set(), []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("request", self._requested)

    def _requested(self, request):
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob"):
            self.hosts.add(address.netloc)
            self.requests.append(address.path)

    def open(self, state=""):
        self.page.goto(f"{self.url}#{state}" if state else self.url)
        self.until("globalThis.tacit && (tacit.base.length || !problem.hidden)")
        self.settle()
        return self

    def settle(self):
        self.page.wait_for_timeout(60)
        self.page.evaluate("async () => { await tacit.settled; }")
        self.until("!tacit.linked.coming")

    def until(self, condition):
        """Wait; Playwright's own way of doing so is what the page's policy forbids."""
        for _ in range(2400):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"never: {condition}")

    def go(self, state):
        self.page.evaluate("state => { location.hash = state; }", state)
        self.settle()

    def shown(self, column, what="a"):
        return self.page.evaluate(
            "([c, what]) => Array.from(tacit.shown(c)[what] ?? [])", [column, what]
        )

    def size(self, which="a"):
        return self.page.evaluate("which => tacit.sizes[which]", which)

    def canvas(self, column):
        found = self.page.locator(f'[data-column="{column}"] canvas')
        found.scroll_into_view_if_needed()
        return found

    def place(self, column, code):
        """Return where the bar or the row of a label is, in the window."""
        self.canvas(column)
        return self.page.evaluate(
            """async ([c, code]) => {
              const card = tacit.cards.get(c);
              if (!card.bars) card.plot.scrollTop = (card.order.indexOf(code) - 2) * 21;
              await new Promise(requestAnimationFrame);
              const box = card.canvas.getBoundingClientRect();
              const { left, top, width, height } = box;
              const y = top + card.order.indexOf(code) * 21 + 10;
              if (!card.bars) return [left + width / 2, y];
              const at = x => card.codeAt({ clientX: left + x, clientY: top + 30 });
              for (let x = 1; x < width; x++)
                if (at(x) === code && at(x + 2) === code) return [left + x + 2, top + height / 2];
            }""",
            [column, code],
        )  # fmt: skip

    def click(self, column, code, **options):
        self.page.mouse.move(*self.place(column, code))
        self.page.keyboard.down(options["key"]) if "key" in options else None
        self.page.mouse.click(*self.place(column, code))
        self.page.keyboard.up(options["key"]) if "key" in options else None
        self.settle()

    def drag(self, column, first, last, *, release=True):
        self.page.mouse.move(*self.place(column, first))
        self.settle()
        self.page.mouse.down()
        self.page.mouse.move(*self.place(column, last), steps=6)
        if release:
            self.page.mouse.up()
            self.settle()

    def button(self, name, **options):
        return self.page.get_by_role("button", name=name, **options)

    @property
    def hash(self):
        return self.page.evaluate("location.hash.slice(1)")

    @property
    def problem(self):
        box = self.page.locator("#problem")
        return box.inner_text() if box.is_visible() else ""

    def check(self):
        """Nothing failed, and nobody else was asked."""
        assert not self.errors, self.errors
        assert self.hosts <= {urlsplit(self.url).netloc}


@contextlib.contextmanager
def explored(
    chromium, table, folder, *, offline=False, width=1280, scheme="light", state="", most=None,
    **options,
):  # fmt: skip
    """Open a table in the explorer, by a server or as one file, of at most so many records."""
    from tacit.explore.server import Server

    explorer = Explorer(table, **options)
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    try:
        if offline:
            path = folder / "page.html"
            explorer.save(path, max_records=most)
            yield Explored(context.new_page(), path.as_uri()).open(state)
        else:
            with Server(explorer) as server:
                yield Explored(context.new_page(), server.url).open(state)
    finally:
        context.close()


def counts(table, text, column, *, without=True):
    """Return by brute force what a card shows: counts given the conditions on other columns."""
    selection = Selection.parse(text, table.schema.arities.tolist())
    others = {c: x for c, x in selection.conditions.items() if c != column or not without}
    chosen = np.ones(table.n_records, bool)
    for c, condition in others.items():
        chosen &= np.isin(table.codes(c), condition.codes) != condition.excluded
    weights = None if table.weights is None else table.weights[chosen]
    arity = len(table.schema.labels[column])
    return np.bincount(table.codes(column)[chosen], weights, arity).tolist()


def random_text(draw, arities):
    parts = []
    for c in draw.sample(range(len(arities)), draw.randint(0, 3)):
        codes = sorted(draw.sample(range(arities[c]), draw.randint(1, arities[c])))
        parts.append(f"{c}:{draw.choice(['', '!'])}{','.join(map(str, codes))}")
    return ";".join(parts)
