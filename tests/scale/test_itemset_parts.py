"""Itemsets of partitions: the same as those of all records in one place."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import FrequentItemsets, InputError, Table
from tacit.baskets.gathering import gather_baskets
from tacit.baskets.items import Items
from tacit.baskets.mining import Question
from tacit.scale import of_tables, partition


def make_table(n=400, seed=0, weights=None):
    """Draw records: some values occur in the last quarter of them only."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "plan": rng.choice(["free", "pro", "team"], n, p=[0.6, 0.3, 0.1]),
            "paid": rng.random(n) < 0.7,
            "new": np.where(np.arange(n) < 3 * n // 4, "old", rng.choice(["p", "q"], n)),
            **{f"i{k}": (rng.random(n) < 0.9 / (k + 1)).astype(int) for k in range(8)},
            "always": [True] * n,
        }
    )
    return Table(frame, weights=weights)


TABLE = make_table()
QUESTION = Question(0.01, "all", 0, (1, None), [], [], [], 2**30, 1)


def assert_same(settings, table, parts):
    here, there = FrequentItemsets(**settings).fit(table), FrequentItemsets(**settings).fit(parts)
    assert there.to_frame().equals(here.to_frame())
    assert there.n_records_ == here.n_records_
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()
    assert len(here.itemsets_) > 0
    return there


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
@pytest.mark.parametrize("min_support", [0.02, 13, 0.3])
@pytest.mark.parametrize("n_partitions", [1, 3, 7])
def test_same_as_in_memory(kind, min_support, n_partitions):
    settings = {"min_support": min_support, "kind": kind}
    assert_same(settings, TABLE, partition(TABLE, n_partitions))


@pytest.mark.parametrize(
    "settings",
    [
        {"must_hold": ["always", ("plan", "pro")]},
        {"must_not_hold": ["always", ("new", "p")]},
        {"must_hold": ["paid"], "must_not_hold": ["i1"], "one_of": [["i2", "i3"]]},
        {"must_hold": [("paid", True)], "n_itemsets": 9, "kind": "all"},
        {"min_size": 2, "max_size": 3},
        {"defaults": True, "min_support": 0.2},
        {"defaults": True, "min_support": 0.2, "must_hold": [("plan", "free")], "kind": "maximal"},
    ],
)
def test_constraints(settings):
    assert_same({"min_support": 0.03} | settings, TABLE, partition(TABLE, 5))


@pytest.mark.parametrize("defaults", [False, True])
@pytest.mark.parametrize("unit", [1.0, 0.25, 0.1])
def test_weights_and_records_without(unit, defaults):
    weights = np.random.default_rng(1).integers(0, 4, 400) * unit
    weights[:90] = 0  # all of a partition
    table = make_table(weights=weights)
    settings = {"min_support": 0.2 if defaults else 0.03, "defaults": defaults}
    fitted = assert_same(settings, table, partition(table, 5))
    assert fitted.n_records_ == pytest.approx(weights.sum())
    assert_same(settings | {"must_hold": ["paid"]}, table, partition(table, 5))
    rules = FrequentItemsets(**settings).fit(table).rules(0.6)
    assert fitted.rules(0.6).to_frame().equals(rules.to_frame())


def test_nothing_but_weights_of_zero():
    table = make_table(weights=np.zeros(400))
    with pytest.raises(InputError, match="weights: all of them are 0"):
        FrequentItemsets().fit(partition(table, 3))
    with pytest.raises(InputError, match="sample_weight: X is a partitioned table"):
        FrequentItemsets().fit(partition(TABLE, 3), None, np.ones(400))


def test_tables_that_were_read_apart():
    halves = [TABLE.take(np.arange(200)), TABLE.take(np.arange(200, 400))]
    assert_same({"min_support": 0.05}, TABLE, of_tables(halves))


def as_counts(fitted):
    return {frozenset(items): count for items, _, _, count in fitted.to_frame().iter_rows()}


