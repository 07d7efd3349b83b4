"""ARFF files, dense and sparse, against frames and against each other."""

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.comparing import assert_same
from tacit import FileError, InputError, Table, read, read_arff
from tacit.io.arff import read as arff


@pytest.fixture(params=[1, 1 << 22])
def path(tmp_path, request, monkeypatch):
    monkeypatch.setattr(arff, "_BLOCK", request.param)
    return tmp_path / "some.arff"


DENSE = r"""% a comment
@RELATION 'some weather'

@Attribute sky   {blue, 'light grey', "it's", never, ?}
@ATTRIBUTE 'wind force' NUMERIC  % in Beaufort
@attribute "a \"name\"" integer
@attribute day date "yyyy-MM-dd"
@attribute note string
@attribute heat real
@DATA
% another
blue, 3, -1, 2020-01-01, plain, 0.5
'light grey',1,2,?,"quoted, with comma",1.5

"it's" ,	4, 2, 2020-01-01 , 'it\'s', ? % so
?, 4,?, 2020-01-02, '?', 2.5e0
"""
FRAME = pl.DataFrame(
    {
        "sky": pl.Series(
            ["blue", "light grey", "it's", None],
            dtype=pl.Enum(["blue", "light grey", "it's", "never", "?"]),
        ),
        "wind force": [3, 1, 4, 4],
        'a "name"': [-1, 2, 2, None],
        "day": ["2020-01-01", None, "2020-01-01", "2020-01-02"],
        "note": ["plain", "quoted, with comma", "it's", "?"],
        "heat": [0.5, 1.5, None, 2.5],
    }
)


