"""How good recommendations are: items are hidden, and have to be found again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl
from scipy import stats
from sklearn.base import clone

from tacit.baskets.figures import RecommenderEvaluation
from tacit.baskets.item_records import hidden_entries, item_schema, without_entries
from tacit.errors import InputError, no_column, refuse_partitions
from tacit.estimator import open_path
from tacit.machine import check_int
from tacit.parameters import check_choice, check_number, make_generator
from tacit.progress import show_progress
from tacit.table import Table, as_table
from tacit.table.containers import as_frame
from tacit.tree.network.recommend import item_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["evaluate_recommender"]

_BASKETS = 20_000  # that are asked about together
_PROTOCOLS = ("leave_one_out", "all_but_one", "temporal")


class _Questions(NamedTuple):
    """Baskets, what is to be found for each, and which record each is of."""

    baskets: Table
    asked: NDArray[np.int64]  # the number of a basket, ascending, for each item to be found
    hidden: NDArray[np.int64]  # the item, a value id
    records: NDArray[np.int64]  # of each basket


def evaluate_recommender(
    recommenders: Any,
    X: Any,
    *,
    protocol: Literal["leave_one_out", "all_but_one", "temporal"] = "leave_one_out",
    n: int = 10,
    cv: int | None = 5,
    record: str | None = None,
    item: str | None = None,
    time: str | None = None,
    test_fraction: float = 0.2,
    level: float = 0.95,
    random_state: Any = 0,
    verbose: int = 0,
) -> RecommenderEvaluation:
    """Return how well recommenders find items that were hidden from them.

    Parameters
    ----------
    recommenders : recommender, mapping of names to recommenders, or list of them
        :class:`Recommender`, :class:`DependencyNetwork`, or whatever has `fit` and
        ``recommend(table, n)``, which returns a frame of record, rank and item.
    X : Table, frame, array, sparse array, baskets or path
        Records; or, with `record` and `item`, a log: a row for each item of a record.
    protocol : {"leave_one_out", "all_but_one", "temporal"}
        "leave_one_out" hides one item of each record that holds two or more, drawn at random.
        "all_but_one" hides each of its items in turn, and takes the mean over them. "temporal"
        hides what is later than most of the log: recommenders learn from the rows before, and have
        to find what the same records hold afterwards for the first time.
    n : int, default 10
        How many items are recommended.
    cv : int or None, default 5
        Records are cut into so many folds, and those of each are asked about a recommender that has
        learnt from the others. None takes recommenders as they are: X must then be records that
        they have not seen. Not for "temporal", where time divides the rows.
    record, item, time : str, optional
        The columns of a log; `time` for "temporal", which needs all three.
    test_fraction : float, default 0.2
        Of the rows of a log, the latest: for "temporal".
    level : float, default 0.95
        Of the intervals.
    random_state : int, RandomState, Generator or None
        For folds, and items that are hidden.
    verbose : int, default 0
        1 shows progress on stderr.

    Returns
    -------
    RecommenderEvaluation
        Hit rate, recall, nDCG and the mean reciprocal rank within the first n, with intervals over
        records; and the fraction of all items that were recommended to anyone.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> found = tacit.evaluate_recommender(
    ...     {"linear": tacit.Recommender("linear"), "popular": tacit.Recommender("popularity")},
    ...     visits,
    ...     n=3,
    ... )
    >>> found.to_frame()["recommender"].to_list()
    ['linear', 'popular']
    >>> linear, popular = found.to_frame()["hit@3"]
    >>> linear > popular
    True
    """
    check_choice(protocol, "protocol", _PROTOCOLS)
    most = check_int(n, "n", 1)
    check_number(level, "level", 0, 1, above=True, below=True)
    named = _named(recommenders)
    rng = make_generator(random_state)
    refuse_partitions(X, "evaluate_recommender")
    X = open_path(X)
    if protocol == "temporal":
        check_number(test_fraction, "test_fraction", 0, 1, above=True, below=True)
        earlier, questions, unknown = _temporal(X, record, item, time, float(test_fraction))
        splits: Iterator[tuple[Table | None, _Questions]] = iter([(earlier, questions)])
    else:
        if time is not None:
            raise InputError("time is for protocol='temporal'")
        table = _log_table(X, record, item) if record or item else _item_table(X)
        unknown = 0
        splits = _splits(table, protocol, cv, rng)
    n_splits = 1 if protocol == "temporal" or cv is None else int(cv)
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in named}
    covered: dict[str, set[str]] = {name: set() for name in named}
    n_items = 0
    with show_progress("fits", n_splits * len(named), bool(verbose), passing=True) as report:
        for train, questions in splits:
            n_items = questions.baskets.schema.n_values
            for name, given in named.items():
                model = given if train is None else clone(given).fit(train)
                found, items = _ask(model, questions, most)
                parts[name].append(found)
                covered[name] |= items
                report(1)
    per_record = {name: pl.concat(frames).sort("record") for name, frames in parts.items()}
    coverage = {name: len(items) / n_items for name, items in covered.items()}
    quantile = float(stats.norm.ppf(0.5 + level / 2))
    return RecommenderEvaluation(
        per_record, coverage, protocol, most, float(level), quantile, unknown
    )


def _named(recommenders: Any) -> dict[str, Any]:
    """Return recommenders by their names."""
    if isinstance(recommenders, Mapping):
        named = {str(name): model for name, model in recommenders.items()}
    elif isinstance(recommenders, Iterable) and not hasattr(recommenders, "recommend"):
        listed = list(recommenders)
        texts = [" ".join(str(model).split()) for model in listed]
        named = {
            text if texts.count(text) == 1 else f"{text} {k + 1}": model
            for k, (text, model) in enumerate(zip(texts, listed, strict=True))
        }
    else:
        named = {type(recommenders).__name__: recommenders}
    for name, model in named.items():
        if not hasattr(model, "recommend"):
            raise InputError(f"recommenders: {name!r} has no method recommend")
        if isinstance(model, type):
            raise InputError(f"recommenders: {name!r} is a class; make one, {model.__name__}()")
    if not named:
        raise InputError("recommenders: there are none")
    return named


def _item_table(X: Any) -> Table:
    table = as_table(X) if not isinstance(X, list | tuple) else Table.from_baskets(X)
    return table.conform(item_schema(table.schema))


def _log_table(X: Any, record: str | None, item: str | None) -> Table:
    if record is None or item is None:
        missing, other = ("record", "item") if record is None else ("item", "record")
        raise InputError(f"{missing}: a log has one, too, if it has {other}={record or item!r}")
    return Table.from_long(X, record, item)


def _splits(
    table: Table, protocol: str, cv: int | None, rng: np.random.Generator
) -> Iterator[tuple[Table | None, _Questions]]:
    """Yield the records to learn from, or None, and the questions about the others."""
    if cv is None:
        yield None, _hide(table, np.arange(table.n_records), protocol, rng)
        return
    folds = check_int(cv, "cv", 2)
    if table.n_records < folds:
        raise InputError(f"X has {table.n_records:,} records, fewer than the {folds} folds of cv")
    fold = rng.permutation(np.arange(table.n_records) % folds)
    for k in range(folds):
        questions = _hide(table, np.flatnonzero(fold == k), protocol, rng)
        yield table.take(np.flatnonzero(fold != k)), questions


def _hide(
    table: Table, numbers: NDArray[np.int64], protocol: str, rng: np.random.Generator
) -> _Questions:
    some = table.take(numbers).with_weights(None)
    entries = hidden_entries(some)
    if len(entries) == 0:
        raise InputError("X: no record to be asked about holds two items: none can be hidden")
    owner = np.searchsorted(some.indptr, entries, side="right") - 1
    if protocol == "leave_one_out":
        order = np.lexsort((rng.random(len(entries)), owner))
        first = np.ones(len(order), np.bool_)
        first[1:] = owner[order][1:] != owner[order][:-1]
        entries = np.sort(entries[order[first]])
        owner = np.searchsorted(some.indptr, entries, side="right") - 1
    baskets, hidden = without_entries(some, entries)
    return _Questions(baskets, np.arange(len(hidden)), hidden, numbers[owner])


def _temporal(
    X: Any, record: str | None, item: str | None, time: str | None, fraction: float
) -> tuple[Table, _Questions, int]:
    """Return the table of the rows before a time, and what its records hold afterwards."""
    frame, _ = as_frame(X, "X")
    for name, column in (("record", record), ("item", item), ("time", time)):
        if column is None:
            raise InputError(f"{name}: protocol='temporal' needs the column of a log")
        if column not in frame.columns:
            raise no_column(name, column, frame.columns)
    assert record is not None
    assert item is not None
    assert time is not None
    frame = frame.select(record, item, time).drop_nulls()
    times = frame[time].sort()
    if frame.height == 0:
        raise InputError("X: the log has no rows")
    cut = times[min(round((1 - fraction) * len(times)), len(times) - 1)]
    before, after = frame.filter(pl.col(time) < cut), frame.filter(pl.col(time) >= cut)
    if before.height == 0:
        raise InputError(f"{time!r}: no row is before the others; all times are the same")
    train = Table.from_long(before, record, item)
    index = train.index
    assert index is not None
    number_of = pl.DataFrame({record: index, "_number": np.arange(train.n_records)})
    items = pl.DataFrame(
        {"_item": train.schema.names, "_value": np.arange(train.schema.n_values)},
        schema_overrides={"_item": pl.String},
    )
    pairs = after.select(pl.col(record), pl.col(item).cast(pl.String).alias("_item")).unique()
    pairs = pairs.join(number_of, on=record)
    known = pairs.join(items, on="_item")
    unknown = pairs.height - known.height
    owner = np.repeat(np.arange(train.n_records), np.diff(train.indptr))
    held = pl.DataFrame({"_number": owner, "_value": train.values.astype(np.int64)})
    fresh = known.join(held, on=["_number", "_value"], how="anti").sort("_number", "_value")
    if fresh.height == 0:
        raise InputError("X: no record holds an item for the first time after the cut")
    numbers, asked = np.unique(fresh["_number"].to_numpy(), return_inverse=True)
    hidden = fresh["_value"].to_numpy().astype(np.int64)
    return train, _Questions(train.take(numbers), asked, hidden, numbers), unknown


def _ask(model: Any, questions: _Questions, n: int) -> tuple[pl.DataFrame, set[str]]:
    """Return the figures of each record, and which items were recommended."""
    schema = questions.baskets.schema
    names = pl.DataFrame(
        {"item": [item_name(schema, v) for v in range(schema.n_values)]},
        schema_overrides={"item": pl.String},
    ).with_columns(value=pl.int_range(pl.len(), dtype=pl.Int64))
    wanted = pl.DataFrame({"record": questions.asked, "value": questions.hidden})
    ranks, covered = [], set()
    for begin in range(0, questions.baskets.n_records, _BASKETS):
        end = min(begin + _BASKETS, questions.baskets.n_records)
        listed = model.recommend(questions.baskets.take(np.arange(begin, end)), n)
        covered |= set(listed["item"].unique().to_list())
        listed = listed.select(
            pl.col("record").cast(pl.Int64) + begin, pl.col("rank").cast(pl.Int64), "item"
        ).join(names, on="item")
        ranks.append(wanted.join(listed, on=["record", "value"]).select("record", "rank"))
    return _figures(questions, pl.concat(ranks), n), covered & set(names["item"])


def _figures(questions: _Questions, found: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return hit, recall, nDCG and reciprocal rank of records, from the ranks of what was found."""
    n_baskets = len(questions.records)
    basket = found["record"].to_numpy()
    rank = found["rank"].to_numpy().astype(np.float64)
    sizes = np.bincount(questions.asked, minlength=n_baskets)
    hits = np.bincount(basket, minlength=n_baskets)
    gains = 1 / np.log2(1 + np.arange(1, n + 1))
    ideal = np.concatenate(([0.0], np.cumsum(gains)))[np.minimum(sizes, n)]
    first = np.full(n_baskets, np.inf)
    np.minimum.at(first, basket, rank)
    each = pl.DataFrame(
        {
            "record": questions.records,
            "hit": (hits > 0).astype(np.float64),
            "recall": hits / sizes,
            "ndcg": np.bincount(basket, 1 / np.log2(1 + rank), n_baskets) / ideal,
            "mrr": 1 / first,
        }
    )
    return each.group_by("record").mean()
