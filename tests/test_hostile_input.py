"""What once ended the process, or never came back, is an error: looked at in one other process."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import polars as pl
import pytest

import tacit

HANG = "50415231f9f1808080808080808010000c00000050415231"
CASES = """
import faulthandler, json, os, signal, sys

os.chdir(sys.argv[1])
import numpy as np
import polars as pl
import tacit


def name_in_mapping():
    tacit.Table({"a\\0b": ["x", "y"]})


def name_in_fit():
    tacit.DecisionTreeClassifier().fit(pl.DataFrame({"a\\0b": ["x", "y"]}), ["p", "q"])


def name_of_target():
    tacit.DecisionTreeClassifier().fit({"a": ["x", "y"]}, pl.Series("t\\0", ["p", "q"]))
    raise tacit.InputError("fine")


def name_in_parquet():
    tacit.read("name.parquet")


def name_in_arrow():
    tacit.scan("name.arrow").one_way()


def name_of_item():
    tacit.Table.from_baskets([["a\\0", "b"], ["b"]])


def escape_in_name():
    tacit.Table({"a\\x1b[31m": [1, 2]})


def negative_page_read():
    tacit.read("negative.parquet")


def negative_page_scan():
    tacit.scan("negative.parquet").one_way()


def endless_list_scan():
    tacit.scan("endless.parquet").summary()


def endless_list_read():
    tacit.read("endless.parquet")


def endless_number():
    tacit.scan("number.parquet").summary()


def cut_off_while_loaded():
    table = tacit.load("table.tacit")
    with open("table.tacit", "r+b") as file:
        file.truncate(100)
    assert table.values.max() < 12
    tacit.load("table.tacit")


def overwritten_while_loaded():
    tree = tacit.load("tree.tacit")
    before = tree.table(["c0", "c1"]).total
    with open("tree.tacit", "r+b") as file:
        file.write(bytes(os.path.getsize("tree.tacit")))
    assert tree.table(["c0", "c1", "c2"]).total == before
    tacit.load("tree.tacit")


def read_in_a_fork():
    tacit.read("fine.parquet")
    in_fork(lambda: tacit.read("fine.parquet"))


def scan_in_a_fork():
    in_fork(lambda: tacit.scan("fine.parquet").one_way())


def frames_in_a_fork():
    in_fork(lambda: tacit.Table.from_long(pl.DataFrame({"r": [1, 2], "i": [3, 4]}), "r", "i"))


def frames_of_polars_in_a_fork():
    frame = pl.DataFrame({"a": [1, 2, 1], "s": ["x", "y", "x"]})
    frame.sort("a")
    lazy = frame.lazy()
    for ask in (
        lambda: frame.write_parquet("new"), lambda: frame.write_ipc("new"),
        lambda: frame.write_ndjson("new"), lambda: frame.write_avro("new"),
        lambda: frame.sample(2), lambda: frame.partition_by("a"), lambda: frame.is_duplicated(),
        lambda: frame.is_unique(), lambda: frame.n_unique(), lambda: frame.hash_rows(),
        lambda: frame.to_dummies("s"), lambda: frame["s"].to_dummies(),
        lambda: lazy.sink_csv("new"), lambda: lazy.sink_parquet("new"),
        lambda: lazy.sink_ipc("new"), lambda: lazy.sink_ndjson("new"),
        lambda: lazy.sink_batches(print), lambda: pl.collect_all([lazy]),
    ):
        in_fork(ask, refused=False)
    in_fork(lambda: pl.collect_all([lazy]))


def counts_in_a_fork():
    table = tacit.Table(np.arange(60).reshape(20, 3) % 2)
    in_fork(lambda: table.pairs(n_jobs=2), wanted="fine")
    in_fork(lambda: tacit.NaiveBayesMixture(2).fit(table), wanted="fine")
    raise tacit.InputError("fine")


def in_fork(ask, wanted="RuntimeError", refused=True):
    read, write = os.pipe()
    if os.fork() == 0:
        signal.alarm(20)  # should it wait for ever
        try:
            ask()
            said = "fine"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    said = os.read(read, 1000).decode()
    assert said.startswith(wanted), said
    os.wait()
    if refused:
        raise_if_refused(said)


def raise_if_refused(said):
    if said.startswith("RuntimeError"):
        raise tacit.InputError(said)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        faulthandler.dump_traceback_later(40, exit=True)
        try:
            globals()[name]()
            said = "nothing was said"
        except tacit.InputError as error:
            said = f"refused: {error}"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        print(json.dumps([name, said]), flush=True)
