"""Selections as text: what is written is read again, and nothing else is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError, Table, exclude
from tacit.explore.state import Condition, Selection

ARITIES = [3, 1, 7, 2, 40]


@st.composite
def selections(draw, arities):
    chosen = draw(st.sets(st.integers(0, len(arities) - 1)))
    return Selection(
        {
            c: Condition(
                tuple(sorted(draw(st.sets(st.integers(0, arities[c] - 1))))), draw(st.booleans())
            )
            for c in chosen
        }
    )


@given(selections(ARITIES))
def test_what_is_written_is_read_again(selection):
    assert Selection.parse(selection.to_text(), ARITIES) == selection


@given(selections(ARITIES))
def test_codes_are_let_through_or_not(selection):
    for c, condition in selection.conditions.items():
        allowed = [k for k in range(ARITIES[c]) if (k in condition.codes) != condition.excluded]
        assert condition.allowed(ARITIES[c]) == allowed


def test_ranges_are_put_together():
    assert Condition((0, 1, 2, 5, 7, 8)).to_text() == "0-2,5,7-8"
    assert Selection.parse("2:!1-3;0:", ARITIES).to_text() == "0:;2:!1-3"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (3, "must be a selection"),
        ("0:1" * 50_000, "must be a selection"),
        ("9:1", "no column 9"),
        ("0:1;0:2", "twice"),
        ("0:3", "has no codes '3'"),
        ("2:5-2", "has no codes '5-2'"),
        ("0=1", "is no condition"),
        ("0:1,,2", "is no condition"),
        ("-1:0", "is no condition"),
        ("0:__import__", "is no condition"),
    ],
)
def test_what_is_no_selection_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        Selection.parse(text, ARITIES)


def test_queries_name_labels():
    schema = Table({"x": ["a", "b", None], "y": [1, 2, 3]}).schema
    ask = lambda text: Selection.parse(text, schema.arities).query(schema)  # noqa: E731
    assert ask("0:0,2;1:!1") == {"x": ["a", None], "y": exclude([2])}
    assert ask("0:;1:!") == {"x": [], "y": exclude([])}
