"""Arrays in: every container, every type, sorted or not, and never changed."""

import copy
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from support.containers import SPARSE
from support.strategies import assert_identical
from tacit import InputError, Table
from tacit.table.matrices import sorted_columns, sparse_numbers

CODES = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 2, 0, 1], [0, 2, 0, 0], [3, 0, 7, 0]])

small_codes = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 12), st.integers(1, 6)),
    elements=st.integers(0, 4),
    fill=st.just(0),
)


def assert_same_table(table, expected):
    assert table.schema == expected.schema
    assert_identical(table.indptr, expected.indptr)
    assert_identical(table.values, expected.values)


def assert_holds(table, codes):
    """The labels of a table, cell by cell, are the numbers of an array."""
    np.testing.assert_array_equal(table.to_frame().to_numpy(), codes)


def arrays_of(matrix):
    """Return the arrays that a sparse container is made of."""
    names = ("data", "indices", "indptr", "rows", "offsets", "coords")
    return {name: copy.deepcopy(getattr(matrix, name)) for name in names if hasattr(matrix, name)}


def assert_unchanged(matrix, before):
    for name, array in before.items():
        now = getattr(matrix, name)
        if name == "coords":
            assert all((a == b).all() for a, b in zip(now, array, strict=True))
        else:
            assert now.dtype == array.dtype
            np.testing.assert_array_equal(now, array)


def sparse_containers(codes):
    """Return awkward but valid sparse containers of the same numbers."""
    return {name: make(codes, None) for name, make in SPARSE.items() if "bools" not in name}


