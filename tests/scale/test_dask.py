"""On a real cluster of worker processes: the same answers, whatever happens to it."""

import os
import pickle
import signal
import threading
import time
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster
from scipy import sparse

import tacit
from tacit.scale import Cost, Dask, Local, on_dask
from tacit.scale.dask_executor import block_size
from tacit.scale.dask_tasks import merge_partials, pack
from tacit.scale.pair_counting import PairCounts, PairTotal
from tacit.scale.partitioned_table import Metadata, PartitionedTable, PassRunner
from tacit.scale.partitions import Partitions, PartitionSource, Reader
from tacit.statistic import Statistic


def workers(n):
    return LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0")


@pytest.fixture(scope="module")
def cluster():
    with workers(2) as started:
        yield started


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=False) as connected:
        yield connected


@dataclass(frozen=True)
class MadeSource(PartitionSource):
    """A partition that is made where it is loaded, which leaves a trace in a folder."""

    index: int
    folder: str
    rows: int = 50
    _: KW_ONLY
    name: str = "made"
    disk_bytes: int = 100
    load_bytes: int = 10_000
    kept_bytes: int = 10_000


class MadeReader(Reader):
    def load(self, source, n_jobs):
        (Path(source.folder) / f"{source.index}-{os.getpid()}-{time.time_ns()}").touch()
        if source.index % 5 == 3:
            return None
        rng = np.random.default_rng(source.index)
        frame = {name: rng.random(source.rows) < 0.3 for name in "abc"}
        return tacit.Table(frame, defaults=False)


def made(folder, n=12, **options):
    """Return partitions, of which some are empty, and the records that they hold."""
    folder.mkdir(exist_ok=True)
    sources = tuple(MadeSource(k, str(folder), **options) for k in range(n))
    sizes = [0 if k % 5 == 3 else sources[0].rows for k in range(n)]
    firsts = tuple((np.cumsum(sizes) - sizes).tolist())
    return Partitions(sources, MadeReader(), firsts)


def silent(cost):
    pass


class Sizes(Statistic):
    def partial(self, part):
        return [(part.index, part.first, part.records.n_records)]

    def merge(self, one, other):
        return one + other


class Rounding(Statistic):
    """Sums of which the last bits tell in which order they were added up."""

    def partial(self, part):
        return np.array([1.0 / (7 + part.index), part.records.n_stored / 3])

    def merge(self, one, other):
        one += other
        return one


# The same answers


@pytest.mark.parametrize("n", [1, 2, 7, 16])
def test_counts_are_those_of_memory_bit_for_bit(client, visits, n):
    parts = tacit.scale.partition(visits, n)
    with on_dask(client):
        assert np.array_equal(parts.one_way().counts, visits.one_way().counts)
        assert np.array_equal(parts.two_way("news").counts, visits.two_way("news").counts)
        assert np.array_equal(parts.pairs().stored, visits.pairs().stored)
        assert parts.count({"news": True}) == visits.count({"news": True})
        counted = parts.contingency(["news", "weather", "sports"])
        taken = parts.take([0, 5, 19_999])
    expected = visits.contingency(["news", "weather", "sports"])
    assert np.array_equal(counted.to_array(), expected.to_array())
    assert np.array_equal(taken.to_numpy(), visits.take([0, 5, 19_999]).to_numpy())


@pytest.mark.parametrize("n", [1, 3, 9, 40, 70])
def test_merging_is_that_of_one_machine(client, tmp_path, n):
    partitions = made(tmp_path / "made", n)
    here = Local().reduce(partitions, Rounding(), 1, silent)
    there = Dask(client).reduce(partitions, Rounding(), 1, silent)
    assert np.array_equal(here, there)
    sizes = Dask(client).reduce(partitions, Sizes(), 1, silent)
    assert sizes == Local().reduce(partitions, Sizes(), 1, silent)
    mapped = Dask(client).map(partitions, Sizes().partial, 1, silent)
    assert [one for several in mapped for one in several] == sizes


@pytest.mark.parametrize("n", [2, 5, 16])
def test_expected_counts(client, visits, n):
    model = tacit.NaiveBayesMixture(4, n_init=2, max_iter=5, random_state=0)
    parts = tacit.scale.partition(visits, n)
    with on_dask(client):
        there = model.fit(parts).expected_counts(parts)
    here = model.expected_counts(parts)
    held = model.expected_counts(visits)
    assert np.array_equal(there.stored, here.stored)
    assert there.log_likelihood == here.log_likelihood
    assert np.allclose(there.stored, held.stored, rtol=1e-12, atol=1e-12)
    assert np.isclose(there.log_likelihood, held.log_likelihood, rtol=1e-12)


