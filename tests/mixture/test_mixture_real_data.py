"""Public data sets: a mixture explains records that it has not seen."""

import numpy as np
import pytest

import tacit
from support.real_data import msweb
from tacit import NaiveBayesMixture


def independent_columns(train, test):
    """Mean log P(record) if columns were independent, with shares smoothed by half a record."""
    counts = train.one_way().counts.reshape(-1, 2) + 0.5
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    seen = test.conform(train.schema).one_way().counts.reshape(-1, 2)
    return (seen * logs).sum() / test.n_records


def test_web_pages(shared_data):
    train, test = msweb(shared_data)
    mix = NaiveBayesMixture(20, n_init=1, random_state=0).fit(train)
    assert mix.converged_
    baseline = independent_columns(train, test)
    one = NaiveBayesMixture(1).fit(train).score(test)
    assert one == pytest.approx(baseline, abs=0.05)
    assert baseline + 1 < mix.score(test) < 0
    # What it learnt is in the pages, not in their order or in the schema of one file.
    turned = test.select(list(test.schema.names[::-1])).with_defaults(True)
    assert mix.score(turned) == pytest.approx(mix.score(test), rel=1e-12)


def test_disabilities(shared_data):
    """Columns on their own give -9.23 a record, strong models of any kind about -6.0."""
    train, test = (
        tacit.read_csv(shared_data / "debd" / "nltcs" / f"nltcs.{part}.data.xz", header=False)
        for part in ("train", "test")
    )
    assert train.shape == (16_181, 16)
    scores = [
        NaiveBayesMixture(k, n_init=2, random_state=0).fit(train).score(test) for k in (1, 5, 20)
    ]
    assert scores[0] == pytest.approx(-9.23, abs=0.01)
    assert scores[0] == pytest.approx(independent_columns(train, test), abs=1e-3)
    assert -6.5 < scores[1] < -6.1
    assert -6.15 < scores[2] < -5.95


def test_missing_values_of_mushrooms(shared_data):
    """A third of a column is missing: ignored or a state, clusters tell what is poisonous."""
    table = tacit.read(shared_data / "mushroom_uci" / "mushrooms.csv.xz", null_values="?")
    kind = table.codes("type")
    rest = table.select([name for name in table.schema.names if name != "type"])
    for missing in ("state", "ignore"):
        mix = NaiveBayesMixture(12, missing=missing, n_init=2, random_state=0).fit(rest)
        counts = np.zeros((12, 2))
        np.add.at(counts, (mix.labels_, kind), 1)
        assert counts.max(axis=1).sum() / rest.n_records > 0.9  # without clusters 0.52
        lost = mix.probabilities("stalk_root")[rest.schema["stalk_root"].code(None)]
        assert (lost == 0).all() == (missing == "ignore")
