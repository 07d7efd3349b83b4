"""Networks in files: the same again, and nothing believed unchecked."""

import json

import numpy as np
import pytest

import tacit
from support.strategies import assert_identical
from tacit import DependencyNetwork, FileError, InputError, Table, store


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 500)
    return Table({"a": a, "b": a > 1, "c": rng.choice(["x", "y", "z"], 500), "d": (a + 1) % 3})


@pytest.fixture(scope="module")
def web(table):
    return DependencyNetwork(splits="both", min_samples_leaf=2).fit(table)


@pytest.fixture
def path(web, tmp_path):
    web.save(tmp_path / "web.tacit")
    return tmp_path / "web.tacit"


def test_round_trip(web, table, path):
    again = tacit.load(path)
    assert again.get_params() == web.get_params()
    assert again.to_frame().equals(web.to_frame())
    assert again.to_text() == web.to_text()
    assert_identical(again.score_samples(table), web.score_samples(table))
    assert again.recommend([("a", 2)]).equals(web.recommend([("a", 2)]))
    assert_identical(again.sample(9, random_state=0).values, web.sample(9, random_state=0).values)
    assert again.tree("d").to_text() == web.tree("d").to_text()
    assert again.feature_names_in_.tolist() == list("abcd")


def test_weights_bins_and_arrays(tmp_path):
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(200, 3))
    numbers[:, 1] = numbers[:, 0] + 0.1 * rng.normal(size=200)
    web = DependencyNetwork("bic", discretise=4, kinds={0: "numeric", 1: "numeric"}).fit(
        numbers, sample_weight=rng.random(200)
    )
    web.save(tmp_path / "w")
    again = tacit.load(tmp_path / "w")
    assert_identical(again.score_samples(numbers), web.score_samples(numbers))
    assert again.forest_.unit == web.forest_.unit != 1.0
    assert not hasattr(again, "feature_names_in_")


def test_only_what_is_fitted_is_saved(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        DependencyNetwork().save(tmp_path / "w")


def rewritten(path, **changes):
    """Write a file with other arrays, with checksums that fit them."""
    kind, arrays = store.read_arrays(path)
    arrays = {name: np.array(array) for name, array in arrays.items()} | changes
    store.write_arrays(path, kind, {k: v for k, v in arrays.items() if v is not None})
    return path


def array_of(path, name):
    return np.array(store.read_arrays(path)[1][name])


@pytest.mark.parametrize("name", ["roots", "column", "stats", "gain", "features", "settings"])
def test_an_array_is_missing(path, name):
    with pytest.raises(FileError, match=f"it has no '{name}'"):
        tacit.load(rewritten(path, **{name: None}))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("roots", lambda a: a[:-1], "a tree for each"),
        ("roots", lambda a: a.astype(np.int32), "shape and the type"),
        ("roots", lambda a: a + 1, "begin and end"),
        ("column", lambda a: np.where(a >= 0, 77, a), "one of the columns"),
        ("column", lambda a: np.where(a < 0, -2, a), "neither a split nor a leaf"),
        ("low", lambda a: a - 1, "value ids"),
        ("high", lambda a: a + 1000, "value ids"),
        ("complete", lambda a: a * 2 + 2, "index of children|behind their|neither a split"),
        ("first", lambda a: a + 10_000, "index of children"),
        ("children", lambda a: a * 0, "behind their parents"),
        ("children", lambda a: a[::-1].copy(), "behind their parents"),
        ("also", lambda a: a + 1000, "another value id"),
        ("also", lambda a: a[:-1], "equally many|one entry for each node"),
        ("left", lambda a: a + 50, "two sides of a threshold"),
        ("right", lambda a: a[:-1], "one entry for each node"),
        ("gain", lambda a: a * np.nan, "'gain' has a number"),
        ("share", lambda a: a * 0, "'share' has a number"),
        ("stats", lambda a: -a, "'stats' has a count"),
        ("stats", lambda a: a[:-1], "begin and end"),
        ("stats", lambda a: np.concatenate([a[:1] + 1, a[1:]]), "add up to the same"),
        ("stat_start", lambda a: a[::-1].copy(), "begin and end"),
        ("features", lambda a: a[:-5], "its columns cannot be read"),
        ("settings", lambda a: a[:-5], "is damaged"),
    ],
)
def test_damaged_arrays(path, name, change, message):
    with pytest.raises(FileError, match=message):
        tacit.load(rewritten(path, **{name: change(array_of(path, name))}))


def test_counts_of_a_leaf_that_its_parent_does_not_have(path, web):
    stats = array_of(path, "stats")
    inner = int(np.flatnonzero(web.forest_.tree(0).column >= 0)[0])
    assert inner == 0
    stats[4] += 1  # the first code of the root's first child
    with pytest.raises(FileError, match="not those of its children"):
        tacit.load(rewritten(path, stats=stats))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": 0.0}, "unit of weight"),
        ({"unit": "much"}, "unit of weight"),
        ({"parameters": {"criterion": "chi2"}}, "criterion"),
        ({"parameters": {"nonsense": 1}}, "nonsense"),
        ({"parameters": 3}, "is damaged"),
    ],
)
def test_damaged_settings(path, change, message):
    facts = json.loads(array_of(path, "settings").tobytes()) | change
    settings = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    with pytest.raises(FileError, match=message):
        tacit.load(rewritten(path, settings=settings))


def test_a_flipped_bit_is_found(path):
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)
    with pytest.raises(FileError, match="checksum"):
        tacit.load(path)


def test_the_folder_must_be_there(web, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        web.save(tmp_path / "nowhere" / "web.tacit")
