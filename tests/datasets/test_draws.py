"""Draws without replacement against the slow and obvious way to make them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.datasets import draws


def one_by_one(rng, weights, length, held=()):
    """Draw distinct places one after another in proportion to what is left."""
    chosen = list(held)
    left = np.array(weights, float)
    left[chosen] = 0
    while len(chosen) < length:
        place = int(rng.choice(len(left), p=left / left.sum()))
        chosen.append(place)
        left[place] = 0
    return sorted(chosen)


def fill(rng, cumulated, lengths, held=None):
    ends = np.cumsum(lengths)
    out = np.full(int(ends[-1]), -1, np.int64)
    draws.fill_distinct(rng, cumulated, lengths, ends - lengths, out, held)
    return np.split(out, ends[:-1])


@pytest.mark.parametrize(("n", "length"), [(16, 3), (6, 4)], ids=["passing over", "race"])
def test_draws_without_replacement(n, length):
    weights = draws.zipf_weights(n, 1.5)
    rng = np.random.default_rng(0)
    rows = fill(rng, draws.cumulate(weights), np.full(20_000, length))
    assert all((np.diff(row) > 0).all() for row in rows)
    observed = np.bincount(np.concatenate(rows), minlength=n) / len(rows)
    slow = [one_by_one(rng, weights, length) for _ in range(4000)]
    expected = np.bincount(np.concatenate(slow), minlength=n) / len(slow)
    np.testing.assert_allclose(observed, expected, atol=0.03)


@pytest.mark.parametrize("n", [16, 6], ids=["passing over", "race"])
def test_goes_on_from_what_is_held(n):
    weights = draws.zipf_weights(n, 1.0)
    rng = np.random.default_rng(1)
    length, rows = 3, 20_000
    held = np.arange(rows) * n + n - 1  # every row has the rarest place already
    filled = fill(rng, draws.cumulate(weights), np.full(rows, length), held)
    assert all(row[-1] == n - 1 and (np.diff(row) > 0).all() for row in filled)
    observed = np.bincount(np.concatenate(filled), minlength=n) / rows
    slow = [one_by_one(rng, weights, length, [n - 1]) for _ in range(4000)]
    expected = np.bincount(np.concatenate(slow), minlength=n) / len(slow)
    np.testing.assert_allclose(observed, expected, atol=0.03)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_rows_have_their_lengths(data):
    n = data.draw(st.integers(1, 12))
    lengths = np.array(data.draw(st.lists(st.integers(0, n), min_size=1, max_size=30)))
    keys = [
        row * n + place
        for row, length in enumerate(lengths.tolist())
        for place in sorted(data.draw(st.sets(st.integers(0, n - 1), max_size=length)))
    ]
    seed = data.draw(st.integers(0, 1000))
    held = np.array(keys, np.int64)
    cumulated = draws.cumulate(draws.zipf_weights(n, 1.0))
    rows = fill(np.random.default_rng(seed), cumulated, lengths, held)
    for k, row in enumerate(rows):
        assert len(row) == lengths[k]
        assert (np.diff(row) > 0).all()
        assert set(held[held // n == k] % n) <= set(row)
        assert all(0 <= place < n for place in row)


def test_blocks_leave_no_row_out(monkeypatch):
    monkeypatch.setattr(draws, "_BLOCK", 10)
    lengths = np.array([0, 3, 25, 4, 4, 0, 1, 12, 0])
    rows = fill(np.random.default_rng(0), draws.cumulate(np.ones(40)), lengths)
    assert [len(row) for row in rows] == lengths.tolist()
    assert all((row >= 0).all() and (np.diff(row) > 0).all() for row in rows)


def test_whole_weights_are_weights():
    weights = np.array([0.5, 0.0, 1.5, 2.0])
    cumulated = draws.cumulate(weights)
    assert cumulated[-1] == 2**50
    shares = np.diff(cumulated, prepend=0) / 2**50
    np.testing.assert_allclose(shares, weights / 4, atol=1e-12)
    assert (np.diff(cumulated, prepend=0) > 0).all()
    assert draws.cumulate(np.zeros(3))[-1] == 2**50


def test_pick_follows_weights():
    places = draws.pick(np.random.default_rng(0), draws.cumulate(np.array([1.0, 2.0, 5.0])), 80_000)
    np.testing.assert_allclose(np.bincount(places) / 10_000, [1, 2, 5], rtol=0.03)


@given(
    numbers=st.lists(st.floats(0, 9), min_size=1, max_size=20),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_rounding_gives_the_total(numbers, share, seed):
    total = round(9 * len(numbers) * share)
    whole = draws.round_to_total(np.random.default_rng(seed), np.array(numbers), total, 0, 9)
    assert whole.sum() == total
    assert whole.min() >= 0
    assert whole.max() <= 9


def test_rounding_has_no_bias():
    rng = np.random.default_rng(0)
    numbers = np.array([0.25, 1.5, 2.75, 3.5])
    mean = np.mean([draws.round_to_total(rng, numbers, 8, 0, 9) for _ in range(4000)], axis=0)
    np.testing.assert_allclose(mean, numbers, atol=0.25)


@pytest.mark.parametrize("total", [0.0, 3.0, 10.0, 29.9, 30.0])
def test_scaling_gives_the_total(total):
    scaled = draws.scale_to_total(np.array([1.0, 5.0, 20.0]), total, 0.0, 10.0)
    assert scaled.sum() == pytest.approx(total)
    assert scaled.max() <= 10
