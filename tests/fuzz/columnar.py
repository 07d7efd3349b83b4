"""Damaged Parquet and Arrow files: read, or scanned and counted."""

from __future__ import annotations

import tacit
from fuzz.mutate import change_bytes, pick


def throw(rng, files, scratch):
    """Read a changed file."""
    source = pick(rng, [f for f in files if f.suffix in (".parquet", ".arrow")])
    path = scratch / f"x{source.suffix}"
    path.write_bytes(change_bytes(rng, source.read_bytes()))
    if rng.random() < 0.5:
        tacit.read(path, discretise=None)
    else:
        tacit.scan(path, partition_records=int(pick(rng, (7, 25, 1000)))).one_way()
