"""Exact inference against the joint distribution written down in full."""

import math
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from oracles.junction import Net, eliminate, findings, nets, random_net, random_table
from support.strategies import assert_identical, for_all_jobs
from tacit.errors import InputError
from tacit.network.inference.junction import JunctionTree

CLOSE = {"rtol": 1e-10, "atol": 1e-13}


def tree_of(net, **options):
    return JunctionTree(net.arities, net.parents, net.tables, **options)


@st.composite
def questions(draw):
    """A net and evidence that can occur."""
    net = draw(nets())
    evidence = draw(findings(net))
    assume(net.probability(evidence) > 0)
    return net, evidence


def ask(question, way, *targets):
    """Return what a tree answers, and a function that gives the probabilities of some columns."""
    net, evidence = question
    answer, log_evidence = getattr(tree_of(net), way)(*targets, evidence)
    total = net.probability(evidence)
    assert log_evidence == pytest.approx(math.log(total), rel=1e-10, abs=1e-12)
    return answer, lambda columns: net.sum_to(columns, evidence) / total


@given(question=questions())
@settings(max_examples=200)
def test_marginals(question):
    marginals, expected = ask(question, "marginals")
    assert len(marginals) == question[0].n
    for c, marginal in enumerate(marginals):
        np.testing.assert_allclose(marginal, expected([c]), **CLOSE)


@given(question=questions())
@settings(max_examples=150)
def test_families(question):
    net, _ = question
    families, expected = ask(question, "families")
    for c, parents in enumerate(net.parents):
        table = expected([*parents, c]).reshape(net.tables[c].shape)
        np.testing.assert_allclose(families[c], table, **CLOSE)


@given(question=questions(), pick=st.data())
@settings(max_examples=200)
def test_joint_of_any_targets(question, pick):
    targets = pick.draw(st.lists(st.integers(0, question[0].n - 1), unique=True, max_size=4))
    joint, expected = ask(question, "joint", targets)
    np.testing.assert_allclose(joint, expected(targets), **CLOSE)


@given(question=questions())
@settings(max_examples=150)
def test_most_probable(question):
    net, evidence = question
    codes, log_probability = tree_of(net).most_probable(evidence)
    assert codes.dtype == np.int32
    assert all(codes[c] == code for c, code in evidence.items())
    best = net.cut(evidence).max()
    assert net.joint[tuple(codes)] == pytest.approx(best, rel=1e-10)
    assert log_probability == pytest.approx(math.log(best), rel=1e-10, abs=1e-12)


@given(net=nets(), pick=st.data())
@settings(max_examples=100)
def test_many_records(net, pick):
    records = pick.draw(st.lists(findings(net), max_size=12))
    codes = np.full((len(records), net.n), -1, np.int32)
    for r, record in enumerate(records):
        for c, code in record.items():
            codes[r, c] = code
    result = for_all_jobs(lambda n_jobs: tree_of(net, n_jobs=n_jobs).log_evidence_many(codes))
    with np.errstate(divide="ignore"):
        expected = np.log([net.probability(record) for record in records])
    np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-12)
    if records:
        assert tree_of(net).log_evidence(records[0]) == pytest.approx(result[0], rel=1e-12)


