"""BIF: what is written is read again to the bit, by us and by others; what is wrong has a line."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given

from support.nets import error_of_changed, nets, sprinkler
from tacit import BayesNet, FileError, InputError
from tacit.network.bif.bif_words import plain_words

RAIN = """network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable grass {
  type discrete [ 3 ] { dry, damp, wet };
}
probability ( rain ) {
  table 0.75, 0.25;
}
probability ( grass | rain ) {
  (no) 0.5, 0.25, 0.25;
  (yes) 0.125, 0.125, 0.75;
}
"""


@pytest.fixture
def read(tmp_path):
    """Read a text as BIF."""

    def read_text(text):
        path = tmp_path / "net.bif"
        path.write_text(text, "utf-8")
        return BayesNet.read_bif(path)

    return read_text


def strange_net():
    """Names and labels that no other program would read, and labels that are no text."""
    columns = {
        "hours per week": ["< 40", ">= 40", None],
        "Größe": [False, True],
        "12": [1, -2, 30],
        "variable": ["a, b", "a_b", "a b", 'q"q'],
        "x": [0.5, 2.0],
    }
    tables = {name: np.full(len(labels), 1 / len(labels)) for name, labels in columns.items()}
    tables["12"] = np.random.default_rng(0).dirichlet(np.ones(3), (4, 2))
    return BayesNet.from_tables(columns, {"12": ["variable", "Größe"]}, tables)


class TestRoundTrip:
    @given(nets())
    def test_to_the_bit(self, tmp_path_factory, net):
        path = tmp_path_factory.mktemp("bif") / "net.bif"
        net.save_bif(path)
        assert BayesNet.read_bif(path) == net

    def test_names_and_labels_of_all_kinds(self, tmp_path):
        net = strange_net()
        net.save_bif(tmp_path / "net.bif")
        assert BayesNet.read_bif(tmp_path / "net.bif") == net

    def test_compressed(self, tmp_path):
        path = tmp_path / "net.bif.gz"
        sprinkler().save_bif(path)
        assert gzip.decompress(path.read_bytes()).startswith(b"network unknown {")
        assert BayesNet.read_bif(path) == sprinkler()

    def test_words_that_were_changed_by_hand_win_over_notes(self, tmp_path):
        path = tmp_path / "net.bif"
        strange_net().save_bif(path)
        path.write_text(path.read_text("utf-8").replace("lt_40", "few"), "utf-8")
        net = BayesNet.read_bif(path)
        assert net.schema_.names[0] == "hours_per_week"
        assert list(net.schema_.labels[0]) == ["few", "gt_eq_40", "missing"]
        assert net.schema_.names[1] == "Größe"

    def test_damaged_notes_are_passed_over(self, tmp_path):
        path = tmp_path / "net.bif"
        strange_net().save_bif(path)
        path.write_text(path.read_text("utf-8").replace('tacit {"names"', 'tacit {"nam'), "utf-8")
        assert BayesNet.read_bif(path).schema_.names[0] == "hours_per_week"

    def test_words_are_plain_and_distinct(self):
        labels = ["a b", "a_b", "a-b", "", "table", None, "missing", "ä", "ö", "<= 5", "5"]
        words = plain_words(labels, numbers=True)
        assert len(set(words)) == len(labels)
        assert all(word.isascii() and " " not in word for word in words)
        assert words[1:3] == ["a_b", "a-b"]


class TestForms:
    def test_rows(self, read):
        net = read(RAIN)
        assert net.column_names_ == ("rain", "grass")
        assert net.parents_ == ((), (0,))
        assert net.table("grass").tolist() == [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]

    def test_a_table_has_the_own_label_slowest(self, read):
        rows = "(no) 0.5, 0.25, 0.25;\n  (yes) 0.125, 0.125, 0.75;"
        flat = RAIN.replace(rows, "table 0.5, 0.125, 0.25, 0.125, 0.25, 0.75;")
        assert flat != RAIN
        assert read(flat) == read(RAIN)

    def test_default(self, read):
        text = RAIN.replace("(no) 0.5, 0.25, 0.25;", "default 0.5 0.25 0.25;")
        assert read(text) == read(RAIN)

    def test_comments_properties_quotes_and_blanks(self, read):
        text = (
            RAIN.replace(
                "network unknown {\n", '// a net\nnetwork "the net" {\n  property a "}";\n'
            )
            .replace("{ no, yes };", '{ "no", "yes" };\n  property "x } y" ;')
            .replace("probability ( rain ) {", "/* two\nlines */ probability(rain){ property p q;")
            .replace("( grass | rain )", "( grass rain )")
            .replace("(no) 0.5, 0.25, 0.25", '( "no" )  5e-1 , .25 0.25')
            .replace("table 0.75, 0.25", "table 0.75 0.25")
        )
        assert read(text) == read(RAIN)

    def test_probabilities_before_variables(self, read):
        head, middle = RAIN.index("variable rain"), RAIN.index("probability ( rain )")
        assert read(RAIN[:head] + RAIN[middle:] + RAIN[head:middle]) == read(RAIN)

    def test_names_that_are_no_words(self, read):
        text = RAIN.replace("rain", '"rain today"').replace("damp", '"damp, a little"')
        net = read(text)
        assert net.column_names_[0] == "rain today"
        assert net.schema_.labels[1][1] == "damp, a little"

    def test_labels_with_signs(self, read):
        text = RAIN.replace("yes", "<=5.2%").replace("damp", "it's")
        assert read(text).schema_.labels[0][1] == "<=5.2%"

    def test_carriage_returns_and_old_encodings(self, tmp_path):
        path = tmp_path / "net.bif"
        path.write_bytes(RAIN.replace("\n", "\r\n").replace("damp", "nä").encode("latin-1"))
        assert BayesNet.read_bif(path).schema_.labels[1][1] == "nä"

    def test_rows_that_nearly_sum_to_one(self, read):
        net = read(RAIN.replace("0.75, 0.25;", "0.7497, 0.2498;"))
        assert net.tables_[0].sum() == pytest.approx(1, abs=1e-15)
        assert net.tables_[0][0, 0] == pytest.approx(0.7497 / 0.9995)


GRASS = "probability ( grass | rain ) {"


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("network", "netwrok", 1, "'netwrok' is not known; 'network', 'variable' or"),
        ("network unknown {\n}", "network unknown {\nx;}", 2, "a network has properties only"),
        ("variable grass", "variable rain", 6, "'rain' is there twice; line 3 has it first"),
        ("variable grass {", "variable {", 6, "the name of a variable is expected, not '{'"),
        ("variable grass {", "variable grass", 7, "'{' is expected after variable grass"),
        ("  type discrete [ 2 ] { no, yes };\n", "", 3, "the variable 'rain' has no type"),
        ("type discrete [ 2 ]", "kind discrete", 4, "a variable has a type and properties"),
        ("discrete [ 2 ]", "continuous [ 2 ]", 4, "must be 'discrete .*', got 'continuous'"),
        ("{ no, yes }", "{ no, yes, so }", 4, "is to have 2 states, but 3 are listed"),
        ("{ no, yes }", "{ no, no }", 4, "'rain' has the state 'no' twice"),
        ("[ 2 ] { no, yes }", "[ 0 ] { }", 4, "'rain' has no states"),
        ("{ no, yes };\n}", "{ no, yes };\n", 6, "a variable has a type and properties, not"),
        (" yes };", " yes ;", 4, "there is no '}' for the states of 'rain'"),
        (GRASS, "probability ( grass | rein ) {", 12, "there is no variable 'rein'"),
        (GRASS, "probability ( gras | rain ) {", 12, "there is no variable 'gras'"),
        (GRASS, "probability ( grass | grass ) {", 12, "'grass' is its own parent"),
        (GRASS, "probability ( grass | rain, rain ) {", 12, "'grass' has a parent twice"),
        (GRASS, "probability ( rain ) {", 12, "of 'rain' are there twice; line 9 has them"),
        (GRASS, "probability grass {", 12, r"'\(' is expected after probability"),
        ("table 0.75, 0.25;", "", 9, "probabilities of 'rain' are missing"),
        ("table 0.75, 0.25;", "table 0.75;", 10, "2 probabilities of 'rain' are expected, got 1"),
        (
            "table 0.75, 0.25;",
            "table 0.75, 0.25;\n  table 0.5, 0.5;",
            11,
            "probabilities of 'rain' are there twice; line 10 has some",
        ),
        (
            "(yes) 0.125, 0.125, 0.75;",
            "table 0.5, 0.5, 0.25, 0.25, 0.25, 0.25;",
            14,
            "probabilities of 'grass' are there twice; line 13 has some",
        ),
        (
            "table 0.75, 0.25;",
            "default 0.75, 0.25;\n  default 0.5, 0.5;",
            11,
            "the default of 'rain' is there twice; line 10 has it",
        ),
        ("table 0.75, 0.25;", "table 0.75, x;", 10, "'x' is no number"),
        ("table 0.75, 0.25;", "table 0.75, nan;", 10, "'rain' has nan, which is no probability"),
        ("table 0.75, 0.25;", "table 0.75, 0.24;", 10, "'rain' sums to 0.99, not to 1"),
        ("table 0.75, 0.25;", "table 1.25, -0.25;", 10, "'rain' has 1.25, which is no"),
        ("table 0.75, 0.25;", "tabel 0.75, 0.25;", 10, "'tabel' is neither a row nor 'table'"),
        ("  (no) 0.5, 0.25, 0.25;\n", "", 12, "of 'grass' given rain = no are missing"),
        ("(yes) 0.125", "(no) 0.125", 14, "row of 'grass' is there twice; line 13 has it"),
        ("(yes)", "(so)", 14, "'rain' has no state 'so'"),
        ("(yes)", "(yes, no)", 14, "begins with 2 labels, but it has 1 parents"),
        ("(yes) 0.125, 0.125, 0.75", "(yes) 0.125, 0.875", 14, "3 probabilities, got 2"),
        ("(yes) 0.125", "(yes) 0.5", 14, "'grass' given rain = yes sums to 1.375, not to 1"),
        ("(yes) 0.125", "(yes) one", 14, "'one' is no number"),
        ("(yes) 0.125", "(yes) nan", 14, "has nan, which is no probability"),
        ("0.75;\n}", "0.75\n}", 14, r"is not '\(labels\) numbers ;'"),
        ("0.75;\n}", "0.75;\n", 12, "there is no '}' for this 'probability'"),
        ("( rain ) {\n  table", "( rain | grass ) {\n  default", 9, "cycle, rain → grass → rain"),
        ("network", "/* network", 1, "a comment that begins here has no end"),
        (RAIN[RAIN.index("probability ( grass") :], "", 6, "'grass' has no probabilities"),
        (RAIN, "network n { }\n\n", 3, "there is no variable in this file"),
    ],
)
def test_what_is_wrong_has_a_line(read, old, new, line, problem):
    error = error_of_changed(read, RAIN, old, new)
    assert re.search(problem, error)
    assert f"net.bif: line {line}: " in error


class TestFiles:
    def test_no_file(self, tmp_path):
        with pytest.raises(FileError, match="no such file"):
            BayesNet.read_bif(tmp_path / "none.bif")

    def test_no_text(self, tmp_path):
        path = tmp_path / "net.bif"
        path.write_bytes(b"\0\1\2")
        with pytest.raises(FileError, match="is no text"):
            BayesNet.read_bif(path)

    def test_cut_off(self, tmp_path):
        path = tmp_path / "net.bif.gz"
        path.write_bytes(gzip.compress(RAIN.encode())[:-10])
        with pytest.raises(FileError, match="is damaged or cut off"):
            BayesNet.read_bif(path)

    def test_every_cut_is_an_error(self, read):
        for end in range(1, len(RAIN) - 2):
            with pytest.raises(FileError, match=r"line [0-9]+: "):
                read(RAIN[:end])

    def test_no_folder(self, tmp_path):
        with pytest.raises(InputError, match=r"the folder .* does not exist"):
            sprinkler().save_bif(tmp_path / "none" / "net.bif")
        with pytest.raises(InputError, match="is a folder"):
            sprinkler().save_bif(tmp_path)


class TestPeers:
    """Where they are installed, other programs read what we write, and say the same."""

    def test_pgmpy(self, tmp_path):
        readwrite = pytest.importorskip("pgmpy.readwrite")
        for net in (sprinkler(), strange_net()):
            net.save_bif(tmp_path / "net.bif")
            words = BayesNet.read_bif(tmp_path / "net.bif")
            model = readwrite.BIFReader(str(tmp_path / "net.bif")).get_model()
            names = plain_words(words.column_names_, numbers=False)
            for place, name in enumerate(names):
                values = np.moveaxis(model.get_cpds(name).values, 0, -1)
                np.testing.assert_allclose(values, net.table(place))

    def test_pyagrum(self, tmp_path):
        agrum = pytest.importorskip("pyagrum")
        for net in (sprinkler(), strange_net()):
            net.save_bif(tmp_path / "net.bif")
            other = agrum.loadBN(str(tmp_path / "net.bif"))
            names = plain_words(net.column_names_, numbers=False)
            for place, name in enumerate(names):
                cpt = other.cpt(name)
                above = [names[p] for p in net.parents_[place]]
                order = [cpt.names[::-1].index(x) for x in (*above, name)]
                np.testing.assert_allclose(cpt.toarray().transpose(order), net.table(place))
