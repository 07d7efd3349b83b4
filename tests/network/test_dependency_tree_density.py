"""What a dependency tree says of records, against sums over all states and known integrals."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, stats

import tacit
from oracles.density import Joint, conditionals, tree_joint
from tacit import DependencyTree, InputError, Table


@st.composite
def small_tables(draw):
    """Draw codes of a few columns, each of which has all of its labels."""
    n = draw(st.integers(1, 5))
    arities = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    seed, m = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 40))
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 3, m)
    codes = np.column_stack(
        [np.where(rng.random(m) < 0.5, hidden, rng.integers(0, 3, m)) % r for r in arities]
    )
    whole = np.array([[k % r for r in arities] for k in range(3)])
    return np.vstack([codes, whole]), arities


def frame_of(codes, arities):
    """Make a frame of codes in which -1 is missing; its types know all labels."""
    labels = [[f"v{k}" for k in range(r)] for r in arities]
    return pl.DataFrame(
        {
            f"c{c}": pl.Series(
                [None if k < 0 else known[k] for k in codes[:, c]], dtype=pl.Enum(known)
            )
            for c, known in enumerate(labels)
        }
    )


@settings(max_examples=40, deadline=None)
@given(small_tables(), st.sampled_from([0.0, 0.5, 1.0, 7.0]), st.integers(0, 2**32 - 1))
def test_discrete_trees_are_sums_over_all_states(drawn, smoothing, seed):
    codes, arities = drawn
    tree = DependencyTree(smoothing=smoothing).fit(frame_of(codes, arities))
    joint = tree_joint(codes, arities, tree.edges_.tolist(), smoothing)
    assert joint.sum() == pytest.approx(1)
    states = np.array(list(itertools.product(*(range(r) for r in arities))))
    rng = np.random.default_rng(seed)
    states = np.vstack([states, np.where(rng.random(states.shape) < 0.4, -1, states)])
    oracle = Joint(joint)
    expected = np.array([oracle.probability(state) for state in states])
    scores = tree.score_samples(frame_of(states, arities))
    assert_allclose(np.exp(scores), expected, rtol=1e-9, atol=1e-12)
    for column in range(len(arities)):
        fine = [s for s in states if oracle.probability([*s[:column], -1, *s[column + 1 :]]) > 0]
        chances = tree.predict_proba(frame_of(np.array(fine), arities), column)
        assert_allclose(
            chances, [oracle.conditional(s, column) for s in fine], rtol=1e-9, atol=1e-12
        )


@settings(max_examples=20, deadline=None)
@given(small_tables(), st.integers(0, 2**32 - 1))
def test_marginals_are_sums_over_all_states(drawn, seed):
    codes, arities = drawn
    tree = DependencyTree().fit(frame_of(codes, arities))
    joint = tree_joint(codes, arities, tree.edges_.tolist(), 1.0)
    rng = np.random.default_rng(seed)
    known = np.array([rng.integers(-1, r) for r in arities])
    told = tree.marginals({f"c{c}": f"v{k}" for c, k in enumerate(known) if k >= 0})
    assert list(told) == [f"c{c}" for c, k in enumerate(known) if k < 0]
    for c, expected in enumerate(conditionals(joint, known)):
        if known[c] < 0:
            answer = told[f"c{c}"].probabilities
            assert_allclose(answer, expected, rtol=1e-9, atol=1e-12)


def walk(n, columns, seed=0):
    """Draw numbers whose tree is a path, and then some."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns)).cumsum(axis=1)
    return (x + rng.normal(size=(n, columns))) * np.arange(1, columns + 1) + 100


def normal_of(tree, X):
    """Return the joint normal distribution: correlations multiply along paths."""
    n = X.shape[1]
    rho = np.eye(n)
    for _ in range(n):
        for a, b in tree.edges_:
            correlation = np.corrcoef(X[:, a], X[:, b])[0, 1]
            for start in range(n):
                for near, far in ((a, b), (b, a)):
                    if rho[start, near] and not rho[start, far]:
                        rho[start, far] = rho[far, start] = rho[start, near] * correlation
    sd = X.std(axis=0)
    return stats.multivariate_normal(X.mean(axis=0), rho * np.outer(sd, sd))


