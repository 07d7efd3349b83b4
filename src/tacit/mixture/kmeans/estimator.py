"""k-means on sparse data, as a scikit-learn estimator."""

from __future__ import annotations

import sys
import warnings
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError, no_column
from tacit.machine import check_fits, check_int, count_jobs
from tacit.mixture.cluster_model import ClusterModel
from tacit.mixture.kmeans import seeding
from tacit.mixture.kmeans.lloyd import ALGORITHMS, Lloyd, Request
from tacit.mixture.kmeans.partitioned import (
    AssignAll,
    NearestSum,
    cluster_partitions,
    mean_variance,
    take_sample,
)
from tacit.mixture.kmeans.points import NumberPoints, TablePoints
from tacit.mixture.kmeans.state import kmeans_of_state, state_of_kmeans
from tacit.mixture.kmeans.text import coordinate_names, describe
from tacit.mixture.lockstep import MIN_GAIN
from tacit.mixture.partitions import SAME_SCHEMA, SchemaAdapter, first_pass
from tacit.mixture.profile.profile import Profile
from tacit.parameters import store_parameters
from tacit.plot.html import text_html
from tacit.scale import PartitionedTable, as_partitioned
from tacit.table import Table
from tacit.table.input_spec import InputSpec, Numbers, array_names
from tacit.table.inputs import Inputs, read_sample_weight, weigh
from tacit.table.one_hot import number_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit import store
    from tacit.mixture.kmeans.lloyd import Clustering, Iteration
    from tacit.mixture.kmeans.points import Points
    from tacit.schema import Schema

__all__ = ["KMeans"]


