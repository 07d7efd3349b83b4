"""Mixtures of trees in files and in partitions: what comes back, and what is refused."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from support.strategies import assert_identical
from tacit import FileError, InputError, TreeMixture, store
from tacit.scale import partition


def make_frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "sky": np.where(rng.random(n) < 0.1, "red", np.where(group, "grey", "blue")),
            "rain": pl.Series(np.where(rng.random(n) < 0.2, None, group == 1).tolist()),
            "dice": rng.integers(1, 7, n),
            "heat": rng.normal(15 + 5 * group, 2),
        }
    )


SETTINGS = {
    "plain": {},
    "separate": {"trees": "separate", "unseen": "default"},
    "ignore": {"missing": "ignore", "smoothing": 0.3},
    "blocks": {"max_joint_labels": 12, "prune": False},
    "members": {"n_estimators": 3, "prune": False, "validation": None},
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some mixture.tacit"


class TestFiles:
    @pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
    @pytest.mark.parametrize("verify", [False, True])
    def test_a_saved_mixture_comes_back(self, path, settings, verify):
        frame = make_frame()
        mix = TreeMixture(2, max_iter=8, random_state=0, **settings).fit(frame)
        mix.save(path)
        again = tacit.load(path, verify=verify)
        assert type(again) is TreeMixture
        assert again.get_params() == mix.get_params()
        assert again.schema_ == mix.schema_
        assert again.to_text() == mix.to_text()
        assert again.selection_.equals(mix.selection_)
        assert (again.n_iter_, again.converged_) == (mix.n_iter_, mix.converged_)
        for ask in ("score_samples", "predict_proba", "predict_clusters"):
            assert_identical(getattr(again, ask)(frame), getattr(mix, ask)(frame))
        assert_identical(
            again.sample(20, random_state=0).values, mix.sample(20, random_state=0).values
        )
        assert again.profile().to_text() == mix.profile().to_text()

    def test_records_that_chose_are_not_kept(self, path):
        frame = make_frame()
        TreeMixture(2, validation=frame[:50], random_state=0).fit(frame[50:]).save(path)
        assert tacit.load(path).validation is None

    @pytest.fixture
    def arrays(self, path):
        TreeMixture(3, max_iter=3, max_joint_labels=1, random_state=0).fit(make_frame()).save(path)
        return {name: array.copy() for name, array in store.read_arrays(path)[1].items()}

    @pytest.mark.parametrize(
        "lost",
        [
            "features",
            "settings",
            "trace",
            "0.blocks",
            "0.labels",
            "0.parents",
            "0.cells",
            "0.weights",
        ],
    )
    def test_files_without_an_array(self, path, arrays, lost):
        del arrays[lost]
        store.write_arrays(path, "tree_mixture", arrays)
        with pytest.raises(FileError, match=f"is damaged: it has no '{lost}'"):
            tacit.load(path)

    @pytest.mark.parametrize(
        "name", ["0.parents", "0.weights", "0.cells", "0.means", "0.totals", "0.counts"]
    )
    @pytest.mark.parametrize(
        "change",
        [
            lambda a: a[:-1],
            lambda a: a[..., None],
            lambda a: a[:0],
            lambda a: np.concatenate((a, a)),
            lambda a: a.astype(np.float32),
            lambda a: np.where(np.arange(a.size).reshape(a.shape) == 0, np.nan, a),
            lambda a: np.where(np.arange(a.size).reshape(a.shape) == 0, -5.0, a),
        ],
        ids=["short", "deep", "none", "long", "float32", "nan", "negative"],
    )
    def test_arrays_that_cannot_be(self, path, arrays, name, change):
        store.write_arrays(path, "tree_mixture", arrays | {name: np.asarray(change(arrays[name]))})
        with pytest.raises(FileError, match=r"some mixture\.tacit: is damaged: "):
            tacit.load(path)

    @pytest.mark.parametrize(
        "change",
        [
            {"0.blocks": np.array([0, 0, 2, 3])},
            {"0.blocks": np.array([0, 1, 2])},
            {"0.blocks": np.array([0.0, 1, 2, 3])},
            {"0.blocks": np.zeros(4, np.int64)},
            {"0.blocks": np.array([0, 0, 1, 2])},
            {"0.labels": np.array([0, 1, 2])},
            {"0.blocks": np.array([0, 0, 1, 2]), "0.labels": np.full(9, 7)},
            {"0.labels": np.zeros((1, 1), np.int64)},
        ],
        ids=str,
    )
    def test_blocks_that_cannot_be(self, path, arrays, change):
        store.write_arrays(path, "tree_mixture", arrays | change)
        with pytest.raises(FileError, match=r"some mixture\.tacit: is damaged: "):
            tacit.load(path)

    def test_columns_in_a_circle(self, path, arrays):
        parents = np.array([1, 0, -1, -1])
        store.write_arrays(path, "tree_mixture", arrays | {"0.parents": parents})
        with pytest.raises(FileError, match=r"is damaged: .*circle"):
            tacit.load(path)

    @pytest.mark.parametrize(
        "change",
        [
            {"trees": 0},
            {"trees": 2},
            {"trees": "many"},
            {"smoothing": -1},
            {"smoothing": "x"},
            {"weight": float("nan")},
            {"selection": 7},
            {"selection": {"a": [1], "b": [1, 2]}},
            {"parameters": {"colour": "red"}},
            {"parameters": [1]},
        ],
        ids=str,
    )
    def test_settings_that_cannot_be(self, path, arrays, change):
        facts = json.loads(arrays["settings"].tobytes()) | change
        text = json.dumps(facts).encode()
        changed = arrays | {"settings": np.frombuffer(text, np.uint8)}
        store.write_arrays(path, "tree_mixture", changed)
        with pytest.raises(FileError, match=r"some mixture\.tacit: is damaged: "):
            tacit.load(path)


class TestPartitions:
    @pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
    @pytest.mark.parametrize("n", [1, 4])
    def test_they_are_the_table(self, settings, n):
        table = tacit.Table(make_frame(), discretise="auto")
        options = {"n_clusters": 2, "max_iter": 6, "random_state": 0} | settings
        whole = TreeMixture(**options).fit(table)
        parts = TreeMixture(**options).fit(partition(table, n))
        np.testing.assert_array_equal(parts.edges_, whole.edges_)
        np.testing.assert_allclose(parts.trace_, whole.trace_, rtol=1e-9)
        np.testing.assert_allclose(
            parts.score_samples(table), whole.score_samples(table), rtol=1e-7
        )
        told = parts.predict_proba(partition(table, 3), "sky")
        np.testing.assert_array_equal(told, parts.predict_proba(table, "sky"))
        assert parts.score(partition(table, 2)) == pytest.approx(parts.score(table), rel=1e-12)

    def test_weights(self):
        table = tacit.Table(make_frame(), discretise="auto")
        weights = np.random.default_rng(0).integers(0, 3, 300).astype(float)
        table = table.with_weights(weights)
        options = {"n_clusters": 2, "max_iter": 6, "random_state": 0, "validation": None}
        whole, parts = (TreeMixture(**options).fit(x) for x in (table, partition(table, 3)))
        assert parts._expected[0].weight == pytest.approx(weights.sum())
        assert parts.score(table) == pytest.approx(whole.score(table), abs=0.1)

    def test_records_that_choose_are_in_memory(self):
        table = tacit.Table(make_frame(), discretise="auto")
        with pytest.raises(InputError, match="validation must be in memory"):
            TreeMixture(2, validation=partition(table, 2)).fit(table)

    @pytest.mark.parametrize("fraction", [0.1, 0.5])
    def test_records_held_out_are_not_learnt_from(self, fraction):
        table = tacit.Table(make_frame(), discretise="auto")
        for records in (table, partition(table, 4)):
            mix = TreeMixture(2, validation=fraction, random_state=0).fit(records)
            assert mix._expected[0].weight == round(300 * (1 - fraction))
