"""`tacit table`: the contingency table that the library gives, printed, saved or drawn."""

from __future__ import annotations

import builtins
import json

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import assert_sports_by_scores, one_error, usage_error


@pytest.fixture(scope="session")
def tree_file(visits, write):
    return write("tree.tacit", tacit.ADTree(visits).build())


@pytest.fixture(scope="session")
def rough_tree(visits):
    return tacit.ADTree(visits, min_count=60).build()


@pytest.fixture(scope="session")
def rough_file(rough_tree, write):
    return write("rough.tacit", rough_tree)


@pytest.fixture(params=["table", "tree"])
def any_file(request, visits_file, tree_file):
    return {"table": visits_file, "tree": tree_file}[request.param]


class TestPrinting:
    def test_square(self, run, any_file):
        assert_sports_by_scores(run("table", any_file, "sports", "scores"))

    @pytest.mark.parametrize(
        "arguments",
        [
            ["device"],
            ["region", "device"],
            ["region", "device", "cart", "--given", "weather=True"],
            ["device", "-g", "region=north", "-g", "subscriber=True", "--json"],
        ],
    )
    def test_table_and_count_say_the_same(self, run, visits_file, tree_file, arguments):
        printed = {
            run(command, file, *arguments).stdout
            for command in ("table", "count")
            for file in (visits_file, tree_file)
        }
        assert len(printed) == 1
        assert "device" in printed.pop()

    def test_json_is_the_contingency_table(self, run, visits, any_file):
        options = ["--given", "weather=True", "--given", "device=", "--json"]
        printed = json.loads(run("table", any_file, "region", "cart", *options).stdout)
        counts = visits.contingency(["region", "cart"], given={"weather": True, "device": None})
        assert list(printed) == ["columns", "given", "total", "counts"]
        assert printed["columns"] == ["region", "cart"]
        assert printed["given"] == {"weather": True, "device": None}
        assert printed["total"] == counts.total > 0
        cells = {tuple(cell["labels"]): cell["count"] for cell in printed["counts"]}
        assert len(cells) == len(printed["counts"]) == counts.n_occurring
        assert all(counts[labels] == count for labels, count in cells.items())

    def test_sparse_layout_is_a_list(self, run, any_file):
        dense = run("table", any_file, "sports", "scores", "--layout", "dense").stdout
        sparse = run("table", any_file, "sports", "scores", "--layout", "sparse").stdout
        assert dense == run("table", any_file, "sports", "scores").stdout
        lines = [line.split() for line in sparse.splitlines()]
        assert sparse.startswith("sports × scores, 20,000 records, 4 of 4 cells occur\n")
        assert ["True", "False", "1,916", "9.6%"] in lines
        as_json = [
            run("table", any_file, "sports", "scores", "--json", "--layout", layout).stdout
            for layout in ("dense", "sparse")
        ]
        assert as_json[0] == as_json[1]

    def test_weights(self, run, mixed, mixed_file):
        printed = json.loads(run("table", mixed_file, "town", "sold", "--json").stdout)
        counts = mixed.contingency(["town", "sold"])
        assert printed["total"] == 5.5
        assert {tuple(c["labels"]): c["count"] for c in printed["counts"]} == {
            labels: counts[labels] for labels in [("Köln", False), ("Ulm", False), ("Ulm", True),
                                                  (None, False)]
        }  # fmt: skip

    def test_any_format(self, run, tmp_path):
        path = tmp_path / "days.csv"
        path.write_text("sky;rain\nblue;no\ngrey;?\ngrey;no\n")
        options = ["--separator", ";", "--null-value", "?", "--n-jobs", 1]
        lines = run("table", path, "sky", "rain", *options).stdout.splitlines()
        assert [line.split() for line in lines[3:5]] == [
            ["blue", "1", "0", "1"],
            ["grey", "1", "1", "2"],
        ]


