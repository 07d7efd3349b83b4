"""Sets of items that many records hold."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils.validation import check_is_fitted

from tacit.baskets.association_rules import AssociationRules, find_association_rules
from tacit.baskets.gathering import gather_baskets
from tacit.baskets.items import Items, presence_schema
from tacit.baskets.itemset_state import KINDS, itemsets_of_state, itemsets_state
from tacit.baskets.mining import Baskets, Forecast, Question, table_baskets
from tacit.errors import InputError
from tacit.estimator import Estimator, open_path
from tacit.listing import Listed, Listing
from tacit.machine import available_memory, check_int, count_jobs, parse_bytes
from tacit.parameters import check_choice, check_flag, store_parameters
from tacit.table import Table
from tacit.table.input_spec import InputSpec, note_names
from tacit.table.inputs import Inputs, is_baskets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit import store
    from tacit.scale import PartitionedTable
    from tacit.table.input_spec import Origin

__all__ = ["FrequentItemsets"]


class FrequentItemsets(Listed, Estimator):
    """Find the sets of items that stand together in many records.

    Exact: every set that enough records hold, of the kind that is asked for. An item is a value
    that differs from its column's default; of columns of False and True (or 0 and 1), that
    something is there, however common that is. With ``defaults=True`` every ``column = value`` is
    an item. A list of lists of text is baskets.

    The search is depth-first over projected records: lists where they are sparse, bitmaps where
    they are dense. What is found, and its order, do not depend on `n_jobs`. Ctrl-C keeps
    the sets of all branches that were searched to the end, with a warning; ``complete_`` is
    False then.

    Over partitions, a first pass counts the values, and a second one brings the records with two
    frequent values or more to one place, at two bytes a value or four, by way of a temporary file
    where the memory limit of the partitions asks for it. What is searched at a time keeps that
    limit, too, beside the list of itemsets.

    Parameters
    ----------
    min_support : float or int, default 0.01
        The fraction of records that must hold a set; an int is their number. With weights, of their
        sum.
    kind : {"closed", "all", "maximal"}
        Closed sets: none with one more item is in as many records, so that they tell the counts of
        all others. Maximal ones: none with one more item is frequent.
    n_itemsets : int, optional
        Only the most frequent ones of those that all other parameters allow, so many and those
        level with the last; not for maximal sets.
    min_size, max_size : int, default 1 and None
        Sets of other sizes are not listed. Which sets are closed, or maximal, does not depend on
        them.
    must_hold, must_not_hold : list of items, optional
        Only sets with all of the former are listed; the latter are as if they were not there, which
        closed and maximal sets may depend on. An item is a column's name (or its position), or a
        pair of it and a label.
    one_of : list of lists of items, optional
        Only sets with at least one item of each of these groups are listed.
    defaults : bool, default False
        Whether default values are items, too.
    memory : int or str, optional
        What the list of itemsets may take, such as "2GB"; half of what is free unless given.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 reports on stderr what is searched and how long it took.

    Attributes
    ----------
    itemsets_ : Itemsets
        The most frequent first.
    n_records_ : int or float
        The (weighted) number of records.
    complete_ : bool
        Whether these are all.
    feature_names_in_ : ndarray of str
    n_features_in_ : int

    Examples
    --------
    >>> import tacit
    >>> baskets = [["bread", "milk"], ["bread", "butter", "milk"], ["beer"], ["bread", "butter"]]
    >>> sets = tacit.FrequentItemsets(min_support=0.5, kind="all").fit(baskets)
    >>> print(sets.to_text())
    5 frequent itemsets of 4 records
      bread: 75.00% (3)
      butter: 50.00% (2)
      milk: 50.00% (2)
      bread, butter: 50.00% (2)
      bread, milk: 50.00% (2)
    >>> sets.support(["bread", "milk"])
    0.5
    """

    _kind = "frequent_itemsets"
    _input_tags = ("sparse", "categorical", "string")

    def __init__(
        self,
        *,
        min_support: float = 0.01,
        kind: Literal["closed", "all", "maximal"] = "closed",
        n_itemsets: int | None = None,
        min_size: int = 1,
        max_size: int | None = None,
        must_hold: Sequence[Any] | None = None,
        must_not_hold: Sequence[Any] | None = None,
        one_of: Sequence[Sequence[Any]] | None = None,
        defaults: bool = False,
        memory: int | str | None = None,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> FrequentItemsets:
        """Find the itemsets of records.

        Parameters
        ----------
        X : Table, PartitionedTable, list of baskets, frame, array, sparse array or path
        y : None
            Not used.
        sample_weight : array-like, optional
            A weight for each record.
        """
        baskets, origin = self._baskets(X, sample_weight)
        return self._search(baskets, self._question(baskets.items), origin)

    def _fit_partitions(self, X: PartitionedTable, y: None = None) -> FrequentItemsets:
        defaults = check_flag(self.defaults, "defaults")
        X = X._of_kinds(self.kinds)
        X = X.cut(self.discretise) if self.discretise is not None else X
        X = X.conform(presence_schema(X.schema))
        items = Items(X.schema, defaults)
        question = self._question(items)
        note_names(self, X.schema.names)
        return self._search(gather_baskets(X, items, question), question)

    def forecast(self, X: Any, sample_weight: Any = None) -> Forecast:
        """Return how many itemsets there are and what they take in memory; none is kept.

        Neither `one_of` nor `n_itemsets` is looked at, which make them fewer.

        Parameters
        ----------
        X : Table, list of baskets, frame, array, sparse array or path
        sample_weight : array-like, optional

        Returns
        -------
        Forecast
            ``n_itemsets`` and ``n_bytes``.
        """
        fresh = FrequentItemsets(**{**self.get_params(), "one_of": None, "n_itemsets": None})
        baskets, _ = fresh._baskets(open_path(X), sample_weight)
        return fresh._question(baskets.items).forecast(baskets)

    def _baskets(self, X: Any, sample_weight: Any) -> tuple[Baskets, Origin]:
        defaults = check_flag(self.defaults, "defaults")
        X = Table.from_baskets(X) if is_baskets(X, known=True) else _refuse_no_baskets(X)
        inputs = Inputs.fit(self, X, None, sample_weight, kinds=self.kinds, drop=True)
        table = inputs.table(self.discretise, n_jobs=self.n_jobs)
        return table_baskets(table, defaults=defaults), inputs.remembered.origin

    def _question(self, items: Items) -> Question:
        """Check the parameters, in the order in which they are listed."""
        support = check_support(self.min_support)
        check_choice(self.kind, "kind", KINDS)
        top = 0 if self.n_itemsets is None else check_int(self.n_itemsets, "n_itemsets", 1)
        if top and self.kind == "maximal":
            raise InputError("n_itemsets: which sets are maximal depends on min_support alone")
        low = check_int(self.min_size, "min_size", 1)
        high = None if self.max_size is None else check_int(self.max_size, "max_size", low)
        hold = items.find_all(_given(self.must_hold), "must_hold")
        exclude = items.find_all(_given(self.must_not_hold), "must_not_hold")
        if both := set(hold) & set(exclude):
            raise InputError(f"must_not_hold: {items.name(min(both))!r} is in must_hold, too")
        groups = self._groups(items)
        return Question(
            support, self.kind, top, (low, high), hold, exclude, groups, self._memory(),
            count_jobs(self.n_jobs),
        )  # fmt: skip

    def _groups(self, items: Items) -> list[list[int]]:
        given = [] if self.one_of is None else self.one_of
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InputError(f"one_of must be a list of lists of items, got {given!r}")
        groups = [items.find_all(group, f"one_of[{k}]") for k, group in enumerate(given)]
        if [] in groups:
            raise InputError(f"one_of[{groups.index([])}] is empty: no set holds one of its items")
        return groups

    def _memory(self) -> int:
        if self.memory is None:
            return (available_memory() or 2**34) // 2
        if isinstance(self.memory, str):
            return parse_bytes(self.memory, "memory")
        return check_int(self.memory, "memory", 1)

    def _search(
        self, baskets: Baskets, question: Question, origin: Origin = "table"
    ) -> FrequentItemsets:
        started = time.perf_counter()
        if self.verbose:
            n = len(baskets.indptr) - 1
            print(f"searching {n:,} records × {len(baskets.items.cells):,} items", file=sys.stderr)
        sets, complete = question.answer(baskets)
        if self.verbose:
            seconds = time.perf_counter() - started
            print(f"{len(sets):,} itemsets in {seconds:.2f} s", file=sys.stderr)
        self.itemsets_ = sets
        self.n_records_ = sets.total
        self.complete_ = complete
        self._input = InputSpec.of_schema(baskets.items.schema, origin)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "itemsets_")

    def support(self, items: Any) -> float:
        """Return the fraction of records that hold some items; 0 if they are not frequent.

        It is known of all frequent sets, unless sets were left out by `kind`, `min_size`,
        `max_size`, `must_hold` or `one_of`: then only of those that are listed.

        Parameters
        ----------
        items : list of items
        """
        check_is_fitted(self)
        return float(self.itemsets_.count(items) / self.n_records_)

    def rules(
        self,
        min_confidence: float = 0.5,
        *,
        measures: Sequence[str] = ("lift", "leverage", "conviction", "zhang"),
        antecedent: Any = None,
        consequent: Any = None,
        min_lift: float = 0.0,
        redundant: bool = False,
        min_improvement: float = 0.0,
        level: float = 0.95,
    ) -> AssociationRules:
        """Return the rules "who holds these items holds that one, too".

        A rule leads from one item or more to one item; there are none with several items in the
        consequent. Together both sides are a frequent set. Closed sets give the same rules as all
        sets, since they tell the counts of the others. Maximal sets do not, nor do sets of which
        `min_size`, `must_hold` or `one_of` left some out, or `max_size` of closed ones: these are
        refused.

        Parameters
        ----------
        min_confidence : float, default 0.5
            The least fraction of the antecedent's records that hold the consequent.
        measures : list of str, default lift, leverage, conviction and Zhang's metric
            What is shown of each rule besides support and confidence: "lift", "leverage",
            "conviction", "zhang", "jaccard", "cosine", "kulczynski", "chi2", "p_value".
        antecedent, consequent : list of items, optional
            Only rules whose antecedent holds one of these items; whose consequent is one of these.
        min_lift : float, default 0
            The least lift.
        redundant : bool, default False
            Whether to keep rules that say no more than a shorter one, listed or not: those that are
            not more confident than all rules to the same item from a part of the antecedent, the
            empty one included.
        min_improvement : float, default 0
            By how much they must be more confident at least, unless redundant ones are kept.
        level : float, default 0.95
            The confidence level of the intervals.

        Returns
        -------
        AssociationRules
            The most confident first.
        """
        check_is_fitted(self)
        return find_association_rules(
            self.itemsets_,
            min_confidence=min_confidence,
            measures=measures,
            antecedent=antecedent,
            consequent=consequent,
            min_lift=min_lift,
            redundant=redundant,
            min_improvement=min_improvement,
            level=level,
            max_bytes=self._memory(),
        )

    def to_frame(self, top: int | None = None) -> pl.DataFrame:
        """Return a Polars frame with a row for each set: items, size, support and count.

        Parameters
        ----------
        top : int, optional
            How many sets, the most frequent first; all unless given.
        """
        check_is_fitted(self)
        return self.itemsets_.to_frame(None if top is None else check_int(top, "top", 0))

    def to_text(self, top: int | None = 20) -> str:
        """Return one line for each set, below one that says how many there are.

        Parameters
        ----------
        top : int, optional
            How many sets, the most frequent first; None for all.
        """
        listing = self._listing(None if top is None else check_int(top, "top", 0))
        lines = [f"  {items}: {support} ({count})" for items, support, count in listing.rows]
        return "\n".join([listing.title, *lines])

    def _listing(self, top: int | None) -> Listing:
        check_is_fitted(self)
        sets = self.itemsets_
        rows = sets.rows(top)
        bars = [(row[0], float(sets.supports[k]), row[2]) for k, row in enumerate(rows)]
        return Listing(
            sets.title, ("items", "support", "records"), rows, bars, "support", percent=True
        )

    def to_html(self, top: int | None = 10_000, *, title: str | None = None) -> str:
        """Return a page with a table of the sets that can be sorted and searched.

        It is one file, which needs nothing else.

        Parameters
        ----------
        top : int, optional
            How many sets, the most frequent first; None for all.
        title : str, optional
        """
        from tacit.baskets.rule_page import itemsets_page

        check_is_fitted(self)
        shown = None if top is None else check_int(top, "top", 0)
        return itemsets_page(self.itemsets_, title, shown)

    def _html_of_fit(self) -> str:
        return self._listing_html(20)

    def to_state(self) -> store.State:
        """Return the named arrays that a file holds."""
        return itemsets_state(self)

    @classmethod
    def from_state(cls, state: store.State) -> FrequentItemsets:
        """Make the model that :meth:`to_state` described.

        Parameters
        ----------
        state : mapping of str to ndarray
        """
        return itemsets_of_state(cls, state)


def _refuse_no_baskets(X: Any) -> Any:
    """Return X, unless it is a list that can be neither baskets nor an array."""
    if not isinstance(X, list | tuple):
        return X
    if not len(X):
        raise InputError("X is empty: there are no baskets")
    if not all(isinstance(basket, list | tuple) for basket in X) or len(set(map(len, X))) == 1:
        return X
    for k, basket in enumerate(X):
        for item in basket:
            if not isinstance(item, str):
                raise InputError(f"X: items of baskets must be text, got {item!r} in basket {k}; "
                                 "Table.from_baskets(X) makes text of them")  # fmt: skip
    return X


def _given(items: Any) -> Any:
    return [] if items is None else items


def check_support(min_support: Any) -> int | float:
    """Return a least support: a number of records, or a fraction of them."""
    if isinstance(min_support, Integral):  # True is refused by check_int
        return check_int(min_support, "min_support", 1, 2**53)
    if isinstance(min_support, Real) and 0 < float(min_support) <= 1:
        return float(min_support)
    raise InputError(
        "min_support must be a fraction above 0 and up to 1, or a whole number of records, got "
        f"{min_support!r}"
    )
