"""The visits to an invented web site."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.datasets import load_visits


@pytest.fixture(scope="module")
def visits():
    return load_visits()


def test_columns(visits):
    assert visits.shape == (20_000, 27)
    assert visits.schema.names[:4] == ("region", "device", "subscriber", "home")
    assert {"sports", "weather", "cart", "checkout"} <= set(visits.schema.names)
    region, device = visits.schema["region"], visits.schema["device"]
    assert tuple(region.labels) == ("east", "north", "south", "west")
    assert tuple(device.labels) == ("desktop", "phone", "tablet", None)
    for column in visits.columns[2:]:
        assert tuple(column.labels) == (False, True)
        assert column.default_label is False


def test_defaults_are_most_common(visits):
    one_way = visits.one_way()
    for column in visits.columns:
        counts = one_way.array(column.name)
        assert counts[column.default] == counts.max()


def test_few_devices_are_missing(visits):
    assert 100 < visits.count({"device": None}) < 300


def test_every_visitor_has_seen_something(visits):
    areas = visits.select([column.name for column in visits.columns[3:]])
    assert areas.n_columns == 24
    assert np.diff(areas.indptr).min() == 1


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        ({"sports": True}, {"scores": True}),
        ({"recipes": True}, {"grocery offers": True}),
        ({"cart": True}, {"checkout": True}),
        ({"region": "north"}, {"weather": True}),
        ({"subscriber": True}, {"news": True}),
        ({"device": "tablet"}, {"games": True}),
    ],
)
def test_depends_as_told(visits, cause, effect):
    both, of_cause, of_effect = map(visits.count, (cause | effect, cause, effect))
    assert both / of_cause > 1.2 * of_effect / visits.n_records


def test_nobody_checks_out_without_a_cart(visits):
    assert visits.count({"checkout": True, "cart": False}) == 0


def test_always_the_same(visits):
    assert np.array_equal(visits.values, load_visits().values)
    assert visits.n_stored == 67_010
