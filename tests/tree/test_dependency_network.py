"""Dependency networks: every number against a slow answer, every kind of input, bad input."""

from __future__ import annotations

import pickle
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from support.random_trees import walk
from support.strategies import assert_identical, data
from support.trees import assert_same_forest
from tacit import DecisionTreeClassifier, DependencyNetwork, InputError, Table

CLASSIFIERS = "asks for the tags of classifiers where there is predict_proba; this is none"
EXPECTED = {
    "check_estimator_sparse_array": CLASSIFIERS,
    "check_estimator_sparse_matrix": CLASSIFIERS,
}


# The checks bring real numbers, which have to be cut; edges do not depend on the records.
@parametrize_with_checks(
    [DependencyNetwork(discretise=[-1.0, 0.0, 0.5, 1.0, 10.0])],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_codes(n=400, seed=0):
    """b follows a, c follows a and b, d is noise of three values, e is always the same."""
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.3
    b = np.where(rng.random(n) < 0.9, a, ~a)
    c = np.where(a & b, 2, rng.random(n) < 0.1)
    return np.column_stack([a, b, c, rng.integers(0, 3, n), np.zeros(n)]).astype(np.int64)


@pytest.fixture(scope="module")
def frame():
    a, b, c, d, e = make_codes().T
    words = np.array(["no", "maybe", "yes"])
    return pl.DataFrame(
        {"a": a.astype(bool), "b": b, "c": words[c], "d": words[d], "e": ["same"] * len(e)}
    )


@pytest.fixture(scope="module")
def table(frame):
    return Table(frame)


@pytest.fixture(scope="module")
def web(table):
    return DependencyNetwork().fit(table)


# Trees


def test_each_tree_is_the_one_that_a_classifier_grows(web, table):
    for name in "abcd":
        tree = web.tree(name)
        alone = DecisionTreeClassifier().fit(table, name)
        assert tree.to_text() == alone.to_text()
        assert tree.classes_.tolist() == alone.classes_.tolist()
        assert_identical(tree.predict_proba(table), alone.predict_proba(table))
        assert_identical(web.predict_proba(table, name), alone.predict_proba(table))
        assert tree.feature_names_in_.tolist() == [other for other in "abcde" if other != name]


def test_all_columns_at_once(web, table):
    parts = [web.predict_proba(table, c) for c in range(5)]
    assert web.predict_proba(table) == pytest.approx(np.hstack(parts), abs=1e-12)


def test_a_column_of_one_value_has_one_leaf(web, table):
    assert web.n_leaves_[4] == 1
    assert web.tree("e").n_leaves_ == 1
    assert web.predict_proba(table, "e").tolist() == [[1.0]] * len(table)


def test_what_was_put_in_is_found(web):
    pairs = set(web.to_frame().select("predictor", "target").iter_rows())
    assert {("a", "c"), ("c", "a"), ("c", "b")} <= pairs
    assert not any("e" in pair for pair in pairs)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "bic", "splits": "both"},
        {"criterion": "entropy", "max_leaf_nodes": 5, "splits": "complete", "prior_weight": 0.0},
        {"criterion": "gini", "max_depth": 2, "min_samples_leaf": 3},
        {"prior": "bdeu", "prior_weight": 4.0, "kappa": 0.7},
    ],
    ids=lambda options: options.get("criterion", options.get("prior", "default")),
)
@settings(max_examples=25)
@given(data(max_columns=5, with_chosen=False))
def test_scores_and_probabilities(options, given_data):
    """Counts of every leaf are made anew by walking all records down every tree."""
    small = given_data
    if len(small.arities) < 2 or (small.weights is not None and not small.weights.any()):
        return
    table = small.table()
    web = DependencyNetwork(**options, unseen="default").fit(table)
    rows, lists, schema = small.rows, small.lists, table.schema
    weights = np.ones(len(rows)) if small.weights is None else small.weights
    expected = np.zeros(len(rows))
    for column, arity in enumerate(small.arities):
        nodes = web.forest_.tree(column)
        leaves = [walk(nodes, ids) for ids in lists]
        probabilities = {}
        for leaf in set(leaves):
            held = [r for r, other in enumerate(leaves) if other == leaf]
            counts = np.zeros(arity)
            for r in held:
                counts[rows[r][column]] += weights[r]
            assert nodes.counts[leaf] == pytest.approx(counts)
            pays = options.get("criterion", "bayes_factor") in ("bayes_factor", "bic")
            pays = pays and "kappa" not in options
            each = options.get("prior_weight", 0.5 if pays else 1.0)
            if options.get("prior") == "bdeu":
                each *= nodes.prior_fraction[leaf] / arity
            if pays:
                probabilities[leaf] = averaged_shares(nodes, 0, leaf, each)
            elif counts.sum() + each > 0:
                probabilities[leaf] = (counts + each) / (counts.sum() + arity * each)
            else:  # records without weight, and no prior: what the way up says
                probabilities[leaf] = plain_shares(nodes, leaf)
        answer = web.predict_proba(table, schema.names[column])
        assert answer == pytest.approx(np.array([probabilities[leaf] for leaf in leaves]))
        with np.errstate(divide="ignore"):
            expected += [
                np.log(probabilities[leaf][row[column]])
                for leaf, row in zip(leaves, rows, strict=True)
            ]
    np.testing.assert_allclose(web.score_samples(table), expected, rtol=1e-9, atol=1e-9)
    counted = weights > 0
    mean = np.average(expected[counted], weights=weights[counted])
    np.testing.assert_allclose(web.score(table), mean, rtol=1e-9, atol=1e-9)