def test_numeric_trees_are_normal_distributions():
    X = walk(300, 6)
    tree = DependencyTree().fit(X)
    assert_allclose(tree.score_samples(X), normal_of(tree, X).logpdf(X), rtol=1e-9)
    assert tree.score(X) == pytest.approx(tree.score_samples(X).mean())


def test_missing_numbers_are_integrated_over():
    X = walk(200, 6, seed=1)
    tree = DependencyTree().fit(X)
    joint = normal_of(tree, X)
    rng = np.random.default_rng(2)
    holes = np.where(rng.random(X.shape) < 0.5, np.nan, X)
    scores = tree.score_samples(holes)
    for row, score in zip(holes, scores, strict=True):
        seen = ~np.isnan(row)
        if seen.any():
            part = stats.multivariate_normal(joint.mean[seen], joint.cov[np.ix_(seen, seen)])
            assert score == pytest.approx(part.logpdf(row[seen]))
        else:
            assert score == pytest.approx(0)


def test_numbers_are_predicted_by_regression_on_what_is_known():
    X = walk(150, 5, seed=3)
    tree = DependencyTree().fit(X)
    joint = normal_of(tree, X)
    holes = np.where(np.random.default_rng(4).random(X.shape) < 0.3, np.nan, X)
    told = tree.predict(holes)
    for row, predicted in zip(holes, told, strict=True):
        for column in range(5):
            seen = ~np.isnan(row)
            seen[column] = False
            slopes = np.linalg.solve(joint.cov[np.ix_(seen, seen)], joint.cov[seen, column])
            expected = joint.mean[column] + slopes @ (row[seen] - joint.mean[seen])
            assert predicted[column] == pytest.approx(expected)


def test_marginals_of_numbers():
    X = walk(150, 4, seed=5)
    tree = DependencyTree().fit(X)
    joint = normal_of(tree, X)
    told = tree.marginals({"x2": 250.0})
    slopes = joint.cov[:, 2] / joint.cov[2, 2]
    means = joint.mean + slopes * (250.0 - joint.mean[2])
    spreads = np.sqrt(np.maximum(np.diag(joint.cov) - slopes * joint.cov[2], 0))
    free = [0, 1, 3]
    assert list(told) == [f"x{c}" for c in free]
    assert_allclose([told[f"x{c}"]["mean"] for c in free], means[free], rtol=1e-9)
    assert_allclose([told[f"x{c}"]["sd"] for c in free], spreads[free], rtol=1e-6, atol=1e-9)
    alone = tree.marginals()["x1"]
    assert_allclose([alone["mean"], alone["sd"]], [X[:, 1].mean(), X[:, 1].std()])


# Numbers and labels in one tree


