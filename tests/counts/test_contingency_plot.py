"""Pictures of contingency tables: what is in them, and what is refused."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from support.contingency_tables import both, column, make
from support.drawing import texts, ticks
from tacit import InputError
from tacit.counts import ContingencyTable
from tacit.plot import heat_map
from tacit.schema import Column, Labels

pytestmark = pytest.mark.usefixtures("draw_to_memory")


def test_two_columns_are_a_heat_map():
    for form in both(make([[1, 2000, 0], [0, 3, 4]])):
        ax = form.plot()
        assert len(ax.images) == 1
        assert ax.images[0].get_array().tolist() == form.to_array().tolist()
        assert texts(ax) == ["1", "2,000", "0", "0", "3", "4"]
        assert ticks(ax.xaxis) == ["b0", "b1", "b2"]
        assert ticks(ax.yaxis) == ["a0", "a1"]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("b", "a")
        bar = ax.figure.axes[1]
        assert bar.get_ylabel() == "records"


@pytest.mark.parametrize(
    ("normalize", "shown", "measure"),
    [
        ("rows", ["25%", "75%", "0%", "100%"], "fraction of a"),
        ("columns", ["100%", "60%", "0%", "40%"], "fraction of b"),
        ("all", ["17%", "50%", "0%", "33%"], "fraction"),
    ],
)
def test_fractions_are_written_in_per_cent(normalize, shown, measure):
    for form in both(make([[1, 3], [0, 2]])):
        ax = form.plot(normalize=normalize)
        assert texts(ax) == shown
        assert ax.figure.axes[1].get_ylabel() == measure
        assert "%" in ticks(ax.figure.axes[1].yaxis)[0]


def test_one_column_is_bars():
    for form in both(make([3, 0, 5])):
        ax = form.plot()
        assert [bar.get_width() for bar in ax.patches] == [3, 0, 5]
        assert texts(ax) == ["3", "0", "5"]
        assert ticks(ax.yaxis) == ["a0", "a1", "a2"]
        assert texts(form.plot(normalize="all")) == ["38%", "0%", "62%"]
        assert texts(form.plot(annotate=False)) == []


def test_ink_stands_out_against_its_cell():
    ax = make([[0, 100]]).plot()
    light, dark = (text.get_color() for text in ax.texts)
    assert light != "white"
    assert dark == "white"


def test_long_labels_are_shortened_and_turned():
    long = Column(
        "a", Labels([f"label {k} $that$ goes on\nfor ever" for k in range(12)], "String"), 0
    )
    ax = ContingencyTable((column("b", 2), long), np.ones((2, 12), np.int64)).plot()
    label = ax.get_xticklabels()[0]
    assert label.get_text() == r"label 0 \$that\$ goes on …"
    assert label.get_rotation() == 60
    assert make([[1, 2]]).plot().get_xticklabels()[0].get_rotation() == 0


def test_forty_by_forty_cells_can_be_read():
    counts = np.arange(1600).reshape(40, 40)
    ax = make(counts).plot()
    assert len(ax.texts) == 1600
    assert min(text.get_fontsize() for text in ax.texts) >= 5
    assert len(ax.get_xticklabels()) == 40


def test_numbers_that_have_no_room_are_left_out():
    ax = plt.subplots(figsize=(2, 2))[1]
    assert texts(make(np.full((40, 40), 123456)).plot(ax)) == []
    assert len(ax.images) == 1


def test_pictures_go_where_they_are_told():
    axes = plt.subplots(1, 2)[1]
    assert make([[1, 2]]).plot(axes[0]) is axes[0]
    assert make([1, 2]).plot(ax=axes[1]) is axes[1]
    assert make([[1, 2]]).plot(axes[0], cmap="viridis", annotate=False).images[1].cmap.name == (
        "viridis"
    )


def test_a_table_of_zeros_can_be_drawn():
    for form in both(make(np.zeros((2, 2), np.int64))):
        assert texts(form.plot()) == ["0"] * 4
        assert texts(form.plot(normalize="rows")) == ["0%"] * 4


def test_heat_maps_take_plain_arrays():
    ax = heat_map(np.eye(2), ["r", "s"], ["c", "d"], "rows", "columns", "likes")
    assert ticks(ax.yaxis) == ["r", "s"]
    assert texts(ax) == []


def test_what_cannot_be_drawn_is_refused():
    cube = make(np.ones((2, 2, 2), np.int64))
    with pytest.raises(InputError, match=r"3 columns cannot be drawn.*marginal\(\['a', 'b'\]\)"):
        cube.plot()
    with pytest.raises(InputError, match="normalize must be None, 'rows', 'columns' or 'all'"):
        make([[1]]).plot(normalize="row")
    with pytest.raises(InputError, match="normalize='rows' needs two columns; use 'all'"):
        make([1]).plot(normalize="rows")
    huge = ContingencyTable.from_cells(
        (column("a", 300), column("b", 2)), np.array([1]), np.array([1])
    )
    with pytest.raises(InputError, match=r"column 'a' has 300 labels.*slice\(\)"):
        huge.plot()


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delattr(mpl, "pyplot")
    with pytest.raises(ImportError, match=r"pip install tacit\[plot\]"):
        make([[1, 2]]).plot()
