"""Frequent itemsets: tacit, and what people use instead.

    python -m benchmarks.baskets.itemsets [part …] [--limit seconds]

A part is a data set, "wide", "streamed-zipf" or "streamed-uniform"; all that is at hand
unless given.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import selectors
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from benchmarks.baskets.itemset_data import at_hand, load
from benchmarks.baskets.itemset_log import LAWS, streamed, wide
from benchmarks.report import Section, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

# The least counts: of all sets, and of closed and maximal ones, which are fewer.
LEAST = {
    "T10I4D100K": ((1000, 100, 20), (1000, 100, 20)),
    "mushroom": ((1600, 800, 400), (800, 80, 8)),
    "chess": ((2237, 1917, 1598), (2237, 1598, 1278)),
    "accidents": ((6000, 4500, 3500), (5000, 3500, 2500)),
    "pumsb_star": ((5000, 4000, 3300), (4000, 3300, 2500)),
    "groceries": ((100, 20, 5), (100, 20, 5)),
    "zipf": ((2000, 400, 100), (2000, 400, 100)),
}
PACKAGES = {
    "pyfim": "fim",
    "efficient-apriori": "efficient_apriori",
    "PAMI": "PAMI",
    "rusket": "rusket",
    "mlxtend": "mlxtend",
}
KINDS = ("all", "closed", "maximal")
START, DIGEST = 300.0, 300.0  # seconds: to read the data, and to compare long answers


def ways(name: str, kind: str) -> list[str]:
    """Return the ways in which a peer finds sets of a kind, of which the faster one counts."""
    found = {
        "pyfim": ["fpgrowth", "eclat"],
        "rusket": {"all": ["fpgrowth", "eclat"], "closed": ["lcm"], "maximal": []}[kind],
        "efficient-apriori": [""] if kind == "all" else [],
        "mlxtend": [] if kind == "closed" else [""],
        "PAMI": [""],
    }
    return [f"{name} {method}".strip() for method in found[name]]


def lines(process: Any, wait: float) -> Iterator[Any]:
    """Yield what a process prints; TimeoutError if the next line is not there in time."""
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not ready.select(wait):
                raise TimeoutError
            line = process.stdout.readline()
            if not line:
                return
            wait = yield json.loads(line)


def run(
    data: str, who: str, kind: str, least: tuple[int, ...], limit: float, n_jobs: int = 1
) -> list[dict[str, Any] | None]:
    """Return what was measured for each count; None where a run took longer than the limit."""
    asked = {"data": data, "who": who, "kind": kind, "least": least, "n_jobs": n_jobs,
             "limit": limit, "alone": n_jobs == 1}  # fmt: skip
    found: list[dict[str, Any] | None] = []
    with (
        tempfile.TemporaryFile() as errors_to,
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.baskets.itemset_peers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors_to,
            bufsize=0,  # what is ready is in the pipe
            env=os.environ | {"RAYON_NUM_THREADS": str(n_jobs)},
        ) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(json.dumps(asked).encode())
        process.stdin.close()
        printed = lines(process, START)
        with contextlib.suppress(StopIteration, TimeoutError):
            next(printed)  # the records are there
            for _ in least:
                printed.send(limit)
                found.append(printed.send(DIGEST))
                if found[-1] is None or found[-1]["seconds"] > limit:
                    found[-1] = None
                    break
        process.kill()
        if not found:
            errors_to.seek(0)
            print(f"{who}: {errors_to.read().decode()}", file=sys.stderr)
    return found + [None] * (len(least) - len(found))


def cell(measured: dict[str, Any] | None, sets: str) -> str:
    if measured is None:
        return "out of time"
    if measured["sets"] != sets:
        return "other sets"
    return f"{milliseconds(measured['seconds'])}, {measured['bytes'] / 1e6:,.0f} MB"


def best(measured: list[dict[str, Any] | None], sets: str) -> dict[str, Any] | None:
    """Return the fastest of a peer's ways."""
    done = [one for one in measured if one is not None]
    right = [one for one in done if one["sets"] == sets]
    return min(right or done, key=lambda one: one["seconds"], default=None)


