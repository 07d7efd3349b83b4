"""Saved models and tables: bytes that were changed, and arrays that were, under right checksums."""

from __future__ import annotations

import pickle
from contextlib import suppress

import numpy as np

import tacit
from fuzz.mutate import change_bytes, change_saved, pick

ASKS = ("predict", "predict_proba", "score_samples", "transform", "decision_function")
SHOWS = ("to_text", "to_html", "to_svg", "to_dot", "to_frame", "_repr_html_", "__repr__")
ERRORS = (tacit.InputError,)


def throw(rng, files, scratch):
    """Load a changed file; what is loaded is used in all ways."""
    source = pick(rng, [f for f in files if f.suffix == ".tacit"])
    path = scratch / "x.tacit"
    if rng.random() < 0.2:
        path.write_bytes(change_bytes(rng, source.read_bytes()))
    else:
        change_saved(rng, path, source)
    use(tacit.load(path), rng, scratch)


def use(loaded, rng, scratch):
    """Ask, show, write and copy."""
    for name in SHOWS:
        if hasattr(loaded, name):
            _or_error(getattr(loaded, name))
    if isinstance(loaded, tacit.Table):
        _or_error(loaded.one_way)
        _or_error(loaded.two_way, loaded.schema.names[0])
        _or_error(loaded.pairs)
    if isinstance(loaded, tacit.ADTree):
        names = loaded.schema.names
        for k in range(3):
            _or_error(loaded.table, [names[int(rng.integers(len(names)))], names[k % len(names)]])
    n = getattr(loaded, "n_features_in_", None)
    if isinstance(n, int) and 0 < n < 1000:
        whole = rng.random() < 0.5
        X = rng.integers(0, 3, (5, n)) if whole else rng.random((5, n)).round(2)
        names = getattr(loaded, "feature_names_in_", None)
        if names is not None:
            X = {str(name): X[:, c] for c, name in enumerate(np.asarray(names).tolist())}
        for name in ASKS:
            if hasattr(loaded, name):
                _or_error(getattr(loaded, name), X)
    if hasattr(loaded, "sample"):
        _or_error(loaded.sample, 3, random_state=0)
    if hasattr(loaded, "recommend"):
        _or_error(loaded.recommend, [["i1", "i2"]], 2)
    _or_error(loaded.save, scratch / "y.tacit")
    _or_error(lambda: pickle.loads(pickle.dumps(loaded)))


def _or_error(ask, *arguments, **options):
    with suppress(ERRORS):
        if callable(ask):  # else it is a parameter of this name
            ask(*arguments, **options)
