"""What boosted rules have in common, whatever they predict."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tacit.machine import count_jobs
from tacit.parameters import make_generator
from tacit.rules.boosted.explanation import Explanation
from tacit.rules.boosted.growth import Growth
from tacit.rules.boosted.rule_set import RuleSet
from tacit.rules.boosted.settings import check_parameters, choose_loss
from tacit.rules.checks import kept_on_failure
from tacit.rules.columns.features import RuleFeatures
from tacit.rules.sample import one_record, take_sample, without_target

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.rules.boosted.growth import Grown
    from tacit.rules.boosted.outputs import Kind, Targets
    from tacit.rules.columns.features import NewColumns

__all__ = ["BoostedRules"]


class BoostedRules(BaseEstimator):  # type: ignore[misc]
    """Rules that are added up; subclasses say what they predict."""

    _features: RuleFeatures
    _kind: Kind
    _loss: str
    _target_name: str | None

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # Steps of fit

    @abstractmethod
    def _read_target(self, y: Any, n_records: int) -> Targets:
        """Return the target as rows of outputs."""

    @abstractmethod
    def _keep(self, targets: Targets) -> None:
        """Note what predictions are made of, besides rules."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        with kept_on_failure(self):
            return self._learn(X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self)
        sample = take_sample(self, X, y, sample_weight)
        params: Any = self
        self._features, coded = RuleFeatures.fit(
            sample.data,
            self,
            predominant=params.predominant,
            bins=(params.binning, params.n_bins) if params.search == "histogram" else None,
            nominal=params.nominal,
            n_jobs=count_jobs(params.n_jobs),
        )
        kept = sample.kept
        targets = self._read_target(sample.y, coded.n_records if kept is None else len(kept))
        targets = targets if kept is None else targets.take(kept)
        self._loss = choose_loss(getattr(self, "loss", "squared"), targets)
        generator = make_generator(params.random_state)
        growth = Growth(self, coded, targets, sample.weights, self._loss, generator)
        grown = growth.rules()
        self._kind, self._target_name = targets.kind, sample.target_name
        self._keep(targets)
        shown = grown.rules.columns, grown.rules.thresholds
        self._features = self._features.telling(coded, *shown)
        self.rules_ = RuleSet(grown.rules, self._features, self._labels())
        self.n_rules_ = len(grown.rules)
        self.validation_losses_ = grown.losses
        self._finish(sample.data, growth, grown)
        return self

    def _finish(self, X: Any, growth: Growth, grown: Grown) -> None:
        """Learn what depends on the scores of the rules."""

    @abstractmethod
    def _labels(self) -> list[Any]:
        """Return what the outputs are called."""

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """What each column's rules gain, as shares of all gains; columns of a rule share alike."""
        check_is_fitted(self, "rules_")
        rules, n_columns = self.rules_.arrays, int(self.n_features_in_)
        owner = np.repeat(np.arange(len(rules)), np.diff(rules.rule_conditions))
        cells = np.unique(owner * n_columns + rules.columns)  # a column counts once in a rule
        numbers, columns = np.divmod(cells, n_columns)
        each = rules.gain / np.maximum(np.bincount(numbers, minlength=len(rules)), 1)
        gains = np.bincount(columns, each[numbers], n_columns)
        shares: NDArray[np.float64] = gains / (gains.sum() or 1.0)
        return shares

    # What it says of records

    def _new(self, X: Any) -> NewColumns:
        check_is_fitted(self, "rules_")
        return self._features.transform(without_target(X, self._target_name), self)

    def _decide(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of all outputs."""
        new = self._new(X)
        return self.rules_.arrays.score(new, count_jobs(self.n_jobs))

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
        new = self._new(X)
        indptr, rules = self.rules_.arrays.cover(new, count_jobs(self.n_jobs))
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
        check_is_fitted(self, "rules_")
        new, n_jobs = self._new(one_record(X)), count_jobs(self.n_jobs)
        decisions = self.rules_.arrays.score(new, n_jobs)
        _, covering = self.rules_.arrays.cover(new, n_jobs)
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
        check_is_fitted(self, "rules_")
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

    @abstractmethod
    def _headline(self) -> str:
        """Return what is predicted, in words."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :func:`tacit.load` reads; atomic.

        Parameters that JSON cannot hold, such as a generator of random numbers, are not kept.

        Parameters
        ----------
        path : path-like
        """
        from tacit.rules.boosted.saving import write_boosted

        check_is_fitted(self, "rules_")
        write_boosted(path, self)
