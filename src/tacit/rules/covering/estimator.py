"""Covering rules: an ordered list of rules, learnt by separate and conquer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.errors import InputError
from tacit.estimator import favour
from tacit.machine import check_int, count_jobs
from tacit.parameters import (
    check_choice,
    check_flag,
    check_number,
    make_generator,
    store_parameters,
)
from tacit.progress import show_progress
from tacit.rules.base import RuleModel
from tacit.rules.covering.decision_list import DecisionList, ListArrays
from tacit.rules.covering.search import learn_rules
from tacit.rules.covering.settings import CRITERIA, CoveringSettings, on_a_grid, scale_power
from tacit.table.inputs import one_record
from tacit.table.targets import pack_classes, read_labels, unpack_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.store import State
    from tacit.table.targets import Targets

__all__ = ["CoveringRulesClassifier"]

_ORDERS = ("ascending", "descending")
_MOST_CONDITIONS = 255


class CoveringRulesClassifier(ClassifierMixin, RuleModel):  # type: ignore[misc]
    """Learn a list of rules, of which the first that holds decides.

    Rules are learnt by separate and conquer. For one class after the other, a rule is grown
    condition by condition, as long as a criterion gets better; pruned on records that it was not
    grown on; and kept if most of those that it covers, there and in all, are of the class. Records
    that it covers are set aside, and the next rule is learnt from the rest. Then the rules of the
    class are gone over again, as RIPPER does: each may be replaced by one that is grown anew or
    goes on from it, or dropped, if that takes fewer bits to say. What no rule covers is learnt from
    like a problem of its own, as long as that adds rules; the rest goes to the class that most of
    it has.

    Values that most records have are neither stored nor visited; the rules are those that a search
    of all values would find.

    Parameters
    ----------
    criterion : {"auto", "m_estimate", "foil_gain", "f_measure", "laplace", "precision", \
"kulczynski"}
        What conditions are chosen by; "auto" is "m_estimate" for two classes and "foil_gain" for
        more. With p records of the class and n others covered, of P and N that are left:

        - "m_estimate": (p + m P / (P + N)) / (p + n + m);
        - "foil_gain": p (log₂ (p / (p + n)) - log₂ (p' / (p' + n'))), the bits that the condition
          saves for hits, where p' and n' are covered without it;
        - "f_measure": the F-measure of precision and recall, (1 + β²) p / (β² P + p + n);
        - "precision": p / (p + n). Rules tend to cover little;
        - "laplace": (p + 1) / (p + n + 2);
        - "kulczynski": the mean of precision and recall, (p / (p + n) + p / P) / 2.

    beta : float, default 0.25
        β of the F-measure: how much recall counts beside precision.
    m : float, default 22.466
        m of the m-estimate: how many records the class's fraction of all counts for.
    prune : bool, default True
        Whether to hold out records for each rule, and to drop last conditions without which it is
        as precise on them (incremental reduced error pruning).
    prune_fraction : float, default 1/3
        The fraction of records that are held out.
    n_iter_no_change : int, default 10
        With pruning: how many rules in a row may turn out not to be worth having, each grown and
        pruned on other records, before there are no more for a class.
    n_optimisations : int, default 2
        With pruning: how often the rules of a class are gone over again.
    max_conditions : int, default 10
        Of a rule; at most 255.
    min_support : float, default 1
        The (weighted) number of records that a rule covers at least, of those it is grown on.
    max_rules : int, optional
        Of the list, without the last one.
    order : {"ascending", "descending"}
        Whether rules for rare classes come first or last. The class that would come last has none,
        except for what all of those leave over.
    defaults : {"auto", "zero", "none"} or array-like
        Which value of each column is not stored. The rules do not depend on it, only the time.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
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
    n_features_in_, feature_names_in_ : int, ndarray of str (for Tables and frames)

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> model = tacit.CoveringRulesClassifier(max_conditions=3, random_state=0)
    >>> print(model.fit(visits, "sports").to_text())
    if scores = True then True, covers 1,677, precision 0.89
    if football = True then True, covers 558, precision 0.70
    otherwise False, covers 17,765, precision 0.91
    >>> model.predict(visits)[:3]
    array([False, False, False])
    """

    _kind = "covering_rules_classifier"

    rules_: DecisionList

    def __init__(
        self,
        criterion: str = "auto",
        *,
        beta: float = 0.25,
        m: float = 22.466,
        prune: bool = True,
        prune_fraction: float = 1 / 3,
        n_iter_no_change: int = 10,
        n_optimisations: int = 2,
        max_conditions: int = 10,
        min_support: float = 1,
        max_rules: int | None = None,
        order: str = "ascending",
        defaults: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CoveringRulesClassifier:
        """Learn the rules, and return itself.

        Parameters
        ----------
        X : Table, frame, array or sparse array of shape (n_records, n_columns)
            Numbers are compared as float64: whole ones above 2**53 may become the same.
        y : array-like of shape (n_records,), or str
            The classes, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for. They are rounded to a millionth of the largest.
        """
        settings = self._check_parameters()
        _, coded, classes, given_weights = self._read_training(X, y, sample_weight)
        codes: Any = classes.codes
        if settings.criterion == "auto":
            chosen = "m_estimate" if len(classes.labels) == 2 else "foil_gain"
            settings = replace(settings, criterion=chosen, parameter=self._parameter(chosen))
        settings = replace(settings, n_possible=2 * int(coded.code_start[-1]))
        weights, power = np.ones(coded.n_records), 0
        if given_weights is not None:
            power = scale_power(given_weights, settings.criterion)
            weights = on_a_grid(np.ldexp(given_weights, -power))
        with show_progress("records covered", coded.n_records, bool(self.verbose)) as report:
            learnt = learn_rules(
                _core.RuleColumns(*coded.arguments),
                codes,
                weights,
                settings.scaled(power),
                make_generator(self.random_state),
                report,
            )
        learnt = learnt._replace(weights=np.ldexp(learnt.weights, power))
        rest = learnt.weights[-1]
        default = int(np.argmax(rest if rest.any() else learnt.weights.sum(axis=0)))
        self.classes_ = classes.labels
        rules = ListArrays.of(learnt, default, coded)
        self._features = self._features.with_digits(coded, rules.columns, rules.thresholds)
        self.rules_ = DecisionList(rules, self._features, self.classes_.tolist())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the first rule that covers each record.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        first = self._first_rules(X)
        return np.asarray(self.classes_[self.rules_.arrays.classes[first]])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the fraction of each class among training records that the deciding rule covers.

        One record of each class is added, after Laplace: rules that cover little are less sure.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        first = self._first_rules(X)
        rules = self.rules_.arrays
        weights = rules.weights + 1
        fractions = weights / weights.sum(axis=1, keepdims=True)
        return favour(fractions, rules.classes)[first]

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

    def _first_rules(self, X: Any) -> NDArray[np.int64]:
        """Return for each record the rule that decides."""
        columns = self._read_columns(X)
        return self.rules_.arrays.first_rules(columns, count_jobs(self.n_jobs))

    @property
    def n_rules_(self) -> int:
        """The number of rules, without the default."""
        check_is_fitted(self)
        return len(self.rules_) - 1

    # Steps of fit

    def _check_parameters(self) -> CoveringSettings:
        criterion = check_choice(self.criterion, "criterion", ("auto", *CRITERIA))
        check_number(self.beta, "beta", 0)
        check_number(self.m, "m", 0)
        fraction = check_number(self.prune_fraction, "prune_fraction", 0, 1, above=True, below=True)
        conditions = check_int(self.max_conditions, "max_conditions", 1)
        check_choice(self.order, "order", _ORDERS)
        return CoveringSettings(
            criterion,
            self._parameter(criterion),
            fraction if check_flag(self.prune, "prune") else 0.0,
            check_int(self.n_iter_no_change, "n_iter_no_change", 1),
            min(conditions, _MOST_CONDITIONS),
            check_number(self.min_support, "min_support", 0),
            None if self.max_rules is None else check_int(self.max_rules, "max_rules", 0),
            count_jobs(self.n_jobs),
            self.order == "ascending",
            check_int(self.n_optimisations, "n_optimisations", 0),
        )

    def _parameter(self, criterion: str) -> float:
        return float({"f_measure": self.beta, "m_estimate": self.m}.get(criterion, 0.0))

    def _read_target(self, y: Any, n_records: int) -> Targets:
        classes = read_labels(y, n_records)
        if classes.codes is None:
            raise InputError(
                "y has two dimensions; covering rules take one class for each record, and boosted "
                "rules several labels"
            )
        return classes

    # Files

    def _learnt(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return pack_classes(self.classes_), {}

    def _restore(self, facts: dict[str, Any], state: State) -> None:
        self.classes_ = unpack_classes(facts)
        rules = ListArrays.checked(state, len(self._features.names), len(self.classes_))
        self.rules_ = DecisionList(rules, self._features, self.classes_.tolist())