def worth(nodes, node):
    """Return what the splits from a node on add to the logarithm of its probability."""
    if nodes.column[node] < 0:
        return 0.0
    return np.log1p(
        np.exp(nodes.gain[node] + sum(worth(nodes, k) for k in nodes.children_of(node)))
    )


def averaged_shares(nodes, node, leaf, each):
    """Average what nodes on the way to a leaf say, by the probability that the way ends there."""
    counts = nodes.counts[node] + each
    if node == leaf:
        return counts / counts.sum()
    ends = np.exp(-worth(nodes, node))
    below = leaf
    while below not in nodes.children_of(node):
        below = next(k for k in range(nodes.n_nodes) if below in nodes.children_of(k))
    return ends * counts / counts.sum() + (1 - ends) * averaged_shares(nodes, below, leaf, each)


def plain_shares(nodes, node):
    while nodes.counts[node].sum() == 0:
        node = next(k for k in range(nodes.n_nodes) if node in nodes.children_of(k))
    return nodes.counts[node] / nodes.counts[node].sum()


def test_arcs_add_up_the_gains_of_splits(web):
    gains = {}
    for target, name in enumerate(web.schema_.names):
        nodes = web.forest_.tree(target)
        for node in np.flatnonzero(nodes.column >= 0):
            pair = web.schema_.names[nodes.column[node]], name
            gains[pair] = gains.get(pair, 0.0) + nodes.gain[node]
    frame = web.to_frame()
    assert frame.columns == ["predictor", "target", "gain", "influence", "change", "rank"]
    shown = {(p, t): gain for p, t, gain, *_ in frame.iter_rows()}
    assert shown == pytest.approx(gains)
    assert frame["gain"].to_list() == sorted(frame["gain"], reverse=True)
    assert frame["rank"].to_list() == list(range(1, len(frame) + 1))
    assert web.strongest(3).equals(frame[:3])
    assert len(web.strongest(1000)) == len(frame)


