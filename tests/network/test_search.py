"""Structure search against all nets of a few columns, and what every answer must be."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import network as oracle
from support.strategies import data
from tacit import Table
from tacit.errors import InputError
from tacit.network.search.search import SearchSettings, find_structure


def sampled(n_records, n, seed, arity=2, strength=0.8):
    """Return records of a random net, each node a noisy sum of up to two earlier ones."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((n_records, n), np.int64)
    for c in range(n):
        above = rng.choice(c, min(c, 2), replace=False) if c else []
        clear = (codes[:, above].sum(axis=1) + 1) % arity
        noise = rng.integers(0, arity, n_records)
        codes[:, c] = np.where(rng.random(n_records) < strength, clear, noise)
    return codes


def as_table(codes, arity=2):
    labels = [f"v{k}" for k in range(arity)]
    return Table(
        pl.DataFrame(
            {
                f"c{c}": pl.Series([f"v{k}" for k in codes[:, c]], dtype=pl.Enum(labels))
                for c in range(codes.shape[1])
            }
        )
    )


def check(result, families, n, limits=None):
    """What any answer must be: allowed, sorted, and scored as the slow scorer does."""
    limits = limits or {}
    assert len(result.parents) == n
    assert oracle.is_allowed(result.parents, **limits)
    assert all(list(above) == sorted(set(above)) for above in result.parents)
    scores = [families(child, parents) for child, parents in enumerate(result.parents)]
    assert np.asarray(result.family_scores) == pytest.approx(scores, rel=1e-9, abs=1e-7)
    assert result.score == pytest.approx(sum(scores), rel=1e-9, abs=1e-7)
    assert not result.interrupted


@pytest.mark.parametrize("score", oracle.SCORES)
@given(records=data(max_rows=40, max_columns=4, with_chosen=False, weights=None), draw=st.data())
@settings(max_examples=30)
def test_no_single_move_improves_what_is_found(score, records, draw):
    n = len(records.arities)
    limit = draw.draw(st.integers(0, 3))
    result = find_structure(records.table(), SearchSettings(criterion=score, max_parents=limit))
    families = oracle.Families(records.rows, records.arities, score)
    check(result, families, n, {"max_parents": limit})
    slack = 1e-6 * (1 + abs(result.score))
    assert oracle.best_improvement(families, result.parents, max_parents=limit) <= slack


@pytest.mark.parametrize("score", oracle.SCORES)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_nets_of_four_columns_is_found(score, seed):
    codes = sampled(300, 4, seed, arity=3)
    families = oracle.Families(codes.tolist(), [3] * 4, score)
    best, nets = oracle.best_nets(families, 4, max_parents=3)
    result = find_structure(
        as_table(codes, 3),
        SearchSettings(criterion=score, max_parents=3, n_restarts=10, random_state=0),
    )
    check(result, families, 4)
    assert result.score == pytest.approx(best, rel=1e-9)
    assert result.parents in nets


@given(draw=st.data(), seed=st.integers(0, 1000))
@settings(max_examples=30)
def test_required_and_forbidden_arcs_are_kept(draw, seed):
    codes = sampled(120, 4, seed)
    order = draw.draw(st.permutations(range(4)))
    forward = list(itertools.combinations(order, 2))
    required = draw.draw(st.lists(st.sampled_from(forward), unique=True, max_size=3))
    others = [pair for pair in itertools.permutations(range(4), 2) if pair not in required]
    forbidden = draw.draw(st.lists(st.sampled_from(others), unique=True, max_size=5))
    limits = {"max_parents": 3, "required": tuple(required), "forbidden": tuple(forbidden)}
    result = find_structure(as_table(codes), SearchSettings(criterion="bic", **limits))
    families = oracle.Families(codes.tolist(), [2] * 4, "bic")
    check(result, families, 4, limits)
    slack = 1e-6 * (1 + abs(result.score))
    assert oracle.best_improvement(families, result.parents, **limits) <= slack


@pytest.mark.parametrize("start", ["empty", "branching"])
@pytest.mark.parametrize("tabu", [0, 10])
def test_where_it_starts_and_tabu_end_at_a_local_optimum(start, tabu):
    codes = sampled(800, 7, 5, arity=3)
    families = oracle.Families(codes.tolist(), [3] * 7, "bdeu")
    result = find_structure(
        as_table(codes, 3), SearchSettings(criterion="bdeu", max_parents=4, start=start, tabu=tabu)
    )
    check(result, families, 7, {"max_parents": 4})
    assert oracle.best_improvement(families, result.parents, max_parents=4) <= 1e-6


