"""How boosted rules are grown: what the kernel is given, and what is made of its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.progress import show_progress
from tacit.rules.boosted.rule_arrays import RuleArrays
from tacit.rules.boosted.settings import KINKED_LOSSES, count_weights, kernel_settings
from tacit.rules.boosted.validation import folds, hold_out
from tacit.rules.scaling import exponent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.rules.columns.coding import CodedColumns
    from tacit.table.number_columns import NumberColumns
    from tacit.table.targets import Targets

__all__ = ["Earlier", "Grown", "Growth"]

_RULES_AT_ONCE = 64  # whose covered records are listed together
_CHUNKS = 100  # reports of progress
_SQUARED = ("squared", "squared_hinge")
_MOST_PENALTY = 1e300  # no score is as large
_MOST_SHIFT = 450  # of gains


class Grown(NamedTuple):
    """Rules, the held-out loss after each, and which records were held out."""

    rules: RuleArrays
    losses: NDArray[np.float64]
    held: NDArray[np.bool_] | None


class Earlier(NamedTuple):
    """Rules of an earlier fit, and their records as predictions take them."""

    rules: RuleArrays
    numbers: NumberColumns


@dataclass(frozen=True)
class Growth:
    """The records and settings that rules are grown from.

    Outputs that are the same for all records get no rules: their default score decides.
    """

    model: Any  # whose parameters are asked for
    coded: CodedColumns
    targets: Targets
    weights: NDArray[np.float64] | None
    loss: str
    generator: np.random.Generator
    limits: dict[str, Any] = field(default_factory=dict)  # of columns, as the kernel takes them

    def rules(self, earlier: Earlier | None = None) -> Grown:
        """Grow the rules of the estimator, earlier ones among them if there are some.

        Some records are held out if it stops early; losses are those after rules that are new.
        """
        held = None
        if self.model.early_stopping:
            fraction, n_records = self.model.validation_fraction, self.targets.n_records
            held = hold_out(fraction, n_records, self._strata(), self.generator)
        n_rules = int(self.model.n_rules)
        return self._grow(held, "rules", n_rules, self.model.max_seconds, earlier)

    def cross_decisions(
        self, new: NumberColumns, n_rules: int, n_folds: int = 5
    ) -> NDArray[np.float64]:
        """Return scores of all outputs, of each record by rules that were grown without its fold.

        `new` are the same records, as predictions take them.
        """
        fold_of = folds(n_folds, self.targets.n_records, self._strata(), self.generator)
        decisions = np.empty(self.targets.values.shape[::-1])
        for fold in range(int(fold_of.max()) + 1):
            held = fold_of == fold
            grown = self._grow(held, f"rules to calibrate by, fold {fold + 1}", n_rules)
            decisions[held] = grown.rules.score(new, count_jobs(self.model.n_jobs))[held]
        return decisions

    def _grow(
        self,
        held: NDArray[np.bool_] | None,
        what: str,
        n_rules: int,
        max_seconds: float | None = None,
        earlier: Earlier | None = None,
    ) -> Grown:
        """Grow rules of all records but some."""
        used = self._used(held)
        default_scores = self._constant_scores(used)
        varied = np.flatnonzero(~self.targets.constant()).astype(np.int32)
        if not len(varied):
            return Grown(RuleArrays.empty(default_scores), np.zeros(0), held)
        values, default_rule = self.targets.values[varied], bool(self.model.default_rule)
        # A penalty of sizes is one for all outputs, so that all of them must have one unit.
        scaled = _Scaled.of(
            values,
            used,
            self.loss,
            default_rule,
            quantile=getattr(self.model, "quantile", None),
            one_unit=self.model.l1 > 0,
        )
        booster = self._booster(scaled, held, used)
        start = scaled.unscaled(booster.rules())["default_scores"]
        default_scores[varied] = start + scaled.centre
        if earlier is not None:
            self._resume(booster, scaled, earlier, default_scores, varied, held)
            n_rules -= len(earlier.rules)
        self._run(booster, what, n_rules, max_seconds)
        grown = booster.rules()
        arrays = scaled.unscaled(grown)
        rules = RuleArrays.grown(arrays, self.coded, outputs=varied, default_scores=default_scores)
        before = rules.first(0) if earlier is None else earlier.rules
        if held is None or not self.model.early_stopping:
            return Grown(before.followed_by(rules), np.zeros(0), held)
        # The least loss is sought before it is unscaled: that of tiny numbers may become zero.
        kept = int(np.argmin(np.concatenate((grown["start_loss"], grown["losses"]))))
        weights = self._held_weights(held)
        total = float(held.sum() if weights is None else weights.sum())
        kept_rules = before.followed_by(rules.first(kept))
        return Grown(kept_rules, arrays["losses"][:kept] / total, held)

    def _strata(self) -> NDArray[np.int32] | None:
        return self.targets.strata() if getattr(self.model, "stratify", False) else None

    def _used(self, held: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """Return what each record weighs when rules are grown."""
        used = np.ones(self.targets.n_records) if self.weights is None else self.weights.copy()
        if held is not None:
            used[held] = 0.0
        return used

    def _held_weights(self, held: NDArray[np.bool_] | None) -> NDArray[np.float64] | None:
        """Return what held-out records weigh in their loss, the largest about one."""
        if held is None or self.weights is None:
            return None
        weights = np.where(held, self.weights, 0.0)
        return np.ldexp(weights, -exponent(weights))

    def _constant_scores(self, used: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores of outputs as if they were constant: sure, but for half a record."""
        first: NDArray[np.float64] = self.targets.values[:, 0].astype(np.float64)
        if self.loss == "poisson":
            return np.log(first, out=np.zeros_like(first), where=first > 0)
        if self.targets.values.dtype == np.float64:
            return first
        size = 0.5 if self.loss in _SQUARED else float(np.log1p(2 * used.sum()))
        return np.where(first == 1, size, -size)

    def _booster(
        self,
        scaled: _Scaled,
        held: NDArray[np.bool_] | None,
        used: NDArray[np.float64],
    ) -> _core.RuleBooster:
        """Return the kernel, without any rules yet."""
        model = self.model
        units, weights = count_weights(self.weights, held, len(used))
        n_counted = float(used.sum() if weights is None else np.count_nonzero(used))
        settings = kernel_settings(
            model, self.targets, len(scaled.values), self.loss, len(self.coded.kinds), n_counted
        )
        return _core.RuleBooster(
            _core.RuleColumns(*self.coded.arguments),
            scaled.values,
            **settings | {"l1": scaled.penalty(settings["l1"])},
            units=units,
            weights=weights,
            strata=self._strata() if model.sample != "none" else None,
            seed=int(self.generator.integers(2**31)),
            held_weights=self._held_weights(held),
            **self.limits,
        )

    def _resume(
        self,
        booster: _core.RuleBooster,
        scaled: _Scaled,
        earlier: Earlier,
        default_scores: NDArray[np.float64],
        varied: NDArray[np.int32],
        held: NDArray[np.bool_] | None,
    ) -> None:
        """Let the kernel go on after earlier rules, if they are of the same records."""
        others = "warm_start goes on with the records of the last fit, and these are others: "
        if not np.array_equal(default_scores, earlier.rules.default_scores):
            raise InputError(f"{others}y or weights have changed")
        units, _ = count_weights(self.weights, held, self.targets.n_records)
        position = np.zeros(len(default_scores), np.int32)
        position[varied] = np.arange(len(varied))
        for begin in range(0, len(earlier.rules), _RULES_AT_ONCE):
            part = earlier.rules.part(begin, min(begin + _RULES_AT_ONCE, len(earlier.rules)))
            indptr, numbers = part.cover(earlier.numbers, count_jobs(self.model.n_jobs))
            shape = (self.targets.n_records, len(part))
            each = np.ones(len(numbers))
            if units is not None:
                each = np.repeat(units.astype(np.float64), np.diff(indptr))
            covers = sparse.csr_array((each, numbers, indptr), shape=shape).tocsc()
            if not np.array_equal(covers.sum(axis=0), part.support):
                raise InputError(f"{others}rules cover more of X, or less")
            outputs = position[part.outputs]
            booster.resume(
                covers.indptr.astype(np.int64),
                covers.indices.astype(np.int32),
                part.rule_heads,
                outputs,
                np.ldexp(part.scores, scaled.shift[outputs]),
            )

    def _run(
        self, booster: _core.RuleBooster, what: str, n_rules: int, max_seconds: float | None
    ) -> None:
        """Run the kernel, some rules at a time if progress is to be shown."""
        model, n_jobs = self.model, count_jobs(self.model.n_jobs)
        end = math.inf if max_seconds is None else perf_counter() + max_seconds
        n_iter_no_change = int(model.n_iter_no_change) if model.early_stopping else 0
        step = max(1, n_rules // _CHUNKS) if model.verbose else n_rules
        with show_progress(what, n_rules, bool(model.verbose)) as report:
            left = n_rules
            while left > 0:
                asked, seconds = min(left, step), end - perf_counter()
                if seconds <= 0:
                    break
                limit = seconds if math.isfinite(seconds) else 0.0
                added = booster.grow(asked, n_iter_no_change, n_jobs, limit)
                report(added)
                left = left - added if added == asked else 0


class _Scaled(NamedTuple):
    """Targets as the kernel takes them: scores are the kernel's divided by 2**shift, plus `centre`.

    The squared losses estimate labels as 0 and 1, and a decision is above zero for a label. Sums of
    numbers are finest around zero, where the default rule is the mean itself (the median, the
    quantile); and whether they are dollars or millions of them must make no difference, nor for one
    output beside another. The Poisson loss takes numbers as they are.
    """

    values: NDArray[Any]
    centre: NDArray[np.float64]
    shift: NDArray[np.int32]
    degree: int  # of the loss: numbers twice as large have a loss 2**degree times as large

    @staticmethod
    def of(
        values: NDArray[Any],
        used: NDArray[np.float64],
        loss: str,
        default_rule: bool,
        *,
        quantile: float | None,
        one_unit: bool,
    ) -> _Scaled:
        n = len(values)
        if values.dtype != np.float64 or loss == "poisson":
            half = values.dtype != np.float64 and loss in _SQUARED
            return _Scaled(values, np.full(n, -0.5 if half else 0.0), np.zeros(n, np.int32), 0)
        used = np.ldexp(used, -exponent(used))
        centre = np.zeros(n)
        if default_rule and loss in KINKED_LOSSES:
            # Near the quantile will do: it is a number that occurs, so that ties stay ties.
            known = values[:, used > 0]
            centre = np.quantile(known, quantile or 0.5, axis=1, method="inverted_cdf")
        elif default_rule:
            centre = values @ used / used.sum()
        values = values - centre[:, None]
        shift = -np.frexp(np.abs(values).max(axis=1))[1].astype(np.int32)
        degree = 1 if loss in KINKED_LOSSES else 2
        if one_unit and degree == 2:
            shift[:] = shift.min()
        return _Scaled(np.ldexp(values, shift[:, None]), centre, shift, degree)

    def penalty(self, l1: float) -> float:
        """Return the penalty of sizes for targets as they are here."""
        unit = self.shift.min() if self.degree == 2 else 0  # in which gradients are
        with np.errstate(over="ignore"):
            return float(np.minimum(np.ldexp(l1, unit), _MOST_PENALTY)) if l1 else 0.0

    def unscaled(self, rules: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return rules in the scale of the numbers themselves; default scores lack the centre.

        Gains and losses add up outputs, and are in the unit of the widest. Only fractions of gains
        matter: those of tiny numbers stay in a larger unit, where their squares are not zero.
        """
        unit = int(self.shift.min())
        power = 2 * min(unit, _MOST_SHIFT) if self.degree == 2 else 0
        return rules | {
            "scores": np.ldexp(rules["scores"], -self.shift[rules["outputs"]]),
            "default_scores": np.ldexp(rules["default_scores"], -self.shift),
            "gain": np.ldexp(rules["gain"], -power),
            "losses": np.ldexp(rules["losses"], -self.degree * unit),
        }
