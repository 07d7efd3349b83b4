"""Sparse computation: only similarities of objects that are near in a projection."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError, refuse_partitions
from tacit.estimator import Estimator
from tacit.machine import check_int, count_jobs, human_bytes
from tacit.parameters import make_generator, store_parameters
from tacit.plot.html import pairs_html
from tacit.scale import gather
from tacit.similarity import state as files
from tacit.similarity.graph import (
    Kind,
    Triangle,
    graph_bytes,
    is_distance,
    near_indices,
    similarities,
)
from tacit.similarity.grid.blocks import Blocks, NearRanges, near_blocks, split_blocks
from tacit.similarity.grid.coarse import coarsest_resolution
from tacit.similarity.grid.forecast import Forecast, choose_n_dimensions, choose_resolution
from tacit.similarity.grid.grid import MAX_DIMENSIONS, Grid
from tacit.similarity.grid.plot import plot_grid
from tacit.similarity.grouping.groups import Groups, check_group_width, group
from tacit.similarity.grouping.partitioned import (
    CellSorter,
    CellStatistic,
    Projector,
    TypeColumn,
    check_column,
    coordinate_range,
    find_groups,
    type_column,
)
from tacit.similarity.near_graph.near_graph import NearGraph
from tacit.similarity.projection.centred import ColumnScaling
from tacit.similarity.projection.linear import Plan, Projection, coordinates, project
from tacit.similarity.projection.partitioned import (
    FirstPass,
    PartitionedMatrix,
    check_plan,
    first_pass,
)
from tacit.table.input_spec import note_names
from tacit.table.one_hot import OneHot
from tacit.table.targets import read_target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from tacit import store
    from tacit.scale import PartitionedTable
    from tacit.similarity.near_graph.near_graph import Measure

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["SparseComputation"]

_MAX_DOUBLINGS = 24  # of a resolution, in search of one that fits


class SparseComputation(TransformerMixin, Estimator):  # type: ignore[misc]
    """Similarities of near objects only, without comparing all pairs.

    Objects are projected to a few dimensions, a grid is laid over the projection, and two objects
    are compared only if they are in the same block or in blocks that touch. Similarities are
    computed in the original space. Time and memory grow with the number of near pairs, not with the
    square of the number of objects, and not with the number of cells of the grid.

    Parameters
    ----------
    resolution : int, sequence of int, or "auto"
        Intervals of the grid in each dimension; the finer, the fewer pairs. With 1 or 2 all pairs
        are near. "auto" follows the number of objects: 20 to 50 up to a hundred thousand, to 600
        up to a million, then more.
    n_dimensions : int from 1 to 4, or "auto"
        Dimensions of the projection. "auto" is 3, or 2 for more than half a million objects.
    projection : {"randomized_svd", "approximate_pca", "exact_pca", "randomized_pca", "gaussian", \
"none"}
        How objects are projected. "randomized_svd" and "approximate_pca" take time proportional to
        the stored values of sparse data; "none" takes all columns as they are, at most 4.
    normalize : bool, default True
        Whether columns are scaled to [0, 1] before the projection. Similarities do not depend on
        that: see `similarity`.
    n_rows, n_columns : int or "auto"
        How many rows and columns "approximate_pca" draws; "auto" is 1 % but at least 150, and all
        columns up to 150 of them.
    adaptive : bool or int, default False
        Whether crowded blocks are split further, into halves in each dimension, until they hold no
        more than so many objects (True: 100). Every pair of the plain grid whose projections are
        closer, in each dimension, than the smaller block of the two is wide stays near.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_dimensions, n_columns)
        Objects are projected to ``(X - mean_) @ components_.T``.
    mean_ : ndarray of shape (n_columns,)
    explained_variance_ratio_ : ndarray of shape (n_dimensions,)
    coords_ : ndarray of shape (n_objects, n_dimensions)
        The projected objects; not for a PartitionedTable, of which `transform` projects one
        partition after another.
    grid_ : Grid
    blocks_ : Blocks
        The blocks that hold an object; of a PartitionedTable, without the objects themselves.
    n_pairs_ : int
        Near pairs, each counted once.
    density_ : float
        Fraction of all pairs that are near.

    Examples
    --------
    >>> import tacit
    >>> X, y = tacit.datasets.make_objects(2_000, 8, n_clusters=4, random_state=0)
    >>> sc = tacit.SparseComputation(resolution=20, random_state=0).fit(X)
    >>> graph = sc.similarity("exponential", scale=0.5)
    >>> graph.shape, graph.nnz == 2 * sc.n_pairs_
    ((2000, 2000), True)
    """

    _kind: ClassVar[str] = "sparse_computation"
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    # For a resolution that is "auto": how many objects may be near one in the mean, and all of them
    # together, and up to how many objects all are. Without, it follows from their number alone.
    _wanted_near: tuple[float, float, int] | None = None
    grid_: Grid

    def __init__(
        self,
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        n_dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomized_svd",
        *,
        normalize: bool = True,
        n_rows: int | Literal["auto"] = "auto",
        n_columns: int | Literal["auto"] = "auto",
        adaptive: bool | int = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None) -> SparseComputation:
        """Project objects, lay a grid over them and find which blocks are near each other.

        Parameters
        ----------
        X : array-like, sparse array, frame, Table or PartitionedTable
            Of shape (n_objects, n_columns). Numbers; columns of a frame that hold other labels
            become columns of 0 and 1. Arrays are not copied: do not change them while the
            computation is in use. Of a PartitionedTable, `transform`, `group` and `forecast` go
            over its partitions again; similarities take all records on one machine.
        y : str, optional
            The column of a PartitionedTable that says of what type records are, and nothing else:
            it is not projected. Ignored for other X.
        """
        self.encoder_, numbers = OneHot.fit(X, self)
        return self._fit_numbers(numbers)

    def _fit_partitions(self, X: PartitionedTable, y: Any = None) -> SparseComputation:
        columns = self._fit_projection(X, y)
        note_names(self, columns.encoder.spec.names)
        self._set_near(self._near_in_partitions(columns, self.grid_))
        self._first_pass = columns
        for name in ("coords_", "_numbers"):
            self.__dict__.pop(name, None)
        return self

    def _fit_projection(self, X: PartitionedTable, target: str | None) -> FirstPass:
        """Find projection and grid of records in partitions, of all their columns but a target."""
        if self.adaptive is not False:
            refuse_partitions(X, "a grid with adaptive blocks")
        if target is not None:
            check_column(X.schema, target)
        resolution = self._check_resolution(X.n_records)

        def plan_for(shape: tuple[int, int]) -> Plan:
            n_dimensions = self._check_n_dimensions(*shape)
            plan = Plan.of(self.projection, n_dimensions, self.n_rows, self.n_columns, shape)
            check_plan(plan, shape[1])
            Grid.over(np.zeros((1, plan.n_dimensions)), resolution)  # checks the resolution
            return plan

        columns = first_pass(
            X, target, lambda shape: plan_for(shape).takes_products(shape[1]), self.n_jobs
        )
        moments = columns.moments()
        scale = moments.factors() if self.normalize else np.ones(len(moments.mean))
        matrix = PartitionedMatrix(columns, moments.mean, scale, self.n_jobs)
        self.encoder_ = columns.encoder
        self._set_projection(
            plan_for(columns.shape).project(
                matrix, moments, self.normalize, make_generator(self.random_state)
            )
        )
        self.grid_ = Grid.over(coordinate_range(X, self._projector(), self.n_jobs), resolution)
        return columns

    def _fit_numbers(self, numbers: Any) -> SparseComputation:
        """Do what `fit` does with numbers that have been checked."""
        n_objects = numbers.shape[0]
        self._set_projection(
            project(
                numbers,
                self._check_n_dimensions(*numbers.shape),
                self.projection,
                normalize=self.normalize,
                n_rows=self.n_rows,
                n_columns=self.n_columns,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )
        self.__dict__.pop("_first_pass", None)
        self._numbers = numbers
        self.coords_ = self._project(numbers)
        resolution = self._check_resolution(n_objects)
        if isinstance(self.resolution, str) and self._wanted_near is not None:
            jobs = count_jobs(self.n_jobs)
            resolution = coarsest_resolution(self.coords_, *self._wanted_near, jobs)
        self.grid_ = Grid.over(self.coords_, resolution)
        self._set_near(self._find_near(self.grid_))
        return self

    def _set_projection(self, projection: Projection) -> None:
        self.components_ = projection.components
        self.mean_ = projection.mean
        self.explained_variance_ratio_ = projection.explained_variance_ratio

    def _set_near(self, near: NearRanges) -> None:
        """Set the blocks, and how many pairs they make."""
        self._near, self.blocks_ = near, near.rows
        forecast = _forecast(near)
        self.n_pairs_, self.density_ = forecast.n_pairs, forecast.density

    def _find_near(self, grid: Grid) -> NearRanges:
        columns: FirstPass | None = getattr(self, "_first_pass", None)
        if columns is not None:
            return self._near_in_partitions(columns, grid)
        if self.adaptive is not False:
            max_objects = 100 if self.adaptive is True else check_int(self.adaptive, "adaptive", 1)
            return split_blocks(grid, self.coords_, max_objects)
        blocks = Blocks.of(grid, self.coords_, count_jobs(self.n_jobs))
        return near_blocks(blocks, blocks, grid)

    def _near_in_partitions(self, columns: FirstPass, grid: Grid) -> NearRanges:
        """Return which blocks of records in partitions are near each other: one pass."""
        sorter = CellSorter(self._projector(), grid, 1.0, TypeColumn.same(0), within=True)
        statistic = CellStatistic(sorter, sums=False)
        cells = columns.partitions.reduce(statistic, what="grid: partitions", n_jobs=self.n_jobs)
        blocks = cells.to_blocks()
        return near_blocks(blocks, blocks, grid)

    def _check_n_dimensions(self, n_objects: int, n_columns: int) -> int:
        if isinstance(self.n_dimensions, str):
            if self.n_dimensions != "auto":
                raise InputError(
                    f'n_dimensions must be a whole number or "auto", got {self.n_dimensions!r}'
                )
            return choose_n_dimensions(n_objects)
        p = check_int(self.n_dimensions, "n_dimensions", 1, MAX_DIMENSIONS)
        if self.projection == "none" and p < n_columns <= MAX_DIMENSIONS:
            raise InputError(
                f'n_dimensions is {p}, but projection="none" takes all {n_columns} columns of X as '
                "they are; leave n_dimensions out, or choose another projection"
            )
        return p

    def _check_resolution(self, n_objects: int) -> Any:
        if not isinstance(self.resolution, str):
            return self.resolution
        if self.resolution != "auto":
            raise InputError(f'resolution must be whole numbers or "auto", got {self.resolution!r}')
        return choose_resolution(n_objects)

    def _without_objects(self) -> SparseComputation:
        """Return projection and grid alone."""
        light = copy(self)
        for name in ("coords_", "blocks_", "_numbers", "_near", "_first_pass"):
            light.__dict__.pop(name, None)
        return light

    def _projector(self) -> Projector:
        """Return what projects Tables, and nothing more: to be sent to where they are."""
        return Projector(self.encoder_, self.components_, self.mean_)

    def _project(self, numbers: Any) -> Floats:
        """Return the coordinates of checked numbers in the projection."""
        return coordinates(numbers, self.components_, self.mean_)

    def transform(self, X: Any) -> Floats:
        """Return the coordinates of objects in the projection.

        Parameters
        ----------
        X : array-like, sparse array, frame, Table or PartitionedTable
            Of shape (n_objects, n_columns).

        Returns
        -------
        ndarray of shape (n_objects, n_dimensions)
        """
        check_is_fitted(self)
        return self._project(self.encoder_.transform(X, self))

    def _answer_partitions(
        self, method: Callable[..., Any], X: PartitionedTable, options: dict[str, Any]
    ) -> Floats:
        check_is_fitted(self)
        coords = X.map(self._projector(), n_jobs=self.n_jobs)  # without the objects of fit
        return gather(coords, X.n_records, "coordinates", "take some of the records")

    def forecast(self, resolution: int | Sequence[int] | None = None) -> Forecast:
        """Say how many pairs a grid keeps and what memory they take, without making them.

        Parameters
        ----------
        resolution : int or sequence of int, optional
            Of another grid over the same projection.
        """
        self._check_objects()
        near = self._near
        if resolution is not None:
            ends = np.stack([self.grid_.lower, self.grid_.upper])
            near = self._find_near(Grid.over(ends, resolution))
        return _forecast(near)

    def similarity(
        self,
        kind: Kind = "exponential",
        scale: float = 1.0,
        *,
        space: Literal["original", "normalized", "projected"] = "original",
        triangle: Triangle = "both",
        diagonal: bool = False,
        dtype: Any = np.float64,
    ) -> sparse.csr_array:
        """Return the similarities of all near pairs.

        Parameters
        ----------
        kind : str or callable
            "exponential": ``exp(-scale * distance)``; "rbf": ``exp(-scale * distance**2)``;
            "cosine"; "distance" and "squared_distance" themselves (Euclidean); or a function of two
            arrays of rows, ``f(A, B)``, that returns a number for each row of both.
        scale : float, default 1.0
            How fast similarity falls with distance.
        space : {"original", "normalized", "projected"}
            What distances are measured between: the columns as they are, the columns scaled to
            [0, 1], or the projections.
        triangle : {"both", "upper"}
            "upper" holds each pair once, in the row of the object with the lower number.
        diagonal : bool, default False
            Whether objects are near themselves.
        dtype : float64 or float32
            Of the similarities; distances are computed in it, too.

        Returns
        -------
        csr_array of shape (n_objects, n_objects)
            Indices are sorted. What is not stored was not compared; stored values may be 0.

        Raises
        ------
        InputError
            If the result would not fit in memory. The message names a resolution that would.
        """
        self._check_graph()
        return similarities(
            self._near,
            self._space(space, kind),
            kind=kind,
            scale=scale,
            triangle=triangle,
            diagonal=diagonal,
            dtype=dtype,
            n_jobs=self.n_jobs,
            instead=self._finer,
        )

    def near_graph(
        self,
        kind: Kind = "exponential",
        scale: float = 1.0,
        *,
        space: Literal["original", "normalized", "projected"] = "original",
        dtype: Any = np.float64,
    ) -> NearGraph:
        """Return the near pairs as a graph that is checked once: for cuts, neighbours, clusters.

        Parameters are those of :meth:`similarity`. The graph is one of distances for the kinds
        "distance" and "squared_distance", and of similarities for all others, which must not be
        negative.
        """
        graph = self.similarity(kind, scale, space=space, dtype=dtype)
        measure: Measure = "similarity"
        if kind in ("distance", "squared_distance"):
            measure = "distance"
        return NearGraph(graph, measure)

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return near pairs, each once: two arrays of object numbers, the lower ones first."""
        self._check_graph()
        offsets, second = near_indices(self._near, "upper", self.n_jobs, self._finer)
        first = np.repeat(np.arange(len(offsets) - 1, dtype=second.dtype), np.diff(offsets))
        return first, second

    def group(self, y: Any = None, group_width: float = 1.0) -> Groups:
        """Group objects that are almost identical.

        Objects form a group if they are of the same type, in the same block, and in the same cell
        of it when blocks are divided into cells `group_width` times as wide.

        Parameters
        ----------
        y : array-like of shape (n_objects,) or str, optional
            Types of objects, such as their classes; objects of different types stay apart. For a
            PartitionedTable, the name of the column that says so.
        group_width : float from 0 to 1
            1: one representative of a type for each block; 0: identical projections only.

        Returns
        -------
        Groups
            Representatives at the centroids, and how many objects each stands for. Those
            of a PartitionedTable, made in one pass, do not list their members: ``assign`` says
            of records which group they are in.
        """
        self._check_objects()
        width = check_group_width(group_width)
        columns: FirstPass | None = getattr(self, "_first_pass", None)
        if columns is not None:
            by = TypeColumn.same(0) if y is None else type_column(columns, y, _label_codes)
            sorter = CellSorter(self._projector(), self.grid_, width, by, within=True)
            return find_groups(columns.partitions, sorter, self.n_jobs)[0]
        n = len(self.coords_)
        types = np.zeros(n, np.int32) if y is None else _label_codes(read_target(y, n))
        return self._group_objects(self.coords_, self._numbers, types, width)

    def _group_objects(
        self, coords: Floats, numbers: Any, types: NDArray[np.int32], group_width: float
    ) -> Groups:
        """Group objects; representatives are where the projection has them."""
        groups = group(self.grid_, coords, numbers, types, group_width, n_jobs=self.n_jobs)
        return replace(groups, coords=self._project(groups.X))

    def plot(self, ax: Any = None, *, y: Any = None, max_objects: int = 5000) -> Any:
        """Draw the projected objects by class, and the grid in two dimensions or in three.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A three-dimensional one for a grid of three dimensions or more.
        y : array-like of shape (n_objects,), optional
            Classes, which are drawn in different colours.
        max_objects : int, default 5000
            Of more objects, so many are drawn at random.
        """
        self._check_graph()
        return plot_grid(self.coords_, self.grid_, y, ax, max_objects)

    def _html_of_fit(self) -> str:
        explained = float(np.sum(self.explained_variance_ratio_))
        return pairs_html(
            [
                (
                    "projection",
                    f"{len(self.components_)} dimensions, {explained:.1%} of variance",
                ),
                ("grid", " × ".join(map(str, self.grid_.resolution))),
                ("near pairs", f"{self.n_pairs_:,}, {self.density_:.3%} of all"),
            ]
        )

    def _check_objects(self) -> None:
        check_is_fitted(self, "grid_")
        if not hasattr(self, "_near"):
            raise InputError(
                "the objects were not saved with the model: fit a SparseComputation to them again"
            )

    def _check_graph(self) -> None:
        self._check_objects()
        if hasattr(self, "_first_pass"):
            refuse_partitions(self._first_pass.partitions, "a graph of near objects")

    def _space(self, space: Any, kind: Any) -> Any:
        if space == "original":
            return self._numbers
        if space == "projected":
            return self.coords_
        if space == "normalized":
            return ColumnScaling.of(self._numbers, shift=not is_distance(kind))(self._numbers)
        raise InputError(f'space must be "original", "normalized" or "projected", got {space!r}')

    def _finer(self, limit: int) -> str:
        """Suggest what to do when the graph would take more than `limit` bytes."""
        resolution = np.asarray(self.grid_.resolution)
        for _ in range(_MAX_DOUBLINGS):
            resolution = 2 * resolution
            try:
                forecast = self.forecast(resolution.tolist())
            except InputError:  # finer than a grid can be
                break
            if forecast.n_bytes <= limit:
                same = len(set(resolution.tolist())) == 1
                finer = resolution[0] if same else tuple(resolution.tolist())
                return f"resolution={finer} would take {human_bytes(forecast.n_bytes)}"
        return "many objects are identical in the projection: see group()"

    def to_state(self) -> store.State:
        """Return projection and grid; objects are not saved."""
        return files.computation_arrays(self) | files.settings(self, files.computation_facts(self))

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a computation that projects, but has no objects to compare."""
        facts, parameters = files.read_settings(state)
        sc = cls(**parameters)
        files.read_computation(sc, facts, state)
        return sc


def _forecast(near: NearRanges) -> Forecast:
    n = int(near.columns.starts[-1])
    n_pairs = (near.n_entries - n) // 2
    density = n_pairs / (n * (n - 1) / 2) if n > 1 else 0.0
    return Forecast(len(near.rows), n_pairs, density, graph_bytes(2 * n_pairs, n, 8))


def _label_codes(labels: Any) -> NDArray[np.int32]:
    """Return the index of each label among those that occur, sorted."""
    series = read_target(labels, len(labels))
    return np.unique(series.to_numpy(), return_inverse=True)[1].astype(np.int32)
