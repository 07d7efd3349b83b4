"""What tables, counts and pairs look like in a terminal."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table as Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from tacit.counts import ContingencyTable
    from tacit.listing import Listing
    from tacit.network import Distribution
    from tacit.network.bayes_net.net_estimator import NetEstimator
    from tacit.rules import Rule
    from tacit.schema import Label
    from tacit.select.best_subset import Subset
    from tacit.table.summary import ColumnSummary

__all__ = [
    "arcs_grid",
    "column_grid",
    "confusion_grid",
    "contingency_grid",
    "contingency_title",
    "edges_grid",
    "distribution_grid",
    "facts_grid",
    "families_grid",
    "figures_grid",
    "gains_grid",
    "interval",
    "items_grid",
    "labels_grid",
    "likelihood_rows",
    "listing_grid",
    "measures_grid",
    "number",
    "occurring",
    "pairs_grid",
    "rules_grid",
    "score_rows",
    "scores_grid",
    "strengths_grid",
    "subsets_grid",
]

_LONGEST = 10_000  # cells in a list
_WIDEST = 8  # labels side by side; more are listed below each other


def number(count: float) -> str:
    """Write a count, or a sum of weights.

    >>> number(12345), number(0.5)
    ('12,345', '0.5')
    """
    return f"{count:,}" if isinstance(count, int) else f"{count:,.6g}"


def interval(count: float, lower: float | None = None, upper: float | None = None) -> str:
    """Write a count, and its bounds where they leave a doubt.

    >>> interval(12), interval(12, 10, 15), interval(12, 12, 12)
    ('12', '12 [10, 15]', '12')
    """
    if lower is None or upper is None or lower == upper:
        return number(count)
    return f"{number(count)} [{number(lower)}, {number(upper)}]"


def _show(label: Label) -> str:
    return "(missing)" if label is None else str(label)


def _percent(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def _grid(texts: Sequence[str], numbers: Sequence[str], last: Sequence[str] = ()) -> Grid:
    """Return an empty grid: columns of text, to their right columns of numbers, and some last."""
    grid = Grid(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for name in texts:
        grid.add_column(name, overflow="fold")
    for name in numbers:
        grid.add_column(name, justify="right", overflow="fold")
    for name in last:
        grid.add_column(name, overflow="fold")
    return grid


def facts_grid(rows: Sequence[tuple[str, str]]) -> Grid:
    """Lay out names and what is to be said of them."""
    grid = Grid.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def score_rows(scores: dict[str, Any], title: str) -> list[tuple[str, str]]:
    """Return lines that say how well a model predicts; scores are those of :mod:`tacit.metrics`."""
    rows = [(title, number(scores["records"]))]
    if "accuracy" in scores:
        common = f"(most common class: {scores['majority']:.2%})"
        rows.append(("  accuracy", f"{scores['accuracy']:.2%} {common}"))
        if "log_likelihood" in scores:
            rows.append(("  log-likelihood", f"{scores['log_likelihood']:.4f} nats a record"))
        if scores.get("auc") is not None:
            rows.append(("  area under the curve", f"{scores['auc']:.4f}"))
    elif "hamming" in scores:
        held = f"(labels that are 1: {scores['label_fraction']:.2%})"
        rows.append(("  Hamming loss", f"{scores['hamming']:.2%} {held}"))
        rows.append(("  subset accuracy", f"{scores['subset']:.2%}"))
    else:
        rows.append(("  R²", "–" if scores["r2"] is None else f"{scores['r2']:.4f}"))
        rows.append(("  root mean squared error", f"{scores['rmse']:,.4g}"))
    return rows


def likelihood_rows(scores: dict[str, float]) -> list[tuple[str, str]]:
    """Return lines with the mean log-likelihoods of training and test records, where known."""
    titles = {"train": "log-likelihood", "test": "  of --test"}
    return [(titles[name], f"{score:,.4f} a record") for name, score in scores.items()]


def confusion_grid(labels: Sequence[Any], counts: Any) -> Grid:
    """Lay out a confusion matrix: classes by row, predicted classes by column."""
    grid = Grid(box=None, pad_edge=False, title=None)
    grid.add_column("class \\ predicted")
    for label in labels:
        grid.add_column(str(label), justify="right")
    for label, row in zip(labels, counts.tolist(), strict=True):
        grid.add_row(str(label), *(f"{count:,}" for count in row))
    return grid


def column_grid(details: Iterable[ColumnSummary]) -> Grid:
    """List columns with their kinds, numbers of labels, defaults and what was decided why."""
    grid = _grid(["column", "kind"], ["labels", "default", "fraction", "missing"], ["why"])
    for each in details:
        missing = f"{each.missing_fraction:.1%}" if each.missing_fraction else "–"
        fraction = f"{each.default_fraction:.1%}"
        labels = f"{each.labels:,}"
        grid.add_row(each.name, each.kind, labels, each.default, fraction, missing, each.reason)
    return grid


def contingency_title(counts: ContingencyTable) -> str:
    """Return the line above the counts."""
    about = "" if counts.exact else "about "
    parts = [" × ".join(counts.names), f"{about}{number(counts.total)} records"]
    if counts.layout == "sparse":
        parts.append(f"{counts.n_occurring:,} of {counts.n_cells:,} cells occur")
    if not counts.exact:
        parts.append("approximate [lower, upper]")
    return ", ".join(parts)


def contingency_grid(counts: ContingencyTable) -> Grid:
    """Lay out counts: two columns as a square if they fit, all else as a list."""
    columns = counts.columns
    if len(columns) == 2 and columns[1].arity <= _WIDEST and counts.layout == "dense":
        return _square(counts)
    grid = _grid([column.name for column in columns], ["count", "share"])
    cells = occurring(counts)
    for labels, *numbers in islice(cells, _LONGEST):
        grid.add_row(*map(_show, labels), interval(*numbers), _percent(numbers[0], counts.total))
    if more := sum(1 for _ in cells):
        grid.add_row(f"… and {more:,} more: write them to a file, or ask for JSON")
    return grid


def occurring(counts: ContingencyTable) -> Iterator[tuple[Any, ...]]:
    """Go through the combinations of labels that occur, or may occur, in code order.

    Yields the labels and the count, and both bounds if the table is approximate.
    """
    if counts.exact:
        codes, *numbers = counts.cells()
    else:
        lower, upper = counts.bounds()
        codes, highest = upper.cells()
        places = tuple(codes.T)
        numbers = [counts.to_array()[places], lower.to_array()[places], highest]
    lists = [array.tolist() for array in numbers]
    for cell, *row in zip(codes.tolist(), *lists, strict=True):
        labels = [column.labels[code] for column, code in zip(counts.columns, cell, strict=True)]
        yield labels, *row


def _square(counts: ContingencyTable) -> Grid:
    down, across = counts.columns
    array = counts.to_array()
    bounds = [] if counts.exact else [bound.to_array().tolist() for bound in counts.bounds()]
    grid = _grid([f"{down.name} \\ {across.name}"], [*map(_show, across.labels), "total"])
    for label, *lines in zip(down.labels, array.tolist(), *bounds, strict=True):
        grid.add_row(_show(label), *map(interval, *lines), number(sum(lines[0])))
    grid.add_section()
    grid.add_row("total", *map(number, array.sum(axis=0).tolist()), number(counts.total))
    return grid


def measures_grid(measures: dict[str, Any]) -> Grid:
    """Lay out what columns tell of each other."""
    rows = [
        (f"entropy of {name}", f"{nats:.4f} nats") for name, nats in measures["entropy"].items()
    ]
    if "joint_entropy" in measures:
        rows.append(("joint entropy", f"{measures['joint_entropy']:.4f} nats"))
    if "chi2" in measures:
        test = measures["chi2"]
        p_value = f"p = {test['p_value']:.3g}" if test["p_value"] else "p < 1e-300"
        freedom = f"{test['dof']:,} degree{'' if test['dof'] == 1 else 's'} of freedom"
        rows += [
            ("mutual information", f"{measures['mutual_information']:.4f} nats"),
            ("chi-squared", f"{test['statistic']:,.6g}, {freedom}, {p_value}"),
            ("Cramér's V", f"{measures['cramers_v']:.4f}"),
        ]
    return facts_grid(rows)


def pairs_grid(strongest: pl.DataFrame) -> Grid:
    """Lay out the strongest pairs."""
    grid = _grid(["a", "b"], ["together", "expected", "lift"])
    for a, b, count, expected, lift in strongest.iter_rows():
        grid.add_row(a, b, number(count), f"{expected:,.1f}", f"{lift:,.2f}")
    return grid


def rules_grid(rules: Sequence[Rule]) -> Grid:
    """Lay out rules, the best first."""
    grid = _grid(["conditions"], ["hits", "support", "confidence", "lift", "score"])
    for rule in rules:
        grid.add_row(
            ", ".join(f"{name} = {_show(label)}" for name, label in rule.conditions.items()),
            number(rule.hits),
            number(rule.support),
            f"{rule.confidence:.1%}",
            f"{rule.lift:,.2f}",
            f"{rule.score:,.4g}",
        )
    return grid


def listing_grid(listing: Listing, n_texts: int = 1) -> Grid:
    """Lay out a list of results: so many columns of text, and numbers to their right."""
    grid = _grid(listing.head[:n_texts], listing.head[n_texts:])
    for row in listing.rows:
        grid.add_row(*row)
    return grid


def subsets_grid(subsets: Sequence[Subset]) -> Grid:
    """Lay out sets of columns, the best first."""
    grid = _grid(["columns"], ["score", "gain", "combinations"])
    for subset in subsets:
        numbers = f"{subset.score:.4f}", f"{subset.gain:.4f}", f"{subset.n_combinations:,}"
        grid.add_row(", ".join(subset.columns), *numbers)
    return grid


def arcs_grid(arcs: pl.DataFrame) -> Grid:
    """Lay out what depends on what, the strongest first."""
    grid = _grid(["predictor", "target", "influence"], ["change", "gain"])
    for row in arcs.select("predictor", "target", "influence", "change", "gain").iter_rows():
        *texts, change, gain = row
        grid.add_row(*texts, f"{change:+.1%}", f"{gain:,.1f}")
    return grid


def edges_grid(edges: pl.DataFrame) -> Grid:
    """Lay out the edges of a dependency tree, or of several, the heaviest first."""
    if "clusters" in edges.columns:
        grid = _grid(["from", "to"], ["nats", "clusters"])
        for a, b, weight, held in edges.iter_rows():
            grid.add_row(a, b, f"{weight:.4f}", f"{held:.0%}")
        return grid
    sure = bool((edges["low"] == edges["high"]).all())
    grid = _grid(["from", "to"], ["nats"] if sure else ["nats", "at least", "at most"])
    for a, b, *numbers in edges.iter_rows():
        grid.add_row(a, b, *(f"{x:.4f}" for x in numbers[: 1 if sure else 3]))
    return grid


def items_grid(items: pl.DataFrame) -> Grid:
    """Lay out what goes with a basket, the most probable first."""
    grid = _grid(["item"], ["probability"])
    for item, probability in items.select("item", "probability").iter_rows():
        grid.add_row(item, f"{probability:.1%}")
    return grid


def scores_grid(items: pl.DataFrame) -> Grid:
    """Lay out items with their scores or similarities, the best first."""
    _, measure, *_ = items.columns
    grid = _grid(["item"], [measure])
    for item, score in items.select("item", measure).iter_rows():
        grid.add_row(item, f"{score:.4f}")
    return grid


def figures_grid(figures: pl.DataFrame) -> Grid:
    """Lay out how good recommenders are, with half the width of the intervals."""
    measures = [name for name in figures.columns[2:] if not name.endswith((" low", " high"))]
    grid = _grid(["recommender"], measures)
    for row in figures.iter_rows(named=True):
        cells = []
        for name in measures:
            high = row.get(f"{name} high")
            width = "" if high is None else f" ± {high - row[name]:.3f}"
            cells.append(f"{row[name]:.3f}{width}")
        grid.add_row(row["recommender"], *cells)
    return grid


def distribution_grid(answer: Distribution) -> Grid:
    """Lay out the answer to a query, in the order of labels."""
    grid = _grid(list(answer.names), ["probability"])
    rows = answer.to_frame().iter_rows()
    for *labels, probability in islice(rows, _LONGEST):
        grid.add_row(*map(_show, labels), f"{probability:.4%}")
    if more := sum(1 for _ in rows):
        grid.add_row(f"… and {more:,} more: ask for JSON")
    return grid


def families_grid(net: NetEstimator) -> Grid:
    """List the columns of a net with what they depend on."""
    grid = _grid(["column", "parents"], ["labels", "parameters"])
    for column, above, table in zip(net.schema_, net.parents_, net.tables_, strict=True):
        parents = ", ".join(net.column_names_[p] for p in above)
        rows, arity = table.shape
        grid.add_row(column.name, parents, f"{arity:,}", f"{rows * (arity - 1):,}")
    return grid


def strengths_grid(strengths: pl.DataFrame) -> Grid:
    """List how often nets of resampled records join two columns, and which way."""
    grid = _grid(["from", "to"], ["strength", "direction", "essential"])
    for *names, strength, direction, essential in islice(strengths.iter_rows(), _LONGEST):
        grid.add_row(*names, f"{strength:.1%}", f"{direction:.1%}", f"{essential:.1%}")
    if (more := strengths.height - _LONGEST) > 0:
        grid.add_row(f"… and {more:,} more: ask for JSON")
    return grid


def labels_grid(labels: dict[str, Any]) -> Grid:
    """List columns with a label each."""
    grid = _grid(["column", "label"], [])
    for name, label in labels.items():
        grid.add_row(name, _show(label))
    return grid


def gains_grid(gains: pl.DataFrame) -> Grid:
    """List columns by what they say of another one."""
    grid = _grid(["column"], ["gain (nats)", "entropy left"])
    for name, gain, entropy in islice(gains.iter_rows(), _LONGEST):
        grid.add_row(name, f"{gain:.4f}", f"{entropy:.4f}")
    if (more := gains.height - _LONGEST) > 0:
        grid.add_row(f"… and {more:,} more: ask for JSON")
    return grid
