"""The clusters of the records that were fitted, which not every fit keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.scale import as_partitioned

__all__ = ["OwnLabels"]


class OwnLabels:
    """For estimators whose `labels_` are there after a fit in memory only.

    Those of partitions would be a number for each record, of which there may be more than fit in
    memory; files and streams do not keep them either.
    """

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Find the clusters, and return that of each record.

        Parameters
        ----------
        X, y, **kwargs
            As for :meth:`fit`.
        """
        own: Any = self
        if as_partitioned(X) is None:
            return super().fit_predict(X, y, **kwargs)  # type: ignore[misc]
        return own.fit(X, y, **kwargs).predict(X)

    if not TYPE_CHECKING:  # else every attribute would seem to be there

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