def test_influences_compare_what_is_not_the_default_with_what_is(web):
    """The same as walking each tree: splits on a predictor, weighted by their records."""
    schema, names = web.schema_, web.schema_.names
    sums = {}
    for target, name in enumerate(names):
        nodes = web.forest_.tree(target)
        arity, default = int(schema.arities[target]), int(schema.defaults[target])
        begin, end = web.forest_.stat_start[target : target + 2]
        in_nodes = web._derived.probabilities[begin:end]
        other = 1 - in_nodes.reshape(-1, arity)[:, default]

        def walk(node, closed, nodes=nodes, other=other, name=name):
            below = nodes.children_of(node).tolist()
            if not below:
                return
            column = int(nodes.column[node])
            weight = nodes.counts.sum(axis=1)
            if column not in closed:
                inside = np.maximum(weight[below[:-1]], 1e-9)
                after = np.average(other[below[:-1]], weights=inside)
                row = weight[node], weight[node] * other[below[-1]], weight[node] * after
                sums.setdefault((names[column], name), []).append(row)
            for child in below[:-1]:
                walk(child, closed | {column})
            walk(below[-1], closed)

        walk(0, frozenset())
    for predictor, target, _, influence, change, _ in web.to_frame().iter_rows():
        weight, before, after = np.array(sums[predictor, target]).T
        moves = after - before
        assert change == pytest.approx(moves.sum() / weight.sum())
        clear = abs(moves.sum()) > 0.5 * np.abs(moves).sum()
        assert influence == ("varies" if not clear else "raises" if change > 0 else "lowers")


def test_of_equal_gains_earlier_columns_come_first():
    """Two pairs of columns that are alike: four arcs with the same gain."""
    first, second = np.meshgrid([0, 1], [0, 1])
    codes = np.column_stack([first.ravel(), second.ravel()] * 2).repeat(20, axis=0)
    web = DependencyNetwork().fit(Table(codes, columns=["p", "q", "r", "s"]))
    frame = web.strongest(4)
    assert np.ptp(frame["gain"].to_numpy()) < 1e-9
    pairs = list(frame.select("predictor", "target").iter_rows())
    assert pairs == [("p", "r"), ("q", "s"), ("r", "p"), ("s", "q")]


# What must not matter


def test_threads_progress_and_batches_do_not_matter(table, web, capsys):
    for options in ({"n_jobs": 2}, {"n_jobs": 3, "verbose": 1}):
        other = DependencyNetwork(**options).fit(table)
        assert_same_forest(other, web)
        assert_identical(other.score_samples(table), web.score_samples(table))
    shown = capsys.readouterr()
    assert "columns" in shown.err
    assert shown.out == ""


def test_a_weight_of_two_is_the_record_twice():
    codes = make_codes(150, seed=3)
    weights = np.random.default_rng(1).integers(0, 4, len(codes))
    names = list("abcde")
    twice = Table(codes.repeat(weights, axis=0), columns=names)
    once = Table(codes, columns=names).conform(twice.schema)
    web = DependencyNetwork().fit(twice)
    heavy = DependencyNetwork().fit(once, sample_weight=weights)
    assert_same_forest(heavy, web)
    halves = DependencyNetwork(min_samples_leaf=2).fit(once, sample_weight=weights / 4)
    assert np.allclose(halves.forest_.tree(0).counts[0], web.forest_.tree(0).counts[0] / 4)


def test_defaults_do_not_matter(table):
    web = DependencyNetwork().fit(table)
    turned = table.with_defaults({"a": True, "b": 1, "c": "yes", "d": "maybe"})
    other = DependencyNetwork().fit(turned)
    assert other.score_samples(turned) == pytest.approx(web.score_samples(table))
    assert web.score_samples(turned) == pytest.approx(web.score_samples(table))
    assert other.strongest(6)["gain"].to_list() == pytest.approx(web.strongest(6)["gain"].to_list())


def test_pair_counts_are_an_economy_only(table, web, monkeypatch):
    monkeypatch.setattr(import_module("tacit.tree.network.growth"), "_MOST_PAIRS", 0)
    assert_same_forest(DependencyNetwork().fit(table), web)


