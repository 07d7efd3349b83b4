"""What estimators of clusters share: labels of fitted records, and how clusters are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.base import ClusterMixin

from tacit.estimator import Estimator

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from tacit.mixture.profile.profile import Profile
    from tacit.scale import PartitionedTable

__all__ = ["ClusterModel"]


class ClusterModel(ClusterMixin, Estimator):  # type: ignore[misc]
    """An estimator of clusters, with a :class:`Profile` of them.

    `labels_` are there after a fit in memory only. Those of partitions would be a number for each
    record, of which there may be more than fit in memory; files and streams do not keep them.
    """

    if TYPE_CHECKING:

        def profile(self) -> Profile:
            """Return what sets the clusters apart."""

    else:  # a type checker would take every attribute to be there

        def __getattr__(self, name: str) -> Any:
            """Say where labels are instead."""
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name == "labels_" and {"expected_", "cluster_centers_"} & self.__dict__.keys():
                message += (
                    ": models of partitions, of streams and from files keep no cluster of each "
                    "record; predict(X) finds them, and X.map(tacit.scale.Predict(model)) does "
                    "one partition after another"
                )
            raise AttributeError(message)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : Table, frame, array, sparse array or PartitionedTable
            Frames and arrays are of numbers for :class:`KMeans`.
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for. Tables, and partitions, may have weights instead.
        """
        self._fit(X, sample_weight)
        return self

    def _fit_partitions(self, X: PartitionedTable, **options: Any) -> Self:
        self._fit(X, None)
        return self

    def _fit(self, X: Any, sample_weight: Any) -> None:
        """Find the clusters of records, wherever they are."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Fit, and return the cluster of each record.

        Parameters
        ----------
        X, y, **kwargs
            As for :meth:`fit`.
        """
        model: Any = self
        model.fit(X, y, **kwargs)
        return vars(self)["labels_"] if "labels_" in vars(self) else model.predict(X)

    def to_frame(self) -> pl.DataFrame:
        """Return the clusters as a frame; see :meth:`Profile.to_frame`."""
        return self.profile().to_frame()

    def _html_of_fit(self) -> str:
        return self.profile()._repr_html_()

    def to_html(self, title: str = "Clusters", *, top: int = 8) -> str:
        """Return a page about the clusters; see :meth:`Profile.to_html`.

        Parameters
        ----------
        title : str, default "Clusters"
        top : int, default 8
            How many values to show that a cluster has more often; half as many that it has less.
        """
        return self.profile().to_html(title, top=top)

    def plot(self, ax: Axes | None = None, *, top: int | None = None) -> Axes:
        """Draw the clusters; see :meth:`Profile.plot`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        top : int, optional
            How many values to take of each cluster.
        """
        return self.profile().plot(ax, top=top)
