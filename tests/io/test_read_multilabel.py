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
    assert data.Y.dtype == np.uint8
    assert data.Y.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert data.X["loud"].to_list() == [0.5, -2.0, None]
    assert data.X["key"].to_list() == ["minor", "major", "major"]
    assert data.X["beats"].to_list() == [4.0, 3.0, 6.0]


def test_a_sparse_file_gives_a_sparse_array(tmp_path, labels):
    data = read_multilabel(written(tmp_path, SPARSE), labels)
    assert isinstance(data.X, sparse.csc_array)
    assert data.Y.tolist() == [[0, 1], [0, 0], [1, 0]]
    # What is left out is zero, and the first of the labels that an attribute declares.
    expected = np.array([[0.5, 0, 4], [-2, 1, 3], [np.nan, 1, 6]])
    np.testing.assert_array_equal(data.X.toarray(), expected)
    assert data.X.has_sorted_indices


def test_labels_may_be_named_at_once_and_files_compressed(tmp_path):
    import gzip

    path = tmp_path / "songs.arff.gz"
    path.write_bytes(gzip.compress(DENSE.encode()))
    data = read_multilabel(path, ["calm", "very sad"])
    assert data.labels == ["calm", "very sad"]
    assert data.Y.tolist() == [[1, 0], [0, 0], [0, 1]]


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
    assert read_multilabel(written(tmp_path, text), ["b"]).Y.tolist() == [[1], [0]]


def test_what_sparse_numbers_cannot_hold(tmp_path):
    text = "@relation r\n@attribute a {x,y,z}\n@attribute b {0,1}\n@data\n{0 y}\n"
    with pytest.raises(FileError, match="'a' has 3 labels that are not numbers"):
        read_multilabel(written(tmp_path, text), ["b"])
    text = text.replace("{x,y,z}", "string")
    with pytest.raises(FileError, match="'a' is text"):
        read_multilabel(written(tmp_path, text), ["b"])


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
    assert data.Y.tolist() == [[1], [0]]
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
    assert data.Y.sum() == n_held
    if isinstance(data.X, pl.DataFrame):
        assert all(kind.is_numeric() for kind in data.X.dtypes)
    else:
        table = tacit.read_arff(folder / f"{name}-train.arff.xz").select(data.columns)
        assert np.array_equal(data.X.toarray(), table.to_numpy())  # codes of 0 and 1
