"""Sparse computation: only similarities of objects that are near in a projection."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError, refuse_partitions
from tacit.machine import check_int, count_jobs, human_bytes
from tacit.parameters import make_generator
from tacit.scale import as_partitioned, gather
from tacit.similarity.graph import Kind, Triangle, graph_bytes, near_indices, similarities
from tacit.similarity.grid.blocks import Blocks, Near, near_blocks, split_blocks
from tacit.similarity.grid.forecast import Forecast, choose_dimensions, choose_resolution
from tacit.similarity.grid.grid import MOST_DIMENSIONS, Grid
from tacit.similarity.grid.plot import plot_grid
from tacit.similarity.grouping.groups import Groups, check_delta, group
from tacit.similarity.grouping.partitioned import (
    Place,
    Sorter,
    SumCells,
    TypeColumn,
    check_column,
    coordinate_range,
    find_groups,
    type_column,
)
from tacit.similarity.projection.encoding import Encoder
from tacit.similarity.projection.linear import Plan, coordinates, project
from tacit.similarity.projection.partitioned import PartSight, Survey, check_plan, survey
from tacit.similarity.projection.scaling import column_ranges, scale_columns
from tacit.table.features import note_names
from tacit.table.targets import read_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from tacit.scale import PartitionedTable

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["SparseComputation"]

_MOST_DOUBLINGS = 24  # of a resolution, in search of one that fits


class SparseComputation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Similarities of near objects only, without a look at all pairs.

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
    dimensions : int from 1 to 4, or "auto"
        Dimensions of the projection. "auto" is 3, or 2 for more than half a million objects.
    projection : {"randomised_svd", "approximate_pca", "exact_pca", "randomised_pca", "gaussian", \
"none"}
        How objects are projected. "randomised_svd" and "approximate_pca" take time proportional to
        the stored values of sparse data; "none" takes the columns as they are (up to 4 of them).
    normalise : bool, default True
        Whether columns are scaled to [0, 1] before the projection. Similarities do not depend on
        that: see `similarity`.
    rows, columns : int or "auto"
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
        Share of all pairs that are near.

    Examples
    --------
    >>> import tacit
    >>> X, y = tacit.datasets.make_objects(2_000, 8, n_clusters=4, random_state=0)
    >>> sc = tacit.SparseComputation(resolution=20, random_state=0).fit(X)
    >>> graph = sc.similarity("exponential", scale=0.5)
    >>> graph.shape, graph.nnz == 2 * sc.n_pairs_
    ((2000, 2000), True)
    """

    grid_: Grid

    def __init__(
        self,
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomised_svd",
        *,
        normalise: bool = True,
        rows: int | Literal["auto"] = "auto",
        columns: int | Literal["auto"] = "auto",
        adaptive: bool | int = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.resolution = resolution
        self.dimensions = dimensions
        self.projection = projection
        self.normalise = normalise
        self.rows = rows
        self.columns = columns
        self.adaptive = adaptive
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        parts = as_partitioned(X)
        if parts is not None:
            fitted: SparseComputation = copy(self)  # so that nothing changes if a pass fails
            found = fitted.fit_parts(parts, y)
            note_names(fitted, found.encoder.inputs)
            fitted.note_blocks(fitted._sum_blocks(found, fitted.grid_))
            fitted._survey = found
            self.__dict__.update(fitted.__dict__)
            for name in ("coords_", "_numbers"):
                self.__dict__.pop(name, None)
            return self
        self.encoder_, numbers = Encoder.fit(X, self)
        return self.fit_numbers(numbers)

    def fit_parts(self, parts: PartitionedTable, but: str | None) -> Survey:
        """Find projection and grid of records in partitions, all of their columns but one."""
        if self.adaptive is not False:
            refuse_partitions(parts, "a grid with adaptive blocks")
        if but is not None:
            check_column(parts.schema, but)
        n = parts.n_records
        resolution = self._resolution(n)

        def plan_for(shape: tuple[int, int]) -> Plan:
            dimensions = self._dimensions(n)
            plan = Plan.of(self.projection, dimensions, self.rows, self.columns, shape)
            check_plan(plan, shape[1])
            Grid.over(np.zeros((1, plan.n_dimensions)), resolution)  # says what is wrong with it
            return plan

        found = survey(
            parts, but, lambda shape: plan_for(shape).takes_products(shape[1]), self.n_jobs
        )
        moments = found.moments()
        scale = moments.factors() if self.normalise else np.ones(len(moments.mean))
        sight = PartSight(found, moments.mean, scale, self.n_jobs)
        projection = plan_for(found.shape).project(
            sight, moments, self.normalise, make_generator(self.random_state)
        )
        self.encoder_ = found.encoder
        self.components_ = projection.components
        self.mean_ = projection.mean
        self.explained_variance_ratio_ = projection.explained_variance_ratio
        ends = coordinate_range(parts, self.place(), self.n_jobs)
        self.grid_ = Grid.over(ends, resolution)
        return found

    def without_objects(self) -> SparseComputation:
        """Return projection and grid alone."""
        light = copy(self)
        for name in ("coords_", "blocks_", "_numbers", "_near", "_survey"):
            light.__dict__.pop(name, None)
        return light

    def place(self) -> Place:
        """Return what projects Tables, and nothing more: to be sent to where they are."""
        return Place(self.encoder_, self.components_, self.mean_)

    def _sum_blocks(self, found: Survey, grid: Grid) -> Blocks:
        """Return the blocks of records in partitions: one pass."""
        sorter = Sorter(self.place(), grid, 1.0, TypeColumn.same(0), within=True)
        statistic = SumCells(sorter, sums=False)
        cells = found.parts.reduce(statistic, what="grid: partitions", n_jobs=self.n_jobs)
        return cells.in_blocks()

    def note_blocks(self, blocks: Blocks) -> None:
        """Note blocks, and how many pairs they make."""
        self._near = near_blocks(blocks, blocks, self.grid_)
        self.blocks_ = blocks
        forecast = _forecast(self._near)
        self.n_pairs_, self.density_ = forecast.n_pairs, forecast.density

    def fit_numbers(self, numbers: Any) -> SparseComputation:
        """Do what `fit` does with numbers that have been checked."""
        n_objects = numbers.shape[0]
        projection = project(
            numbers,
            self._dimensions(n_objects),
            self.projection,
            normalise=self.normalise,
            rows=self.rows,
            columns=self.columns,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.components_ = projection.components
        self.mean_ = projection.mean
        self.explained_variance_ratio_ = projection.explained_variance_ratio
        self.__dict__.pop("_survey", None)
        self._numbers = numbers
        self.coords_ = self.project(numbers)
        self.grid_ = Grid.over(self.coords_, self._resolution(n_objects))
        self._near = self._find_near(self.grid_)
        self.blocks_ = self._near.rows
        forecast = _forecast(self._near)
        self.n_pairs_, self.density_ = forecast.n_pairs, forecast.density
        return self

    def _dimensions(self, n_objects: int) -> int:
        if isinstance(self.dimensions, str):
            if self.dimensions != "auto":
                raise InputError(
                    f'dimensions must be a whole number or "auto", got {self.dimensions!r}'
                )
            return choose_dimensions(n_objects)
        wanted = check_int(self.dimensions, "dimensions", 1)
        if wanted > MOST_DIMENSIONS:
            raise InputError(f"dimensions must be from 1 to {MOST_DIMENSIONS}, got {wanted}")
        return wanted

    def _resolution(self, n_objects: int) -> int | Sequence[int]:
        if not isinstance(self.resolution, str):
            return self.resolution
        if self.resolution != "auto":
            raise InputError(f'resolution must be whole numbers or "auto", got {self.resolution!r}')
        return choose_resolution(n_objects)

    def _find_near(self, grid: Grid) -> Near:
        found: Survey | None = getattr(self, "_survey", None)
        if found is not None:
            blocks = self._sum_blocks(found, grid)
            return near_blocks(blocks, blocks, grid)
        if self.adaptive is not False:
            crowded = 100 if self.adaptive is True else check_int(self.adaptive, "adaptive", 1)
            return split_blocks(grid, self.coords_, crowded)
        blocks = Blocks.of(grid, self.coords_, count_jobs(self.n_jobs))
        return near_blocks(blocks, blocks, grid)

    def project(self, numbers: Any) -> Floats:
        """Return where checked numbers are in the projection."""
        return coordinates(numbers, self.components_, self.mean_)

    def transform(self, X: Any) -> Floats:
        """Return where objects are in the projection.

        Parameters
        ----------
        X : array-like, sparse array, frame, Table or PartitionedTable
            Of shape (n_objects, n_columns).

        Returns
        -------
        ndarray of shape (n_objects, n_dimensions)
        """
        check_is_fitted(self)
        parts = as_partitioned(X)
        if parts is not None:
            found = parts.map(self.place(), n_jobs=self.n_jobs)
            instead = "take some of the records"
            return gather(found, parts.n_records, "coordinates", instead)
        return self.project(self.encoder_.transform(X, self))

    def forecast(self, resolution: int | Sequence[int] | None = None) -> Forecast:
        """Say how many pairs a grid keeps and what memory they take, without making them.

        Parameters
        ----------
        resolution : int or sequence of int, optional
            Of another grid over the same projection.

        Returns
        -------
        Forecast
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
        space: Literal["original", "normalised", "projected"] = "original",
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
        space : {"original", "normalised", "projected"}
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
            self._space(space),
            kind=kind,
            scale=scale,
            triangle=triangle,
            diagonal=diagonal,
            dtype=dtype,
            n_jobs=self.n_jobs,
            instead=self._finer,
        )

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return near pairs, each once: two arrays of object numbers, the lower ones first."""
        self._check_graph()
        offsets, second = near_indices(self._near, "upper", self.n_jobs)
        first = np.repeat(np.arange(len(offsets) - 1, dtype=second.dtype), np.diff(offsets))
        return first, second

    def group(self, y: Any = None, delta: float = 1.0) -> Groups:
        """Put objects together that are almost identical.

        Objects are put together if they are of the same type, in the same block, and in the same
        part of it when blocks are cut into parts `delta` times as wide.

        Parameters
        ----------
        y : array-like of shape (n_objects,) or str, optional
            Types of objects, such as their classes; objects of different types stay apart. For a
            PartitionedTable, the name of the column that says so.
        delta : float from 0 to 1
            1: one representative of a type for each block; 0: identical projections only.

        Returns
        -------
        Groups
            Representatives at the centres of gravity, and how many objects each stands for. Those
            of a PartitionedTable, found in one pass, do not list their members: ``assign`` says
            of records which group they are in.
        """
        self._check_objects()
        share = check_delta(delta)
        found: Survey | None = getattr(self, "_survey", None)
        if found is not None:
            same = TypeColumn.same(0)
            types_by = same if y is None else type_column(found, y, _number)
            sorter = Sorter(self.place(), self.grid_, share, types_by, within=True)
            return find_groups(found.parts, sorter, self.n_jobs)[0]
        n = len(self.coords_)
        types = np.zeros(n, np.int32)
        if y is not None:
            types = _number(read_target(y, n))
        return self.group_objects(self.coords_, self._numbers, types, share)

    def group_objects(self, coords: Floats, numbers: Any, types: Any, delta: float) -> Groups:
        """Put objects together; representatives are where the projection has them."""
        found = group(self.grid_, coords, numbers, types, delta, n_jobs=self.n_jobs)
        return replace(found, coords=self.project(found.X))

    def plot(self, y: Any = None, *, ax: Any = None, max_objects: int = 5000) -> Any:
        """Draw the projected objects by class, and the grid in two dimensions or in three.

        Parameters
        ----------
        y : array-like of shape (n_objects,), optional
            Classes, which are drawn in different colours.
        ax : matplotlib Axes, optional
            A three-dimensional one for a grid of three dimensions or more.
        max_objects : int, default 5000
            Of more objects, so many are drawn at random.

        Returns
        -------
        matplotlib Axes
        """
        self._check_graph()
        return plot_grid(self.coords_, self.grid_, y, ax, max_objects)

    def _check_objects(self) -> None:
        check_is_fitted(self, "grid_")
        if not hasattr(self, "_near"):
            raise InputError(
                "the objects were not saved with the model: fit a SparseComputation to them again"
            )

    def _check_graph(self) -> None:
        self._check_objects()
        found: Survey | None = getattr(self, "_survey", None)
        if found is not None:
            refuse_partitions(found.parts, "a graph of near objects")

    def _space(self, space: Any) -> Any:
        if space == "original":
            return self._numbers
        if space == "projected":
            return self.coords_
        if space == "normalised":
            return scale_columns(self._numbers, column_ranges(self._numbers))
        raise InputError(f'space must be "original", "normalised" or "projected", got {space!r}')

    def _finer(self, limit: int) -> str:
        """Suggest what to do when the graph would take more than `limit` bytes."""
        resolution = np.asarray(self.grid_.resolution)
        for _ in range(_MOST_DOUBLINGS):
            resolution = 2 * resolution
            try:
                forecast = self.forecast(resolution.tolist())
            except InputError:  # finer than a grid can be
                break
            if forecast.n_bytes <= limit:
                one = len(set(resolution.tolist())) == 1
                finer = resolution[0] if one else tuple(resolution.tolist())
                return f"resolution={finer} would take {human_bytes(forecast.n_bytes)}"
        return "many objects are identical in the projection: see group()"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _forecast(near: Near) -> Forecast:
    n = int(near.columns.starts[-1])
    n_pairs = (near.n_entries - n) // 2
    share = n_pairs / (n * (n - 1) / 2) if n > 1 else 0.0
    return Forecast(len(near.rows), n_pairs, share, graph_bytes(2 * n_pairs, n, 8))


def _number(labels: Any) -> NDArray[np.int32]:
    """Return the place of each label among those that occur."""
    series = read_target(labels, len(labels))
    return np.unique(series.to_numpy(), return_inverse=True)[1].astype(np.int32)
