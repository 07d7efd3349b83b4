"""What generators of data refuse."""

import pytest

from tacit import InputError
from tacit.datasets import (
    make_baskets,
    make_dependency_tree,
    make_documents,
    make_labelled_records,
    make_mixture,
    make_objects,
    make_ratings,
    make_synth,
    make_uniform,
)

ENOUGH = {
    make_baskets: {"n_records": 10, "n_columns": 20, "mean_length": 3},
    make_dependency_tree: {"n_records": 3, "n_columns": 3},
    make_documents: {"n_documents": 10},
    make_labelled_records: {"n_records": 10, "n_columns": 5},
    make_mixture: {"n_records": 10, "n_columns": 20, "n_stored": 30},
    make_objects: {"n_objects": 10},
    make_ratings: {"n_records": 5, "n_items": 5, "n_rows": 9},
    make_synth: {},
    make_uniform: {"n_records": 10, "n_columns": 20, "density": 0.1},
}


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (make_baskets, {"n_records": 0}, "n_records must be"),
        (make_ratings, {"n_records": 0}, "n_records must be"),
        (make_ratings, {"n_items": 0}, "n_items must be"),
        (make_ratings, {"n_rows": 0}, "n_rows must be"),
        (make_ratings, {"exponent": -1}, "exponent must be"),
        (make_baskets, {"n_columns": 0}, "n_columns must be"),
        (
            make_baskets,
            {"mean_length": 0.5},
            "mean_length must be a finite number of at least 1 and at most 20",
        ),
        (
            make_baskets,
            {"mean_length": 21},
            "mean_length must be a finite number of at least 1 and at most 20",
        ),
        (make_baskets, {"n_patterns": 0}, "n_patterns must be"),
        (make_baskets, {"exponent": -0.1}, "exponent must be"),
        (make_dependency_tree, {"n_records": 0}, "n_records must be a whole number"),
        (make_dependency_tree, {"n_columns": 0}, "n_columns must be a whole number"),
        (make_dependency_tree, {"kind": "words"}, "kind must be 'numeric' or 'binary'"),
        (make_dependency_tree, {"fan_out": 0}, "fan_out must be a whole number"),
        (make_dependency_tree, {"coupling": 0.6}, "coupling must be a finite number"),
        (make_dependency_tree, {"spread": -1}, "spread must be a finite number"),
        (make_dependency_tree, {"noise": 2}, "noise must be a finite number"),
        (make_labelled_records, {"n_records": 0}, "n_records must be a whole number"),
        (make_labelled_records, {"density": 0}, "density must be a finite number above 0"),
        (
            make_labelled_records,
            {"density": 1.5},
            "density must be a finite number above 0 and at most 1",
        ),
        (make_labelled_records, {"n_labels": 0}, "n_labels must be"),
        (make_labelled_records, {"n_rules": 0}, "n_rules must be"),
        (make_labelled_records, {"noise": -0.1}, "noise must be"),
        (make_mixture, {"n_records": 0}, "n_records must be a whole number from 1"),
        (make_mixture, {"n_records": 2.0}, "n_records must be a whole number"),
        (make_mixture, {"n_records": True}, "n_records must be a whole number"),
        (make_mixture, {"n_columns": 0}, "n_columns must be a whole number of at least 1, got 0"),
        (make_mixture, {"n_stored": -1}, "n_stored must be a whole number of at least 0, got -1"),
        (make_mixture, {"n_stored": 201}, "n_stored: 201 values do not fit into 10 × 20 cells"),
        (make_mixture, {"n_clusters": 0}, "n_clusters must be"),
        (make_mixture, {"exponent": -1}, "exponent must be a finite number of at least 0, got -1"),
        (make_mixture, {"exponent": float("nan")}, "exponent must be"),
        (make_mixture, {"exponent": "1"}, "exponent must be"),
        (
            make_mixture,
            {"concentration": 0},
            "concentration must be a finite number above 0, got 0",
        ),
        (make_mixture, {"noun": 3}, "noun must be a word"),
        (make_mixture, {"random_state": -1}, "random_state must be"),
        (make_mixture, {"random_state": None}, "random_state must be"),
        (make_objects, {"n_columns": 0}, "n_columns must be"),
        (make_objects, {"n_clusters": 3, "n_classes": 4}, "n_classes must be"),
        (make_objects, {"spread": -1.0}, "spread must be"),
        (make_documents, {"n_words": 0}, "n_words must be"),
        (make_documents, {"n_words": 9, "length": 5.0}, "too many of 9"),
        (make_documents, {"n_words": 9, "length": 0.5}, "length must be"),
        (make_documents, {"n_words": 900, "second_fraction": 1.5}, "second_fraction must be"),
        (make_documents, {"n_words": 900, "concentration": 0}, "concentration must be"),
        (make_synth, {"n_records": 0}, "n_records must be a whole number from 1"),
        (make_synth, {"n_records": 2.5}, "n_records must be"),
        (make_synth, {"n_records": True}, "n_records must be"),
        (make_synth, {"random_state": -1}, "random_state must be"),
        (make_synth, {"random_state": None}, "random_state must be"),
        (make_uniform, {"n_records": -3}, "n_records must be"),
        (make_uniform, {"n_columns": 1.5}, "n_columns must be"),
        (
            make_uniform,
            {"density": 1.1},
            "density must be a finite number of at least 0 and at most 1, got 1.1",
        ),
        (make_uniform, {"density": float("nan")}, "density must be"),
        (make_uniform, {"arity": 1}, "arity must be a whole number from 2"),
        (make_uniform, {"exponent": float("inf")}, "exponent must be"),
    ],
)
def test_what_is_refused(make, arguments, message):
    with pytest.raises(InputError, match=message):
        make(**ENOUGH[make] | arguments)
