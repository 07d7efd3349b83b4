"""The estimator of recommenders: what goes with the items that a record holds."""

from __future__ import annotations

import sys
import warnings
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from tacit.baskets.blend import blend_features, learn_weights
from tacit.baskets.item_model import Gram, LinearItems, closed_form
from tacit.baskets.item_records import as_matrix, item_schema
from tacit.baskets.neighbors import cosine_neighbors
from tacit.baskets.sparse_inverse import sparse_regressions
from tacit.baskets.state import recommender_of_state, state_of_recommender
from tacit.baskets.tuning import choose_penalty, hide_items
from tacit.errors import InputError, InputWarning
from tacit.estimator import Estimator, open_path
from tacit.machine import check_int, count_jobs
from tacit.parameters import (
    check_choice,
    check_flag,
    check_number,
    make_generator,
    store_parameters,
)
from tacit.progress import show_progress
from tacit.scale import as_partitioned
from tacit.scale.weighted_records import weighted_records
from tacit.table import Table
from tacit.table.input_spec import InputSpec
from tacit.table.inputs import Inputs, is_baskets
from tacit.tree import DependencyNetwork
from tacit.tree.network.recommend import is_one_basket, item_name, rank_items, read_basket

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy import sparse

    from tacit import store
    from tacit.baskets.tuning import HiddenItems
    from tacit.scale import PartitionedTable
    from tacit.schema import Schema

__all__ = ["Recommender"]

ALGORITHMS = ("auto", "blend", "linear", "neighbors", "popularity")
_TREE_ITEMS = 2_000  # "auto" grows trees for no more items than these
_LOG_COLUMNS, _LOG_LABELS = 10, 20  # few columns of very many labels look like a log
_PENALTY = 100.0  # where no record can be held out
_LEAST_HELD_OUT, _MOST_HELD_OUT = 1_000, 10_000


