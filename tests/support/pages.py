"""Tables that are hard to show: names of markup, long names, and many columns."""

import json
import re

import numpy as np

import tacit

EVIL = '<script>document.title = "owned"</script><b>'
LONG = "a-column-whose-name-goes-on-and-on-without-any-room-to-break-it-anywhere-at-all"

READABLE, VISIBLE = 4.5, 3.0  # contrasts that texts and marks must have (WCAG 2, AA)


def data_of(page):
    """Return what the script of a page is given."""
    [data] = re.findall('<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(data)


def faint(contrasts):
    """Return what cannot be read."""
    return [
        (text, contrast)
        for text, contrast in contrasts
        if contrast < (VISIBLE if text == "■" else READABLE)
    ]


def long_table(n=1500, columns=24):
    """Return a table in which neighbouring columns depend on each other, some inversely."""
    rng = np.random.default_rng(7)
    hidden = rng.random(n) < 0.4
    data = {}
    for k in range(columns):
        flip = rng.random(n) < 0.15 + 0.01 * k
        data[f"c{k}"] = np.where(flip, rng.random(n) < 0.3, hidden if k % 3 else ~hidden)
    data[LONG] = np.where(hidden, LONG, rng.choice(["x", "y", EVIL], n))
    data[EVIL] = rng.choice(["a", EVIL, "c"], n, p=[0.6, 0.3, 0.1])
    return tacit.Table(data, defaults={f"c{k}": False for k in range(columns)})
