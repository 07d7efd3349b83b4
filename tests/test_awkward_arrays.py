"""Arrays that are not aligned, of the other byte order, or not what sparse ones are made of."""

import inspect
import re
import warnings

import numpy as np
import pytest
from scipy import sparse

import tacit
from tacit import _core

N, WIDTH = 60, 6
FITTED = [
    kind
    for name in tacit.__all__
    if inspect.isclass(kind := getattr(tacit, name))
    and hasattr(kind, "fit")
    and kind is not tacit.RuleFinder  # whose target is a column of a table
]
SPARSE = ["csr", "csc", "coo", "bsr"]


def swapped(array):
    return array.astype(array.dtype.newbyteorder(">"))


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def numbers():
    rng = np.random.default_rng(0)
    return np.round(rng.random((N, WIDTH)), 1) * (rng.random((N, WIDTH)) < 0.5)


def with_arrays(form, values, change):
    """Return a sparse array of values whose own arrays were changed."""
    made = getattr(sparse.csr_array(values), f"to{form}")()
    if form == "coo":
        made.coords = tuple(map(change, made.coords))
    else:
        made.indices, made.indptr = change(made.indices), change(made.indptr)
    made.data = change(made.data)
    return made


def fit(kind, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind()
        if "n_clusters" in model.get_params():
            model.set_params(n_clusters=2)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        wants_y = inspect.signature(kind.fit).parameters["y"].default is inspect.Parameter.empty
        y = np.arange(N) % 2
        try:
            return model.fit(X, y) if wants_y else model.fit(X)
        except tacit.InputError as error:
            if "y" not in str(error):
                raise
            return model.fit(X, y)


def state_of(model):
    """Return what a file would hold, but how long it took."""
    return {k: re.sub(rb'seconds":[^,}]*', b"", v.tobytes()) for k, v in model.to_state().items()}


@pytest.fixture
def kernels(monkeypatch):
    """Have every kernel refuse arrays that are not aligned."""

    def checked(kernel):
        def ask(*given, **options):
            arrays = [a for a in (*given, *options.values()) if isinstance(a, np.ndarray)]
            assert all(a.flags.aligned for a in arrays), "a kernel got an array that is not aligned"
            return kernel(*given, **options)

        return ask

    for name, kernel in vars(_core).copy().items():
        if inspect.isclass(kernel) and not name.startswith("_"):
            try:
                made = type(name, (kernel,), {"__init__": checked(kernel.__init__)})
            except TypeError:
                continue  # it cannot be derived from
            monkeypatch.setattr(_core, name, made)
        elif callable(kernel) and not name.startswith("_"):
            monkeypatch.setattr(_core, name, checked(kernel))


@pytest.mark.parametrize("change", [swapped, unaligned])
@pytest.mark.parametrize("kind", FITTED, ids=lambda kind: kind.__name__)
def test_byte_order_and_alignment_do_not_matter(kind, change, kernels):
    for values in (numbers(), (numbers() > 0).astype(np.int64)):
        cases = {
            "dense": (values, change(values)),
            "transposed": (np.asfortranarray(values), change(np.ascontiguousarray(values.T)).T),
        } | {
            form: (with_arrays(form, values, np.copy), with_arrays(form, values, change))
            for form in SPARSE
        }
        for form, (plain, odd) in cases.items():
            assert state_of(fit(kind, odd)) == state_of(fit(kind, plain)), form


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", FITTED, ids=lambda kind: kind.__name__)
def test_data_of_two_dimensions(kind, form):
    for values in (numbers(), (numbers() > 0).astype(np.int8)):
        made = with_arrays(form, values, np.copy)
        made.data = made.data.reshape(-1, 1)
        with pytest.raises(
            tacit.InputError, match=r"X: (its )?data (must be 1-d|of COO has shape)"
        ):
            fit(kind, made)


@pytest.mark.parametrize("index", [-1, N + 9, 10**9])
@pytest.mark.parametrize("kind", FITTED, ids=lambda kind: kind.__name__)
def test_indices_that_lie(kind, index):
    for form in ("csr", "csc", "coo"):
        made = with_arrays(form, numbers(), np.copy)
        (made.coords[0] if form == "coo" else made.indices)[7] = index
        with pytest.raises(tacit.InputError, match=rf"X: .*index {index}\b"):
            fit(kind, made)
    made = with_arrays("csc", numbers(), np.copy)
    made.indptr[2] = 10**7
    with pytest.raises(tacit.InputError, match="X: indptr must not decrease or pass the end"):
        fit(kind, made)


def test_coordinates_of_other_lengths_and_types():
    made = with_arrays("coo", numbers(), np.copy)
    made.coords = (made.coords[0][:-1], made.coords[1])
    with pytest.raises(tacit.InputError, match="row of COO has shape"):
        tacit.KMeans(2).fit(made)
    made = with_arrays("coo", numbers(), np.copy)
    made.coords = (made.coords[0], made.coords[1] + 0.5)
    with pytest.raises(tacit.InputError, match="column indices must be integers"):
        tacit.KMeans(2).fit(made)


def test_what_scipy_cannot_convert():
    block = with_arrays("bsr", numbers(), np.copy)
    block.data = block.data[..., None]
    objects = with_arrays("csr", numbers(), lambda array: array)
    objects.data = objects.data.astype(object)
    diagonals = sparse.dia_array(numbers())
    diagonals.data = diagonals.data[..., None]
    problems = {
        "X: its data must be 3-dimensional, got 4": block,
        "X must hold numbers, got object": objects,
        "X: this dia array cannot be converted": diagonals,
    }
    for problem, made in problems.items():
        for kind in (tacit.KMeans, tacit.BoostedRulesClassifier):
            with pytest.raises(tacit.InputError, match=problem):
                fit(kind, made)
    swapped_diagonals = sparse.dia_array(numbers())
    swapped_diagonals.data = swapped(swapped_diagonals.data)
    expected = state_of(fit(tacit.KMeans, sparse.dia_array(numbers())))
    assert state_of(fit(tacit.KMeans, swapped_diagonals)) == expected
