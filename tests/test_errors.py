"""Names that are not known: every message says which one may be meant."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from support.commands import run
from tacit import InputError, Table
from tacit.errors import did_you_mean

FRAME = pl.DataFrame(
    {"age": [1, 2, 2], "income": [1.5, 2.5, 3.5], "plan": ["basic", "gold", "gold"]}
)
CUT = {"income": [2.0]}


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("Income", ["age", "income"], "'income'"),
        (" income ", ["age", "income"], "'income'"),
        ("icnome", ["age", "income"], "'income'"),
        ("INCOME", ["incomes", "income"], "'income'"),
        ("1", [0, 1, None], "1"),
        (1, ["0", "1"], "'1'"),
        ("true", [False, True], "True"),
        (np.str_("Age"), ("age",), "'age'"),
    ],
)
def test_the_nearest_name_is_meant(name, known, expected):
    assert did_you_mean(name, known) == f"; did you mean {expected}?"


@pytest.mark.parametrize(
    ("name", "known"), [("colour", ["age"]), (3, [1, 2]), ("none", [None]), ("x", []), ("", ["a"])]
)
def test_nothing_is_meant_where_nothing_is_near(name, known):
    assert did_you_mean(name, known) == ""


def test_of_very_many_names_the_right_one_is_found():
    names = [f"item{k:06d}" for k in range(100_000)]
    for slip in ("item04999x", "itme049999", "item49999", "item0499999", "ITEM049999"):
        assert did_you_mean(slip, names) == "; did you mean 'item049999'?"
    assert did_you_mean("xxxx", names) == ""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("hints") / "people.csv"
    FRAME.write_csv(file)
    return file


def read(path, **options):
    return tacit.read(path, **{"discretise": CUT} | options)


def table(**options):
    return Table(FRAME, **{"discretise": CUT} | options)


wrong = {
    "column": (lambda _: table().codes("Age"), "column", "age"),
    "label": (lambda _: table().count({"plan": "Gold"}), "label", "gold"),
    "weights": (lambda _: table(weights="agee"), "weights: ", "age"),
    "target": (lambda _: table(target="Plan"), "target: ", "plan"),
    "discretise": (lambda _: table(discretise={"incom": 2}), "discretise: ", "income"),
    "defaults": (lambda _: table(defaults={"PLAN": "gold"}), "defaults: ", "plan"),
    "a default": (lambda _: table(defaults={"plan": "god"}), "label", "gold"),
    "one default": (
        lambda _: Table({"a": ["yes", "no"]}, defaults="No"),
        "defaults: column 'a' has no label",
        "no",
    ),
    "columns to read": (lambda path: read(path, columns=["Age"]), "columns: ", "age"),
    "weights to read": (lambda path: read(path, weights="Age"), "weights: ", "age"),
    "target to read": (lambda path: read(path, target="Plan"), "target: ", "plan"),
    "defaults to read": (lambda path: read(path, defaults={"Plan": "gold"}), "defaults", "plan"),
    "columns to scan": (lambda path: tacit.scan(path, columns=["Age"]), "columns: ", "age"),
    "option": (lambda path: read(path, discretize=CUT), "no option", "discretise"),
    "option to scan": (lambda path: tacit.scan(path, seperator=";"), "no option", "separator"),
    "end of a file's name": (
        lambda path: tacit.read(path.with_suffix(".parqet")),
        "its name does not say what it is",
        ".parquet",
    ),
    "format": (lambda path: read(path, format="CSV"), "format must be", "csv"),
    "model": (
        lambda _: table().conform(Table({"Age": [1, 2]}).schema),
        "on which the model was fitted",
        "age",
    ),
    "parents": (
        lambda _: tacit.BayesNet.from_tables(
            {"a": ["no", "yes"]}, {"A": []}, {"a": np.array([0.5, 0.5])}
        ),
        "parents: ",
        "a",
    ),
    "y": (
        lambda _: tacit.BestSubset().fit(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), "B"),
        "y: there is no column",
        "b",
    ),
}


@pytest.mark.parametrize(("ask", "message", "meant"), wrong.values(), ids=wrong)
def test_every_message_about_a_name_says_which_one_may_be_meant(ask, message, meant, path):
    with pytest.raises(InputError, match=f"{message}.*; did you mean '{meant}'"):
        ask(path)


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (["count", "--discretise", "2", "--given", "Plan=gold"], "plan"),
        (["count", "--discretise", "2", "--given", "plan=Gold"], "gold"),
        (["tree", "--target", "Plan"], "plan"),
        (["tree", "--target", "plan", "--weights", "agee"], "age"),
        (["rules", "--target", "plam"], "plan"),
    ],
)
def test_commands_say_it_too(command, meant, path):
    name, *options = command
    done = run(name, path, *options)
    assert done.exit_code != 0
    assert f"did you mean '{meant}'" in " ".join(done.stderr.split())


def test_a_command_that_is_not_there():
    assert "did you mean 'tree'" in run("Tree").stderr
