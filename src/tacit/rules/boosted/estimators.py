"""Boosted rules for classes, labels and numbers."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from tacit.errors import InputError
from tacit.estimator import LogProbabilities, favour
from tacit.machine import count_jobs
from tacit.parameters import check_choice, store_parameters
from tacit.rules.boosted.base import BoostedRules
from tacit.rules.boosted.calibration import Isotonic, plain_probabilities
from tacit.rules.boosted.expected_f1 import best_f1_sets
from tacit.rules.boosted.label_sets import best_sets, check_sets, label_sets
from tacit.rules.boosted.settings import PREDICTIONS
from tacit.rules.scaling import refuse_large
from tacit.table.class_weights import weigh_classes
from tacit.table.targets import pack_classes, read_labels, read_outputs, unpack_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.rules.boosted.growth import Grown, Growth
    from tacit.store import State
    from tacit.table.number_columns import NumberColumns
    from tacit.table.targets import Targets

__all__ = ["BoostedRulesClassifier", "BoostedRulesRegressor"]


class BoostedRulesClassifier(ClassifierMixin, LogProbabilities, BoostedRules):  # type: ignore[misc]
    r"""Rules that are added up to tell classes or labels apart.

    A rule is a few conditions, such as ``age > 30.5 and town = Ulm``, and what it adds to the
    scores of some outputs if they all hold. Rules are learnt one after the other, each to lower the
    loss of all before it as much as it can (gradient boosting). Only values that differ from their
    column's default are ever read, and the rules do not depend on which one that is.

    Parameters
    ----------
    n_rules : int, default 500
        How many rules to learn. Fewer if no rule lowers the loss any more.
    heads : {"auto", "single", "partial", "complete"}
        Whether a rule adds to one output, to `head_size` of them or to all. "auto" is "complete"
        with the softmax loss, for more than two classes, and else "single".
    head_size : int, optional
        For partial heads; by default as many as a record has labels on average, at least two.
    loss : {"auto", "logistic", "squared", "squared_hinge", "example_logistic", "softmax"}
        What rules lower. "auto" is "logistic" for two classes and for labels and "softmax" for
        more classes. "example_logistic" looks at all labels of a record together, log(1 + Σ
        exp(∓score)). For more classes, all but "softmax" take one class against the rest.
    class_weight : dict or "balanced", optional
        Weights of classes, times those of the records; "balanced" gives all classes the same sum.
        Not for labels.
    learning_rate : float, default 0.3
        What is left of the best score of a rule, so that no rule decides alone.
    max_conditions : int, optional
        The most conditions of a rule; None for 255. The default of 4 gives rules to be read.
    min_support : float, default 1
        The least number of records that a rule covers; below 1, a fraction of them.
    l1, l2 : float, default 0.0 and 1.0
        Penalties of scores: S(−Σg, l1) / (Σh + l2), with the soft threshold S, the gradients g
        and the second derivatives h of the records that are covered.
    algorithm : {"exact", "histogram"}
        Try every threshold between two values that occur, or those between `n_bins` bins.
    n_bins : int, default 32
    binning : {"frequency", "width"}
        Bins of about equally many different values, or equally wide ones.
    defaults : {"auto", "zero", "none"}, mapping or sequence
        The values that are not visited, one for each column: the most common one, zero, none at
        all, or those given. Time depends on it, the result does not.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    sample : {"none", "bagging", "subsample"}
        Whether each rule is learnt of all records, of some drawn with replacement, or without.
    sample_fraction : float, optional
        The fraction of records drawn; by default all for bagging and two thirds for subsamples.
    stratify : bool, default True
        Draw from (and hold out of) each class alike; of labels, from each set of them.
    feature_fraction : {"sqrt", "log2"}, float or int, optional
        How many columns are tried for each condition, drawn anew; by default all.
    monotonic_cst : mapping of columns to -1, 0 or 1, or sequence of these, optional
        Columns that scores never fall with (1) or never rise with (-1), all else being equal, from
        one known value to any other: by name or position, or one for each. Not for categories, nor
        for more than two classes; of two, the score is that of the second.
    interaction_cst : {"pairwise", "no_interactions"} or sequence of lists of columns, optional
        Columns that may stand together in a rule: two at most, one at most, or those of a list, by
        name or position. Columns in no list are one more list.
    prune : bool, default False
        Drop the last conditions of a rule while that is better for the records not drawn (IREP).
    early_stopping : bool, default False
        Hold out some records, stop when their loss has not fallen for `n_iter_no_change` rules,
        and keep the rules up to the lowest: none at all if no rule lowers it.
    validation_fraction : float, default 0.1
        The fraction of records to hold out.
    n_iter_no_change : int, default 50
        0 learns all rules before the best are kept.
    calibration : {"isotonic"}, optional
        Make probabilities of scores by isotonic regression, for each output alone: of the records
        held out by `early_stopping`, or else of all by five-fold cross-validation, which takes five
        times longer.
    prediction : {"hamming", "subset", "example_f1"}
        Labels that are each more probable than not, which makes the fewest wrong labels; the
        most probable of the sets of labels that occurred, which gets the most sets right; or those
        with the highest expected F1 measure of a record, if it has one of these sets.
        Classes are predicted alike by all.
    default_rule : bool, default True
        Whether a first rule without conditions gives all records a score to start with.
    max_seconds : float, optional
        When to stop learning rules at the latest, but for one that is begun; reading X does not
        count, nor do the rules to calibrate by, of which each fold has as many.
    warm_start : bool, default False
        Let `fit` add rules to those of the last fit until there are `n_rules`. Of the same records,
        which it takes, they are the same rules as by one fit. (Where samples of several outputs
        come to nothing, they may be drawn again.)
    random_state : int, RandomState or Generator, optional
        For samples, drawn columns and held-out records.
    n_jobs, verbose : int, optional
        Threads, on which the result does not depend; and 1 to show progress on stderr.

    Attributes
    ----------
    rules_ : RuleSet
        The rules, in the order in which they were learnt: as text, as a frame, one by one.
    n_rules_ : int
    classes_ : ndarray
        The classes, sorted; for labels their names (of a frame) or numbers.
    validation_losses_ : ndarray of float64 of shape (n_rules,)
        The mean loss of held-out records after each rule; empty without early stopping.
    n_features_in_, feature_names_in_ : int, ndarray of str (for Tables and frames)

    See Also
    --------
    CoveringRulesClassifier : A list of rules, of which the first that covers a record decides.

    Notes
    -----
    Missing values (NaN, None) satisfy no condition. A label that is the same for all records gets
    no rules, and its probability is that of all but half a record. Whole weights up to 16 mean that
    a record is there as often; others multiply its gradients and do not count as support.

    Examples
    --------
    >>> import tacit
    >>> X = {"age": [19, 25, 33, 41, 52, 64] * 10, "town": ["Ulm", "Bonn", "Ulm"] * 20}
    >>> y = ["no", "no", "yes", "no", "no", "yes"] * 10
    >>> model = tacit.BoostedRulesClassifier(n_rules=20).fit(X, y)
    >>> model.predict({"age": [20, 70], "town": ["Ulm", "Ulm"]}).tolist()
    ['no', 'yes']
    """

    _kind = "boosted_rules_classifier"
    _target_types = ("binary", "multiclass", "multilabel")

    classes_: NDArray[Any]
    _curves: Isotonic | None
    _sets: NDArray[np.uint8] | None
    _prediction: str

    def __init__(
        self,
        n_rules: int = 500,
        *,
        heads: Literal["auto", "single", "partial", "complete"] = "auto",
        head_size: int | None = None,
        loss: str = "auto",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        learning_rate: float = 0.3,
        max_conditions: int | None = 4,
        min_support: float = 1,
        l1: float = 0.0,
        l2: float = 1.0,
        algorithm: Literal["exact", "histogram"] = "exact",
        n_bins: int = 32,
        binning: Literal["frequency", "width"] = "frequency",
        defaults: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        sample: Literal["none", "bagging", "subsample"] = "none",
        sample_fraction: float | None = None,
        stratify: bool = True,
        feature_fraction: str | float | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        prune: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        calibration: Literal["isotonic"] | None = None,
        prediction: Literal["hamming", "subset", "example_f1"] = "hamming",
        default_rule: bool = True,
        max_seconds: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _read_target(self, y: Any, n_records: int) -> Targets:
        return read_labels(y, n_records)

    def _record_weights(
        self, targets: Targets, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        if self.class_weight is None:
            return weights
        if targets.codes is None:
            raise InputError("class_weight is for one class a record; y has labels, 0 or 1 each")
        codes, n = targets.codes, len(targets.labels)
        totals = partial(_class_totals, weights, codes, n)
        weights = weigh_classes(self.class_weight, targets.labels, codes, weights, totals)
        refuse_large(weights, "class_weight")
        return weights

    def _keep(self, targets: Targets) -> None:
        self.classes_ = targets.labels
        self._curves = None
        self._prediction = self.prediction if targets.type == "multilabel" else "hamming"
        self._sets = label_sets(targets.values) if self._prediction != "hamming" else None

    def _finish(self, columns: NumberColumns, growth: Growth, grown: Grown) -> None:
        if self.calibration is None:
            return
        values, weights, held = growth.targets.values, growth.weights, grown.held
        if held is None:
            cut_short = self.max_seconds is not None
            n_rules = len(grown.rules) if cut_short else int(self.n_rules)
            decisions = growth.cross_decisions(columns, n_rules)
        else:
            decisions = self.rules_.arrays.score(columns, count_jobs(self.n_jobs))[held]
            values = values[:, held]
            weights = None if weights is None else weights[held]
        self._curves = Isotonic.fit(decisions, values, weights)

    def _labels(self) -> list[Any]:
        labels: list[Any] = self.classes_.tolist()
        return labels[1:] if self._target_type == "binary" else labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores: what the default rule and all rules that cover a record add up to.

        A score above zero speaks for a class or label. The squared losses estimate 0 and 1, of
        which one half is taken off.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array

        Returns
        -------
        ndarray of shape (n_records,) for two classes, else (n_records, n_classes or n_labels)
        """
        decisions = self._decide(X)
        return decisions[:, 0] if self._target_type == "binary" else decisions

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class or label for each record.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array

        Returns
        -------
        ndarray of shape (n_records, n_classes or n_labels)
            Those of classes add up to one; those of labels are each for itself.
        """
        return self._probabilities(self._decide(X))

    def _probabilities(self, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._curves is None:
            each = plain_probabilities(decisions, self._loss)
        else:
            each = self._curves.apply(decisions)
        if self._target_type == "multilabel":
            return each
        if self._target_type == "binary":
            each = np.column_stack((1.0 - each[:, 0], each[:, 0]))
        else:
            each = each / each.sum(axis=1, keepdims=True)
        return each if self._curves else favour(each, _best_codes(decisions))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class, or the labels, of each record.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array

        Returns
        -------
        ndarray of shape (n_records,), or (n_records, n_labels) of 0 and 1
        """
        return self._decided(self._decide(X))

    def _decided(self, decisions: NDArray[np.float64]) -> NDArray[Any]:
        if self._target_type == "multilabel":
            if self._sets is not None:
                best_of = best_f1_sets if self._prediction == "example_f1" else best_sets
                return best_of(self._probabilities(decisions), self._sets).astype(np.int64)
            return (self._probabilities(decisions) > 0.5).astype(np.int64)
        if self._curves:
            best = self._probabilities(decisions).argmax(axis=1)
        else:
            best = _best_codes(decisions)
        return np.asarray(self.classes_[best])

    def _predicted(self, decisions: NDArray[np.float64]) -> list[Any]:
        decided = self._decided(decisions)
        if self._target_type != "multilabel":
            return list(decided.tolist())
        return [tuple(self.classes_[row == 1].tolist()) for row in decided]

    def _headline(self) -> str:
        shown = [str(label) for label in self.classes_[:6].tolist()]
        listed = ", ".join(shown) + (", …" if len(self.classes_) > 6 else "")
        kind = "labels" if self._target_type == "multilabel" else "classes"
        return f"{len(self.classes_):,} {kind}: {listed}"

    def _learnt(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super()._learnt()
        if self._curves is not None:
            arrays |= self._curves.to_dict()
        if self._sets is not None:
            arrays["label_sets"] = self._sets
        return facts | pack_classes(self.classes_) | {"prediction": self._prediction}, arrays

    def _restore_outputs(self, facts: dict[str, Any], state: State) -> None:
        self.classes_, target_type = unpack_classes(facts), self._target_type
        if (len(self.classes_) == 2) != (target_type == "binary") and target_type != "multilabel":
            raise InputError(f"it has {len(self.classes_)} classes, and is {target_type}")
        n_outputs = len(self._labels())
        self._curves = Isotonic.checked(state, n_outputs)
        self._sets = check_sets(state, n_outputs)
        plain = "hamming" if self._sets is None else "subset"  # of files that do not say
        self._prediction = check_choice(facts.get("prediction", plain), "prediction", PREDICTIONS)


def _class_totals(
    weights: NDArray[np.float64] | None, codes: NDArray[np.int32], n_classes: int
) -> NDArray[np.float64]:
    """Return what the records of each class weigh; the sums do not depend on their order."""
    if weights is None:
        return np.bincount(codes, minlength=n_classes).astype(np.float64)
    return np.array([math.fsum(weights[codes == k]) for k in range(n_classes)])


def _best_codes(decisions: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes that scores stand for: one column of two classes, else one for each."""
    best = decisions.argmax(axis=1) if decisions.shape[1] > 1 else decisions[:, 0] > 0
    return best.astype(np.int64)


class BoostedRulesRegressor(RegressorMixin, BoostedRules):  # type: ignore[misc]
    """Rules that are added up to predict numbers.

    Each rule lowers the squared error, or another loss, of all rules before it as much as it can.
    See :class:`BoostedRulesClassifier` for what a rule is.

    Several outputs count alike, whatever their units: each is multiplied by a power of two that
    makes it about as wide as the widest, in whose unit gains and losses are. With `l1`, which is in
    the unit of all outputs, they are taken as they are.

    Numbers are learnt with more and smaller steps than classes, each on half of the records: the
    squared error is led astray by single records, which another half may not have. So rules depend
    on `random_state`, unless ``sample="none"``.

    Parameters
    ----------
    n_rules : int, default 1000
        How many rules to learn. Fewer if no rule lowers the error any more.
    heads : {"auto", "single", "partial", "complete"}
        As for :class:`BoostedRulesClassifier`; "auto" is "single".
    loss : {"squared", "absolute", "quantile", "poisson"}
        What rules lower. "squared" leads to means, "absolute" to medians, which do not mind
        outliers, and "quantile" to a `quantile`. "poisson" is for counts and other numbers of at
        least 0: scores are logarithms of what is predicted. Rules of "absolute" and "quantile" are
        found by signs of residuals, add what the median (quantile) of the residuals of the records
        that they cover is, and are for one output each (``heads="single"``).
    quantile : float, optional
        For ``loss="quantile"`` the fraction of records that predictions are to be above.
    learning_rate : float, default 0.15
        What is left of the best score of a rule.
    l2 : float, default 5.0
        How many records of no error are added to those that a rule covers. With "absolute" and
        "quantile", `l1` and `l2` change which rules are chosen, and not what these add.
    sample : {"none", "bagging", "subsample"}, default "subsample"
        Whether each rule is learnt of all records, of some drawn with replacement, or without.
    sample_fraction : float, default 0.5
        The fraction of records drawn; None for all of bagging and two thirds of subsamples.
    head_size, max_conditions, min_support, l1, algorithm, n_bins, binning, defaults, kinds
        As for :class:`BoostedRulesClassifier`.
    feature_fraction
        Likewise.
    monotonic_cst, interaction_cst, prune
        Likewise.
    early_stopping, validation_fraction, n_iter_no_change
        Likewise.
    max_seconds, warm_start, random_state, n_jobs, verbose
        Likewise.
    default_rule : bool, default True
        Whether all records start with the mean, the median or quantile, or the logarithm of the
        mean, as the loss asks; else with zero.

    Attributes
    ----------
    rules_ : RuleSet
        The rules, in the order in which they were learnt: as text, as a frame, one by one.
    n_rules_ : int
    n_outputs_ : int
    validation_losses_ : ndarray of float64 of shape (n_rules,)
        The mean loss of held-out records after each rule; empty without early stopping.
    n_features_in_, feature_names_in_ : int, ndarray of str (for Tables and frames)

    Examples
    --------
    >>> import tacit
    >>> X = {"age": [3, 4, 30, 41]}
    >>> model = tacit.BoostedRulesRegressor(l2=0.0, sample="none").fit(X, [1.0, 2.0, 10.0, 12.0])
    >>> model.predict({"age": [3, 41]}).round(2)
    array([ 1., 12.])

    Nine of ten waits are to be at most what is predicted:

    >>> X = {"queue": ["short", "long"] * 51}
    >>> waits = [minutes * factor for minutes in range(1, 52) for factor in (1.0, 3.0)]
    >>> model = tacit.BoostedRulesRegressor(loss="quantile", quantile=0.9, sample="none")
    >>> model = model.fit(X, waits)
    >>> model.predict({"queue": ["short", "long"]}).round(1)
    array([ 46., 138.])
    """

    _kind = "boosted_rules_regressor"
    _target_types = ("number", "numbers")
    _target_tags = ("multi_output",)

    _names: list[str]

    def __init__(
        self,
        n_rules: int = 1000,
        *,
        heads: Literal["auto", "single", "partial", "complete"] = "auto",
        head_size: int | None = None,
        loss: Literal["squared", "absolute", "quantile", "poisson"] = "squared",
        quantile: float | None = None,
        learning_rate: float = 0.15,
        max_conditions: int | None = 4,
        min_support: float = 1,
        l1: float = 0.0,
        l2: float = 5.0,
        algorithm: Literal["exact", "histogram"] = "exact",
        n_bins: int = 32,
        binning: Literal["frequency", "width"] = "frequency",
        defaults: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        sample: Literal["none", "bagging", "subsample"] = "subsample",
        sample_fraction: float | None = 0.5,
        feature_fraction: str | float | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        prune: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        default_rule: bool = True,
        max_seconds: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags

    def _read_target(self, y: Any, n_records: int) -> Targets:
        return read_outputs(y, n_records)

    def _keep(self, targets: Targets) -> None:
        self._names = targets.labels.tolist()
        if targets.type == "number" and self._target_name is not None:
            self._names = [self._target_name]
        self.n_outputs_ = len(self._names)

    def _labels(self) -> list[Any]:
        return list(self._names)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the number, or the numbers, of each record.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array

        Returns
        -------
        ndarray of shape (n_records,), or (n_records, n_outputs) if y had two dimensions
        """
        numbers = self._numbers(self._decide(X))
        return numbers[:, 0] if self._target_type == "number" else numbers

    def _numbers(self, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers that scores stand for."""
        return np.asarray(np.exp(decisions)) if self._loss == "poisson" else decisions

    def _predicted(self, decisions: NDArray[np.float64]) -> list[Any]:
        numbers = self._numbers(decisions)
        if self._target_type == "number":
            return list(numbers[:, 0].tolist())
        return [tuple(row) for row in numbers.tolist()]

    def _headline(self) -> str:
        shown = ", ".join(self._names[:6]) + (", …" if len(self._names) > 6 else "")
        how = "; scores are their logarithms" if self._loss == "poisson" else ""
        return f"numbers: {shown}{how}"

    def _learnt(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super()._learnt()
        return facts | {"names": self._names}, arrays

    def _restore_outputs(self, facts: dict[str, Any], state: State) -> None:
        names = facts["names"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError("its outputs have no names")
        if not names or (self._target_type == "number" and len(names) != 1):
            raise InputError(f"it has {len(names)} outputs")
        self._names, self.n_outputs_ = names, len(names)
