"""The search for all conjunctions that a target depends on."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import polars as pl
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.baskets.significant.found import Found, SignificantRuleList, adjust
from tacit.baskets.significant.items import list_items
from tacit.baskets.significant.problem import Problem, make_problem
from tacit.baskets.significant.rule import show_p_value
from tacit.baskets.significant.state import significant_rules_of_state, state_of_significant_rules
from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.listing import Listed, Listing
from tacit.machine import check_fits, check_int, count_jobs
from tacit.parameters import (
    check_choice,
    check_flag,
    check_number,
    make_generator,
    store_parameters,
)
from tacit.rules.finder.rule import show_conditions
from tacit.table.inputs import Inputs
from tacit.table.targets import require_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit import store

__all__ = ["SignificantRules"]

_CORRECTIONS = {"fwer": ("permutation", "tarone"), "fdr": ("yekutieli", "hochberg")}


class _Settings(NamedTuple):
    """The parameters, checked."""

    alpha: float
    correction: str
    n_permutations: int
    min_support: int
    max_size: int  # 0 for any
    n_jobs: int


class SignificantRules(Listed, Estimator):
    r"""Find all conjunctions that a target depends on, with an error rate over the whole search.

    Every conjunction of conditions ``column = label`` is a hypothesis: the target is as frequent
    among the records that match as among all others. All are tested, and those are reported that
    stay significant although so many were tried. Conjunctions that match the same records are one
    hypothesis. Nothing is sampled but the permutations; sets of records that are too few to be
    significant, whatever their labels, are not visited and cost nothing.

    Parameters
    ----------
    alpha : float, default 0.05
        The error rate that is kept.
    control : {"fwer", "fdr"}
        Which one. The family-wise error rate is the probability of reporting anything that is not
        there; the false discovery rate is the expected fraction of what is reported.
    correction : {"permutation", "tarone", "yekutieli", "hochberg"}, optional
        How it is kept. For "fwer":

        - "permutation" (the default): Westfall and Young's minimal p-values over random
          permutations of the target. It knows how hypotheses overlap, and finds most;
        - "tarone": Bonferroni's bound over the hypotheses that could be significant at all, after
          Tarone (LAMP). Nothing is drawn, and the bound holds whichever hypotheses are true.

        For "fdr", over the hypotheses that are testable by Tarone's bound at `alpha`:

        - "yekutieli" (the default): Benjamini and Yekutieli's procedure, which holds for any
          dependence between hypotheses;
        - "hochberg": Benjamini and Hochberg's, which finds more, and is proven for hypotheses that
          are independent or positively dependent; conjunctions need not be.
    test : {"fisher", "chi2"}
        Fisher's exact test, or Pearson's χ² without continuity correction, which is approximate
        for few records. Permutations keep the error rate with either.
    alternative : {"two-sided", "greater", "less"}
        Whether positives may be more or less frequent, only more, or only less.
    value : label, optional
        The target's label that is positive. Needed if there are more than two; else the second in
        order, such as True, 1 or "yes".
    n_permutations : int, default 1000
        For "permutation"; ``alpha * (n_permutations + 1)`` must be at least 1.
    min_support : int, default 1
        Records that must match.
    max_size : int, optional
        The greatest number of conditions; any unless given. Fewer hypotheses leave more power.
    redundant : bool, default False
        Whether to report all that is significant. Else a rule is left out if all its records belong
        to another rule with no greater p-value that goes in the same direction, unless it adds to
        it: positives are more (or less) frequent than among the other's records, with a p-value
        that is significant, too.
    default_conditions : bool or "auto"
        Whether a condition may ask for a column's default. With "auto" it may, except that columns
        of False and True, or of 0 and 1, are only asked for True, or 1: what is not in a basket is
        no item.
    missing : {"state", "ignore", "error"}
        What a missing value is: a label like others, no condition, or refused.
    level : float, default 0.95
        The confidence level of the intervals of odds ratios.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    random_state : int, RandomState, Generator, optional
        For the permutations.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 reports on stderr what is searched and how long it took.

    Attributes
    ----------
    rules_ : sequence of SignificantRule
        By p-value, the least first. Each is made when it is asked for.
    threshold_ : float
        The p-value that decides: rules are below it ("permutation"), or not above.
    n_testable_ : int
        Hypotheses that could have been significant at this threshold, given their support.
    n_significant_ : int
        How many hypotheses are, those that are redundant among them.
    least_support_ : int
        The number of records below which no rule can be significant.
    n_records_, n_positives_ : int
        Records searched, and how many of them are positive.
    target_, value_ : str, label
        The target's name and its label that is positive.
    feature_names_in_ : ndarray of str (for Tables and frames)
    n_features_in_ : int

    Notes
    -----
    With "permutation", a rule's adjusted p-value is (1 + r) / (1 + n_permutations), r the number of
    permutations in which any hypothesis has a p-value that is no greater. If the target depends on
    nothing, the probability of reporting anything is at most `alpha`, exactly. If it depends on
    some columns, the usual assumption is that the p-values of the other hypotheses are distributed
    as they were if it did not (subset pivotality).

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> sure = tacit.SignificantRules(max_size=2, random_state=0).fit(visits, "scores")
    >>> print(sure.to_text(top=3))  # doctest: +SKIP
    """

    _kind = "significant_rules"
    _input_tags = ("categorical", "sparse", "string")
    _target_tags = ("required",)
    _per_record: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        control: Literal["fwer", "fdr"] = "fwer",
        correction: Literal["permutation", "tarone", "yekutieli", "hochberg"] | None = None,
        test: Literal["fisher", "chi2"] = "fisher",
        alternative: Literal["two-sided", "greater", "less"] = "two-sided",
        value: Any = None,
        n_permutations: int = 1000,
        min_support: int = 1,
        max_size: int | None = None,
        redundant: bool = False,
        default_conditions: bool | Literal["auto"] = "auto",
        missing: Literal["state", "ignore", "error"] = "state",
        level: float = 0.95,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know: a target of two classes needs no `value`."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SignificantRules:
        """Search a table, and return itself.

        Parameters
        ----------
        X : Table, frame, mapping of columns, array, sparse array or baskets
        y : array-like of shape (n_records,) or str
            The target: integers, strings or booleans, or the name of a column of a Table or frame,
            or of an item.
        sample_weight : array-like of shape (n_records,), optional
            How often each record was seen: whole numbers, as a record counts or does not in an
            exact test.
        """
        settings = self._check()
        require_target(self, y)
        inputs = Inputs.fit(self, X, y, sample_weight, kinds=self.kinds)
        problem = make_problem(inputs, self.value, self.discretise, settings.n_jobs)
        started = time.perf_counter()
        if self.verbose:
            print(self._headline(problem), file=sys.stderr)
        found = self._search(problem, settings)
        if self.verbose:
            seconds = time.perf_counter() - started
            print(
                f"{found.n_testable:,} testable hypotheses, {found.n_significant:,} significant, "
                f"{len(found.support):,} reported in {seconds:.2f} s",
                file=sys.stderr,
            )
        self._keep(found, problem)
        return self

    def _check(self) -> _Settings:
        """Check the parameters, in the order in which they are listed."""
        alpha = check_number(self.alpha, "alpha", 0, 1, above=True, below=True)
        control = check_choice(self.control, "control", ("fwer", "fdr"))
        known = _CORRECTIONS[control]
        correction = known[0] if self.correction is None else self.correction
        if correction in sum(_CORRECTIONS.values(), ()) and correction not in known:
            listed = " or ".join(map(repr, known))
            raise InputError(
                f"correction: control={control!r} is kept by {listed}, not by {correction!r}"
            )
        check_choice(correction, "correction", known)
        check_choice(self.test, "test", ("fisher", "chi2"))
        check_choice(self.alternative, "alternative", ("two-sided", "greater", "less"))
        n_permutations = check_int(self.n_permutations, "n_permutations", 1)
        if correction == "permutation" and alpha * (n_permutations + 1) < 1 - 1e-9:
            least = math.ceil(1 / alpha) - 1
            raise InputError(
                f"n_permutations: {n_permutations} are too few for alpha={alpha:g}, "
                f"take {least:,} at least"
            )
        min_support = check_int(self.min_support, "min_support", 1)
        max_size = 0 if self.max_size is None else check_int(self.max_size, "max_size", 1)
        check_flag(self.redundant, "redundant")
        if self.default_conditions != "auto":
            check_flag(self.default_conditions, "default_conditions")
        check_choice(self.missing, "missing", ("state", "ignore", "error"))
        check_number(self.level, "level", 0, 1, above=True, below=True)
        jobs = count_jobs(self.n_jobs)
        return _Settings(alpha, correction, n_permutations, min_support, max_size, jobs)

    def _search(self, problem: Problem, settings: _Settings) -> Found:
        items = list_items(problem.table, self.default_conditions, self.missing)
        items = items if problem.often is None else items.repeated(problem.often)
        permuted = settings.correction == "permutation"
        if permuted:
            chunks = math.ceil(settings.n_permutations / 256)
            what = f"labels of {settings.n_permutations:,} permutations"
            check_fits(
                32 * chunks * len(problem.labels), what, "take fewer, or correction='tarone'"
            )
        rows = items.start, items.rows, problem.labels
        seed = int(make_generator(self.random_state).integers(2**63)) if permuted else 0
        found = _core.significant_rules(
            *rows, self.test, self.alternative,
            settings.correction if self.control == "fwer" else "false_discovery", settings.alpha,
            settings.n_permutations, seed, min(settings.min_support, 2**62),
            min(settings.max_size, 2**62), settings.n_jobs,
        )  # fmt: skip
        adjusted, limit = adjust(
            found, settings.correction, settings.alpha, settings.n_permutations
        )
        n = len(adjusted)
        paths, closed = found["path_start"][: n + 1], found["closed_start"][: n + 1]
        support, positives = found["support"][:n], found["positives"][:n]
        kept, start, path = _core.reduce_rules(
            *rows, paths, found["path"][: paths[-1]], closed, found["closed"][: closed[-1]],
            support, positives, self.test, limit, bool(self.redundant),
            settings.n_jobs,
        )  # fmt: skip
        return Found.of(
            items,
            (start, path),
            (closed, found["closed"]),
            kept,
            support=support[kept],
            positives=positives[kept],
            log_p=found["log_p"][kept],
            adjusted=adjusted[kept],
            threshold=math.exp(limit),
            n_testable=found["n_testable"],
            n_significant=n,
            least_support=found["least_support"],
        )

    def _keep(self, found: Found, problem: Problem) -> None:
        self._found = found
        self._input = problem.spec
        self.threshold_ = found.threshold
        self.n_testable_ = found.n_testable
        self.n_significant_ = found.n_significant
        self.least_support_ = found.least_support
        self.n_records_, self.n_positives_ = problem.n_records, problem.n_positives
        self.target_, self.value_ = problem.target, problem.value
        self.rules_ = SignificantRuleList(
            found, problem.spec.schema, self.n_records_, self.n_positives_, float(self.level)
        )

    def _headline(self, problem: Problem) -> str:
        return (
            f"searching {problem.n_records:,} records × {problem.table.n_columns:,} columns, "
            f"{problem.n_positives:,} positive, for conjunctions"
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rules_")

    def to_frame(self, top: int | None = None) -> pl.DataFrame:
        """Return a Polars frame with a row for each rule: its conditions and its numbers.

        Parameters
        ----------
        top : int, optional
            How many rules; all unless given.
        """
        n = self._n_shown(top)
        shown = [show_conditions(conditions) for conditions in self.rules_.conditions(n)]
        numbers = {
            name: values[:n]
            for name, values in self.rules_.numbers.items()
            if name != "log_p_value"
        }
        return pl.DataFrame({"conditions": pl.Series(shown, dtype=pl.String), **numbers})

    def to_text(self, top: int | None = 20) -> str:
        """Return one line for each rule, below one that says what they are about.

        Parameters
        ----------
        top : int, optional
            How many rules, the least p-value first; None for all.
        """
        return "\n".join(
            [self._title(), *(f"  {rule}" for rule in self.rules_[: self._n_shown(top)])]
        )

    def _n_shown(self, top: int | None) -> int:
        check_is_fitted(self)
        return len(self.rules_) if top is None else min(check_int(top, "top", 0), len(self.rules_))

    def _title(self) -> str:
        check_is_fitted(self)
        rate = self.n_positives_ / self.n_records_
        return f"{show_conditions({self.target_: self.value_})}, {rate:.1%} of all records, where"

    def _listing(self, top: int | None) -> Listing:
        check_is_fitted(self)
        rows, bars = [], []
        for rule in self.rules_[:top]:
            conditions = show_conditions(rule.conditions)
            counts = f"{rule.positives:,} of {rule.support:,}"
            low, high = rule.odds_ratio_interval
            rows.append(
                (
                    conditions,
                    f"{rule.confidence:.1%}",
                    counts,
                    f"{rule.odds_ratio:.3g}",
                    f"{low:.3g} to {high:.3g}",
                    f"{rule.risk_difference:+.1%}",
                    show_p_value(rule.log_p_value),
                    f"{rule.adjusted_p_value:.2g}",
                )
            )
            bars.append((conditions, -rule.log_p_value / math.log(10), counts))
        head = (
            "conditions",
            "confidence",
            "records",
            "odds ratio",
            f"{self.level:.0%} interval",
            "risk difference",
            "p-value",
            "adjusted",
        )
        return Listing(self._title(), head, rows, bars, "−log₁₀ of the p-value")

    def _html_of_fit(self) -> str:
        return self.to_html(20)

    def to_state(self) -> store.State:
        """Return the named arrays that a file holds.

        A generator is not kept, nor is `discretise` if it is a rule: the cuts are in the labels.
        """
        return state_of_significant_rules(self)

    @classmethod
    def from_state(cls, state: store.State) -> SignificantRules:
        """Make the rules that :meth:`to_state` described.

        Parameters
        ----------
        state : mapping of str to ndarray
        """
        return significant_rules_of_state(cls, state)