@given(net=nets(), pick=st.data())
@settings(max_examples=100)
def test_expected_counts_are_sums_of_families(net, pick):
    some = st.tuples(findings(net), st.integers(0, 8).map(lambda n: n / 4))
    records = pick.draw(st.lists(some, max_size=8))
    records += records[:3]  # equal ones are looked at once
    codes = np.full((len(records), net.n), -1, np.int32)
    for r, (record, _) in enumerate(records):
        for c, code in record.items():
            codes[r, c] = code
    weights = np.array([weight for _, weight in records])
    sums = [np.zeros_like(table) for table in net.tables]
    for record, weight in records:
        total = net.probability(record)
        if total == 0:
            continue
        for c, above in enumerate(net.parents):
            own_sum = net.sum_to([*above, c], record).reshape(sums[c].shape)
            sums[c] += weight * own_sum / total

    def count(n_jobs):
        counts, log_evidence = tree_of(net, n_jobs=n_jobs).expected_counts(codes, weights)
        return (*counts, log_evidence)

    *result, log_evidence = for_all_jobs(count)
    for one, other in zip(result, sums, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert_identical(log_evidence, tree_of(net).expected_counts(codes)[1])


def test_records_count_once_without_weights():
    net = random_net(np.random.default_rng(3), 6)
    counts, _ = tree_of(net).expected_counts(np.full((5, 6), -1, np.int32))
    assert [table.sum() for table in counts] == pytest.approx([5] * 6)


def test_published_answers_for_a_chest_clinic():
    # Lauritzen and Spiegelhalter (1988); code 1 is yes.
    names = ["asia", "smoke", "tub", "lung", "bronc", "either", "xray", "dysp"]
    parents = [[], [], [0], [1], [1], [2, 3], [5], [4, 5]]
    yes = [
        [0.01],
        [0.5],
        [0.01, 0.05],
        [0.01, 0.1],
        [0.3, 0.6],
        [0, 1, 1, 1],
        [0.05, 0.98],
        [0.1, 0.7, 0.8, 0.9],
    ]
    tables = [np.column_stack((1 - np.array(p), p)) for p in yes]
    tree = JunctionTree([2] * 8, parents, tables)
    prior = dict(zip(names, (float(p[1]) for p in tree.marginals()[0]), strict=True))
    assert prior["tub"] == pytest.approx(0.0104)
    assert prior["either"] == pytest.approx(0.064828)
    assert prior["xray"] == pytest.approx(0.11029004)
    assert prior["dysp"] == pytest.approx(0.4359706)
    # A smoker without dyspnoea back from Asia, in whom the X-ray shows something.
    posterior = tree.marginals({0: 1, 1: 1, 6: 1, 7: 0})[0]
    net = Net([2] * 8, parents, tables)
    joint = net.sum_to([2, 3], {0: 1, 1: 1, 6: 1, 7: 0})
    assert posterior[3][1] == pytest.approx(joint[:, 1].sum() / joint.sum(), rel=1e-12)
    assert tree.joint([2, 3], {5: 1})[0][0, 0] == 0  # one of the two it must be


# Larger nets, which have many cliques, separators of several columns and more than one block.


@pytest.mark.parametrize("seed", range(12))
def test_larger_nets_by_variable_elimination(seed):
    rng = np.random.default_rng(seed)
    net = random_net(rng, 24, max_arity=4, max_parents=3, zeros=0.1 * (seed % 2), min_arity=2)
    tree = tree_of(net)
    state = tree.sample(1, None, rng)[0]
    observed = rng.choice(24, seed % 5, replace=False).tolist()
    evidence = {c: int(state[c]) for c in observed}
    total = float(eliminate(net, [], evidence))
    result, log_evidence = tree.marginals(evidence)
    assert log_evidence == pytest.approx(math.log(total), rel=1e-10, abs=1e-12)
    families, _ = tree.families(evidence)
    for c in range(24):
        if c in evidence:
            assert result[c].tolist() == np.eye(net.arities[c])[evidence[c]].tolist()
            continue
        np.testing.assert_allclose(result[c], eliminate(net, [c], evidence) / total, **CLOSE)
        np.testing.assert_allclose(families[c].sum(axis=0), result[c], **CLOSE)
    pair = [c for c in range(24) if c not in evidence][:3]
    expected = eliminate(net, pair, evidence) / total
    np.testing.assert_allclose(tree.joint(pair, evidence)[0], expected, **CLOSE)


def grid(rng, n_rows, n_columns, arity):
    """A net of which every column depends on the one above and the one to the left."""
    place = {rc: k for k, rc in enumerate(product(range(n_rows), range(n_columns)))}
    parents = [
        [place[q] for q in ((r - 1, c), (r, c - 1)) if q in place]
        for r, c in product(range(n_rows), range(n_columns))
    ]
    tables = [random_table(rng, arity ** len(above), arity, 0.0) for above in parents]
    return Net([arity] * len(parents), parents, tables)


def sweep(net, side, evidence):
    """P(evidence) in a square grid, row by row: one axis for the last value seen in each column."""
    front = np.ones([1] * side)
    for k, above in enumerate(net.parents):
        table = net.tables[k].reshape([net.arities[m] for m in (*above, k)])
        if k in evidence:
            table = table * (np.arange(net.arities[k]) == evidence[k])
        r, c = divmod(k, side)
        table = table if r else table[np.newaxis]  # nothing above
        if c:
            front = np.moveaxis(front, (c, c - 1), (-2, -1))
            front = np.einsum("...al,aln->...nl", front, table)
            front = np.moveaxis(front, (-2, -1), (c, c - 1))
        else:
            front = np.moveaxis(np.einsum("a...,an->...n", front, table), -1, 0)
    return front.sum()


def test_cliques_of_many_blocks():
    net = grid(np.random.default_rng(0), 6, 6, 4)
    tree = tree_of(net)
    assert tree.largest >= 4**6  # more than one block holds
    evidence = {0: 1, 35: 2}
    result, log_evidence = tree.marginals(evidence)
    total = sweep(net, 6, evidence)
    assert log_evidence == pytest.approx(math.log(total), rel=1e-11)
    for c in (1, 17, 34):
        expected = [sweep(net, 6, evidence | {c: code}) / total for code in range(4)]
        np.testing.assert_allclose(result[c], expected, **CLOSE)
    codes, log_probability = tree.most_probable(evidence)
    chosen = {c: int(code) for c, code in enumerate(codes)}
    assert log_probability == pytest.approx(math.log(sweep(net, 6, chosen)), rel=1e-11)
    for change, code in product(range(1, 35), range(4)):  # no other single value is better
        assert tree.log_evidence(chosen | {change: code}) <= log_probability + 1e-9


# Numbers far below what a float can hold


def test_thousands_of_findings_do_not_underflow():
    n = 3000
    table = [[0.999, 0.001], [0.998, 0.002]]
    tree = JunctionTree([2] * (n + 1), [[]] + [[0]] * n, [[[0.5, 0.5]]] + [table] * n)
    result, log_evidence = tree.marginals(dict.fromkeys(range(1, n + 1), 1))
    ones = np.array([n * math.log(0.001), n * math.log(0.002)]) + math.log(0.5)
    assert log_evidence == pytest.approx(np.logaddexp(*ones), rel=1e-12)
    assert result[0][1] == pytest.approx(1)
    # First a thousand powers of two to one side, then as many to the other, and a few more.
    other = [[0.998, 0.002], [0.999, 0.001]]
    half = n // 2
    tables = [[[0.5, 0.5]]] + [table] * (half + 2) + [other] * (n - half - 2)
    tree = JunctionTree([2] * (n + 1), [[]] + [[0]] * n, tables)
    result, log_evidence = tree.marginals(dict.fromkeys(range(1, n + 1), 1))
    np.testing.assert_allclose(result[0], [1 / 17, 16 / 17], rtol=1e-10)
    ones = [math.log(0.5) + k * math.log(0.001) + (n - k) * math.log(0.002) for k in (1502, 1498)]
    assert log_evidence == pytest.approx(np.logaddexp(*ones), rel=1e-12)
    assert tree.most_probable(dict.fromkeys(range(1, n + 1), 1))[0][0] == 1


def test_small_tables_in_one_clique_do_not_underflow():
    # Ten columns, all pairs of which have twenty children that find them unlikely.
    rng = np.random.default_rng(0)
    n, times = 10, 20
    pairs = [[a, b] for a in range(n) for b in range(a)]
    likely = rng.uniform(1e-6, 2e-6, (len(pairs), 4))
    parents = [[]] * n + pairs * times
    tables = [[[0.5, 0.5]]] * n + [np.column_stack((1 - p, p)) for p in likely] * times
    tree = JunctionTree([2] * len(parents), parents, tables)
    result, log_evidence = tree.marginals(dict.fromkeys(range(n, len(parents)), 1))
    log_joint = np.full([2] * n, n * math.log(0.5))
    for (a, b), p in zip(pairs, likely, strict=True):  # b < a
        shape = [2 if c in (a, b) else 1 for c in range(n)]
        log_joint = log_joint + times * np.log(p.reshape(2, 2).T.reshape(shape))
    joint = np.exp(log_joint - log_joint.max())
    assert log_evidence == pytest.approx(math.log(joint.sum()) + log_joint.max(), rel=1e-11)
    for c in range(n):
        expected = joint.sum(axis=tuple(k for k in range(n) if k != c)) / joint.sum()
        np.testing.assert_allclose(result[c], expected, rtol=1e-9, atol=1e-300)


def test_long_chains_do_not_underflow():
    n = 2000
    step = [[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]]
    seen = [[1 - 1e-7, 1e-7], [1e-7, 1 - 1e-7]]
    # Column 2k is hidden, 2k + 1 is seen.
    parents = [[c - 1] if c % 2 else [c - 2] if c else [] for c in range(2 * n)]
    tables = [seen if c % 2 else step if c else [[0.5, 0.5]] for c in range(2 * n)]
    tree = JunctionTree([2] * (2 * n), parents, tables)
    evidence = {2 * k + 1: k % 2 for k in range(n)}
    result, log_evidence = tree.marginals(evidence)
    forward = np.array([0.5, 0.5])
    expected = 0.0
    for k in range(n):
        if k:
            forward = forward @ np.array(step)
        forward = forward * np.array(seen)[:, k % 2]
        expected += math.log(forward.sum())
        forward /= forward.sum()
    assert log_evidence == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(result[2 * n - 2], forward, rtol=1e-8)
    codes, log_probability = tree.most_probable(evidence)
    assert log_probability < log_evidence
    assert math.isfinite(log_probability)
    assert set(codes[::2].tolist()) <= {0, 1}


def test_opposite_messages_from_both_sides():
    # What comes from below all but rules out what comes from above.
    n = 40
    below = [[1.0 - 1e-12, 1e-12], [1e-12, 1.0 - 1e-12]]
    parents = [[], [0]] + [[1]] * n
    tables = [[[0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]] + [below] * n
    result, log_evidence = JunctionTree([2] * (n + 2), parents, tables).marginals(
        dict.fromkeys(range(2, n + 2), 0)
    )
    assert log_evidence == pytest.approx(n * math.log(1e-12), rel=1e-9)
    assert result[1].tolist() == [0, 1]


# Samples


def chi_square_p(observed, expected):
    kept = expected > 0
    assert observed[~kept].sum() == 0
    statistic = ((observed[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    return chi2.sf(statistic, max(1, kept.sum() - 1))


@pytest.mark.parametrize("seed", range(6))
def test_samples_have_the_right_distribution(seed):
    rng = np.random.default_rng(seed)
    net = random_net(rng, 5, max_arity=3, zeros=0.2, min_arity=2)
    tree = tree_of(net)
    first = tree.sample(1, None, rng)[0]
    evidence = {c: int(first[c]) for c in range(seed % 3)}
    n = 40_000
    drawn = tree.sample(n, evidence, rng)
    assert drawn.shape == (n, 5)
    assert drawn.dtype == np.int32
    counts = np.zeros(net.arities)
    np.add.at(counts, tuple(drawn.T), 1)
    expected = net.cut(evidence) / net.probability(evidence) * n
    assert chi_square_p(counts, expected) > 1e-4


def test_samples_do_not_depend_on_threads_and_follow_the_seed():
    net = random_net(np.random.default_rng(2), 20, max_arity=4, min_arity=2)

    def draw(n_jobs, seed=5):
        return tree_of(net, n_jobs=n_jobs).sample(20_000, {3: 1}, np.random.default_rng(seed))

    same = for_all_jobs(draw)
    assert (same[:, 3] == 1).all()
    assert not np.array_equal(same, draw(1, seed=6))


def test_few_records_are_the_first_of_many():
    # Few records are drawn one by one, many from stored tables.
    tree = tree_of(grid(np.random.default_rng(1), 6, 6, 4))
    few = tree.sample(3, {7: 0}, np.random.default_rng(0))
    many = tree.sample(20_000, {7: 0}, np.random.default_rng(0))
    assert_identical(few, many[:3].copy())
    assert tree.sample(0, None, np.random.default_rng(0)).shape == (0, 36)
    for c, expected in enumerate(tree.marginals({7: 0})[0]):
        counts = np.bincount(many[:, c], minlength=4)
        assert chi_square_p(counts, expected * 20_000) > 1e-5


# Properties


@given(question=questions(), pick=st.data())
@settings(max_examples=60)
def test_the_order_of_columns_does_not_matter(question, pick):
    net, evidence = question
    new = pick.draw(st.permutations(range(net.n)))  # new[c] is where column c goes
    old = np.argsort(new).tolist()
    moved = Net(
        [net.arities[c] for c in old],
        [[new[p] for p in net.parents[c]] for c in old],
        [net.tables[c] for c in old],
    )
    result, log_evidence = tree_of(net).marginals(evidence)
    again, other = tree_of(moved).marginals({new[c]: code for c, code in evidence.items()})
    assert other == pytest.approx(log_evidence, rel=1e-10, abs=1e-12)
    for c in range(net.n):
        np.testing.assert_allclose(again[new[c]], result[c], **CLOSE)


def test_asking_again_gives_the_same_to_the_bit():
    net = random_net(np.random.default_rng(4), 30, max_arity=3, min_arity=2)
    tree = tree_of(net)
    questions_asked = [{c: 0} for c in range(30)] + [{c: 0, 29 - c: 1} for c in range(15)]
    first = [tree.marginals(q)[0] for q in questions_asked]  # more than are kept
    for evidence, marginals in zip(questions_asked, first, strict=True):
        for one, other in zip(tree.marginals(evidence)[0], marginals, strict=True):
            assert_identical(one.copy(), other.copy())


def test_what_is_reported_of_the_tree():
    # A chain has cliques of two columns.
    rng = np.random.default_rng(0)
    tables = [random_table(rng, 3 if c else 1, 3, 0.0) for c in range(10)]
    tree = JunctionTree([3] * 10, [[c - 1] if c else [] for c in range(10)], tables)
    assert (tree.width, tree.largest, tree.n_cells) == (2, 9, 81)
    assert sorted(tree.order.tolist()) == list(range(10))
    assert repr(tree) == "JunctionTree(10 columns, width 2, 81 cells)"


def test_copies_give_the_same_answers():
    tree = tree_of(random_net(np.random.default_rng(1), 9, min_arity=2), max_cells=1e6)
    again = pickle.loads(pickle.dumps(tree))
    for one, other in zip(again.marginals({2: 1})[0], tree.marginals({2: 1})[0], strict=True):
        assert_identical(one.copy(), other.copy())


def test_a_column_with_very_many_children():
    n = 20_000
    tree = JunctionTree([2] * (n + 1), [[]] + [[0]] * n, [[[0.5, 0.5]]] + [[[0.9, 0.1]] * 2] * n)
    assert (tree.width, tree.n_cells) == (2, 4 * n)
    result, log_evidence = tree.marginals({1: 1, 2: 0})
    assert log_evidence == pytest.approx(math.log(0.09), rel=1e-12)
    np.testing.assert_allclose(result[3:], [[0.9, 0.1]] * (n - 2), rtol=1e-12)


def test_one_column_of_one_value():
    tree = JunctionTree([1], [[]], [[[1.0]]])
    assert tree.marginals()[0][0].tolist() == [1]
    assert tree.marginals({0: 0})[1] == 0
    assert tree.most_probable()[0].tolist() == [0]
    assert tree.joint([0])[0].tolist() == [1]
    assert tree.families()[0][0].tolist() == [[1]]
    assert tree.sample(2, None, np.random.default_rng(0)).tolist() == [[0], [0]]


# Bad input


def two_columns(**options):
    return JunctionTree([2, 3], [[], [0]], [[[0.5, 0.5]], [[1, 0, 0], [0, 0.5, 0.5]]], **options)


def test_evidence_of_probability_zero():
    tree = two_columns()
    for ask in (tree.marginals, tree.families, tree.most_probable):
        with pytest.raises(InputError, match="evidence: what is observed has probability zero"):
            ask({0: 0, 1: 2})
    with pytest.raises(InputError, match="probability zero"):
        tree.joint([0], {0: 0, 1: 1})
    with pytest.raises(InputError, match="probability zero"):
        tree.sample(3, {0: 1, 1: 0}, np.random.default_rng(0))
    assert tree.log_evidence({0: 1, 1: 0}) == -math.inf


def test_impossible_together_through_hidden_columns():
    # Two children copy a hidden parent, and disagree; another part of the net is not concerned.
    copy = [[1.0, 0.0], [0.0, 1.0]]
    tree = JunctionTree([2] * 4, [[], [0], [0], []], [[[0.5, 0.5]], copy, copy, [[0.5, 0.5]]])
    for ask in (tree.marginals, tree.families, tree.most_probable):
        with pytest.raises(InputError, match="probability zero"):
            ask({1: 0, 2: 1})
    counts, log_evidence = tree.expected_counts(np.array([[-1, 0, 1, -1], [-1, 1, 1, -1]]))
    assert log_evidence.tolist() == [-math.inf, pytest.approx(math.log(0.5))]
    assert [table.sum() for table in counts] == pytest.approx([1] * 4)


def wide_net(n):
    """Every pair of n binary columns has a common child."""
    parents = [[] for _ in range(n)] + [[a, b] for a in range(n) for b in range(a)]
    tables = [[[0.5, 0.5]] if not above else [[0.3, 0.7]] * 4 for above in parents]
    return JunctionTree([2] * len(parents), parents, tables)


def test_too_wide_is_said_before_anything_is_allocated():
    tree = wide_net(60)
    assert tree.width == 60
    text = r"a clique of 60 columns \(1.2e\+18 cells\) and .* \(9223372.0 TB\)"
    with pytest.raises(InputError, match=text):
        tree.marginals()
    with pytest.raises(InputError, match="observe more columns or ask about fewer"):
        tree.most_probable({3: 1})
    with pytest.raises(InputError, match="a clique of 60 columns"):
        tree.sample(1, None, np.random.default_rng(0))


def test_a_wide_net_answers_what_is_narrow():
    tree = wide_net(60)
    np.testing.assert_allclose(tree.joint([0, 60])[0], [[0.15, 0.35]] * 2)
    assert tree.log_evidence({60: 0, 61: 0}) == pytest.approx(2 * math.log(0.3))
    result, log_evidence = tree.marginals(dict.fromkeys(range(50), 0))
    assert log_evidence == pytest.approx(50 * math.log(0.5))
    np.testing.assert_allclose(result[-1], [0.3, 0.7])


def test_so_wide_that_cells_are_no_number():
    n = 1100
    tree = JunctionTree([2] * n, [[]] * n, [[[0.5, 0.5]]] * n)
    assert tree.marginals()[1] == 0
    with pytest.raises(InputError, match=r"a clique of 1100 columns \(inf cells\)"):
        tree.joint(list(range(n)))


def test_limits():
    rng = np.random.default_rng(0)
    net = grid(rng, 4, 4, 3)
    with pytest.raises(InputError, match="more than max_cells or max_bytes allow"):
        tree_of(net, max_cells=100).marginals()
    with pytest.raises(InputError, match="more than max_cells or max_bytes allow"):
        tree_of(net, max_bytes=1000).marginals()
    assert tree_of(net, max_bytes=100_000).marginals()[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        ({2: 0}, "evidence: there is no column 2, the net has 2"),
        ({-1: 0}, "evidence must be a whole number of at least 0, got -1"),
        ({1: 3}, "evidence: column 1 has codes 0 to 2, got 3"),
        ({1: -1}, "the code of column 1 must be a whole number of at least 0"),
        ({0: 0.5}, "the code of column 0 must be a whole number"),
    ],
)
def test_bad_evidence(evidence, text):
    with pytest.raises(InputError, match=text):
        two_columns().marginals(evidence)


def test_bad_questions():
    tree = two_columns()
    with pytest.raises(InputError, match=r"targets must be different columns, got \[1, 1\]"):
        tree.joint([1, 1])
    with pytest.raises(InputError, match="targets: there is no column 5"):
        tree.joint([5])
    with pytest.raises(InputError, match="n must be a whole number of at least 0"):
        tree.sample(-1, None, np.random.default_rng(0))
    with pytest.raises(InputError, match=r"the sample would take .* TB"):
        tree.sample(10**15, None, np.random.default_rng(0))
    with pytest.raises(InputError, match=r"got float64 of shape \(3, 2\)"):
        tree.log_evidence_many(np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"codes must be integers .* and 2 columns"):
        tree.log_evidence_many(np.zeros((3, 3), np.int32))
    with pytest.raises(InputError, match=r"row 1, column 1 has 3, but codes are -1 .* or 0 to 2"):
        tree.log_evidence_many(np.array([[0, 0], [0, 3]]))
    with pytest.raises(InputError, match="weights must be as many as records, 1, got"):
        tree.expected_counts(np.array([[0, 0]]), np.ones(2))


@pytest.mark.parametrize(
    ("arities", "parents", "tables", "text"),
    [
        ([], [], [], "arities must have at least one column"),
        ([0], [[]], [[[]]], "arities must be a whole number of at least 1"),
        ([2], [], [[[1, 0]]], "parents must be one list for each of 1 columns, got 0"),
        ([2], [[0]], [[[1, 0]]], "parents of column 0 must be different other columns"),
        ([2], [[1]], [[[1, 0]]], "parents of column 0 must be different other columns"),
        ([2, 2], [[1], [0]], [[[1, 0]] * 2] * 2, "column 0 is its own ancestor"),
        ([2], [[]], [], "tables must be one for each of 1 columns, got 0"),
        ([2], [[]], [[[1, 0]] * 2], "column 0 must have 1 rows of 2"),
        ([2], [[]], [[[0.5, 0.4]]], "row 0 of column 0 must be probabilities that sum to one"),
        ([2], [[]], [[[1.5, -0.5]]], "row 0 of column 0 must be probabilities"),
        ([2], [[]], [[[np.nan, 1]]], "row 0 of column 0 must be probabilities"),
    ],
)
def test_bad_nets(arities, parents, tables, text):
    with pytest.raises(InputError, match=text):
        JunctionTree(arities, parents, tables)
