"""``tacit predict`` and ``tacit show`` on saved trees."""

import io
import json

import numpy as np
import polars as pl
import pytest

from tacit import DecisionGraphClassifier, DecisionTreeClassifier, DecisionTreeRegressor


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "heat": rng.normal(size=300),
            "noise": rng.normal(size=300).round(1),
            "dice": rng.integers(1, 7, 300),
            "sky": rng.choice(["blue", "grey"], 300),
        }
    )


@pytest.fixture(scope="module")
def target(frame):
    return ((frame["heat"] > 0) & (frame["sky"] == "blue")).to_numpy()


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionGraphClassifier])
def test_predict_cuts_numbers_as_the_tree_does(run, tmp_path, frame, target, kind):
    """Also numbers that the tree does not ask about, and so has in one bin."""
    model = kind().fit(frame, target)
    assert model.schema_["noise"].labels.items == ("all",)
    model.save(tmp_path / "model.tacit")
    frame.write_csv(tmp_path / "new.csv")
    result = run("predict", tmp_path / "model.tacit", tmp_path / "new.csv", "--proba")
    predictions = pl.read_csv(io.StringIO(result.stdout))
    assert predictions.columns == ["prediction", "P(False)", "P(True)"]
    assert predictions["prediction"].to_list() == model.predict(frame).tolist()
    np.testing.assert_allclose(predictions[:, 1:].to_numpy(), model.predict_proba(frame))


def test_predict_numbers(run, tmp_path, frame):
    model = DecisionTreeRegressor(max_leaf_nodes=6).fit(frame, frame["heat"])
    model.save(tmp_path / "model.tacit")
    frame.write_parquet(tmp_path / "new.parquet")
    result = run("predict", tmp_path / "model.tacit", tmp_path / "new.parquet")
    predictions = pl.read_csv(io.StringIO(result.stdout))
    np.testing.assert_allclose(predictions["prediction"].to_numpy(), model.predict(frame))


def test_show(run, tmp_path, frame, target):
    model = DecisionTreeClassifier().fit(frame, target)
    model.save(tmp_path / "model.tacit")
    result = run("show", tmp_path / "model.tacit")
    assert result.exit_code == 0
    assert "DecisionTreeClassifier(" in result.stdout
    assert model.to_text() in result.stdout
    printed = json.loads(run("show", tmp_path / "model.tacit", "--json").stdout)
    assert printed == {"kind": "DecisionTreeClassifier", "text": model.to_text()}
