"""FrequentItemsets once they are found: looked up, shown, saved and read again."""

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import tacit
from oracles.itemsets import frequent_itemsets
from support.baskets import BASKETS
from support.files import assert_damage_is_an_error, change_array
from support.pages import data_of
from tacit import FileError, FrequentItemsets, InputError, store


def test_supports_of_sets_that_are_not_listed():
    every = frequent_itemsets(BASKETS, 6)
    for options in ({}, {"kind": "all"}, {"kind": "all", "max_size": 3}):
        fitted = FrequentItemsets(min_support=6, **options).fit(BASKETS)
        for items, count in every.items():
            if len(items) <= options.get("max_size", 99):
                assert fitted.support(items) == count / 120
        assert fitted.support(["h"]) == 0
        assert fitted.support("b") == every["b",] / 120
        assert isinstance(fitted.itemsets_.count(["b", "a"]), int)
    with pytest.raises(InputError, match="items: sets of more than max_size=3"):
        fitted.support(["a", "b", "c", "d"])
    with pytest.raises(InputError, match="items: there is no column 'z'"):
        fitted.support(["z"])


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"min_size": 2}, "min_size"),
        ({"max_size": 2}, "max_size"),
        ({"must_hold": ["c"]}, "must_hold"),
        ({"one_of": [["c", "e"]]}, "one_of"),
        ({"kind": "maximal"}, "kind"),
    ],
)
def test_counts_that_the_listed_sets_do_not_tell_are_refused(options, argument, tmp_path):
    fitted = FrequentItemsets(min_support=6, **options).fit(BASKETS)
    every = frequent_itemsets(BASKETS, 6)
    fitted.save(tmp_path / "sets.tacit")
    for model in (fitted, tacit.load(tmp_path / "sets.tacit")):
        listed = model.itemsets_[len(model.itemsets_) - 1]
        assert model.support(listed) == every[listed] / 120
        with pytest.raises(InputError, match=f"^{argument}: .*the counts of others"):
            model.support(["f", "g"] if argument == "min_size" else ["f"])
        with pytest.raises(InputError, match=f"^{argument}: .*the counts of antecedents"):
            model.rules()


def test_text_frame_page_and_picture(capsys):
    fitted = FrequentItemsets(min_support=0.05, kind="all", verbose=1).fit(BASKETS)
    log = capsys.readouterr().err
    assert "searching 120 records × 8 items" in log
    assert f"{len(fitted.itemsets_)} itemsets in" in log
    lines = fitted.to_text(top=2).splitlines()
    assert lines[0] == f"{len(fitted.itemsets_)} frequent itemsets of 120 records"
    assert lines[1] == "  a: 100.00% (120)"
    assert len(lines) == 3
    assert len(fitted.to_text(None).splitlines()) == 1 + len(fitted.itemsets_)
    frame = fitted.to_frame()
    assert frame.columns == ["items", "size", "support", "count"]
    for items, size, support, count in frame.iter_rows():
        assert count == sum(set(items) <= basket for basket in BASKETS)
        assert size == len(items)
        assert support == count / 120
    assert fitted.to_frame(3).equals(frame[:3])
    assert len(fitted.to_frame(0)) == 0
    assert data_of(fitted.to_html(top=2))["n"] == 2
    assert len(fitted.plot(top=4).patches) == 4
    sets = fitted.itemsets_
    assert "more" in str(sets)
    assert sets[-1] == tuple(frame["items"][-1])
    assert "<table" in sets._repr_html_()
    with pytest.raises(InputError, match="top must be"):
        fitted.to_frame(-1)
    for ask in (FrequentItemsets().to_text, FrequentItemsets().to_frame, FrequentItemsets().rules):
        with pytest.raises(NotFittedError):
            ask()
    with pytest.raises(NotFittedError):
        FrequentItemsets().support(["a"])


@pytest.mark.parametrize("form", ["baskets", "frame", "array", "weights", "none"])
def test_saving(form, tmp_path):
    model = FrequentItemsets(min_support=6, n_itemsets=40, must_not_hold=["h"], memory="1GB")
    if form == "frame":
        frame = pl.DataFrame({"a": ["x", "y", "y"] * 30, "b": [True, False, True] * 30})
        model.set_params(must_hold=[("a", "x")], must_not_hold=None, one_of=[["b"], [("a", "x")]])
        model.fit(frame)
    elif form == "array":
        model.set_params(must_not_hold=None, must_hold=(0, 1)).fit(np.eye(5, dtype=int)[[0, 1] * 9])
    elif form == "weights":
        model.fit(BASKETS, None, np.full(120, 0.3))
    else:
        model.set_params(min_support=6 if form == "baskets" else 121).fit(BASKETS)
    path = tmp_path / "sets.tacit"
    model.save(path)
    again = tacit.load(path)
    assert again.get_params() == model.get_params()
    assert again.to_frame().equals(model.to_frame())
    assert again.to_text() == model.to_text()
    for name in ("n_records_", "complete_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name), name
    assert hasattr(again, "feature_names_in_") == hasattr(model, "feature_names_in_")
    if form in ("baskets", "weights"):
        assert again.support(["b", "c"]) == model.support(["b", "c"]) > 0
        assert again.rules().to_frame().equals(model.rules().to_frame())
        assert again.fit(BASKETS).n_records_ == 120
    with pytest.raises(NotFittedError):
        FrequentItemsets().save(path)


def test_damaged_files(tmp_path):
    path = tmp_path / "sets.tacit"
    FrequentItemsets(min_support=6).fit(BASKETS).save(path)
    kind, arrays = store.read_arrays(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    for name in arrays:
        store.write_arrays(path, kind, {k: v for k, v in arrays.items() if k != name})
        with pytest.raises(FileError, match=f"is damaged: it has no {name!r}"):
            tacit.load(path)
    cells, counts = arrays["cells"], arrays["counts"]
    wrong = [
        ("indptr", arrays["indptr"] + 1),
        ("indptr", arrays["indptr"][:-1]),
        ("indptr", arrays["indptr"].astype(np.int32)),
        ("indptr", arrays["indptr"][:0]),
        ("cells", cells + 100),
        ("cells", cells - cells % 2),  # that something is not there is no item
        ("cells", np.full_like(cells, cells[0])),
        ("cells", cells.astype(np.int64)),
        ("cells", cells[:-1]),
        ("counts", counts[::-1].copy()),
        ("counts", counts * 1000),
        ("counts", counts - counts[-1]),
        ("counts", counts.astype(np.float32)),
        ("counts", np.full(len(counts), np.nan)),
    ]
    for name, array in wrong:
        store.write_arrays(path, kind, arrays | {name: array})
        with pytest.raises(FileError, match="is damaged"):
            tacit.load(path)
    facts = store.read_json(arrays["settings"])
    for name, value in (("kind", "some"), ("total", 0), ("total", "many"), ("unlisted", "x"),
                        ("max_size", "x"), ("parameters", {"z": 1})):  # fmt: skip
        settings_array = store.json_array(facts | {name: value})
        store.write_arrays(path, kind, arrays | {"settings": settings_array})
        with pytest.raises(FileError, match="is damaged"):
            tacit.load(path)
    store.write_arrays(path, kind, arrays)
    change_array(path, "counts", lambda array: array)
    tacit.load(path)
    assert_damage_is_an_error(path, 20)
