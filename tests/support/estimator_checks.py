"""Checks of scikit-learn that networks fail where they cut numbers, and why."""

BINS = [-1.0, 0.0, 0.5, 1.0, 10.0]
CLASSIFIERS = "asks for the tags of classifiers where there is predict_proba; this is none"
LABELS = "labels of bins are texts, which cannot be compared as numbers"
FROM_CUTS = {
    "check_estimator_sparse_array": CLASSIFIERS,
    "check_estimator_sparse_matrix": CLASSIFIERS,
    "check_sample_weight_equivalence_on_dense_data": LABELS,
    "check_sample_weight_equivalence_on_sparse_data": LABELS,
}
