"""Which records a rule covers: a value for each, and one value that says which of them count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import _core


def listed(*records):
    return np.array(records, np.int32)


def covered(mask, n):
    return [i for i in range(n) if mask.covers(i)]


def test_nine_records_and_both_strategies():
    mask = _core.CoverMask(9)
    assert mask.indicator == 0
    assert mask.values.tolist() == [0] * 9
    assert covered(mask, 9) == list(range(9))

    # A first condition that no record with the predominant value satisfies: those that do are set.
    mask.narrow_to(listed(1, 2, 4, 5, 7))
    assert mask.indicator == 1
    assert mask.values.tolist() == [0, 1, 1, 0, 1, 1, 0, 1, 0]
    assert covered(mask, 9) == [1, 2, 4, 5, 7]

    # A second one that they satisfy: those that do not are set, and the indicator stays.
    mask.drop(listed(2, 7))
    assert mask.indicator == 1
    assert mask.values.tolist() == [0, 1, 2, 0, 1, 1, 0, 2, 0]
    assert covered(mask, 9) == [1, 4, 5]

    # A third of the first kind: the number of conditions goes on from there.
    mask.narrow_to(listed(4))
    assert mask.indicator == 3
    assert mask.values.tolist() == [0, 1, 2, 0, 3, 1, 0, 2, 0]
    assert covered(mask, 9) == [4]


@given(st.data())
def test_mask_equals_a_set(data):
    n = data.draw(st.integers(1, 12))
    mask, expected = _core.CoverMask(n), set(range(n))
    for _ in range(data.draw(st.integers(0, 6))):
        chosen = sorted(data.draw(st.sets(st.integers(0, n - 1))))
        if data.draw(st.booleans()):
            mask.narrow_to(listed(*chosen))
            expected &= set(chosen)
        else:
            mask.drop(listed(*chosen))
            expected -= set(chosen)
        assert covered(mask, n) == sorted(expected)
        assert set(np.flatnonzero(mask.values == mask.indicator)) == expected


def test_as_many_conditions_as_values_can_number():
    """Nothing that was dropped comes back; past the last number there is an error."""
    mask = _core.CoverMask(4)
    mask.drop(listed(2, 3))
    for step in range(254):
        if step % 3:
            mask.narrow_to(listed(0, 1, 2))
        else:
            mask.drop(listed(2))
        assert covered(mask, 4) == [0, 1]
    with pytest.raises(ValueError, match="conditions"):
        mask.drop(listed(1))
    assert covered(mask, 4) == [0, 1]


def test_places_out_of_range_are_refused():
    mask = _core.CoverMask(3)
    for records in (listed(3), listed(-1)):
        with pytest.raises(ValueError, match="record"):
            mask.drop(records)
        with pytest.raises(ValueError, match="record"):
            mask.narrow_to(records)
    with pytest.raises((ValueError, IndexError)):
        mask.covers(3)
