"""Frames to be written to files, and what a scan of those files must be equal to."""

import datetime as dt

import numpy as np
import polars as pl

import tacit

WRITERS = {
    "parquet": lambda frame, path: frame.write_parquet(path, row_group_size=7),
    "arrow": lambda frame, path: frame.write_ipc(path, record_batch_size=7),
    "csv": lambda frame, path: frame.write_csv(path),
}
SIZES = (23, 0, 1, 40)  # a file without records is among the others


def some_frames(seed=0, sizes=SIZES):
    """Return frames whose labels, and dictionaries of them, differ."""
    rng = np.random.default_rng(seed)
    return [_frame(rng, k, n) for k, n in enumerate(sizes)]


def _frame(rng, k, n):
    words = [f"w{x}" for x in rng.integers(k, k + 4, n)]
    days = [dt.date(2026, 1, 1 + int(x)) for x in rng.integers(0, 5 + k, n)]
    missing = rng.random(n) < 0.2
    gaps = [
        None if gone else f"g{x}" for gone, x in zip(missing, rng.integers(0, 3, n), strict=True)
    ]
    return pl.DataFrame(
        {
            "word": pl.Series(words, dtype=pl.String),
            "text": pl.Series(
                ["a longer text than fits in a view, " * x for x in rng.integers(1, 4, n).tolist()],
                dtype=pl.String,
            ),
            "number": pl.Series(rng.integers(-2, 3 + k, n), dtype=pl.Int64),
            "flag": pl.Series(rng.random(n) < 0.3, dtype=pl.Boolean),
            "day": pl.Series(days, dtype=pl.Date),
            "kind": pl.Series(words[::-1], dtype=pl.String).cast(pl.Categorical),
            "gap": pl.Series(gaps, dtype=pl.String),
            "whole": pl.Series(np.where(missing, 7, rng.integers(0, 2, n)), dtype=pl.Float64),
            "size": pl.Series(rng.normal(k, 1, n).round(3), dtype=pl.Float64),
            "weight": pl.Series(rng.integers(0, 9, n) / 4, dtype=pl.Float64),
        }
    )  # fmt: skip


def write(folder, frames, ending):
    """Write each frame to a file; return a pattern of them all."""
    for k, frame in enumerate(frames):
        WRITERS[ending](frame, folder / f"{k:02d}.{ending}")
    return folder / f"*.{ending}"


def assert_same(parts, table):
    """Assert that a partitioned table holds just what a Table does."""
    assert parts.schema == table.schema
    assert [labels.dtype for labels in parts.schema.labels] == [
        o.dtype for o in table.schema.labels
    ]
    assert parts.shape == table.shape
    assert parts.n_stored == table.n_stored
    assert parts.partition_sizes.min() > 0
    whole = parts.collect()
    assert whole.schema == table.schema
    assert np.array_equal(whole.indptr, table.indptr)
    assert np.array_equal(whole.values, table.values)
    assert parts.weighted == (table.weights is not None)
    if table.weights is not None:
        assert np.array_equal(whole.weights, table.weights)
    assert np.array_equal(parts.one_way().counts, table.one_way().counts)


def as_read(frames, **options):
    """Return the Table of all frames."""
    return tacit.Table(pl.concat(frames, how="vertical_relaxed"), **options)
