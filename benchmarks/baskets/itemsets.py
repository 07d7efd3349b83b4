"""Frequent itemsets: tacit, and what people use instead.

    python -m benchmarks.baskets.itemsets [part …] [--limit seconds]

A part is a data set, "wide", "streamed-zipf" or "streamed-uniform"; all that is at hand
unless given.
"""

from __future__ import annotations

import argparse
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
    from typing import TypeAlias

    Question: TypeAlias = tuple[str, int]  # a kind of sets, and the least count

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
MOST_CELLS = 4e9  # of the frame of booleans that mlxtend asks for


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


def ask(asked: dict[str, Any], limit: float) -> list[dict[str, Any]]:
    """Return what a process of its own says of questions, until one takes longer than the limit."""
    found: list[dict[str, Any]] = []
    n_jobs = str(asked["n_jobs"])
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.baskets.itemset_peers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,  # what is ready is in the pipe
            env=os.environ | {"RAYON_NUM_THREADS": n_jobs},
        ) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(json.dumps(asked).encode())
        process.stdin.close()
        printed = lines(process, START)
        failed = 0
        try:
            next(printed)  # the records are there
            for _ in asked["questions"]:
                printed.send(limit)
                found.append(printed.send(DIGEST))
                if found[-1]["seconds"] > limit:
                    found.pop()
                    break
        except TimeoutError:
            pass
        except StopIteration:
            failed = process.wait()
        process.kill()
        if failed:
            errors.seek(0)
            raise RuntimeError(f"{asked['who']}: {errors.read().decode()}")
    return found


def run(
    data: str, who: str, questions: list[Question], limit: float, n_jobs: int = 1
) -> dict[Question, dict[str, Any]]:
    """Return what was measured for each kind and count; of a kind, down to the limit of time."""
    found: dict[Question, dict[str, Any]] = {}
    left = questions
    while left:
        asked = {"data": data, "who": who, "questions": left, "n_jobs": n_jobs, "limit": limit,
                 "alone": n_jobs == 1}  # fmt: skip
        answers = ask(asked, limit)
        found |= dict(zip(left, answers, strict=False))
        if len(answers) == len(left):
            break
        late = left[len(answers)][0]
        left = [one for one in left[len(answers) :] if one[0] != late]
    return found


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
    section = Section(f"itemsets-{data}", f"Itemsets: {data}", 3)
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
    too_wide = {"mlxtend"} & set(here) if m * n > MOST_CELLS else set()
    if too_wide:
        section.say(f"mlxtend asks for {m * n / 1e9:.0f} GB here, and was not run.", "")
    lists = [name for name in here if name in ("pyfim", "efficient-apriori", "PAMI")]
    matrices = [name for name in here if name in ("rusket", "mlxtend")]
    questions = [(kind, least) for kind in KINDS for least in LEAST[data][kind != "all"]]
    ours = {way: run(data, f"tacit {way}", questions, 60) for way in ("lists", "csr")}
    peers = {
        who: run(data, who, [q for q in questions if who in ways(name, q[0])], limit)
        for name in here
        if name not in too_wide
        for who in dict.fromkeys(who for kind in KINDS for who in ways(name, kind))
    }
    every = [q for q in questions if q[0] == "all"] if "rusket" in here and n_jobs > 1 else []
    two = [run(data, who, every, limit, n_jobs) for who in ("tacit csr", "rusket fpgrowth")]
    rows = []
    for question in questions:
        mine = [ours[way][question] for way in ours]
        sets = mine[0]["sets"]
        assert mine[1]["sets"] == sets
        shown: dict[str, str] = {}
        for name in here:
            asked = [] if name in too_wide else ways(name, question[0])
            found = [peers[who].get(question) for who in asked]
            shown[name] = cell(best(found, sets), sets) if found else "–"
        fim = best([peers.get(who, {}).get(question) for who in ways("pyfim", "all")], sets)
        both = [cell(one.get(question), sets).split(",")[0] for one in two]
        alone = [milliseconds(one["alone"]) if one else "–" for one in (mine[0], fim)]
        rows.append(
            [
                question[0], f"{question[1]:,}", f"{int(sets.split()[0]):,}",
                cell(mine[0], sets), *(shown[name] for name in lists),
                cell(mine[1], sets), *(shown[name] for name in matrices),
                " / ".join(both) if question in every else "–", " / ".join(alone),
            ]
        )  # fmt: skip
    section.table(
        ["sets", "records", "found", "tacit, lists", *lists, "tacit, matrix", *matrices,
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