class TestMeasures:
    def test_two_columns(self, run, visits, any_file):
        counts = visits.contingency(["region", "weather"])
        test = counts.chi2()
        printed = json.loads(
            run("table", any_file, "region", "weather", "--measures", "--json").stdout
        )
        assert printed["measures"] == {
            "entropy": {"region": counts.entropy("region"), "weather": counts.entropy("weather")},
            "joint_entropy": counts.entropy(),
            "mutual_information": counts.mutual_information(),
            "chi2": {"statistic": test.statistic, "dof": test.dof, "p_value": test.p_value},
            "cramers_v": counts.cramers_v(),
        }
        assert "counts" in printed

    def test_text(self, run, visits, any_file):
        counts = visits.contingency(["region", "weather"])
        text = run("table", any_file, "region", "weather", "--measures").stdout
        assert f"mutual information   {counts.mutual_information():.4f} nats\n" in text
        assert f"{counts.chi2().statistic:,.6g}, 3 degrees of freedom, p = 1.18e-53\n" in text
        assert f"Cramér's V           {counts.cramers_v():.4f}\n" in text
        assert text.startswith("region × weather, 20,000 records\n")

    @pytest.mark.parametrize(
        ("columns", "keys"),
        [(["region"], ["entropy"]), (["region", "cart", "news"], ["entropy", "joint_entropy"])],
    )
    def test_other_numbers_of_columns(self, run, visits, any_file, columns, keys):
        printed = json.loads(run("table", any_file, *columns, "--measures", "--json").stdout)
        measures = printed["measures"]
        assert list(measures) == keys
        counts = visits.contingency(columns)
        assert measures["entropy"] == {name: counts.entropy(name) for name in columns}
        assert measures.get("joint_entropy", counts.entropy()) == counts.entropy()
        assert "entropy of region" in run("table", any_file, *columns, "--measures").stdout

    def test_certainty_beyond_numbers(self, run, tmp_path):
        tacit.Table({"a": [0, 1] * 2000, "b": [0, 1] * 2000}).save(tmp_path / "same.tacit")
        text = run("table", tmp_path / "same.tacit", "a", "b", "--measures").stdout
        assert "4,000, 1 degree of freedom, p < 1e-300\n" in text

    def test_nothing_matches(self, run, any_file):
        options = ["-g", "checkout=True", "-g", "cart=False", "--measures"]
        printed = json.loads(run("table", any_file, "region", "device", *options, "--json").stdout)
        assert (printed["total"], printed["counts"]) == (0, [])
        assert printed["measures"]["mutual_information"] == 0
        assert run("table", any_file, "region", "device", *options).exit_code == 0


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "read"), [("out.csv", pl.read_csv), ("out.PARQUET", pl.read_parquet)]
    )
    def test_output(self, run, visits, any_file, tmp_path, name, read):
        path = tmp_path / name
        result = run("table", any_file, "region", "device", "-g", "cart=True", "-o", path)
        counts = visits.contingency(["region", "device"], given={"cart": True})
        assert result.stdout == f"{path}: region × device, {counts.total:,} records\n"
        assert read(path).equals(counts.to_frame())

    def test_output_and_json(self, run, any_file, tmp_path):
        path = tmp_path / "out.csv"
        result = run("table", any_file, "region", "--output", path, "--json")
        printed = json.loads(result.stdout)
        frame = pl.read_csv(path)
        assert frame.rows() == [(*cell["labels"], cell["count"]) for cell in printed["counts"]]

    @pytest.mark.parametrize(
        ("name", "begins"),
        [("out.png", b"\x89PNG"), ("out.svg", b"<?xml"), ("out.pdf", b"%PDF")],
    )
    @pytest.mark.parametrize("columns", [["region"], ["region", "device"]])
    def test_plot(self, run, any_file, tmp_path, name, begins, columns):
        path = tmp_path / name
        result = run("table", any_file, *columns, "--plot", path, "--measures")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"{path}: {' × '.join(columns)}, 20,000 records\n\nentropy")
        assert path.read_bytes().startswith(begins)

    def test_plot_without_matplotlib(self, run, any_file, tmp_path, monkeypatch):
        real = builtins.__import__

        def refuse(name, *rest):
            if name.startswith("matplotlib"):
                raise ImportError(name)
            return real(name, *rest)

        monkeypatch.setattr(builtins, "__import__", refuse)
        line = one_error(run("table", any_file, "region", "--plot", tmp_path / "out.png"))
        assert line == "--plot needs matplotlib: pip install tacit[plot]"

    def test_names_that_do_not_tell(self, run, any_file, tmp_path):
        told = usage_error(run("table", any_file, "region", "-o", "out.xls"))
        assert "'out.xls' must end in .csv or .parquet" in told
        told = usage_error(run("table", any_file, "region", "--plot", "out"))
        assert "'out' must end in .png, .svg or .pdf" in told

    def test_what_cannot_be_drawn(self, run, any_file, tmp_path):
        path = tmp_path / "out.png"
        told = usage_error(run("table", any_file, "region", "cart", "news", "--plot", path))
        assert "one column or two can be drawn, got 3" in told
        assert not path.exists()

    @pytest.mark.parametrize("option", [["-o", "out.csv"], ["--plot", "out.png"]])
    def test_no_such_folder(self, run, any_file, tmp_path, option):
        path = tmp_path / "no" / option[1]
        assert "does not exist" in one_error(run("table", any_file, "region", option[0], path))


