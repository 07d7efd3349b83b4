"""Counts of partitions on this machine are those of the whole, whatever the partitioning."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import data, integers, permutations, sets
from scipy import sparse

import tacit
from support.strategies import JOBS
from tacit.counts.pairs import plan
from tacit.scale import Local, MergeTree, using
from tacit.scale.pair_counting import PairTotal
from tacit.scale.partitions import Partitions, PartitionSource, Reader
from tacit.statistic import Statistic


def same(one, other):
    return one.names == other.names and np.array_equal(one.to_array(), other.to_array())


@pytest.mark.parametrize("n", [1, 2, 5, 16])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("memory", [None, "1MB"])
def test_counts(visits, n, n_jobs, memory):
    parts = tacit.scale.partition(visits, n, memory=memory)
    assert np.array_equal(parts.one_way(n_jobs=n_jobs).counts, visits.one_way().counts)
    assert np.array_equal(
        parts.two_way("news", n_jobs=n_jobs).counts, visits.two_way("news").counts
    )
    assert np.array_equal(parts.pairs(n_jobs=n_jobs).stored, visits.pairs().stored)
    columns = ["news", "weather", "sports"]
    given = {"news": True}
    assert same(parts.contingency(columns), visits.contingency(columns))
    assert same(
        parts.contingency(["weather"], given=given), visits.contingency(["weather"], given=given)
    )
    assert parts.count(given) == visits.count(given)
    assert parts.summary().as_dict() | {"n_bytes": 0} == visits.summary().as_dict() | {"n_bytes": 0}


@pytest.mark.parametrize("layout", ["auto", "dense", "sparse"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_pairs_in_all_forms(visits, layout, n_jobs):
    parts = tacit.scale.partition(visits, 6)
    assert_same_pairs(parts.pairs(layout=layout, n_jobs=n_jobs), visits.pairs())
    given = {"news": True}
    pairs = parts.pairs(given=given, layout=layout, n_jobs=n_jobs)
    assert_same_pairs(pairs, visits.pairs(given=given))
    assert sparse.issparse(pairs.stored) == (layout == "sparse")


def test_pairs_where_partitions_take_different_ways():
    rng = np.random.default_rng(0)
    few = rng.random((4000, 40)) < 0.01
    many = rng.random((4000, 40)) < 0.9
    whole = tacit.Table(np.vstack([few, many]), defaults=False)
    parts = tacit.scale.partition(whole, 2)
    ways = [
        plan(source.table, None, "auto", "auto")[1] for source in parts._metadata.partitions.sources
    ]
    assert ways == ["outer", "bitmap"]
    assert_same_pairs(parts.pairs(), whole.pairs())
    mixed = PairTotal(1, None, sparse.csr_array(np.eye(2, dtype=np.int64)))
    mixed += PairTotal(2, np.array([1, 2, 3], np.uint32), np.ones((2, 2), np.int64))
    pairs = mixed.pairs(tacit.Table({"a": [0, 1], "b": [0, 1]}).schema, 1)
    assert pairs.stored.tolist() == [[3, 3], [3, 5]]
    assert pairs.singles.total == 3


def assert_same_pairs(one, other):
    dense = [
        stored.toarray() if sparse.issparse(stored) else stored
        for stored in (one.stored, other.stored)
    ]
    assert np.array_equal(*dense)
    assert np.array_equal(one.singles.counts, other.singles.counts)
    assert one.singles.total == other.singles.total


class Sizes(Statistic):
    """Where records begin and how many there are: says whether parts arrive as they should."""

    def partial(self, part):
        return [(part.index, part.first, part.records.n_records)]

    def merge(self, one, other):
        return one + other


HELD = tacit.Table({"a": np.arange(116) % 2, "b": np.zeros(116, int)}).nbytes


@dataclass(frozen=True)
class MadeSource(PartitionSource):
    """A partition that is made when it is loaded, and says so."""

    index: int
    log: list
    _: KW_ONLY
    name: str = "made"
    disk_bytes: int = 100
    load_bytes: int = HELD
    kept_bytes: int = HELD


class MadeReader(Reader):
    def load(self, source, n_jobs):
        source.log.append(source.index)
        if source.index == 3:
            return None
        return tacit.Table({"a": np.arange(116) % 2, "b": np.zeros(116, int)})


def made(n, memory):
    log = []
    sources = tuple(MadeSource(k, log) for k in range(n))
    return Partitions(sources, MadeReader(), tuple(116 * k for k in range(n))), Local(memory), log


@pytest.mark.parametrize("n_jobs", JOBS)
def test_parts_come_in_order_and_empty_ones_not_at_all(n_jobs):
    partitions, local, _ = made(7, None)
    sizes = local.reduce(partitions, Sizes(), n_jobs, lambda cost: None)
    assert sizes == [(k, 116 * k, 116) for k in range(7) if k != 3]
    assert list(local.map(partitions, Sizes().partial, n_jobs, lambda cost: None)) == [
        [entry] for entry in sizes
    ]


@pytest.mark.parametrize("n_jobs", JOBS)
def test_what_fits_is_kept_for_the_next_pass(n_jobs):
    partitions, local, log = made(6, 100_000)
    for _ in range(3):
        local.reduce(partitions, Sizes(), n_jobs, lambda cost: None)
    assert sorted(log) == list(range(6))
    assert local.kept_bytes == 6 * HELD
    local.release()
    assert local.kept_bytes == 0


def test_memory_bounds_what_is_kept_and_what_is_in_flight():
    partitions, local, log = made(6, int(3.5 * HELD))
    for _ in range(2):
        local.reduce(partitions, Sizes(), 1, lambda cost: None)
    assert local.kept_bytes <= 2.5 * HELD  # one more is in flight
    assert len(log) == 6 + 4
    waiting = []

    def look(part):
        waiting.append(len(log))
        return part.index

    partitions, local, log = made(6, 2 * HELD)  # one computed, one loaded ahead at most
    list(local.map(partitions, look, 8, lambda cost: None))
    assert all(loaded <= done + 3 for done, loaded in enumerate(waiting))


def test_other_tables_make_room():
    local = Local(int(2.5 * HELD))
    for _ in range(2):
        partitions, _, _ = made(3, None)
        local.reduce(partitions, Sizes(), 1, lambda cost: None)
        assert local.kept_bytes == HELD
        assert all(key == partitions.key for key, _ in local._kept)


def test_a_partition_beyond_the_limit_is_named():
    partitions, local, _ = made(2, 900)
    with pytest.raises(tacit.InputError, match=r"memory: made needs about 1\.1 kB"):
        local.reduce(partitions, Sizes(), 1, lambda cost: None)


def test_statistics_count_towards_the_limit():
    class Large(Sizes):
        n_bytes = HELD

    partitions, local, _ = made(2, int(2.5 * HELD))
    with pytest.raises(tacit.InputError, match=r"the statistic that is asked for needs about 3\.2"):
        local.reduce(partitions, Large(), 1, lambda cost: None)
    partitions, local, _ = made(2, int(3.5 * HELD))
    with pytest.raises(tacit.InputError, match=r"besides 3\.2 kB for the statistic"):
        local.reduce(partitions, Large(), 1, lambda cost: None)


@pytest.mark.parametrize("n_jobs", JOBS)
def test_errors_of_a_partition_arrive(n_jobs):
    def fail(part):
        raise tacit.InputError(f"partition {part.index}")

    partitions, local, _ = made(4, None)
    with pytest.raises(tacit.InputError, match="partition 0"):
        list(local.map(partitions, fail, n_jobs, lambda cost: None))


def test_a_closed_map_reads_no_further():
    partitions, local, log = made(100, None)
    mapped = local.map(partitions, Sizes().partial, 2, lambda cost: None)
    next(mapped)
    mapped.close()
    assert len(log) < 10


def test_threads_may_share_a_table(visits):
    parts = tacit.scale.partition(visits, 4)
    expected = parts.pairs().stored
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda k: parts.pairs(n_jobs=1 + k % 2).stored, range(12)))
    assert all(np.array_equal(stored, expected) for stored in results)
    assert parts.cost.records == 13 * visits.n_records


def test_who_computes_is_settled_when_a_map_is_made(visits):
    class Other(Local):
        def map(self, *args):
            yield "other"

    parts = tacit.scale.partition(visits, 2)
    with using(Other()):
        mapped = parts.map(Sizes().partial)
    assert list(mapped) == ["other"]


def test_cost_adds_up(visits):
    parts = tacit.scale.partition(visits, 3)
    parts.one_way()
    parts.pairs()
    cost = parts.cost
    assert (cost.passes, cost.partitions) == (2, 6)
    assert (cost.records, cost.stored) == (40_000, 2 * visits.n_stored)
    assert 0 < cost.kernel_fraction <= 1
    assert cost.line().startswith("2 passes: 40,000 records, 134,020 stored values, 0 B read, ")


def test_kept_tables_do_not_grow(visits):
    parts = tacit.scale.partition(visits, 2)
    held = [source.table for source in parts._metadata.partitions.sources]
    before = [table.nbytes for table in held]
    parts.contingency(["news", "weather"])
    assert [table.nbytes for table in held] == before


@given(data())
@settings(max_examples=30)
def test_merging_is_a_fixed_tree(draw):
    n = draw.draw(integers(1, 40))
    order = draw.draw(permutations(range(n)))
    silent = draw.draw(sets(integers(0, n - 1)))

    def join(a, b):
        return f"({a}{b})"

    straight, mixed = MergeTree(join, n), MergeTree(join, n)
    for place in range(n):
        straight.put(place, None if place in silent else f"{place},")
    for place in order:
        mixed.put(place, None if place in silent else f"{place},")
    assert straight.result == mixed.result
    if len(silent) < n:
        listed = straight.result.replace("(", "").replace(")", "").split(",")[:-1]
        assert listed == [str(k) for k in range(n) if k not in silent]


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_aligned_blocks_merge_to_the_same(size):
    n, join = 21, lambda a, b: f"({a}{b})"
    whole, upper = MergeTree(join, n), MergeTree(join, -(-n // size))
    for place in range(n):
        whole.put(place, f"{place},")
    for block in range(-(-n // size)):
        members = range(block * size, min(n, (block + 1) * size))
        lower = MergeTree(join, len(members))
        for k, place in enumerate(members):
            lower.put(k, f"{place},")
        upper.put(block, lower.result)
    assert whole.result == upper.result


def test_take_collect_and_select(visits):
    parts = tacit.scale.partition(visits, 7)
    numbers = np.array([0, 1, 2857, 2858, 19_999])
    taken = parts.take(numbers)
    assert taken.schema == visits.schema
    assert np.array_equal(taken.to_numpy(), visits.take(numbers).to_numpy())
    whole = parts.collect()
    assert np.array_equal(whole.indptr, visits.indptr)
    assert np.array_equal(whole.values, visits.values)
    some = parts.select(["weather", "news"])
    expected = visits.select(["weather", "news"])
    assert (some.schema, some.n_stored, some.shape) == (
        expected.schema,
        expected.n_stored,
        expected.shape,
    )
    assert np.array_equal(some.collect().to_numpy(), expected.to_numpy())


def test_weights(visits):
    weights = np.random.default_rng(0).random(visits.n_records)
    heavy = visits.with_weights(weights)
    parts = tacit.scale.partition(heavy, 6)
    assert parts.weighted
    assert np.allclose(parts.one_way().counts, heavy.one_way().counts, rtol=1e-12)
    assert np.allclose(parts.pairs().stored, heavy.pairs().stored, rtol=1e-12)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda parts: parts.contingency("news"), "columns must be a list"),
        (lambda parts: parts.contingency(["nowhere"]), "nowhere"),
        (lambda parts: parts.one_way(given={"news": 7}), "news"),
        (lambda parts: parts.two_way("nowhere"), "nowhere"),
        (lambda parts: parts.take([99_999]), "records: 99999"),
        (lambda parts: parts.take([]), "records: there must be"),
        (lambda parts: parts.select("news"), "columns must be a list"),
        (lambda parts: parts.select([]), "columns: there must be at least one"),
        (lambda parts: parts.count({"nowhere": 1}), "nowhere"),
    ],
)
def test_bad_questions(visits, ask, message):
    with pytest.raises(tacit.InputError, match=message):
        ask(tacit.scale.partition(visits, 2))


def test_bad_partitions(visits):
    for n in (0, 20_001, 2.5):
        with pytest.raises(tacit.InputError, match="n_partitions"):
            tacit.scale.partition(visits, n)
    other = visits.with_defaults({"news": True})
    with pytest.raises(tacit.InputError, match="schema of table 1"):
        tacit.scale.of_tables([visits, other])
    with pytest.raises(tacit.InputError, match="memory must be a size"):
        tacit.scale.Local("lots")
