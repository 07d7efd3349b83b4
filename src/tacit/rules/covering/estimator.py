"""Covering rules: an ordered list of rules, learnt by separate and conquer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.parameters import make_generator
from tacit.progress import show_progress
from tacit.rules.boosted.outputs import read_classes
from tacit.rules.checks import check_choice, check_flag, check_number, kept_on_failure
from tacit.rules.columns.features import RuleFeatures
from tacit.rules.covering.decision_list import DecisionList, ListArrays
from tacit.rules.covering.search import (
    HEURISTICS,
    CoveringSettings,
    learn_rules,
    on_a_grid,
    scale_power,
)
from tacit.rules.sample import one_record, take_sample, without_target
from tacit.scale import over_parts

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["CoveringRulesClassifier"]

_ORDERS = ("ascending", "descending")
_MOST_CONDITIONS = 255


class CoveringRulesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a list of rules, of which the first that holds decides.

    Rules are learnt by separate and conquer. For one class after the other, a rule is grown
    condition by condition, as long as a heuristic gets better; pruned on records that it was not
    grown on; and kept if most of those that it covers, there and in all, are of the class. Records
    that it covers are set aside, and the next rule is learnt from the rest. What no rule covers
    goes to the class that most of it has.

    Values that most records have are neither stored nor visited; the rules are those that a search
    of all values would find.

    Parameters
    ----------
    heuristic : {"f_measure", "precision", "laplace", "m_estimate", "kulczynski"}
        What conditions are chosen by. With p records of the class and n others covered, of P and N
        that are left:

        - "f_measure": the F-measure of precision and recall, (1 + β²) p / (β² P + p + n);
        - "precision": p / (p + n). Rules tend to cover little;
        - "laplace": (p + 1) / (p + n + 2);
        - "m_estimate": (p + m P / (P + N)) / (p + n + m);
        - "kulczynski": the mean of precision and recall, (p / (p + n) + p / P) / 2.

    beta : float, default 0.25
        β of the F-measure: how much recall counts beside precision.
    m : float, default 22.466
        m of the m-estimate: how many records the class's share counts for.
    prune : bool, default True
        Whether to hold out records for each rule, and to drop last conditions without which it is
        as precise on them (incremental reduced error pruning).
    prune_share : float, default 1/3
        The share of records that are held out.
    patience : int, default 10
        With pruning: how many rules in a row may turn out not to be worth having, each grown and
        pruned on other records, before there are no more for a class.
    max_conditions : int, default 5
        Of a rule; at most 255.
    min_support : float, default 1
        The (weighted) number of records that a rule covers at least, of those it is grown on.
    max_rules : int, optional
        Of the list, without the last one.
    order : {"ascending", "descending"}
        Whether rules for rare classes come first or last. There are none for the class that would
        come last.
    predominant : {"auto", "zero", "none"} or array-like
        Which value of each column is not stored. The rules do not depend on it, only the time.
    nominal : sequence of str or int, optional
        Columns of numbers that are labels.
    random_state : int, RandomState, Generator or None
        Says which records are held out.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 shows on stderr how many records are covered.

    Attributes
    ----------
    rules_ : DecisionList
        The rules, with what they cover and how precise they are; the last one is the default.
    n_rules_ : int
        Their number, without the default.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        For frames and Tables.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> model = tacit.CoveringRulesClassifier(random_state=0).fit(visits, "sports")
    >>> print(model.to_text())
    if scores = True then True, covers 1,677, precision 0.89
    if football = True and hotels = False then True, covers 544, precision 0.71
    otherwise False, covers 17,779, precision 0.91
    >>> model.predict(visits)[:3]
    array([False, False, False])
    """

    _features: RuleFeatures
    _target_name: str | None

    def __init__(
        self,
        heuristic: str = "f_measure",
        *,
        beta: float = 0.25,
        m: float = 22.466,
        prune: bool = True,
        prune_share: float = 1 / 3,
        patience: int = 10,
        max_conditions: int = 5,
        min_support: float = 1,
        max_rules: int | None = None,
        order: str = "ascending",
        predominant: Any = "auto",
        nominal: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.heuristic = heuristic
        self.beta = beta
        self.m = m
        self.prune = prune
        self.prune_share = prune_share
        self.patience = patience
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.max_rules = max_rules
        self.order = order
        self.predominant = predominant
        self.nominal = nominal
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CoveringRulesClassifier:
        """Learn the rules.

        Parameters
        ----------
        X : Table, frame, array or sparse array of shape (n_records, n_columns)
            Numbers are compared as float64: whole ones above 2**53 may become the same.
        y : array-like of shape (n_records,), or str
            The classes, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for. They are rounded to a millionth of the largest.

        Returns
        -------
        CoveringRulesClassifier
            Itself.
        """
        settings = self._settings()
        with kept_on_failure(self):
            self._learn(X, y, sample_weight, settings)
        return self

    @over_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the first rule that covers each record.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable

        Returns
        -------
        ndarray of shape (n_records,)
        """
        first = self._first_rules(X)
        predicted: NDArray[Any] = self.classes_[self.rules_.arrays.classes[first]]
        return predicted

    @over_parts
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class among the training records that the deciding rule covers.

        One record of each class is added, after Laplace: rules that cover little are less sure.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable

        Returns
        -------
        ndarray of shape (n_records, n_classes)
        """
        first = self._first_rules(X)
        weights = self.rules_.arrays.weights + 1
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares[first]

    def explain(self, X: Any) -> pl.DataFrame:
        """Return the rule that decides about each record.

        Parameters
        ----------
        X : like the one that was fitted, or one record of it

        Returns
        -------
        polars.DataFrame
            A row for each record: record, rule, conditions, class, support and precision.
        """
        X = one_record(X) if getattr(X, "ndim", 2) == 1 else X
        first = pl.DataFrame({"rule": self._first_rules(X)}).with_row_index("record")
        rules = self.rules_.to_frame().drop("hits")
        return first.join(rules, on="rule", how="left", maintain_order="left")

    def to_text(self, top: int | None = None) -> str:
        """Return the rules as text, one a line.

        Parameters
        ----------
        top : int, optional
            How many of the first; all unless given. The last is always there.
        """
        check_is_fitted(self)
        return self.rules_.to_text(top)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :func:`tacit.load` reads; atomic.

        Generators of random numbers and arrays of predominant values are not kept, as predictions
        do not depend on them.

        Parameters
        ----------
        path : path-like
        """
        from tacit.rules.covering.saving import write_model

        check_is_fitted(self)
        write_model(path, self)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there are rules."""
        return hasattr(self, "rules_")

    @property
    def n_rules_(self) -> int:
        """The number of rules, without the default."""
        check_is_fitted(self)
        return len(self.rules_) - 1

    # Steps of fit

    def _settings(self) -> CoveringSettings:
        heuristic = check_choice(self.heuristic, "heuristic", HEURISTICS)
        beta = check_number(self.beta, "beta", 0)
        m = check_number(self.m, "m", 0)
        share = check_number(self.prune_share, "prune_share", 0, 1, above=True, below=True)
        conditions = check_int(self.max_conditions, "max_conditions", 1)
        check_choice(self.order, "order", _ORDERS)
        return CoveringSettings(
            heuristic,
            {"f_measure": beta, "m_estimate": m}.get(heuristic, 0.0),
            share if check_flag(self.prune, "prune") else 0.0,
            check_int(self.patience, "patience", 1),
            min(conditions, _MOST_CONDITIONS),
            check_number(self.min_support, "min_support", 0),
            None if self.max_rules is None else check_int(self.max_rules, "max_rules", 0),
            count_jobs(self.n_jobs),
        )

    def _learn(self, X: Any, y: Any, sample_weight: Any, settings: CoveringSettings) -> None:
        sample = take_sample(self, X, y, sample_weight)
        features, coded = RuleFeatures.fit(
            sample.data,
            self,
            predominant=self.predominant,
            bins=None,
            nominal=self.nominal,
            n_jobs=settings.n_jobs,
        )
        kept = sample.kept
        classes = read_classes(sample.y, coded.n_records if kept is None else len(kept))
        classes = classes if kept is None else classes.take(kept)
        if classes.codes is None:
            raise InputError(
                "y has two dimensions; covering rules take one class for each record, and boosted "
                "rules several labels"
            )
        weights, power = np.ones(coded.n_records), 0
        if sample.weights is not None:
            power = scale_power(sample.weights, settings.heuristic)
            weights = on_a_grid(np.ldexp(sample.weights, -power))
        totals = np.bincount(classes.codes, weights, len(classes.labels))
        order = np.argsort(totals if self.order == "ascending" else -totals, kind="stable")
        with show_progress("records covered", coded.n_records, bool(self.verbose)) as report:
            found = learn_rules(
                _core.RuleColumns(*coded.arguments),
                classes.codes,
                weights,
                order[:-1].tolist(),
                settings.scaled(power),
                make_generator(self.random_state),
                report,
            )
        found = found._replace(weights=np.ldexp(found.weights, power))
        rest = found.weights[-1]
        default = int(np.argmax(rest if rest.any() else totals))
        self.classes_ = classes.labels
        arrays = ListArrays.of(found, default, coded)
        features = features.telling(coded, arrays.columns, arrays.thresholds)
        self._features, self._target_name = features, sample.target_name
        self.rules_ = DecisionList(arrays, features, self.classes_.tolist())

    # Steps of what follows

    def _first_rules(self, X: Any) -> NDArray[np.int64]:
        check_is_fitted(self)
        new = self._features.transform(without_target(X, self._target_name), self)
        return self.rules_.arrays.first_rules(new, count_jobs(self.n_jobs))