class TestApproximateTrees:
    def test_json_has_bounds(self, run, visits, rough_tree, rough_file):
        columns = ["region", "device"]
        printed = json.loads(run("table", rough_file, *columns, "-g", "cart=True", "--json").stdout)
        counts = rough_tree.table(columns, {"cart": True})
        exact = visits.contingency(columns, given={"cart": True})
        assert len(printed["counts"]) == np.count_nonzero(counts.bounds()[1].to_array())
        doubtful = 0
        for cell in printed["counts"]:
            labels = tuple(cell["labels"])
            assert cell["count"] == counts[labels]
            assert (cell["lower"], cell["upper"]) == counts.interval(labels)
            assert cell["lower"] <= exact[labels] <= cell["upper"]
            doubtful += cell["lower"] < cell["upper"]
        assert doubtful > 0

    def test_text_has_bounds(self, run, rough_tree, rough_file):
        counts = rough_tree.table(["region", "device"], {"cart": True})
        labels = next(
            (a, b)
            for a in counts.columns[0].labels
            for b in counts.columns[1].labels
            if len({*counts.interval((a, b))}) == 2
        )
        lower, upper = counts.interval(labels)
        shown = f" {counts[labels]:,} [{lower:,}, {upper:,}] "
        for arguments in (["region", "device"], ["device", "region", "cart"]):
            text = run("table", rough_file, *arguments, "-g", "cart=True").stdout
            assert "approximate [lower, upper]" in text.splitlines()[0]
            assert shown in text

    def test_output_has_bounds(self, run, rough_tree, rough_file, tmp_path):
        path = tmp_path / "rough.parquet"
        assert run("table", rough_file, "region", "device", "-o", path).exit_code == 0
        counts = rough_tree.table(["region", "device"])
        frame = pl.read_parquet(path)
        assert frame.columns == ["region", "device", "count", "lower", "upper"]
        assert frame["count"].sum() == counts.total
        assert len(frame) == counts.bounds()[1].n_occurring > counts.n_occurring

    def test_count(self, run, visits, rough_tree, rough_file):
        query = {"region": "east", "device": None, "cart": True}
        options = ["-g", "region=east", "-g", "device=", "-g", "cart=True"]
        printed = json.loads(run("count", rough_file, *options, "--json").stdout)
        [cell] = printed["counts"]
        assert printed["given"] == query
        assert printed["total"] == cell["count"] == rough_tree.count(query)
        assert cell["lower"] <= visits.count(query) <= cell["upper"] < 60
        assert cell["lower"] < cell["upper"]
        text = f"{cell['count']} [{cell['lower']}, {cell['upper']}]\n"
        assert run("count", rough_file, *options).stdout == text
        assert run("count", rough_file).stdout == "20,000\n"


class TestWrongInput:
    def test_unknown_column(self, run, any_file):
        line = one_error(run("table", any_file, "sport"))
        assert line == "columns: there is no column 'sport'; did you mean 'sports'?"
        line = one_error(run("table", any_file, "sports", "--given", "sport=True"))
        assert line == "--given: there is no column 'sport'; did you mean 'sports'?"

    def test_unknown_label(self, run, any_file):
        line = one_error(run("table", any_file, "sports", "--given", "region=nort"))
        assert line.startswith("column 'region' has no label 'nort'")

    def test_column_twice(self, run, any_file):
        line = one_error(run("table", any_file, "home", "news", "home"))
        assert line == "columns must be distinct, but 'home' is there twice"

    def test_two_values_for_one_column(self, run, any_file):
        options = ["--given", "home=True", "--given", "home=False"]
        line = one_error(run("table", any_file, "news", *options))
        assert line == "--given: column 'home' is there twice"

    def test_usage(self, run, any_file):
        assert "COLUMN" in usage_error(run("table", any_file))
        assert "'home' is not COLUMN=LABEL" in usage_error(
            run("table", any_file, "news", "-g", "home")
        )
        assert "--layout" in usage_error(run("table", any_file, "news", "--layout", "round"))

    def test_reading_options_are_for_other_files(self, run, any_file):
        line = one_error(run("table", any_file, "news", "--separator", ";"))
        assert line == "--separator is no option of tacit files; there are: none"
        assert run("table", any_file, "news", "--n-jobs", 2, "--format", "tacit").exit_code == 0

    def test_too_large_to_be_dense(self, run, tmp_path):
        columns = {f"c{k}": list(range(2000)) for k in range(5)}
        tacit.Table(columns).save(tmp_path / "wide.tacit")
        line = one_error(run("table", tmp_path / "wide.tacit", *columns, "--layout", "dense"))
        assert "layout='sparse'" in line
        text = run("table", tmp_path / "wide.tacit", *columns).stdout
        assert text.startswith("c0 × c1 × c2 × c3 × c4, 2,000 records, 2,000 of 32,000,")

    def test_help_tells_the_json(self, run):
        assert "mutual_information" in run("table", "--help").stdout
