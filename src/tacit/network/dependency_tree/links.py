"""Conditional distributions along the edges of a tree, and the messages that pass through them.

A message is a function of one column, for each of m records. Of a discrete column it is an array of
logarithms (m, arity). Of a numeric one it is a sum of exp(g + h·y − q·y²/2) over k terms, held as
an array (m, k, 3) of g, h and q. In both cases messages are multiplied by adding their arrays; one
term is enough for what comes from below.

Numeric columns are in units of their standard deviation, from their mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "ClassNormals",
    "ClassPosterior",
    "Link",
    "Regression",
    "TableLink",
    "add_logs",
    "draw_codes",
    "multiply_logs",
    "normal_terms",
    "term_moments",
    "term_points",
]

_LOG_2PI = float(np.log(2 * np.pi))
_FLAT = 1e-9  # a message that varies by less says nothing
_STEPS = np.linspace(-9.0, 9.0, 721)  # standard deviations, for integrals over one number
_CELLS = 4_000_000  # held at a time by such an integral


class Link(Protocol):
    """P(child | parent) of one edge."""

    def at(self, child: Any, parent: Any) -> Floats:
        """Return the logarithm for known values: (m,)."""

    def from_child(self, child: Any) -> Floats:
        """Return P(known child | ·) as a message over the parent."""

    def up(self, message: Floats) -> Floats:
        """Return the message over the parent, given the one over the child."""

    def up_at(self, message: Floats, parent: Any) -> Floats:
        """Return the same for a known parent: (m,)."""

    def given(self, parent: Any) -> Floats:
        """Return P(· | known parent) as a message over the child."""

    def down(self, message: Floats) -> Floats:
        """Return the message over the child, given all that is known of the parent otherwise."""

    def draw(self, parent: Any, rng: np.random.Generator) -> Any:
        """Draw a child for each parent."""


def add_logs(logs: Floats) -> Floats:
    """Return log Σ exp over the last axis; -inf where there is nothing to add.

    >>> add_logs(np.array([[0.0, 0.0], [-np.inf, -np.inf]])).round(4).tolist()
    [0.6931, -inf]
    """
    most = logs.max(axis=-1)
    safe = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - safe[..., None]).sum(axis=-1)) + safe
    return total


def _log(numbers: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(numbers)
    return logs


def multiply_logs(message: Floats, matrix: Floats) -> Floats:
    """Return log(exp(message) @ matrix) without underflow."""
    most = message.max(axis=1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    return _log(np.exp(message - most) @ matrix) + most


def draw_codes(probabilities: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a code for each row of probabilities."""
    ends = np.cumsum(probabilities, axis=1)
    at = rng.random(len(probabilities)) * ends[:, -1]
    # The last code with a probability is the last one that may be drawn.
    last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)
    codes: NDArray[np.int64] = np.minimum((at[:, None] >= ends).sum(axis=1), last)
    return codes


def normal_terms(mean: Any, variance: Any) -> Floats:
    """Return normal densities as terms g, h, q on a new last axis."""
    mean, variance = np.broadcast_arrays(np.asarray(mean, np.float64), variance)
    g = -0.5 * (_LOG_2PI + np.log(variance) + mean * mean / variance)
    return np.stack([g, mean / variance, 1.0 / variance], axis=-1)