def head_to_head(data: str, limit: float, n_jobs: int) -> None:
    """Mine a data set with all that is installed, and write its section."""
    section = Section(f"itemsets-{data}", f"Itemsets: {data}")
    here = [name for name, package in PACKAGES.items() if importlib.util.find_spec(package)]
    section.made_with(*here)
    held = load(data)
    m, n = held.shape
    section.say(
        f"{m:,} baskets, {n:,} items, {held.nnz / m:.1f} a basket. Seconds of a call from records "
        "in memory to sets in memory, the fastest of up to four runs on one core, and what the "
        "call takes in memory at most beside the records, its result included. From lists of text: "
        "tacit, pyfim, efficient-apriori; PAMI reads a frame of text; rusket a sparse matrix, as "
        "the second column of tacit; mlxtend a frame of booleans. pyfim and rusket: the faster of "
        "FP-growth and Eclat, and LCM of rusket for closed sets. All find the same sets with the "
        "same counts (sets that every record holds apart, which pyfim leaves out); a peer that "
        f"finds others is said to. Out of time: more than {limit:g} s, here or at a higher support."
        " The search alone: what is left of tacit and pyfim when sets are only counted and records "
        "are read before.",
        "",
    )
    head = ["sets", "records", "found", "tacit, lists"]
    lists = [name for name in here if name in ("pyfim", "efficient-apriori", "PAMI")]
    matrices = [name for name in here if name in ("rusket", "mlxtend")]
    rows = []
    for kind in KINDS:
        least = LEAST[data][kind != "all"]
        ours = {way: run(data, f"tacit {way}", kind, least, 60) for way in ("lists", "csr")}
        peers = {
            name: list(
                zip(*(run(data, who, kind, least, limit) for who in ways(name, kind)), strict=True)
            )
            for name in here
        }
        two: list[Any] = [None, None]
        if "rusket" in here and kind == "all" and n_jobs > 1:
            two = [
                run(data, who, kind, least, limit, n_jobs)
                for who in ("tacit csr", "rusket fpgrowth")
            ]
        for k, count in enumerate(least):
            mine = ours["lists"][k], ours["csr"][k]
            assert mine[0] is not None
            assert mine[1] is not None
            sets = mine[0]["sets"]
            assert mine[1]["sets"] == sets

            def of(name: str, k: int = k, sets: str = sets, peers: Any = peers) -> Any:
                return best(list(peers[name][k]), sets) if peers[name] else "–"

            def shown(name: str, sets: str = sets, of: Any = of) -> str:
                one = of(name)
                return one if one == "–" else cell(one, sets)

            fim = of("pyfim") if "pyfim" in here else None
            alone = milliseconds(mine[0]["alone"])
            theirs = "–" if fim is None else milliseconds(fim["alone"])
            row = [
                kind, f"{count:,}", f"{int(sets.split()[0]):,}", cell(mine[0], sets),
                *(shown(name) for name in lists), cell(mine[1], sets),
                *(shown(name) for name in matrices),
                " / ".join("–" if t is None else cell(t[k], sets).split(",")[0] for t in two),
                f"{alone} / {theirs}",
            ]  # fmt: skip
            print(row, flush=True)
            rows.append(row)
    section.table(
        [*head, *lists, "tacit, matrix", *matrices,
         f"{n_jobs} threads: tacit / rusket", "search alone: tacit / pyfim"],
        rows,
    )  # fmt: skip
    section.write()


def main() -> None:
    """Run the parts that are asked for, or all."""
    parser = argparse.ArgumentParser()
    known = [*at_hand(), "wide", *(f"streamed-{law}" for law in LAWS)]
    parser.add_argument("parts", nargs="*", default=known)
    parser.add_argument("--limit", type=float, default=30.0)
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(known):
        parser.error(f"there is no part {min(unknown)}; there are {', '.join(known)}")
    n_jobs = len(os.sched_getaffinity(0))
    for part in asked.parts:
        if part == "wide":
            wide(n_jobs)
        elif part.startswith("streamed-"):
            streamed(part.removeprefix("streamed-"), n_jobs)
        else:
            head_to_head(part, asked.limit, n_jobs)


if __name__ == "__main__":
    main()
