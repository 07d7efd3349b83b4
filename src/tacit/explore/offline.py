"""The page in one file: its counts are inside, and nothing else is asked.

The file holds the distinct records as they are shown, with how often each occurs: every table of
counts follows from them exactly. A column of mostly one label is a list of the records with
another one, the others a code for each record; all of it is deflated. ``static/records.js`` counts.

Where they are too many, the file holds a sample of the records, and the tables of all columns and
pairs of columns: these are exact, and the page shows the intervals of all other counts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import zlib
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
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
WORKER = ("state", "records")
_MOST_CELLS = 4_000_000  # of tables of pairs beside a sample
_RARE = 1 / 8  # the fraction of records without the default up to which they are listed
_START = """const page = new Page(new Offline());
page.open();
Object.assign(globalThis, { tacit: page });
"""
_START_WORKER = """globalThis.onmessage = async ({ data }) => {
  try {
    postMessage({ id: data.id, answer: await answered(data) });
  } catch (error) {
    postMessage({ id: data.id, problem: String(error && error.message || error) });
  }
};
"""


def write_page(explorer: Explorer, path: str | os.PathLike[str], most: int | None = None) -> int:
    """Write an explorer as one HTML file, which needs no server; return its size in bytes.

    Of more than `most` distinct records the file holds a sample of that size.
    """
    page = _page(explorer, most).encode()
    with written_whole(path) as whole:
        whole.write_bytes(page)
    return len(page)


def _page(explorer: Explorer, most: int | None) -> str:
    static = resources.files("tacit.explore") / "static"
    script, style = bundle(), (static / "explore.css").read_text("utf-8")
    worker = _joined(WORKER) + _START_WORKER
    # No label can end the script that holds it: there is no "<" in what is written.
    facts = json.dumps(explorer.describe()).replace("<", "\\u003c")
    packed = base64.b64encode(packed_records(explorer, most)).decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    page = (static / "page.html").read_text("utf-8")
    replaced = {
        '<meta charset="utf-8">': '<meta charset="utf-8">\n<meta http-equiv='
        f'"Content-Security-Policy" content="{policy}">',
        '<link rel="stylesheet" href="static/explore.css">': f"<style>{style}</style>",
        '<script type="module" src="static/app.js"></script>': (
            f'<script type="application/json" id="facts">{facts}</script>\n'
            f'<script type="text/plain" id="records">{packed}</script>\n'
            f'<script type="text/plain" id="worker">{worker}</script>\n'
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
    return f"{_joined(MODULES)}\n{_START}"


def _joined(modules: tuple[str, ...]) -> str:
    static = resources.files("tacit.explore") / "static"
    parts = []
    for name in modules:
        text = (static / f"{name}.js").read_text("utf-8")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def packed_records(explorer: Explorer, most: int | None = None) -> bytes:
    """Return the distinct records of a table, deflated; ``static/records.js`` reads them.

    Four bytes with the length of a header, the header as JSON, then the arrays that it lists, from
    the lowest byte up: how often each record occurs, the columns, and tables of all records if
    these are a sample.
    """
    table = explorer.table
    records, times = _distinct(table)
    header: dict[str, Any] = {"columns": []}
    tables: list[bytes] = []
    if most is not None and len(times) > most:
        header["scale"], header["total"] = float(times.sum()) / most, int(times.sum())
        kept, times = _sampled(times, most)
        records = [codes[kept] for codes in records]
        header["exact"], tables = _low_tables(explorer)
    header["n"] = len(times)
    if (times == 1).all():
        header["times"], arrays = "none", [b""]
    elif times.dtype.kind == "i" and times.max() < 2**32:
        header["times"], arrays = "u32", [times.astype("<u4").tobytes()]
    else:
        header["times"], arrays = "f64", [times.astype("<f8").tobytes()]
    for position, column in enumerate(table.schema):
        codes = records[position]
        size = 1 if column.arity <= 256 else 2 if column.arity <= 65_536 else 4
        other = np.flatnonzero(codes != column.default)
        if len(other) <= _RARE * len(times):
            gaps = np.diff(other, prepend=0).astype("<u4").tobytes()
            held = codes[other].astype(f"<u{size}").tobytes()
            arrays += [gaps, held]
            header["columns"].append({"size": size, "rare": len(other)})
        else:
            arrays.append(codes.astype(f"<u{size}").tobytes())
            header["columns"].append({"size": size, "rare": -1})
    head = json.dumps(header).encode()
    start = len(head).to_bytes(4, "little") + head
    return zlib.compress(b"".join([start, *arrays, *tables]), 6)


def _sampled(times: NDArray[Any], most: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Draw so many records, without putting any back; return which are there, and how often."""
    if times.dtype.kind != "i":
        raise InputError(
            "max_records: records with weights cannot be sampled such that counts have bounds; "
            "leave it out, or columns"
        )
    rng, total = np.random.default_rng(0), int(times.sum())
    positions = rng.choice(total, most, replace=False, shuffle=False)
    record = np.searchsorted(np.cumsum(times), positions, side="right")
    drawn = np.bincount(record, minlength=len(times))
    kept = drawn > 0
    return kept, drawn[kept]


