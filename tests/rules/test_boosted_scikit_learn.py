"""scikit-learn's checks of boosted rules."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from tacit import BoostedRulesClassifier, BoostedRulesRegressor

DRAWN = "records are drawn at random, and a weight of two is not drawn as two records are"
CALIBRATED = "probabilities are calibrated on few held-out records, some without a heavy class"


def expected(estimator):
    failures = {}
    if estimator.sample != "none" or estimator.early_stopping:
        failures["check_sample_weight_equivalence_on_dense_data"] = DRAWN
        failures["check_sample_weight_equivalence_on_sparse_data"] = DRAWN
    if getattr(estimator, "calibration", None) is not None:
        failures["check_class_weight_classifiers"] = CALIBRATED
    return failures


@parametrize_with_checks(
    [
        BoostedRulesClassifier(60),
        BoostedRulesClassifier(60, heads="complete", loss="squared_hinge", algorithm="histogram"),
        BoostedRulesClassifier(
            60, heads="single", early_stopping=True, calibration="isotonic", sample="bagging"
        ),
        BoostedRulesRegressor(60),
        BoostedRulesRegressor(60, heads="complete", feature_fraction="sqrt", sample="subsample"),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
