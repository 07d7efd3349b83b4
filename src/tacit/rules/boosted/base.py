"""What boosted rules have in common, whatever they predict."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.parameters import check_choice, make_generator
from tacit.rules.base import RuleModel
from tacit.rules.boosted.explanation import Explanation
from tacit.rules.boosted.growth import Earlier, Growth
from tacit.rules.boosted.limits import column_limits, keeps_limits
from tacit.rules.boosted.rule_arrays import RuleArrays
from tacit.rules.boosted.rule_set import RuleSet
from tacit.rules.boosted.settings import (
    LOSSES,
    NUMBER_LOSSES,
    check_numbers,
    check_parameters,
    choose_loss,
)
from tacit.rules.columns.features import RuleFeatures
from tacit.table.inputs import one_record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.listing import Listing
    from tacit.rules.boosted.growth import Grown
    from tacit.store import State
    from tacit.table.number_columns import NumberColumns
    from tacit.table.targets import Targets

__all__ = ["BoostedRules"]


class _LastFit(NamedTuple):
    """What a fit goes on with: rules, held-out losses, and what must stay as it was."""

    rules: RuleArrays
    losses: NDArray[np.float64]
    learnt: tuple[Any, ...]


class BoostedRules(RuleModel):
    """Rules that are added up; subclasses say what they predict."""

    rules_: RuleSet
    _target_type: str
    _target_types: ClassVar[tuple[str, ...]]
    loss: str
    _loss: str

    # Steps of fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules, and return itself.

        Parameters
        ----------
        X : Table, frame, mapping of columns, array or sparse array
            Numbers are compared as float64: whole ones above 2**53 may become the same.
        y : array-like of shape (n_records,) or (n_records, n_outputs), or str
            For a classifier, the class of each record, or labels that are 0 or 1: an array, a
            sparse array or a frame. For a regressor, numbers; rules name outputs as columns of a
            frame or a Series are. Or the name of a column of X that holds classes or numbers.
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for. Records of the weight zero say nothing, and
            weights of less than about a millionth of the largest are rounded away.
        """
        self._check_parameters()
        last = self._last_fit() if self.warm_start and self.__sklearn_is_fitted__() else None
        bins = (self.binning, self.n_bins) if self.algorithm == "histogram" else None
        training = self._read_training(X, y, sample_weight, bins)
        targets = training.targets
        self._loss = choose_loss(self.loss, targets)
        check_numbers(self._loss, targets)
        weights = self._record_weights(targets, training.weights)
        generator = make_generator(self.random_state)
        limits = column_limits(self, self._features, targets)
        self._target_type = targets.type
        self._keep(targets)
        earlier = None
        if last is not None:
            self._check_last_fit(last, limits)
            earlier = Earlier(last.rules, training.numbers)
        growth = Growth(self, training.columns, targets, weights, self._loss, generator, limits)
        grown = growth.rules(earlier)
        self._features = self._features.with_digits(
            training.columns, grown.rules.columns, grown.rules.thresholds
        )
        self._set_rules(grown.rules)
        losses = grown.losses
        if last is not None and self.early_stopping:
            losses = np.concatenate((last.losses, losses))
        self.validation_losses_ = losses
        self._finish(training.numbers, growth, grown)
        return self

    def _last_fit(self) -> _LastFit:
        columns = RuleFeatures(self._features.spec).to_json()  # but for how they are shown
        learnt = (columns, self._target_type, self._labels(), self._loss)
        return _LastFit(self.rules_.arrays, self.validation_losses_, learnt)

    def _check_last_fit(self, last: _LastFit, limits: dict[str, Any]) -> None:
        """Refuse to go on with rules of something else."""
        if self.n_rules < len(last.rules):
            raise InputError(
                f"n_rules={self.n_rules!r}, but warm_start goes on with {len(last.rules):,} rules"
            )
        names = ("columns of X", "kind of target", "classes or outputs", "loss")
        for name, before, now in zip(names, last.learnt, self._last_fit().learnt, strict=True):
            if before != now:
                raise InputError(
                    f"warm_start goes on with the last fit, of which the {name} must stay as they "
                    "were"
                )
        if self.early_stopping and len(last.losses) != len(last.rules):
            raise InputError("warm_start: the last fit was without early_stopping")
        if not keeps_limits(last.rules, limits):
            raise InputError(
                "warm_start: rules of the last fit do not keep monotonic_cst and interaction_cst"
            )

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _record_weights(
        self, targets: Targets, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Return what records weigh, those of classes included."""
        return weights

    def _set_rules(self, rules: RuleArrays) -> None:
        self.rules_ = RuleSet(rules, self._features, self._labels())
        self.n_rules_ = len(rules)

    @abstractmethod
    def _keep(self, targets: Targets) -> None:
        """Note what predictions are made of, besides rules."""

    def _finish(self, columns: NumberColumns, growth: Growth, grown: Grown) -> None:
        """Learn what depends on the scores of the rules."""

    @abstractmethod
    def _labels(self) -> list[Any]:
        """Return what the outputs are called."""

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The fraction of all gains by each column's rules; columns of a rule count alike."""
        check_is_fitted(self)
        rules, n_columns = self.rules_.arrays, int(self.n_features_in_)
        owner = np.repeat(np.arange(len(rules)), np.diff(rules.rule_conditions))
        cells = np.unique(owner * n_columns + rules.columns)  # a column counts once in a rule
        numbers, columns = np.divmod(cells, n_columns)
        each = rules.gain / np.maximum(np.bincount(numbers, minlength=len(rules)), 1)
        gains = np.bincount(columns, each[numbers], n_columns)
        return np.asarray(gains / (gains.sum() or 1.0), np.float64)

    # What it says of records

    def _decide(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of all outputs."""
        columns = self._read_columns(X)
        return self.rules_.arrays.score(columns, count_jobs(self.n_jobs))

    @abstractmethod
    def _predicted(self, decisions: NDArray[np.float64]) -> list[Any]:
        """Return predictions of scores as people say them."""

    def covers(self, X: Any) -> sparse.csr_array:
        """Return which rules cover which records.

        Parameters
        ----------
        X : Table, frame, mapping of columns, array or sparse array

        Returns
        -------
        csr_array of bool of shape (n_records, n_rules)
        """
        columns = self._read_columns(X)
        indptr, rules = self.rules_.arrays.cover(columns, count_jobs(self.n_jobs))
        shape = (len(indptr) - 1, self.n_rules_)
        return sparse.csr_array((np.ones(len(rules), np.bool_), rules, indptr), shape=shape)

    def explain(self, X: Any) -> Explanation:
        """Return which rules cover one record, and what each of them adds to its scores.

        Parameters
        ----------
        X : one record
            A row of an array, a sparse array, a frame or a Table, or names of columns with values.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        record = one_record(X, presence=self._features.spec.presence)
        columns, n_jobs = self._read_columns(record), count_jobs(self.n_jobs)
        decisions = self.rules_.arrays.score(columns, n_jobs)
        _, covering = self.rules_.arrays.cover(columns, n_jobs)
        scores = zip(self._labels(), decisions[0].tolist(), strict=True)
        return Explanation(
            self._predicted(decisions)[0],
            self.rules_.default,
            tuple(self.rules_[number] for number in covering.tolist()),
            dict(scores),
        )

    # What it looks like

    def to_text(self, top: int | None = 20) -> str:
        """Return the model in words: what it predicts, and its most important rules.

        Parameters
        ----------
        top : int, optional
            How many rules; None for all. Rules with the same conditions are one.
        """
        check_is_fitted(self)
        rules = self.rules_.merged()
        columns = len(np.unique(rules.arrays.columns))
        used = f"{columns:,} of {self.n_features_in_:,} columns"
        each = len(rules.arrays.columns) / max(len(rules), 1)
        different = f"{len(rules):,} different, " if len(rules) < self.n_rules_ else ""
        head = (
            f"{self._headline()}\n{self.n_rules_:,} rules ({different}{each:.1f} conditions each) "
            f"on {used}; scores add up"
        )
        return f"{head}\n{rules.to_text(top)}"

    def _listing(self, top: int | None) -> Listing:
        check_is_fitted(self)
        return self.rules_.merged()._listing(top)

    @abstractmethod
    def _headline(self) -> str:
        """Return what is predicted, in words."""

    # Files

    def _learnt(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {"kind": self._target_type, "loss": self._loss}
        return facts, {"validation_losses": self.validation_losses_}

    def _restore(self, facts: dict[str, Any], state: State) -> None:
        self._target_type = check_choice(facts["kind"], "kind", self._target_types)
        self._loss = check_choice(facts["loss"], "loss", (*LOSSES, *NUMBER_LOSSES))
        self._restore_outputs(facts, state)
        self._set_rules(RuleArrays.checked(state, len(self._features.names), len(self._labels())))
        losses = state["validation_losses"]
        if losses.dtype != np.float64 or losses.shape not in ((0,), (self.n_rules_,)):
            raise InputError("'validation_losses' are not one for each rule")
        self.validation_losses_ = losses

    @abstractmethod
    def _restore_outputs(self, facts: dict[str, Any], state: State) -> None:
        """Take what predictions are made of, besides rules, from a file."""