def test_files(tmp_path):
    frame = TABLE.to_frame("polars")
    for k in range(4):
        frame[100 * k : 100 * (k + 1)].write_parquet(tmp_path / f"{k}.parquet")
    parts = tacit.scan(str(tmp_path / "*.parquet"))
    here = FrequentItemsets(min_support=0.03).fit(frame)
    there = FrequentItemsets(min_support=0.03).fit(parts)
    assert as_counts(there) == as_counts(here)
    kinds = FrequentItemsets(min_support=0.03, kinds={"i0": "categorical"}).fit(parts)
    assert as_counts(kinds) == as_counts(here)


def test_numbers_are_cut():
    rng = np.random.default_rng(2)
    table = Table(pl.DataFrame({"x": rng.normal(size=300), "b": rng.random(300) < 0.4}))
    settings = {"min_support": 0.03, "discretise": tacit.Edges((-1, 0, 1)), "defaults": True}
    assert_same(settings, table, partition(table, 4))


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
@pytest.mark.parametrize("memory", [16_000, 20_000, 60_000])
def test_same_within_a_limit_of_memory(kind, memory):
    # First items are searched in groups, and values go by way of a file.
    settings = {"min_support": 0.01, "kind": kind}
    assert_same(settings, TABLE, partition(TABLE, 8, memory=memory))
    assert_same(settings | {"must_hold": ["paid"]}, TABLE, partition(TABLE, 8, memory=memory))


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
def test_an_item_whose_records_exceed_the_limit_is_refused(kind):
    with pytest.raises(InputError, match=r"^memory: the records with '.*' .* would take \d.*B whi"):
        FrequentItemsets(min_support=0.01, kind=kind).fit(partition(TABLE, 8, memory=5_500))


def test_the_limit_of_memory():
    parts = partition(TABLE, 20, memory=3_500)
    with pytest.raises(InputError, match=r"min_support: where .* limit of 3\.5 kB; raise one"):
        FrequentItemsets(min_support=0.01).fit(parts)
    few = FrequentItemsets(min_support=0.95).fit(parts)  # no record has two
    assert len(few.itemsets_) >= 1
    with pytest.raises(InputError, match="min_support: the itemsets would take more than 50 B"):
        FrequentItemsets(min_support=0.01, memory=50).fit(partition(TABLE, 4))


def test_records_of_one_frequent_value_are_counted_only():
    rng = np.random.default_rng(4)
    lists = [[f"i{k}" for k in rng.integers(0, 12, 1 + r % 3)] for r in range(300)] + [[]] * 40
    table = Table.from_baskets(lists)
    gathered = gather_baskets(partition(table, 6), Items(table.schema, False), QUESTION)
    lengths = np.diff(gathered.indptr)
    assert gathered.n_beside == 340 - len(lengths) > 100
    assert lengths.min() >= 2
    assert gathered.values.dtype == np.uint16
    assert gathered.total == 340
    for kind in ("all", "closed", "maximal"):
        assert_same({"min_support": 0.005, "kind": kind}, table, partition(table, 6))


def test_what_was_learnt_stays_if_it_fails():
    fitted = FrequentItemsets(min_support=0.1).fit(partition(TABLE, 2))
    sets = fitted.itemsets_
    fitted.set_params(must_hold=["nothing"])
    with pytest.raises(InputError, match="must_hold: there is no column 'nothing'"):
        fitted.fit(partition(TABLE, 2))
    assert fitted.itemsets_ is sets


def test_a_frame_of_dask():
    frames = pytest.importorskip("dask.dataframe")
    frame = TABLE.to_frame("pandas")
    there = FrequentItemsets(min_support=0.03).fit(frames.from_pandas(frame, npartitions=3))
    assert as_counts(there) == as_counts(FrequentItemsets(min_support=0.03).fit(frame))


def test_saving(tmp_path):
    fitted = FrequentItemsets(min_support=0.05).fit(partition(TABLE, 3))
    fitted.save(tmp_path / "sets.tacit")
    assert tacit.load(tmp_path / "sets.tacit").to_text() == fitted.to_text()
