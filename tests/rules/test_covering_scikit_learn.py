"""scikit-learn's checks of covering rules."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from tacit import CoveringRulesClassifier

HELD_OUT = (
    "which records are held out is drawn record by record, so that one of weight 2 is not drawn as "
    "two records of weight 1 are"
)


def expected(estimator):
    if not estimator.prune:
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": HELD_OUT,
        "check_sample_weight_equivalence_on_sparse_data": HELD_OUT,
    }


@parametrize_with_checks(
    [
        CoveringRulesClassifier(random_state=0),
        CoveringRulesClassifier(prune=False),
        CoveringRulesClassifier("m_estimate", prune=False),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
