"""Averages of several mixtures: how many to make, and how smooth they are to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.density.learn import STRENGTHS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.density.learn import Fit
    from tacit.density.observed import Observed
    from tacit.density.search import Recipe

__all__ = ["learn_average"]

_FEW = 5  # members that are enough to compare strengths by


def learn_average(
    learn: Callable[[Recipe], Fit],
    first: Fit,
    best: Recipe,
    n_members: int,
    held_out: Observed | None,
    n_jobs: int,
    others: Sequence[Recipe] = (),
) -> tuple[Recipe, list[Fit]]:
    """Return members to be averaged, and their recipe; the first is given, the best for one.

    What is best for one need not be best for an average: with records to choose by, others are
    tried. Members that follow their records more closely err in more different ways, which the
    average evens out: less smoothing is tried for as long as that helps.
    """
    few = min(n_members, _FEW)
    members = [first, *(learn(best) for _ in range(few - 1))]
    if held_out is not None and few > 1:
        score = _average_score(members, held_out, n_jobs)

        def is_improved(recipe: Recipe) -> bool:
            nonlocal members, score, best
            trial = [learn(recipe) for _ in range(few)]
            found = _average_score(trial, held_out, n_jobs)
            if found <= score:
                return False
            members, score, best = trial, found, recipe
            return True

        for other in others:
            is_improved(other)
        for weaker in [s for s in reversed(STRENGTHS) if s < best.smoothing]:
            if not is_improved(best._replace(smoothing=weaker)):
                break
    return best, members + [learn(best) for _ in range(n_members - few)]


def _average_score(members: list[Fit], held_out: Observed, n_jobs: int) -> float:
    """Return the mean log-likelihood of records under the average of mixtures."""
    logs = [held_out.log_scores(member.groups, None, n_jobs) for member in members]
    scores = np.logaddexp.reduce(logs, axis=0) - np.log(len(members))
    return float(np.average(scores, weights=held_out.weights))
