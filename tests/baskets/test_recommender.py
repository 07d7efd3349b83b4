"""Recommender: the closed form, records held out, explanations, partitions and files."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit import _core
from tacit.baskets.item_model import Gram, closed_form, invert
from tacit.baskets.neighbors import cosine_neighbors
from tacit.baskets.sparse_inverse import (
    _Arrays,
    add_predictors,
    local_regressions,
    sparse_regressions,
)
from tacit.errors import InputError, InputWarning


# The checks bring real numbers, which have to be cut; edges do not depend on the records.
@parametrize_with_checks(
    [tacit.Recommender("linear", l2=10.0, discretise=[-1.0, 0.0, 0.5, 1.0, 10.0])],
    expected_failed_checks=lambda estimator: {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def draw(n_records=600, n_items=30, seed=0):
    """Baskets of items that belong to a few themes."""
    rng = np.random.default_rng(seed)
    theme = rng.integers(0, 4, n_records)
    chance = np.where(np.arange(n_items) % 4 == theme[:, None], 0.35, 0.05)
    return rng.random((n_records, n_items)) < chance


def as_baskets(held):
    return [[f"i{k:02}" for k in np.flatnonzero(row)] for row in held]


def ease(X, l2, intercept=False):
    """The closed form as published, in NumPy."""
    X = X.astype(float)
    center = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    Z = X - center
    P = np.linalg.inv(Z.T @ Z + l2 * np.eye(X.shape[1]))
    B = -P / np.diag(P)
    np.fill_diagonal(B, 0)
    return B, center - center @ B


@pytest.fixture(scope="module")
def held():
    return draw()


@pytest.fixture(scope="module")
def blend(held):
    return tacit.Recommender(random_state=0).fit(as_baskets(held))


@pytest.mark.parametrize("n", [1, 5, 511, 512, 513, 1100])
def test_the_inverse_is_that_of_lapack(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n))
    square = root @ root.T + n * np.eye(n)
    np.testing.assert_allclose(invert(square.copy()), np.linalg.inv(square), rtol=0, atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_linear_scores_are_those_of_the_closed_form(held, intercept):
    rec = tacit.Recommender("linear", l2=7.0, fit_intercept=intercept).fit(as_baskets(held))
    weights, constant = ease(held, 7.0, intercept)
    table = tacit.Table.from_baskets(as_baskets(held)).conform(rec.schema_)
    np.testing.assert_allclose(rec._scores(table), held @ weights + constant, rtol=0, atol=1e-8)


def test_recommendations_are_the_best_of_what_a_basket_lacks(held):
    rec = tacit.Recommender("linear", l2=7.0, fit_intercept=False).fit(as_baskets(held))
    weights, _ = ease(held, 7.0)
    new = draw(20, seed=5)
    ranked = rec.recommend(as_baskets(new), n=4)
    assert ranked.columns == ["record", "rank", "item", "score"]
    scores = np.where(new, -np.inf, new @ weights)
    for r in range(20):
        best = [f"i{k:02}" for k in np.argsort(-scores[r], kind="stable")[:4]]
        assert ranked.filter(pl.col("record") == r)["item"].to_list() == best


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 14), st.sampled_from([0.5, 20.0]))
def test_local_regressions_are_those_of_numpy(seed, n, l2):
    rng = np.random.default_rng(seed)
    X = (rng.random((40, n)) < 0.3).astype(float)
    G = X.T @ X
    near = sparse.random_array((n, n), density=0.5, rng=rng).tolil()
    near.setdiag(0)
    near = sparse.csr_array(near)
    near.eliminate_zeros()
    near.sort_indices()
    gram = Gram(sparse.csr_array(G), 40.0)
    model = local_regressions(gram, near, l2, True, 1)
    centred = G - np.outer(G.diagonal(), G.diagonal()) / 40
    expected = np.zeros((n, n))
    for j in range(n):
        N = near.indices[near.indptr[j] : near.indptr[j + 1]]
        A = centred[np.ix_(N, N)] + l2 * np.eye(len(N))
        expected[N, j] = np.linalg.solve(A, centred[N, j])
    np.testing.assert_allclose(model.weights.toarray(), expected, rtol=0, atol=1e-10)
    means = G.diagonal() / 40
    np.testing.assert_allclose(model.intercept, means - means @ expected, rtol=0, atol=1e-10)


def test_local_regressions_do_not_depend_on_threads():
    X = sparse.random_array((3000, 400), density=0.02, rng=np.random.default_rng(0)).tocsr()
    X.data[:] = 1.0
    gram = Gram((X.T @ X).tocsr(), 3000.0)
    near = cosine_neighbors(gram, 20)
    one, *others = (local_regressions(gram, near, 5.0, True, jobs) for jobs in (1, 2, 5))
    for other in others:
        np.testing.assert_array_equal(one.weights.toarray(), other.weights.toarray())


def test_local_regressions_on_all_others_are_the_closed_form(held):
    G = held.T.astype(float) @ held
    gram = Gram(G, float(len(held)))
    near = cosine_neighbors(gram, 30)
    assert near.nnz == 30 * 29
    local, whole = local_regressions(gram, near, 9.0, True, 1), closed_form(gram, 9.0)
    np.testing.assert_allclose(local.weights.toarray(), whole.weights, rtol=0, atol=1e-9)
    np.testing.assert_allclose(local.intercept, whole.intercept, rtol=0, atol=1e-9)


def test_rows_that_are_searched_and_rows_that_are_walked_give_the_same():
    """A neighbour whose row is long is searched; with all of a row wanted, it is walked."""
    rng = np.random.default_rng(1)
    X = (rng.random((300, 200)) < 0.2).astype(float)
    G = sparse.csr_array(X.T @ X)
    near = sparse.csr_array(np.eye(200, k=1) + np.eye(200, k=-1))
    model = local_regressions(Gram(G, 300.0), near, 3.0, False, 1)
    dense = G.toarray()
    A = dense[np.ix_([4, 6], [4, 6])] + 3.0 * np.eye(2)
    expected = np.linalg.solve(A, dense[[4, 6], 5])
    np.testing.assert_allclose(model.weights.toarray()[[4, 6], 5], expected, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(3, 14), st.booleans())
def test_predictors_that_are_added_have_the_greatest_residuals(seed, n, intercept):
    rng = np.random.default_rng(seed)
    X = (rng.random((40, n)) < 0.3).astype(float)
    G = X.T @ X
    gram = Gram(sparse.csr_array(G), 40.0)
    near = sparse.random_array((n, n), density=0.15, rng=rng).tolil()
    near.setdiag(0)
    near = sparse.csr_array(near)
    near.eliminate_zeros()
    near.sort_indices()
    most = max(2, int(np.diff(near.indptr).max()))
    weights = rng.normal(size=near.nnz)
    counts = _Arrays.of(gram, intercept)
    A = G - np.outer(counts.shift, counts.shift)
    one, *others = (
        add_predictors(gram, counts, near, weights, 2.0, most, jobs).toarray() for jobs in (1, 2, 5)
    )
    for other in others:
        np.testing.assert_array_equal(one, other)
    for j in range(n):
        row = slice(near.indptr[j], near.indptr[j + 1])
        N, w = near.indices[row], weights[row]
        residual = np.abs(A[:, j] - A[:, N] @ w) / np.sqrt(A.diagonal() + 2.0)
        others = [
            i for i in range(n) if i != j and i not in N and (G[i, [j, *N]] > 0).any()
        ]  # those that occur with any of them
        found = set(np.flatnonzero(one[j]))
        assert set(N) <= found
        assert len(found) == min(most, len(N) + len(others))
        added, left = found - set(N), set(others) - found
        assert added <= set(others)
        if added and left:
            assert residual[list(added)].min() >= residual[list(left)].max() - 1e-9


def test_few_predictors_come_near_to_the_closed_form():
    """Items that occur together by chance are nearer than those that explain each other away."""
    rng = np.random.default_rng(0)
    sets = [rng.choice(120, rng.integers(2, 6), replace=False) for _ in range(60)]
    X = np.zeros((6000, 120))
    for row in X:
        for k in rng.choice(60, 4):
            row[sets[k]] = 1
    G = X.T @ X
    gram = Gram(sparse.csr_array(G), 6000.0)
    whole = closed_form(Gram(G, 6000.0), 1.0).weights
    near = cosine_neighbors(gram, 120)
    chosen = sparse_regressions(gram, near, 1.0, True, 30, 1).weights
    nearest = local_regressions(gram, cosine_neighbors(gram, 30), 1.0, True, 1).weights
    assert chosen.nnz == nearest.nnz
    assert np.linalg.norm(chosen - whole) < 0.7 * np.linalg.norm(nearest - whole)


def test_all_others_as_predictors_are_the_closed_form(held):
    G = held.T.astype(float) @ held
    gram = Gram(G, float(len(held)))
    sparse_one = sparse_regressions(gram, cosine_neighbors(gram, 30), 9.0, True, 29, 1)
    whole = closed_form(gram, 9.0)
    np.testing.assert_allclose(sparse_one.weights.toarray(), whole.weights, rtol=0, atol=1e-9)


def test_the_kernels_refuse_arrays_that_do_not_go_together():
    with pytest.raises(ValueError, match="start"):
        _core.local_regressions(
            np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros(4, np.int64),
            np.zeros(0, np.int32), np.zeros(3), 1.0, 1,
        )  # fmt: skip
    none, three = np.zeros(0), np.zeros(3)
    cells = (np.zeros(4, np.int64), np.zeros(0, np.int32), none)
    with pytest.raises(ValueError, match="more neighbours than most"):
        _core.strongest_residuals(
            *cells, np.array([0, 2, 2, 2]), np.array([1, 2], np.int32), np.zeros(2), three, three,
            1, 1,
        )  # fmt: skip
    with pytest.raises(ValueError, match="weights has not an entry"):
        _core.strongest_residuals(
            *cells, np.array([0, 1, 1, 1]), np.array([1], np.int32), none, three, three, 2, 1
        )


def test_cosines_are_those_of_columns(held):
    rec = tacit.Recommender("neighbors", n_neighbors=5).fit(as_baskets(held))
    X = held.astype(float)
    norm = np.sqrt((X**2).sum(axis=0))
    cosine = X.T @ X / np.outer(norm, norm)
    np.fill_diagonal(cosine, -1)
    near = rec.similar("i03", n=3)
    best = np.argsort(-cosine[3], kind="stable")[:3]
    assert near["item"].to_list() == [f"i{k:02}" for k in best]
    np.testing.assert_allclose(near["similarity"].to_numpy(), cosine[3, best])
    assert near["records"].to_list() == X.sum(axis=0)[best].tolist()
    assert rec.similar("i03", n=100).height == 5


@pytest.mark.parametrize("algorithm", ["linear", "neighbors", "popularity", "blend"])
def test_contributions_add_up_to_the_score(held, algorithm):
    rec = tacit.Recommender(algorithm, random_state=0).fit(as_baskets(held))
    basket = ["i01", "i05", "i09"]
    explained = rec.explain(basket, "i13")
    scores = dict(rec.recommend(basket, n=30).iter_rows())
    assert explained["contribution"].sum() == pytest.approx(scores["i13"], abs=1e-9)
    assert explained["item"].to_list()[-1] is None
    assert set(explained["item"].to_list()[:-1]) == set(basket)
    if algorithm == "linear":
        weights, constant = ease(held, rec.l2_, intercept=True)
        said = dict(explained.iter_rows())
        assert said["i05"] == pytest.approx(weights[5, 13], abs=1e-9)
        assert said[None] == pytest.approx(constant[13], abs=1e-9)


def test_the_penalty_is_chosen_by_records_held_out(held):
    rec = tacit.Recommender("linear", random_state=0).fit(as_baskets(held))
    assert rec.l2_ in rec.selection_["l2"].to_list()
    best = rec.selection_.sort("ndcg")["l2"].to_list()[-1]
    assert rec.l2_ == best
    noise = np.random.default_rng(0).random((600, 30)) < 0.2
    plain = tacit.Recommender("linear", random_state=0).fit(as_baskets(noise))
    assert plain.l2_ > rec.l2_  # where items say nothing of each other


def test_a_blend_weighs_what_helps(blend, held):
    assert blend.algorithm_ == "blend"
    assert set(blend.blend_weights_) == {"linear", "log linear", "log popularity", "log trees"}
    assert min(blend.blend_weights_.values()) >= 0
    assert blend.blend_weights_["linear"] + blend.blend_weights_["log linear"] > 0
    new = draw(500, seed=9)
    found = tacit.evaluate_recommender(
        {"blend": blend, "popular": tacit.Recommender("popularity").fit(as_baskets(held))},
        tacit.Table.from_baskets(as_baskets(new)),
        cv=None,
        n=5,
    )
    good, plain = found.to_frame()["ndcg@5"]
    assert good > plain + 0.1


def test_all_that_is_popular_for_an_empty_basket(blend):
    empty = blend.recommend([[]], n=3)
    assert empty.height == 3


def test_items_that_were_not_there_are_passed_over(blend):
    with pytest.warns(InputWarning, match="passed over: 'tea'"):
        cold = blend.recommend([["i01", "tea"], ["i01"]], n=5)
    one, two = (cold.filter(pl.col("record") == r)["item"].to_list() for r in (0, 1))
    assert one == two
    with pytest.raises(InputError, match="there is no item 'i1'"):
        blend.recommend(["i1"])


def test_what_most_records_hold_is_an_item_too():
    held = np.column_stack([draw(200, 6), np.ones(200, bool)])
    held[:10, 6] = False
    for data in (tacit.Table(held.astype(int)), tacit.Table(held), pl.DataFrame(held * 1)):
        rec = tacit.Recommender("linear", l2=1.0).fit(data)
        assert rec.counts_.tolist() == held.sum(axis=0).tolist()
        assert rec.recommend([], n=1)["item"].to_list() == [rec.schema_.names[6]]


def test_values_of_many_labels_are_items():
    rng = np.random.default_rng(0)
    stars = rng.choice(["none", "good", "bad"], (300, 3), p=[0.5, 0.3, 0.2])
    stars[:, 1] = np.where(rng.random(300) < 0.8, stars[:, 0], stars[:, 1])
    frame = pl.DataFrame(stars, schema=["a", "b", "c"])
    rec = tacit.Recommender(random_state=0).fit(frame)
    assert rec.recommend({"a": "good"}, n=1)["item"].to_list() == ["b=good"]
    assert rec.similar("a=good", n=1)["item"].to_list() == ["b=good"]
    assert rec.similar(("a", "bad"), n=1)["item"].to_list() == ["b=bad"]


def test_items_that_nobody_means_are_warned_of():
    """Logs and ratings, unless somebody says that labels are meant."""
    log = tacit.datasets.make_ratings(60, 30, 900, random_state=0)
    ratings = sparse.random_array((80, 12), density=0.3, rng=np.random.default_rng(0))
    ratings.data = np.ceil(ratings.data * 5)
    named = log.select(pl.format("u{}", "userId").alias("user"), "title")
    for data, example in ((log, "userId="), (ratings.tocsr(), "x0="), (named, "user=u")):
        with pytest.warns(InputWarning, match=f"item of its own, '{example}.*from_long"):
            tacit.Recommender("popularity").fit(data)
    meant = tacit.Recommender("popularity", discretise=None).fit(ratings.tocsr())
    assert len(meant.counts_) == 12 * 5
    liked = tacit.Recommender("linear", l2=1.0).fit((ratings >= 4).tocsr())
    assert liked.counts_.tolist() == (ratings.toarray() >= 4).sum(axis=0).tolist()
    films = tacit.Recommender("popularity").fit(tacit.Table.from_long(log, "userId", "title"))
    assert films.schema_.n_values == log["title"].n_unique()


@pytest.mark.parametrize("algorithm", ["blend", "linear", "neighbors"])
def test_partitions_give_the_same(held, algorithm):
    table = tacit.Table.from_baskets(as_baskets(held))
    whole = tacit.Recommender(algorithm, random_state=0).fit(table)
    parts = tacit.Recommender(algorithm, random_state=0).fit(tacit.scale.partition(table, 3))
    new = tacit.Table.from_baskets(as_baskets(draw(50, seed=3))).conform(table.schema)
    np.testing.assert_array_equal(whole._scores(new), parts._scores(new))
    assert whole.l2_ == parts.l2_


def test_the_model_does_not_depend_on_threads(held):
    table = tacit.Table.from_baskets(as_baskets(held))
    for options in ({}, {"algorithm": "linear", "max_dense_items": 5, "n_neighbors": 8}):
        one = tacit.Recommender(random_state=0, n_jobs=1, **options).fit(table)
        two = tacit.Recommender(random_state=0, n_jobs=2, **options).fit(table)
        np.testing.assert_array_equal(one._scores(table), two._scores(table))


def test_a_weight_of_two_is_a_record_twice(held):
    baskets = as_baskets(held)
    weights = np.where(np.arange(len(held)) < 100, 2.0, 1.0)
    weighted = tacit.Recommender("linear", l2=5.0).fit(baskets, sample_weight=weights)
    twice = tacit.Recommender("linear", l2=5.0).fit(baskets + baskets[:100])
    table = tacit.Table.from_baskets(baskets)
    np.testing.assert_allclose(weighted._scores(table), twice._scores(table), atol=1e-12)
    assert weighted.counts_.tolist() == twice.counts_.tolist()


def test_sparse_arrays_and_tables_give_the_same(held):
    data = sparse.csr_array(held.astype(np.int64))
    one = tacit.Recommender("linear", l2=5.0).fit(data)
    other = tacit.Recommender("linear", l2=5.0).fit(tacit.Table(data))
    new = draw(10, seed=4).astype(np.int64)
    np.testing.assert_array_equal(one.recommend(new)["score"], other.recommend(new)["score"])


@pytest.mark.parametrize(
    "options",
    [{}, {"algorithm": "linear"}, {"algorithm": "linear", "max_dense_items": 9, "n_neighbors": 6},
     {"algorithm": "neighbors"}, {"algorithm": "popularity"}],
    ids=str,
)  # fmt: skip
def test_files(held, options, tmp_path):
    rec = tacit.Recommender(random_state=0, **options).fit(as_baskets(held))
    rec.save(tmp_path / "rec.tacit")
    again = tacit.load(tmp_path / "rec.tacit")
    new = as_baskets(draw(10, seed=4))
    assert again.recommend(new).equals(rec.recommend(new))
    assert again.to_text() == rec.to_text()
    assert again.similar("i01").equals(rec.similar("i01"))
    assert again.selection_.equals(rec.selection_)
    assert again.blend_weights_ == rec.blend_weights_


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("counts", lambda a: a[:-1]),
        ("weights", lambda a: a[:-1]),
        ("weights", lambda a: np.where(a == 0, np.nan, a)),
        ("near.indices", lambda a: a + 100),
        ("near.indptr", lambda a: a[::-1].copy()),
        ("blend", lambda a: a[:2]),
        ("intercept", lambda a: a.astype(np.float32)),
    ],
)
def test_files_that_are_damaged(blend, name, change):
    state = dict(blend.to_state())
    state[name] = change(state[name])
    with pytest.raises(InputError):
        tacit.Recommender.from_state(state)


def test_few_records_choose_nothing():
    rec = tacit.Recommender().fit([["a", "b"], ["a", "b"], ["c"], ["a"]])
    assert rec.l2_ == 100.0
    assert rec.recommend(["a"], n=1)["item"].to_list() == ["b"]
    alone = tacit.Recommender().fit([["a"], [], ["a"]])
    assert alone.recommend(["a"]).height == 0


def test_an_interruption_leaves_the_recommender_as_it_was(blend, held, monkeypatch):
    rec = tacit.Recommender("linear", l2=3.0).fit(as_baskets(held))
    before = dict(vars(rec))

    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.baskets.recommender.closed_form", stop)
    with pytest.raises(KeyboardInterrupt):
        rec.fit(as_baskets(held[:100]))
    assert vars(rec) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"algorithm": "lineal"}, "algorithm must be .* did you mean 'linear'"),
        ({"l2": 0}, "l2 must be a finite number above 0"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number"),
        ({"max_dense_items": 0.5}, "max_dense_items must be a whole number"),
        ({"validation_fraction": 1.0}, "validation_fraction must be"),
        ({"unseen": "pass"}, "unseen must be"),
    ],
)
def test_wrong_parameters(options, said):
    with pytest.raises(InputError, match=said):
        tacit.Recommender(**options).fit([["a", "b"], ["a"]])


def test_wrong_questions(blend, held):
    with pytest.raises(InputError, match="item: there is no item 'i99'"):
        blend.similar("i99")
    with pytest.raises(InputError, match="n must be a whole number"):
        blend.recommend(["i01"], n=0)
    with pytest.raises(InputError, match="basket must be one record, got 2"):
        blend.explain([["i01"], ["i02"]], "i03")
    with pytest.raises(InputError, match="partitioned table"):
        blend.recommend(tacit.scale.partition(tacit.Table.from_baskets(as_baskets(held)), 2))
    with pytest.raises(InputError, match="it has no columns"):
        tacit.Recommender().fit([[], []])
    with pytest.raises(InputError, match="holds no item"):
        tacit.Recommender().fit(np.zeros((4, 2), int))


def test_words(blend):
    text = blend.to_text(top=2)
    assert text.startswith("blend recommender of 30 items, from 600 records\npenalty: ")
    assert text.count("nearest: ") == 2
    frame = blend.to_frame()
    assert frame.columns == ["item", "records", "nearest", "similarity"]
    assert frame["records"].is_sorted(descending=True)


@pytest.mark.parametrize("held", [6, 100])
def test_partitions_choose_by_records_that_have_a_weight(held):
    rng = np.random.default_rng(0)
    records = sparse.csr_array((rng.random((300, 6)) < 0.4).astype(int))
    table = tacit.Table(records, weights=np.where(np.arange(300) < held, 1.0, 0.0))
    for algorithm in ("linear", "blend"):
        for seed in range(3):
            model = tacit.Recommender(algorithm, random_state=seed)
            whole = tacit.Recommender(algorithm, random_state=seed).fit(table)
            model.fit(tacit.scale.partition(table, 3))
            assert model.l2_ == whole.l2_
            assert model.blend_weights_ == pytest.approx(whole.blend_weights_, rel=1e-9)


def test_one_record_is_always_left_to_learn_from():
    rng = np.random.default_rng(0)
    records = sparse.csr_array((rng.random((30, 6)) < 0.4).astype(int))
    model = tacit.Recommender(validation_fraction=0.99, random_state=0).fit(records)
    assert len(model.recommend(records[:1], n=2)) > 0
