"""Checks of scikit-learn that networks fail where they cut numbers, and why."""

CLASSIFIERS = "asks for the tags of classifiers where there is predict_proba; this is none"
LABELS = "records of the weight zero have labels, too, and bins are found without weights"
FROM_CUTS = {
    "check_estimator_sparse_array": CLASSIFIERS,
    "check_estimator_sparse_matrix": CLASSIFIERS,
    "check_sample_weight_equivalence_on_dense_data": LABELS,
    "check_sample_weight_equivalence_on_sparse_data": LABELS,
}