def mixed_frame(n=400, seed=0):
    """Draw kind → size → worn, and kind → colour: labels above and below a number."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    size = 2.0 * kind + rng.normal(size=n)
    length = 1.5 * size + 0.7 * rng.normal(size=n) + 10
    worn = length + rng.normal(size=n) > 14
    colour = np.where(rng.random(n) < 0.8, kind % 2, rng.integers(0, 2, n))
    return pl.DataFrame(
        {
            "size": size,
            "kind": np.array(["a", "b", "c"])[kind],
            "length": length,
            "worn": worn,
            "colour": np.array(["red", "blue"])[colour],
        }
    )


def bell(x, mean, sd):
    return np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))


class MixedOracle:
    """The distribution of mixed_frame's tree, written down by hand."""

    def __init__(self, frame, smoothing=1.0):
        self.s, self.m = smoothing, frame.height
        self.frame = frame
        self.kinds, self.colours = ["a", "b", "c"], ["blue", "red"]
        self.norm = {c: (frame[c].mean(), frame[c].std(ddof=0)) for c in ("size", "length")}
        self.rho = np.corrcoef(frame["size"], frame["length"])[0, 1]

        self.by_kind = self.classes("kind", self.kinds, "size")
        self.by_worn = self.classes("worn", [False, True], "length")
        self.colour_table = [[self._colour(c, k) for c in range(2)] for k in range(3)]

    def classes(self, label, labels, number):
        """Return share, mean and sd of each class, with pseudo-records of all numbers."""
        mean, sd = self.norm[number]
        extra = self.s / len(labels)
        result = []
        for value in labels:
            x = self.frame.filter(pl.col(label) == value)[number].to_numpy()
            total = len(x) + extra
            first = (x.sum() + extra * mean) / total
            second = ((x**2).sum() + extra * (sd**2 + mean**2)) / total
            result.append((total / (self.m + self.s), first, np.sqrt(second - first**2)))
        return np.array(result)

    def kind(self, k):
        return self.by_kind[k, 0]

    def size_given(self, x, k):
        _, mean, sd = self.by_kind[k]
        return bell(x, mean, sd)

    def length_given(self, y, x):
        (mx, sx), (my, sy) = self.norm["size"], self.norm["length"]
        mean = my + self.rho * sy / sx * (x - mx)
        return bell(y, mean, sy * np.sqrt(1 - self.rho**2))

    def worn_given(self, w, y):
        share, mean, sd = self.by_worn.T
        parts = share[:, None] * bell(np.atleast_1d(y), mean[:, None], sd[:, None])
        return (parts / parts.sum(axis=0))[int(w)]

    def _colour(self, c, k):
        count = self.frame.filter(
            (pl.col("kind") == self.kinds[k]) & (pl.col("colour") == self.colours[c])
        ).height
        row = self.frame.filter(pl.col("kind") == self.kinds[k]).height
        return (count + self.s / 6) / (row + self.s / 3)

    def density(self, k, x, y, w, c):
        return (
            self.kind(k)
            * self.size_given(x, k)
            * self.length_given(y, x)
            * self.worn_given(w, y)
            * self.colour_table[k][c]
        )


@pytest.fixture(scope="module")
def mixed():
    frame = mixed_frame()
    tree = DependencyTree().fit(frame)
    edges = {tuple(sorted(pair)) for pair in tree.to_frame().select("from", "to").rows()}
    assert edges == {
        ("kind", "size"), ("length", "size"), ("length", "worn"), ("colour", "kind"),
    }  # fmt: skip
    assert tree.column_names_[tree.root_] in ("kind", "colour")
    return frame, tree, MixedOracle(frame)


def codes_of(oracle, row):
    return (
        oracle.kinds.index(row["kind"]), row["size"], row["length"], row["worn"],
        oracle.colours.index(row["colour"]),
    )  # fmt: skip


def test_mixed_records(mixed):
    frame, tree, oracle = mixed
    rows = frame.head(50).to_dicts()
    expected = [float(oracle.density(*codes_of(oracle, row))[0]) for row in rows]
    assert_allclose(np.exp(tree.score_samples(frame.head(50))), expected, rtol=1e-9)


def hide(frame, *names):
    return frame.with_columns(pl.lit(None, frame.schema[name]).alias(name) for name in names)


def test_missing_labels_in_mixed_trees(mixed):
    frame, tree, oracle = mixed
    some = frame.head(10)
    scores = tree.score_samples(hide(some, "kind", "worn"))
    for row, score in zip(some.to_dicts(), scores, strict=True):
        _, x, y, _, c = codes_of(oracle, row)
        total = sum(oracle.density(k, x, y, w, c)[0] for k in range(3) for w in (0, 1))
        assert np.exp(score) == pytest.approx(total)
    assert_allclose(tree.score_samples(hide(some, *frame.columns)), 0, atol=1e-9)


def test_missing_numbers_in_mixed_trees(mixed):
    frame, tree, oracle = mixed
    some = frame.head(5)
    scores = tree.score_samples(hide(some, "size", "kind"))
    for row, score in zip(some.to_dicts(), scores, strict=True):
        _, _, *rest = codes_of(oracle, row)
        total = sum(
            integrate.quad(lambda x, k=k: oracle.density(k, x, *rest)[0], -15, 20)[0]  # noqa: B023
            for k in range(3)
        )
        assert np.exp(score) == pytest.approx(total, rel=1e-6)


