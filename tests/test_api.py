"""Who knows one estimator knows all: names, signatures and commands follow one table.

The table is section "One API" of docs/architecture.md.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

import tacit
from tacit import cli, store
from tacit.cli.app import COMMANDS
from tacit.estimator import Estimator

ESTIMATORS = sorted(
    name
    for name in tacit.__all__
    if inspect.isclass(getattr(tacit, name)) and issubclass(getattr(tacit, name), Estimator)
)
PACKAGES = (
    "baskets",
    "counts",
    "density",
    "mixture",
    "network",
    "rules",
    "select",
    "similarity",
    "tree",
    "table",
)
RESULTS = sorted(
    {
        getattr(getattr(tacit, package), name)
        for package in PACKAGES
        for name in getattr(tacit, package).__all__
        if inspect.isclass(getattr(getattr(tacit, package), name))
    },
    key=lambda cls: cls.__qualname__,
)
# What a parameter is called elsewhere, or was called here; the table says how it is called.
BANNED = {
    "score", "heuristic", "measure", "normalise", "normalised", "predominant", "search", "method",
    "share", "patience", "restarts", "walks", "dimensions", "seed", "jobs", "progress",
    "n_samples", "neighbours", "n_neighbours", "found", "own",
}  # fmt: skip
ONE_MEANING = {"delta": {"DependencyTree"}}
NOT_SAVED = {
    "RuleFinder": "a list of rules: to_frame writes it",
}
NO_HTML = {
    "Arcs": "a tuple of arrays",
    "Auto": "a spec",
    "ClusterTraits": "a tuple; Profile shows it",
    "ColumnSummary": "a tuple; Summary shows it",
    "Condition": "a tuple; rules show it",
    "Edges": "a spec", "EqualFrequency": "a spec", "EqualWidth": "a spec", "MDL": "a spec",
    "ExpectedCounts": "arrays", "Forest": "arrays", "Groups": "arrays", "Nodes": "arrays",
    "Learning": "an account of the search; the net shows itself",
    "StoredRecords": "a protocol",
    "Trait": "a tuple; Profile shows it",
}  # fmt: skip
DENSITIES = ("BayesNet", "Branching", "DependencyTree", "TreeMixture")
# Parameters about columns: their name, their defaults, and what is said of each.
COLUMNS = (
    (
        "kinds",
        (None,),
        "``{column: kind}`` for columns that are not what they look like, as for "
        ":class:`tacit.Table`.",
    ),
    ("discretise", (None, "auto"), "are cut into bins, as for :class:`tacit.Table`."),
    (
        "absent",
        (None,),
        "What to do with a column that is not there in prediction: refuse it, or take its default. "
        "It is refused unless X was baskets or a log, where what is not named is not there.",
    ),
)
ASKED_OF_DENSITIES = (
    "score_samples", "score", "sample", "marginals", "predict_proba",
)  # fmt: skip


def parameters(function):
    return [p for p in inspect.signature(function).parameters.values() if p.name != "self"]


def description(cls, name):
    """Return what the docstring of a class says of a parameter, in one line."""
    lines = inspect.getdoc(cls).splitlines()
    first = next(
        k for k, line in enumerate(lines) if re.match(rf"([\w*]+, )*{name}(,| :|$)", line.strip())
    )
    while not lines[first].startswith("    "):  # a list of names may go on
        first += 1
    text = []
    while lines[first].startswith("    "):
        text.append(lines[first].strip())
        first += 1
    return " ".join(text)


def methods(cls, *names):
    """Yield the methods of our own of these names."""
    for name in names:
        method = inspect.getattr_static(cls, name, None)
        method = getattr(method, "__func__", method)
        if inspect.isfunction(method) and method.__module__.startswith("tacit"):
            yield method


@pytest.mark.parametrize("name", ESTIMATORS)
class TestEstimators:
    def test_parameters_are_called_as_everywhere(self, name):
        names = {p.name for p in parameters(getattr(tacit, name))}
        assert not names & BANNED
        assert not [n for n in names if n.endswith(("_share", "_shares"))]
        for word, owners in ONE_MEANING.items():
            assert word not in names or name in owners

    def test_no_parameter_hides_a_method(self, name):
        """Constructors store parameters under their names: a `score` would hide the method."""
        cls = getattr(tacit, name)
        hidden = [p.name for p in parameters(cls) if callable(getattr(cls, p.name, None))]
        assert not hidden
        assert not {"fit", "predict", "score", "transform"} & {p.name for p in parameters(cls)}

    def test_fit_takes_x_and_y(self, name):
        first, second, *rest = parameters(getattr(tacit, name).fit)
        assert (first.name, second.name) == ("X", "y")
        assert [p.name for p in rest] in ([], ["sample_weight"])

    def test_save_and_load(self, name):
        cls = getattr(tacit, name)
        if name in NOT_SAVED:
            assert not hasattr(cls, "_kind")
            return
        assert store.class_of(cls._kind) is cls
        assert cls.to_state is not store.Saved.to_state
        assert cls.from_state.__func__ is not store.Saved.from_state.__func__

    def test_shows_itself_in_words(self, name):
        if name == "SparseComputation":  # a transformer: its forecast and its picture say it
            return
        assert list(methods(getattr(tacit, name), "to_text"))
        assert list(methods(getattr(tacit, name), "to_frame"))

    def test_what_columns_are_is_said_the_same_way(self, name):
        cls = getattr(tacit, name)
        defaults = {p.name: p.default for p in parameters(cls)}
        assert not {"ordered", "nominal", "numeric", "bins"} & set(defaults)
        for word, default, text in COLUMNS:
            if word not in defaults:
                continue
            assert defaults[word] in default
            described = description(cls, word)
            assert described.startswith(("As for", "Likewise")) or text in described, described

    def test_random_state_is_a_parameter_of_what_draws(self, name):
        for method in methods(getattr(tacit, name), "sample"):
            first, *rest = parameters(method)
            assert (first.name, first.default) == ("n", 1)
            assert all(p.kind is p.KEYWORD_ONLY for p in rest)
            assert "random_state" in {p.name for p in rest}


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_answer_the_same_questions(name):
    assert len(list(methods(getattr(tacit, name), *ASKED_OF_DENSITIES))) == len(ASKED_OF_DENSITIES)


@pytest.mark.parametrize("cls", RESULTS, ids=lambda cls: cls.__qualname__)
class TestWhatPeopleLookAt:
    def test_plot(self, cls):
        for method in methods(cls, "plot"):
            first, *rest = parameters(method)
            assert (first.name, first.default) == ("ax", None)
            assert all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in rest)

    def test_notebooks_show_html(self, cls):
        assert hasattr(cls, "_repr_html_") != (cls.__qualname__ in NO_HTML)

    def test_how_many_is_called_top(self, cls):
        shows = ("to_text", "to_frame", "to_html", "to_svg", "to_dot", "plot", "strongest")
        for method in methods(cls, *shows):
            assert not {p.name for p in parameters(method)} & {"n", "limit", "max_items", *BANNED}

    def test_information_has_a_unit(self, cls):
        for name in vars(cls):
            if re.search("entropy|information", name):
                for method in methods(cls, name):
                    assert "nats" in (method.__doc__ or ""), method.__qualname__


def fitted():
    """Yield each estimator, fitted on something small."""
    rng = np.random.default_rng(0)
    a = rng.choice(["x", "y", "z"], 80, p=[0.6, 0.3, 0.1])
    b = np.where(rng.random(80) < 0.8, a == "x", rng.random(80) < 0.5)
    frame = pl.DataFrame({"a": a, "b": b, "c": rng.random(80) < 0.2})
    numbers = rng.normal(size=(80, 3)) + b[:, None]
    special = {
        "RuleFinder": lambda cls: cls("b", True, min_support=2).fit(tacit.Table(frame)),
        "SparseComputation": lambda cls: cls(random_state=0).fit(numbers),
        "BestSubset": lambda cls: cls(1).fit(frame.drop("b"), b),
        "SignificantRules": lambda cls: cls(random_state=0).fit(frame, "b"),
        "KMeans": lambda cls: cls(2, random_state=0).fit(numbers),
        "NaiveBayesMixture": lambda cls: cls(2, random_state=0).fit(frame),
    }
    for name in ESTIMATORS:
        cls = getattr(tacit, name)
        if name in special:
            yield special[name](cls)
        elif name.endswith("Regressor"):
            yield cls().fit(numbers, numbers[:, 0])
        elif name.startswith(("Sparse", "Normalized")):
            yield cls().fit(numbers, b)
        elif parameters(cls.fit)[1].default is None:
            yield cls().fit(frame)
        else:
            yield cls().fit(frame.drop("b"), b)


@pytest.mark.parametrize("model", list(fitted()), ids=lambda model: type(model).__name__)
def test_nothing_learnt_hides_a_method(model):
    hidden = [n for n in vars(model) if callable(inspect.getattr_static(type(model), n, None))]
    assert not hidden


@pytest.mark.parametrize("model", list(fitted()), ids=lambda model: type(model).__name__)
def test_what_is_learnt_ends_in_an_underscore(model):
    known = set(model.get_params())
    wrong = [n for n in vars(model) if n not in known and not n.startswith("_")]
    assert not [n for n in wrong if not n.endswith("_")]


@pytest.mark.parametrize("model", list(fitted()), ids=lambda model: type(model).__name__)
def test_notebooks_show_what_was_learnt_and_then_the_parameters(model):
    shown, name = model._repr_html_(), type(model).__name__
    learnt, _, box = shown.partition(f"<details><summary>{name}: parameters</summary>")
    assert model._html_of_fit() in learnt
    assert "sk-container" in box
    assert "sk-container" not in learnt
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
    fresh = clone(model)._repr_html_()
    assert "sk-container" in fresh
    assert "tacit-result" not in fresh


def command_help(name):
    plain = {"NO_COLOR": "1", "COLUMNS": "300", "TERM": "dumb"}
    return CliRunner(env=plain).invoke(cli.app, [name, "--help"]).stdout


def command(name):
    group = __import__("typer").main.get_command(cli.app)
    return group.get_command(None, name)


@pytest.mark.parametrize("name", COMMANDS)
class TestCommands:
    def test_help_has_an_example_that_parses(self, name):
        examples = re.findall(rf"Examples?:.*?(tacit {name}\b[^│\n]*)", command_help(name))
        assert examples
        for example in examples:
            words = shlex.split(example.strip().strip("`"))[2:]
            command(name).make_context(name, words)

    def test_flags_are_shown_as_flags(self, name):
        assert "<bool>" not in command_help(name)

    def test_options_are_called_as_everywhere(self, name):
        for parameter in command(name).params:
            long = [o for o in parameter.opts if o.startswith("--")]
            assert not set(long) & {
                "--seed", "--jobs", "--neighbours", "--normalise", "--test-share", "--share",
                "--delta", "--dimensions", "--score", "--measure", "--heuristic", "--search",
                "--restarts", "--predominant", "--save", "--report", "--labels-out",
            } - ({"--delta"} if name == "dependency-tree" else set())  # fmt: skip
            if "-o" in parameter.opts:
                assert long == ["--output"]
            for option in long:
                assert option.removeprefix("--").replace("-", "_") == parameter.name or (
                    parameter.is_flag
                )

    def test_commands_that_read_take_threads(self, name):
        options = {o for p in command(name).params for o in p.opts}
        if "--separator" in options:
            assert "--n-jobs" in options


def test_no_function_of_the_command_line_is_long():
    for path in Path(cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= 80, f"{path.name}: {node.name} has {length} lines"


def test_there_are_about_forty_names_to_start_from():
    modules = [name for name in tacit.__all__ if inspect.ismodule(getattr(tacit, name))]
    assert len(tacit.__all__) - len(modules) <= 50


@pytest.mark.parametrize("module", ["sklearn", "scipy", "matplotlib", "polars", "numpy"])
def test_import_loads_nothing_heavy(module):
    import subprocess
    import sys

    code = f"import sys, tacit; assert {module!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["tree", "--help"]])
def test_help_computes_nothing(arguments):
    import subprocess
    import sys

    code = (
        "import sys\nfrom tacit.cli import main\n"
        f"sys.argv = ['tacit', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'sklearn', 'scipy', 'polars', 'numpy', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
