"""svmlight files, and UCI's web logs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from support.comparing import assert_same
from tacit import FileError, InputError, Table, read, read_msweb, read_svmlight


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.svm"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(st.tuples(st.integers(-2, 2), st.lists(st.integers(0, 3), min_size=4, max_size=4)),
             min_size=1, max_size=8),
    st.booleans(),
    st.sampled_from([None, {"target": 1, "0": 0}]),
)  # fmt: skip
def test_a_file_reads_like_its_matrix(tmp_path, records, zero_based, defaults):
    records.append((1, [1, 1, 1, 1]))
    lines = [
        f"{y} " + " ".join(f"{c + (not zero_based)}:{v}" for c, v in enumerate(row) if v)
        for y, row in records
    ]
    (tmp_path / "x.svm").write_text("# made by hand\n" + "\n".join(lines) + "\n")
    table = read_svmlight(tmp_path / "x.svm", defaults=defaults)
    X = Table(sparse.csr_array(np.array([row for _, row in records])))
    expected = X.to_frame().with_columns(target=np.array([y for y, _ in records]))
    assert table.to_frame().equals(expected)
    assert table.schema.names == ("0", "1", "2", "3", "target")
    common = table.one_way()
    for column in table.columns:
        if defaults and column.name in defaults:
            assert column.default_label == defaults[column.name]
        else:
            assert common[column.name][column.default_label] == max(common[column.name].values())


def test_labels_can_be_many(path):
    path.write_text("3,1 1:1\n 2:2\n1 1:1\n")
    table = read_svmlight(path, multilabel=True, target="y")
    data = np.array([[1, 0, 1, 1], [0, 2, 0, 0], [1, 0, 1, 0]])
    assert_same(table, Table(sparse.csr_array(data), columns=["0", "1", "y=1", "y=3"]))


def test_real_and_negative_values_are_labels_or_taken_for_presence(path):
    path.write_text("1 1:1\n1 2:0.25 3:0 4:-2\n")
    table = read_svmlight(path, target="y")
    assert table.to_frame().rows() == [(1.0, 0.0, 0.0, 0.0, 1), (0.0, 0.25, 0.0, -2.0, 1)]
    assert {column.kind for column in table.schema if column.name != "y"} == {"numeric"}
    path.write_text("1 1:1\n1 2:0.25 3:0\n")
    table = read_svmlight(path, discretise="presence", target="y", n_features=4)
    assert_same(table, read(path, discretise="presence", target="y", n_features=4))
    assert table.to_frame().rows() == [(1, 0, 0, 0, 1), (0, 1, 0, 0, 1)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("# nothing\n", "holds no records"),
        ("1 1:1\n1 3:1 2:1\n", "line 2: feature 2 comes twice, late or below zero"),
        ("1 1:1 1:1\n", "line 1: feature 1 comes twice, late or below zero"),
        ("1 -1:1\n", "line 1: feature -1 comes twice, late or below zero"),
        ("1 1:1\nx 1:1\n", "line 2: could not convert"),
        ("1 1:1\n\n1 1:x\n", "line 3: could not convert"),
        ("1 1\n", "line 1: could not convert"),
        ("1 a:1\n", "line 1: invalid literal"),
        ("1 99999999999999999999:1\n", "is not an svmlight file"),
        ("\x89PNG\r\n\x1a\n\x00\x00", "line 1: could not convert"),
    ],
)
def test_bad_files(path, content, message):
    path.write_text(content)
    with pytest.raises(FileError, match=f"some.svm: {message}"):
        read_svmlight(path)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("1 1:1\n", {"discretise": 3}, "discretise must be 'presence'"),
        ("1.5 1:1\n", {}, "record 0 has the label 1.5"),
        ("1 1:nan\n", {"discretise": "presence"}, "contains NaN or inf: nan at row 0, column 0"),
        ("1 1:1\n", {"target": "0"}, "target: '0' is the name of a feature"),
        ("1 1:1\n", {"defaults": {"z": 1}}, "defaults: there is no column 'z'"),
        ("1 5:1\n", {"n_features": 2}, "n_features was set to 2"),
        ("1 2000000000:1\n", {}, "a Table of 2,000,000,000 columns would take"),
    ],
)
def test_arguments_are_checked(path, content, options, message):
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_svmlight(path, **options)


MSWEB = """I,4,"www.example.com","created by hand"
T,1,"VRoot",0,0,"VRoot"
N,0,"0"
A,1287,1,"Maps, large","/maps"
A,1004,1,"Search","/search"
A,1100,1,"Search","/find"
A,1200,1,"Never","/never"
C,"10001",10001
V,1004,1
V,1287,1
V,1004,1
C,"10002",10002
C,"10003",10003
V,1100,1
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_web_logs(tmp_path, end):
    path = tmp_path / "log.data"
    path.write_bytes(MSWEB.replace("\n", end).encode())
    table = read_msweb(path)
    names = ["Maps, large", "Search (1004)", "Search (1100)", "Never"]
    assert list(table.schema.names) == names
    assert table.to_numpy().tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert table.schema["Never"].labels.items == (False, True)
    assert_same(read(path, format="msweb"), table)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ('A,1,1,"a","/a"\nV,1,1\n', "line 2 is a vote before any case"),
        ('A,1,1,"a","/a"\nC,"1",1\nV,2,1\n', "line 3 votes for an unknown attribute"),
        ('A,1,1,"a","/a"\nC,"1",1\nV\n', "line 3 votes for an unknown attribute"),
        ('A,1,1,"a","/a"\nA,1,1,"b","/b"\n', "line 2 declares 1 again"),
        ("A,1\n", "line 1 declares an attribute in part"),
        ('A,1,1,"a","/a"\n', "holds no cases"),
        ('C,"1",1\n', "declares no attributes"),
        ("x,y\n1,2\n", "line 1 is of an unknown kind: 'x'"),
        ('A,1,1,"a\n', "line 1: unexpected end of data"),
    ],
)
def test_bad_web_logs(tmp_path, content, message):
    (tmp_path / "log.data").write_text(content)
    with pytest.raises(FileError, match=f"log.data: {message}"):
        read_msweb(tmp_path / "log.data")


def test_web_logs_that_are_no_text(tmp_path):
    (tmp_path / "log.data").write_bytes(b'A,1,1,"\xff","/a"\n')
    with pytest.raises(FileError, match=r"log.data: after line 0: not UTF-8 text"):
        read_msweb(tmp_path / "log.data")
