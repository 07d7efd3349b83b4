"""Records that do not count for a rule are covered by it all the same, as prediction says."""

import numpy as np
import pytest

from support.rule_records import fit_columns
from tacit import _core


@pytest.mark.parametrize("defaults", ["auto", "none"])
@pytest.mark.parametrize("seed", range(6))
def test_held_out_values_between_two_neighbours(seed, defaults):
    """A value between the neighbours of a threshold is on the side of the half-way mark."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(300, 4)), 2)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(np.uint8)
    units = (rng.random(300) < 0.6).astype(np.float32)
    _, coded = fit_columns(X, defaults=defaults)
    booster = _core.RuleBooster(
        _core.RuleColumns(*coded.arguments), y[None], "logistic", "single", 1, 0.3, 0.0, 1.0, 4, 1,
        True, units, None, "none", 1.0, None, 0, False, "exact", 0,
    )  # fmt: skip
    booster.grow(60, 0, 1)
    rules = booster.rules()
    thresholds = coded.thresholds(rules["columns"], rules["ops"], rules["low"], rules["high"])
    expected = np.full(300, rules["default_scores"][0])
    for rule, score in enumerate(rules["scores"]):
        begin, end = rules["rule_conditions"][rule : rule + 2]
        covered = np.ones(300, bool)
        for k in range(begin, end):
            below = X[:, rules["columns"][k]] <= thresholds[k]
            covered &= below if rules["ops"][k] == 0 else ~below
        expected[covered] += score
    np.testing.assert_allclose(booster.scores()[:, 0], expected, rtol=0, atol=1e-12)