# Input


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: frame.to_pandas(),
        lambda frame: frame.to_arrow(),
        lambda frame: {name: frame[name].to_list() for name in frame.columns},
    ],
    ids=["polars", "pandas", "arrow", "mapping"],
)
def test_frames(convert, frame, table, web):
    other = DependencyNetwork().fit(convert(frame))
    assert_same_forest(other, web)
    assert other.feature_names_in_.tolist() == list("abcde")
    assert_identical(other.score_samples(convert(frame)), web.score_samples(table))
    assert other.predict_proba(convert(frame[:3]), "b").shape == (3, 2)
    other.tree("c").predict(convert(frame.drop("c")))


def test_arrays_dense_and_sparse():
    codes = make_codes()
    dense = DependencyNetwork().fit(codes)
    assert dense.n_features_in_ == 5
    assert not hasattr(dense, "feature_names_in_")
    for convert in (sparse.csr_array, sparse.coo_matrix, pd.DataFrame):
        other = DependencyNetwork().fit(convert(codes))
        assert other.score_samples(convert(codes)) == pytest.approx(dense.score_samples(codes))
    assert dense.strongest(1)["predictor"][0] in {"x0", "x1", "x2"}
    assert dense.predict_proba(codes, 2).shape == (400, 3)
    tree = dense.tree(0)
    assert tree.predict_proba(codes[:, 1:]) == pytest.approx(dense.predict_proba(codes, 0))


def test_numbers_in_bins():
    rng = np.random.default_rng(0)
    height = rng.normal(170, 10, 500)
    frame = pl.DataFrame({"height": height, "weight": height - 100 + rng.normal(0, 4, 500)})
    web = DependencyNetwork(discretise=4).fit(frame)
    assert web.strongest()["target"].to_list() in (["weight", "height"], ["height", "weight"])
    tall, short = web.predict_proba({"height": [195.0, 150.0], "weight": [70.0, 70.0]}, "weight")
    assert tall[-1] > 0.3 > short[-1]
    assert web.tree("weight").predict({"height": [195.0, 150.0]}).shape == (2,)
    edges = [column.edges for column in DependencyNetwork().fit(frame).schema_]  # "auto"
    assert [len(points) for points in edges] == [9, 9]
    of_table = DependencyNetwork(discretise=4).fit(Table(frame))
    assert_same_forest(of_table, web)
    assert of_table.schema_ == web.schema_


# Conventions


def test_clone_pickle_and_repr(web, table):
    assert repr(web) == "DependencyNetwork()"
    assert (
        repr(DependencyNetwork("bic", n_jobs=2)) == "DependencyNetwork(criterion='bic', n_jobs=2)"
    )
    fresh = clone(web)
    with pytest.raises(NotFittedError):
        fresh.strongest()
    again = pickle.loads(pickle.dumps(web))
    assert_same_forest(again, web)
    assert_identical(again.score_samples(table), web.score_samples(table))
    assert again.schema_ == table.schema


def test_text(web):
    lines = web.to_text(2).splitlines()
    leaves, arcs = int(web.n_leaves_.sum()), len(web.to_frame())
    assert lines[0].startswith(f"Dependency network of 5 columns, {arcs} arcs, {leaves} leaves; ")
    assert len(lines) == 4
    assert "→" in lines[-1]
    assert web.to_text(0).count("\n") == 0


def test_columns_that_say_nothing_about_each_other():
    rng = np.random.default_rng(5)
    web = DependencyNetwork().fit(rng.integers(0, 2, (50, 4)))
    assert web.n_leaves_.tolist() == [1, 1, 1, 1]
    assert web.strongest().shape == (0, 6)
    assert web.to_frame().schema == DependencyNetwork().fit(make_codes()).to_frame().schema
    assert web.to_text() == (
        "Dependency network of 4 columns, 0 arcs, 4 leaves; 4 columns depend on no other"
    )


# Bad input


