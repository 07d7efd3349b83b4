"""Thresholds are shown with as many digits as tell the numbers of a column apart."""

import json

import numpy as np
import pytest

import tacit
from support.rule_records import fit_columns
from tacit import BoostedRulesClassifier, CoveringRulesClassifier, InputError
from tacit.rules.columns.features import RuleFeatures

KINDS = {
    "neighbours": 1 + np.arange(100.0) * 1e-9,
    "large": 1e15 + np.arange(100.0),
    "one close pair": np.concatenate(([0.0], np.arange(98.0) + 1, [1 + 1e-12])),
    "floats": np.nextafter(np.full(100, 0.1), 1) * (1 + np.arange(100) * 2.0**-52),
    "usual": np.arange(100.0) / 8,
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("estimator", [BoostedRulesClassifier, CoveringRulesClassifier])
def test_what_is_shown_divides_records_alike(kind, estimator, tmp_path):
    x = np.sort(KINDS[kind])
    settings = {"n_rules": 20} if estimator is BoostedRulesClassifier else {"prune": False}
    model = estimator(**settings).fit(x[:, None], np.arange(100) // 7 % 2)
    conditions = [condition for rule in model.rules_ for condition in rule.conditions]
    assert conditions
    for condition in conditions:
        shown = float(condition.text.split()[-1])
        np.testing.assert_array_equal(x <= shown, x <= condition.threshold)
    model.save(tmp_path / "model.tacit")
    assert tacit.load(tmp_path / "model.tacit").to_text() == model.to_text()


def test_six_digits_where_they_are_enough():
    x = np.array([0.123456789, 0.2, 0.3])
    model = BoostedRulesClassifier(1).fit(x[:, None], [0, 1, 1])
    assert model.rules_[0].condition in ("x0 > 0.161728", "x0 ≤ 0.161728")


def test_nominal_numbers_are_shown_in_full():
    x = np.array([1234567890123456.0, 1234567890123457.0] * 5)
    model = BoostedRulesClassifier(1, kinds={0: "categorical"}).fit(x[:, None], [0, 1] * 5)
    assert float(model.rules_[0].condition.split()[-1]) in x


@pytest.mark.parametrize(
    "digits", [{"9": [[0.5, 7]]}, {"0": [[0.5, 99]]}, {"0": [["a", 7]]}, {"0": 3}, [1]]
)
def test_damaged_digits_are_refused(digits):
    features, _ = fit_columns({"a": [1.0, 2.0]})
    told = json.loads(features.to_json()) | {"digits": digits}
    with pytest.raises(InputError, match="its columns cannot be read"):
        RuleFeatures.from_json(json.dumps(told).encode())


def test_files_from_before_digits_were_kept():
    features, _ = fit_columns({"a": [1.0, 2.0]})
    told = json.loads(features.to_json())
    del told["digits"]
    assert RuleFeatures.from_json(json.dumps(told).encode()) == features