@pytest.mark.parametrize("score", ["bic", "k2", "penalized"])
@pytest.mark.parametrize("seed", range(3))
def test_no_swap_of_neighbours_improves_what_is_found(score, seed):
    codes = sampled(150, 6, seed, arity=3, strength=0.6)
    families = oracle.Families(codes.tolist(), [3] * 6, score)
    plain = SearchSettings(criterion=score, tabu=0, n_walks=0, swaps=True, max_parents=3)
    result = find_structure(as_table(codes, 3), plain)
    check(result, families, 6, {"max_parents": 3})
    slack = 1e-6 * (1 + abs(result.score))
    moves = {"swaps": True, "max_parents": 3}
    assert oracle.best_improvement(families, result.parents, **moves) <= slack


@pytest.mark.parametrize("score", oracle.SCORES)
def test_plain_hill_climbing_ends_at_a_local_optimum(score):
    codes = sampled(300, 7, 1, arity=2, strength=0.7)
    families = oracle.Families(codes.tolist(), [2] * 7, score)
    plain = SearchSettings(criterion=score, tabu=0, n_walks=0, swaps=False, max_parents=2)
    result = find_structure(as_table(codes), plain)
    check(result, families, 7, {"max_parents": 2})
    slack = 1e-6 * (1 + abs(result.score))
    assert oracle.best_improvement(families, result.parents, max_parents=2) <= slack


def test_missing_values_leave_their_record_out_of_a_family():
    rng = np.random.default_rng(0)
    codes = sampled(600, 5, 4, arity=3)
    gone = rng.random(codes.shape) < 0.1
    rows = [
        [None if g else int(v) for v, g in zip(*pair, strict=True)]
        for pair in zip(codes, gone, strict=True)
    ]
    frame = pl.DataFrame(
        {
            f"c{c}": pl.Series(
                [None if row[c] is None else f"v{row[c]}" for row in rows],
                dtype=pl.Enum(["v0", "v1", "v2"]),
            )
            for c in range(5)
        }
    )
    result = find_structure(Table(frame), SearchSettings(criterion="bic", missing="ignore"))
    families = oracle.Families(rows, [3] * 5, "bic")
    check(result, families, 5)
    assert oracle.best_improvement(families, result.parents, max_parents=5) <= 1e-6


@pytest.mark.parametrize("score", oracle.SCORES)
def test_columns_that_are_never_known_together_are_not_joined(score):
    bits = [str(b) for b in np.random.default_rng(0).integers(0, 2, 3000)]
    frame = pl.DataFrame(
        {
            "a": [None] * 1000 + bits[:1000],
            "b": bits[:1000] + [None] * 1000,
            "c": bits[1000:],
        }
    )
    result = find_structure(Table(frame), SearchSettings(criterion=score, missing="ignore"))
    assert result.parents == ((), (), ())


def test_columns_that_are_rarely_known_are_not_joined():
    rng = np.random.default_rng(1)
    known = rng.random((2000, 10)) < 0.05
    codes = rng.integers(0, 2, (2000, 10)).astype(str)
    columns = {f"c{c}": np.where(known[:, c], codes[:, c], None).tolist() for c in range(10)}
    result = find_structure(Table(pl.DataFrame(columns)), SearchSettings(missing="ignore"))
    assert sum(map(len, result.parents)) == 0


@pytest.mark.parametrize("seconds", [1e-6, 0.02, 0.1, 0.3])
def test_what_is_found_when_time_is_up_is_not_lost(seconds):
    table = as_table(sampled(3000, 60, 1))
    empty = find_structure(table, SearchSettings(max_parents=0)).score
    result = find_structure(table, SearchSettings(n_restarts=10**6, max_seconds=seconds))
    assert result.out_of_time
    # Every move of the first climb is upwards.
    assert (result.score > empty) == (result.n_moves > 0)


def test_high_arities_are_not_counted_as_a_square():
    codes = np.column_stack([np.arange(20_000), np.arange(20_000)[::-1], np.arange(20_000) % 2])
    table = Table(codes)
    result = find_structure(table, SearchSettings(criterion="bic", n_restarts=3))
    assert result.parents == ((), (), ())
    with pytest.raises(InputError, match="'0' parents with too many values"):
        find_structure(table, SearchSettings(required=[(1, 0)]))


def test_no_time_is_enough_for_some_net():
    table = as_table(sampled(400, 9, 0, arity=3), 3)
    result = find_structure(table, SearchSettings(n_restarts=10**6, max_seconds=1e-6))
    assert result.out_of_time
    assert oracle.is_allowed(result.parents, max_parents=5)


def test_the_trace_rises_to_the_score():
    table = as_table(sampled(300, 8, 2, arity=3), 3)
    result = find_structure(table, SearchSettings(n_restarts=8, random_state=0))
    scores = [score for _, _, score, _ in result.trace]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(result.score, rel=1e-12)  # gains, added up on the way


