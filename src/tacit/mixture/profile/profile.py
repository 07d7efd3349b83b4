"""Profiles of clusters: their sizes, and the values that set them apart."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.counts import OneWay
from tacit.counts.formatting import label_text
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.mixture.profile import page as profile_page
from tacit.mixture.profile.lifts import Lifts
from tacit.mixture.profile.traits import ClusterTraits, Trait, show_fraction, show_size, value_text
from tacit.parameters import check_flag
from tacit.plot import lift_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.schema import Label, Schema
    from tacit.table import Table

__all__ = ["Profile"]

_WIDEST = 48  # characters; numbers stand below each other behind values up to this length


class Profile:
    """What sets clusters apart from all records: the lift of each value, with an interval.

    The lift of a value in a cluster is P(value | cluster) by its fraction of all records. The
    probabilities of a cluster have a Dirichlet prior; the posterior of one is a Beta distribution,
    and the interval of the lift holds `level` of it.

    Most characteristic are the values with the most evidence. That is the divergence of
    P(value | cluster) from P(value), in nats a record, taken at the end of the interval nearer to
    no difference. So it takes a value that is common in the cluster and rare elsewhere, or the
    other way round, and enough records to be sure of it.

    Parameters
    ----------
    schema : Schema
    totals : array of shape (K,)
        The size of each cluster.
    stored : array of shape (n_values, K)
        Of each stored value (expected) counts in each cluster. Those of defaults follow.
    alphas : array of shape (cells,)
        Pseudo-counts for every label of every column, defaults too; column after column.
    names : sequence of str, optional
        What to call the clusters; by default their numbers.
    noise : bool, default False
        Whether the last one is noise, which is no cluster and not counted as one.
    ignored : array of int, optional
        Cells, indices of `alphas`, to leave out, such as those of missing values.
    level : float, default 0.95
        Of the credible intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.mixture import Profile
    >>> shop = tacit.Table.from_baskets(
    ...     [["bread", "milk"], ["bread"], ["bread", "milk"], ["tea"], ["tea", "milk"]] * 20
    ... )
    >>> profile = Profile.from_labels(shop, np.array([0, 0, 0, 1, 1] * 20))
    >>> print(profile.to_text())
    2 clusters of 100 records; lifts with 95% intervals
    <BLANKLINE>
    cluster 0: 60 records (60%)
      more  bread     99%  overall    60%  lift  1.66  [1.61, 1.67]
      less  tea      0.7%  overall    40%  lift  0.02  [0.00, 0.09]
    <BLANKLINE>
    cluster 1: 40 records (40%)
      more  tea       99%  overall    40%  lift  2.46  [2.33, 2.50]
      less  bread    1.5%  overall    60%  lift  0.02  [0.00, 0.11]
    """

    def __init__(
        self,
        schema: Schema,
        totals: Any,
        stored: Any,
        alphas: Any,
        *,
        names: Sequence[str] | None = None,
        noise: bool = False,
        ignored: Any = None,
        level: float = 0.95,
    ) -> None:
        self.schema = schema
        self._noise = check_flag(noise, "noise")
        self.sizes = _counts(totals, "totals", (None,))
        self.level = _level(level)
        self._named = names is not None
        self.names = [str(k) for k in range(self.n_clusters)] if names is None else list(names)
        if len(self.names) != self.n_clusters:
            raise InputError(f"names: {len(self.names)} for {self.n_clusters} clusters")
        cells = int(schema.cells[-1])
        self._lifts = Lifts(
            schema,
            self.sizes,
            _counts(stored, "stored", (schema.n_values, self.n_clusters)),
            _counts(alphas, "alphas", (cells,)),
            _cells(ignored, cells),
        )

    @classmethod
    def from_labels(
        cls,
        table: Table,
        labels: Any,
        *,
        prior: float = 1.0,
        names: Sequence[str] | None = None,
        noise: bool = False,
        level: float = 0.95,
    ) -> Profile:
        """Return the profile of clusters to which each record belongs or does not.

        Parameters
        ----------
        table : Table
        labels : array of int of shape (n_records,)
            The cluster of each record: 0, 1, …
        prior, names, noise, level
            As of :meth:`from_counts`.
        """
        clusters = np.asarray(labels)
        if (
            clusters.shape != (table.n_records,)
            or clusters.dtype.kind not in "iu"
            or clusters.min() < 0
        ):
            raise InputError(
                f"labels must be {table.n_records:,} integers, the cluster of each record"
            )
        n_clusters = max(int(clusters.max()) + 1, len(names or ()))
        weights = np.ones(table.n_records) if table.weights is None else table.weights
        lengths = np.diff(table.indptr)
        cells = table.values.astype(np.int64) * n_clusters + np.repeat(clusters, lengths)
        stored = np.bincount(cells, np.repeat(weights, lengths), table.schema.n_values * n_clusters)
        totals = np.bincount(clusters, weights, n_clusters)
        return cls.from_counts(
            table.schema, totals, stored.reshape(-1, n_clusters),
            prior=prior, names=names, noise=noise, level=level,
        )  # fmt: skip

    @classmethod
    def from_counts(
        cls,
        schema: Schema,
        totals: Any,
        stored: Any,
        *,
        prior: float = 1.0,
        names: Sequence[str] | None = None,
        noise: bool = False,
        level: float = 0.95,
    ) -> Profile:
        """Return the profile of clusters that all records belong to, from counts of their values.

        Parameters
        ----------
        schema : Schema
        totals : array of shape (K,)
            The size of each cluster.
        stored : array of shape (n_values, K)
            Of each stored value, how many records of each cluster have it.
        prior : float, default 1.0
            How many records' worth of the overall fractions each cluster begins with.
        names : sequence of str, optional
        noise : bool, default False
            Whether the last one is noise, which is no cluster and not counted as one.
        level : float, default 0.95
        """
        if not (np.isfinite(prior) and prior >= 0):
            raise InputError(f"prior must be a number of at least 0, got {prior!r}")
        sizes = _counts(totals, "totals", (None,))
        counts = _counts(stored, "stored", (schema.n_values, len(sizes)))
        singles = OneWay(schema, counts.sum(axis=1), float(sizes.sum()))
        alphas = prior * singles.counts / (singles.total or 1)
        return cls(schema, sizes, counts, alphas, names=names, noise=noise, level=level)

    @property
    def n_clusters(self) -> int:
        """Number of clusters, with the noise."""
        return len(self.sizes)

    @cached_property
    def fractions(self) -> NDArray[np.float64]:
        """The fraction of all records that belong to each cluster."""
        total = self.sizes.sum()
        return self.sizes / total if total > 0 else np.zeros_like(self.sizes)

    def traits(self, top: int = 5) -> list[ClusterTraits]:
        """Return for each cluster the values it has most clearly more, and less, often.

        Values whose interval includes a lift of 1 are left out. Of a column of two labels only the
        one that is not the default is listed, and the default of another column only where it says
        more than each of the column's other labels.

        Parameters
        ----------
        top : int, default 5
            How many of either to return, at most.
        """
        most = check_int(top, "top", 1)
        return [
            ClusterTraits(
                self._title(k),
                float(self.sizes[k]),
                float(self.fractions[k]),
                self._traits(self._lifts.strongest(k, 1, most, self.level), k),
                self._traits(self._lifts.strongest(k, -1, most, self.level), k),
            )
            for k in range(self.n_clusters)
        ]

    def _title(self, cluster: int) -> str:
        return self.names[cluster] if self._named else f"cluster {cluster}"

    def _traits(self, cells: NDArray[np.int64], cluster: int) -> list[Trait]:
        lifts = self._lifts
        numbers = (
            lifts.probabilities[cells, cluster],
            lifts.overall[cells],
            lifts.lifts[cells, cluster],
            *lifts.interval(cells, cluster, self.level),
        )
        rows = zip(cells.tolist(), *(array.tolist() for array in numbers), strict=True)
        return [Trait(*self._value(cell), *row) for cell, *row in rows]

    def _value(self, cell: int) -> tuple[str, Label]:
        column = int(self._lifts.columns[cell])
        code = cell - int(self.schema.cells[column])
        return self.schema.names[column], self.schema.labels[column][code]

    def to_frame(self) -> pl.DataFrame:
        """Return all numbers: a row for each label of each column in each cluster.

        Returns
        -------
        polars.DataFrame
            cluster (its number, or name if it has one), size, column, label (as text, missing
            values as null), probability, overall (the fraction of all records), lift, lower, upper.
            Lifts of values that no record has are null.
        """
        lifts = self._lifts
        cells = np.flatnonzero(~lifts.ignored)
        values = [self._value(cell) for cell in cells.tolist()]
        texts = {
            "column": pl.Series([name for name, _ in values], dtype=pl.String),
            "label": pl.Series([label_text(label) for _, label in values], dtype=pl.String),
        }
        frames = []
        for k in range(self.n_clusters):
            interval = lifts.interval(cells, k, self.level)
            frame = pl.DataFrame(
                texts
                | {
                    "probability": lifts.probabilities[cells, k],
                    "overall": lifts.overall[cells],
                    "lift": lifts.lifts[cells, k],
                    "lower": interval.lower,
                    "upper": interval.upper,
                }
            )
            name = pl.lit(self.names[k]) if self._named else pl.lit(k, pl.Int64)
            frames.append(
                frame.select(name.alias("cluster"), pl.lit(float(self.sizes[k])).alias("size"), "*")
            )
        return pl.concat(frames).with_columns(pl.col("lift", "lower", "upper").fill_nan(None))

    def to_text(self, top: int = 5) -> str:
        """Return the clusters and their most characteristic values as text.

        Parameters
        ----------
        top : int, default 5
            How many values to list that a cluster has more often, and less often.
        """
        clusters = self.traits(top)
        width = max((len(t.text) for c in clusters for t in (*c.over, *c.under)), default=0)
        texts = [f"{self._count()}; lifts with {100 * self.level:.6g}% intervals"]
        for cluster in clusters:
            size, fraction = show_size(cluster.size), show_fraction(cluster.fraction)
            lines = [f"{cluster.name}: {size} records ({fraction})"]
            for head, traits in (("more", cluster.over), ("less", cluster.under)):
                lines += [
                    f"  {head if index == 0 else '':<4}  {trait.line(min(width, _WIDEST))}"
                    for index, trait in enumerate(traits)
                ]
            if len(lines) == 1:
                lines.append("  nothing sets it apart from all records")
            texts.append("\n".join(lines))
        return "\n\n".join(texts)

    def _count(self) -> str:
        n_clusters = self.n_clusters - self._noise
        plural = "" if n_clusters == 1 else "s"
        return f"{n_clusters} cluster{plural} of {show_size(self.sizes.sum())} records"

    def to_html(
        self,
        title: str = "Clusters",
        facts: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        *,
        curve: Iterable[tuple[int, float]] | None = None,
        criterion: str = "score",
        top: int = 8,
    ) -> str:
        """Return a page about the clusters that needs nothing else: no scripts, no other files.

        Parameters
        ----------
        title : str, default "Clusters"
        facts : mapping or pairs of str
            What to say above the clusters: names and texts.
        curve : pairs of a number of clusters and its score, optional
            How the number of clusters was chosen; drawn as a line, with a ring around this one.
        criterion : str, default "score"
            What the scores are.
        top : int, default 8
            How many values to show that a cluster has more often; half as many that it has less.
        """
        pairs = list(facts.items() if hasattr(facts, "items") else facts)
        points = None if curve is None else [(int(k), float(score)) for k, score in curve]
        return profile_page.page(
            title, pairs, self._shown(top), points, criterion, self._count(), self.level
        )

    def _shown(self, top: int) -> list[ClusterTraits]:
        """Return the traits of a page: half as many of less frequent values, as most are rare."""
        return [c._replace(under=c.under[: (top + 1) // 2]) for c in self.traits(top)]

    def plot(self, ax: Axes | None = None, *, top: int | None = None) -> Axes:
        """Draw the sizes of clusters, and the lifts of their most characteristic values.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        top : int, optional
            How many values to take of each cluster; by default as many as make a readable picture.
        """
        cells = self._plotted(check_int(top, "top", 1) if top is not None else None)
        lifts = self._lifts
        texts = [value_text(*self._value(cell)) for cell in cells.tolist()]
        return lift_map(
            lifts.lifts[cells],
            lifts.probabilities[cells],
            lifts.overall[cells],
            texts,
            self.names,
            self.fractions,
            ax=ax,
        )

    def _plotted(self, top: int | None) -> NDArray[np.int64]:
        """Return cells for a picture, those of the first cluster first."""
        n = top or max(2, min(8, 40 // self.n_clusters))
        chosen: dict[int, None] = {}
        for k in range(self.n_clusters):
            chosen |= dict.fromkeys(self._lifts.strongest(k, 1, n, self.level).tolist())
        lifts = self._lifts
        if not chosen:  # nothing sets them apart: show what is common
            order = np.argsort(-(lifts.overall + lifts.informative), kind="stable")
            return order[: max(n, 8)]
        cells = np.array(list(chosen), np.int64)
        home = np.argmax(lifts.lifts[cells], axis=1)
        return cells[np.argsort(home, kind="stable")]

    def __repr__(self) -> str:
        return f"Profile({self._count()}, {len(self.schema)} columns)"

    def _repr_html_(self) -> str:
        return profile_page.fragment(self._shown(5), self._count(), self.level)


def _counts(given: Any, argument: str, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Return numbers of the given shape that are finite and not negative."""
    array = np.asarray(given, np.float64)
    fits = array.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    if not fits or (array.size == 0 and shape == (None,)):
        wanted = ", ".join("K" if n is None else str(n) for n in shape)
        raise InputError(f"{argument} must have shape ({wanted}), got {array.shape}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise InputError(f"{argument} must be finite and not negative")
    return array


def _cells(ignored: Any, n_cells: int) -> NDArray[np.int64]:
    cells = np.asarray([] if ignored is None else ignored)
    if len(cells) == 0:
        return np.zeros(0, np.int64)
    if cells.ndim != 1 or cells.dtype.kind not in "iu":
        raise InputError(f"ignored must be a list of cells, got {ignored!r}")
    if cells.min() < 0 or cells.max() >= n_cells:
        raise InputError(f"ignored: there are only the cells 0 to {n_cells - 1}")
    return cells.astype(np.int64)


def _level(level: Any) -> float:
    if isinstance(level, float | np.floating) and 0 < level < 1:
        return float(level)
    raise InputError(f"level must be a number between 0 and 1, got {level!r}")
