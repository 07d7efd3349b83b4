"""Large trees in files: blocks are read and checked when they are used."""

import os
import threading

import numpy as np
import pytest

import tacit
from counts.test_adtree_files import FIELDS, GROWTHS, WRONG, answers, example_table, write_and_ask
from support.strategies import assert_identical
from tacit import ADTree, FileError, blocks, store
from tacit.counts import Scan

BLOCK = 256


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks that a small tree has many of."""
    for module in (blocks, store, tacit.counts.adtree):
        for name in ("BLOCK", "LEAST"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, BLOCK)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tree.tacit"


@pytest.fixture
def fetched(monkeypatch):
    """The blocks that were fetched."""
    found = []
    fetch = blocks.BlockArray.fetch

    def noted(self, block):
        found.append((self.array.ctypes.data, block))
        fetch(self, block)

    monkeypatch.setattr(blocks.BlockArray, "fetch", noted)
    return found


def n_blocks(path):
    _, arrays = store.read_arrays(path)
    return sum(len(array) for name, array in arrays.items() if name.endswith(".blocks"))


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_are_read_once_and_when_they_are_used(path, fetched, weighted, mmap):
    table = example_table(weighted)
    ADTree(table, leaf_size=2).build().save(path)
    loaded = tacit.load(path, mmap=mmap)
    assert len(fetched) <= 2  # of the root
    assert_identical(loaded.table([0]).to_array(), Scan(table).table([0]).to_array())
    assert 0 < len(fetched) < n_blocks(path) / 2
    for found, counts in zip(answers(loaded), answers(Scan(table)), strict=True):
        assert_identical(found, counts)
    assert len(fetched) == len(set(fetched))
    before = len(fetched)
    answers(loaded)
    assert len(fetched) == before


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("mmap", [False, True])
def test_a_tree_read_by_blocks_grows_on(path, growth, weighted, verify, mmap):
    table = example_table(weighted)
    tree = GROWTHS[growth](ADTree(table, leaf_size=3, memory_limit=10**7))
    tree.save(path)
    loaded = tacit.load(path, verify=verify, mmap=mmap)
    for own, other in zip(loaded._tree.arrays(), tree._tree.arrays(), strict=True):
        assert own is other is None or (own == other).all()
    loaded = tacit.load(path, verify=verify, mmap=mmap)
    loaded.table([1])
    loaded.build()
    assert loaded.n_nodes == ADTree(table, leaf_size=3).build().n_nodes
    for found, counts in zip(answers(loaded), answers(Scan(table)), strict=True):
        assert_identical(found, counts)
    loaded.save(path)
    again = tacit.load(path, mmap=mmap)
    again.clear()
    for found, counts in zip(answers(again), answers(Scan(table)), strict=True):
        assert_identical(found, counts)


def test_bounds_are_the_same_by_blocks(path):
    tree = ADTree(example_table(), leaf_size=1, min_count=5).build()
    tree.save(path)
    loaded = tacit.load(path)
    for bound, other in zip(
        loaded.table([0, 3]).bounds(), tree.table([0, 3]).bounds(), strict=True
    ):
        assert_identical(bound.to_array(), other.to_array())


def test_many_threads_read_the_same_blocks(path):
    table = example_table()
    ADTree(table, leaf_size=1).build().save(path)
    wanted = answers(Scan(table))
    for _ in range(5):
        loaded = tacit.load(path)
        found = [None] * 6

        def ask(k, loaded=loaded, found=found):
            found[k] = answers(loaded)

        threads = [threading.Thread(target=ask, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for own in found:
            for one, other in zip(own, wanted, strict=True):
                assert_identical(one, other)


def test_a_damaged_block_is_an_error_when_it_is_used(path):
    table = example_table()
    ADTree(table, leaf_size=1).build().save(path)
    data = bytearray(path.read_bytes())
    nodes = store.read_arrays(path)[1]["tree.nodes"].tobytes()
    data[data.index(nodes) + len(nodes) - 7] ^= 1
    path.write_bytes(data)
    for mmap in (False, True):
        loaded = tacit.load(path, mmap=mmap)
        assert_identical(loaded.table([0]).to_array(), Scan(table).table([0]).to_array())
        with pytest.raises(FileError, match="the checksum of a block does not match"):
            answers(loaded)
        with pytest.raises(FileError, match="the checksum of a block does not match"):
            loaded.build()
        with pytest.raises(FileError, match="the checksum of a block does not match"):
            loaded.save(path.with_name("other"))
        assert_identical(loaded.table([0]).to_array(), Scan(table).table([0]).to_array())


@pytest.mark.parametrize("change", ["cut off", "overwritten", "replaced"])
def test_a_file_that_changes_while_it_is_used(path, change):
    table = example_table()
    ADTree(table, leaf_size=1).build().save(path)
    loaded = tacit.load(path)
    loaded.table([0])
    if change == "replaced":
        ADTree(table, leaf_size=50).save(path)
        path.unlink()
        for found, counts in zip(answers(loaded), answers(Scan(table)), strict=True):
            assert_identical(found, counts)
        return
    if change == "cut off":
        os.truncate(path, 3000)
    else:
        with path.open("r+b") as file:
            file.seek(3000)
            file.write(b"\xee" * 100_000)
    with pytest.raises(FileError, match=r"is cut off|checksum of a block"):
        answers(loaded)


@pytest.mark.parametrize(("name", "field"), FIELDS)
@pytest.mark.parametrize("growth", ["part grown", "full"])
def test_no_wrong_number_does_worse_than_an_error(path, growth, name, field):
    """Of arrays whose blocks are not compared with checksums, or were written so."""
    GROWTHS[growth](ADTree(example_table(), leaf_size=3)).save(path)
    arrays = {key: array.copy() for key, array in store.read_arrays(path)[1].items()}
    if name + ".blocks" not in arrays or arrays[name].nbytes < BLOCK:
        pytest.skip("small enough to be read at once")
    n = len(arrays[name])
    rng = np.random.default_rng(field)
    refused = 0
    for at in sorted({0, 1, n - 1, *rng.integers(0, n, 3).tolist()}):
        own = int(arrays[name][at, field])
        for wrong in {*WRONG, own + 1, own - 1} - {own, -1, 2**32}:
            changed = arrays | {name: arrays[name].copy()}
            changed[name].view(np.uint32)[at, field] = wrong
            try:
                write_and_ask(path, changed)
            except FileError as error:
                refused += "is damaged" in str(error)
    assert refused > 0


@pytest.mark.parametrize("seals", [np.zeros(1, np.uint32), np.zeros(3, np.int64)])
def test_checksums_that_are_not_one_for_each_block(path, seals):
    ADTree(example_table(), leaf_size=3).build().save(path)
    arrays = dict(store.read_arrays(path)[1]) | {"tree.nodes.blocks": seals}
    store.write_arrays(path, "adtree", arrays)
    with pytest.raises(FileError, match="one checksum for each block"):
        tacit.load(path)


@pytest.mark.parametrize("n_columns", [3, 4, 5])
def test_sums_that_are_not_aligned_in_a_mapped_file(path, monkeypatch, n_columns):
    """Sums of few nodes are read at once: they lie where they lie."""
    for module in (blocks, store, tacit.counts.adtree):
        for name in ("BLOCK", "LEAST"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, 2**14)
    rng = np.random.default_rng(n_columns)
    columns = {f"c{k}": rng.integers(0, 3, 9_000) for k in range(n_columns)}
    table = tacit.as_table(columns).with_weights(rng.integers(1, 9, 9_000))
    ADTree(table, leaf_size=5_000).build().save(path)
    loaded = tacit.load(path, mmap=True)
    for columns in ([0], [0, 1], list(range(n_columns))):
        expected = Scan(table).table(columns).to_array()
        assert_identical(loaded.table(columns).to_array(), expected)
