"""Covering rules in files."""

import json

import numpy as np
import pytest

import tacit
from tacit import CoveringRulesClassifier, store
from tacit.errors import FileError


def fitted():
    random = np.random.default_rng(0)
    X = random.integers(-2, 3, (200, 3)).astype(float)
    y = np.where((X[:, 0] > 0) & (X[:, 1] < 1), "up", "down")
    return CoveringRulesClassifier(random_state=0).fit(X, y), X


def test_a_saved_model_says_the_same(tmp_path):
    model, X = fitted()
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.get_params() == model.get_params()
    assert loaded.to_text() == model.to_text()
    assert loaded.n_features_in_ == 3
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.explain(X).equals(model.explain(X))


@pytest.mark.parametrize("classes", [[0, 1], [False, True], ["no", "yes"], [1.0, 3.0]])
def test_frames_with_labels_and_the_name_of_the_target(tmp_path, classes):
    frame = {"town": ["Ulm", "Bonn", "Ulm", "Bern"] * 9, "n": list(range(36))}
    frame["y"] = [classes[town == "Ulm"] for town in frame["town"]]
    model = CoveringRulesClassifier(prune=False).fit(frame, "y")
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.feature_names_in_.tolist() == ["town", "n"]
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(frame).tolist() == frame["y"]
    assert "town = Ulm" in loaded.to_text() or "town ≠ Ulm" in loaded.to_text()


def damage(arrays, name):
    """Change one thing about the arrays of a file; return what it should complain about."""
    if name == "lost":
        del arrays["columns"]
        return "columns"
    if name == "no rules":
        arrays["classes"] = arrays["classes"][:0]
        return "rule_conditions"
    if name == "ends":
        arrays["rule_conditions"] = arrays["rule_conditions"][::-1].copy()
        return "rule_conditions"
    if name == "last":
        arrays["rule_conditions"] = arrays["rule_conditions"].copy()
        arrays["rule_conditions"][-2] -= 1
        return "last rule"
    if name == "short":
        arrays["ops"] = arrays["ops"][:-1]
        return "rule_conditions"
    if name == "column":
        arrays["columns"] = arrays["columns"] + np.int32(9)
        return "columns"
    if name == "class":
        arrays["classes"] = arrays["classes"] - np.int32(5)
        return "classes"
    if name == "op":
        arrays["ops"] = arrays["ops"] + np.uint8(4)
        return "ops"
    if name == "type":
        arrays["ops"] = arrays["ops"].astype(np.int64)
        return "ops"
    if name == "number":
        arrays["thresholds"] = arrays["thresholds"] * np.nan
        return "not finite"
    if name == "weights":
        arrays["weights"] = arrays["weights"][:, :1]
        return "weights"
    if name == "negative":
        arrays["weights"] = -arrays["weights"]
        return "weights"
    if name == "json":
        arrays["settings"] = arrays["settings"][:-2]
        return "damaged"
    facts = json.loads(arrays["settings"].tobytes())
    facts[name] = {"parameters": {"criterion": "luck"}, "target": 3, "class_type": "O"}[name]
    arrays["settings"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    return {"parameters": "criterion", "target": "target", "class_type": "classes"}[name]


@pytest.mark.parametrize(
    "name",
    [
        "lost", "no rules", "ends", "last", "short", "column", "class", "op", "type", "number",
        "weights", "negative", "json", "parameters", "target", "class_type",
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, name):
    model, _ = fitted()
    path = tmp_path / "model.tacit"
    model.save(path)
    kind, arrays = store.read_arrays(path)
    match = damage(arrays, name)
    store.write_arrays(path, kind, arrays)
    with pytest.raises(FileError, match=match):
        tacit.load(path)