class Recommender(Estimator):
    """Recommend items to records that hold others: films to viewers, goods to baskets.

    The linear model predicts each item from all others by ridge regressions, all of them from one
    inverse of the counts of pairs (EASE). Records that are held out choose its penalty, and weigh
    it against popularity and the trees of a dependency network.

    Parameters
    ----------
    algorithm : {"auto", "blend", "linear", "neighbors", "popularity"}
        "linear" adds up weights of the items that a record holds. "neighbors" adds up cosines
        instead, and "popularity" recommends what most records hold. "blend" weighs the linear
        score, popularity and the trees of a :class:`DependencyNetwork`, as is best for records held
        out. "auto" is "blend" up to 2,000 items, and "linear" beyond.
    l2 : float or "auto", default "auto"
        The penalty of the linear model; "auto" tries several.
    fit_intercept : bool, default True
        Whether the linear model has a constant for each item, so that items that say nothing of
        each other are recommended by their popularity.
    n_neighbors : int, default 200
        Items that each item is near to, by the cosine: for "neighbors" and for :meth:`similar`.
        So many predict each item in the linear model of more than `max_dense_items` items.
    max_dense_items : int, default 20_000
        Up to so many items, the linear model has a weight for every pair. Beyond, each item is
        predicted from `n_neighbors` others only: the nearest, and those that these lack most.
    validation_fraction : float, default 0.1
        Of the records, to choose the penalty and to weigh the blend: 1,000 at least, if these are
        no more than a quarter of all records, and 10,000 at most.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    unseen : {"error", "default"}
        What to do with labels that were not there in fit.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    random_state : int, RandomState, Generator or None
        For records held out.
    n_jobs, verbose : int, optional
        Threads, on which the result does not depend; and 1 to show progress on stderr.

    Attributes
    ----------
    algorithm_ : str
        What is used: for "auto", what that came to.
    l2_ : float or None
        The penalty of the linear model.
    blend_weights_ : dict of str to float
        What the scores of a blend are multiplied by, before they are added up.
    selection_ : polars.DataFrame
        Penalties that were tried, and the nDCG of hidden items of records held out.
    counts_ : ndarray of float64
        How many records hold each item.
    schema_ : Schema
        Columns, labels and defaults.
    n_features_in_, feature_names_in_ : int, ndarray of str (for Tables and frames)

    See Also
    --------
    DependencyNetwork : trees alone; their probabilities, and what they ask about.
    evaluate_recommender : how good recommendations are.

    Notes
    -----
    An item is a value that is not its column's default: in tables of baskets a column, else a
    column and a label. Of columns that are True or False, or 1 or 0, the item is True, or 1. A
    rating of 1 and one of 5 are different items, and so are all amounts: give the ratings that
    count as liked, such as ``ratings >= 4``, or all that are there. A log of records and items
    becomes a Table by :meth:`Table.from_long`.

    References
    ----------
    H. Steck: Embarrassingly shallow autoencoders for sparse data. WWW 2019.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> names = [name for name in visits.schema.names if name not in ("region", "device")]
    >>> pages = visits.select(names)
    >>> rec = tacit.Recommender(random_state=0).fit(pages)
    >>> rec.recommend(["sports"], n=2)["item"].to_list()
    ['scores', 'home']
    >>> rec.similar("sports", n=1)["item"].to_list()
    ['scores']
    """

    _kind = "recommender"
    _input_tags = ("categorical", "sparse", "string")

    def __init__(
        self,
        algorithm: Literal["auto", "blend", "linear", "neighbors", "popularity"] = "auto",
        *,
        l2: float | Literal["auto"] = "auto",
        fit_intercept: bool = True,
        n_neighbors: int = 200,
        max_dense_items: int = 20_000,
        validation_fraction: float = 0.1,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn which items go together.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array, baskets or path
            A partitioned table gives the same weights as a Table of its records.
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.
        """
        self._check()
        if is_baskets(X, known=True):  # lists of text are no rows of labels here
            X = Table.from_baskets(X)
        inputs = Inputs.fit(self, X, None, sample_weight, kinds=self.kinds, drop=True)
        table = inputs.table(self.discretise, n_jobs=self.n_jobs)
        if table.weights is not None and not table.weights.all():
            table = table.take(np.flatnonzero(table.weights))
        spec = InputSpec.of_schema(item_schema(table.schema), inputs.remembered.origin)
        return self._learn(table.conform(spec.schema), spec)

    def _fit_partitions(self, X: PartitionedTable, y: Any = None) -> Self:
        """Learn from counts of partitions."""
        self._check()
        X = X._of_kinds(self.kinds)
        X = X.cut(self.discretise) if self.discretise is not None else X
        schema = item_schema(X.schema)
        return self._learn(X.conform(schema), InputSpec.of_schema(schema))

    def _check(self) -> None:
        """Refuse wrong parameters."""
        check_choice(self.algorithm, "algorithm", ALGORITHMS)
        check_choice(self.unseen, "unseen", ("error", "default"))
        check_flag(self.fit_intercept, "fit_intercept")
        if self.l2 != "auto":
            check_number(self.l2, "l2", 0, above=True)
        for name in ("n_neighbors", "max_dense_items"):
            check_int(getattr(self, name), name, 1)
        check_number(self.validation_fraction, "validation_fraction", 0, 1, above=True, below=True)

    def _learn(self, records: Table | PartitionedTable, spec: InputSpec) -> Self:
        schema = spec.schema
        n_items = schema.n_values
        if self.discretise == "auto" and self.kinds is None:
            _doubt_items(schema)
        if n_items == 0:
            raise InputError("X holds no item: in each column, all records have the same value")
        algorithm = self.algorithm
        if algorithm == "auto":
            algorithm = "blend" if n_items <= _TREE_ITEMS else "linear"
        rng = make_generator(self.random_state)
        counted = records.pairs(n_jobs=self.n_jobs)
        gram = Gram(counted.stored, float(counted.total))
        del counted
        self._linear: LinearItems | None = None
        self._trees: DependencyNetwork | None = None
        self._blend: NDArray[np.float64] | None = None
        self.l2_: float | None = None
        self.selection_ = pl.DataFrame(schema={"l2": pl.Float64, "ndcg": pl.Float64})
        self.counts_, self._total = gram.counts, gram.total
        self._near = cosine_neighbors(gram, int(self.n_neighbors))
        if algorithm in ("linear", "blend"):
            self._learn_linear(records, gram, algorithm == "blend", rng)
        self.algorithm_ = algorithm
        self._input = spec
        spec.note(self)
        return self

    def _learn_linear(
        self,
        records: Table | PartitionedTable,
        gram: Gram,
        blended: bool,
        rng: np.random.Generator,
    ) -> None:
        """Choose the penalty on records held out, weigh the blend, and learn from all records."""
        chosen = self.l2 != "auto"
        held_out = None
        if not chosen or blended:
            numbers = self._hold_out(weighted_records(records), rng)
            if len(numbers):
                table = records.take(numbers)
                held_out = hide_items(table, rng)
        self.l2_ = float(self.l2) if chosen else _PENALTY
        if held_out is not None and not chosen:
            self._report("choosing the penalty")
            self.l2_, tried = choose_penalty(gram, table, held_out, self.fit_intercept)
            self.selection_ = pl.DataFrame(tried, schema=self.selection_.schema, orient="row")
        if blended and gram.together.shape[0] > 1 and len(records.schema) > 1:
            self._report("growing trees")
            if held_out is not None:
                self._weigh(records, numbers, gram.without(table), held_out)
            self._trees = self._grow(records)
            if self._blend is None:  # nothing to weigh them by: linear scores, and trees for ties
                self._blend = np.array([1.0, 0.0, 0.0, 1e-3])
        self._report("learning the weights of items")
        self._linear = self._regress(gram, overwrite=True)

    def _hold_out(self, there: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        n = len(there)
        size = round(float(self.validation_fraction) * n)
        size = min(max(size, min(_LEAST_HELD_OUT, n // 4)), _MOST_HELD_OUT, max(n - 1, 0))
        return there[np.sort(rng.choice(n, size, replace=False))]

    def _regress(self, gram: Gram, overwrite: bool = False) -> LinearItems:
        """Return the linear model of counts, which are used up with `overwrite`."""
        assert self.l2_ is not None
        n = gram.together.shape[0]
        if n > self.max_dense_items:
            return sparse_regressions(
                gram, self._near, self.l2_, self.fit_intercept, int(self.n_neighbors),
                count_jobs(self.n_jobs),
            )  # fmt: skip
        with show_progress("items", n, bool(self.verbose)) as report:
            return closed_form(gram, self.l2_, self.fit_intercept, report, overwrite)

    def _grow(self, records: Table | PartitionedTable) -> DependencyNetwork:
        network = DependencyNetwork(discretise=None, n_jobs=self.n_jobs, verbose=self.verbose)
        return network.fit(records)

    def _weigh(
        self,
        records: Table | PartitionedTable,
        numbers: NDArray[np.int64],
        rest: Gram,
        held_out: HiddenItems,
    ) -> None:
        """Weigh the models of the other records by the items of those held out."""
        others = np.delete(np.arange(records.n_records), numbers)
        trees = self._grow(records.take(others))
        linear = self._regress(rest)
        features = blend_features(
            linear.scores(held_out.baskets), rest.means, trees._predict_items(held_out.baskets)
        )
        self._blend = learn_weights(
            features, held_out.allowed(), held_out.hidden, held_out.baskets.weights
        )

    def _report(self, what: str) -> None:
        if self.verbose:
            print(what, file=sys.stderr)

    @property
    def schema_(self) -> Schema:
        """Columns, labels and defaults."""
        return self._input.schema

    @property
    def blend_weights_(self) -> dict[str, float]:
        """What the scores of a blend are multiplied by."""
        check_is_fitted(self, "algorithm_")
        if self._blend is None:
            return {}
        names = ("linear", "log linear", "log popularity", "log trees")
        return dict(zip(names, self._blend.tolist(), strict=True))

    # Recommending

    def _read(self, X: Any) -> Table:
        check_is_fitted(self, "algorithm_")
        inputs = Inputs.read(self, X, self._input, absent=self.absent)
        return inputs.table(unseen=self.unseen, n_jobs=self.n_jobs)

    def _scores(self, table: Table) -> NDArray[np.float64]:
        """Return the score of each item for each record."""
        popularity = self.counts_ / self._total
        if self.algorithm_ == "popularity":
            return np.tile(popularity, (table.n_records, 1))
        if self.algorithm_ == "neighbors":
            return np.asarray((as_matrix(table) @ self._near.T).toarray())
        assert self._linear is not None
        linear = self._linear.scores(table)
        if self._blend is None or self._trees is None:
            return linear
        features = blend_features(linear, popularity, self._trees._predict_items(table))
        total = np.zeros_like(linear)
        for weight, feature in zip(self._blend.tolist(), features, strict=True):
            total += weight * feature
        return total

    def recommend(self, basket: Any, n: int = 10) -> pl.DataFrame:
        """Rank the items that a basket does not hold.

        Items of columns that the basket has something of, and missing values, are not recommended.

        Parameters
        ----------
        basket : sequence of items, mapping, Table, frame, array or sparse array
            One basket or many, as for :meth:`DependencyNetwork.recommend`: of lists of items, those
            that were not there in `fit` are passed over with a warning.
        n : int, default 10
            How many items to return, at most.

        Returns
        -------
        polars.DataFrame
            item and score, the best first; of many baskets also record and rank.
        """
        check_is_fitted(self, "algorithm_")
        most = check_int(n, "n", 1)
        if as_partitioned(basket) is not None:
            raise InputError(
                "basket: those of a partitioned table come in partitions; take the recommendations "
                "of each, from X.map(tacit.scale.Predict(model, 'recommend'))"
            )
        if isinstance(basket, PathLike):
            basket = open_path(basket)
        one = is_one_basket(basket)
        table = read_basket(self.schema_, basket) if one else self._read(basket)
        ranked = rank_items(table, self._scores, most, "score")
        return ranked.select("item", "score") if one else ranked

    def similar(self, item: Any, n: int = 10) -> pl.DataFrame:
        """Return the items that occur in the same records as an item, by their cosine.

        Parameters
        ----------
        item : str, int or pair
            A column by name or position, an item as it is written in results, or a pair of a
            column and a label.
        n : int, default 10
            How many items to return, at most; no more than `n_neighbors` are known.

        Returns
        -------
        polars.DataFrame
            item, similarity and records (that hold it); the nearest first.
        """
        check_is_fitted(self, "algorithm_")
        most = check_int(n, "n", 1)
        value = self._item(item)
        row = self._near[[value]].tocoo()
        order = np.lexsort((row.col, -row.data))[:most]
        near = row.col[order].tolist()
        return pl.DataFrame(
            {
                "item": pl.Series([item_name(self.schema_, v) for v in near], dtype=pl.String),
                "similarity": row.data[order],
                "records": self.counts_[near],
            }
        )

    def explain(self, basket: Any, item: Any) -> pl.DataFrame:
        """Return which items of a basket speak for another item, and how much.

        What an item contributes is what the score loses without it. In linear models and those of
        neighbours this is its weight, and the contributions add up to the score; in a blend the
        last row has what is left to add.

        Parameters
        ----------
        basket : sequence of items or mapping
            One basket, as for :meth:`recommend`.
        item : str, int or pair
            As for :meth:`similar`.

        Returns
        -------
        polars.DataFrame
            item and contribution, the greatest first. The last row, of which the item is None, is
            what the score is beyond them.
        """
        check_is_fitted(self, "algorithm_")
        value = self._item(item)
        one = is_one_basket(basket)
        table = read_basket(self.schema_, basket) if one else self._read(basket)
        if table.n_records != 1:
            raise InputError(f"basket must be one record, got {table.n_records:,}")
        held = table.values.astype(np.int64)
        if value in held:
            held = held[held != value]
        lengths = np.full(len(held) + 1, max(len(held) - 1, 0))
        lengths[0] = len(held)
        kept = [held, *(np.delete(held, k) for k in range(len(held)))]
        parts = np.concatenate(kept).astype(table.values.dtype)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        scores = self._scores(Table.from_stored(self.schema_, indptr, parts))[:, value]
        contributions = scores[0] - scores[1:]
        order = np.lexsort((held, -contributions))
        names = [item_name(self.schema_, int(v)) for v in held[order]]
        rest = scores[0] - contributions.sum()
        return pl.DataFrame(
            {
                "item": pl.Series([*names, None], dtype=pl.String),
                "contribution": np.append(contributions[order], rest),
            }
        )

    def _item(self, item: Any) -> int:
        """Return the value id of an item."""
        try:
            found = read_basket(self.schema_, [item])
        except InputError as error:
            raise InputError(f"item{str(error).removeprefix('basket')}") from None
        if len(found.values) != 1:
            raise InputError(f"item: {item!r} is what most records have, and no item")
        return int(found.values[0])

    # Showing and keeping

    def to_frame(self) -> pl.DataFrame:
        """Return the items, the most popular first: item, records and the nearest item.

        Columns are item, records (that hold it), nearest (the item most similar to it) and
        similarity (their cosine).
        """
        check_is_fitted(self, "algorithm_")
        order = np.lexsort((np.arange(len(self.counts_)), -self.counts_))
        names = [item_name(self.schema_, v) for v in range(len(self.counts_))]
        nearest, similarity = _nearest(self._near)
        return pl.DataFrame(
            {
                "item": pl.Series([names[v] for v in order.tolist()], dtype=pl.String),
                "records": self.counts_[order],
                "nearest": pl.Series(
                    [names[v] if v >= 0 else None for v in nearest[order].tolist()],
                    dtype=pl.String,
                ),
                "similarity": similarity[order],
            }
        )

    def to_text(self, top: int = 10) -> str:
        """Return what is recommended by, and the most popular items with their nearest ones.

        Parameters
        ----------
        top : int, default 10
            How many items to list.
        """
        check_is_fitted(self, "algorithm_")
        most = check_int(top, "top", 0)
        lines = [f"{self.algorithm_} recommender of {len(self.counts_):,} items"]
        lines[0] += f", from {self._total:,.10g} records"
        if self.l2_ is not None:
            lines.append(f"penalty: {self.l2_:g}")
        if self.blend_weights_:
            said = ", ".join(f"{w:.3g} × {name}" for name, w in self.blend_weights_.items())
            lines.append(f"score: {said}")
        frame = self.to_frame().head(most)
        for name, records, nearest, cosine in frame.iter_rows():
            near = "" if nearest is None else f"; nearest: {nearest} ({cosine:.2f})"
            lines.append(f"  {name}: {records:,.10g} records{near}")
        return "\n".join(lines)

    def to_state(self) -> store.State:
        """Return the arrays of a file."""
        return state_of_recommender(self)

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a recommender of a file's arrays, after checking that they go together."""
        return recommender_of_state(cls, state)


def _doubt_items(schema: Schema) -> None:
    """Warn of items that nobody means: numbers, such as ratings, and the columns of a log."""
    distinct = {id(labels): labels for labels in schema.labels}
    numbers = {k for k, x in distinct.items() if len(x) > 2 and x.kind == "numeric"}
    few_columns = len(schema) <= _LOG_COLUMNS
    if not numbers and not (few_columns and schema.n_values > _LOG_LABELS * len(schema)):
        return
    column = next((k for k, x in enumerate(schema.labels) if id(x) in numbers), 0)
    example = item_name(schema, schema.values_of(column)[0])
    warnings.warn(
        InputWarning(
            f"X: each label of a column is an item of its own, {example!r} for one. Make a log of "
            "records and items a Table with tacit.Table.from_long(X, record, item); of ratings or "
            "amounts, give those that count, such as X >= 4. Setting kinds or discretise says that "
            "labels are meant"
        ),
        stacklevel=4,
    )


def _nearest(near: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nearest item of each, or -1, and the cosine."""
    n = near.shape[0]
    rows = near.tocoo()
    order = np.lexsort((rows.col, -rows.data, rows.row))
    row = rows.row[order]
    first = np.ones(len(row), np.bool_)
    first[1:] = row[1:] != row[:-1]
    nearest, cosine = np.full(n, -1, np.int64), np.zeros(n)
    nearest[row[first]] = rows.col[order][first]
    cosine[row[first]] = rows.data[order][first]
    return nearest, cosine
