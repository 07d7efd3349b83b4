"""The estimator: its answers are those of the joint, and what must not matter does not."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles.tree_mixture import joint_of_groups, observed_sum
from support.estimator_checks import CLASSIFIERS
from support.strategies import assert_identical
from tacit import InputError, Table, TreeMixture

RANDOM = (
    "starts are drawn at random, and the draws are others for a record that is there twice; "
    "from one start, weights and repeated records agree (test_tree_clusters.py)"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": RANDOM,
    "check_sample_weight_equivalence_on_sparse_data": RANDOM,
    "check_estimator_sparse_array": CLASSIFIERS,
    "check_estimator_sparse_matrix": CLASSIFIERS,
}


@parametrize_with_checks(
    [TreeMixture(2, max_iter=10, max_joint_labels=4)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def draw(n=400, seed=0, n_columns=6, arity=3):
    """Draw codes of two clusters, in each of which every column follows another."""
    rng = np.random.default_rng(seed)
    cluster = rng.random(n) < 0.4
    codes = rng.integers(0, arity, (n, n_columns))
    for c in range(1, n_columns):
        above = np.where(cluster, codes[:, c - 1], (codes[:, max(c - 2, 0)] + 1) % arity)
        codes[:, c] = np.where(rng.random(n) < 0.7, above, codes[:, c])
    return codes


MODELS = {
    "one": {"n_clusters": 1},
    "shared": {"n_clusters": 3},
    "separate": {"n_clusters": 3, "trees": "separate"},
    "members": {"n_clusters": 2, "n_estimators": 2},
    "blocks": {"n_clusters": 2, "max_joint_labels": 6, "n_estimators": 2},
    "unpruned": {"n_clusters": 2, "prune": False, "smoothing": 0.3},
    "split": {"n_clusters": 5, "splits": 2, "inverse_temperature": 0.7, "smoothing": 3.0},
}
models = pytest.mark.parametrize("settings", MODELS.values(), ids=MODELS)


def codes_of_all(schema):
    return np.indices(schema.arities).reshape(len(schema), -1).T


def labelled(schema, codes):
    """Return a frame of labels, null for codes of -1."""
    return pl.DataFrame(
        {
            column.name: pl.Series([None if k < 0 else column.labels[int(k)] for k in values])
            for column, values in zip(schema, np.asarray(codes).T, strict=True)
        }
    )


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def mix(request):
    codes = draw(200)
    frame = {f"c{k}": codes[:, k] % (2 + k % 2) for k in range(5)}
    return TreeMixture(random_state=0, max_iter=20, **request.param).fit(Table(frame))


@pytest.fixture(scope="module")
def joint(mix):
    return joint_of_groups(mix._groups)


class TestAnswers:
    """Everything a mixture says, from the probability of every record there can be."""

    def test_records(self, mix, joint):
        schema = mix.schema_
        assert joint.sum() == pytest.approx(1)
        assert schema.arities.tolist() == [2, 3, 2, 3, 2]
        every = labelled(schema, codes_of_all(schema))
        np.testing.assert_allclose(
            np.exp(mix.score_samples(every)), joint.sum(axis=0).ravel(), rtol=1e-9
        )
        within = joint.reshape(len(joint), -1)
        np.testing.assert_allclose(
            mix.predict_clusters(every), (within / within.sum(axis=0)).T, rtol=1e-9, atol=1e-15
        )

    @given(st.data())
    @settings(max_examples=25)
    def test_questions(self, mix, joint, data):
        schema, whole = mix.schema_, joint.sum(axis=0)
        record = [data.draw(st.integers(-1, int(r) - 1)) for r in schema.arities]
        record[data.draw(st.integers(0, 4))] = -1
        evidence = {schema.names[c]: schema.labels[c][k] for c, k in enumerate(record) if k >= 0}
        free = [c for c, k in enumerate(record) if k < 0]
        known = tuple(slice(None) if k < 0 else k for k in record)
        part = whole[known]  # its axes are the free columns
        told = mix.query([schema.names[c] for c in free], evidence)
        np.testing.assert_allclose(told.probabilities, part / part.sum(), rtol=1e-8)
        assert told.log_evidence == pytest.approx(np.log(part.sum()), abs=1e-9)
        marginals = mix.marginals(evidence)
        assert list(marginals) == [schema.names[c] for c in free]
        for axis, c in enumerate(free):
            rest = tuple(k for k in range(len(free)) if k != axis)
            np.testing.assert_allclose(
                marginals[schema.names[c]].probabilities,
                part.sum(axis=rest) / part.sum(),
                rtol=1e-8,
            )
        best, score = mix.most_probable(evidence)
        codes = tuple(schema.labels[c].code(best[schema.names[c]]) for c in range(5))
        assert score == pytest.approx(np.log(whole[codes]), abs=1e-9)
        assert score <= np.log(part.max()) + 1e-9
        for c in free:  # no other label of one column makes it more probable
            for other in range(int(schema.arities[c])):
                near = (*codes[:c], other, *codes[c + 1 :])
                assert np.log(whole[near]) <= score + 1e-9

    def test_the_most_probable_record(self, mix, joint):
        """No worse than the best record of any cluster, and no better than the best of all."""
        whole = joint.sum(axis=0).ravel()
        of_clusters = whole[joint.reshape(len(joint), -1).argmax(axis=1)]
        score = mix.most_probable()[1]
        assert np.log(of_clusters.max()) - 1e-9 <= score <= np.log(whole.max()) + 1e-9

    def test_columns_of_records(self, mix, joint):
        schema, whole = mix.schema_, joint.sum(axis=0)
        codes = codes_of_all(schema)
        every = labelled(schema, codes)
        for c in range(5):
            told = mix.predict_proba(every, schema.names[c])
            wanted = np.moveaxis(whole, c, -1)
            wanted = wanted / wanted.sum(axis=-1, keepdims=True)
            rows = tuple(codes[:, k] for k in range(5) if k != c)
            np.testing.assert_allclose(told, wanted[rows], rtol=1e-8)

    def test_records_that_are_drawn(self, mix, joint):
        n, whole = 20_000, joint.sum(axis=0)
        drawn = mix.sample(n, random_state=0)
        codes = tuple(drawn.codes(c) for c in range(5))
        counts = np.zeros(whole.shape)
        np.add.at(counts, codes, 1)
        expected = n * whole
        large = expected >= 5
        chi2 = ((counts - expected)[large] ** 2 / expected[large]).sum()
        assert chi2 < large.sum() + 5 * np.sqrt(2 * large.sum())
        name = mix.schema_.names[1]
        drawn = mix.sample(4000, given={name: 1}, random_state=1)
        assert (drawn.codes(1) == 1).all()
        part = whole[:, 1].sum(axis=(1, 2, 3)) / whole[:, 1].sum()
        assert (drawn.codes(0) == 1).mean() == pytest.approx(part[1], abs=0.04)


@pytest.fixture(scope="module")
def frame():
    """Return labels, a fifth of them missing."""
    rng = np.random.default_rng(0)
    codes = draw(300)[:, :4]
    return labelled(Table(codes).schema, np.where(rng.random(codes.shape) < 0.2, -1, codes))


class TestMissing:
    @models
    def test_what_is_missing_is_summed_over(self, frame, settings):
        mix = TreeMixture(random_state=0, max_iter=10, missing="ignore", **settings).fit(frame)
        joint = joint_of_groups(mix._groups)
        codes = np.column_stack(
            [
                [-1 if v is None else mix.schema_[name].labels.code(v) for v in frame[name]]
                for name in frame.columns
            ]
        )
        expected = [observed_sum(joint, record).sum() for record in codes]
        np.testing.assert_allclose(np.exp(mix.score_samples(frame)), expected, rtol=1e-9)
        told = mix.predict_proba(frame, 1)
        for record, chances in zip(codes[:40].tolist(), told, strict=False):
            each = [
                observed_sum(joint, [*record[:1], k, *record[2:]]).sum() for k in range(3)
            ]  # fmt: skip
            np.testing.assert_allclose(chances, np.array(each) / sum(each), rtol=1e-8)

    def test_no_pass_lowers_the_objective(self, frame):
        mix = TreeMixture(
            3, validation=None, missing="ignore", smoothing=1.0, tol=0, max_iter=15, random_state=0
        ).fit(frame)
        assert (np.diff(mix.trace_) >= -1e-9 * abs(mix.trace_[1:])).all()

    def test_every_record_lacks_something(self):
        frame = pl.DataFrame({"a": [0, 1, None, 1] * 5, "b": [None, None, 1, None] * 4 + [0] * 4})
        frame = frame.with_columns(c=pl.when(pl.col("b").is_null()).then(pl.col("a")))
        assert frame.drop_nulls().height == 0
        mix = TreeMixture(2, missing="ignore", random_state=0).fit(frame)
        assert np.isfinite(mix.score_samples(frame)).all()

    def test_as_a_label_of_its_own(self, frame):
        mix = TreeMixture(2, random_state=0).fit(frame)
        assert mix.schema_.arities.tolist() == [4] * 4
        assert sum(np.exp(mix.score_samples(labelled(mix.schema_, codes_of_all(mix.schema_))))) == (
            pytest.approx(1)
        )


class TestWhatDoesNotMatter:
    @models
    def test_threads(self, settings):
        codes = draw()
        one = TreeMixture(random_state=0, n_jobs=1, **settings).fit(codes)
        three = TreeMixture(random_state=0, n_jobs=3, **settings).fit(codes)
        for name, array in one.to_state().items():
            if name not in ("features", "settings"):
                assert_identical(three.to_state()[name], array)

    @models
    def test_defaults(self, settings):
        codes = draw()
        table = Table(codes)
        other = table.with_defaults(dict.fromkeys(table.schema.names, 2))
        assert other.schema != table.schema
        fits = [TreeMixture(random_state=0, **settings).fit(t) for t in (table, other)]
        np.testing.assert_array_equal(fits[0].edges_, fits[1].edges_)
        np.testing.assert_allclose(fits[0].trace_, fits[1].trace_, rtol=1e-8)
        np.testing.assert_allclose(
            fits[0].score_samples(codes), fits[1].score_samples(table), rtol=1e-6
        )

    @pytest.mark.parametrize("trees", ["shared", "separate"])
    def test_weights_of_one_cluster(self, trees):
        codes = draw(100)
        weights = np.random.default_rng(0).integers(0, 3, 100)
        twice = np.repeat(codes, weights, axis=0)
        options = {"n_clusters": 1, "validation": None, "trees": trees, "random_state": 0}
        weighted = TreeMixture(**options).fit(codes, sample_weight=weights)
        repeated = TreeMixture(**options).fit(twice)
        np.testing.assert_array_equal(weighted.edges_, repeated.edges_)
        np.testing.assert_allclose(weighted.score_samples(codes), repeated.score_samples(codes))

    def test_records_of_no_weight(self):
        """They are as if they were not there, whatever is drawn."""
        codes = draw(300)
        weights = np.ones(300)
        weights[::3] = 0
        for validation in (0.1, None):
            with_them = TreeMixture(2, validation=validation, random_state=0).fit(
                codes, sample_weight=weights
            )
            without = TreeMixture(2, validation=validation, random_state=0).fit(
                codes[weights > 0], sample_weight=np.ones(200)
            )
            assert_identical(with_them.trace_, without.trace_)
            np.testing.assert_array_equal(
                with_them.score_samples(codes), without.score_samples(codes)
            )

    def test_one_draw_is_one_model(self):
        codes = draw()
        one = TreeMixture(max_clusters=4, random_state=3).fit(codes)
        again = TreeMixture(max_clusters=4, random_state=3).fit(codes)
        assert_identical(again.trace_, one.trace_)


class TestChoices:
    def test_independent_columns_are_one_cluster_without_edges(self):
        rng = np.random.default_rng(0)
        for seed, (n, n_columns) in enumerate([(2000, 12), (500, 40), (3000, 5)]):
            codes = (rng.random((n, n_columns)) < rng.random(n_columns)).astype(int)
            mix = TreeMixture(random_state=seed).fit(codes)
            assert mix.n_clusters_ == 1
            assert len(mix.edges_) == 0

    def test_a_tree_is_found_again(self):
        made = tacit.datasets.make_dependency_tree(4000, 12, kind="binary", random_state=0)
        mix = TreeMixture(1, random_state=0).fit(made.data)
        tree = tacit.DependencyTree().fit(made.data)
        assert {tuple(e) for e in mix.edges_.tolist()} == {tuple(e) for e in tree.edges_.tolist()}

    def test_clusters_of_different_trees(self):
        """Two clusters that a few columns tell apart, each a chain in another order."""
        rng = np.random.default_rng(1)

        def chain(order, n):
            codes = np.zeros((n, 8), int)
            codes[:, order[0]] = rng.integers(0, 2, n)
            for a, b in pairwise(order):
                codes[:, b] = np.where(rng.random(n) < 0.92, codes[:, a], 1 - codes[:, a])
            return codes

        orders = np.arange(8), np.array([0, 4, 1, 5, 2, 6, 3, 7])

        def records(n):
            signs = rng.random((2 * n, 4)) < np.repeat([0.1, 0.9], n)[:, None]
            return np.hstack([np.vstack([chain(order, n) for order in orders]), signs])

        codes, test = records(1500), records(1000)
        one = TreeMixture(1, random_state=0).fit(codes)
        shared = TreeMixture(2, random_state=0).fit(codes)
        separate = TreeMixture(2, trees="separate", max_joint_labels=1, random_state=0).fit(codes)
        assert len(separate._groups) == 2
        found = [{tuple(e) for e in g.layout.edges.tolist()} for g in separate._groups]
        wanted = [{(min(a, b), max(a, b)) for a, b in pairwise(o.tolist())} for o in orders]
        assert all(any(edges <= tree for tree in found) for edges in wanted)
        assert separate.score(test) > shared.score(test) > one.score(test)

    def test_validation_decides(self):
        codes = draw(600)
        mix = TreeMixture(validation=codes[:200], random_state=0).fit(codes[200:])
        tried = mix.selection_
        recipe = ["n_clusters", "smoothing", "joint_labels", "splits", "inverse_temperature"]
        assert tried.columns == [*recipe, "passes", "held_out"]
        assert mix.score(codes[:200]) == pytest.approx(tried["held_out"].max(), rel=1e-9)
        assert mix.n_clusters_ == tried["n_clusters"][0]
        none = TreeMixture(validation=None, random_state=0).fit(codes)
        assert none.selection_.columns[-1] == "log_marginal"
        assert none.selection_["log_marginal"].is_sorted(descending=True)

    def test_members_do_better_than_one(self):
        codes, test = draw(1500, n_columns=10), draw(1500, seed=1, n_columns=10)
        one = TreeMixture(4, random_state=0).fit(codes)
        five = TreeMixture(4, n_estimators=5, random_state=0).fit(codes)
        assert five.n_clusters_ == 20
        assert five.score(test) > one.score(test)

    def test_more_than_a_table_has(self):
        with pytest.raises(InputError, match="n_clusters=9, but there are only n_samples="):
            TreeMixture(9).fit(draw(8))


class TestOddTables:
    def test_one_column(self):
        codes = np.array([[0], [1], [1], [2]] * 5)
        mix = TreeMixture(random_state=0).fit(codes)
        assert np.exp(mix.score_samples(np.array([[0], [1], [2]]))).sum() == pytest.approx(1)
        assert mix.marginals()["x0"][1] > mix.marginals()["x0"][0]
        assert "1 column" in mix.to_text()

    def test_columns_of_one_label(self):
        codes = np.zeros((20, 3), int)
        mix = TreeMixture(random_state=0).fit(codes)
        assert mix.score(codes) == pytest.approx(0)
        assert mix.most_probable() == ({"x0": 0, "x1": 0, "x2": 0}, pytest.approx(0))
        mix = TreeMixture(validation=None).fit(np.column_stack([codes, np.arange(20) % 2]))
        assert mix.score(np.array([[0, 0, 0, 1]])) == pytest.approx(np.log(0.5), abs=0.05)

    @pytest.mark.parametrize("n", [2, 3, 5])
    @pytest.mark.parametrize("trees", ["shared", "separate"])
    def test_few_records(self, n, trees):
        codes = draw(n)
        mix = TreeMixture(trees=trees, random_state=0).fit(codes)
        assert np.isfinite(mix.score(codes))

    def test_the_same_record_throughout(self):
        codes = np.tile([[0, 1, 2]], (50, 1))
        codes[0] = [1, 0, 0]
        mix = TreeMixture(2, random_state=0).fit(codes)
        assert mix.most_probable()[0] == {"x0": 0, "x1": 1, "x2": 2}

    def test_thousands_of_columns(self):
        """Pairs are counted sparsely, and every column's messages are passed on."""
        rng = np.random.default_rng(0)
        n, n_columns = 600, 6000
        items = [rng.zipf(1.3, 12) % n_columns for _ in range(n)]
        records = [[int(i) for i in {*row, (row[0] + 1) % n_columns}] for row in items]
        table = Table.from_baskets(records) if hasattr(Table, "from_baskets") else Table(records)
        mix = TreeMixture(2, max_iter=5, random_state=0).fit(table)
        assert np.isfinite(mix.score(table))
        name = table.schema.names[0]
        assert 0 < mix.marginals()[name][True] < 1


