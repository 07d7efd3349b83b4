"""Which columns of numbers were cut, and into how many bins, is said to those who want to know."""

import logging
from functools import partial

import numpy as np
import polars as pl
import pytest

from tacit import BestSubset, DependencyNetwork, InputError, KMeans, NaiveBayesMixture, Table


def make_frame(n_columns=2, n=200):
    rng = np.random.default_rng(0)
    columns = {f"x{k}": rng.normal(size=n) for k in range(n_columns)}
    return pl.DataFrame(columns | {"few": rng.integers(0, 3, n), "word": rng.choice(list("ab"), n)})


NOTE = "numbers cut into bins: x0 (10), x1 (10); set discretise= or kinds=\n"


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (NaiveBayesMixture(2, max_iter=3, random_state=0), None),
        (DependencyNetwork(), None),
        (BestSubset(1), "word"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_verbose_models_say_it_once(model, y, capsys):
    X = make_frame()
    model.set_params(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    model.set_params(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("numbers cut into bins") == 1
    assert NOTE in err
    model.fit(Table(X, discretise=None), y)
    assert NOTE in capsys.readouterr().err
    model.fit(Table(X, discretise="auto"), y)  # the caller has cut them
    assert "cut into bins" not in capsys.readouterr().err


def test_models_that_cut_nothing_say_nothing(capsys):
    KMeans(2, verbose=1, random_state=0).fit(make_frame().select("x0", "x1"))
    assert "cut into bins" not in capsys.readouterr().err


def test_edges_of_the_caller_are_no_news(capsys):
    model = NaiveBayesMixture(2, max_iter=3, discretise={"x0": [0.0]}, verbose=1, random_state=0)
    model.fit(make_frame(1))
    assert "cut into bins" not in capsys.readouterr().err


def test_many_columns_are_cut_short(caplog):
    with caplog.at_level(logging.INFO, "tacit.table.cuts"):
        Table(make_frame(7), discretise=4)
    [note] = [record.getMessage() for record in caplog.records]
    assert note == (
        "numbers cut into bins: x0 (4), x1 (4), x2 (4), x3 (4), x4 (4), … (8 columns); "
        "set discretise= or kinds="
    )


def test_nothing_is_left_behind(capsys):
    logger = logging.getLogger("tacit.table.cuts")
    before = logger.level, list(logger.handlers)
    with pytest.raises(InputError):
        BestSubset(99, verbose=1).fit(make_frame(), "word")
    assert (logger.level, logger.handlers) == before
    capsys.readouterr()
    Table(make_frame(), discretise="auto")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("wrong", [1, [3, 2], "luck", [0.0, float("nan")]])
@pytest.mark.parametrize("kind", ["frame", "table"])
def test_what_is_wrong_with_bins_is_said_of_the_column(wrong, kind):
    specs = {"x0": 3, "x1": wrong}
    make = partial(Table, make_frame()) if kind == "frame" else Table(make_frame()).cut
    with pytest.raises(InputError, match=r"^discretise: column 'x1': ."):
        make(discretise=specs)
