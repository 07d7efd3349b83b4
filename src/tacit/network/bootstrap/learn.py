"""Many nets, each from a sample of the records: how often each arc is in them."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.machine import check_fits, count_jobs
from tacit.network.bayes_net.equivalence import essential_graph
from tacit.network.bootstrap.resample import Resampler
from tacit.network.search.search import find_structure
from tacit.parameters import make_generator
from tacit.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tacit.network.search.search import Parents, SearchSettings
    from tacit.table import Table

__all__ = ["count_arcs"]


def count_arcs(
    table: Table, settings: SearchSettings, n_bootstrap: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return in how many nets each arc is, and in how many essential graphs; both from × to.

    Each net is that of a sample, with a search of its own; so the counts do not depend on the
    threads that take them.
    """
    settings.check()
    n = table.n_columns
    check_fits(16 * n * n, "the counts of all arcs", "select fewer columns")
    seeds = make_generator(settings.random_state).integers(2**63, size=n_bootstrap)
    jobs = min(count_jobs(settings.n_jobs), n_bootstrap)
    # By name, which is how the search looks at columns
    order = sorted(range(n), key=table.schema.names.__getitem__)
    positions = np.argsort(order)
    settings = replace(
        settings,
        required=[(int(positions[a]), int(positions[b])) for a, b in settings.required],
        forbidden=[(int(positions[a]), int(positions[b])) for a, b in settings.forbidden],
    )
    records = Resampler.of(table.select(order))

    def learn(index: int) -> Parents:
        rng = np.random.default_rng(seeds[index])
        sample = records.draw(rng)
        n_jobs = 1 if jobs > 1 else settings.n_jobs
        each = replace(settings, random_state=rng, n_jobs=n_jobs, verbose=0)
        result = find_structure(sample, each)
        if result.interrupted:
            raise KeyboardInterrupt
        return result.parents

    arcs, compelled = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    shown = bool(settings.verbose)
    with show_progress("nets", n_bootstrap, shown) as advance:
        for parents in _each(learn, n_bootstrap, jobs):
            for child, above in enumerate(parents):
                arcs[list(above), child] += 1
            for parent, child in essential_graph(parents)[0]:
                compelled[parent, child] += 1
            advance(1)
    square = np.ix_(positions, positions)
    return arcs[square], compelled[square]


def _each(learn: Callable[[int], Parents], n: int, jobs: int) -> Iterator[Parents]:
    """Yield all nets, in order."""
    if jobs == 1:  # here, where the search notices Ctrl-C at once
        yield from map(learn, range(n))
        return
    pool = ThreadPoolExecutor(jobs, "tacit")
    try:
        # A few at a time, as each one that waits for its turn takes memory.
        waiting = deque(pool.submit(learn, index) for index in range(min(2 * jobs, n)))
        for index in range(len(waiting), n + len(waiting)):
            yield waiting.popleft().result()
            if index < n:
                waiting.append(pool.submit(learn, index))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
