"""One step of EM as others do it: sparse matrices, dense arrays, StepMix."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.iterations import TableProblem
from tacit.mixture.em.prior import make_prior

if TYPE_CHECKING:
    import tacit

LEAST = {np.float64: 1e-60, np.float32: 1e-37}  # as tacit has it, and as floats can
MOST = {np.float64: 1 - 1e-15, np.float32: 1 - 1e-7}


def responsibilities(table: tacit.Table, n_clusters: int, seed: int = 0) -> np.ndarray:
    """Draw where all start from."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(n_clusters, 0.5), table.n_records)


def as_csr(table: tacit.Table, dtype: Any = np.float64) -> sparse.csr_array:
    """Return a table of True and False as ones."""
    index = np.int32 if table.n_stored < 2**31 else np.int64
    parts = (np.ones(table.n_stored, dtype), table.values.astype(index), table.indptr.astype(index))
    return sparse.csr_array(parts, shape=table.shape)


class Tacit:
    """What `NaiveBayesMixture.fit` does in a pass, without a prior."""

    def __init__(
        self, table: tacit.Table, start: np.ndarray, *, single: bool = False, n_jobs: int = 1
    ) -> None:
        prior = make_prior(table.one_way(), 0.0, "marginals", "ignore")
        self.problem = TableProblem(table, prior, n_jobs, single)
        stored = np.ascontiguousarray(_indicators(table).T @ start)
        self.counts = ExpectedCounts(start.sum(axis=0), stored, 0.0, float(table.n_records))

    def step(self) -> float:
        self.counts = self.problem.expect(self.problem.maximise(self.counts))
        return self.counts.log_likelihood


def _indicators(table: tacit.Table) -> sparse.csr_array:
    """Return the stored values of a table as ones, by value id."""
    parts = (np.ones(table.n_stored), table.values.astype(np.int64), table.indptr)
    return sparse.csr_array(parts, shape=(table.n_records, table.schema.n_values))


class ScipySparse:
    """EM in four lines of scipy.sparse: one product for the E-step, one for the M-step."""

    def __init__(self, table: tacit.Table, start: np.ndarray, dtype: Any = np.float64) -> None:
        self.matrix = as_csr(table, dtype)
        self.transposed = self.matrix.T
        self.weight = start.astype(dtype)
        self.bounds = LEAST[dtype], MOST[dtype]

    def step(self) -> float:
        totals = self.weight.sum(axis=0)
        ones = np.clip(self.transposed @ self.weight / totals, *self.bounds)
        logs = np.log1p(-ones)
        corrections = np.log(ones) - logs
        joint = self.matrix @ corrections
        joint += np.log(totals / totals.sum()) + logs.sum(axis=0)
        top = joint.max(axis=1, keepdims=True)
        np.exp(joint - top, out=joint)
        sums = joint.sum(axis=1, keepdims=True)
        joint /= sums
        self.weight = joint
        return float((np.log(sums) + top).sum(dtype=np.float64))


class NumpyDense:
    """The same on a dense array."""

    def __init__(self, table: tacit.Table, start: np.ndarray) -> None:
        self.array = as_csr(table).toarray()
        self.weight = start

    def step(self) -> float:
        totals = self.weight.sum(axis=0)
        ones = np.clip(self.array.T @ self.weight / totals, 1e-60, 1 - 1e-15)
        logs = np.log1p(-ones)
        joint = self.array @ np.log(ones) + (1 - self.array) @ logs + np.log(totals / totals.sum())
        log = logsumexp(joint, axis=1, keepdims=True)
        self.weight = np.exp(joint - log)
        return float(log.sum())


class StepMixDense:
    """StepMix's own E-step and M-step."""

    def __init__(self, table: tacit.Table, start: np.ndarray) -> None:
        from stepmix.stepmix import StepMix

        self.array = as_csr(table).toarray()
        self.model = StepMix(
            start.shape[1], measurement="binary", max_iter=1, verbose=0, progress_bar=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one iteration does not converge
            self.model.fit(self.array)
        self.weight = start

    def step(self) -> float:
        self.model._m_step(self.array, self.weight)
        mean, logs = self.model._e_step(self.array)
        self.weight = np.exp(logs)
        return float(mean * len(self.array))
