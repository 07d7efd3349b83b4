"""Mines itemsets in a process of its own, for `benchmarks.baskets.itemsets`: not to be imported.

Reads one JSON object from stdin: the data set, who mines it, kinds of sets with least counts, and
the threads. Prints a JSON object for each of these: the seconds of a call from records in memory to
sets in memory, what the call took in memory at most, a sum over all sets that tells whether two
answers are the same, and the seconds of the search alone where these can be told.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import time
from itertools import chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from benchmarks.baskets.itemset_data import load

if TYPE_CHECKING:
    from collections.abc import Callable

    Sets = tuple[np.ndarray, np.ndarray, np.ndarray]  # sizes, items, counts
    Way = tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Sets]]


def from_lists(sets: Any) -> Sets:
    """Return (items, count) pairs as arrays."""
    sizes = np.fromiter((len(items) for items, _ in sets), np.int64, len(sets))
    flat = chain.from_iterable(items for items, _ in sets)
    counts = np.fromiter((count for _, count in sets), np.int64, len(sets))
    return sizes, np.fromiter((int(item) for item in flat), np.int64, int(sizes.sum())), counts


def as_lists(data: Any) -> list[list[str]]:
    names = [str(k) for k in range(data.shape[1])]
    rows = np.split(data.indices, data.indptr[1:-1])
    return [[names[k] for k in row.tolist()] for row in rows]


def as_frame(data: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(data.toarray().astype(bool))


def tacit_ways(kind: str, least: int, n_jobs: int, listed: bool) -> Way:
    import tacit

    def mine(given: Any) -> Any:
        return tacit.FrequentItemsets(min_support=least, kind=kind, n_jobs=n_jobs).fit(given)

    def sets_of(model: Any) -> Sets:
        found = model.itemsets_
        names = np.array([int(column.name.strip("x")) for column in found.items.schema], np.int64)
        columns = np.searchsorted(found.items.schema.cells, found.cells, "right") - 1
        return found.sizes, names[columns], found.counts

    return (as_lists if listed else sparse.csr_array), mine, sets_of


def pyfim(kind: str, least: int, method: str, report: str = "a") -> Way:
    import fim

    target = {"all": "s", "closed": "c", "maximal": "m"}[kind]
    search = getattr(fim, method)
    return as_lists, lambda rows: search(rows, target, -least, report=report), from_lists


def rusket(kind: str, least: int, method: str) -> Way:
    from rusket import mine

    def search(data: Any) -> Any:
        # A fraction of records that the product with their number rounds to the count.
        least_fraction = (least - 0.5) / data.shape[0]
        return data.shape[0], mine(
            data, min_support=least_fraction, method=method, use_colnames=False
        )

    def sets_of(found: Any) -> Sets:
        n, frame = found
        counts = np.rint(frame["support"].to_numpy() * n).astype(np.int64)
        return from_lists(list(zip(frame["itemsets"], counts.tolist(), strict=True)))

    return sparse.csr_matrix, search, sets_of


def mlxtend(kind: str, least: int) -> Way:
    from mlxtend.frequent_patterns import fpgrowth, fpmax

    search = fpmax if kind == "maximal" else fpgrowth

    def sets_of(found: Any) -> Sets:
        n, frame = found
        counts = np.rint(frame["support"].to_numpy() * n).astype(np.int64)
        return from_lists(list(zip(frame["itemsets"], counts.tolist(), strict=True)))

    return as_frame, lambda X: (len(X), search(X, min_support=(least - 0.5) / len(X))), sets_of


def efficient_apriori(kind: str, least: int) -> Way:
    from efficient_apriori import itemsets_from_transactions

    def search(rows: Any) -> Any:
        return itemsets_from_transactions(rows, (least - 0.5) / len(rows))[0]

    def sets_of(found: Any) -> Sets:
        return from_lists([pair for sets in found.values() for pair in sets.items()])

    return lambda data: [tuple(row) for row in as_lists(data)], search, sets_of


def pami(kind: str, least: int) -> Way:
    import pandas as pd
    from PAMI.frequentPattern.basic.FPGrowth import FPGrowth
    from PAMI.frequentPattern.closed.CHARM import CHARM
    from PAMI.frequentPattern.maximal.MaxFPGrowth import MaxFPGrowth

    algorithm = {"all": FPGrowth, "closed": CHARM, "maximal": MaxFPGrowth}[kind]

    def search(frame: Any) -> Any:
        model = algorithm(frame, least)
        model.mine()
        return model.getPatterns()

    def items_of(key: Any, count: Any) -> tuple[Any, int]:
        items = key.split() if isinstance(key, str) else key
        return items, int(count[0] if isinstance(count, list) else count)

    def prepare(data: Any) -> Any:
        return pd.DataFrame({"Transactions": ["\t".join(row) for row in as_lists(data)]})

    return prepare, search, lambda found: from_lists(list(starmap(items_of, found.items())))


def way(who: str, kind: str, least: int, n_jobs: int) -> Way:
    name, _, method = who.partition(" ")
    if name == "tacit":
        return tacit_ways(kind, least, n_jobs, method == "lists")
    if name == "pyfim":
        return pyfim(kind, least, method)
    if name == "rusket":
        return rusket(kind, least, method)
    peers = {"mlxtend": mlxtend, "efficient-apriori": efficient_apriori, "PAMI": pami}
    return peers[name](kind, least)


def mixed(x: np.ndarray) -> np.ndarray:
    """Return numbers that look random, one for each number (splitmix64)."""
    x = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def digest(sets: Sets, n_records: int) -> str:
    """Return a text that equal lists of sets and counts share, whatever their order.

    Sets that all records hold take no part: pyfim leaves them out.
    """
    sizes, items, counts = sets
    starts = np.concatenate(([0], np.cumsum(sizes)))
    summed = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed(items), dtype=np.uint64)))
    of_set = mixed((summed[starts[1:]] - summed[starts[:-1]]) ^ mixed(counts))
    some = counts < n_records
    return f"{int(some.sum())} {int(sizes[some].sum())} {int(of_set[some].sum(dtype=np.uint64)):x}"


def memory(key: str) -> int:
    with Path("/proc/self/status").open(encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key)) * 1024


def fastest(work: Callable[[], Any], repeats: int) -> float:
    """Return the seconds of the fastest of several runs, of fewer if they take long."""
    taken: list[float] = []
    while not taken or (len(taken) < repeats and sum(taken) < 1):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        found = work()
        taken.append(time.perf_counter() - start)
        gc.enable()
        del found
    return min(taken)


def search_alone(who: str, kind: str, least: int, given: Any) -> float | None:
    """Return the seconds without records on their way in and sets on their way out."""
    name, _, method = who.partition(" ")
    if name == "tacit":
        import tacit

        table = tacit.Table.from_baskets(given) if method == "lists" else tacit.Table(given)
        model = tacit.FrequentItemsets(min_support=least, kind=kind, n_jobs=1)
        return fastest(lambda: model.forecast(table), 3)
    if name == "pyfim":
        counted = pyfim(kind, least, method, report="#")[1]  # sizes of sets, and how many of each
        nothing = pyfim(kind, len(given) + 1, method, report="#")[1]
        whole, inward = fastest(lambda: counted(given), 3), fastest(lambda: nothing(given), 3)
        return max(whole - inward, 0.0)
    return None


def measure(asked: Any, kind: str, least: int, data: Any, given: Any, told: Any) -> dict[str, Any]:
    _, search, sets_of = way(asked["who"], kind, least, asked["n_jobs"])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed is not there to be used again unseen
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before = memory("VmRSS")
    start = time.perf_counter()
    found = search(given)
    seconds = time.perf_counter() - start
    peak = memory("VmHWM") - before
    print("{}", file=told)
    sets = digest(sets_of(found), data.shape[0])
    del found
    if seconds < asked["limit"] / 3:
        seconds = min(seconds, fastest(lambda: search(given), 3))
    alone = search_alone(asked["who"], kind, least, given) if asked["alone"] else None
    return {"seconds": seconds, "bytes": peak, "sets": sets, "alone": alone}


def main() -> None:
    asked = json.load(sys.stdin)
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what peers print is no answer
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-asked["n_jobs"] :])
    prepare, warm_up, _ = way(asked["who"], asked["questions"][0][0], 3, asked["n_jobs"])
    # What is imported or started on the first call takes no part.
    small = sparse.csr_array(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]] * 4, np.int8))
    warm_up(prepare(small))
    data = load(asked["data"])
    given = prepare(data)
    print("{}", file=told)
    for kind, least in asked["questions"]:
        print(json.dumps(measure(asked, kind, least, data, given, told)), file=told)


if __name__ == "__main__":
    main()
