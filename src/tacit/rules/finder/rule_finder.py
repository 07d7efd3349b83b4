"""The search for the best rules about one value of a column."""

from __future__ import annotations

import sys
import time
from numbers import Integral, Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.listing import Listed, Listing
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, store_parameters
from tacit.rules.finder.rule import Rule, show_conditions
from tacit.table.gateway import check_target
from tacit.table.inputs import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["RuleFinder"]

_CRITERIA = ("confidence", "lift", "leverage", "wilson")


class _Search(NamedTuple):
    """The parameters, checked against a table."""

    target: int
    code: int
    lengths: tuple[int, int]
    min_support: float


class RuleFinder(Listed, Estimator):
    """Find the conditions under which a column has a value.

    Tries every conjunction of `n_conditions` conditions ``column = label`` on different columns
    that at least `min_support` records match, and keeps the best. Nothing is sampled or guessed:
    the answer is that of trying them all, and branches are left out only if they cannot hold a
    rule that is good enough. Columns of one value take no part.

    Equally good rules are ranked by support, then the one with fewer conditions comes first, then
    the one whose columns, and at last whose codes, come first in the table. So the answer is
    unique, and the same for any number of threads.

    This is no classifier: it describes a table and takes no `y`, as the target is one of the
    table's columns.

    Parameters
    ----------
    target : str or int
        The column that rules are about.
    value : label
        The target's label that rules lead to.
    n_conditions : int or (int, int), default (1, 2)
        Number of conditions, or the least and the greatest number.
    min_support : int or float, default 30
        Records that must match the conditions, as a number and not as a fraction; with weights, the
        sum of their weights.
    n_rules : int, default 20
        How many rules to keep.
    criterion : {"confidence", "lift", "leverage", "wilson"}
        What makes a rule good: the fraction of hits among the records that match; the same relative
        to all records; hits beyond those expected of independence; or the lower end of Wilson's
        confidence interval for the fraction, which trusts small numbers less.
    level : float, default 0.95
        The confidence level of that (two-sided) interval.
    default_conditions : bool, default True
        Whether a condition may ask for a column's default. Without those, rules speak of what is
        there and not of what is absent, and wide sparse tables are searched quickly.
    redundant : bool, default False
        Whether to keep rules that say nothing new: those that are no better than a rule with some
        of their conditions, of any number (of more than 12 conditions, one is left out at a time),
        and those that cover the same records as one before them.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 reports on stderr what is searched and how long it took.

    Attributes
    ----------
    rules_ : list of Rule
        The best first; fewer than `n_rules` if no more have the support.
    n_records_ : int or float
        The (weighted) number of records searched.
    n_hits_ : int or float
        The (weighted) number of them that have the value.
    feature_names_in_ : ndarray of str
        The table's columns, the target among them.
    n_features_in_ : int

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> finder = tacit.RuleFinder("scores", True, n_conditions=2, min_support=200, n_rules=3)
    >>> print(finder.fit(visits).to_text())
    scores = True, 8.4% of all records, if
      sports = True, football = True: 62.7% (659 of 1,051)
      football = True, weather = True: 58.0% (116 of 200)
      news = False, football = True: 57.4% (564 of 982)
    """

    def __init__(
        self,
        target: str | int,
        value: Any,
        *,
        n_conditions: int | tuple[int, int] = (1, 2),
        min_support: float = 30,
        n_rules: int = 20,
        criterion: Literal["confidence", "lift", "leverage", "wilson"] = "confidence",
        level: float = 0.95,
        default_conditions: bool = True,
        redundant: bool = False,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: None = None) -> RuleFinder:
        """Search a table.

        Parameters
        ----------
        X : Table, frame, array, sparse array or mapping of columns
            With the target among its columns.
        y : None
            Not used.
        """
        if y is not None:
            raise InputError("y: the target is a column of the table; give its name as target")
        inputs = Inputs.fit(self, X, kinds=self.kinds)
        given = inputs.table(self.discretise, n_jobs=self.n_jobs)
        target = given.schema.names[given.schema.position(self.target, "target")]
        table = _varied(given, target)
        search = self._check(table, target)
        started = time.perf_counter()
        if self.verbose:
            print(self._headline(table, search), file=sys.stderr)
        schema, z = table.schema, NormalDist().inv_cdf((1 + self.level) / 2)
        best, total, hits = _core.find_rules(
            *table.postings, schema.offsets, schema.defaults, table.n_records, table.weights,
            search.target, search.code, search.lengths, search.min_support,
            min(int(self.n_rules), 2**62), self.criterion, z, bool(self.default_conditions),
            bool(self.redundant), "auto", count_jobs(self.n_jobs),
        )  # fmt: skip
        if self.verbose:
            seconds = time.perf_counter() - started
            print(f"{len(best)} rules in {seconds:.2f} s", file=sys.stderr)
        self.rules_ = [_rule(schema, *rule, total=total, all_hits=hits) for rule in best]
        self.n_records_ = total
        self.n_hits_ = hits
        self._target = schema.names[search.target]
        return self

    def _check(self, table: Table, name: str) -> _Search:
        """Check the parameters, in the order in which they are listed."""
        schema = table.schema
        target = check_target(schema, name)
        code = schema.column(target).code(self.value)
        if table.count({name: self.value}) == 0:
            raise InputError(f"value: no record has {name} = {self.value!r}")
        columns = len(schema) - 1
        lengths = _lengths(self.n_conditions)
        if lengths[1] > columns:
            raise InputError(
                f"n_conditions: there are {columns} columns of more than one value besides the "
                f"target, too few for {lengths[1]} conditions"
            )
        min_support = _check_support(self.min_support, table.weights is not None)
        check_int(self.n_rules, "n_rules", 1)
        check_choice(self.criterion, "criterion", _CRITERIA)
        level: Any = self.level
        if not isinstance(level, Real) or not 0 < float(level) <= 1 - 1e-12:
            raise InputError(f"level must be between 0 and 1, got {level!r}")
        count_jobs(self.n_jobs)
        return _Search(target, code, lengths, min_support)

    def _headline(self, table: Table, search: _Search) -> str:
        low, high = search.lengths
        conditions = str(low) if low == high else f"{low} to {high}"
        return (
            f"searching {table.n_records:,} records × {table.n_columns - 1:,} columns for rules of "
            f"{conditions} conditions"
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rules_")

    def to_frame(self) -> pl.DataFrame:
        """Return a Polars frame with a row for each rule: its conditions and its numbers."""
        check_is_fitted(self)
        conditions = [show_conditions(rule.conditions) for rule in self.rules_]
        columns = {"conditions": pl.Series(conditions, dtype=pl.String)}
        count = pl.Float64 if isinstance(self.n_records_, float) else pl.Int64
        for name in ("support", "hits", "confidence", "lift", "leverage", "score"):
            dtype = count if name in ("support", "hits") else pl.Float64
            columns[name] = pl.Series([getattr(rule, name) for rule in self.rules_], dtype=dtype)
        return pl.DataFrame(columns)

    def to_text(self, top: int | None = None) -> str:
        """Return one line for each rule, below one that says what they lead to.

        Parameters
        ----------
        top : int, optional
            How many rules; all unless given.
        """
        check_is_fitted(self)
        rules = self.rules_ if top is None else self.rules_[: check_int(top, "top", 0)]
        return "\n".join([self._title(), *(f"  {rule}" for rule in rules)])

    def _title(self) -> str:
        rate = self.n_hits_ / self.n_records_
        return f"{show_conditions({self._target: self.value})}, {rate:.1%} of all records, if"

    def _listing(self, top: int | None) -> Listing:
        check_is_fitted(self)
        rows, bars = [], []
        for rule in self.rules_[:top]:
            conditions = show_conditions(rule.conditions)
            hits = f"{rule.hits:,.6g} of {rule.support:,.6g}"
            rows.append((conditions, f"{rule.confidence:.1%}", hits, f"{rule.lift:.4g}"))
            bars.append((conditions, rule.score, hits))
        return Listing(
            self._title(),
            ("conditions", "confidence", "records", "lift"),
            rows,
            bars,
            f"{self.criterion} of {show_conditions({self._target: self.value})}",
            percent=self.criterion in ("confidence", "wilson"),
        )

    def _html_of_fit(self) -> str:
        return self.to_html()


def _rule(
    schema: Schema,
    conditions: tuple[tuple[int, int], ...],
    support: Any,
    hits: Any,
    score: float,
    *,
    total: Any,
    all_hits: Any,
) -> Rule:
    query = {schema.names[c]: schema.labels[c][code] for c, code in conditions}
    confidence, leverage = hits / support, (hits * total - support * all_hits) / total
    return Rule(query, support, hits, confidence, confidence / (all_hits / total), leverage, score)


def _varied(table: Table, target: str) -> Table:
    """Return the table without columns of one value, which no condition is needed for."""
    schema = table.schema
    kept = (schema.arities > 1).tolist()
    kept[schema.position(target)] = True
    return table if all(kept) else table.select([c for c, keep in enumerate(kept) if keep])


def _lengths(n_conditions: Any) -> tuple[int, int]:
    """Return the least and the greatest number of conditions."""
    pair = n_conditions if isinstance(n_conditions, tuple | list) else (n_conditions, n_conditions)
    numbers = all(isinstance(n, Integral) and not isinstance(n, bool) for n in pair)
    if len(pair) != 2 or not numbers:
        raise InputError(
            f"n_conditions must be a whole number, or the least and the greatest, "
            f"got {n_conditions!r}"
        )
    low, high = int(pair[0]), int(pair[1])
    if not 1 <= low <= high:
        raise InputError(f"n_conditions must be at least 1 and ascending, got {n_conditions!r}")
    return low, high


def _check_support(min_support: Any, weighted: bool) -> float:
    if isinstance(min_support, bool) or not isinstance(min_support, Real):
        raise InputError(f"min_support must be a number, got {min_support!r}")
    value = float(min_support)
    if weighted and not 0 < value < float("inf"):
        raise InputError(f"min_support must be positive and finite, got {min_support!r}")
    if not weighted and not 1 <= value < float("inf"):
        raise InputError(
            "min_support is a number of records, not a fraction, and at least 1; got "
            f"{min_support!r}"
        )
    return value
