"""Several starts of EM, and the best of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.mixture.em.iterations import EMOptions, Run, run_em
from tacit.mixture.lockstep import MIN_GAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import Problem

__all__ = ["follow_best", "in_double"]

_ROUGH_TOL = 1e-4  # to which each start is followed before the best goes on


def follow_best(
    problem: Problem,
    starts: Iterable[ExpectedCounts],
    n_starts: int,
    options: EMOptions,
    *,
    verbose: bool = False,
) -> Run:
    """Follow all starts for a while, and the best of them to the end."""
    rough = options._replace(tol=max(_ROUGH_TOL, options.tol))
    best: Run | None = None
    for attempt, run in enumerate(problem.follow(starts, rough)):
        if verbose:
            _report(f"start {attempt + 1} of {n_starts}", run)
        if best is None or run.objective > best.objective + MIN_GAIN * abs(best.objective):
            best = run
    assert best is not None
    if options.tol >= _ROUGH_TOL or not best.converged:
        return best
    left = options.max_iter - len(best.trace)
    if left == 0:
        return replace(best, converged=False)
    rest = run_em(problem, best.expected, **options._replace(max_iter=left)._asdict())
    full = replace(rest, trace=[*best.trace, *rest.trace])
    if verbose:
        _report("the best of them", full)
    return full


def _report(name: str, run: Run) -> None:
    done = f"{len(run.trace)} passes, objective {run.objective:.8g}"
    print(f"{name}: {done}", file=sys.stderr)


def in_double(problem: Problem, run: Run) -> Run:
    """Return the run with expected counts of double precision."""
    if not problem.single:
        return run
    return replace(run, expected=problem.exact().expect(run.parameters))
