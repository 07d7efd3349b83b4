"""What dependency trees, branchings and Bayes nets share: asking a joint distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.estimator import Estimator, open_path
from tacit.machine import check_fits, check_int
from tacit.parameters import make_generator
from tacit.plot.html import html_frame, picture_html, text_html
from tacit.scale import as_partitioned
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.network.inference.distribution import Distribution
    from tacit.network.inference.net import Net
    from tacit.plot.scene import Scene
    from tacit.scale import Partition
    from tacit.schema import Column

    Floats = NDArray[np.float64]

__all__ = ["DensityEstimator", "LogLikelihood", "probabilities", "shorten"]

_MOST_DRAWN = 150  # columns of a model that notebooks show as a picture


@dataclass(frozen=True)
class LogLikelihood(Statistic["tuple[float, float]"]):
    """The sum of the records' log-probabilities by their weights, and the sum of these."""

    model: DensityEstimator

    def partial(self, partition: Partition) -> tuple[float, float]:
        """Add up those of a partition."""
        return self.model._sum_scores(partition.records)

    def merge(self, one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
        """Add up."""
        return one[0] + other[0], one[1] + other[1]


class DensityEstimator(DensityMixin, Estimator):  # type: ignore[misc]
    """A joint distribution of columns.

    Subclasses say how they read records (`_read`), how probable these are (`_score_records`), what
    they say of a column (`_column_probabilities`), and how they look (`_scene`).
    """

    _input_tags = ("sparse", "categorical", "string")
    n_jobs: int | None

    # What subclasses provide

    @property
    def column_names_(self) -> tuple[str, ...]:
        """The names of the columns; those of arrays are x0, x1 and so on."""
        raise NotImplementedError

    def _read(self, X: Any) -> Any:
        """Return records as the model takes them."""
        raise NotImplementedError

    def _score_records(self, records: Any) -> Floats:
        """Return log-probabilities of records."""
        raise NotImplementedError

    def _column_probabilities(self, records: Any, position: int) -> Floats:
        """Return P(label | rest of the record) of a discrete column."""
        raise NotImplementedError

    def _position(self, column: Any) -> int:
        """Return the position of a column."""
        raise NotImplementedError

    def _discrete(self, position: int) -> Column | None:
        """Return a discrete column; ``None`` for numbers."""
        raise NotImplementedError

    def _as_net(self) -> Net:
        """Return the distribution as a discrete net."""
        raise NotImplementedError

    def _scene(self) -> Scene:
        """Return the picture."""
        raise NotImplementedError

    def to_text(self, top: int | None = None) -> str:
        """Return the model in words."""
        raise NotImplementedError

    # How probable records are

    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of each record's probability in nats, or density if it has numbers.

        What is missing is summed or integrated over. That is a missing label only if `fit` has not
        seen it as a label of its own.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        return self._score_records(self._read(X))

    def log_likelihood(self, X: Any) -> float:
        """Return the sum of :meth:`score_samples`, by the records' weights if they have any.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        return self._sum_all(X)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of :meth:`score_samples`, by the records' weights if they have any.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        y : ignored
        """
        total, weight = self._sum_all(X)
        if weight == 0:
            raise InputError("X: all weights are zero")
        return total / weight

    def _sum_all(self, X: Any) -> tuple[float, float]:
        check_is_fitted(self)
        X = open_path(X)
        partitions = as_partitioned(X)
        if partitions is None:
            return self._sum_scores(X)
        return partitions.reduce(LogLikelihood(self), n_jobs=self.n_jobs)

    def _sum_scores(self, X: Any) -> tuple[float, float]:
        """Return Σ w·log p of records, and Σ w."""
        records = self._read(X)
        scores, weights = self._score_records(records), records.weights
        if weights is None:
            return float(scores.sum()), float(len(scores))
        held = weights > 0
        return float(weights[held] @ scores[held]), float(weights.sum())

    # What columns may hold

    def predict_proba(self, X: Any, column: str | int | None = None) -> Floats:
        """Return the probabilities of a column's labels given each record's other values.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
            With all columns; what it says about this one is not used.
        column : str or int, optional
            A discrete column. Without it, all discrete columns are predicted, each from the others.

        Returns
        -------
        ndarray of shape (n_records, n_labels)
            In the order of ``schema_[column].labels``; of all columns, one after another.
        """
        check_is_fitted(self)
        every = range(len(self.column_names_))
        positions = [c for c in every if self._discrete(c) is not None]
        if column is not None:
            positions = [self._position(column)]
            if self._discrete(positions[0]) is None:
                name = self.column_names_[positions[0]]
                raise InputError(f"column: {name!r} holds numbers, which predict gives")
        records = self._read(X)
        width = sum(
            discrete.arity for c in positions if (discrete := self._discrete(c)) is not None
        )
        check_fits(16 * records.n_records * width, "all probabilities", "give fewer records")
        blocks = [self._column_probabilities(records, c) for c in positions]
        return np.hstack(blocks) if blocks else np.zeros((records.n_records, 0))

    def predict(self, X: Any, column: str | int | None = None) -> NDArray[Any]:
        """Return the most probable label, or the mean of a number, given the other values.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
            With all columns; what it says about this one is not used.
        column : str or int, optional
            Without it, all columns are predicted, each from the others.

        Returns
        -------
        ndarray of shape (n_records,), or (n_records, n_columns) of all columns
        """
        check_is_fitted(self)
        if column is not None:
            position = self._position(column)
            return self._predict_column(self._read(X), position)
        records, n = self._read(X), len(self.column_names_)
        columns = [self._predict_column(records, c) for c in range(n)]
        if len({values.dtype.kind for values in columns}) == 1:
            return np.column_stack(columns)
        result = np.empty((records.n_records, n), object)
        for c, values in enumerate(columns):
            result[:, c] = values
        return result

    def _predict_column(self, records: Any, position: int) -> NDArray[Any]:
        column = self._discrete(position)
        assert column is not None
        codes = self._column_probabilities(records, position).argmax(axis=1)
        known: NDArray[Any] = np.array(column.labels.items)
        if known.dtype.kind not in "biufU" or len(known) < column.arity or known.ndim > 1:
            known = np.empty(column.arity, object)
            known[:] = column.labels.items
        labels: NDArray[Any] = known[codes]
        return labels

    # Questions

    def query(self, columns: Any, given: Mapping[Any, Any] | None = None) -> Distribution:
        """Return the joint distribution of some columns, given the values of others; exact.

        Parameters
        ----------
        columns : str, int, or a sequence of them
        given : mapping, optional
            ``{column: label, …}``
        """
        return self._as_net().query(columns, given)

    def most_probable(self, given: Mapping[Any, Any] | None = None) -> tuple[dict[str, Any], float]:
        """Return the most probable record, and the logarithm of its probability in nats.

        Parameters
        ----------
        given : mapping, optional
            ``{column: label, …}`` that the record has to have. Its probability is that of the
            record with them, not divided by that of what is given.
        """
        return self._as_net().most_probable(given)

    def sample(
        self, n: int = 1, *, given: Mapping[Any, Any] | None = None, random_state: Any = None
    ) -> Any:
        """Draw records, all of them independent of each other.

        Parameters
        ----------
        n : int, default 1
        given : mapping, optional
            ``{column: label, …}`` that all records are to have. None is drawn in vain.
        random_state : int, RandomState, Generator or None

        Returns
        -------
        Table
        """
        size = check_int(n, "n", 1)
        return self._as_net().sample(size, given, make_generator(random_state))

    # Showing

    def to_svg(self) -> str:
        """Return a picture: the text of an SVG file."""
        from tacit.plot.scene import scene_svg

        check_is_fitted(self)
        return scene_svg(self._scene())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the picture with Matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        from tacit.plot.scene import draw_scene

        check_is_fitted(self)
        return draw_scene(self._scene(), ax)

    def to_html(self, title: str | None = None) -> str:
        """Return a page with the picture; of a very wide model, with its text.

        Parameters
        ----------
        title : str, optional
            By default what kind of model it is.
        """
        from tacit.plot.page import PAGE_STYLE, document

        check_is_fitted(self)
        body = f"{html_frame(self._html_of_fit())}\n"
        return document(title or type(self).__name__, PAGE_STYLE, body)

    def _html_of_fit(self) -> str:
        text = self.to_text()
        if len(self.column_names_) > _MOST_DRAWN:
            return text_html(text)
        return text_html(text.partition("\n")[0]) + picture_html(self.to_svg())


def probabilities(logs: Floats, rows: NDArray[np.int64] | None = None, hint: str = "") -> Floats:
    """Return rows of logarithms as probabilities that sum to one.

    Messages about a record that cannot be call it by its number in `rows`, and end with the hint.
    """
    with np.errstate(invalid="ignore"):  # where nothing is possible
        scaled = np.exp(logs - logs.max(axis=1, keepdims=True))
    if np.isnan(scaled).any():
        row = int(np.isnan(scaled).any(axis=1).argmax())
        record = row if rows is None else int(rows[row])
        raise InputError(
            f"X: record {record} has the probability zero, so that nothing follows from it{hint}"
        )
    normalized: Floats = scaled / scaled.sum(axis=1, keepdims=True)
    return normalized


def shorten(lines: Sequence[str], top: int | None, what: str) -> str:
    """Return a headline and as many of the other lines as are wanted, and how many are left."""
    if top is None or len(lines) - 1 <= check_int(top, "top", 0):
        return "\n".join(lines)
    left = len(lines) - 1 - top
    return "\n".join([*lines[: top + 1], f"… and {left:,} more {what}{'' if left == 1 else 's'}"])