@pytest.fixture(scope="module")
def shown():
    return TreeMixture(3, trees="separate", random_state=0).fit(draw())


class TestWords:
    def test_text_frame_and_picture(self, shown):
        frame = shown.to_frame()
        assert frame.columns == ["from", "to", "weight", "clusters"]
        assert frame["weight"].is_sorted(descending=True)
        assert frame.height == len(shown.edges_) == len(shown.edge_weights_)
        assert frame["clusters"].is_between(0, 1 + 1e-9).all()
        text = shown.to_text(top=2)
        assert text.startswith("Mixture of dependency trees: 3 clusters of 6 columns, 3 trees")
        assert f"{frame.height - 2} more edges" in text
        assert "<svg" in shown.to_svg()
        assert "nats" in shown.to_html()

    def test_columns_that_are_taken_together(self):
        """One hidden column of labels, each of which is a column, and another column."""
        rng = np.random.default_rng(0)
        hidden = rng.integers(0, 5, 1000)
        codes = np.column_stack([np.eye(5, dtype=int)[hidden], rng.integers(0, 2, 1000)])
        plain = TreeMixture(1, max_joint_labels=1, random_state=0).fit(codes)
        blocks = TreeMixture(1, max_joint_labels=8, random_state=0).fit(codes)
        assert blocks.blocks_ == [("x0", "x1", "x2", "x3", "x4"), ("x5",)]
        assert blocks.score(codes) > plain.score(codes) + 0.05
        assert "x0 & x1 & x2 & x3 & x4" in blocks.to_text()
        assert TreeMixture(1, random_state=0).fit(codes).n_parameters_ == blocks.n_parameters_
        assert plain.blocks_ == [(f"x{k}",) for k in range(6)]
        marginals = blocks.marginals({"x2": 1})
        assert marginals["x0"][1] < 0.01
        assert blocks.profile().to_text()

    def test_profile(self, shown):
        profile = shown.profile()
        assert "cluster" in profile.to_text().lower()
        assert shown.n_parameters_ > 3 * 6

    def test_weights_of_edges_are_informations(self):
        codes = draw()
        one = TreeMixture(1, validation=None, max_joint_labels=1, random_state=0).fit(codes)
        tree = tacit.DependencyTree().fit(codes)
        told = {tuple(e): w for e, w in zip(tree.edges_.tolist(), tree.weights_, strict=True)}
        for edge, weight in zip(one.edges_.tolist(), one.edge_weights_.tolist(), strict=True):
            assert weight == pytest.approx(told[tuple(edge)], rel=1e-6)


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"n_clusters": 0}, "n_clusters"),
            ({"n_clusters": "many"}, "n_clusters"),
            ({"smoothing": -1}, "smoothing"),
            ({"trees": "oak"}, "trees"),
            ({"missing": "drop"}, "missing"),
            ({"unseen": "never"}, "unseen"),
            ({"prune": 2}, "prune"),
            ({"n_estimators": 0}, "n_estimators"),
            ({"max_joint_labels": 0}, "max_joint_labels"),
            ({"max_joint_labels": 5000}, "max_joint_labels"),
            ({"max_joint_labels": "few"}, "max_joint_labels"),
            ({"max_clusters": 0}, "max_clusters"),
            ({"splits": -1}, "splits"),
            ({"splits": "few"}, "splits"),
            ({"splits": 1, "trees": "separate"}, "splits: clusters with trees="),
            ({"splits": 1, "validation": None}, "splits: needs records to choose by"),
            ({"inverse_temperature": 0}, "inverse_temperature"),
            ({"inverse_temperature": 1.5}, "inverse_temperature"),
            ({"inverse_temperature": 0.5, "validation": None}, "inverse_temperature: needs"),
            ({"max_iter": 0}, "max_iter"),
            ({"n_iter_no_change": 0}, "n_iter_no_change"),
            ({"tol": -1}, "tol"),
            ({"validation": 0.0}, "validation"),
            ({"validation": 1}, "validation"),
            ({"validation": "yes"}, "validation"),
            ({"validation": np.zeros((3, 2), int)}, "features"),
            ({"random_state": "x"}, "random_state"),
        ],
    )
    def test_parameters(self, settings, message):
        mix = TreeMixture(2)
        with pytest.raises(ValueError, match=message):
            mix.set_params(**settings).fit(draw(40))
        assert not [name for name in vars(mix) if name.endswith("_")]

    def test_data(self):
        with pytest.raises(InputError, match="2 records are needed"):
            TreeMixture().fit(np.array([[0, 1]]))
        mix = TreeMixture(2, random_state=0).fit(draw(60))
        with pytest.raises(InputError, match="has 7"):
            mix.score(np.full((2, 6), 7))
        for ask in (lambda: mix.query([]), lambda: mix.query("x0", {"x0": 1})):
            with pytest.raises(InputError, match="columns"):
                ask()
        with pytest.raises(InputError, match="'nobody'"):
            mix.marginals({"nobody": 1})
        with pytest.raises(InputError, match="x1"):
            mix.most_probable({"x1": 17})

    def test_before_fit(self):
        for ask in (lambda m: m.score(draw(5)), lambda m: m.to_text(), lambda m: m.marginals()):
            with pytest.raises(NotFittedError):
                ask(TreeMixture())

    def test_all_weights_are_zero(self):
        with pytest.raises(ValueError, match="weight"):
            TreeMixture().fit(draw(20), sample_weight=np.zeros(20))
