"""Trees in files: what is saved comes back, and no damage does worse than an error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.counters import assert_counts, expected, labelled, questions
from support.files import assert_damage_is_an_error
from support.strategies import assert_identical, data
from tacit import ADTree, FileError, Table, store
from tacit.counts import Scan

NONE = 2**32 - 1  # stands for "nowhere" in nodes and slots

GROWTHS = {
    "lazy": lambda tree: tree,
    "part grown": lambda tree: [tree.table([0]), tree.table([0, 1, 3]), tree][-1],
    "full": lambda tree: tree.build(),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some tree.tacit"


def example_table(weighted=False):
    rng = np.random.default_rng(21)
    codes = rng.integers(0, 4, (300, 5)) * (rng.random((300, 5)) < 0.6)
    return Table(codes, weights=rng.random(300) if weighted else None)


def answers(counter):
    sets = [[0], [3, 1], [4, 2, 0], [0, 1, 2, 3, 4]]
    return [counter.table(columns, {"2": 1}).to_array() for columns in sets] + [
        counter.table(columns).to_array() for columns in sets
    ]


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("verify", [False, True])
def test_a_saved_tree_comes_back_and_grows_on(path, growth, weighted, verify):
    table = example_table(weighted)
    tree = GROWTHS[growth](ADTree(table, leaf_size=3, max_depth=4, memory_limit=10**7))
    tree.save(path)
    before = path.read_bytes()
    loaded = tacit.load(path, verify=verify)
    assert isinstance(loaded, ADTree)
    assert loaded.schema == tree.schema
    for setting in ("leaf_size", "max_depth", "memory_limit", "min_count"):
        assert getattr(loaded, setting) == getattr(tree, setting)
    assert loaded.n_nodes == tree.n_nodes
    for own, other in zip(loaded._tree.arrays(), tree._tree.arrays(), strict=True):
        assert own is other is None or (own == other).all()
    for found, counts in zip(answers(loaded), answers(Scan(table)), strict=True):
        assert_identical(found, counts)
    loaded.build()
    assert loaded.n_nodes == ADTree(table, leaf_size=3, max_depth=4).build().n_nodes
    for found, counts in zip(answers(loaded), answers(Scan(table)), strict=True):
        assert_identical(found, counts)
    assert path.read_bytes() == before
    loaded.save(path)  # over the file it looks at
    assert tacit.load(path).n_nodes == loaded.n_nodes
    loaded.clear()
    assert loaded.n_nodes == 1
    for found, counts in zip(answers(loaded), answers(Scan(table)), strict=True):
        assert_identical(found, counts)


@given(draw=st.data())
@settings(max_examples=30)
def test_any_tree_comes_back(tmp_path_factory, draw):
    path = tmp_path_factory.mktemp("trees") / "t"
    d = draw.draw(data(max_rows=30, with_chosen=False))
    tree = ADTree(d.table(), leaf_size=draw.draw(st.sampled_from([1, 2, 16])))
    for columns, held in draw.draw(st.lists(questions(d), max_size=3)):
        tree.table(columns, labelled(d, held))
    tree.save(path)
    loaded = tacit.load(path)
    for columns, held in draw.draw(st.lists(questions(d), min_size=1, max_size=3)):
        assert_counts(loaded, columns, labelled(d, held), expected(d, columns, held))


def test_an_approximate_tree_comes_back(path):
    tree = ADTree(example_table(), leaf_size=1, min_count=5).build()
    tree.save(path)
    loaded = tacit.load(path)
    assert not loaded.exact
    for columns in ([0, 1], [4, 2, 0]):
        found, wanted = loaded.table(columns), tree.table(columns)
        assert_identical(found.to_array(), wanted.to_array())
        for bound, other in zip(found.bounds(), wanted.bounds(), strict=True):
            assert_identical(bound.to_array(), other.to_array())


def test_a_loaded_tree_keeps_its_memory_limit(path):
    table = example_table()
    tree = ADTree(table, leaf_size=1, memory_limit=40_000)
    answers(tree)
    tree.save(path)
    loaded = tacit.load(path)
    for found, counts in zip(answers(loaded), answers(Scan(table)), strict=True):
        assert_identical(found, counts)
        assert loaded.nbytes <= 40_000


# Damage


def test_cut_off_and_changed_files_are_errors(path):
    tree = ADTree(example_table(weighted=True), leaf_size=3).build()
    tree.save(path)
    assert_damage_is_an_error(path, 60)


def saved_arrays(path, growth="full", **settings):
    GROWTHS[growth](ADTree(example_table(), leaf_size=3, **settings)).save(path)
    return {name: array.copy() for name, array in store.read_arrays(path)[1].items()}


def write_and_ask(path, arrays, kind="adtree"):
    """Load a file that may be wrong and ask it everything: answers must have the right shapes."""
    store.write_arrays(path, kind, arrays)
    tree = tacit.load(path, verify=False)
    for found in answers(tree):
        assert found.sum() is not None
    assert tree.table([3, 1]).to_array().shape == (4, 4)
    for n in range(3):  # with growth, forgetting and copies
        tree.table([n, n + 1, n + 2], {str((n + 3) % 5): 2}, layout="sparse")
    tree.build()
    answers(tree)
    tree.save(path)
    return tree


@pytest.mark.parametrize("lost", ["order", "settings", "nodes", "varies", "slots", "lists"])
def test_files_without_an_array_are_damaged(path, lost):
    arrays = saved_arrays(path)
    del arrays[f"tree.{lost}"]
    with pytest.raises(FileError, match=f"is damaged: it has no 'tree.{lost}'"):
        write_and_ask(path, arrays)


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint8, np.int32, np.uint32, np.uint64])
@pytest.mark.parametrize("name", ["order", "settings", "nodes", "varies", "slots", "lists"])
def test_arrays_of_another_type_are_damaged(path, name, dtype):
    arrays = saved_arrays(path)
    name = f"tree.{name}"
    if arrays[name].dtype == dtype:
        arrays[name] = arrays[name][:, None] if arrays[name].ndim == 1 else arrays[name][:, :, None]
    else:
        arrays[name] = arrays[name].clip(0, 2**30).astype(dtype)
    try:
        write_and_ask(path, arrays)
    except FileError as error:
        assert "is damaged" in str(error)  # noqa: PT017


@pytest.mark.parametrize("kind", ["table", "forest", "adtree"])
def test_files_of_another_kind(path, kind):
    arrays = saved_arrays(path)
    if kind == "adtree":
        arrays = {name: array for name, array in arrays.items() if not name.startswith("tree")}
    store.write_arrays(path, kind, arrays)
    if kind == "table":  # what is left over does no harm
        assert isinstance(tacit.load(path), Table)
    else:
        with pytest.raises(FileError, match=r"does not know|it has no 'tree\.settings'"):
            tacit.load(path)


WRONG = [0, 1, 4, 5, 100, 299, 300, 2**31 - 1, 2**31, NONE - 1, NONE]
FIELDS = [
    *[("tree.nodes", field) for field in range(5)],
    *[("tree.varies", field) for field in range(6)],
    ("tree.slots", 0),
    ("tree.lists", 0),
]


@pytest.mark.parametrize(("name", "field"), FIELDS)
@pytest.mark.parametrize("growth", ["part grown", "full"])
def test_no_wrong_number_does_worse_than_an_error(path, growth, name, field):
    arrays = saved_arrays(path, growth)
    n = len(arrays[name])
    rng = np.random.default_rng(field)
    refused = 0
    for at in sorted({0, 1, n - 1, *rng.integers(0, n, 3).tolist()}):
        own = int(arrays[name][at, field])
        for wrong in {*WRONG, own + 1, own - 1} - {own, -1, NONE + 1}:
            changed = arrays | {name: arrays[name].copy()}
            changed[name].view(np.uint32)[at, field] = wrong
            try:
                write_and_ask(path, changed)
            except FileError as error:
                refused += "is damaged" in str(error)
    assert refused > 0


@pytest.mark.parametrize("place", range(4))
def test_wrong_settings_do_no_worse_than_an_error(path, place):
    arrays = saved_arrays(path, "part grown")
    for wrong in (-(2**63), -1, 0, 1, 2, 1000, 2**40, 2**63 - 1):
        changed = arrays | {"tree.settings": arrays["tree.settings"].copy()}
        changed["tree.settings"][place] = wrong
        try:
            write_and_ask(path, changed)
        except tacit.InputError as error:
            message = str(error)
            assert any(word in message for word in ("damaged", "memory_limit", "approximate"))


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 3], [1, 2, 3, 4, 5], [0, 1], [-1, 0, 1, 2, 3]])
def test_an_order_that_is_none_is_damaged(path, order):
    arrays = saved_arrays(path) | {"tree.order": np.array(order)}
    with pytest.raises(FileError, match="the tree's order is not one of the columns"):
        write_and_ask(path, arrays)


def test_nodes_cannot_share_a_list_of_varies(path):
    """Otherwise what grows below one of them would show up below the other."""
    arrays = saved_arrays(path, "part grown")
    nodes, slots = arrays["tree.nodes"], arrays["tree.slots"]
    idle = np.flatnonzero(nodes[:, 3] == NONE)[:2]
    nodes[idle, 3] = len(slots)
    arrays["tree.slots"] = np.concatenate([slots, np.full((5, 1), NONE, np.uint32)])
    with pytest.raises(FileError, match="two lists of Varies overlap"):
        write_and_ask(path, arrays)


def test_counts_that_are_not_those_of_the_records_are_found_before_lists_are_made(path):
    arrays = saved_arrays(path, "part grown")
    nodes = arrays["tree.nodes"]
    nodes[:, 4] = NONE  # no list is there yet
    arrays["tree.lists"] = np.zeros((0, 1), np.int32)
    nodes[(nodes[:, 3] == NONE) & (nodes[:, 0] > 3), 0] -= 1
    with pytest.raises(FileError, match="its counts are not those of the records"):
        write_and_ask(path, arrays)