def dense_containers(codes):
    """Return awkward but valid dense containers of the same numbers."""
    spaced = np.zeros((2 * codes.shape[0], 3 * codes.shape[1]), codes.dtype)
    spaced[::2, ::3] = codes
    frozen = codes.copy()
    frozen.flags.writeable = False
    return {
        "C order": np.ascontiguousarray(codes),
        "F order": np.asfortranarray(codes),
        "not contiguous": spaced[::2, ::3],
        "backwards": codes[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": frozen,
        "np.matrix": np.asmatrix(codes),
        "big-endian": codes.astype(">i4"),
    } | {
        np.dtype(dtype).name: codes.astype(dtype)
        for dtype in (*"bhilq", *"BHILQ", "e", "f", "d", "g")
    }


@pytest.mark.parametrize("name", sparse_containers(CODES))
def test_every_sparse_container_makes_the_same_table_and_is_left_alone(name):
    matrix = sparse_containers(CODES)[name]
    before = arrays_of(matrix)
    table = Table(matrix)
    assert_same_table(table, Table(CODES))
    assert_holds(table, CODES)
    assert_unchanged(matrix, before)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("name", dense_containers(CODES))
def test_every_dense_container_makes_the_same_table_and_is_left_alone(name):
    array = dense_containers(CODES)[name]
    before = array.copy()
    writeable = array.flags.writeable
    assert_same_table(Table(array), Table(CODES))
    np.testing.assert_array_equal(array, before)
    assert array.flags.writeable == writeable


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_zeros_and_ones_of_any_type(dtype, wrap):
    codes = (CODES > 0).astype(dtype)
    table = Table(wrap(codes))
    assert_holds(table, CODES > 0)
    assert table.schema["0"].labels is table.schema["3"].labels  # shared, however many columns


@given(codes=small_codes)
@settings(max_examples=60)
def test_dense_and_sparse_make_the_same_table(codes):
    expected = Table(codes)
    assert_holds(expected, codes)
    for form in ("csr", "csc", "coo"):
        assert_same_table(Table(sparse.csr_array(codes).asformat(form)), expected)


@given(codes=small_codes)
@settings(max_examples=30)
def test_a_matrix_counts_like_the_frame_of_the_same_numbers(codes):
    matrix = Table(codes)
    frame = Table({str(c): column for c, column in enumerate(codes.T)})
    for column in matrix.schema.names:
        present = {k: n for k, n in matrix.one_way()[column].items() if n}
        assert present == frame.one_way()[column]


def test_large_codes_keep_their_labels():
    codes = np.array([[2**61, 0], [0, 5], [2**61, 0]])
    table = Table(codes)
    assert list(table.schema["0"].labels) == [0, 2**61]
    assert_holds(table, codes)
    assert_holds(Table(codes[:, 1:].astype(np.float64)), codes[:, 1:])


def test_columns_have_numbers_for_names_unless_given_some():
    assert Table(CODES).schema.names == ("0", "1", "2", "3")
    assert Table(CODES, columns=list("wxyz")).schema.names == ("w", "x", "y", "z")
    assert Table(sparse.csr_array(CODES), columns=tuple("wxyz")).schema.names == tuple("wxyz")


def test_the_default_is_the_most_common_code_also_where_it_is_not_zero():
    table = Table(np.array([[5, 0], [5, 1], [0, 0]]))
    assert [column.default_label for column in table.columns] == [5, 0]
    assert table.n_stored == 2


def test_masked_cells_are_not_taken_for_values():
    masked = np.ma.array([[1, 0], [0, 1]], mask=[[True, False], [False, False]])
    with pytest.raises(InputError, match="mask"):
        Table(masked)


def spoiled(form="csr", **changes):
    """Return a sparse array whose arrays were changed after SciPy had checked them."""
    matrix = sparse.csr_array(CODES).asformat(form).copy()
    for name, change in changes.items():
        array = getattr(matrix, name).copy()
        setattr(matrix, name, change(array))
    return matrix


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def with_cell(dtype, value):
    codes = CODES.astype(dtype)
    codes[3, 2] = value
    return codes


other_cells = {
    "fraction": (float, 1.5),
    "negative": (int, -1),
    "negative float": (float, -2.0),
    "large": (np.uint64, 2**64 - 1),
    "large float": (float, 1e19),
}


@pytest.mark.parametrize(("dtype", "value"), other_cells.values(), ids=other_cells)
@pytest.mark.parametrize(
    "wrap", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]
)
def test_numbers_that_are_no_codes_are_labels(wrap, dtype, value):
    table = Table(wrap(with_cell(dtype, value)))
    column = table.schema["2"]
    label = column.labels[table.codes("2")[3]]
    assert label == value
    assert type(label) is (int if np.dtype(dtype).kind in "iu" else float)
    assert {c.kind for c in table.columns} == {"numeric"}
    for c, name in enumerate(table.schema.names):
        held = [table.schema[name].labels[code] for code in table.codes(name).tolist()]
        assert held == with_cell(dtype, value)[:, c].tolist()


@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray])
def test_nan_in_a_dense_array_is_missing(wrap):
    table = Table(wrap(with_cell(float, np.nan)))
    assert table.schema["2"].labels.missing is not None
    assert table.codes("2")[3] == table.schema["2"].labels.missing
    with pytest.raises(InputError, match="column '2' has a missing value at record 3"):
        Table(wrap(with_cell(float, np.nan)), missing="error")


bad_cells = {
    "inf": (np.asarray, np.inf, "column '2' holds inf at record 3"),
    "minus inf": (np.asfortranarray, -np.inf, "column '2' holds -inf at record 3"),
    "sparse inf": (sparse.csr_array, np.inf, "data contains NaN or inf: inf at row 3, column 2"),
    "sparse nan": (sparse.csc_array, np.nan, "data contains NaN or inf: nan at row 3, column 2"),
}


@pytest.mark.parametrize(("wrap", "value", "message"), bad_cells.values(), ids=bad_cells)
def test_cells_that_are_no_numbers_are_named_by_row_and_column(wrap, value, message):
    with pytest.raises(InputError, match=message):
        Table(wrap(with_cell(float, value)))


def coo(row, col):
    """Return a coo array with places that SciPy would not accept."""
    matrix = sparse.coo_array(([1, 1], ([0, 1], [0, 1])), shape=(5, 4))
    matrix.coords = (np.array(row), np.array(col))
    return matrix