"""
WANTED = {
    "name_in_mapping": "data: the column name",
    "name_in_fit": "the column name",
    "name_of_target": "fine",
    "name_in_parquet": "name.parquet: columns: the column name",
    "name_in_arrow": "name.arrow: the column name",
    "name_of_item": "the column name 'a\\x00' has the control character",
    "escape_in_name": "the control character '\\x1b'",
    "negative_page_read": "row group 0: is damaged: column 'a': a page has sizes that cannot be",
    "negative_page_scan": "row group 0: is damaged: column 'a': a page has sizes that cannot be",
    "endless_list_scan": "footer cannot be read: a list claims more elements",
    "endless_list_read": "footer cannot be read: a list claims more elements",
    "endless_number": "footer cannot be read: a number has more than 64 bits",
    "cut_off_while_loaded": "not a tacit file, or cut off",
    "overwritten_while_loaded": "not a tacit file",
    "read_in_a_fork": "forked after Polars had been used",
    "scan_in_a_fork": "forked after Polars had been used",
    "frames_in_a_fork": "forked after Polars had been used",
    "frames_of_polars_in_a_fork": "polars.collect_all() takes threads of Polars",
    "counts_in_a_fork": "fine",
}


def _parquet_with(footer):
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def make_files(folder):
    """Write what the cases read."""
    name = pl.DataFrame({"a\0b": ["x", "y"]})
    name.write_parquet(folder / "name.parquet")
    name.write_ipc(folder / "name.arrow")
    fine = pl.DataFrame({"a": [0, 1, 2, 1] * 10})
    fine.write_parquet(folder / "fine.parquet")
    fine.write_parquet(folder / "negative.parquet", compression="uncompressed")
    data = bytearray((folder / "negative.parquet").read_bytes())
    # Of the header of the first page of values: 40 values, written as 80, become -41.
    at = data.index(bytes([0x15, 80, 0x15]), 4) + 1
    data[at] = 81
    (folder / "negative.parquet").write_bytes(data)
    (folder / "endless.parquet").write_bytes(bytes.fromhex(HANG))
    (folder / "number.parquet").write_bytes(_parquet_with(b"\x15" + b"\x80" * 400_000 + b"\x00"))
    codes = np.random.default_rng(0).integers(0, 3, (20_000, 4))
    tacit.Table(codes, columns=[f"c{k}" for k in range(4)]).save(folder / "table.tacit")
    table = tacit.load(folder / "table.tacit")
    tacit.ADTree(table, leaf_size=50).build().save(folder / "tree.tacit")


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what each case said; after one that ended the process, the rest has another."""
    folder = tmp_path_factory.mktemp("hostile")
    make_files(folder)
    script = folder / "cases.py"
    script.write_text(textwrap.dedent(CASES))
    said, left = {}, list(WANTED)
    while left:
        command = [sys.executable, str(script), str(folder), *left]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
        said.update(json.loads(line) for line in done.stdout.splitlines())
        left = [name for name in left if name not in said]
        if left and done.returncode:
            said[left.pop(0)] = f"the process ended with {done.returncode}: {done.stderr[-300:]}"
    return said


@pytest.mark.parametrize("case", WANTED)
def test_is_an_error_that_says_why(answers, case):
    assert answers[case].startswith("refused: "), answers[case]
    assert WANTED[case] in answers[case]


def test_two_processes_write_one_folder(tmp_path):
    """One of them may be refused; what is there is whole, and nothing else lies there."""
    script = textwrap.dedent(
        """
        import sys, numpy as np, tacit
        seed, folder = int(sys.argv[1]), sys.argv[2]
        table = tacit.Table(np.random.default_rng(seed).integers(0, 2, (40 + seed, 3)))
        parts = tacit.scale.partition(table, 4)
        print("ready", flush=True)
        sys.stdin.readline()
        for k in range(10):
            try:
                parts.materialise(folder, overwrite=True)
            except tacit.InputError as error:
                assert "someone else is writing" in str(error), error
        """
    )
    folder = tmp_path / "parts"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(seed), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for seed in (0, 1)
    ]  # fmt: skip
    for writer in writers:
        writer.stdout.readline()
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    parts = tacit.scan(folder)
    assert parts.n_records in (40, 41)
    assert parts.collect().n_records == parts.n_records
    assert len(list(folder.iterdir())) == 5
