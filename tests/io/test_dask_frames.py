"""Frames of Dask are tables in partitions."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.scale import Dask, Local


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 900
    return pd.DataFrame(
        {
            "sky": pd.Categorical(rng.choice(["blue", "grey", "pink"], n, p=[0.6, 0.3, 0.1])),
            "rain": rng.choice(["no", "some", None], n),
            "wind": rng.random(n) < 0.2,
            "level": rng.integers(0, 5, n),
            "weight": rng.random(n),
            "height": rng.normal(size=n),
        }
    )


DISCRETE = ["sky", "rain", "wind", "level"]


def test_on_this_machine(frame):
    parts = tacit.scan(dd.from_pandas(frame[DISCRETE], npartitions=4))
    assert repr(parts) == "PartitionedTable of a dask.dataframe of 4 partitions, not read yet"
    whole = tacit.Table(frame[DISCRETE])
    assert parts.schema == whole.schema
    assert isinstance(parts._passes.default, Local)
    assert np.array_equal(parts.collect().to_numpy(), whole.to_numpy())


def test_labels_that_only_some_partitions_have(frame):
    shown = frame[["level", "sky"]].sort_values("level")
    groups = [group.assign(sky=group["sky"].cat.remove_unused_categories())
              for _, group in shown.groupby("level")]  # fmt: skip
    joined = dd.concat([dd.from_pandas(group, npartitions=1) for group in groups])
    whole = tacit.Table(shown)
    assert np.array_equal(tacit.scan(joined).pairs().stored, whole.pairs().stored)


def test_partitions_without_records(frame):
    sorted_frame = frame[DISCRETE].sort_values("level", ignore_index=True)
    lazy = dd.from_pandas(sorted_frame, npartitions=5)
    some = lazy[lazy["level"] > 2]  # none in the first partitions
    whole = tacit.Table(some.compute())
    parts = tacit.scan(some)
    assert parts.n_partitions < 5
    assert np.array_equal(parts.one_way().counts, whole.one_way().counts)


def test_options(frame):
    lazy = dd.from_pandas(frame, npartitions=3)
    edges = tacit.Edges([-1.0, 0.0, 1.0])
    parts = tacit.scan(
        lazy, columns=["sky", "height"], weights="weight", discretise={"height": edges}
    )
    table = tacit.Table(
        frame[["sky", "height"]], weights=frame["weight"], discretise={"height": edges}
    )
    assert parts.weighted
    assert parts.schema == table.schema
    assert np.allclose(parts.one_way().counts, table.one_way().counts, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "heavy"}, "weights: there is no column 'heavy'"),
        ({"columns": ["sea"]}, "sea"),
        ({"format": "csv"}, "format is no option of frames of Dask"),
        ({"partition_records": 5}, "partition_records is no option of frames of Dask"),
        ({"discretise": {"height": "mdl"}}, "discretise"),
    ],
)
def test_bad_options(frame, options, message):
    with pytest.raises(tacit.InputError, match=message):
        tacit.scan(dd.from_pandas(frame, npartitions=2), **options)


def test_numbers_are_not_cut_silently(frame):
    whole = tacit.Table(frame[["sky", "level"]])
    lazy = dd.from_pandas(frame[["sky", "level"]], npartitions=2)
    assert tacit.scan(lazy).schema == whole.schema


def test_models_take_them_as_they_are(client, frame):
    lazy = dd.from_pandas(frame[DISCRETE], npartitions=4)
    held = tacit.scale.partition(tacit.Table(frame[DISCRETE]), 4)
    with tacit.scale.on_dask(client):
        model = tacit.NaiveBayesMixture(2, max_iter=10, random_state=0).fit(lazy)
        tree = tacit.DependencyTree().fit(lazy)
        labels = model.predict(lazy)
    expected = tacit.NaiveBayesMixture(2, max_iter=10, random_state=0).fit(held)
    assert np.isclose(model.log_likelihood_, expected.log_likelihood_, rtol=1e-12)
    assert np.array_equal(tree.edges_, tacit.DependencyTree().fit(held).edges_)
    assert np.array_equal(labels, expected.predict(held))


def test_the_client_of_the_frame_computes(client, frame):
    with client.as_current():
        parts = tacit.scan(dd.from_pandas(frame[DISCRETE], npartitions=4))
        assert isinstance(parts._passes.default, Dask)
        stored = parts.pairs().stored
    assert np.array_equal(stored, tacit.Table(frame[DISCRETE]).pairs().stored)
    assert parts.cost.partitions == 8  # labels, then pairs
