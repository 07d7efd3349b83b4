"""What files say of the columns of rules: read as it was, or refused."""

import json

import numpy as np
import pytest

from support.rule_records import MIXED, SIZES, polars_frame
from support.rule_records import dense_columns as dense
from support.rule_records import fit_columns as fit
from support.rule_records import read_columns as read
from tacit.errors import InputError
from tacit.rules.columns.features import RuleFeatures


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("origin", "picture"),
        ("origin", "array"),
        ("names", ["a", "a", "b", "c", "d"]),
        ("names", ["age", "size", "town", "pays"]),
        ("names", [1, 2, 3, 4, 5]),
        ("names", []),
        ("names", 5),
        ("numbers", {}),
        ("numbers", []),
        ("numbers", {"0": ["Float64", "numeric"], "4": ["Date", "round"]}),
        ("numbers", {"0": ["Float64", "numeric"], "4": ["List", "numeric"]}),
        ("numbers", {"0": ["Float64", "numeric"], "5": ["Date", "ordered"]}),
        ("numbers", {"0": ["Float64", "numeric"], "-1": ["Date", "ordered"]}),
        ("numbers", {"0": 3, "4": ["Date", "ordered"]}),
        ("schema", None),
        ("schema", {"names": ["size", "town", "pays"]}),
    ],
)
def test_damaged_files_of_columns(key, value):
    features, _ = fit(polars_frame())
    content = json.loads(features.to_json())
    assert RuleFeatures.from_json(json.dumps(content).encode()) == features
    content[key] = value
    with pytest.raises(InputError, match=r"its columns|schema cannot be read|not known"):
        RuleFeatures.from_json(json.dumps(content).encode())
    with pytest.raises(InputError, match="its columns cannot be read"):
        RuleFeatures.from_json(features.to_json()[:-3])


def test_damaged_files_of_arrays():
    features, _ = fit(np.eye(4))
    content = json.loads(features.to_json())
    assert RuleFeatures.from_json(json.dumps(content).encode()) == features
    for names in (-1, 0, 2**31, 4.0, ["a", "b", "c", "d"]):
        content["names"] = names
        with pytest.raises(InputError, match="their number cannot be"):
            RuleFeatures.from_json(json.dumps(content).encode())


EARLIER = {  # what files of version 0.1 hold
    "kind": "frame",
    "names": ["age", "size", "town", "pays", "day", "code"],
    "nominal": [2, 3, 5],
    "labels": {"1": SIZES, "2": ["Bern", "Ulm"]},
    "types": {"3": "Boolean", "4": "Date"},
}


def test_files_of_version_0_1():
    features = RuleFeatures.from_json(json.dumps(EARLIER).encode())
    assert features.kinds.tolist() == [0, 0, 1, 1, 0, 1]
    new = {name: values[:1] for name, values in MIXED.items()} | {"code": [7]}
    np.testing.assert_array_equal(dense(read(features, new)), [[31, 1, 1, 1, 18292, 7]])
    assert RuleFeatures.from_json(features.to_json()) == features
    array = {"kind": "array", "names": 2, "nominal": [1], "labels": {}, "types": {}}
    features = RuleFeatures.from_json(json.dumps(array).encode())
    assert (features.names, features.kinds.tolist()) == (("x0", "x1"), [0, 1])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "picture"),
        ("names", ["a", "a", "b", "c", "d", "e"]),
        ("names", [1, 2, 3, 4, 5, 6]),
        ("names", []),
        ("names", 5),
        ("nominal", [6]),
        ("nominal", [-1]),
        ("nominal", ["a"]),
        ("labels", {"1": []}),
        ("labels", {"1": ["a", "a"]}),
        ("labels", {"1": [3]}),
        ("labels", {"x": ["a"]}),
        ("labels", {"-1": ["a"]}),
        ("types", {"0": "List"}),
        ("types", {"0": "Date()"}),
        ("types", {"9": "Date"}),
        ("types", []),
    ],
)
def test_damaged_files_of_version_0_1(key, value):
    content = EARLIER | {key: value}
    with pytest.raises(InputError, match=r"its columns cannot be read|which is not known"):
        RuleFeatures.from_json(json.dumps(content).encode())