@pytest.mark.parametrize("missing", ["state", "default"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_dense_file_reads_like_its_frame(path, missing, end):
    path.write_bytes(DENSE.replace("\n", end).encode())
    options = {"missing": missing, "discretise": [1.0], "defaults": {"note": "plain"}}
    assert_same(read_arff(path, **options), Table(FRAME, **options))
    assert_same(read(path, **options), Table(FRAME, **options))


def test_declared_labels_keep_their_order_and_stay(path):
    path.write_text("@relation r\n@attribute x{b,c,a}\n@attribute y {0,1}\n@data\nb,0\na,0\na,0\n")
    table = read_arff(path)
    assert table.one_way()["x"] == {"b": 1, "c": 0, "a": 2}
    assert table.one_way()["y"] == {"0": 3, "1": 0}


def test_numbers_with_a_point_make_the_whole_column_real(path):
    path.write_text("@relation r\n@attribute x numeric\n@attribute y real\n@data\n1,1\n2,2.0\n")
    table = read_arff(path)
    assert [labels.dtype for labels in table.schema.labels] == ["Int64", "Float64"]


def test_real_numbers_are_labels_unless_cut(path):
    path.write_text(DENSE)
    assert_same(
        read_arff(path, defaults={"note": "plain"}), Table(FRAME, defaults={"note": "plain"})
    )
    assert read_arff(path).schema["heat"].kind == "numeric"
    with pytest.raises(
        InputError, match=r"some.arff: column 'sky' has a missing value at record 3"
    ):
        read_arff(path, missing="error", discretise=2)


SPARSE = """@relation r
@attribute a {0,1}
@attribute b {no,'not so',yes}
@attribute c numeric
@attribute d integer
@attribute e real
@attribute f {0,1}
@data
{0 1, 2 5, 4 0.5}
{}
  { 5 1 ,1 'not so',3 -2}
{2 ?,	1 yes}
{2 5,3\t-2,5 ?, 0 1}
{1 no,2 0,4 2.5}
"""
SPARSE_FRAME = pl.DataFrame(
    {
        "a": pl.Series(["1", "0", "0", "0", "1", "0"], dtype=pl.Enum(["0", "1"])),
        "b": pl.Series(
            ["no", "no", "not so", "yes", "no", "no"], dtype=pl.Enum(["no", "not so", "yes"])
        ),
        "c": [5, 0, 0, None, 5, 0],
        "d": [0, 0, -2, 0, -2, 0],
        "e": [0.5, 0, 0, 0, 0, 2.5],
        "f": pl.Series(["0", "0", "1", "0", None, "0"], dtype=pl.Enum(["0", "1"])),
    }
)


@pytest.mark.parametrize("missing", ["state", "default"])
@pytest.mark.parametrize(
    "discretise",
    ["width", 2, [-1.0, 0.25, 1.0], "mdl", {"e": [0.25], "c": "mdl", "d": [0.0]}, {"e": [-7.0]}],
)
@pytest.mark.parametrize("defaults", [None, {"a": "1", "b": "yes"}])
def test_a_sparse_file_reads_like_its_frame(path, missing, discretise, defaults):
    path.write_text(SPARSE)
    options = {
        "missing": missing, "discretise": discretise, "target": "a", "defaults": defaults
    }  # fmt: skip
    assert_same(read_arff(path, **options), Table(SPARSE_FRAME, **options))


labels = st.sampled_from(["lo", "mid", "hi"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    st.lists(st.tuples(labels, st.integers(-2, 2), labels | st.just("?")), min_size=1, max_size=9),
    st.sampled_from(["state", "default"]),
    st.randoms(use_true_random=False),
)
def test_sparse_equals_dense(tmp_path, rows, missing, random):
    rows.append(("lo", 0, "lo"))  # so that zero occurs in both
    header = (
        "@relation r\n@attribute x {lo,mid,hi}\n@attribute y numeric\n@attribute z {lo,mid,hi}\n"
    )
    (tmp_path / "dense.arff").write_text(
        header + "@data\n" + "".join(f"{x},{y},{z}\n" for x, y, z in rows)
    )
    lines = []
    for row in rows:
        entries = [f"{k} {value}" for k, value in enumerate(row) if value not in ("lo", 0)]
        random.shuffle(entries)
        lines.append("{" + ", ".join(entries) + "}\n")
    (tmp_path / "sparse.arff").write_text(header + "@data\n" + "".join(lines))
    dense = read_arff(tmp_path / "dense.arff", missing=missing)
    assert_same(read_arff(tmp_path / "sparse.arff", missing=missing), dense)


def test_a_wide_sparse_file_is_never_dense(tmp_path):
    n, m = 30_000, 30_000  # a dense view would take a gigabyte and more
    header = "@relation r\n" + "".join(f"@attribute c{c} {{0,1}}\n" for c in range(n))
    lines = "".join(f"{{{k * 7919 % n} 1}}\n" for k in range(m))
    (tmp_path / "x.arff").write_text(header + "@data\n" + lines)
    table = read_arff(tmp_path / "x.arff")
    assert table.shape == (m, n)
    assert table.n_stored == m
    assert len({id(labels) for labels in table.schema.labels}) == 1


def test_text_in_a_sparse_file_must_be_given(path):
    header = "@relation r\n@attribute a string\n@attribute b {0,1}\n@data\n"
    path.write_text(header + "{0 'x y', 1 1}\n{0 b}\n{0 ?}\n{0 'x y'}\n")
    expected = {
        "a": ["x y", "b", None, "x y"],
        "b": pl.Series(["1", "0", "0", "0"], dtype=pl.Enum(["0", "1"])),
    }
    assert_same(read_arff(path), Table(expected))
    path.write_text(header + "{0 x}\n{1 1}\n")
    with pytest.raises(FileError, match=r"leaves out values of the text attribute 'a'"):
        read_arff(path)


HEADER = "@relation r\n@attribute a {x,y}\n@attribute b numeric\n@attribute c integer\n"
DATA = HEADER + "@data\n"
BAD = {
    "no data line": ("@relation r\n@attribute a {x}\n", "has no @data line"),
    "not ARFF": ("hello\n", "line 1 is none of an ARFF header: 'hello'"),
    "binary": ("\x89PNG\n\x1a\n", "line 1 is none of an ARFF header"),
    "no attributes": ("@relation r\n@data\n1\n", "declares no attributes"),
    "no records": (DATA + "% nothing\n", "holds no records"),
    "twice": ("@attribute a real\n@attribute a real\n@data\n1,2\n", "line 2 declares 'a' again"),
    "unknown type": ("@attribute a relational\n", "line 1: .* the type 'relational'"),
    "no type": ("@attribute a\n", "line 1: attribute 'a' has the type ''"),
    "no name": ("@attribute\n", "line 1: an attribute needs a name and a type"),
    "open braces": ("@attribute a {x,y\n", "line 1: the labels of attribute 'a' are not closed"),
    "no labels": ("@attribute a {}\n", "line 1: attribute 'a' declares no labels"),
    "label twice": ("@attribute a {x,y,x}\n", "line 1: .* the label 'x' twice"),
    "undeclared": (DATA + "x,1,1\n\nz,1,1\n", "line 8: 'z' is not a declared label of .*'a'"),
    "no number": (DATA + "x,1,1\ny,one,1\n", "line 7: 'one' is not a number of attribute 'b'"),
    "not whole": (DATA + "x,1,1.5\n", "line 6: '1.5' is not a whole number of attribute 'c'"),
    "few values": (DATA + "x,1,1\nx,1\n", "line 7 has 2 values where 3 are declared"),
    "many values": (DATA + "x,1,1,\n", "line 6 has 4 values where 3 are declared"),
    "many quoted": (DATA + "'x',1,1,1\n", "line 6 has 4 values where 3 are declared"),
    "open quote": (DATA + "'x,1,1\n", "line 6: cannot read \"'x,1,1\""),
    "sparse in dense": (DATA + "x,1,1\n{0 y}\n", "line 7 is sparse in a dense file"),
    "dense in sparse": (DATA + "{0 y}\nx,1,1\n", "line 7 does not begin and end"),
    "open row": (DATA + "{0 y\n", "line 6 does not begin and end with a brace"),
    "index beyond": (DATA + "{}\n{3 1}\n", "line 7 has the index 3, but there are 3 attr"),
    "index twice": (DATA + "{0 y,1 1,0 x}\n", "line 6 gives 'a' twice"),
    "no index": (DATA + "{y}\n", "line 6: 'y ' is not an index and a value"),
    "no value": (DATA + "{1}\n", "line 6: '1 ' is not an index and a value"),
    "empty entry": (DATA + "{0 y,,1 1}\n", "line 6: ' ' is not an index and a value"),
    "quoted entry": (DATA + "{'0' y}\n", "line 6: \"'0' y\" is not an index and a value"),
    "sparse undeclared": (DATA + "{0 z}\n", "line 6: 'z' is not a declared label of .*'a'"),
    "sparse no number": (DATA + "{}\n{1 z}\n", "line 7: 'z' is not a number of .*'b'"),
    "sparse not whole": (DATA + "{2 0.5}\n", "line 6: '0.5' is not a whole number of .*'c'"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad_files(path, content, message):
    path.write_text(content)
    with pytest.raises(FileError, match=f"some.arff: {message}"):
        read_arff(path)


def test_bytes_that_are_no_text(path):
    path.write_bytes(HEADER.encode() + b"@data\n\xff,1,1\n")
    with pytest.raises(FileError, match=r"some.arff: is not UTF-8 text"):
        read_arff(path)


def test_arguments_are_checked(path):
    path.write_text(SPARSE)
    for options, message in [
        ({"missing": "drop"}, "missing must be"),
        ({"discretise": 2, "missing": "error"}, "column 'c' has a missing value at record 3"),
        ({"discretise": "mdl"}, "needs target"),
        ({"discretise": 2, "target": "z"}, "target: there is no column 'z'"),
        ({"discretise": {"z": 2}}, "discretise: there is no column 'z'"),
        ({"discretise": {"a": 2}}, "discretise: column 'a' holds Enum, not numbers"),
        ({"discretise": 2, "defaults": {"a": "7"}}, "column 'a' has no label '7'"),
    ]:
        with pytest.raises(InputError, match=message):
            read_arff(path, **options)
    path.write_text(SPARSE + "{2 1e300}\n")
    with pytest.raises(InputError, match=r"column 'c' holds 1e\+300 at record 6"):
        read_arff(path, discretise=2)
