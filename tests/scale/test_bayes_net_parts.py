"""Bayes nets of records in partitions are those of all records in memory."""

import pickle
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.nets import net_file, sprinkler
from support.partitions import on_threads
from support.strategies import JOBS, data
from tacit.network.parameters.table_counts import ExpectedTables, FamilyTables
from tacit.network.search.family_counts import FamilyCounts
from tacit.network.search.search import (
    SearchSettings,
    arc_gains,
    family_score,
    find_structure,
    network_score,
)
from tacit.scale import Partition, of_tables, partition
from tacit.scale.partitions import Partitions, PartitionSource, Reader

SCORES = ["bic", "aic", "bdeu", "bds", "k2", "penalized"]


def chained(n_records=900, n=7, arity=3, seed=0, missing=0.0):
    """Columns that depend on those before them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, arity, (n_records, n))
    for c in range(1, n):
        from_ = codes[:, rng.integers(0, c)] + codes[:, rng.integers(0, c)]
        codes[:, c] = np.where(rng.random(n_records) < 0.6, from_ % arity, codes[:, c])
    gone = rng.random(codes.shape) < missing
    columns = {
        f"c{c}": [None if lost else int(x) for x, lost in zip(codes[:, c], gone[:, c], strict=True)]
        for c in range(n)
    }
    return tacit.Table(columns)


def assert_same(one, other, exact=True):
    """Compare nets, and how they were found."""
    assert one.parents_ == other.parents_
    assert one.schema_ == other.schema_
    same = np.array_equal if exact else np.allclose
    assert all(same(a, b) for a, b in zip(one.tables_, other.tables_, strict=True))
    if getattr(one, "learning_", None) is None:
        return
    assert same(one.learning_.family_scores, other.learning_.family_scores)
    assert one.learning_.n_evaluated == other.learning_.n_evaluated
    assert one.learning_.n_moves == other.learning_.n_moves
    assert [step[:2] for step in one.learning_.trace] == [
        step[:2] for step in other.learning_.trace
    ]


def learn(records, **options):
    return tacit.BayesNet(**({"n_restarts": 2, "random_state": 0} | options)).fit(records)


@pytest.fixture(scope="module")
def table():
    return chained()


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n", [1, 4, 13])
def test_the_same_as_in_memory(table, score, n):
    parts = partition(table, n)
    result = learn(parts, criterion=score)
    assert_same(result, learn(table, criterion=score))
    assert result.learning_.n_passes + 1 == parts.cost.passes  # the tables are one more
    assert result.learning_.n_records == table.n_records


@pytest.mark.parametrize(
    "options",
    [
        {"max_parents": 1},
        {"max_parents": 0},
        {"max_parents": 3, "tabu": 0, "n_walks": 0},
        {"swaps": False, "n_restarts": 0},
        {"start": "branching"},
        {"required": [("c0", "c6"), ("c1", "c6"), ("c6", "c3")]},
        {"forbidden": [("c0", "c1"), ("c1", "c0")], "required": [("c2", "c0")]},
        {"parameters": "mle"},
        {"parameters": "k2", "prior_weight": 0.5},
        {"random_state": 3, "n_restarts": 5},
    ],
    ids=str,
)
def test_any_way_of_searching(table, options):
    assert_same(learn(partition(table, 5), **options), learn(table, **options))


@pytest.mark.parametrize("missing", ["state", "ignore"])
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_missing_values(missing, score):
    table = chained(500, 6, missing=0.15, seed=4)
    options = {"missing": missing, "criterion": score, "n_restarts": 1}
    assert_same(learn(partition(table, 4), **options), learn(table, **options))


def test_weights():
    table = chained(600, 6, seed=2)
    rng = np.random.default_rng(0)
    whole = table.with_weights(rng.integers(0, 4, 600).astype(float))
    # In memory, records of the weight 0 are left out, so that sums are rounded differently.
    assert_same(learn(partition(whole, 5)), learn(whole), exact=False)
    shares = table.with_weights(rng.random(600))
    in_memory, parts = learn(shares), learn(partition(shares, 5))
    assert parts.learning_.score == pytest.approx(in_memory.learning_.score, rel=1e-12)
    assert_same(parts, in_memory, exact=False)


@pytest.mark.parametrize("n_jobs", JOBS[1:3])
def test_threads_make_no_difference(table, n_jobs):
    assert_same(learn(partition(table, 3), n_jobs=n_jobs), learn(table))


@settings(max_examples=30)
@given(
    data(max_rows=24, max_columns=4, with_chosen=False),
    st.sampled_from(SCORES),
    st.sampled_from(["state", "ignore"]),
    st.data(),
)
def test_any_cut(records, score, missing, draw):
    table = records.table()
    if not records.total():
        return
    cuts = draw.draw(st.sets(st.integers(0, table.n_records), max_size=4))
    ends = sorted({0, table.n_records, *cuts})
    parts = of_tables([table.take(np.arange(a, b)) for a, b in pairwise(ends)])
    options = SearchSettings(
        criterion=score, n_restarts=1, max_parents=2, missing=missing, random_state=0
    )
    one, other = find_structure(parts, options), find_structure(table, options)
    assert one.parents == other.parents
    assert np.array_equal(one.family_scores, other.family_scores)
    assert one.n_evaluated == other.n_evaluated


def test_partitions_of_one_record():
    table = chained(30, 4)
    assert_same(learn(partition(table, 30)), learn(table))


def test_a_label_that_one_partition_has(table):
    codes = table.to_numpy()
    codes[890:, 4] = 9
    table = tacit.Table(codes)
    assert_same(learn(partition(table, 9)), learn(table))


def test_little_memory_takes_more_passes_to_the_same_net(table):
    plenty, little = partition(table, 3), partition(table, 3, memory=12_000)
    assert_same(learn(little), learn(plenty))
    assert little.cost.passes > 2 * plenty.cost.passes


def test_columns_that_do_not_fit_in_one_pass_together():
    """A family whose counts with all others are too many is counted with some of them at a time."""
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 60, 800)
    noisy = [(wide + rng.integers(0, 30, 800)) // 2 for _ in range(3)]
    table = tacit.Table(np.column_stack([wide, wide // 12, *noisy]))
    options = {"max_parents": 2, "n_restarts": 0, "criterion": "k2", "discretise": None}
    asked = []
    little = partition(table, 3, memory=6_000_000)
    reduce = little.reduce
    little.reduce = lambda statistic, **how: asked.append(statistic) or reduce(statistic, **how)
    assert_same(learn(little, **options), learn(table, **options))
    parts = [
        statistic
        for statistic in asked
        if isinstance(statistic, FamilyCounts) and (statistic.begins > 0).any()
    ]
    assert any(len(statistic.parents) for statistic in parts)


def test_few_passes_are_enough():
    net = tacit.BayesNet.read_bif(net_file("alarm"))
    table = net.sample(2000, random_state=0)
    parts = partition(table, 4)
    result = learn(parts, n_restarts=3)
    assert_same(result, learn(table, n_restarts=3))
    assert result.learning_.n_moves > 150
    assert result.learning_.n_passes < result.learning_.n_moves / 5


def test_scores_of_given_nets(table):
    parts = partition(table, 4)
    assert family_score(parts, 3, [1, 0], "bds") == family_score(table, 3, [1, 0], "bds")
    parents = [(), (0,), (0, 1), (2,), (), (4,), (1, 3, 5)]
    assert network_score(parts, parents, "k2") == network_score(table, parents, "k2")
    assert parts.cost.passes == 2
    assert np.array_equal(arc_gains(parts, "bdeu"), arc_gains(table, "bdeu"))
    assert parts.cost.passes == 3


def test_time_that_is_up_leaves_the_best_net_so_far(table):
    result = learn(partition(table, 4), n_restarts=10_000, max_seconds=0.3)
    assert result.learning_.out_of_time
    assert result.learning_.score == pytest.approx(
        network_score(table, result.parents_, "bic"), rel=1e-12
    )


# What goes wrong in a pass


@dataclass(frozen=True)
class BadSource(PartitionSource):
    """A partition that can be read only so often."""

    table: tacit.Table
    left: list
    error: BaseException
    _: KW_ONLY
    name: str = "part 1"
    disk_bytes: int = 0
    load_bytes: int = 0
    kept_bytes: int = 1 << 60


class BadReader(Reader):
    def load(self, piece, n_jobs):
        if isinstance(piece, BadSource):
            piece.left[0] -= 1
            if piece.left[0] < 0:
                raise piece.error
        return piece.table


def failing(table, left, error):
    """Return two partitions, one of which fails after some passes."""
    parts = partition(table, 2)
    held = parts._metadata.partitions
    pieces = (held.sources[0], BadSource(held.sources[1].table, [left], error))
    again = Partitions(pieces, BadReader(), held.firsts, keep=False)
    object.__setattr__(parts._metadata, "partitions", again)
    return parts


@pytest.mark.parametrize("left", [0, 1, 3])
def test_an_error_in_a_pass_comes_as_it_is(table, left):
    error = tacit.FileError("part-1.parquet", "row group 3 is damaged")
    with pytest.raises(tacit.FileError, match="row group 3 is damaged"):
        learn(failing(table, left, error))


@pytest.mark.parametrize(("seed", "criterion"), [(2, "bdeu"), (10_011, "bic")])
def test_guesses_that_contradict_each_other_come_to_an_end(seed, criterion):
    """Sums modulo 2 of columns: what is guessed of a family depends on the way to it."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(200, 3000)), int(rng.integers(4, 14))
    X = np.zeros((n, m), int)
    for j in range(m):
        kind = rng.integers(0, 4)
        if j < 2 or kind == 0:
            X[:, j] = rng.random(n) < rng.uniform(0.3, 0.7)
        elif kind == 1:
            X[:, j] = X[:, rng.integers(j)]
        else:
            parents = rng.choice(j, min(j, int(rng.integers(2, 4))), replace=False)
            X[:, j] = X[:, parents].sum(1) % 2
        flipped = rng.random(n) < rng.uniform(0.02, 0.35)
        X[:, j] = np.where(flipped, 1 - X[:, j], X[:, j])
    X = X[:, rng.permutation(m)]
    records = tacit.Table({f"c{i:02d}": X[:, i] for i in range(m)})
    options = {"n_restarts": 3, "random_state": seed, "criterion": criterion}
    assert_same(learn(partition(records, 2), **options), learn(records, **options))


