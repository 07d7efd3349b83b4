"""`tacit adtree`: a tree in a file, which `tacit table` and `tacit count` take."""

from __future__ import annotations

import re

import pytest

import tacit
from support.commands import one_error
from tacit import store
from tacit.machine import human_bytes, parse_bytes


@pytest.fixture
def saved(run, visits_file, tmp_path):
    """Save a tree with some options and return it."""

    def save(*options):
        path = tmp_path / "made.tacit"
        result = run("adtree", visits_file, "-o", path, *options)
        assert result.exit_code == 0, result.stderr
        return tacit.load(path)

    return save


class TestBuilding:
    def test_reports_the_tree(self, run, visits, visits_file, tmp_path):
        path = tmp_path / "tree.tacit"
        result = run("adtree", visits_file, "-o", path)
        assert result.exit_code == 0
        assert result.stderr == ""
        tree = tacit.ADTree(visits).build()
        head, _, *lines = result.stdout.splitlines()
        assert head == f"{path}: {tree!r}"
        printed = dict(re.split("  +", line, maxsplit=1) for line in lines)
        for name, text in tree.stats().rows():
            assert printed[name] == text
        assert re.fullmatch(r"\d+\.\d\d", printed["seconds to build"])

    def test_saves_the_whole_tree(self, saved, visits):
        tree = saved()
        assert isinstance(tree, tacit.ADTree)
        assert tree.n_nodes == tacit.ADTree(visits).build().n_nodes
        before = tree.n_nodes
        assert tree.table(["region", "cart", "news"]).equals(
            visits.contingency(["region", "cart", "news"])
        )
        assert tree.n_nodes == before

    def test_full_is_the_default(self, saved):
        assert saved("--full").n_nodes == saved().n_nodes

    def test_lazy(self, saved, visits):
        tree = saved("--lazy")
        assert tree.n_nodes == tacit.ADTree(visits).build(full=False).n_nodes
        before = tree.n_nodes
        tree.table(["region", "cart", "news"])
        assert tree.n_nodes > before

    @pytest.mark.parametrize(
        ("options", "settings"),
        [
            ([], (16, None, None, 1)),
            (["--leaf-size", 500], (500, None, None, 1)),
            (["--max-depth", 2], (16, 2, None, 1)),
            (["--memory-limit", "200MB"], (16, None, 200_000_000, 1)),
            (["--memory-limit", "1 GiB", "--lazy"], (16, None, 2**30, 1)),
            (["--min-count", 40], (16, None, None, 40)),
        ],
    )
    def test_options(self, saved, options, settings):
        tree = saved(*options)
        assert (tree.leaf_size, tree.max_depth, tree.memory_limit, tree.min_count) == settings

    def test_smaller_trees(self, saved):
        full = saved().n_nodes
        for options in (["--leaf-size", 500], ["--max-depth", 2], ["--min-count", 40]):
            assert saved(*options).n_nodes < full

    def test_from_text(self, run, tmp_path):
        source, target = tmp_path / "days.csv", tmp_path / "days.tacit"
        source.write_text("sky,n\nblue,0.5\ngrey,2\ngrey,1\n")
        assert run("adtree", source, "--weights", "n", "--output", target).exit_code == 0
        assert run("count", target, "-g", "sky=grey").stdout == "3\n"


