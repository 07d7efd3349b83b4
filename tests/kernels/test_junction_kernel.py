"""The junction-tree kernel: axes of all lengths, plans that are used again, and its arguments."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.junction import Net, findings, random_table
from support.scripts import run
from support.strategies import assert_identical, for_all_jobs
from tacit import _core

UNBOUNDED = 1e12, math.inf


def arrays(net):
    starts = np.cumsum([0, *map(len, net.parents)])
    parents = np.array([p for own in net.parents for p in own], np.int64)
    tables = np.concatenate([table.reshape(-1) for table in net.tables])
    return np.array(net.arities, np.int64), starts, parents, tables


def kernel(net):
    return _core.JunctionTree(*arrays(net), *UNBOUNDED)


def code_row(net, evidence):
    return np.array([evidence.get(c, -1) for c in range(net.n)], np.int32)


@st.composite
def dense_nets(draw):
    """Every column depends on all before it or on most: cliques with several factors, long axes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arities = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    assume(math.prod(arities) <= 8000)
    parents = [[p for p in range(c) if rng.random() < 0.7] for c in range(len(arities))]
    zeros = draw(st.sampled_from([0.0, 0.4]))
    tables = [
        random_table(rng, math.prod(arities[p] for p in own), arities[c], zeros)
        for c, own in enumerate(parents)
    ]
    return Net(arities, parents, tables)


@given(net=dense_nets(), pick=st.data())
@settings(max_examples=150)
def test_all_answers_by_the_definition(net, pick):
    evidence = pick.draw(findings(net))
    tree, codes = kernel(net), code_row(net, evidence)
    total = net.probability(evidence)
    marginals, log_evidence = tree.marginals(codes)
    with np.errstate(divide="ignore"):
        assert log_evidence == pytest.approx(np.log(total), rel=1e-10, abs=1e-12)
    assert tree.families(codes)[1] == pytest.approx(log_evidence, rel=1e-10, abs=1e-12)
    assert (tree.most_probable(codes)[1] == -math.inf) == (total == 0)
    assert (tree.sample(codes, 0, 2, 1)[1] == -math.inf) == (total == 0)
    if total == 0:
        return
    expected = np.concatenate([net.sum_to([c], evidence) for c in range(net.n)]) / total
    np.testing.assert_allclose(marginals, expected, rtol=1e-10, atol=1e-13)
    families = [net.sum_to([*own, c], evidence).reshape(-1) for c, own in enumerate(net.parents)]
    found = tree.families(codes)[0]
    np.testing.assert_allclose(found, np.concatenate(families) / total, rtol=1e-10, atol=1e-13)
    best = net.joint[tuple(tree.most_probable(codes)[0])]
    assert best == pytest.approx(net.cut(evidence).max(), rel=1e-10)
    drawn = tree.sample(codes, 1, 5, 1)[0]
    assert (net.cut(evidence)[tuple(drawn.T)] > 0).all()
    targets = pick.draw(st.permutations([c for c in range(net.n) if c not in evidence]))
    flat, _ = tree.joint(np.array(targets, np.int64), codes)
    expected = net.sum_to(targets, evidence) / total
    np.testing.assert_allclose(flat.reshape(expected.shape), expected, rtol=1e-10, atol=1e-13)


def test_an_axis_longer_than_a_block():
    rng = np.random.default_rng(0)
    arities = [5000, 3, 2]
    tables = [random_table(rng, n, k, 0.0) for n, k in ((1, 5000), (5000, 3), (15000, 2))]
    net = Net(arities, [[], [0], [0, 1]], tables)
    for evidence in ({}, {2: 1}, {0: 4321}):
        found, log_evidence = kernel(net).marginals(code_row(net, evidence))
        total = net.probability(evidence)
        expected = np.concatenate([net.sum_to([c], evidence) for c in range(3)]) / total
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)
        assert log_evidence == pytest.approx(math.log(total), rel=1e-10, abs=1e-12)


def test_a_clique_with_many_factors():
    # All pairs of eight columns have an observed child: 28 tables in one clique.
    rng = np.random.default_rng(1)
    pairs = [[a, b] for a in range(8) for b in range(a)]
    parents = [[] for _ in range(8)] + pairs
    tables = [random_table(rng, 4 if own else 1, 2, 0.0) for own in parents]
    tree = kernel(Net([2] * 36, parents, tables))
    joint = np.ones([2] * 8)
    for c in range(8):
        joint = joint * tables[c].reshape([2 if k == c else 1 for k in range(8)])
    for table, (a, b) in zip(tables[8:], pairs, strict=True):  # b < a
        shape = [2 if k in (a, b) else 1 for k in range(8)]
        joint = joint * table[:, 1].reshape(2, 2).T.reshape(shape)
    codes = np.array([-1] * 8 + [1] * 28, np.int32)
    found, log_evidence = tree.marginals(codes)
    assert log_evidence == pytest.approx(math.log(joint.sum()), rel=1e-11)
    for c in range(8):
        expected = joint.sum(axis=tuple(k for k in range(8) if k != c)) / joint.sum()
        np.testing.assert_allclose(found[2 * c : 2 * c + 2], expected, rtol=1e-11)
    assert tree.most_probable(codes)[1] == pytest.approx(math.log(joint.max()), rel=1e-11)


def chain(n):
    rng = np.random.default_rng(2)
    parents = [[c - 1] if c else [] for c in range(n)]
    return Net([2] * n, parents, [random_table(rng, 2 if c else 1, 2, 0.0) for c in range(n)])