def test_a_statistic_of_the_caller(client, visits):
    class Longest(Statistic):
        def partial(self, part):
            return int(np.diff(part.records.indptr).max())

        def merge(self, one, other):
            return max(one, other)

    with on_dask(client):
        longest = tacit.scale.partition(visits, 5).reduce(Longest())
    assert longest == np.diff(visits.indptr).max()


# What is kept, and what is not


def test_partitions_are_loaded_once(client, tmp_path):
    partitions = made(tmp_path / "made")
    executor = Dask(client)
    for _ in range(3):
        executor.reduce(partitions, Sizes(), 1, silent)
    loaded = [path.name.split("-")[0] for path in (tmp_path / "made").iterdir()]
    assert sorted(map(int, loaded)) == list(range(12))
    executor.release()
    executor.reduce(partitions, Sizes(), 1, silent)
    assert len(list((tmp_path / "made").iterdir())) == 24


def test_partitions_beyond_the_workers_memory_are_loaded_each_time(client, tmp_path):
    limit = min(worker["memory_limit"] for worker in client.scheduler_info()["workers"].values())
    partitions = made(tmp_path / "made", 12, kept_bytes=limit // 6, load_bytes=limit // 6)
    executor, costs = Dask(client), []
    for _ in range(3):
        executor.reduce(partitions, Sizes(), 1, costs.append)
    n_loaded = len(list((tmp_path / "made").iterdir()))
    assert n_loaded == 12 + 6 + 6  # half the memory of two workers has room for six
    assert sum(cost.bytes_read for cost in costs) == 100 * n_loaded


def test_other_tables_make_room(client, tmp_path):
    limit = min(worker["memory_limit"] for worker in client.scheduler_info()["workers"].values())
    executor = Dask(client)
    for name in ("one", "other"):
        partitions = made(tmp_path / name, 4, kept_bytes=limit // 5, load_bytes=limit // 5)
        executor.reduce(partitions, Sizes(), 1, silent)
        assert list(executor._kept) == [partitions.key]


def test_nothing_is_left_on_the_cluster(client, visits):
    with on_dask(client):
        tacit.scale.partition(visits, 8).pairs()
    wait_until(lambda: not client.futures and not tasks_of(client))


def test_costs_arrive(client, visits):
    parts = tacit.scale.partition(visits, 6)
    with on_dask(client):
        parts.one_way()
        parts.one_way()
    cost = parts.cost
    assert (cost.passes, cost.partitions) == (2, 12)
    assert (cost.records, cost.stored) == (2 * visits.n_records, 2 * visits.n_stored)
    assert 0 < cost.kernel_fraction < 1


def test_a_closed_map_reads_no_further(client, tmp_path):
    partitions = made(tmp_path / "made", 400)
    mapped = Dask(client).map(partitions, Sizes().partial, 1, silent)
    next(mapped)
    mapped.close()
    wait_until(lambda: not tasks_of(client))
    assert len(list((tmp_path / "made").iterdir())) < 150


def test_results_of_a_map_do_not_pile_up(client, tmp_path):
    partitions, executor = made(tmp_path / "made", 320), Dask(client)
    left = []
    for _ in executor.map(partitions, Sizes().partial, 1, silent):
        kept = executor._kept[partitions.key].blocks
        left.append(len(client.futures) - len(kept))
    assert max(left) <= 6  # twice the threads, and those that are just being let go of


def test_a_pass_that_is_closed_does_no_harm_to_another(client, tmp_path):
    partitions, executor = made(tmp_path / "made", 60), Dask(client)
    one = executor.map(partitions, Sizes().partial, 1, silent)
    results = [next(one)]
    other = executor.map(partitions, Sizes().partial, 1, silent)
    next(other)
    other.close()
    results += list(one)
    assert [size for each in results for size in each] == Local().reduce(
        partitions, Sizes(), 1, silent
    )
    kept = executor._kept[partitions.key].blocks
    assert kept  # what was loaded is there for the next pass
    assert all(block.status == "finished" for block in kept.values())


@pytest.mark.parametrize("parts", [["a", "b", "c", "d"], [None, "b", None, "d"], [None, None, "c"]])
def test_merging_again_gives_the_same(parts):
    """A worker that dies may have merged already; then the same inputs are merged once more."""
    forms = {
        "a": PairTotal(1, np.ones(3, np.uint32), None),
        "b": PairTotal(1, None, np.ones((2, 2), np.int64)),
        "c": PairTotal(1, np.ones(3, np.uint32), sparse.csr_array(np.eye(2, dtype=np.int64))),
        "d": PairTotal(1, np.ones(3, np.uint32), np.ones((2, 2), np.int64)),
    }
    partials = [(None if form is None else forms[form], Cost()) for form in parts]
    asked = pack(PairCounts(2, 9, False))
    schema = tacit.Table({"a": [0, 1], "b": [0, 1]}).schema
    first, again = (merge_partials(asked, partials)[0].pairs(schema, 1) for _ in range(2))
    assert np.array_equal(first.stored, again.stored)
    assert first.singles.total == again.singles.total == sum(form is not None for form in parts)


def test_large_statistics_of_trees_come_in_batches(tmp_path):
    """What a worker can hold sets how much is counted at a time, not what this machine can."""
    rng = np.random.default_rng(0)
    table = tacit.Table(rng.random((400, 60)) < 0.2, defaults=False)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="500MB"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        parts = tacit.scale.partition(table, 2)
        assert parts.statistic_bytes is None
        with on_dask(client):
            assert parts.statistic_bytes == 500_000_000 // 36
            network = tacit.DependencyNetwork().fit(parts)
    assert network.score(table) == tacit.DependencyNetwork().fit(table).score(table)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_are_powers_of_two_and_enough(threads):
    for n in range(1, 80):
        size = block_size(n, threads)
        assert size in (1, 2, 4, 8, 16)
        assert size == 1 or -(-n // size) >= 2 * threads


# What goes wrong


@dataclass(frozen=True)
class Deadly(Statistic):
    """Kills the worker that comes to a partition first, once."""

    flag: str
    victim: int

    def partial(self, part):
        if part.index == self.victim and not Path(self.flag).exists():
            Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return [(part.index, part.first, part.records.n_records)]

    def merge(self, one, other):
        return one + other


@pytest.fixture(scope="module")
def mortal():
    """A cluster of which workers may be killed; others come in their place by and by."""
    with workers(2) as cluster, Client(cluster, set_as_default=False) as connected:
        yield connected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("victim", [0, 11])
def test_a_worker_that_is_killed_in_a_pass(mortal, tmp_path, victim):
    partitions = made(tmp_path / "made")
    mortal.wait_for_workers(2)
    executor = Dask(mortal)
    executor.reduce(partitions, Sizes(), 1, silent)  # some partitions are in its memory
    sizes = executor.reduce(partitions, Deadly(str(tmp_path / "flag"), victim), 1, silent)
    assert (tmp_path / "flag").exists()
    assert sizes == Local().reduce(partitions, Sizes(), 1, silent)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_while_a_mixture_is_fitted(mortal, visits):
    mortal.wait_for_workers(2)
    parts = tacit.scale.partition(visits, 8)
    model = tacit.NaiveBayesMixture(4, n_init=1, max_iter=40, tol=0, random_state=0)

    def kill():
        time.sleep(0.5)
        os.kill(pid, signal.SIGKILL)

    pid = next(iter(mortal.run(os.getpid).values()))
    thread = threading.Thread(target=kill)
    with on_dask(mortal):
        thread.start()
        model.fit(parts)
    thread.join()
    again = tacit.NaiveBayesMixture(4, n_init=1, max_iter=40, tol=0, random_state=0).fit(parts)
    assert model.log_likelihood_ == again.log_likelihood_


def test_a_corrupt_file_is_named_and_nothing_is_half_fitted(client, tmp_path):
    rng = np.random.default_rng(0)
    for k in range(3):
        frame = pl.DataFrame({name: rng.integers(0, 9, 4000) for name in "abcd"})
        frame.write_parquet(tmp_path / f"{k}.parquet", row_group_size=1000, compression="lz4")
    logs = tacit.scan(str(tmp_path / "*.parquet"), partition_records=1000)
    with on_dask(client):
        model = tacit.NaiveBayesMixture(2, n_init=1, max_iter=3, random_state=0).fit(logs)
        before = pickle.dumps(model)
        path = tmp_path / "1.parquet"
        column = pq.ParquetFile(path).metadata.row_group(2).column(1)
        data = bytearray(path.read_bytes())
        begin = column.dictionary_page_offset or column.data_page_offset
        data[begin : begin + column.total_compressed_size] = bytes(column.total_compressed_size)
        path.write_bytes(data)
        fresh = tacit.scan(str(tmp_path / "*.parquet"), partition_records=1000)
        with pytest.raises(tacit.InputError, match=r"1\.parquet: row group 2"):
            model.fit(fresh)
        assert pickle.dumps(model) == before
        assert tacit.scan(str(tmp_path / "0.parquet")).n_records == 4000  # the cluster works on
    wait_until(lambda: not tasks_of(client))


def test_two_clients_at_once(cluster, visits):
    expected = tacit.NaiveBayesMixture(3, n_init=1, max_iter=10, random_state=1)
    expected.fit(tacit.scale.partition(visits, 6))
    likelihoods = {}

    def work(name):
        with Client(cluster, set_as_default=False) as client, on_dask(client):
            parts = tacit.scale.partition(visits, 6)
            model = tacit.NaiveBayesMixture(3, n_init=1, max_iter=10, random_state=1)
            likelihoods[name] = model.fit(parts).log_likelihood_

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert likelihoods == dict.fromkeys("ab", expected.log_likelihood_)


class Slow(Statistic):
    def partial(self, part):
        time.sleep(0.5)
        return part.index

    def merge(self, one, other):
        return max(one, other)


def test_ctrl_c_frees_the_cluster(client, tmp_path):
    partitions = made(tmp_path / "made", 200)
    executor = Dask(client)
    # Python loses a signal that falls into a finaliser: a person would press the keys again.
    times = (1.0, 5.0, 9.0, 13.0, 17.0)
    presses = [threading.Timer(s, os.kill, (os.getpid(), signal.SIGINT)) for s in times]
    begin = time.monotonic()
    for press in presses:
        press.start()
    with pytest.raises(KeyboardInterrupt):
        executor.reduce(partitions, Slow(), 1, silent)
    for press in presses:
        press.cancel()
    assert time.monotonic() - begin < 25  # all of it would take fifty seconds
    executor.release()
    wait_until(lambda: not tasks_of(client))
    assert executor.reduce(made(tmp_path / "more", 2), Sizes(), 1, silent)


def test_another_version_is_refused():
    def pretend(version):
        from importlib import metadata

        def other_version(name):
            if not version:
                raise metadata.PackageNotFoundError(name)
            return version

        metadata.version = other_version

    with workers(1) as cluster, Client(cluster, set_as_default=False) as client:
        for version, message in (("0.0.1", r"0\.0\.1, but here"), ("", "none that can be found")):
            client.run(pretend, version)
            expected = f"another version of tacit: {message}"
            with pytest.raises(tacit.InputError, match=expected), on_dask(client):
                raise AssertionError("not reached")


def test_partitions_larger_than_a_worker(client, tmp_path):
    partitions = made(tmp_path / "made", 2, load_bytes=10**15)
    with pytest.raises(tacit.InputError, match=r"memory: made needs about 1,?000\.0 TB"):
        Dask(client).reduce(partitions, Sizes(), 1, silent)


def test_clusters_that_are_none():
    expected = r"cluster must be a distributed\.Client or an address, got 7"
    with pytest.raises(tacit.InputError, match=expected), on_dask(7):
        pass
    expected = r"no scheduler answers at 'tcp://127\.0\.0\.1:1'"
    nowhere = "tcp://127.0.0.1:1"
    with pytest.raises(tacit.InputError, match=expected), on_dask(nowhere, timeout=0.5):
        pass
    with (
        workers(0) as empty,
        pytest.raises(tacit.InputError, match=r"no worker came to tcp://.* in 0\.5 seconds"),
        on_dask(empty.scheduler_address, timeout=0.5),
    ):
        pass


def test_without_dask(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(tacit.InputError, match=r"pip install 'tacit\[dask\]'"), on_dask("tcp://x"):
        pass


def test_an_address_is_enough(cluster, visits):
    parts = tacit.scale.partition(visits, 3)
    with on_dask(cluster.scheduler_address):
        assert parts.count({"news": True}) == visits.count({"news": True})


def tasks_of(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def wait_until(condition):
    """Wait for what the cluster does by and by."""
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to be")


def test_contents_of_all_kinds_are_sent(client, tmp_path):
    """A table that is made of sources works with models, on the cluster and here."""
    partitions = made(tmp_path / "made", 8)
    kept = [k for k in range(8) if k % 5 != 3]
    table = MadeReader().load(partitions.sources[0], 1)
    sources = tuple(partitions.sources[k] for k in kept)
    sizes = np.full(len(kept), 50, np.int64)
    partitions_made = Partitions(sources, MadeReader(), tuple((50 * np.arange(len(kept))).tolist()))
    metadata = Metadata(table.schema, partitions_made, sizes, 0, False)
    parts = PartitionedTable(lambda run: metadata, PassRunner(Local()), "made")
    with on_dask(client):
        there = tacit.DependencyTree().fit(parts)
    here = tacit.DependencyTree().fit(parts)
    assert np.array_equal(there.edges_, here.edges_)
    assert np.array_equal(there.weights_, here.weights_)