def twice(form):
    """Return a compressed array that has row 1, column 2 twice."""
    major = {"csr": 1, "csc": 2}[form]
    minor = {"csr": 2, "csc": 1}[form]
    n_major = {"csr": 5, "csc": 4}[form]
    indptr = np.where(np.arange(n_major + 1) > major, 2, 0)
    cls = {"csr": sparse.csr_array, "csc": sparse.csc_array}[form]
    return cls((np.ones(2, int), np.array([minor, minor]), indptr), shape=(5, 4))


bad_structures = {
    "column beyond": (lambda: spoiled(indices=put(0, 4)), r"row 0 .* index 4, .* not in \[0, 4\)"),
    "column negative": (lambda: spoiled(indices=put(2, -1)), "row 2 has the column index -1"),
    "row beyond in csc": (lambda: spoiled("csc", indices=put(0, 5)), "row (index )?5"),
    "column beyond a duplicate": (
        lambda: spoiled(indices=lambda a: np.r_[a[0], a[0], a[2:-1], 9]),
        r"row 4 has the column index 9, which is not in \[0, 4\)",
    ),
    "row beyond a duplicate in csc": (
        lambda: spoiled("csc", indices=lambda a: np.r_[a[0], a[0], a[2:-1], 9]),
        r"column 3 has the row index 9, which is not in \[0, 5\)",
    ),
    "row beyond in coo": (lambda: coo([0, 5], [0, 0]), r"row index 5 is not in \[0, 5\)"),
    "column beyond in coo": (lambda: coo([0, 1], [0, 4]), r"column index 4 is not in \[0, 4\)"),
    "column negative in coo": (lambda: coo([0, 1], [0, -1]), "column index -1 is not in"),
    "indptr start": (lambda: spoiled(indptr=put(0, 1)), "indptr must start with 0, got 1"),
    "indptr decreasing": (lambda: spoiled(indptr=put(1, 6)), "indptr must not decrease"),
    "indptr beyond": (lambda: spoiled(indptr=put(-1, 99)), "indptr must not .* pass the end"),
    "indptr end": (
        lambda: spoiled(indptr=put(-1, 7)),
        "indptr must end with the number of indices",
    ),
    "indptr short": (lambda: spoiled(indptr=lambda a: np.delete(a, 1)), "indptr has 5 entries"),
    "too few values": (lambda: spoiled(data=lambda a: a[:-1]), "8 indices but only 7 values"),
    "too many values": (lambda: spoiled(data=lambda a: np.append(a, 1)), "8 indices but"),
    "too many zeros": (lambda: spoiled(data=lambda a: np.append(a, 0)), "8 indices but"),
    "two-dimensional indices": (lambda: spoiled(indices=lambda a: a[None]), "one dimension"),
    "bsr column beyond": (lambda: spoiled("bsr", indices=put(0, 99)), r"not in \[0, 4\)"),
}


@pytest.mark.parametrize(("make", "message"), bad_structures.values(), ids=bad_structures)
def test_broken_sparse_arrays_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        Table(make())


BROKEN_BLOCKS = """
import numpy as np, scipy.sparse, tacit
matrix = scipy.sparse.bsr_array(np.eye(4, dtype=int), blocksize=(2, 2))
matrix.indptr = np.array([0, 1, 2**24], matrix.indptr.dtype)
try:
    tacit.Table(matrix)
except tacit.InputError as error:
    print(error)
"""


