"""Multi-label sets: ARFF files, dense and sparse, with labels named in XML."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import tacit
from tacit import FileError, InputError, read_multilabel

HEADER = """@relation 'some songs'
@attribute loud numeric
@attribute key {minor, major}
@attribute calm {0,1}
@attribute beats {3,4,6}
@attribute 'very sad' {0,1}
@data
"""
DENSE = f"""{HEADER}0.5,minor,1,4,0
-2,major,0,3,0
?,major,0,6,1
"""
SPARSE = f"""{HEADER}{{0 0.5,2 1,3 4}}
{{0 -2,1 major}}
{{0 ?,1 major,3 6,4 1}}
"""
LABELS = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="very sad"><label name="calm"></label></label>
</labels>
"""


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "songs.xml"
    path.write_text(LABELS, encoding="utf-8")
    return path


def written(folder, text):
    path = folder / "songs.arff"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dense_file_gives_a_frame(tmp_path, labels):
    data = read_multilabel(written(tmp_path, DENSE), labels)
    assert data.labels == ["very sad", "calm"]
    assert data.columns == ["loud", "key", "beats"] == data.X.columns
    assert data.Y.schema == {"very sad": pl.UInt8, "calm": pl.UInt8}
    assert data.Y.rows() == [(0, 1), (0, 0), (1, 0)]
    assert data.X["loud"].to_list() == [0.5, -2.0, None]
    assert data.X["key"].to_list() == ["minor", "major", "major"]
    assert data.X["beats"].to_list() == [4.0, 3.0, 6.0]


def test_a_sparse_file_gives_a_table_of_the_same(tmp_path, labels):
    data = read_multilabel(written(tmp_path, SPARSE), labels)
    dense = read_multilabel(written(tmp_path, DENSE), labels)
    assert isinstance(data.X, tacit.Table)
    assert data.columns == ["loud", "key", "beats"] == dense.columns
    assert data.Y.equals(dense.Y)
    # What is left out is zero, and the first of the labels that an attribute declares.
    found = data.X.to_frame("polars")
    assert found.cast(dense.X.schema).equals(dense.X)


def test_without_names(tmp_path, labels):
    numbers = SPARSE.replace("{minor, major}", "{-1, 0, 2}").replace("major", "2")
    X, Y = read_multilabel(written(tmp_path, numbers), labels).to_arrays()
    expected = np.array([[0.5, -1, 4], [-2, 2, 3], [np.nan, 2, 6]])
    np.testing.assert_array_equal(X.toarray(), expected)
    assert isinstance(X, sparse.csc_array)
    assert X.has_sorted_indices
    assert Y.tolist() == [[0, 1], [0, 0], [1, 0]]
    dense = DENSE.replace("{minor, major}", "{-1, 0, 2}").replace("major", "2")
    X, Y = read_multilabel(written(tmp_path, dense.replace("minor", "-1")), labels).to_arrays()
    np.testing.assert_array_equal(X, expected)
    assert Y.dtype == np.uint8
    for text in (SPARSE, DENSE):
        with pytest.raises(InputError, match="X: column 'key' is text"):
            read_multilabel(written(tmp_path, text), labels).to_arrays()


def test_labels_may_be_named_at_once_and_files_compressed(tmp_path):
    import gzip

    path = tmp_path / "songs.arff.gz"
    path.write_bytes(gzip.compress(DENSE.encode()))
    data = read_multilabel(path, ["calm", "very sad"])
    assert data.labels == ["calm", "very sad"]
    assert data.Y.rows() == [(1, 0), (0, 0), (0, 1)]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["calm", "gay"], "has no attribute 'gay', which is named as a label"),
        (["loud"], r"label 'loud' is 0.5 at record 0, not 0 or 1"),
        (["key"], r"label 'key' is nan at record 0, not 0 or 1"),
        (["beats"], r"label 'beats' is 4 at record 0, not 0 or 1"),
        (["loud", "key", "calm", "beats", "very sad"], "holds nothing but labels"),
    ],
)
def test_labels_that_cannot_be(tmp_path, names, message):
    with pytest.raises(FileError, match=message):
        read_multilabel(written(tmp_path, DENSE), names)


@pytest.mark.parametrize("names", [[], [""], [3], ["calm", "calm"]])
def test_names_that_cannot_be(tmp_path, names):
    with pytest.raises(InputError, match="label"):
        read_multilabel(written(tmp_path, DENSE), names)


def test_a_label_that_is_left_out_is_the_first_declared(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute b {1,0}\n@data\n{0 1}\n{1 0}\n"
    assert read_multilabel(written(tmp_path, text), ["b"]).Y.rows() == [(1,), (0,)]


@pytest.mark.parametrize("kind", ["{x,y,z}", "string"])
def test_texts_of_sparse_files(tmp_path, kind):
    text = f"@relation r\n@attribute a {kind}\n@attribute b {{0,1}}\n@data\n{{0 z}}\n{{0 y,1 1}}\n"
    X = read_multilabel(written(tmp_path, text), ["b"]).X
    assert X.to_frame("polars")["a"].cast(pl.String).to_list() == ["z", "y"]


@pytest.mark.parametrize("given", ["{0 ?}", "{0 2}"])
def test_labels_of_sparse_files_that_cannot_be(tmp_path, given):
    text = f"@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{{1 3}}\n{given}\n"
    with pytest.raises(FileError, match=r"label 'a' is (nan|2) at record 1, not 0 or 1"):
        read_multilabel(written(tmp_path, text), ["a"])


def test_bad_xml(tmp_path):
    path = tmp_path / "labels.xml"
    path.write_text("<labels><label name='a'>", encoding="utf-8")
    with pytest.raises(FileError, match="is not XML"):
        read_multilabel(written(tmp_path, DENSE), path)
    path.write_text("<labels></labels>", encoding="utf-8")
    with pytest.raises(InputError, match="no names of labels"):
        read_multilabel(written(tmp_path, DENSE), path)


def test_names_that_arff_escapes(tmp_path):
    """A name with a backslash outside of quotes is what XML files have as it stands."""
    text = "@relation r\n@attribute x numeric\n@attribute se\\~na {0,1}\n@data\n1.5,1\n2.5,0\n"
    path = written(tmp_path, text)
    data = read_multilabel(path, ["se\\~na"])
    assert data.Y.rows() == [(1,), (0,)]
    assert data.labels == ["se\\~na"]
    with pytest.raises(FileError, match="no attribute"):
        read_multilabel(path, ["sena"])


@pytest.mark.parametrize(
    ("name", "shape", "n_labels", "n_held"),
    [("emotions", (391, 72), 6, 709), ("medical", (333, 1449), 45, 418)],
)
def test_real_sets(shared_data, name, shape, n_labels, n_held):
    folder = shared_data / "multilabel" / name
    data = read_multilabel(folder / f"{name}-train.arff.xz", folder / f"{name}.xml.xz")
    assert data.X.shape == shape
    assert data.Y.shape == (shape[0], n_labels)
    X, Y = data.to_arrays()
    assert Y.sum() == n_held
    if isinstance(data.X, pl.DataFrame):
        assert all(kind.is_numeric() for kind in data.X.dtypes)
    else:
        table = tacit.read_arff(folder / f"{name}-train.arff.xz").select(data.columns)
        assert np.array_equal(X.toarray(), table.to_numpy())  # codes of 0 and 1
