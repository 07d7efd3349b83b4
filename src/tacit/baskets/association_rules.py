"""Association rules: who holds some items holds another, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from tacit import _core
from tacit.baskets.measures import MEASURES, confidence_interval, lift_interval
from tacit.errors import InputError, did_you_mean
from tacit.listing import Listed, Listing
from tacit.machine import check_int, human_bytes
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
    max_bytes: int,
) -> AssociationRules:
    """Return the rules of frequent sets, as :meth:`tacit.FrequentItemsets.rules` describes them."""
    sets.check_counts("the counts of antecedents")
    least = check_number(min_confidence, "min_confidence", 0, 1)
    shown = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in shown:
        if name not in MEASURES:
            raise InputError(f"measures: {name!r} is not known{did_you_mean(name, MEASURES)}")
    items, n_cells = sets.items, int(sets.items.schema.cells[-1])
    first = None if antecedent is None else items.find_all(antecedent, "antecedent")
    last = None
    if consequent is not None:
        last = np.zeros(n_cells, np.uint8)
        last[items.find_all(consequent, "consequent")] = 1
    least_lift = check_number(min_lift, "min_lift", 0)
    check_flag(redundant, "redundant")
    gain = check_number(min_improvement, "min_improvement", 0, 1)
    check_number(level, "level", 0, 1, above=True, below=True)
    indptr, cells, consequents, both, left, complete = _core.association_rules(
        sets.indptr, sets.cells, sets.counts.astype(np.float64), n_cells, float(sets.total), least,
        bool(redundant), gain, last, max_bytes,
    )  # fmt: skip
    if not complete:
        raise InputError(
            f"min_confidence: the rules, and what is noted to find them, would take more than "
            f"{human_bytes(max_bytes)}; raise it or min_support, name consequents, leave "
            "redundant=False, or allow more with memory"
        )
    single = sets.counts_of(np.arange(n_cells + 1), np.arange(n_cells, dtype=np.uint32))
    counts = np.column_stack((both, left, single[consequents])).astype(np.float64)
    rules = AssociationRules(
        items, indptr, cells, consequents, counts, sets.total, shown, float(level)
    )
    kept = rules.measure("lift") >= least_lift * (1 - 1e-12)
    if first is not None:
        hits = np.concatenate(([0], np.cumsum(np.isin(cells, first))))
        kept &= hits[indptr[1:]] > hits[indptr[:-1]]
    rules = rules.take(kept)
    both, left, _ = rules.counts.T
    return rules.take(np.lexsort((np.diff(rules.indptr), -both, -both / left)))
