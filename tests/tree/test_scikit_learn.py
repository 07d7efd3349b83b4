"""scikit-learn's checks of trees and graphs."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from tacit import DecisionGraphClassifier, DecisionTreeClassifier, DecisionTreeRegressor

PURE = (
    "leaves of records that weigh next to nothing are split off until all are pure; scikit-learn "
    "gives its trees a least weight of leaves for this check"
)


def expected(estimator):
    return {"check_class_weight_classifiers": PURE} if estimator.criterion == "entropy" else {}


@parametrize_with_checks(
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier("entropy", max_leaf_nodes=8, prior="bdeu"),
        DecisionTreeRegressor(max_leaf_nodes=32),
        DecisionTreeRegressor("bayes_factor"),
        DecisionGraphClassifier(),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