def test_one_column_is_too_few():
    with pytest.raises(InputError, match=r"X has 1 feature\(s\)"):
        DependencyNetwork().fit(Table({"alone": [1, 2, 1]}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "chi2"}, "criterion"),
        ({"splits": "ternary"}, "splits"),
        ({"prior": "jeffreys"}, "prior"),
        ({"prior_weight": 0.0}, "prior_weight"),
        ({"kappa": 0.0}, "kappa"),
        ({"kappa": 2.0}, "kappa"),
        ({"max_depth": 0}, "max_depth"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes"),
        ({"min_gain": float("nan")}, "min_gain"),
        ({"kinds": {"nix": "ordered"}}, "kinds: there is no column 'nix'"),
        ({"unseen": "guess"}, "unseen"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"discretise": {"nix": 3}}, "discretise: there is no column 'nix'"),
        ({"absent": "drop"}, "absent"),
    ],
)
def test_settings_are_checked(options, message, table):
    web = DependencyNetwork(**options)
    with pytest.raises(InputError, match=message):
        web.fit(table)
    assert not hasattr(web, "forest_")


def test_weights_are_checked(table):
    with pytest.raises(InputError, match="all weights are zero"):
        DependencyNetwork().fit(table, sample_weight=np.zeros(len(table)))
    with pytest.raises(InputError, match="sample_weight"):
        DependencyNetwork().fit(table, sample_weight=[1.0])
    with pytest.raises(InputError, match="sample_weight"):
        DependencyNetwork().fit(table, sample_weight=np.full(len(table), np.nan))
    with pytest.raises(InputError, match="X: all weights are zero"):
        DependencyNetwork().fit(table).score(table.with_weights(np.zeros(len(table))))


def test_unknown_columns_and_unseen_labels(web, table, frame):
    for method in (lambda c: web.tree(c), lambda c: web.predict_proba(table, c)):
        with pytest.raises(InputError, match="there is no column 'A'"):
            method("A")
        with pytest.raises(InputError, match="not among the 5 columns"):
            method(5)
    strange = frame[:2].with_columns(c=pl.Series(["never", "no"]))
    with pytest.raises(InputError, match="'never'"):
        web.score_samples(Table(strange))
    relaxed = DependencyNetwork(unseen="default").fit(table)
    default = str(table.schema["c"].default_label)
    usual = frame[:2].with_columns(c=pl.Series([default, "no"]))
    assert relaxed.score(Table(strange)) == relaxed.score(Table(usual).conform(table.schema))
    with pytest.raises(InputError, match="top must be"):
        web.strongest(top=0)


def test_a_record_of_nothing_but_defaults(web, table):
    empty = Table.from_stored(table.schema, [0, 0], table.values[:0])
    expected = sum(
        np.log(web.predict_proba(empty, c)[0, int(default)])
        for c, default in enumerate(table.schema.defaults)
    )
    assert web.score_samples(empty) == pytest.approx([expected])


def test_a_failed_fit_leaves_the_network_as_it_was(web, table):
    copy = pickle.loads(pickle.dumps(web))
    with pytest.raises(InputError):
        copy.fit(Table({"alone": [1, 2, 1]}))
    assert copy.n_features_in_ == 5
    assert_identical(copy.score_samples(table), web.score_samples(table))


def test_ordered_columns_are_split_at_thresholds():
    rng = np.random.default_rng(2)
    age = rng.integers(0, 9, 600)
    frame = {"age": age, "old": age > 4}
    nodes = DependencyNetwork().fit(frame).forest_.tree(1)
    assert (nodes.left[0], nodes.right[0]) == (4, 5)
    assert nodes.n_leaves == 2
    plain = DependencyNetwork(kinds={"age": "categorical"}).fit(frame).forest_.tree(1)
    assert (plain.left == -1).all()
    assert plain.n_leaves > 2


def test_the_package_exports_it():
    assert tacit.DependencyNetwork is DependencyNetwork
