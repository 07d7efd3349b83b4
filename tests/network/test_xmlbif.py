"""XMLBIF: what is written is read again to the bit; what is wrong has a line."""

import re

import numpy as np
import pytest
from hypothesis import given

from support.nets import error_of_changed, nets, sprinkler
from tacit import BayesNet, FileError, InputError

RAIN = """<?xml version="1.0"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
]>
<BIF VERSION="0.3">
<NETWORK><NAME>rain</NAME>
<VARIABLE TYPE="nature"><NAME>rain</NAME>
  <OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>
  <PROPERTY>position = (1, 2)</PROPERTY>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>grass &amp; moss</NAME>
  <OUTCOME>dry</OUTCOME><OUTCOME>wet</OUTCOME><OUTCOME>so so</OUTCOME>
</VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.75 0.25</TABLE></DEFINITION>
<DEFINITION>
  <FOR>grass &amp; moss</FOR><GIVEN>rain</GIVEN>
  <TABLE><!-- dry wet so so -->
    0.5 0.25 0.25
    0.125 0.125 0.75
  </TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "net.xml"
        path.write_text(text, "utf-8")
        return BayesNet.read_xmlbif(path)

    return read_text


def test_forms(read):
    net = read(RAIN)
    assert net.column_names_ == ("rain", "grass & moss")
    assert list(net.schema_.labels[1]) == ["dry", "wet", "so so"]
    assert net.table(1).tolist() == [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]


@given(nets())
def test_round_trip_to_the_bit(tmp_path_factory, net):
    path = tmp_path_factory.mktemp("xml") / "net.xml.gz"
    net.save_xmlbif(path)
    assert BayesNet.read_xmlbif(path) == net


def test_round_trip_of_names_and_labels_of_all_kinds(tmp_path):
    columns = {
        "hours & more": ["< 40", ">= 40", None],
        "Größe": [False, True],
        "n": [1, -2],
        "s": [" a", "a", "a\tb", ""],
    }
    tables = {name: np.full(len(labels), 1 / len(labels)) for name, labels in columns.items()}
    net = BayesNet.from_tables(columns, {}, tables)
    net.save_xmlbif(tmp_path / "net.xml")
    assert BayesNet.read_xmlbif(tmp_path / "net.xml") == net


def test_blanks_of_names_are_kept(tmp_path):
    names = ["a ", " a", "a", "a_", "\ta", " ", "labels", "b\tc"]
    columns = {name: ["x", "y"] for name in names}
    parents = dict.fromkeys(names[1:3], names[:1])
    tables = {name: np.full((2, 2) if name in parents else 2, 0.5) for name in names}
    net = BayesNet.from_tables(columns, parents, tables)
    net.save_xmlbif(tmp_path / "net.xml")
    assert BayesNet.read_xmlbif(tmp_path / "net.xml") == net


@pytest.mark.parametrize("sign", ["\r", "\uffff"])  # others are in no name of a column
def test_names_that_xml_cannot_hold(tmp_path, sign):
    name = f"a{sign}b"
    net = BayesNet.from_tables({name: [0, 1]}, {}, {name: [0.5, 0.5]})
    with pytest.raises(InputError) as caught:
        net.save_xmlbif(tmp_path / "net.xml")
    assert str(caught.value).startswith(f"column {name!r}: XML cannot hold")
    assert not (tmp_path / "net.xml").exists()


GRASS = "<FOR>grass &amp; moss</FOR><GIVEN>rain</GIVEN>"


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ('version="1.0"', 'version="1.0" encoding="x"', 1, "the encoding cannot be used"),
        ("</NETWORK>", "", 24, "no valid XML: mismatched tag"),
        ("<BIF VERSION", "<NET VERSION", 24, "no valid XML"),
        ("<!ELEMENT BIF ( NETWORK )*>", '<!ENTITY a "b">', 3, "entities are not taken"),
        ("<NAME>rain</NAME>\n  <", "<NAME/>\n  <", 7, "a <VARIABLE> has no <NAME>"),
        ("<NAME>grass &amp; moss", "<NAME>rain", 11, "the variable 'rain' is there twice"),
        ("<OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>", "", 7, "'rain' has no <OUTCOME>"),
        ("<OUTCOME>yes", "<OUTCOME>no", 7, "'rain' has the outcome 'no' twice"),
        (GRASS, GRASS.replace("rain", "rein"), 16, "there is no variable 'rein'"),
        (GRASS, GRASS.replace("GIVEN>rain", "GIVEN>grass &amp; moss"), 16, "its own parent"),
        (GRASS, "<FOR>rain</FOR>", 16, "the definition of 'rain' is there twice"),
        ("<FOR>rain</FOR>", "<FOR/>", 15, "there is no variable ''"),
        ("<TABLE>0.75 0.25</TABLE>", "", 15, "the definition of 'rain' has no <TABLE>"),
        ("0.75 0.25", "0.75", 15, "2 probabilities of 'rain' are expected, got 1"),
        ("0.75 0.25", "0.75 x", 15, "holds something else than numbers"),
        ("0.75 0.25", "0.75 nan", 15, "has nan, which is no probability"),
        ("0.125 0.125", "0.25 0.125", 18, "row 2 of the table of 'grass & moss' sums to 1.125"),
        ("<FOR>rain</FOR><TABLE>0.75 0.25",
         "<FOR>rain</FOR><GIVEN>grass &amp; moss</GIVEN><TABLE>1 0 1 0 1 0", 15,
         "arcs form a cycle, rain → grass & moss → rain"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_a_line(read, old, new, line, problem):
    error = error_of_changed(read, RAIN, old, new)
    assert re.search(problem, error)
    assert f"net.xml: line {line}: " in error


def test_other_documents(read):
    with pytest.raises(FileError, match="line 1: <BIF> is expected, not <HTML>"):
        read("<html/>")
    with pytest.raises(FileError, match="line 1: there is no <NETWORK>"):
        read("<BIF/>")
    with pytest.raises(FileError, match="line 1: there is no <VARIABLE>"):
        read("<BIF><NETWORK/></BIF>")
    with pytest.raises(FileError, match="'rain' has no <DEFINITION>"):
        read(RAIN.replace("<DEFINITION><FOR>rain</FOR><TABLE>0.75 0.25</TABLE></DEFINITION>", ""))


def test_peers_read_it(tmp_path):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    sprinkler().save_xmlbif(tmp_path / "net.xml")
    model = readwrite.XMLBIFReader(str(tmp_path / "net.xml")).get_model()
    values = np.moveaxis(model.get_cpds("grass").values, 0, -1)
    np.testing.assert_allclose(values, sprinkler().table("grass"))
    agrum = pytest.importorskip("pyagrum")
    sprinkler().save_xmlbif(tmp_path / "net.bifxml")
    assert agrum.loadBN(str(tmp_path / "net.bifxml")).sizeArcs() == 3