def test_what_is_below_a_missing_number_is_integrated_over_a_grid(mixed):
    frame, tree, oracle = mixed
    some = frame.head(4)
    scores = tree.score_samples(hide(some, "length"))
    for row, score in zip(some.to_dicts(), scores, strict=True):
        k, x, _, w, c = codes_of(oracle, row)
        total = integrate.quad(
            lambda y, x=x, k=k, w=w, c=c: oracle.density(k, x, y, w, c)[0], -10, 40, limit=200
        )[0]
        assert np.exp(score) == pytest.approx(total, rel=1e-6)
    # Where nothing is known below, the closed form is the same as the grid.
    plain = tree.score_samples(hide(some, "length", "worn"))
    both = np.exp(
        [
            tree.score_samples(hide(some, "length").with_columns(worn=pl.lit(w)))
            for w in (False, True)
        ]
    ).sum(axis=0)
    assert_allclose(np.exp(plain), both, rtol=1e-9)
    whole = tree.score_samples(pl.concat([some, hide(some, "length")]))
    assert_allclose(whole, np.concatenate([tree.score_samples(some), scores]))


def test_two_missing_numbers_above_a_label(mixed):
    frame, tree, oracle = mixed
    told = tree.marginals({"worn": True})
    points = np.linspace(-30, 50, 16001)
    step = points[1] - points[0]
    (mx, sx), (my, sy) = oracle.norm["size"], oracle.norm["length"]
    slope, left = oracle.rho * sy / sx, sy**2 * (1 - oracle.rho**2)
    worn = oracle.worn_given(True, points)
    parts, means = [], []
    for share, mean, sd in oracle.by_kind:
        length = bell(points, my + slope * (mean - mx), np.sqrt(left + slope**2 * sd**2))
        parts.append(share * (length * worn).sum() * step)
        means.append(share * (points * length * worn).sum() * step)
    chances = np.array(parts) / sum(parts)
    assert_allclose(told["kind"].probabilities, chances, rtol=1e-6)
    assert told["length"]["mean"] == pytest.approx(sum(means) / sum(parts), rel=1e-6)
    hidden = hide(frame.head(1), "size", "length", "kind", "colour").with_columns(worn=True)
    assert_allclose(tree.predict_proba(hidden, "kind")[0], chances, rtol=1e-6)
    assert tree.predict(hidden, "length")[0] == pytest.approx(told["length"]["mean"])
    assert tree.predict(hidden, "size")[0] == pytest.approx(told["size"]["mean"])
    assert tree.score(hidden) == pytest.approx(np.log(sum(parts)))
    assert told["kind"].log_evidence == pytest.approx(np.log(sum(parts)))


def test_numbers_that_are_all_but_known_fall_through_the_grid():
    frame = mixed_frame()
    sure = frame.with_columns(length=frame["size"] * 2 + 1)
    tree = DependencyTree().fit(sure)
    hidden = hide(sure.head(3), "size", "length")
    assert np.isfinite(tree.score_samples(sure)).all()
    with pytest.raises(InputError, match="record 0 has something below a label that hangs below"):
        tree.score_samples(hidden)
    with pytest.raises(InputError, match="given has something below a label that hangs below"):
        tree.marginals({"worn": True})


def test_labels_are_predicted_in_mixed_trees(mixed):
    frame, tree, oracle = mixed
    some = frame.head(6)
    for column, options in (("kind", range(3)), ("worn", range(2)), ("colour", range(2))):
        chances = tree.predict_proba(some, column)
        place = {"kind": 0, "worn": 3, "colour": 4}[column]
        for row, told in zip(some.to_dicts(), chances, strict=True):
            state = list(codes_of(oracle, row))
            each = [
                float(oracle.density(*state[:place], k, *state[place + 1 :])[0]) for k in options
            ]
            assert_allclose(told, np.array(each) / sum(each), rtol=1e-9)
    assert tree.predict(some, "kind").tolist() == [
        ["a", "b", "c"][k] for k in tree.predict_proba(some, "kind").argmax(axis=1)
    ]


