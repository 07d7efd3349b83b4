"""All pairs of objects that are at least so similar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from tacit.estimator import Estimator
from tacit.machine import count_jobs
from tacit.parameters import check_choice, check_number, store_parameters
from tacit.similarity import state as files
from tacit.similarity.base import refuse_huge
from tacit.similarity.near_graph.near_graph import NearGraph
from tacit.similarity.neighbors.exact import ROUNDING, CosineIndex, exact_index
from tacit.table.containers import is_sparse
from tacit.table.one_hot import OneHot

if TYPE_CHECKING:
    import polars as pl

    from tacit import store

__all__ = ["SimilarityJoin"]

_METRICS = ("jaccard", "cosine", "overlap")


class SimilarityJoin(Estimator):
    """All pairs of objects that are at least so similar, without comparing all pairs.

    Exact: objects of sizes that cannot be similar enough are not compared, and lists of common
    columns are not read where the rest cannot be enough.

    Parameters
    ----------
    threshold : float above 0, at most 1
        The least similarity of a pair.
    metric : {"jaccard", "cosine", "overlap"}
        "jaccard" and "overlap" compare sets: the columns of X that are not 0. The shared columns
        among those that one of both has, or among those of the smaller set.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    graph_ : NearGraph
        The pairs, by similarity.
    n_pairs_ : int
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> from tacit.similarity import SimilarityJoin
    >>> baskets = [["bread", "milk"], ["bread"], ["milk", "tea"], ["bread", "milk", "tea"]]
    >>> SimilarityJoin(0.6).fit(baskets).to_frame().rows()
    [(0, 3, 0.6666666666666666), (2, 3, 0.6666666666666666)]
    """

    _kind: ClassVar[str] = "similarity_join"
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)

    def __init__(
        self,
        threshold: float = 0.8,
        metric: Literal["jaccard", "cosine", "overlap"] = "jaccard",
        *,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the pairs.

        Parameters
        ----------
        X : array-like, sparse array, frame, baskets or Table
            Of shape (n_objects, n_columns).
        y : ignored
        """
        self._check_parameters()
        self.encoder_, numbers = OneHot.fit(X, self)
        refuse_huge(numbers, np.zeros((1, 1)))
        rows = numbers if is_sparse(numbers) else sparse.csr_array(numbers)
        index: Any = exact_index(rows, self.metric)
        least = float(self.threshold)
        # Found with a bit more room, as 1 - (1 - s) may be rounded; decided by the similarity.
        offsets, second, distances = index.pairs(1 - least + ROUNDING, self.n_jobs)
        first = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        # Sums over the columns of vectors are rounded more than counts are.
        rounding = ROUNDING if isinstance(index, CosineIndex) else 1e-15
        near = (1 - distances >= least - rounding) & (distances < 1)
        ends = (
            np.concatenate((first[near], second[near])),
            np.concatenate((second[near], first[near])),
        )
        similarity = np.tile(1 - distances[near], 2)
        n = rows.shape[0]
        graph = sparse.coo_array((similarity, ends), (n, n)).tocsr()
        graph.sort_indices()
        graph.has_canonical_format = True
        self.graph_ = NearGraph.trusted(graph, "similarity")
        self.n_pairs_ = self.graph_.n_edges
        return self

    def _check_parameters(self) -> None:
        check_number(self.threshold, "threshold", 0, 1, above=True)
        check_choice(self.metric, "metric", _METRICS)
        count_jobs(self.n_jobs)

    def to_frame(self) -> pl.DataFrame:
        """Return the pairs: first, second, similarity; by number."""
        check_is_fitted(self)
        return self.graph_.to_frame()

    def to_text(self) -> str:
        """Return what was found, in words."""
        check_is_fitted(self)
        n = len(self.graph_)
        return (
            f"{self.n_pairs_:,} pairs of {n:,} objects with a {self.metric} similarity of at least "
            f"{self.threshold:g}"
        )

    def to_state(self) -> store.State:
        """Return the arrays of a file: the pairs, and how X became numbers."""
        csr = self.graph_.csr
        arrays: dict[str, Any] = {
            "indptr": csr.indptr.astype(np.int64),
            "indices": csr.indices.astype(np.int32),
            "numbers": csr.data,
            "encoder": np.frombuffer(self.encoder_.to_json(), np.uint8),
        }
        return arrays | files.settings(self, {})

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make the result that :meth:`to_state` described."""
        facts, parameters = files.read_settings(state)
        model = cls(**parameters)
        model._check_parameters()
        model.encoder_ = OneHot.from_json(state["encoder"].tobytes())
        files.read_names(model, facts, model.encoder_)
        n = len(state["indptr"]) - 1
        csr = sparse.csr_array((state["numbers"], state["indices"], state["indptr"]), (n, n))
        model.graph_ = NearGraph(csr)
        model.n_pairs_ = model.graph_.n_edges
        return model
