"""What a model remembers of its X: written, read, and never believed unchecked."""

import json
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from tacit import InputError, Table
from tacit.schema import KINDS, Labels, Schema
from tacit.table.discretise import bins_of
from tacit.table.input_spec import InputSpec, Numbers
from tacit.table.schema_json import pack_schema

SCHEMA = Table(
    {"sky": ["blue", "grey", None], "heat": [0.1, 2.5, 7.0], "wet": [True, False, True]},
    discretise={"heat": [1.0, 5.0]},
    kinds={"sky": "ordered"},
).schema
SPECS = {
    "table": InputSpec.of_schema(SCHEMA),
    "frame": InputSpec.of_schema(SCHEMA, "frame"),
    "array": InputSpec.of_schema(Table(np.eye(3), columns=["x0", "x1", "x2"]).schema, "array"),
    "numbers": InputSpec.of_domains("array", ["x0", "x1"], [Numbers(), Numbers("Date", "ordered")]),
    "mixed": InputSpec(
        "frame",
        ("a", "b", "c"),
        (Numbers("Float64", "categorical"), bins_of([1.5], missing=True), Labels([1, 2], "Int64")),
        (0, 2, 1),
    ),
    "one bin": InputSpec.of_schema(Schema(["x0"], [bins_of([])], [0]), "array"),
}
specs = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


@specs
def test_written_and_read(spec):
    there = InputSpec.from_json(spec.to_json())
    assert there == spec
    assert there.schema == spec.schema
    assert [c.kind for c in there.schema] == [c.kind for c in spec.schema]
    assert [c.edges for c in there.schema] == [c.edges for c in spec.schema]
    assert there.to_json() == spec.to_json()
    assert pickle.loads(pickle.dumps(spec)) == spec


@specs
def test_noted_where_scikit_learn_looks(spec):
    estimator = BaseEstimator()
    spec.note(estimator)
    assert estimator.n_features_in_ == len(spec.names)
    assert hasattr(estimator, "feature_names_in_") == (spec.origin != "array")
    if spec.origin != "array":
        assert tuple(estimator.feature_names_in_) == spec.names


number_labels = st.one_of(
    st.sets(st.integers(-(2**63), 2**63 - 1), min_size=1).map(
        lambda items: Labels.of_numbers(np.array(sorted(items), np.int64), "Int64")
    ),
    st.sets(st.integers(0, 2**64 - 1), min_size=1).map(
        lambda items: Labels.of_numbers(np.array(sorted(items), np.uint64), "UInt64", missing=True)
    ),
    st.sets(
        st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0), min_size=1
    ).map(lambda items: Labels.of_numbers(np.array(sorted(items)), "Float64")),
    st.sets(st.text(st.characters(codec="utf-8")), min_size=1).map(
        lambda items: Labels([*sorted(items), None], "String")
    ),
    st.sets(st.floats(allow_nan=False, allow_infinity=False)).map(
        lambda points: bins_of(np.unique(sorted(points)), missing=True)
    ),
)


@given(
    st.lists(
        number_labels | st.sampled_from(KINDS).map(lambda kind: Numbers("Float64", kind)),
        min_size=1,
    ),
    st.sampled_from(["table", "frame", "array"]),
    st.data(),
)
@settings(max_examples=60)
def test_any_columns_come_back(domains, origin, data):
    names = tuple(f"x{k}" for k in range(len(domains)))
    sizes = [1 if isinstance(domain, Numbers) else len(domain) for domain in domains]
    defaults = tuple(data.draw(st.integers(0, size - 1)) for size in sizes)
    spec = InputSpec(origin, names, tuple(domains), defaults)
    there = InputSpec.from_json(spec.to_json())
    assert there == spec
    for mine, theirs in zip(spec.schema.labels, there.schema.labels, strict=True):
        assert list(map(type, mine)) == list(map(type, theirs))


def changed(name="frame", **changes):
    return json.dumps(json.loads(SPECS[name].to_json()) | changes).encode()


def changed_labels(**changes):
    """Return a spec whose bins of `heat` are described in another way."""
    content = json.loads(SPECS["frame"].to_json())
    content["schema"]["sets"][1] |= changes
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "its columns cannot be read"),
        (b"\xff", "its columns cannot be read"),
        (b"[1]", "its columns cannot be read"),
        (b"3", "its columns cannot be read"),
        (b"{}", "its columns cannot be read"),
        (b"[" * 100_000, "its columns cannot be read"),
        (changed(origin="list"), "its columns cannot be read"),
        (changed(origin=["frame"]), "its columns cannot be read"),
        (changed(origin="array"), "its columns cannot be read .their number"),
        (changed("array", names=0), "its columns cannot be read .their number"),
        (changed("array", names=True), "its columns cannot be read .their number"),
        (changed("array", names=2**31), "its columns cannot be read .their number"),
        (changed("array", names=7), "its columns and their labels do not go together"),
        (changed(names=["sky", "heat"]), "its columns and their labels do not go together"),
        (changed(names=["sky", "sky", "wet"]), "its columns and their labels do not go together"),
        (changed(names=["sky", "heat", 3]), "its columns cannot be read .they have no names"),
        (changed(names=[]), "its columns and their labels do not go together"),
        (changed(names=None), "is damaged|cannot be read|do not go together"),
        (changed(names=3), "is damaged|cannot be read|do not go together"),
        (changed(numbers=[]), "its columns cannot be read"),
        (changed(numbers={"0": ["Float64", "numeric"]}), "do not go together"),
        (changed(numbers={"9": ["Float64", "numeric"]}), "do not go together"),
        (changed(numbers={"a": ["Float64", "numeric"]}), "its columns cannot be read"),
        (
            changed("numbers", numbers={"0": ["Float65", "numeric"]}),
            "'Float65', which is not known",
        ),
        (changed("numbers", numbers={"0": ["Float64", "big"]}), "is of the kind 'big'"),
        (changed("numbers", numbers={"0": "Float64"}), "its columns cannot be read"),
        (changed(schema=3), "its schema cannot be read"),
        (changed(schema={}), "its schema cannot be read"),
        (changed_labels(edges=3), "its schema cannot be read"),
        (changed_labels(edges="abc"), "its schema cannot be read|edges must be finite"),
        (changed_labels(edges=[2, 1]), "edges must increase strictly"),
        (changed_labels(edges=[1, float("nan")]), "edges must be finite"),
        (changed_labels(edges=[1, 2, 3]), "cut into other bins than its labels"),
        (changed_labels(kind="big"), "is of the kind 'big'"),
        (changed_labels(items=[]), "its schema cannot be read"),
        (changed_labels(items=["a", "a"], edges=None), "its schema cannot be read"),
        (changed_labels(items=[1, "a"], edges=None, dtype="Int64"), "its schema cannot be read"),
        (changed_labels(items=[1, 2**70], edges=None, dtype="Int64"), "its schema cannot be read"),
        (changed_labels(items=[[1]], edges=None), "its schema cannot be read"),
    ],
)
def test_nothing_is_believed_unchecked(text, message):
    with pytest.raises(InputError, match=message):
        InputSpec.from_json(text)


