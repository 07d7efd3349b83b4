"""How strong the prior is: what the evidence of expected counts says.

The evidence is that of Cheeseman and Stutz: log p(D') of records with clusters filled in is the
only part of it in which the strength appears once the parameters are known, and it needs expected
counts alone, no pass over records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.prior import Prior
    from tacit.schema import Schema

__all__ = ["find_strength"]

_MIN_STRENGTH = 1e-2  # records
_MAX_STRENGTH = 1e3  # times the records: clusters can no longer differ
_PRECISION = 3e-2  # of the logarithm: Newton's last step leaves far less
_MAX_STEP = 2.0  # of the logarithm, in a step of Newton's method
_MAX_STEPS = 50


def find_strength(schema: Schema, prior: Prior, expected: ExpectedCounts) -> float:
    """Return the strength of a prior, its means given, under which counts are most probable.

    Newton's method for the logarithm of the strength, from that of the prior on.
    """
    strength = prior.strength(schema)
    least, most = np.log(_MIN_STRENGTH), np.log(_MAX_STRENGTH * max(expected.weight, 1.0))
    if not (prior.counted.any() and strength > 0):
        return strength
    stored, defaults = (
        np.where(alphas >= 0, alphas / strength, -1.0) for alphas in (prior.stored, prior.defaults)
    )
    log = float(np.clip(np.log(strength), least, most))
    for _ in range(_MAX_STEPS):
        strength = float(np.exp(log))
        first, second = _core.em_strength(
            schema.offsets, expected.totals, expected.stored, stored, defaults, strength
        )
        slope = strength * first
        curvature = strength * (strength * second + first)
        step = -slope / curvature if curvature < 0 else _MAX_STEP * float(np.sign(slope))
        moved = float(np.clip(log + np.clip(step, -_MAX_STEP, _MAX_STEP), least, most))
        if abs(moved - log) < _PRECISION:
            return float(np.exp(moved))
        log = moved
    return float(np.exp(log))
