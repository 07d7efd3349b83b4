"""What an evaluation of recommenders found: means over records, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.parameters import check_choice
from tacit.plot.html import Result, table_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["RecommenderEvaluation"]

_MEASURES = ("hit", "recall", "ndcg", "mrr")


class RecommenderEvaluation(Result):
    """How well recommenders found items that were hidden.

    Attributes
    ----------
    per_record : dict of str to polars.DataFrame
        Of each recommender: record (its number), hit, recall, ndcg and mrr.
    coverage : dict of str to float
        The fraction of items that were recommended to anyone.
    protocol : str
    n : int
        How many items were recommended.
    level : float
        Of the intervals, which are normal ones of a mean over records.
    n_unknown : int
        Items that could not be found, as they were not there before the cut in time; they are left
        out.
    """

    def __init__(
        self,
        per_record: Mapping[str, pl.DataFrame],
        coverage: Mapping[str, float],
        protocol: str,
        n: int,
        level: float,
        quantile: float,
        n_unknown: int = 0,
    ) -> None:
        self.per_record = dict(per_record)
        self.coverage = dict(coverage)
        self.protocol, self.n, self.level = protocol, n, level
        self.n_unknown = n_unknown
        self._quantile = quantile

    def _interval(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Return the mean and half the width of its interval."""
        if len(values) < 2:
            return float(values.mean()), float("nan")
        return float(values.mean()), self._quantile * float(
            values.std(ddof=1) / np.sqrt(len(values))
        )

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each recommender: figures, and the bounds of their intervals.

        For each measure, such as hit@10, there are also its bounds: hit@10 low and hit@10 high.
        """
        rows = []
        for name, frame in self.per_record.items():
            row: dict[str, object] = {"recommender": name, "records": frame.height}
            for measure in _MEASURES:
                mean, half = self._interval(frame[measure].to_numpy())
                title = f"{measure}@{self.n}"
                row |= {title: mean, f"{title} low": mean - half, f"{title} high": mean + half}
            row[f"coverage@{self.n}"] = self.coverage[name]
            rows.append(row)
        return pl.DataFrame(rows)

    def differences(self, by: str = "ndcg") -> pl.DataFrame:
        """Return how far each recommender is behind the best one, record by record.

        Parameters
        ----------
        by : {"hit", "recall", "ndcg", "mrr"}

        Returns
        -------
        polars.DataFrame
            recommender, difference (its mean less the best one's), low and high. A recommender of
            which the interval holds 0 is level with the best.
        """
        check_choice(by, "by", _MEASURES)
        means = {name: float(f[by].to_numpy().mean()) for name, f in self.per_record.items()}
        best = self.per_record[max(means, key=lambda name: means[name])]
        rows = []
        for name, frame in self.per_record.items():
            if not frame["record"].equals(best["record"]):
                raise InputError("the recommenders were not asked about the same records")
            mean, half = self._interval(frame[by].to_numpy() - best[by].to_numpy())
            rows.append((name, mean, mean - half, mean + half))
        columns = ["recommender", "difference", "low", "high"]
        return pl.DataFrame(rows, schema=columns, orient="row")

    def to_text(self) -> str:
        """Return the figures as lines of text."""
        head, rows = self._rows()
        table = [head, *rows]
        widths = [max(len(row[k]) for row in table) for k in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in table
        ]
        return "\n".join([self._title(), *lines])

    def _title(self) -> str:
        records = next(iter(self.per_record.values())).height
        title = f"{self.protocol.replace('_', ' ')}, {records:,} records"
        if self.n_unknown:
            title += f"; {self.n_unknown:,} items that were not there before are left out"
        return f"{title}; {self.level:.0%} intervals"

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        titles = [f"{measure}@{self.n}" for measure in _MEASURES]
        rows = []
        for row in self.to_frame().iter_rows(named=True):
            cells = [f"{row[t]:.3f} ± {(row[f'{t} high'] - row[t]):.3f}" for t in titles]
            rows.append([row["recommender"], *cells, f"{row[f'coverage@{self.n}']:.1%}"])
        return ["recommender", *titles, "coverage"], rows

    def __repr__(self) -> str:
        return self.to_text()

    def _html(self) -> str:
        head, rows = self._rows()
        return table_html(head, rows, title=self._title())