def _low_tables(explorer: Explorer) -> tuple[list[tuple[str, int]], list[bytes]]:
    """Return the tables of all columns and, if they are not too many, of all pairs."""
    arities = explorer.table.schema.arities.tolist()
    sets = [[c] for c in range(len(arities))]
    if (sum(arities) ** 2) // 2 <= _MOST_CELLS:
        sets += [[a, b] for b in range(len(arities)) for a in range(b)]
    counts = explorer.counter.tables(sets).counts
    ends = np.cumsum([math.prod(arities[c] for c in columns) for columns in sets])
    kept, arrays = [], []
    for columns, part in zip(sets, np.split(counts, ends[:-1]), strict=True):
        size = 4 if int(part.max(initial=0)) < 2**32 else 8
        kept.append((",".join(map(str, columns)), size))
        arrays.append(part.astype("<u4" if size == 4 else "<f8").tobytes())
    return kept, arrays


def _distinct(table: Table) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Return distinct records, the codes of each column, sorted, and how often they occur."""
    words, filled = [np.zeros(table.n_records, np.uint64)], 1
    arities = [len(labels) for labels in table.schema.labels]
    for position, arity in enumerate(arities):
        if filled * arity >= 2**64:
            check_fits(8 * table.n_records * (len(words) + 1), "the records", "leave columns out")
            words.append(np.zeros(table.n_records, np.uint64))
            filled = 1
        words[-1] *= np.uint64(arity)
        words[-1] += table.codes(position).astype(np.uint64)
        filled *= arity
    if len(words) == 1 and table.weights is None:
        [word] = words
        word.sort()
        starts = np.flatnonzero(np.concatenate(([True], word[1:] != word[:-1])))
        times = np.diff(starts, append=len(word))
        left, records = word[starts], []
        for arity in reversed(arities):  # the last column was put in last
            size = np.uint8 if arity <= 256 else np.uint16 if arity <= 65_536 else np.uint32
            records.append((left % np.uint64(arity)).astype(size))
            left //= np.uint64(arity)
        return records[::-1], times
    order = np.lexsort(words[::-1])
    changes = np.zeros(len(order), np.bool_)
    changes[:1] = True
    for word in words:
        ordered = word[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    first = order[changes]
    records = [table.codes(position)[first] for position in range(len(arities))]
    group = np.cumsum(changes) - 1
    if table.weights is None:
        return records, np.bincount(group, minlength=len(first))
    times = np.bincount(group, table.weights[order], len(first))
    # As how often distinct records of partitions occur.
    whole = (times == np.floor(times)).all() and times.sum() < 2.0**53
    return records, times.astype(np.int64) if whole else times
