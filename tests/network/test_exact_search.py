"""The best net of all, and bounds on it, against all orders; the order of columns."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import network as oracle
from support.nets import net_file
from support.strategies import data
from tacit import BayesNet, InputError, Table, scan
from tacit.network.search.search import SearchSettings, _families, find_structure


def best_score(families, n, max_parents, required=(), forbidden=()):
    """Return the best score of any net, over all sets of columns that can come first."""
    needed = [{a for a, b in required if b == x} for x in range(n)]
    never = [{a for a, b in forbidden if b == x} for x in range(n)]

    def best(x, before):
        sets = (
            above
            for size in range(max_parents + 1)
            for above in itertools.combinations(sorted(before - never[x]), size)
            if needed[x] <= set(above)
        )
        return max((families(x, above) for above in sets), default=-np.inf)

    scores = {frozenset(): 0.0}
    for size in range(1, n + 1):
        for columns in map(frozenset, itertools.combinations(range(n), size)):
            scores[columns] = max(scores[columns - {x}] + best(x, columns - {x}) for x in columns)
    return scores[frozenset(range(n))]


def codes_of(n, n_records, seed, arity=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, arity, (n_records, n))
    for x in range(2, n):
        clear = (codes[:, x - 1] + codes[:, x - 2]) % arity
        codes[:, x] = np.where(rng.random(n_records) < 0.6, clear, codes[:, x])
    return codes


@pytest.mark.parametrize("score", oracle.SCORES)
@given(records=data(max_rows=60, max_columns=5, with_chosen=False, weights=None), draw=st.data())
@settings(max_examples=25)
def test_nothing_is_better(score, records, draw):
    n = len(records.arities)
    limit = draw.draw(st.integers(0, 4))
    asked = SearchSettings(
        criterion=score, max_parents=limit, algorithm="exact", n_restarts=0, random_state=0
    )
    result = find_structure(records.table(), asked)
    families = oracle.Families(records.rows, records.arities, score)
    best = best_score(families, n, limit)
    assert result.proven
    assert result.score == result.upper_bound == pytest.approx(best, rel=1e-9, abs=1e-7)
    assert families.net(result.parents) == pytest.approx(best, rel=1e-9, abs=1e-7)
    assert oracle.is_allowed(result.parents, max_parents=limit)


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_bad_start_leaves_is_found(score, seed):
    """The climb before it finds nothing: nets of one arc at most."""
    codes = codes_of(6, 400, seed)
    families = oracle.Families(codes.tolist(), [3] * 6, score)
    for required, forbidden in (((), ()), (((4, 0), (3, 1)), ((0, 2), (2, 5), (5, 2)))):
        limits = {"required": required, "forbidden": forbidden}
        best = best_score(families, 6, 3, **limits)
        asked = SearchSettings(
            criterion=score, max_parents=3, algorithm="exact", n_restarts=0, tabu=0, n_walks=0,
            swaps=False, random_state=seed, **limits,
        )  # fmt: skip
        result = find_structure(Table(codes), asked)
        assert result.proven
        assert result.score == pytest.approx(best, rel=1e-9)
        assert oracle.is_allowed(result.parents, max_parents=3, **limits)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_weights_and_missing_values(score):
    codes = codes_of(5, 300, 1)
    weights = np.random.default_rng(0).integers(0, 4, 300) / 2
    asked = SearchSettings(criterion=score, max_parents=3, algorithm="exact", random_state=0)
    result = find_structure(Table(codes).with_weights(weights), asked)
    families = oracle.Families(codes.tolist(), [3] * 5, score, weights=weights.tolist())
    assert result.score == pytest.approx(best_score(families, 5, 3), rel=1e-9)
    gone = np.random.default_rng(1).random(codes.shape) < 0.2
    rows = [
        [None if g else int(v) for v, g in zip(*pair, strict=True)]
        for pair in zip(codes, gone, strict=True)
    ]
    table = Table({str(x): [row[x] for row in rows] for x in range(5)})
    asked = SearchSettings(
        criterion=score, max_parents=3, algorithm="exact", missing="ignore", random_state=0
    )
    result = find_structure(table, asked)
    families = oracle.Families(rows, [3] * 5, score)
    assert result.proven
    assert result.score == pytest.approx(best_score(families, 5, 3), rel=1e-9)


def test_many_labels_are_counted_by_sorting():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 40, 3000)
    codes = np.column_stack([base, (base + rng.integers(0, 2, 3000)) % 40, base // 2, base % 2])
    asked = SearchSettings("aic", algorithm="exact", max_parents=3, random_state=0)
    result = find_structure(Table(codes), asked)
    families = oracle.Families(codes.tolist(), [40, 40, 20, 2], "aic")
    assert result.score == pytest.approx(best_score(families, 4, 3), rel=1e-9)


@pytest.mark.parametrize("name", ["asia", "sachs", "child"])
def test_the_default_finds_what_is_proven(name):
    table = BayesNet.read_bif(net_file(name)).sample(2000, random_state=3)
    default = BayesNet(random_state=0).fit(table)
    exact = BayesNet(algorithm="exact", random_state=1).fit(table)
    assert exact.learning_.proven
    assert exact.learning_.gap == 0
    assert "no net has a higher score" in str(exact.learning_)
    assert default.learning_.upper_bound is None
    assert default.learning_.gap is None
    assert default.learning_.score == pytest.approx(exact.learning_.score, rel=1e-10)


def test_the_number_of_threads_does_not_matter_to_proofs():
    table = Table(codes_of(11, 500, 5, 2))
    settings = [
        SearchSettings("bdeu", algorithm="exact", n_restarts=0, random_state=0, n_jobs=jobs)
        for jobs in (1, 2, 3)
    ]
    one, *others = (find_structure(table, each) for each in settings)
    for other in others:
        assert other.parents == one.parents
        assert other.score == one.score
        assert other.n_evaluated == one.n_evaluated


@pytest.mark.parametrize(("most_sets", "most_nodes"), [(500, 10**6), (4000, 10**6), (10**7, 3)])
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_a_bound_where_there_is_no_proof(score, most_sets, most_nodes):
    """The best net is not beyond it, whatever the search had to leave out."""
    table = Table(codes_of(12, 300, 5, 2))
    best = find_structure(table, SearchSettings(score, algorithm="exact", random_state=0))
    assert best.proven
    families, _ = _families(table, score, 1.0, "state")
    none = np.zeros(12 * 12, np.uint8)
    empty = [[] for _ in range(12)]
    parents, bound, proven, *_ = families.best_net(
        empty, 5, none, none, most_sets, most_nodes, 0.0, 1
    )
    assert not proven
    assert bound > best.score - 1e-9
    assert bound < (0 if score == "bic" else np.inf)
    assert oracle.is_allowed([tuple(above) for above in parents], max_parents=5)


def test_time_runs_out_before_a_proof():
    table = Table(codes_of(30, 300, 5, 2))
    net = BayesNet(algorithm="exact", n_restarts=0, max_seconds=1e-4, random_state=0).fit(table)
    assert net.learning_.out_of_time
    assert not net.learning_.proven


def test_what_exact_search_does_not_take():
    with pytest.raises(InputError, match="takes up to 64 columns, got 65"):
        BayesNet(algorithm="exact").fit(np.random.default_rng(0).integers(0, 2, (50, 65)))
    with pytest.raises(InputError, match="algorithm must be 'auto', 'climb' or 'exact'"):
        BayesNet(algorithm="best").fit({"a": [0, 1], "b": [0, 1]})
    with pytest.raises(InputError, match="n_restarts must be a number or 'auto', got 'many'"):
        BayesNet(n_restarts="many").fit({"a": [0, 1], "b": [0, 1]})


def test_exact_search_of_partitions_is_refused(tmp_path):
    Table({"a": [0, 1] * 9, "b": [0, 1] * 9}).to_frame("polars").write_parquet(
        tmp_path / "t.parquet"
    )
    with pytest.raises(InputError, match="algorithm='exact' takes records in memory"):
        BayesNet(algorithm="exact").fit(scan(tmp_path / "t.parquet"))


@pytest.mark.parametrize("algorithm", ["climb", "auto"])
def test_the_order_of_columns_does_not_matter(algorithm):
    """Nor do ties: every column has a double."""
    table = BayesNet.read_bif(net_file("asia")).sample(500, random_state=0).to_frame()
    doubles = {f"{name}_{k}": table[name] for name in table.columns for k in range(2)}
    names = list(doubles)
    first = None
    for order in (names, names[::-1], np.random.default_rng(0).permutation(names).tolist()):
        net = BayesNet(algorithm=algorithm, n_restarts=5, random_state=0).fit(
            {name: doubles[name] for name in order}
        )
        assert net.column_names_ == tuple(order)
        if first is None:
            first = net
        assert net.structural_hamming_distance(first, equivalence=False) == 0
        assert net.learning_.score == pytest.approx(first.learning_.score, rel=1e-12)


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
def test_a_column_of_one_known_value_says_which_records_count(score):
    """As a parent it leaves out records, and a family is judged by those that are left."""
    rows = [[0 if k < 10 else None, k % 2, (k + k // 10) % 2] for k in range(20)]
    table = Table({name: [row[x] for row in rows] for x, name in enumerate("abc")})
    asked = SearchSettings(
        criterion=score, algorithm="exact", missing="ignore", n_restarts=0, tabu=0, n_walks=0,
        swaps=False, random_state=0,
    )  # fmt: skip
    result = find_structure(table, asked)
    best = best_score(oracle.Families(rows, [1, 2, 2], score), 3, 5)
    assert result.proven
    assert result.score == result.upper_bound == pytest.approx(best, rel=1e-9)


def test_required_parents_with_more_cells_than_have_numbers():
    n = 32
    table = Table(np.tile(np.arange(4), 3)[:, None].repeat(n, axis=1))
    asked = SearchSettings(
        algorithm="exact", max_parents=31, n_restarts=0,
        required=[(x, 31) for x in range(31)],
        forbidden=[(y, x) for y in range(n) for x in range(31) if y != x],
    )  # fmt: skip
    result = find_structure(table, asked)
    assert result.parents == ((),) * 31 + (tuple(range(31)),)
    assert (result.proven, result.upper_bound) == (False, None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior_weight": 1e300, "criterion": "bdeu"}, "prior_weight must be"),
        ({"n_restarts": 10**30}, "n_restarts must be a whole number from 0 to"),
        ({"tabu": 10**30}, "tabu must be a whole number from 0 to"),
        ({"max_parents": 2**31}, "max_parents must be a whole number from 0 to"),
        ({"swaps": "no"}, "swaps must be True or False"),
    ],
)
@pytest.mark.parametrize("algorithm", ["climb", "exact"])
def test_settings_that_kernels_cannot_take_are_refused(settings, message, algorithm):
    with pytest.raises(InputError, match=message):
        BayesNet(algorithm=algorithm, **settings).fit({"a": [0, 1, 0, 1], "b": [0, 1, 1, 0]})