@pytest.mark.parametrize("hidden", [(), ("kind",), ("worn",)])
def test_numbers_are_predicted_in_mixed_trees(mixed, hidden):
    frame, tree, oracle = mixed
    some = frame.head(4)
    told = tree.predict(hide(some, *hidden), "length")
    for row, mean in zip(some.to_dicts(), told, strict=True):
        k, x, _, w, c = codes_of(oracle, row)
        kinds = range(3) if "kind" in hidden else [k]
        ends = (0, 1) if "worn" in hidden else [w]

        def mass(y, kinds=kinds, ends=ends, x=x, c=c):
            return sum(oracle.density(k, x, y, w, c)[0] for k in kinds for w in ends)

        below, _ = integrate.quad(mass, -10, 40, limit=200)
        above, _ = integrate.quad(lambda y: y * mass(y), -10, 40, limit=200)
        assert mean == pytest.approx(above / below, rel=1e-6)
    alone = tree.predict(hide(some, *[c for c in frame.columns if c != "size"]), "size")
    share, means, _ = oracle.by_kind.T
    assert_allclose(alone, share @ means, rtol=1e-9)


def test_marginals_of_mixed_trees(mixed):
    _, tree, oracle = mixed
    told = tree.marginals()
    assert_allclose(told["kind"].probabilities, [oracle.kind(k) for k in range(3)])
    points = np.linspace(-30, 50, 20001)
    share, means, sds = oracle.by_kind.T
    (mx, sx), (my, sy) = oracle.norm["size"], oracle.norm["length"]
    slope, left = oracle.rho * sy / sx, sy**2 * (1 - oracle.rho**2)
    lengths = sum(
        p * bell(points, my + slope * (m - mx), np.sqrt(left + slope**2 * s**2))
        for p, m, s in zip(share, means, sds, strict=True)
    )
    step = points[1] - points[0]
    assert told["length"]["mean"] == pytest.approx((points * lengths).sum() * step)
    worn = (lengths * oracle.worn_given(True, points)).sum() * step
    assert told["worn"][True] == pytest.approx(worn, rel=1e-6)
    known = tree.marginals({"kind": "b", "length": 12.0})
    assert "kind" not in known
    assert "length" not in known
    assert known["worn"].given == {"kind": "b", "length": 12.0}
    assert known["worn"][True] == pytest.approx(float(oracle.worn_given(True, 12.0)[0]))


# What must not matter


def test_sparse_and_dense_tables_have_the_same_scores():
    visits = tacit.datasets.load_visits().take(range(500))
    tree = DependencyTree().fit(visits)
    turned = Table(visits.to_frame(), defaults={c.name: c.labels[-1] for c in visits.columns})
    again = DependencyTree().fit(turned)
    assert np.array_equal(again.edges_, tree.edges_)
    assert_allclose(again.score_samples(turned), tree.score_samples(visits), rtol=1e-9)
    assert_allclose(
        again.predict_proba(visits, "news"), tree.predict_proba(visits, "news"), rtol=1e-9
    )


def test_records_with_holes_are_scored_like_any_other():
    visits = tacit.datasets.load_visits().take(range(400))
    frame = visits.to_frame()
    tree = DependencyTree().fit(visits)
    rng = np.random.default_rng(0)
    hidden = rng.random(frame.shape) < 0.2
    states = [column.labels.missing is not None for column in visits.columns]
    hidden[:, states] = False  # what is missing there is a label like others
    holes = frame.with_columns(
        pl.when(pl.Series(hidden[:, k])).then(None).otherwise(pl.col(name)).alias(name)
        for k, name in enumerate(frame.columns)
    )
    together = tree.score_samples(holes)
    alone = np.concatenate([tree.score_samples(holes[k]) for k in range(0, 400, 7)])
    assert_allclose(together[::7], alone, rtol=1e-12)
    complete = tree.score_samples(visits)
    assert (together[hidden.any(axis=1)] > complete[hidden.any(axis=1)]).all()
    assert_allclose(together[~hidden.any(axis=1)], complete[~hidden.any(axis=1)])
