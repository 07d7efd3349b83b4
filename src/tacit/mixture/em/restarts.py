"""Several starts of EM, and the best of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.mixture.em.iterations import How, Run, run_em
from tacit.mixture.em.side_by_side import GAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import Evidence

__all__ = ["follow_best", "in_double"]

_ROUGH = 1e-4  # how far each start is followed before the best goes on


def follow_best(
    problem: Evidence,
    starts: Iterable[ExpectedCounts],
    n_starts: int,
    how: How,
    *,
    verbose: bool = False,
) -> Run:
    """Follow all starts for a while, and the best of them to the end."""
    rough = how._replace(tol=max(_ROUGH, how.tol))
    best: Run | None = None
    for attempt, run in enumerate(problem.follow(starts, rough)):
        if verbose:
            _tell(f"start {attempt + 1} of {n_starts}", run)
        if best is None or run.objective > best.objective + GAIN * abs(best.objective):
            best = run
    assert best is not None
    if how.tol >= _ROUGH or not best.converged:
        return best
    left = how.max_iter - len(best.trace)
    if left == 0:
        return replace(best, converged=False)
    rest = run_em(problem, best.expected, **how._replace(max_iter=left)._asdict())
    whole_run = replace(rest, trace=[*best.trace, *rest.trace])
    if verbose:
        _tell("the best of them", whole_run)
    return whole_run


def _tell(what: str, run: Run) -> None:
    done = f"{len(run.trace)} passes, objective {run.objective:.8g}"
    print(f"{what}: {done}", file=sys.stderr)


def in_double(problem: Evidence, run: Run) -> Run:
    """Return the run with expected counts of double precision."""
    if not problem.single:
        return run
    return replace(run, expected=problem.exact().expect(run.parameters))