def test_restarts_and_tabu_never_make_it_worse():
    table = as_table(sampled(500, 8, 11, arity=3), 3)
    plain, tabu, again = (
        find_structure(table, SearchSettings(random_state=0, algorithm="climb", **changes))
        for changes in (
            {"tabu": 0, "n_restarts": 0},
            {"tabu": 10, "n_restarts": 0},
            {"tabu": 0, "n_restarts": 5},
        )
    )
    assert tabu.score >= plain.score - 1e-9
    assert again.score >= plain.score - 1e-9


def test_the_same_random_state_finds_the_same_net():
    table = as_table(sampled(300, 8, 2, arity=3), 3)
    runs = [
        find_structure(table, SearchSettings(criterion="bic", n_restarts=6, random_state=seed))
        for seed in (7, 7, 8)
    ]
    assert runs[0].parents == runs[1].parents
    assert runs[0].score == runs[1].score
    assert runs[0].n_evaluated == runs[1].n_evaluated


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_threads_does_not_matter(n_jobs):
    table = as_table(sampled(300, 8, 2, arity=3), 3)
    one = find_structure(table, SearchSettings(n_restarts=4, random_state=1, n_jobs=1))
    many = find_structure(table, SearchSettings(n_restarts=4, random_state=1, n_jobs=n_jobs))
    assert one.parents == many.parents
    assert one.score == many.score


def test_weights_count_as_repetitions():
    codes = sampled(200, 5, 3)
    weights = np.random.default_rng(0).integers(0, 4, 200)
    table = as_table(codes).with_weights(weights.astype(np.float64))
    twice = as_table(np.repeat(codes, weights, axis=0))
    one = find_structure(table, SearchSettings(criterion="bic", random_state=0))
    two = find_structure(twice, SearchSettings(criterion="bic", random_state=0))
    assert one.score == pytest.approx(two.score, rel=1e-9)
    assert one.parents == two.parents


@pytest.mark.parametrize("scale", [1.0, 0.5, 1000.0])
def test_any_weights_give_the_scores_of_the_slow_scorer(scale):
    """Whole ones that are small are repeated records, others are not; zeros are left out."""
    codes = sampled(150, 5, 3, arity=3)
    weights = scale * np.random.default_rng(1).integers(0, 5, 150)
    result = find_structure(
        as_table(codes, 3).with_weights(weights), SearchSettings("bdeu", random_state=0)
    )
    families = oracle.Families(codes.tolist(), [3] * 5, "bdeu", weights=weights.tolist())
    check(result, families, 5)


def test_a_chain_is_found_up_to_equivalence():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (5000, 1))
    for _ in range(5):
        flip = rng.random((5000, 1)) < 0.15
        codes = np.hstack([codes, np.where(flip, 1 - codes[:, -1:], codes[:, -1:])])
    result = find_structure(as_table(codes), SearchSettings(criterion="bic"))
    chain = ((), *((c,) for c in range(5)))
    assert oracle.skeleton_and_colliders(result.parents) == oracle.skeleton_and_colliders(chain)


def test_independent_columns_have_no_arcs():
    codes = np.random.default_rng(1).integers(0, 2, (4000, 6))
    result = find_structure(as_table(codes), SearchSettings(criterion="bic"))
    assert result.parents == ((),) * 6


def test_one_column_has_no_parents():
    result = find_structure(as_table(np.array([[0], [1], [1]])), SearchSettings(criterion="bic"))
    assert result.parents == ((),)


def test_a_column_of_one_value_gains_nothing():
    codes = sampled(200, 3, 0)
    codes[:, 1] = 0
    result = find_structure(as_table(codes), SearchSettings(criterion="bic"))
    assert result.parents[1] == ()
    assert all(1 not in above for above in result.parents)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"required": ((0, 1), (1, 0))}, "cycle"),
        ({"required": ((0, 1), (1, 2), (2, 0))}, "cycle"),
        ({"required": ((0, 1),), "forbidden": ((0, 1),)}, "forbidden"),
        ({"required": ((0, 2), (1, 2)), "max_parents": 1}, "max_parents"),
        ({"required": ((0, 0),)}, "required"),
        ({"forbidden": ((0, 9),)}, "forbidden"),
        ({"criterion": "mdl"}, "criterion"),
        ({"max_parents": -1}, "max_parents"),
        ({"prior_weight": 0.0, "criterion": "bdeu"}, "prior_weight"),
        ({"n_restarts": -1}, "n_restarts"),
        ({"start": "full"}, "start"),
    ],
)
def test_settings_that_cannot_be(changes, says):
    table = as_table(sampled(30, 3, 0))
    with pytest.raises(InputError, match=says):
        find_structure(table, SearchSettings(**changes))