def term_moments(terms: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log mass, mean and variance of each term (which has one)."""
    g, h, q = np.moveaxis(terms, -1, 0)
    return g + 0.5 * (h * h / q + _LOG_2PI - np.log(q)), h / q, 1.0 / q


def _log_normal(x: Any, mean: Any, variance: Any) -> Floats:
    logs: Floats = -0.5 * (_LOG_2PI + np.log(variance) + (x - mean) ** 2 / variance)
    return logs


def _through(terms: Floats, mean: Any, variance: Any) -> Floats:
    """Return log ∫ N(x; mean, variance) exp(g + h·x − q·x²/2) dx."""
    g, h, q = np.moveaxis(terms, -1, 0)
    s = 1.0 + q * variance
    logs: Floats = g - 0.5 * np.log(s) + (h * mean + 0.5 * (h * h * variance - q * mean**2)) / s
    return logs


@dataclass(frozen=True)
class TableLink:
    """A discrete column below a discrete one: a table (parent codes × child codes)."""

    probabilities: Floats

    @cached_property
    def logs(self) -> Floats:
        """The logarithms."""
        return _log(self.probabilities)

    def at(self, child: Any, parent: Any) -> Floats:
        """Look up."""
        logs: Floats = self.logs[parent, child]
        return logs

    def from_child(self, child: Any) -> Floats:
        """Look up columns."""
        logs: Floats = self.logs.T[child]
        return logs

    def up(self, message: Floats) -> Floats:
        """Sum over the child."""
        return multiply_logs(message, self.probabilities.T)

    def up_at(self, message: Floats, parent: Any) -> Floats:
        """Sum over the child."""
        return add_logs(message + self.logs[parent])

    def given(self, parent: Any) -> Floats:
        """Look up rows."""
        logs: Floats = self.logs[parent]
        return logs

    def down(self, message: Floats) -> Floats:
        """Sum over the parent."""
        return multiply_logs(message, self.probabilities)

    @cached_property
    def _ends(self) -> Floats:
        """Where the next code begins; nowhere after the last one that is possible."""
        ends = np.cumsum(self.probabilities, axis=1)
        ends /= ends[:, -1:]
        possible = self.probabilities > 0
        later: NDArray[np.int64] = np.cumsum(possible[:, ::-1], axis=1)[:, ::-1] - possible
        ends[later == 0] = np.inf
        return ends[:, :-1]

    def draw(self, parent: Any, rng: np.random.Generator) -> Any:
        """Draw from the parents' rows."""
        at = rng.random(len(parent))
        if self._ends.shape[1] == 1:
            return (at >= self._ends[parent, 0]).astype(np.int64)
        return (at[:, None] >= self._ends[parent]).sum(axis=1)


@dataclass(frozen=True)
class Regression:
    """A number below a number: N(intercept + slope · parent, variance)."""

    intercept: float
    slope: float
    variance: float

    def _mean(self, parent: Any) -> Any:
        return self.intercept + self.slope * parent

    def at(self, child: Any, parent: Any) -> Floats:
        """Return the density."""
        return _log_normal(child, self._mean(parent), self.variance)

    def from_child(self, child: Any) -> Floats:
        """Return the density as a term in the parent."""
        away, v = np.asarray(child) - self.intercept, self.variance
        g = -0.5 * (_LOG_2PI + np.log(v) + away * away / v)
        terms = np.stack([g, self.slope * away / v, np.full_like(g, self.slope**2 / v)], axis=-1)
        return terms[:, None, :]

    def up(self, message: Floats) -> Floats:
        """Integrate over the child."""
        _, h, q = np.moveaxis(message, -1, 0)
        s = 1.0 + q * self.variance
        g = _through(message, self.intercept, self.variance)
        h, q = self.slope * (h - q * self.intercept) / s, self.slope**2 * q / s
        return np.stack([g, h, q], axis=-1)

    def up_at(self, message: Floats, parent: Any) -> Floats:
        """Integrate over the child."""
        return _through(message[:, 0], self._mean(parent), self.variance)

    def given(self, parent: Any) -> Floats:
        """Return the density as a term in the child."""
        return normal_terms(self._mean(parent), self.variance)[:, None, :]

    def down(self, message: Floats) -> Floats:
        """Integrate over the parent."""
        mass, mean, variance = term_moments(message)
        terms = normal_terms(self._mean(mean), self.variance + self.slope**2 * variance)
        terms[..., 0] += mass
        return terms

    def draw(self, parent: Any, rng: np.random.Generator) -> Any:
        """Draw about the regression line."""
        return self._mean(parent) + np.sqrt(self.variance) * rng.standard_normal(len(parent))


@dataclass(frozen=True)
class ClassNormals:
    """A number below a discrete column: a normal distribution for each code."""

    means: Floats
    variances: Floats

    def at(self, child: Any, parent: Any) -> Floats:
        """Return the density."""
        return _log_normal(child, self.means[parent], self.variances[parent])

    def from_child(self, child: Any) -> Floats:
        """Return the densities for all codes."""
        return _log_normal(np.asarray(child)[:, None], self.means, self.variances)

    def up(self, message: Floats) -> Floats:
        """Integrate over the child."""
        return _through(message, self.means, self.variances)

    def up_at(self, message: Floats, parent: Any) -> Floats:
        """Integrate over the child."""
        return _through(message[:, 0], self.means[parent], self.variances[parent])

    def given(self, parent: Any) -> Floats:
        """Return the density as a term."""
        return normal_terms(self.means[parent], self.variances[parent])[:, None, :]

    def down(self, message: Floats) -> Floats:
        """Return a term for each code."""
        terms = np.repeat(normal_terms(self.means, self.variances)[None], len(message), axis=0)
        terms[..., 0] += message
        return terms

    def draw(self, parent: Any, rng: np.random.Generator) -> Any:
        """Draw from the parents' distributions."""
        noise = rng.standard_normal(len(parent))
        return self.means[parent] + np.sqrt(self.variances[parent]) * noise


@dataclass(frozen=True)
class ClassPosterior:
    """A discrete column below a number: Bayes' rule, from a normal distribution for each code."""

    probabilities: Floats
    means: Floats
    variances: Floats

    def logs(self, parent: Any) -> Floats:
        """Return log P(code | parent) on a new last axis."""
        scores = _log(self.probabilities) + _log_normal(
            np.asarray(parent)[..., None], self.means, self.variances
        )
        return scores - add_logs(scores)[..., None]

    def at(self, child: Any, parent: Any) -> Floats:
        """Return the probability."""
        logs: Floats = np.take_along_axis(self.logs(parent), np.asarray(child)[:, None], 1)[:, 0]
        return logs

    def from_child(self, child: Any) -> Floats:
        """There is no closed form; whoever knows the child does without."""
        assert not len(child)
        return np.zeros((0, 1, 3))

    def up(self, message: Floats) -> Floats:
        """Pass on nothing; anything else has no closed form."""
        assert not len(message) or float(np.ptp(message, axis=1).max()) < _FLAT
        return np.zeros((len(message), 1, 3))

    def up_at(self, message: Floats, parent: Any) -> Floats:
        """Sum over the child."""
        return add_logs(self.logs(parent) + message)

    def given(self, parent: Any) -> Floats:
        """Return the probabilities."""
        return self.logs(parent)

    def down(self, message: Floats) -> Floats:
        """Integrate over the parent, numerically."""
        result = np.empty((len(message), len(self.probabilities)))
        step = max(1, _CELLS // (message.shape[1] * len(_STEPS) * len(self.probabilities)))
        for first in range(0, len(message), step):
            block = message[first : first + step]
            points, logs = term_points(block)
            logs = logs[..., None] + self.logs(points)
            result[first : first + step] = add_logs(np.moveaxis(logs, 1, -1))
        return result

    def draw(self, parent: Any, rng: np.random.Generator) -> Any:
        """Draw by Bayes' rule."""
        return draw_codes(np.exp(self.logs(parent)), rng)


def term_points(terms: Floats) -> tuple[Floats, Floats]:
    """Return points for numerical integrals over sums of terms, and the logarithms of masses.

    Both have the shape (m, k · number of points).
    """
    mass, mean, variance = term_moments(terms)
    points = mean[..., None] + np.sqrt(variance)[..., None] * _STEPS
    weights = _log_normal(_STEPS, 0.0, 1.0) + np.log(_STEPS[1] - _STEPS[0])
    logs = mass[..., None] + weights
    return points.reshape(len(terms), -1), logs.reshape(len(terms), -1)
