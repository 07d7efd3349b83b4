"""Random tables of codes for rule searches, and the ways in which one table can be stored."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import rules as rule_oracle
from oracles.rules import MISSING, NOMINAL, ORDINAL, BoostProblem, Setting
from support.strategies import assert_identical
from tacit import _core

LOSSES = ("logistic", "squared", "squared_hinge", "example_logistic", "softmax")
LOSSES += ("absolute", "quantile", "poisson")
NUMBER_LOSSES = ("squared", "absolute", "quantile", "poisson")


@dataclass(frozen=True)
class Codes:
    """A dense table of codes; columns are ordinal or nominal."""

    codes: np.ndarray
    kinds: np.ndarray

    @property
    def n_records(self):
        return len(self.codes)

    def arities(self):
        return self.codes.max(axis=0, initial=0) + 1

    def columns(self, predominant=None):
        """The kernel's columns; by default with everything stored."""
        if predominant is None:
            predominant = self.arities()  # a code that no record has
        arrays = rule_oracle.column_arrays(self.codes, self.kinds, predominant)
        return _core.RuleColumns(**arrays)

    def take(self, records):
        return replace(self, codes=self.codes[records])


@st.composite
def coded_tables(draw, max_records=14, max_columns=4, min_records=1):
    """Few codes, so that there are ties; most are one and the same, some are missing."""
    m = draw(st.integers(min_records, max_records))
    n = draw(st.integers(1, max_columns))
    kinds = draw(hnp.arrays(np.uint8, n, elements=st.sampled_from([ORDINAL, NOMINAL])))
    common = draw(hnp.arrays(np.int32, n, elements=st.integers(MISSING, 4)))
    steps = st.integers(MISSING, 4)
    codes = np.empty((m, n), np.int32)
    for column in range(n):
        column_codes = hnp.arrays(np.int32, m, elements=steps, fill=st.just(int(common[column])))
        codes[:, column] = draw(column_codes)
    return Codes(codes, kinds)


@st.composite
def predominants(draw, table):
    """A code for each column: one that is there, one that is not, or missing."""
    codes = [draw(st.integers(MISSING, int(arity))) for arity in table.arities()]
    return np.array(codes, np.int32)


@st.composite
def settings_of_boosting(draw, n_outputs, losses=LOSSES):
    loss = draw(st.sampled_from(losses))
    kinked = loss in rule_oracle.KINKED
    heads = "single" if kinked else draw(st.sampled_from(["single", "partial", "complete"]))
    return Setting(
        loss=loss,
        quantile=draw(st.sampled_from([0.25, 0.5, 0.9])) if loss == "quantile" else 0.5,
        heads=heads,
        head_size=draw(st.integers(1, n_outputs)),
        learning_rate=draw(st.sampled_from([0.1, 0.3, 1.0])),
        l1=draw(st.sampled_from([0.0, 0.25])),
        l2=draw(st.sampled_from([0.5, 1.0, 4.0])),
        max_conditions=draw(st.integers(1, 4)),
        min_support=float(draw(st.integers(1, 3))),
    )


@st.composite
def boost_problems(draw, weighted=False, losses=LOSSES):
    table = draw(coded_tables())
    m, n_outputs = table.n_records, draw(st.integers(1, 4))
    setting = draw(settings_of_boosting(n_outputs, losses))
    if setting.loss in NUMBER_LOSSES:
        least = 0 if setting.loss == "poisson" else -16
        numbers = st.integers(least, 16).map(lambda k: k / 4)
        targets = draw(hnp.arrays(np.float64, (m, n_outputs), elements=numbers))
    elif setting.loss == "softmax":
        classes = draw(hnp.arrays(np.int64, m, elements=st.integers(0, n_outputs - 1)))
        targets = np.eye(n_outputs, dtype=np.uint8)[classes]
    else:
        targets = draw(hnp.arrays(np.uint8, (m, n_outputs), elements=st.integers(0, 1)))
    units, weights = np.ones(m), np.ones(m)
    if weighted and draw(st.booleans()):
        units = draw(hnp.arrays(np.float64, m, elements=st.integers(0, 3).map(float)))
    if weighted and draw(st.booleans()):
        weights = draw(hnp.arrays(np.float64, m, elements=st.sampled_from([0.3, 1.0, 2.5])))
    return BoostProblem(table.codes, table.kinds, targets, units, weights, setting)


def limits_of(setting):
    """Limits as the kernel takes them."""
    limits = {"most_columns": setting.most_columns}
    if setting.monotone:
        limits["monotone"] = np.array(setting.monotone, np.int32)
    if setting.groups:
        ends = np.cumsum([0, *map(len, setting.groups)])
        limits["group_start"] = ends.astype(np.int64)
        limits["group_columns"] = np.concatenate(setting.groups).astype(np.int32)
    return limits


@st.composite
def limited_problems(draw, weighted=False):
    """Problems with columns that scores rise or fall with, and columns that stand together."""
    problem = draw(boost_problems(weighted=weighted))
    n = len(problem.kinds)
    signs = [draw(st.sampled_from([-1, 0, 1])) if kind == ORDINAL else 0 for kind in problem.kinds]
    setting = replace(problem.setting, most_columns=draw(st.integers(0, 2)))
    if setting.heads == "single":
        setting = replace(setting, monotone=tuple(signs))
    if draw(st.booleans()):
        some = st.sets(st.integers(0, n - 1), min_size=1)
        groups = [tuple(sorted(group)) for group in draw(st.lists(some, min_size=1, max_size=3))]
        rest = tuple(sorted(set(range(n)).difference(*groups)))
        setting = replace(setting, groups=(*groups, *((rest,) if rest else ())))
    return replace(problem, setting=setting)


def boost(problem, predominant=None, *, n_rules=4, n_jobs=1, seed=0, patience=0, **options):
    """Grow rules with the kernel; return its arrays and the scores of training records."""
    booster = booster_of(problem, predominant, seed=seed, **options)
    booster.grow(n_rules, patience, n_jobs)
    return booster.rules(), booster.scores()


def booster_of(problem, predominant=None, *, seed=0, **options):
    """The kernel, before any rule is grown."""
    setting = problem.setting
    table = Codes(problem.codes, problem.kinds)
    given = {
        "default_rule": True,
        "units": problem.units.astype(np.float32) if (problem.units != 1).any() else None,
        "weights": problem.weights if (problem.weights != 1).any() else None,
        "sample": "none",
        "sample_fraction": 1.0,
        "strata": None,
        "n_features": 0,
        "prune": False,
        "search": "exact",
        "seed": seed,
        "quantile": setting.quantile,
    }
    given |= limits_of(setting) | options
    return _core.RuleBooster(
        columns=table.columns(predominant),
        targets=np.ascontiguousarray(problem.targets.T),
        loss=setting.loss,
        heads=setting.heads,
        head_size=setting.head_size,
        learning_rate=setting.learning_rate,
        l1=setting.l1,
        l2=setting.l2,
        max_conditions=setting.max_conditions,
        min_support=setting.min_support,
        **given,
    )


SETTING = Setting(learning_rate=1.0, l2=0.0, max_conditions=1, loss="squared")


def problem_of(codes, targets, kinds=None, setting=SETTING):
    codes = np.atleast_2d(np.asarray(codes, np.int32).T).T
    targets = np.atleast_2d(np.asarray(targets).T).T
    kinds = np.zeros(codes.shape[1], np.uint8) if kinds is None else np.asarray(kinds, np.uint8)
    ones = np.ones(len(codes))
    return BoostProblem(codes, kinds, targets, ones, ones, setting)


def assert_same_rules(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert_identical(found[name], array)
