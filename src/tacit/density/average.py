"""Averages of several mixtures: by what recipe their members are learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tacit.density.learn import Fit
    from tacit.density.observed import Observed
    from tacit.density.search import Recipe

__all__ = ["foretell", "learn_average"]

_FEW = 5  # members that are enough to compare recipes by
_FIRST = 3  # members that show what is worse beyond doubt
_SURE = 3.0  # standard errors that are not chance
_MOST = 12  # recipes that are tried


class _Member(NamedTuple):
    fit: Fit
    logs: NDArray[np.float64]  # log P of records held out


@dataclass(frozen=True)
class _Chooser:
    """Judges averages by records held out."""

    learn: Callable[[Recipe], Fit]
    held_out: Observed
    n_members: int
    n_jobs: int

    def member(self, fit: Fit) -> _Member:
        return _Member(fit, self.held_out.log_scores(fit.groups, None, self.n_jobs))

    def foretell(self, members: list[_Member]) -> float:
        """Return what an average of all members would come to, from a few of them."""
        each = [self._mean(member.logs) for member in members]
        together = self._mean(_average(members))
        return foretell(float(np.mean(each)), together, len(members), self.n_members)

    def _mean(self, logs: NDArray[np.float64]) -> float:
        return float(np.average(logs, weights=self.held_out.weights))

    def try_out(self, recipe: Recipe, rival: list[_Member]) -> list[_Member] | None:
        """Return as many members as the rival has, if they are better."""
        found = list[_Member]()
        for n in sorted({min(_FIRST, len(rival)), len(rival)}):
            found += [self.member(self.learn(recipe)) for _ in range(n - len(found))]
            loss = self.foretell(rival[:n]) - self.foretell(found)
            if n < len(rival) and loss < _SURE * self._error(found, rival[:n]):
                continue
            if loss >= 0:
                return None
        return found

    def _error(self, found: list[_Member], rival: list[_Member]) -> float:
        """Return the standard error of a difference."""
        gains, weights = _average(found) - _average(rival), self.held_out.weights
        if weights is not None:
            gains = gains * (weights / weights.mean())
        return float(gains.std() / np.sqrt(len(gains)))


def learn_average(
    learn: Callable[[Recipe], Fit],
    first: Fit,
    best: Recipe,
    n_members: int,
    held_out: Observed | None,
    n_jobs: int,
    others: Callable[[Recipe], Iterator[Recipe]],
) -> tuple[Recipe, list[Fit]]:
    """Return members to be averaged, and their recipe; the first is given, the best for one.

    What is best for one need not be best for an average: members that err in more different ways
    gain more by it. With records to choose by, `others` are tried as long as one is better.
    """
    few = min(n_members, _FEW)
    if held_out is None or few == 1:
        return best, [first, *(learn(best) for _ in range(n_members - 1))]
    chooser = _Chooser(learn, held_out, n_members, n_jobs)
    members = [chooser.member(fit) for fit in (first, *(learn(best) for _ in range(few - 1)))]
    tried = {best}
    while len(tried) < _MOST:
        for recipe in others(best):
            if recipe in tried:
                continue
            tried.add(recipe)
            trial = chooser.try_out(recipe, members)
            if trial is not None:
                members, best = trial, recipe
                break
        else:
            break
    fits = [member.fit for member in members]
    return best, fits + [learn(best) for _ in range(n_members - few)]


def foretell(one: float, few: float, n_few: int, n: int) -> float:
    """Return the log-likelihood of an average of `n` members from that of one and of a few.

    What is missing to an average of very many is taken to be in inverse proportion to their number.

    >>> foretell(-10.0, -9.0, 2, 4)
    -8.5
    """
    return few + (few - one) / (1 - 1 / n_few) * (1 / n_few - 1 / n)


def _average(members: list[_Member]) -> NDArray[np.float64]:
    """Return log P of records under an average."""
    logs: NDArray[np.float64] = np.logaddexp.reduce([member.logs for member in members], axis=0)
    logs -= np.log(len(members))
    return logs
