"""Files saved by earlier versions load, and the models in them answer as they did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit

FILES = Path(__file__).parent / "files" / "0.1"
SAVED = json.loads((FILES / "answers.json").read_text(encoding="utf-8"))
ANSWERS = SAVED["answers"]
FRAME = pl.DataFrame(SAVED["frame"])
NUMBERS = np.array(SAVED["numbers"])
OF_NUMBERS = {
    "boosted_rules_regressor",
    "decision_tree_regressor",
    "dependency_tree_numbers",
    "kmeans",
    "normalized_cut_classifier",
    "sparse_k_neighbors_classifier",
    "sparse_svc",
}
OF_ALL_COLUMNS = {"bayes_net", "dependency_network", "dependency_tree", "naive_bayes_mixture"}
MODELS = sorted(set(ANSWERS) - {"table", "adtree"})


def records_for(name):
    if name in OF_NUMBERS:
        return NUMBERS
    return tacit.Table(FRAME) if name in OF_ALL_COLUMNS else FRAME.drop("y")


def check_answers(model, name, records):
    for method, answer in ANSWERS[name].items():
        now = getattr(model, method)(records)
        if np.asarray(answer).dtype.kind == "f":
            np.testing.assert_allclose(now, answer, rtol=1e-12, atol=1e-12)
        else:
            assert np.asarray(now).tolist() == answer


@pytest.mark.parametrize("name", MODELS)
def test_models_answer_as_they_did(name):
    check_answers(tacit.load(FILES / f"{name}.tacit"), name, records_for(name))


@pytest.mark.parametrize("name", MODELS)
def test_what_was_loaded_can_be_saved_and_loaded_again(name, tmp_path):
    tacit.load(FILES / f"{name}.tacit").save(tmp_path / "again.tacit")
    check_answers(tacit.load(tmp_path / "again.tacit"), name, records_for(name))


@pytest.mark.parametrize("name", sorted(set(MODELS) - OF_NUMBERS))
def test_frames_and_tables_are_read_alike(name):
    model = tacit.load(FILES / f"{name}.tacit")
    frame = FRAME if name in OF_ALL_COLUMNS else FRAME.drop("y")
    check_answers(model, name, frame)
    check_answers(model, name, tacit.Table(frame))


def test_a_table():
    table = tacit.load(FILES / "table.tacit")
    assert list(table.shape) == ANSWERS["table"]["shape"]
    assert table.n_stored == ANSWERS["table"]["stored"]
    assert table.contingency(["colour", "y"]).to_array().tolist() == ANSWERS["table"]["counts"]
    assert table.to_frame().equals(FRAME)


def test_an_adtree():
    tree = tacit.load(FILES / "adtree.tacit")
    counts = tree.table(["colour", "size", "y"]).to_array()
    assert counts.tolist() == ANSWERS["adtree"]["counts"]


def test_a_folder_of_partitions():
    table = tacit.scan(FILES / "folder")
    assert table.n_partitions == 3
    assert table.collect().to_frame().equals(FRAME)
    first = tacit.load(next(iter(sorted((FILES / "folder").glob("part-*.tacit")))))
    assert first.to_frame().equals(FRAME.head(20))