class TestWrongInput:
    @pytest.mark.parametrize(
        "options",
        [[], ["-o", "x", "--leaf-size", 0], ["-o", "x", "--max-depth", -1],
         ["-o", "x", "--min-count", 0]],
    )  # fmt: skip
    def test_usage(self, run, visits_file, options):
        assert run("adtree", visits_file, *options).exit_code == 2

    def test_size_that_is_none(self, run, visits_file, tmp_path):
        options = ["-o", tmp_path / "x.tacit", "--memory-limit", "much"]
        line = one_error(run("adtree", visits_file, *options))
        assert line == "--memory-limit must be a size such as 200MB, 2GiB or 1e9, got 'much'"

    def test_limit_that_is_too_small(self, run, visits_file, tmp_path):
        path = tmp_path / "x.tacit"
        options = ["-o", path, "--memory-limit", "600kB", "--leaf-size", 1]
        line = one_error(run("adtree", visits_file, *options))
        assert line.startswith("--memory-limit: 600.0 kB, but the whole tree needs more")
        assert not path.exists()

    def test_weights_keep_all_counts(self, run, mixed_file, tmp_path):
        line = one_error(run("adtree", mixed_file, "-o", tmp_path / "x.tacit", "--min-count", 2))
        assert line.startswith("--min-count: ")

    def test_a_tree_is_saved_as_what_it_is(self, run, visits_file, tmp_path):
        line = one_error(run("adtree", visits_file, "-o", tmp_path / "x.csv"))
        assert line.endswith("must end in .tacit")

    def test_no_such_folder(self, run, visits_file, tmp_path):
        line = one_error(run("adtree", visits_file, "-o", tmp_path / "no" / "x.tacit"))
        assert "does not exist" in line

    @pytest.mark.parametrize(
        "command", [["summary"], ["pairs"], ["convert", "-o", "x"], ["adtree", "-o", "x.tacit"]]
    )
    def test_other_commands_say_what_it_is(self, run, saved, tmp_path, command):
        saved("--lazy")
        path = tmp_path / "made.tacit"
        line = one_error(run(command[0], path, *command[1:]))
        assert line == (
            f"{path}: holds a saved ADTree, not a table; `tacit table` and `tacit count` take it"
        )

    def test_read_says_what_it_is(self, saved, tmp_path):
        saved("--lazy")
        with pytest.raises(tacit.FileError, match=r"a saved ADTree, not a Table; use tacit\.load"):
            tacit.read(tmp_path / "made.tacit")


class TestDamagedFiles:
    @pytest.fixture
    def damaged(self, saved, tmp_path):
        """Save a tree with something changed in its arrays."""

        def damage(change):
            saved()
            path = tmp_path / "made.tacit"
            kind, arrays = store.read_arrays(path)
            arrays = {name: array.copy() for name, array in arrays.items()}
            change(arrays)
            store.write_arrays(tmp_path / "bad.tacit", kind, arrays)
            return tmp_path / "bad.tacit"

        return damage

    @pytest.mark.parametrize("command", ["table", "count"])
    def test_array_that_is_lost(self, run, damaged, command):
        path = damaged(lambda arrays: arrays.pop("tree.varies"))
        line = one_error(run(command, path, "region"))
        assert line == f"{path}: is damaged: it has no 'tree.varies'"

    @pytest.mark.parametrize("command", ["table", "count"])
    def test_nodes_that_cannot_be(self, run, damaged, command):
        def shift(arrays):
            arrays["tree.varies"].reshape(-1)[3] += 1

        path = damaged(shift)
        line = one_error(run(command, path, "region"))
        assert line.startswith(f"{path}: is damaged: its tree is not sound")

    def test_bytes_that_changed(self, run, saved, tmp_path):
        saved()
        path = tmp_path / "made.tacit"
        raw = bytearray(path.read_bytes())
        raw[-5] ^= 1
        path.write_bytes(raw)
        assert "the checksum of" in one_error(run("table", path, "region"))

    def test_file_that_is_cut_off(self, run, saved, tmp_path):
        saved()
        path = tmp_path / "made.tacit"
        path.write_bytes(path.read_bytes()[:-100])
        assert "is cut off" in one_error(run("table", path, "region"))


class TestSizes:
    @pytest.mark.parametrize(
        ("text", "n_bytes"),
        [
            ("1", 1),
            ("512", 512),
            ("512B", 512),
            ("200MB", 200_000_000),
            ("200 mb", 200_000_000),
            ("200M", 200_000_000),
            ("2GiB", 2**31),
            ("0.5KiB", 512),
            (".5kB", 500),
            ("1e9", 10**9),
            ("1.5e+3", 1500),
            (" 2.3 kB ", 2300),
            ("1TiB", 2**40),
        ],
    )
    def test_sizes(self, text, n_bytes):
        assert parse_bytes(text, "limit") == n_bytes

    @pytest.mark.parametrize(
        "text",
        ["", "MB", "much", "-1", "-200MB", "0", "0.2", "1e99", "nan", "inf", "1,000", "2 XB", "2BB",
         "1 2", "0x10", "٣", "1_000", "200MBs", "1e-3GB"],
    )  # fmt: skip
    def test_what_is_no_size(self, text):
        with pytest.raises(tacit.InputError, match=r"^limit must be a size such as 200MB, 2GiB"):
            parse_bytes(text, "limit")

    @pytest.mark.parametrize("n_bytes", [1, 999, 1000, 25_300_000, 10**9, 7 * 10**12])
    def test_reads_what_is_written(self, n_bytes):
        assert parse_bytes(human_bytes(n_bytes), "limit") == n_bytes