def test_ctrl_c_in_a_pass_leaves_the_best_net_so_far(table):
    parts = failing(table, 2, KeyboardInterrupt())
    result = find_structure(parts, SearchSettings(n_restarts=50, random_state=0))
    assert result.interrupted
    assert sum(map(len, result.parents)) > 0
    assert result.score == pytest.approx(network_score(table, result.parents, "bic"), rel=1e-12)


def test_ctrl_c_in_the_first_pass_leaves_nothing(table):
    with pytest.raises(KeyboardInterrupt):
        learn(failing(table, 0, KeyboardInterrupt()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discretise": {"c9": 3}}, "discretise: there is no column 'c9'"),
        ({"criterion": "best"}, "criterion must be 'bic'"),
        ({"required": [("c0", "c9")]}, "required"),
        ({"required": [("c0", "c1"), ("c1", "c0")]}, "cycle"),
    ],
)
def test_bad_input(table, options, message):
    with pytest.raises(tacit.InputError, match=message):
        learn(partition(table, 2), **options)


def test_weights_that_are_all_zero(table):
    parts = partition(table.with_weights(np.zeros(900)), 2)
    with pytest.raises(tacit.InputError, match="weights: those of all records are zero"):
        learn(parts)
    model = tacit.Branching()
    with pytest.raises(tacit.InputError, match="weights: those of all records are zero"):
        model.fit(parts)
    assert not hasattr(model, "parents_")