def test_plans_are_used_again_for_other_values_only():
    net = chain(10)
    tree = kernel(net)
    for _ in range(3):  # more sets of columns than are remembered
        for a in range(10):
            for b in range(a):
                evidence = {a: (a + b) % 2, b: b % 2}
                found = tree.marginals(code_row(net, evidence))
                new = kernel(net).marginals(code_row(net, evidence))
                assert_identical(found[0], new[0])
                assert found[1] == new[1]
                assert found[1] == pytest.approx(math.log(net.probability(evidence)), rel=1e-11)


def test_records_on_any_number_of_threads():
    net = chain(12)
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 2, (5000, 12)).astype(np.int32)
    weights = rng.random(5000)
    tree = kernel(net)
    found = for_all_jobs(lambda n_jobs: tree.evidence_many(codes, weights, True, n_jobs))
    assert_identical(tree.evidence_many(codes, None, False, 2)[0].round(9), found[0].round(9))
    assert found[1].sum() == pytest.approx(12 * weights.sum(), rel=1e-10)
    for r in (0, 77, 4999):
        evidence = {c: int(k) for c, k in enumerate(codes[r]) if k >= 0}
        assert found[0][r] == pytest.approx(math.log(net.probability(evidence)), rel=1e-10)
    assert tree.evidence_many(codes[:0], None, True, 2)[1].tolist() == [0] * len(found[1])
    for_all_jobs(lambda n_jobs: tree.sample(codes[0], 9, 10_000, n_jobs)[0])


def test_too_wide_comes_with_its_sizes():
    net = chain(10)
    tree = _core.JunctionTree(*arrays(net), 20.0, math.inf)
    assert tree.needs() == (2, 4.0, 36.0)
    with pytest.raises(OverflowError) as caught:
        tree.marginals(code_row(net, {}))
    assert caught.value.args[:3] == (2, 4.0, 36.0)
    assert tree.marginals(code_row(net, dict.fromkeys(range(0, 10, 2), 0)))[1] < 0
    with pytest.raises(OverflowError):
        tree.evidence_many(np.array([[-1] * 9 + [0]] * 3, np.int32), None, False, 2)


@pytest.mark.parametrize(
    ("place", "value", "text"),
    [
        (0, np.zeros(0, np.int64), "a net has columns"),
        (0, np.array([2, 0]), "arities must be positive"),
        (1, np.array([0, 0]), "parent_starts must be one more than arities"),
        (1, np.array([0, 2, 1]), "parent_starts must ascend"),
        (2, np.array([1]), "parents must be other columns"),
        (2, np.array([-1]), "parents must be other columns"),
        (3, np.ones(5), "tables must have a cell for each state of each family"),
        (3, np.ones(7), "tables must have a cell for each state of each family"),
    ],
)
def test_nets_that_do_not_fit_together_are_refused(place, value, text):
    arguments = [np.array([2, 2]), np.array([0, 0, 1]), np.array([0]), np.full(6, 0.5)]
    assert _core.JunctionTree(*arguments, *UNBOUNDED).needs()[0] == 2
    arguments[place] = value
    with pytest.raises(ValueError, match=text):
        _core.JunctionTree(*arguments, *UNBOUNDED)


def test_questions_that_do_not_fit_are_refused():
    tree = kernel(chain(2))
    nothing = np.full(2, -1, np.int32)
    for codes in (np.array([0], np.int32), nothing[:0]):
        with pytest.raises(ValueError, match="codes must be one a column"):
            tree.marginals(codes)
    for code in (-2, 2):
        with pytest.raises(ValueError, match="codes must be codes of their columns, or -1"):
            tree.families(np.array([0, code], np.int32))
    for targets in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match="targets must be different columns"):
            tree.joint(np.array(targets), nothing)
    with pytest.raises(ValueError, match="codes must have a column for each of the net's"):
        tree.evidence_many(np.zeros((2, 3), np.int32), None, False, 1)
    with pytest.raises(ValueError, match="weights must be as many as records"):
        tree.evidence_many(np.zeros((2, 2), np.int32), np.ones(3), False, 1)
    with pytest.raises(ValueError, match="codes must be codes of their columns, or -1"):
        tree.evidence_many(np.full((2, 2), 5, np.int32), None, False, 1)


INTERRUPT = """
    import os, signal, threading, time
    import numpy as np
    from tacit import _core

    side, arity = 11, 3  # a grid whose cliques have millions of cells
    parents = [
        [k - side] * (k >= side) + [k - 1] * (k % side > 0) for k in range(side * side)
    ]
    tables = np.concatenate([np.full(arity ** (len(own) + 1), 1 / arity) for own in parents])
    starts = np.cumsum([0, *map(len, parents)])
    flat = np.array([p for own in parents for p in own])
    tree = _core.JunctionTree(np.full(side * side, arity), starts, flat, tables, 1e14, 1e11)
    codes = np.full(side * side, -1, np.int32)
    codes[-1] = 0
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        while True:
            {call}
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
"""


@pytest.mark.parametrize(
    "call",
    [
        "tree.evidence_many(np.stack([codes, codes - codes, codes]), None, False, 2)",
        "tree.marginals(codes)",
        "tree.most_probable(codes)",
        "tree.sample(codes, 0, 10**6, 2)",
    ],
)
def test_ctrl_c_ends_a_long_question_early(call):
    outcome, seconds = run(INTERRUPT.format(call=call))
    assert outcome == "interrupted"
    assert float(seconds) < 5