def test_broken_blocks_are_refused_and_not_followed():
    # In a process of its own: following them ends it.
    done = subprocess.run(
        [sys.executable, "-c", BROKEN_BLOCKS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "indptr" in done.stdout


bad_arrays = {
    "one dimension": (np.arange(3), {}, "data must have two dimensions, got 1"),
    "three dimensions": (np.zeros((2, 2, 2), int), {}, "data must have two dimensions, got 3"),
    "sparse of one dimension": (sparse.coo_array([1, 0, 1]), {}, "two dimensions, got 1"),
    "bytes": (np.array([[b"a", b"b"]]), {}, r"data must hold numbers, text or dates, got \|S1"),
    "mixed objects": (np.array([[1, "b"], [2, 1]], object), {}, "column '1' cannot be read"),
    "objects of no type": (
        np.array([[object()]]),
        {},
        "has the type Object, which is not discrete",
    ),
    "complex": (
        np.eye(2, dtype=complex),
        {},
        "data must hold numbers, text or dates, got complex128",
    ),
    "sparse complex": (
        sparse.csr_array(np.eye(2, dtype=complex)),
        {},
        "data must hold numbers, got complex128",
    ),
    "too few names": (CODES, {"columns": ["a"]}, "columns must be 4 names, one for each column"),
    "one string": (CODES, {"columns": "wxyz"}, "columns must be 4 names"),
    "numbers for names": (
        CODES,
        {"columns": [1, 2, 3, 4]},
        "columns must be names, that is strings",
    ),
    "names twice": (CODES, {"columns": list("abca")}, "must be distinct, but 'a' occurs twice"),
    "discretise": (CODES, {"discretise": {"9": 2}}, "discretise: there is no column '9'"),
    "mdl": (CODES, {"discretise": "mdl"}, "discretise='mdl' needs target"),
    "target": (CODES, {"discretise": "mdl", "target": "9"}, "target: there is no column '9'"),
    "unknown default": (CODES, {"defaults": {"0": 9}}, "column '0' has no label 9; its labels"),
    "unknown default of all": (CODES, {"defaults": 3}, "defaults: column '1' has no label 3"),
    "codes beyond": (np.full((2, 3), 2**62), {}, "the code 4611686018427387904 is too large for 3"),
}


@pytest.mark.parametrize(("data", "options", "message"), bad_arrays.values(), ids=bad_arrays)
def test_arrays_that_make_no_table_are_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        Table(data, **options)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_duplicates_are_added_up_as_scipy_does(form, dtype):
    matrix = coo([1, 1], [2, 2]) if form == "coo" else twice(form)
    matrix.data = matrix.data.astype(dtype)
    before = arrays_of(matrix)
    dense = matrix.toarray()
    assert dense[1, 2] == (True if dtype is bool else 2)
    assert_same_table(Table(matrix), Table(dense))
    assert_unchanged(matrix, before)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_stale_flags_of_a_sparse_array_are_not_believed(dtype):
    matrix = sparse.csr_array(CODES)
    matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    assert matrix.has_sorted_indices  # SciPy remembers this
    matrix.indices[:2] = matrix.indices[:2][::-1].copy()
    matrix.data[:2] = matrix.data[:2][::-1].copy()
    assert_same_table(Table(matrix), Table(CODES))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_indices_come_back_in_32_bits_where_they_fit(form):
    wide = sparse.csr_array(CODES)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    wide = wide.asformat(form)
    before = arrays_of(wide)
    columns = sorted_columns(wide)
    assert columns.indices.dtype == np.int32
    np.testing.assert_array_equal(columns.toarray(), CODES)
    _, indices, _ = sparse_numbers(wide)
    assert indices.dtype == np.int32
    assert_unchanged(wide, before)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("named", [False, True])
def test_rows_of_ones_take_a_short_way_to_the_same_table(dtype, named):
    ones = np.random.default_rng(0).random((50, 9)) < np.linspace(0.05, 0.95, 9)
    rows = sparse.csr_array(ones.astype(dtype))
    labels = {"1": dtype is bool or 1} if named else None
    table = Table(rows, defaults=labels)
    assert_same_table(table, Table(rows.tocsc(), defaults=labels))  # which is sorted first
    assert table.schema.defaults.any()
    wide = sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr), rows.shape)
    assert_same_table(Table(wide, defaults=labels), table)
    # What was counted on the way is what the records hold.
    for fast, counted in zip(table.postings, table.fresh().postings, strict=True):
        assert_identical(fast, counted)