# Tables, scores, branchings


@pytest.mark.parametrize("parameters", ["bdeu", "k2", "mle"])
def test_tables_take_one_pass(table, parameters):
    arcs = [("c0", "c1"), ("c0", "c2"), ("c1", "c2")]
    parts = partition(table, 5)
    result = tacit.BayesNet.from_arcs(parts, arcs, parameters=parameters)
    assert parts.cost.passes == 1
    whole = tacit.BayesNet.from_arcs(table, arcs, parameters=parameters)
    assert_same(result, whole)
    assert_same(whole.fit_parameters(parts, parameters), whole.fit_parameters(table, parameters))
    assert parts.cost.passes == 2


def test_labels_in_another_order():
    net = sprinkler()
    drawn = net.sample(300, random_state=1).to_frame()
    turned = tacit.Table(
        {name: drawn[name].to_list()[::-1] for name in ("grass", "rain", "sprinkler")}
    )
    assert turned.schema.labels != net.schema_.labels or turned.schema.names != net.schema_.names
    parts = partition(turned, 3)
    assert_same(net.fit_parameters(parts), net.fit_parameters(turned))
    assert net.log_likelihood(parts) == pytest.approx(net.log_likelihood(turned), rel=1e-12)
    assert np.array_equal(net.score_samples(parts), net.score_samples(turned))


