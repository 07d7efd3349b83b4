"""Ctrl-C, forks and threads: what happens around a kernel rather than in it."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from support.scripts import run
from support.strategies import assert_identical
from tacit import Table

INTERRUPT = """
    import os, signal, threading, time
    import numpy as np
    from tacit import _core

    # Every record holds the same values: much work from little memory.
    n_records, length = {n_records}, {length}
    indptr = np.arange(n_records + 1, dtype=np.int64) * length
    values = np.tile(np.arange(length, dtype=np.uint16), n_records)
    records = _core.Records(indptr, values, length)
    weighted = _core.Records(indptr, values, length, None, np.ones(n_records))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
    else:
        print("finished", time.monotonic() - start)
    assert _core.one_way(_core.Records(indptr[:3], values, length), 2).tolist() == [2] * length
"""

LONG_CALLS = {
    "outer": "_core.pair_counts_outer(records, {jobs})",
    "sparse": "_core.pair_counts_sparse(records, {jobs})",
    "weighted": "_core.pair_counts_outer(weighted, {jobs})",
    "bitmap": "_core.pair_counts_bitmap(_core.Records(indptr, values, 5 * length), {jobs})",
}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("way", LONG_CALLS)
def test_ctrl_c_ends_a_long_count_early(way, jobs):
    n_records, length = (60_000, 600) if way == "bitmap" else (8_000, 5_000)
    call = LONG_CALLS[way].format(jobs=jobs)
    outcome, seconds = run(INTERRUPT.format(n_records=n_records, length=length, call=call))
    assert outcome == "interrupted"
    assert float(seconds) < 5  # the whole count takes several times that


INTERRUPT_EM = """
    import os, signal, threading, time
    import numpy as np
    from tacit import _core

    n_records, length, n_clusters = 30_000, 2_000, 60
    indptr = np.arange(n_records + 1, dtype=np.int64) * length
    values = np.tile(np.arange(length, dtype=np.uint16), n_records)
    records = _core.Records(indptr, values, length)
    rows = np.full((length, n_clusters), 0.5)
    model = np.arange(length + 1), np.full(n_clusters, 1 / n_clusters), rows, rows
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        while True:
            {call}
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
    tiny = np.full(16, 1e-310)  # not a normal number, and still not zero
    assert ((tiny / 2 > 0) & (tiny + tiny > tiny)).all()
"""

EM_CALLS = {
    "step": "_core.em_step(records, *model, False, {jobs})",
    "single": "_core.em_step(records, *model, True, {jobs})",
    "posterior": "_core.em_posterior(records, *model, True, {jobs})",
}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("way", EM_CALLS)
def test_ctrl_c_ends_a_step_of_em_early_and_leaves_arithmetic_as_it_was(way, jobs):
    outcome, seconds = run(INTERRUPT_EM.format(call=EM_CALLS[way].format(jobs=jobs)))
    assert outcome == "interrupted"
    assert float(seconds) < 5


INTERRUPT_RULES = """
    import os, signal, threading, time
    import numpy as np
    from tacit import RuleFinder, Table

    codes = np.random.default_rng(1).integers(0, 2, ({n_records}, 40))
    finder = RuleFinder("0", 1, n_conditions=8, min_support=1, n_rules=10**6, n_jobs={jobs})
    table = Table(codes)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        finder.fit(table)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
    assert not hasattr(finder, "rules_")
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_search_for_rules_early(jobs):
    outcome, seconds = run(INTERRUPT_RULES.format(n_records=2000, jobs=jobs))
    assert outcome == "interrupted"
    assert float(seconds) < 5  # the whole search takes hours


INTERRUPT_SIGNIFICANT = """
    import os, signal, threading, time
    import numpy as np
    from tacit import SignificantRules, Table

    rng = np.random.default_rng(1)
    codes = (rng.random((4000, 70)) < 0.5).astype(int)
    sure = SignificantRules(correction={correction!r}, n_jobs={jobs})
    table = Table(codes)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        sure.fit(table, rng.random(4000) < 0.5)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
    assert not hasattr(sure, "rules_")
"""


@pytest.mark.parametrize(("correction", "jobs"), [("permutation", 1), ("tarone", 2)])
def test_ctrl_c_ends_a_search_for_significant_rules_early(correction, jobs):
    outcome, seconds = run(INTERRUPT_SIGNIFICANT.format(correction=correction, jobs=jobs))
    assert outcome == "interrupted"
    assert float(seconds) < 5  # the whole search takes minutes


INTERRUPT_SUPPORT_VECTORS = """
    import os, signal, threading, time
    import numpy as np
    from tacit import _core

    # A chain of objects, each like the next; a tolerance that takes forever.
    n = 200_000
    ends = np.clip(2 * np.arange(n + 1) - 1, 0, 2 * n - 2)
    indices = np.stack((np.arange(n) - 1, np.arange(n) + 1), axis=1).ravel()[1:-1].astype(np.int32)
    signs = np.where(np.arange(n) // 50 % 2, 1.0, -1.0)[None].repeat({jobs}, axis=0)
    upper, lower = np.where(signs > 0, 1e3, 0.0), np.where(signs > 0, 0.0, -1e3)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        _core.solve_duals(ends.astype(np.int64), indices, np.full(2 * n - 2, 0.499), np.ones(n),
                          signs, lower, upper, 1e-300, 10**12, {jobs})
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_search_for_support_vectors_early(jobs):
    outcome, seconds = run(INTERRUPT_SUPPORT_VECTORS.format(jobs=jobs))
    assert outcome == "interrupted"
    assert float(seconds) < 5


def example_table():
    rng = np.random.default_rng(1)
    return Table((rng.random((20_000, 60)) < 0.2).astype(np.int8))


FORK = """
    import multiprocessing, os, sys
    import numpy as np
    from tacit import Table

    rng = np.random.default_rng(1)
    table = Table((rng.random((20_000, 60)) < 0.2).astype(np.int8))
    before = table.pairs(n_jobs=3).stored

    def count(jobs):
        return table.pairs(n_jobs=jobs).stored.tobytes()

    child = os.fork()
    if child == 0:
        os._exit(0 if count(3) == before.tobytes() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map(count, [1, 2, 3, 7])
    assert all(result == before.tobytes() for result in results)
    print("same")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_children_count_the_same_after_a_threaded_call():
    assert run(FORK) == ["same"]


def test_concurrent_calls_count_the_same():
    table = example_table()
    expected = table.pairs(n_jobs=1).stored
    target = table.two_way("3", n_jobs=1).counts

    def count(jobs):
        fresh = example_table() if jobs % 2 else table
        return fresh.pairs(n_jobs=jobs).stored, fresh.two_way("3", n_jobs=jobs).counts

    with ThreadPoolExecutor(4) as threads:
        for square, counts in threads.map(count, [1, 2, 3, 4] * 3):
            assert_identical(square, expected)
            assert_identical(counts, target)


def test_a_square_beyond_any_memory_is_a_memory_error():
    # In a process of its own: other packages may answer failed allocations in their own way.
    for jobs in (1, 2):
        words = run(f"""
            import numpy as np
            from tacit import _core
            indptr, values = np.array([0, 1]), np.zeros(1, np.uint16)
            try:
                _core.pair_counts_outer(_core.Records(indptr, values, 2**30), {jobs})
            except MemoryError:
                print("said")
        """)
        assert words == ["said"]
