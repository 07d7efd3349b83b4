"""The page in one file: its counts are inside, and nothing else is asked.

The file holds the distinct records as they are shown, with how often each occurs: every table of
counts follows from them exactly. A column of mostly one label is a list of the records with
another one, the others a code for each record; all of it is deflated. ``static/offline.js`` counts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.machine import check_fits
from tacit.writing import written_whole

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.explore.explorer import Explorer
    from tacit.table import Table

__all__ = ["bundle", "packed_records", "write_page"]

# Each module after those that it imports.
MODULES = (
    "state", "source", "measures", "paint", "linked", "dom", "conditions", "cards", "code",
    "export", "header", "difference", "graph", "webview", "netview", "basketviews", "treeviews",
    "models", "pair", "page", "offline",
)  # fmt: skip
_RARE = 1 / 8  # the fraction of records without the default up to which they are listed
_START = """const page = new Page(new Offline());
page.open();
Object.assign(globalThis, { tacit: page });
"""


def write_page(explorer: Explorer, path: str | os.PathLike[str]) -> int:
    """Write an explorer as one HTML file, which needs no server; return its size in bytes."""
    page = _page(explorer).encode()
    with written_whole(path) as whole:
        whole.write_bytes(page)
    return len(page)


def _page(explorer: Explorer) -> str:
    static = resources.files("tacit.explore") / "static"
    script, style = bundle(), (static / "explore.css").read_text("utf-8")
    # No label can end the script that holds it: there is no "<" in what is written.
    facts = json.dumps(explorer.describe()).replace("<", "\\u003c")
    packed = base64.b64encode(packed_records(explorer.table)).decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    page = (static / "page.html").read_text("utf-8")
    replaced = {
        '<meta charset="utf-8">': '<meta charset="utf-8">\n<meta http-equiv='
        f'"Content-Security-Policy" content="{policy}">',
        '<link rel="stylesheet" href="static/explore.css">': f"<style>{style}</style>",
        '<script type="module" src="static/app.js"></script>': (
            f'<script type="application/json" id="facts">{facts}</script>\n'
            f'<script type="text/plain" id="records">{packed}</script>\n'
            f'<script type="module">{script}</script>'
        ),
    }
    for place, text in replaced.items():
        before, found, after = page.partition(place)
        assert found, place
        page = f"{before}{text}{after}"
    return page


def bundle() -> str:
    """Return all modules of the page as one."""
    static = resources.files("tacit.explore") / "static"
    parts = []
    for name in MODULES:
        text = (static / f"{name}.js").read_text("utf-8")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join([*parts, _START])


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def packed_records(table: Table) -> bytes:
    """Return the distinct records of a table, deflated; ``static/offline.js`` reads them.

    Four bytes with the length of a header, the header as JSON, then the arrays that it lists, from
    the lowest byte up: how often each record occurs, and the columns.
    """
    rows, times = _distinct(table)
    header: dict[str, Any] = {"n": len(rows), "columns": []}
    if (times == 1).all():
        header["times"], arrays = "none", [b""]
    elif times.dtype.kind == "i" and times.max() < 2**32:
        header["times"], arrays = "u32", [times.astype("<u4").tobytes()]
    else:
        header["times"], arrays = "f64", [times.astype("<f8").tobytes()]
    for position, column in enumerate(table.schema):
        codes = table.codes(position)[rows]
        size = 1 if column.arity <= 256 else 2 if column.arity <= 65_536 else 4
        other = np.flatnonzero(codes != column.default)
        if len(other) <= _RARE * len(rows):
            gaps = np.diff(other, prepend=0).astype("<u4").tobytes()
            held = codes[other].astype(f"<u{size}").tobytes()
            arrays += [gaps, held]
            header["columns"].append({"size": size, "rare": len(other)})
        else:
            arrays.append(codes.astype(f"<u{size}").tobytes())
            header["columns"].append({"size": size, "rare": -1})
    head = json.dumps(header).encode()
    start = len(head).to_bytes(4, "little") + head
    return zlib.compress(b"".join([start, *arrays]), 6)


def _distinct(table: Table) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the first of equal records each, sorted by their codes, and how often they occur."""
    words, filled = [np.zeros(table.n_records, np.uint64)], 1
    for position in range(len(table.schema)):
        arity = len(table.schema.labels[position])
        if filled * arity >= 2**64:
            check_fits(8 * table.n_records * (len(words) + 1), "the records", "leave columns out")
            words.append(np.zeros(table.n_records, np.uint64))
            filled = 1
        words[-1] = words[-1] * np.uint64(arity) + table.codes(position).astype(np.uint64)
        filled *= arity
    order = np.lexsort(words[::-1])
    changes = np.zeros(len(order), np.bool_)
    changes[:1] = True
    for word in words:
        ordered = word[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    first = order[changes]
    group = np.cumsum(changes) - 1
    if table.weights is None:
        return first, np.bincount(group, minlength=len(first))
    times = np.bincount(group, table.weights[order], len(first))
    whole = (times == np.floor(times)).all()  # as how often distinct records of partitions occur
    return first, times.astype(np.int64) if whole else times