class KMeans(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterModel,
):
    """Divide records into clusters around centres, by Lloyd's algorithm.

    An iteration takes time proportional to the stored values times the number of clusters: zeros
    of sparse arrays, and defaults of a Table, are not visited. The result is that of the plain
    algorithm.

    The distance between numbers is Euclidean. That between records of a Table is, too, where each
    label of each column is a coordinate, 1 for records that have it and 0 for others. So the
    squared distance of two records is twice the number of columns in which they differ, whichever
    labels are defaults.

    Records may be in partitions (:func:`tacit.scan`). An iteration is then one pass over them,
    shared by all starts; one more is for counts, one more for the records that seeds are drawn
    from, and one more for the members of the last centres if these have moved. The same seeds lead
    to the same centres as in memory, whatever the partitioning. Seeds themselves are the same for
    up to 20,000 records (or 50 for each cluster, if those are more); of more records, they are
    drawn from a sample of so many. Pass `init` to begin elsewhere.

    Parameters
    ----------
    n_clusters : int, default 8
    init : {"k-means++", "random"} or array-like of shape (n_clusters, n_coordinates)
        Where to begin: records far from each other, any records, or given centres (in the form of
        `cluster_centers_`).
    n_init : int or "auto"
        How often to begin anew; the result with the least inertia is kept. "auto" is 10 for
        "random", else 1. From given centres it begins once.
    max_iter : int, default 300
    tol : float, default 1e-4
        Stop when the squared moves of all centres add up to no more than this many times the mean
        variance of a coordinate.
    algorithm : {"auto", "lloyd", "bounds"}
        How to find the nearest centres: "lloyd" compares each record with all of them; "bounds"
        passes over records of which it is known, by the triangle inequality, that they stay where
        they are. "auto" keeps bounds as long as they spare enough. Labels are the same. There are
        no bounds for partitions, as they would be numbers for each record.
    discretise : spec or mapping, default "auto"
        How numeric columns of a Table, or of a frame that has labels, too, are cut into bins, as
        for :class:`tacit.Table`. Arrays, and frames of numbers, are numbers as they are.
    unseen : {"error", "default"}
        What happens to labels of a Table that were not there in fit: an error, or they are taken
        for the default.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 shows each iteration on stderr, and how far passes over partitions have come.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_coordinates)
        For numbers, the means of clusters. For a Table, the fraction of every label of every
        column, one column after another; see :meth:`centers`.
    labels_ : ndarray of shape (n_records,)
        The cluster of each record that was fitted; not for partitions, of which :meth:`predict`
        says it. Files do not keep it.
    inertia_ : float
        The sum of squared distances of records to their centres, times their weights.
    sizes_ : ndarray of shape (n_clusters,)
        The number of records of each cluster, or the sum of their weights.
    n_iter_ : int
    schema_ : Schema or None
        The columns of a Table; None for numbers.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> model = tacit.KMeans(3, random_state=0).fit(visits)
    >>> model.sizes_.tolist(), round(model.inertia_)
    ([7572.0, 3377.0, 9051.0], 83722)
    >>> model.centers("weather").round(2)
    array([[0.81, 0.19],
           [0.88, 0.12],
           [0.74, 0.26]])
    """

    _kind: ClassVar[str] = "kmeans"
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        algorithm: str = "auto",
        discretise: Any = "auto",
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _fit(self, X: Any, sample_weight: Any) -> None:
        if isinstance(X, PartitionedTable):
            X = X if self.discretise is None else X.cut(self.discretise)
            self._keep(X.schema, X.n_records, self._cluster_partitions(X))
        else:
            inputs = Inputs.fit(self, X, None, sample_weight)
            schema: Schema | None = None
            if isinstance(inputs.data, Table) or _has_labels(inputs.data):
                table = inputs.table(self.discretise, n_jobs=self.n_jobs)
                points: Points = TablePoints(table, table.weights)
                schema = table.schema
            else:
                points = NumberPoints(number_rows(inputs), inputs.weights)
            self._keep(schema, points.n_records, self._cluster(points))

    def _cluster(self, points: Points) -> Clustering:
        k, tol, random = self._check_settings()
        positive = None if points.weights is None else int(np.count_nonzero(points.weights))
        _check_enough(k, points.n_records, positive, points.width)
        fixed = self._fixed_centres(k, points.width)
        if fixed is not None and points.offset is not None:
            fixed = fixed - points.offset
        tol *= points.spread() if tol else 0.0
        jobs, max_iter = count_jobs(self.n_jobs), int(self.max_iter)
        clusterings = []
        for restart in range(self._n_restarts(fixed is not None)):
            start = self._seeds(points, k, random) if fixed is None else fixed
            report = _Report(restart + 1, points.n_records) if self.verbose else None
            lloyd = Lloyd(points, max_iter, tol, self.algorithm, jobs, report)
            clusterings.append(lloyd.run(start))
        best = reduce(_better, clusterings)
        if points.offset is not None:
            best = best._replace(centres=best.centres + points.offset)
        return best

    def _cluster_partitions(self, X: PartitionedTable) -> Clustering:
        k, tol, random = self._check_settings()
        if self.algorithm == "bounds":
            raise InputError(
                "algorithm: 'bounds' keeps numbers for each record, which is not done for "
                "partitions; 'auto' and 'lloyd' find the same labels"
            )
        width = int(X.schema.cells[-1])
        fixed = self._fixed_centres(k, width)
        n_starts = self._n_restarts(fixed is not None)
        _check_enough(k, X.n_records, None, width)
        summary, _ = first_pass(X, SAME_SCHEMA, 0, self.n_jobs, self.verbose)
        _check_enough(k, X.n_records, summary.n_positive if X.weighted else None, width)
        if fixed is not None:
            starts = [fixed]
        else:
            sample = take_sample(X, summary, k, random, self.n_jobs)
            points = TablePoints(sample, sample.weights)
            starts = [self._seeds(points, k, random) for _ in range(n_starts)]
        tol *= mean_variance(X.schema, summary) if tol else 0.0
        clusterings = cluster_partitions(
            X, starts, int(self.max_iter), tol, self.n_jobs, self.verbose,
            _report_pass if self.verbose else lambda start, number, shift: None,
        )  # fmt: skip
        return reduce(_better, clusterings)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster of each record: that of the nearest centre.

        Parameters
        ----------
        X : like the one that was fitted
            A Table must have the same columns with the same labels; defaults may differ. Of other
            labels, see `unseen`. For a Table, a PartitionedTable may be given, and the other way
            round.
        """
        points = self._points(X, None)
        labels = np.empty(points.n_records, np.int32)
        points.assign(self._centres_for(points), labels, count_jobs(self.n_jobs))
        return labels

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the distance of each record to each centre.

        Parameters
        ----------
        X : like the one that was fitted

        Returns
        -------
        ndarray of shape (n_records, n_clusters)
        """
        points = self._points(X, None)
        n_bytes = 8 * points.n_records * len(self.cluster_centers_)
        check_fits(n_bytes, "the distances to all centres", "transform fewer records at a time")
        squares = points.distances(self._centres_for(points), count_jobs(self.n_jobs))
        return np.sqrt(squares, out=squares)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the opposite of the sum of squared distances to the nearest centres.

        Parameters
        ----------
        X : like the one that was fitted
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
        """
        records = as_partitioned(X)
        if records is not None:
            self._check_partitions(sample_weight)
            adapter = self._adapter(records)
            statistic = NearestSum(self.cluster_centers_, adapter)
            return -records.reduce(statistic, n_jobs=self.n_jobs, verbose=self.verbose or None)
        points = self._points(X, sample_weight)
        return -points.nearest_sum(self._centres_for(points), count_jobs(self.n_jobs))

    def profile(self, X: Any = None, *, prior: float = 1.0, level: float = 0.95) -> Profile:
        """Return the sizes of the clusters, and the values that set each apart.

        Parameters
        ----------
        X : Table or PartitionedTable, optional
            Records to be assigned to the clusters, and counted. By default the sizes of the
            clusters in the fit and their centres speak for the records.
        prior : float, default 1.0
            How many records' worth of the overall fractions each cluster begins with.
        level : float, default 0.95
            Of the credible intervals.
        """
        check_is_fitted(self)
        if self.schema_ is None:
            raise InputError("profile: the model was fitted to numbers, not to discrete records")
        if X is None:
            totals = self.sizes_
            sums = self.cluster_centers_[:, self.schema_.value_cells] * totals[:, None]
        else:
            partitions = as_partitioned(X)
            adapter = SAME_SCHEMA if partitions is None else self._adapter(partitions)
            records = self._table(X) if partitions is None else partitions
            (members,) = records.reduce(
                AssignAll([Request(self.cluster_centers_)], adapter),
                n_jobs=self.n_jobs,
                verbose=self.verbose or None,
            )
            sums, totals = members.sums, members.totals
        return Profile.from_counts(self.schema_, totals, sums.T, prior=prior, level=level)

    def to_frame(self) -> pl.DataFrame:
        """Return the clusters as a frame; of a Table, see :meth:`Profile.to_frame`.

        Returns
        -------
        polars.DataFrame
            Of numbers: cluster, size, column, center and overall, the mean of all records.
        """
        check_is_fitted(self)
        if self.schema_ is not None:
            return super().to_frame()
        k, width = self.cluster_centers_.shape
        overall = self.sizes_ @ self.cluster_centers_ / self.sizes_.sum()
        return pl.DataFrame(
            {
                "cluster": np.repeat(np.arange(k), width),
                "size": np.repeat(self.sizes_, width),
                "column": coordinate_names(self) * k,
                "center": self.cluster_centers_.ravel(),
                "overall": np.tile(overall, k),
            }
        )

    def centers(self, column: str | int) -> NDArray[np.float64]:
        """Return one column of the centres.

        Parameters
        ----------
        column : str or int
            A name or a position.

        Returns
        -------
        ndarray of shape (n_clusters, arity) or (n_clusters,)
            Of a Table, the fraction of each label in each cluster; else the mean of each cluster.
        """
        check_is_fitted(self)
        if self.schema_ is not None:
            c = self.schema_.position(column)
            cells = self.schema_.cells
            return self.cluster_centers_[:, cells[c] : cells[c + 1]].copy()
        return self.cluster_centers_[:, self._position(column)].copy()

    def _html_of_fit(self) -> str:
        return text_html(self.to_text()) if self.schema_ is None else super()._html_of_fit()

    def to_text(self, top: int = 5) -> str:
        """Describe the clusters: their sizes, and what sets each apart from all records.

        Parameters
        ----------
        top : int, default 5
            How many coordinates to name: those that add most to the squared distance between the
            cluster's centre and the centre of all records.
        """
        check_is_fitted(self)
        return describe(self, check_int(top, "top", 0))

    def to_state(self) -> store.State:
        """Return the arrays of a file.

        Labels of the records that were fitted are not kept, nor are centres given as `init`, which
        may be records: a loaded model has no `labels_`, and `init` is "k-means++" instead.
        """
        return state_of_kmeans(self)

    @classmethod
    def from_state(cls, state: store.State) -> KMeans:
        """Make the model of a file's arrays."""
        return kmeans_of_state(cls, state)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there are centres."""
        return hasattr(self, "cluster_centers_")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = " ".join(super().__repr__(N_CHAR_MAX).split())
        if not self.__sklearn_is_fitted__():
            return text
        records = f"{self._n_records:,} records × {self.n_features_in_:,} columns"
        return f"{text}, fitted to {records}: inertia {self.inertia_:,.6g}"

    # Steps of fit

    def _check_settings(self) -> tuple[int, float, np.random.RandomState]:
        """Check all parameters; return n_clusters, tol and the random state."""
        k = check_int(self.n_clusters, "n_clusters", 1)
        check_int(self.max_iter, "max_iter", 1)
        count_jobs(self.n_jobs)
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"algorithm must be one of {ALGORITHMS}, got {self.algorithm!r}")
        if self.unseen not in ("error", "default"):
            raise InputError(f"unseen must be 'error' or 'default', got {self.unseen!r}")
        return k, _not_negative(self.tol, "tol"), check_random_state(self.random_state)

    def _seeds(self, points: Points, k: int, random: np.random.RandomState) -> NDArray[np.float64]:
        """Return records to begin with."""
        if self.init == "random":
            return seeding.random_records(points, k, random)
        return seeding.plus_plus(points, k, random, count_jobs(self.n_jobs))

    def _fixed_centres(self, k: int, width: int) -> NDArray[np.float64] | None:
        """Return the centres to begin with, if they are given."""
        if isinstance(self.init, str):
            if self.init not in ("k-means++", "random"):
                raise InputError(
                    f"init must be 'k-means++', 'random' or an array of centres, got {self.init!r}"
                )
            return None
        try:
            centres = np.array(self.init, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "init must be 'k-means++', 'random' or an array of centres, got "
                f"{type(self.init).__name__}"
            ) from None
        if centres.shape != (k, width):
            raise InputError(f"init must have shape ({k}, {width}), got {centres.shape}")
        if not np.isfinite(centres).all():
            raise InputError("init contains NaN or inf")
        return centres

    def _n_restarts(self, fixed: bool) -> int:
        if isinstance(self.n_init, str) and self.n_init == "auto":
            return 10 if not fixed and self.init == "random" else 1
        if isinstance(self.n_init, str):
            raise InputError(f"n_init must be 'auto' or a whole number, got {self.n_init!r}")
        n_init = check_int(self.n_init, "n_init", 1)
        return 1 if fixed else n_init

    def _keep(self, schema: Schema | None, n_records: int, best: Clustering) -> None:
        self.schema_ = schema
        if schema is not None:
            self.n_features_in_ = len(schema)
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        # Weights that come and go leave rounding errors: fractions a little below 0 or above 1.
        self.cluster_centers_ = best.centres if schema is None else np.clip(best.centres, 0.0, 1.0)
        self.__dict__.pop("labels_", None)  # those of an earlier fit
        if best.labels is not None:
            self.labels_ = best.labels
        self._n_records = n_records
        self.inertia_ = best.inertia
        self.sizes_ = best.totals
        self.n_iter_ = best.n_iter
        self._n_features_out = len(best.centres)
        if best.n_occupied < len(best.centres):
            warnings.warn(
                f"{best.n_occupied} distinct clusters were found, which is fewer than "
                f"n_clusters={len(best.centres)}; there may be too few distinct records",
                ConvergenceWarning,
                stacklevel=5,
            )

    # Records under the model

    def _points(self, X: Any, sample_weight: Any) -> Points:
        check_is_fitted(self)
        if self.schema_ is not None:
            table = self._table(X, sample_weight)
            return TablePoints(table, table.weights)
        inputs = Inputs.read(self, X, self._input)
        weights = read_sample_weight(sample_weight, inputs.n_records)
        return NumberPoints(number_rows(inputs), weights, self.cluster_centers_.mean(axis=0))

    def _table(self, X: Any, sample_weight: Any = None) -> Table:
        """Return a Table under the schema of the fit."""
        inputs = Inputs.read(self, X, self._input, absent=self.absent)
        return weigh(inputs.table(unseen=self.unseen, n_jobs=self.n_jobs), sample_weight)

    @property
    def _input(self) -> InputSpec:
        """What X was like."""
        if self.schema_ is not None:
            return InputSpec.of_schema(self.schema_)
        n, named = int(self.n_features_in_), hasattr(self, "feature_names_in_")
        names = self.feature_names_in_.tolist() if named else array_names(n)
        return InputSpec.of_domains("frame" if named else "array", names, [Numbers()] * n)

    def _adapter(self, records: PartitionedTable) -> SchemaAdapter:
        """Return what reads partitions as records like those that were fitted."""
        check_is_fitted(self)
        if self.schema_ is None:
            raise InputError("X is a partitioned table, but the model was fitted to numbers")
        return SchemaAdapter.between(records, self.schema_, self.unseen)

    def _centres_for(self, points: Points) -> NDArray[np.float64]:
        centres: NDArray[np.float64] = self.cluster_centers_
        return centres if points.offset is None else centres - points.offset

    def _position(self, column: str | int) -> int:
        names = getattr(self, "feature_names_in_", None)
        if isinstance(column, str):
            matches = np.flatnonzero([] if names is None else names == column)
            if len(matches) == 0:
                raise no_column("column", column, [] if names is None else names)
            return int(matches[0])
        position = check_int(column, "column", 0)
        if position >= self.n_features_in_:
            raise InputError(
                f"column: column {position} is not among the {self.n_features_in_} columns"
            )
        return position


def _has_labels(data: Any) -> bool:
    """Return whether a frame has columns of something else than numbers."""
    return isinstance(data, pl.DataFrame) and not all(
        dtype.is_numeric() or dtype == pl.Boolean for dtype in data.dtypes
    )


def _better(best: Clustering, other: Clustering) -> Clustering:
    """Return the one with less inertia; of two with the same, but for rounding, the first."""
    return other if other.inertia < (1 - MIN_GAIN) * best.inertia else best


class _Report:
    """Reports iterations on stderr."""

    def __init__(self, restart: int, n_records: int) -> None:
        self.restart = restart
        self.n_records = n_records

    def __call__(self, iteration: Iteration) -> None:
        spared = 1 - iteration.scanned / self.n_records
        print(
            f"start {self.restart}, iteration {iteration.number}: {iteration.changed:,} records "
            f"changed, {spared:.0%} passed over, centres moved by {iteration.shift:.3g}",
            file=sys.stderr,
        )


def _report_pass(start: int, number: int, shift: float) -> None:
    """Report an iteration over partitions on stderr."""
    moved = f"centres moved by {shift:.3g}"
    print(f"start {start + 1}, iteration {number}: {moved}", file=sys.stderr)


def _not_negative(value: Any, argument: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not 0 <= number < np.inf:
        raise InputError(f"{argument} must be a number of at least 0, got {value!r}")
    return number


def _check_enough(k: int, n_records: int, n_positive: int | None, width: int) -> None:
    """Refuse more clusters than there are records that count, or than fit in memory."""
    if n_positive == 0:
        raise InputError("sample_weight: all weights are zero")
    if n_positive is not None and n_positive < k:
        raise InputError(
            f"n_clusters={k}, but only {n_positive} records (n_samples) have a weight above 0"
        )
    if n_records < k:
        raise InputError(f"n_clusters={k}, but there are only n_samples={n_records} records")
    # Old and new centres, sums, corrections, and the tables that kernels make of them.
    check_fits(50 * k * width, f"{k:,} centres", "ask for fewer clusters")
