"""Association rules: who holds some items holds another, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from tacit.baskets.measures import MEASURES, confidence_interval, lift_interval
from tacit.errors import InputError, did_you_mean
from tacit.listing import Listed, Listing
from tacit.machine import check_int
from tacit.parameters import check_choice, check_flag, check_number
from tacit.plot.html import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.baskets.items import Items
    from tacit.baskets.itemset_list import Itemsets

__all__ = ["AssociationRules", "find_association_rules"]


@dataclass(frozen=True, eq=False)
class AssociationRules(Listed, Result):
    """Rules from a set of items to one more, the most confident first.

    Attributes
    ----------
    items : Items
        What an item is.
    indptr, antecedents : ndarray
        Where the antecedent of each rule begins, and the cells of all of them.
    consequents : ndarray of uint32
        The cell of each rule's consequent.
    counts : ndarray of shape (n_rules, 3)
        The (weighted) number of records with both sides, the antecedent, the consequent.
    total : int or float
        The (weighted) number of records.
    measures : tuple of str
        What is shown besides support and confidence.
    level : float
        The confidence level of intervals.
    """

    items: Items
    indptr: NDArray[np.int64]
    antecedents: NDArray[np.uint32]
    consequents: NDArray[np.uint32]
    counts: NDArray[np.float64]
    total: int | float
    measures: tuple[str, ...] = field(default=("lift",))
    level: float = 0.95

    def __len__(self) -> int:
        return len(self.consequents)

    def sides(self, index: int) -> tuple[tuple[str, ...], str]:
        """Return the names of a rule's antecedent and of its consequent.

        Parameters
        ----------
        index : int
        """
        k, names = range(len(self))[index], self.items.names
        cells = self.antecedents[self.indptr[k] : self.indptr[k + 1]].tolist()
        return tuple(names[c] for c in cells), names[int(self.consequents[k])]

    def measure(self, name: str) -> NDArray[np.float64]:
        """Return a measure of all rules, whether it is among those shown or not.

        Parameters
        ----------
        name : str
            "support", "confidence", or any that :meth:`tacit.FrequentItemsets.rules` takes.
        """
        both, antecedent, consequent = (self.counts / self.total).T
        if name == "support":
            return np.asarray(both)
        if name == "confidence":
            return np.asarray(self.counts[:, 0] / self.counts[:, 1])
        if name not in MEASURES:
            raise InputError(f"measures: {name!r} is not known{did_you_mean(name, MEASURES)}")
        return MEASURES[name](both, antecedent, consequent, float(self.total))

    def interval(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the confidence intervals of "confidence" (Wilson's) or "lift".

        Parameters
        ----------
        name : {"confidence", "lift"}
        """
        both, antecedent, consequent = self.counts.T
        if name == "confidence":
            return confidence_interval(both, antecedent, self.level)
        if name == "lift":
            return lift_interval(both, antecedent, consequent, float(self.total), self.level)
        raise InputError(f'name must be "confidence" or "lift", got {name!r}')

    def take(self, kept: Any) -> AssociationRules:
        """Return some of the rules, by a mask or by their positions.

        Parameters
        ----------
        kept : ndarray
        """
        chosen = np.arange(len(self))[kept]
        sizes = np.diff(self.indptr)[chosen]
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        source = np.arange(int(indptr[-1])) + np.repeat(self.indptr[chosen] - indptr[:-1], sizes)
        return AssociationRules(
            self.items, indptr, self.antecedents[source], self.consequents[chosen],
            self.counts[chosen], self.total, self.measures, self.level,
        )  # fmt: skip

    def strongest(self, top: int = 20, *, by: str = "lift") -> AssociationRules:
        """Return the rules with the greatest value of a measure; the least, of p-values.

        Parameters
        ----------
        top : int, default 20
        by : str, default "lift"
        """
        check_int(top, "top", 1)
        values = self.measure(by)
        return self.take(np.argsort(values if by == "p_value" else -values, kind="stable")[:top])

    def to_frame(self, top: int | None = None) -> pl.DataFrame:
        """Return a Polars frame with a row for each rule: both sides, measures and intervals.

        Parameters
        ----------
        top : int, optional
            How many rules; all unless given.
        """
        rules = self if top is None else self.take(slice(check_int(top, "top", 0)))
        names = pl.Series("names", rules.items.names, dtype=pl.String)
        sizes = np.diff(rules.indptr)
        sides = pl.DataFrame(
            {
                "rule": np.repeat(np.arange(len(rules)), sizes),
                "antecedent": names.gather(rules.antecedents),
            }
        )
        lists = sides.group_by("rule", maintain_order=True).agg("antecedent")["antecedent"]
        low, high = rules.interval("confidence")
        columns: dict[str, Any] = {
            "antecedent": lists.cast(pl.List(pl.String)),
            "consequent": names.gather(rules.consequents),
            "count": rules.counts[:, 0],
            "support": rules.measure("support"),
            "confidence": rules.measure("confidence"),
            "confidence_low": low,
            "confidence_high": high,
        }
        for name in rules.measures:
            columns[name] = rules.measure(name)
            if name == "lift":
                columns["lift_low"], columns["lift_high"] = rules.interval("lift")
        return pl.DataFrame(columns)

    def to_text(self, top: int | None = 20) -> str:
        """Return a line for each rule.

        Parameters
        ----------
        top : int, optional
            How many rules; None for all.
        """
        listing = self._listing(None if top is None else check_int(top, "top", 0))
        lines = [
            f"  {row[0]} → {row[1]}: "
            + ", ".join(
                f"{name} {cell}" for name, cell in zip(listing.head[2:], row[2:], strict=True)
            )
            for row in listing.rows
        ]
        return "\n".join([listing.title, *lines])

    def __str__(self) -> str:
        return self.to_text()

    def _listing(self, top: int | None) -> Listing:
        rules = self if top is None else self.take(slice(top))
        confidence, support = rules.measure("confidence"), rules.measure("support")
        shown = [(name, rules.measure(name)) for name in rules.measures]
        rows, bars = [], []
        for k in range(len(rules)):
            antecedent, consequent = rules.sides(k)
            left = ", ".join(antecedent)
            numbers = [f"{values[k]:.4g}" for _, values in shown]
            rows.append((left, consequent, f"{support[k]:.2%}", f"{confidence[k]:.1%}", *numbers))
            hits = f"{rules.counts[k, 0]:,.6g} of {rules.counts[k, 1]:,.6g}"
            bars.append((f"{left} → {consequent}", float(confidence[k]), hits))
        head = ("antecedent", "consequent", "support", "confidence", *rules.measures)
        title = f"{len(self):,} association rules from {self.total:,.12g} records"
        return Listing(title, head, rows, bars, "confidence", percent=True)

    def to_html(self, top: int | None = 10_000, *, title: str | None = None) -> str:
        """Return a page with pictures, and a table that can be sorted and searched.

        It is one file, which needs nothing else.

        Parameters
        ----------
        top : int, optional
            How many rules, the most confident first; None for all.
        title : str, optional
        """
        from tacit.baskets.rule_page import rules_page

        return rules_page(self, title, None if top is None else check_int(top, "top", 0))

    def to_svg(
        self,
        *,
        kind: Literal["scatter", "network"] = "scatter",
        top: int | None = None,
        by: str = "lift",
    ) -> str:
        """Return a picture of the rules as SVG, light or dark as the reader has it.

        Parameters
        ----------
        kind : {"scatter", "network"}
            As for :meth:`plot`.
        top : int, optional
        by : str, default "lift"
        """
        from tacit.baskets.rule_network import network_scene
        from tacit.baskets.rule_scatter import Scatter
        from tacit.plot.scene import scene_svg

        check_choice(kind, "kind", ("scatter", "network"))
        shown = None if top is None else check_int(top, "top", 1)
        if kind == "network":
            return scene_svg(network_scene(self, shown, by))
        return scene_svg(Scatter(self if shown is None else self.strongest(shown, by=by)).scene)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Literal["scatter", "network", "bars"] = "scatter",
        top: int | None = None,
        by: str = "lift",
    ) -> Any:
        """Draw the rules with Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        kind : {"scatter", "network", "bars"}
            A dot for each rule by support and confidence, coloured by lift, with names at those of
            greatest lift, support and confidence; items as boxes with arrows from antecedents to
            consequents; or the confidence of each rule as a bar.
        top : int, optional
            How many rules. Unless given, all dots, the 20 most confident bars, and a network of
            25 rules, or fewer if their lines could not be followed.
        by : str, default "lift"
            The measure by which rules of dots and networks are chosen; bars are those of greatest
            confidence.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from tacit.baskets.rule_network import network_scene
        from tacit.baskets.rule_scatter import plot_scatter
        from tacit.plot import draw_scene

        check_choice(kind, "kind", ("scatter", "network", "bars"))
        shown = None if top is None else check_int(top, "top", 1)
        if kind == "bars":
            return super().plot(ax, top=20 if shown is None else shown)
        if kind == "network":
            return draw_scene(network_scene(self, shown, by), ax)
        return plot_scatter(self if shown is None else self.strongest(shown, by=by), ax)

    def _repr_html_(self) -> str:
        return self._listing_html(20)


def find_association_rules(
    sets: Itemsets,
    *,
    min_confidence: float,
    measures: Sequence[str],
    antecedent: Any,
    consequent: Any,
    min_lift: float,
    redundant: bool,
    min_improvement: float,
    level: float,
    n_jobs: int,
) -> AssociationRules:
    """Return the rules of frequent sets, as :meth:`tacit.FrequentItemsets.rules` describes them."""
    if sets.kind == "maximal":
        raise InputError(
            'kind: maximal sets do not tell the counts of antecedents; fit with kind="closed"'
        )
    least = check_number(min_confidence, "min_confidence", 0, 1)
    check_number(min_lift, "min_lift", 0)
    check_number(min_improvement, "min_improvement", 0, 1)
    check_flag(redundant, "redundant")
    if not 0 < check_number(level, "level", 0, 1) < 1:
        raise InputError(f"level must be between 0 and 1, got {level!r}")
    shown = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in shown:
        if name not in MEASURES:
            raise InputError(f"measures: {name!r} is not known{did_you_mean(name, MEASURES)}")
    split = _Split(sets)
    if consequent is not None:
        split.keep(np.isin(split.last, sets.items.find_all(consequent, "consequent")))
    if antecedent is not None:
        split.keep(split.holding(sets.items.find_all(antecedent, "antecedent")))
    counts = split.counts(n_jobs)
    split.keep(counts[:, 0] >= least * counts[:, 1] * (1 - 1e-12))
    counts = split.counts(n_jobs)
    lifts = counts[:, 0] * float(sets.total) / (counts[:, 1] * counts[:, 2])
    kept = lifts >= min_lift * (1 - 1e-12)
    if not redundant:
        kept &= _improves(split, counts, min_improvement, n_jobs)
    split.keep(kept)
    indptr, cells = split.rest()
    rules = AssociationRules(
        sets.items, indptr, cells, split.last, counts[kept], sets.total, shown, float(level)
    )
    confidence = counts[kept][:, 0] / counts[kept][:, 1]
    sizes = np.diff(indptr)
    return rules.take(np.lexsort((sizes, -counts[kept][:, 0], -confidence)))


class _Split:
    """Sets of two items and more, each once for every item that may be its consequent."""

    def __init__(self, sets: Itemsets) -> None:
        self.sets = sets
        large = np.flatnonzero(sets.sizes >= 2)
        self.owner = np.repeat(large, sets.sizes[large])  # which set
        starts = np.concatenate(([0], np.cumsum(sets.sizes[large])))[:-1]
        within = np.arange(len(self.owner)) - np.repeat(starts, sets.sizes[large])
        self.at = sets.indptr[self.owner] + within  # where the consequent is
        self._counts: NDArray[np.float64] | None = None

    @property
    def last(self) -> NDArray[np.uint32]:
        """The cell of each consequent."""
        return np.asarray(self.sets.cells[self.at])

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Pass over the others."""
        self.owner, self.at = self.owner[kept], self.at[kept]
        if self._counts is not None:
            self._counts = self._counts[kept]

    def rest(self) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return the antecedents: where each begins, and their cells."""
        return _without(self.sets, self.owner, self.at)

    def holding(self, cells: list[int]) -> NDArray[np.bool_]:
        """Return whose antecedents hold one of some cells."""
        indptr, rest = self.rest()
        hits = np.concatenate(([0], np.cumsum(np.isin(rest, cells))))
        return np.asarray(hits[indptr[1:]] > hits[indptr[:-1]])

    def counts(self, n_jobs: int) -> NDArray[np.float64]:
        """Return the counts of both sides, of the antecedent and of the consequent."""
        if self._counts is None:
            sets = self.sets
            n_cells = int(sets.items.schema.cells[-1])
            single = sets.counts_of(
                np.arange(n_cells + 1), np.arange(n_cells, dtype=np.uint32), n_jobs
            )
            self._counts = np.column_stack(
                (
                    sets.counts[self.owner].astype(np.float64),
                    sets.counts_of(*self.rest(), n_jobs).astype(np.float64),
                    single[self.last].astype(np.float64),
                )
            )
        return self._counts


def _without(
    sets: Itemsets, owner: NDArray[np.int64], *gone: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return sets less the cells at some positions, one of each set for each of `gone`."""
    sizes = sets.sizes[owner]
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    source = np.arange(int(indptr[-1])) + np.repeat(sets.indptr[owner] - indptr[:-1], sizes)
    kept = np.ones(len(source), np.bool_)
    for positions in gone:
        kept[indptr[:-1] + positions - sets.indptr[owner]] = False
    starts = np.concatenate(([0], np.cumsum(sizes - len(gone))))
    return starts, sets.cells[source[kept]]


def _improves(
    split: _Split, counts: NDArray[np.float64], least: float, n_jobs: int
) -> NDArray[np.bool_]:
    """Return which rules are more confident than those with one item less in the antecedent."""
    sets = split.sets
    confidence = counts[:, 0] / counts[:, 1]
    best = counts[:, 2] / float(sets.total)  # no antecedent at all
    sizes = sets.sizes[split.owner]
    for position in range(int(sizes.max(initial=0))):
        gone = sets.indptr[split.owner] + position
        some = np.flatnonzero((position < sizes) & (gone != split.at) & (sizes > 2))
        if len(some) == 0:
            continue
        owner, at, less = split.owner[some], split.at[some], gone[some]
        both = sets.counts_of(*_without(sets, owner, less), n_jobs)
        left = sets.counts_of(*_without(sets, owner, less, at), n_jobs)
        best[some] = np.maximum(best[some], both / left)
    return np.asarray(confidence > best + least + 1e-12)