@pytest.mark.parametrize("missing", ["ignore", "em"])
@pytest.mark.parametrize("weighted", [False, True])
def test_parameters_where_values_are_missing(missing, weighted):
    table = chained(300, 4, missing=0.2, seed=5)
    if weighted:
        table = table.with_weights(np.random.default_rng(1).random(300))
    columns = {f"c{c}": [0, 1, 2] for c in range(4)}
    uniform = {"c0": np.ones(3) / 3, "c1": np.ones((3, 3)) / 3, "c2": np.ones((3, 3)) / 3}
    net = tacit.BayesNet.from_tables(
        columns, {"c1": ["c0"], "c2": ["c1"]}, uniform | {"c3": np.ones(3) / 3}
    )
    parts = partition(table, 4)
    one = net.fit_parameters(parts, missing=missing, max_iter=5, tol=0.0)
    other = net.fit_parameters(table, missing=missing, max_iter=5, tol=0.0)
    for a, b in zip(one.tables_, other.tables_, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert parts.cost.passes == (1 if missing == "ignore" else 6)
    assert one.score(parts) == pytest.approx(one.score(table), rel=1e-12)


def test_a_label_that_the_net_does_not_know():
    table = tacit.Table(
        {"rain": ["no"] * 6 + ["hail"], "sprinkler": ["off"] * 7, "grass": ["dry"] * 7}
    )
    with pytest.raises(tacit.InputError, match="'hail' at record 6"):
        sprinkler().fit_parameters(partition(table, 3))


@pytest.mark.parametrize("criterion", ["bdeu", "bic", "k2"])
def test_branching(table, criterion):
    parts = partition(table, 4)
    result = tacit.Branching(criterion).fit(parts)
    assert parts.cost.passes == 3
    whole = tacit.Branching(criterion).fit(table)
    assert np.array_equal(result.parent_, whole.parent_)
    assert np.array_equal(result.gains_, whole.gains_)
    assert result.score_ == whole.score_
    assert result.feature_names_in_.tolist() == whole.feature_names_in_.tolist()
    assert_same(result, whole)
    assert result.score(parts) == pytest.approx(whole.score(table), rel=1e-12)
    assert np.array_equal(result.score_samples(parts), whole.score_samples(table))


def test_numbers_are_cut_as_in_memory(table):
    parts, how = partition(table, 3), {"discretise": "frequency"}
    assert_same(learn(parts, **how), learn(table, **how))
    one, other = tacit.Branching(**how).fit(parts), tacit.Branching(**how).fit(table)
    assert_same(one, other)
    assert one.schema_ != table.schema


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"discretise": {"c9": 3}}, {}, "discretise"),
        ({}, {"sample_weight": np.ones(900)}, "sample_weight.*tacit.scan"),
    ],
)
def test_bad_input_of_branchings(table, options, arguments, message):
    with pytest.raises(tacit.InputError, match=message):
        tacit.Branching(**options).fit(partition(table, 2), **arguments)


def test_statistics_are_small_and_travel(table):
    schema = table.schema
    ints = [np.array(x, np.int64) for x in ([3, 0], [0, 2, 2], [0, 5], [0, 2], [7, 4])]
    families = FamilyCounts(schema.offsets, np.full(7, -1), *ints)
    tables = FamilyTables(schema, ((), (0,), (), (), (), (), ()))
    expected = ExpectedTables(schema, tables.parents, tables.partial(Partition(table, 0, 0, 1)))
    for statistic in (families, tables, expected):
        statistic.partial(Partition(table, 0, 0, 1))
        text = pickle.dumps(statistic)
        assert len(text) < 6000
        again = pickle.loads(text)
        a, b = (each.partial(Partition(table, 0, 0, 1)) for each in (statistic, again))
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_on_a_cluster(table):
    parts = partition(table, 6)
    with on_threads():
        net, branching = learn(parts), tacit.Branching().fit(parts)
        score = net.score(parts)
    assert_same(net, learn(table))
    assert_same(branching, tacit.Branching().fit(table))
    assert score == pytest.approx(net.score(table), rel=1e-12)
