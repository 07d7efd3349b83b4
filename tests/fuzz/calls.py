"""Public calls: estimators fitted to and asked of arrays that are odd, or not what they say."""

from __future__ import annotations

import inspect

import numpy as np
from scipy import sparse

import tacit
from fuzz.models import use
from fuzz.mutate import DTYPES, NUMBERS, REALS, pick

ESTIMATORS = [
    kind
    for name in tacit.__all__
    if inspect.isclass(kind := getattr(tacit, name))
    and hasattr(kind, "fit")
    and kind is not tacit.RuleFinder  # whose target is a column of a table
]
FORMS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def throw(rng, files, scratch):
    """Make a table of, or fit an estimator to, something; ask it of something else."""
    X = make_data(rng)
    if rng.random() < 0.2:
        use(tacit.Table(X), rng, scratch)
        return
    kind = pick(rng, ESTIMATORS)
    model = kind()
    known = model.get_params()
    model.set_params(**{k: v for k, v in {"random_state": 0, "n_jobs": 2}.items() if k in known})
    options = {}
    parameters = inspect.signature(kind.fit).parameters
    if "sample_weight" in parameters and rng.random() < 0.3:
        options["sample_weight"] = change(rng, rng.random(len_of(X)))
    y = rng.integers(0, 3, len_of(X))
    given = (change(rng, y) if rng.random() < 0.3 else y,)
    if parameters["y"].default is not inspect.Parameter.empty and rng.random() < 0.8:
        given = ()
    try:
        model.fit(X, *given, **options)
    except tacit.InputError:
        check_not_fitted(model)
        return
    use(model, rng, scratch)
    if hasattr(model, "predict"):
        model.predict(make_data(rng))


def check_not_fitted(model):
    """A refused fit leaves nothing behind."""
    left = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    if left:
        raise AssertionError(f"{type(model).__name__} has {left} after a fit that was refused")


def len_of(X):
    return X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X)


def make_data(rng):
    """Return records in some container, mostly with one to three changes."""
    m, n = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    values = rng.integers(0, int(rng.integers(1, 5)), (m, n)) * (rng.random((m, n)) < 0.6)
    if rng.random() < 0.4:
        values = values + rng.random((m, n)).round(1) * (values > 0)
    way = rng.random()
    if way < 0.3:
        return change(rng, values.astype(pick(rng, DTYPES)))
    if way < 0.4:
        return {f"c{k}": change(rng, values[:, k]) for k in range(n)}
    made = getattr(sparse.csr_array(values), f"to{pick(rng, FORMS)}")()
    for _ in range(int(rng.integers(0, 4))):
        lie(rng, made)
    return made


def lie(rng, made):
    """Change one of the arrays that a sparse one is made of."""
    name = pick(rng, ("indices", "indptr", "data", "row", "col"))
    if name in ("row", "col") and made.format == "coo":
        k = ("row", "col").index(name)
        coords = list(made.coords)
        coords[k] = change(rng, coords[k])
        made.coords = tuple(coords)
    elif made.format in ("csr", "csc", "bsr") and name in ("indices", "indptr", "data"):
        setattr(made, name, change(rng, getattr(made, name)))
    elif made.format in ("coo", "dia") and name == "data":
        made.data = change(rng, made.data)


def change(rng, array):
    """Return an array that is changed, or as it is in another layout."""
    array = np.array(array)
    way = int(rng.integers(11))
    if way == 0:
        return array.astype(array.dtype.newbyteorder(">"))
    if way == 1 and array.size and array.dtype.itemsize > 1 and array.dtype.kind != "O":
        memory = np.zeros(array.nbytes + 1, np.uint8)
        moved = memory[1:].view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved
    if way == 2:
        return np.repeat(array, 2, axis=0)[::2]
    if way == 3:
        array.flags.writeable = False
        return array
    if way == 4:
        return array[..., None]
    if way == 5 and array.ndim:
        return array[: int(rng.integers(len(array) + 1))]
    if way == 6:
        with np.errstate(all="ignore"):
            return array.astype(pick(rng, DTYPES))
    if way == 7:
        return np.broadcast_to(array[:1], array.shape) if array.size else array
    if way == 8:
        return array.astype(object)
    if array.size:
        flat = array.reshape(-1)
        at = int(rng.integers(array.size))
        if array.dtype.kind == "f":
            flat[at] = pick(rng, REALS)
        elif array.dtype.kind in "iu":
            with np.errstate(all="ignore"):
                flat[at] = np.array(pick(rng, NUMBERS)).astype(array.dtype)
    return array
