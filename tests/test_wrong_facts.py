"""Files whose checksums fit, and whose facts are of another type than they can be."""

import json

import numpy as np
import pytest

import tacit
from tacit import store


def with_facts(path, name, change):
    """Write a file anew after changing JSON that it holds."""
    kind, arrays = store.read_arrays(path)
    facts = json.loads(arrays[name].tobytes())
    change(facts)
    store.write_arrays(path, kind, dict(arrays) | {name: store.json_array(facts)})


@pytest.mark.parametrize(
    ("name", "value"),
    [("score", "x"), ("seconds", None), ("proven", 1), ("upper_bound", "1"), ("criterion", 2)],
)
def test_a_report_of_a_search(tmp_path, name, value):
    path = tmp_path / "net.tacit"
    tacit.BayesNet().fit(np.arange(60).reshape(20, 3) % 2).save(path)
    tacit.load(path).to_text()
    with_facts(path, "report", lambda facts: facts.update({name: value}))
    with pytest.raises(tacit.FileError, match=f"is damaged: the {name} of its report is {value!r}"):
        tacit.load(path)


@pytest.mark.parametrize("labels", [["x", 7], [True, "x"], ["x", 0.5]])
def test_labels_of_another_type(tmp_path, labels):
    path = tmp_path / "table.tacit"
    tacit.Table({"a": ["x", "y"], "n": [1, 2]}).save(path)

    def change(facts):
        [texts] = [one for one in facts["sets"] if one["dtype"] == "String"]
        texts["items"] = labels

    with_facts(path, "schema", change)
    with pytest.raises(tacit.FileError, match="labels that are not of the type String"):
        tacit.load(path)