def test_without_a_column():
    rest = SPECS["frame"].without(1)
    assert (rest.origin, rest.names, rest.defaults) == ("frame", ("sky", "wet"), (0, 1))
    assert SPECS["array"].without(0).origin == "frame"  # whose indices would be others
    assert SPECS["table"].without(0).origin == "table"


def test_positions():
    spec = SPECS["mixed"]
    assert (spec.position("b"), spec.position(-1)) == (1, 2)
    with pytest.raises(InputError, match="column: there is no column 'd'"):
        spec.position("d")
    assert spec.numeric.tolist() == [True, False, False]
    assert spec.schema.names == ("b", "c")


def test_presence():
    baskets = Table.from_baskets([["a", "b"], ["a"]])
    assert InputSpec.of_schema(baskets.schema).presence
    assert InputSpec.from_json(InputSpec.of_schema(baskets.schema).to_json()).presence
    assert not InputSpec.of_schema(baskets.with_defaults({"a": True}).schema).presence
    flags = Table(pl.DataFrame({"a": [True, False, False]}))
    assert not InputSpec.of_schema(flags.schema).presence  # a frame has no say in what is absent


# Files of version 0.1


def earlier(content):
    return InputSpec.from_json(json.dumps(content).encode())


def bare_schema(schema):
    """Return a schema as version 0.1 wrote it: without edges and kinds."""
    packed = pack_schema(schema)
    packed["sets"] = [{k: s[k] for k in ("dtype", "items")} for s in packed["sets"]]
    return packed


def test_earlier_features():
    spec = earlier({"kind": "frame", "schema": bare_schema(SCHEMA), "cuts": {"heat": [1.0, 5.0]}})
    assert spec.names == ("sky", "heat", "wet")
    assert spec.schema["heat"].edges == (1.0, 5.0)
    assert spec.origin == "frame"
    one = Schema(["x0"], [bins_of([])], [0])
    assert earlier({"kind": "array", "schema": bare_schema(one), "cuts": {"x0": []}}) == (
        InputSpec.of_schema(one, "array")
    )


def test_earlier_columns_of_rules():
    spec = earlier(
        {
            "kind": "frame",
            "names": ["a", "b", "c", "d", "e"],
            "nominal": [1, 4],
            "types": {"2": "Boolean", "3": "Date"},
            "labels": {"1": ["x", "y"]},
        }
    )
    assert spec.names == ("a", "b", "c", "d", "e")
    assert spec.domains[0] == Numbers()
    assert spec.domains[1] == Labels(["x", "y"], "String")
    assert spec.domains[1].kind == "categorical"
    assert spec.domains[2].items == (False, True)
    assert spec.domains[3] == Numbers("Date", "ordered")
    assert spec.domains[4] == Numbers("Float64", "categorical")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "list"}, "its features are of the kind 'list', which is not known"),
        ({"kind": "frame"}, "its columns cannot be read"),
        ({"kind": "frame", "schema": 3, "cuts": {}}, "its schema cannot be read"),
        (
            {"kind": "frame", "schema": bare_schema(SCHEMA), "cuts": []},
            "its columns cannot be read",
        ),
        (
            {"kind": "frame", "schema": bare_schema(SCHEMA), "cuts": {"heat": [1, 2, 3]}},
            "column 'heat' cut into other bins than labels",
        ),
        (
            {"kind": "frame", "schema": bare_schema(SCHEMA), "cuts": {"cold": [1]}},
            "there is no column 'cold'",
        ),
        (
            {"kind": "frame", "names": "ab", "nominal": [], "types": {}, "labels": {}},
            "cannot be read",
        ),
        (
            {"kind": "frame", "names": ["a"], "nominal": [], "types": {"0": "Odd"}, "labels": {}},
            "a type that is not known",
        ),
        (
            {"kind": "frame", "names": ["a"], "nominal": [], "types": {"7": "Date"}, "labels": {}},
            "cannot be read",
        ),
        (
            {"kind": "frame", "names": ["a"], "nominal": [0], "types": {}, "labels": {"0": [1]}},
            "labels must be distinct strings",
        ),
    ],
)
def test_earlier_files_are_not_believed_either(content, message):
    with pytest.raises(InputError, match=message):
        earlier(content)
