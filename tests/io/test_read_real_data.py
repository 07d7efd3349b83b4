"""Public data sets: the numbers that are known of them."""

import io
import logging
import zipfile

import numpy as np
import polars as pl
import pytest

from support.real_data import ADULT
from tacit import (
    Table,
    read,
    read_arff,
    read_baskets,
    read_csv,
    read_msweb,
    read_svmlight,
    scan,
)


@pytest.mark.parametrize(
    ("part", "m", "stored"), [("data", 32_711, 98_654), ("test", 5000, 15_191)]
)
def test_msweb(shared_data, part, m, stored):
    table = read_msweb(shared_data / "msweb" / f"anonymous-msweb.{part}.gz")
    assert (*table.shape, table.n_stored) == (m, 294, stored)
    assert {"MS Project (1154)", "MS Project (1169)"} <= set(table.schema.names)


@pytest.mark.parametrize(
    ("name", "m", "n", "stored"),
    [
        ("T10I4D100K", 100_000, 870, 1_010_228),
        ("mushroom", 8124, 119, 186_852),  # this copy has an empty line
        ("chess", 3196, 75, 118_252),
    ],
)
def test_baskets_of_numbers(shared_data, name, m, n, stored):
    table = read(shared_data / "fimi" / f"{name}.dat.xz", skip_empty=True)
    assert (*table.shape, table.n_stored) == (m, n, stored)
    assert [int(c) for c in table.schema.names] == sorted(int(c) for c in table.schema.names)


def test_baskets_of_names(shared_data):
    table = read_baskets(shared_data / "groceries" / "groceries.csv.xz", chunk_bytes=10_000)
    assert (*table.shape, table.n_stored) == (9835, 169, 43_367)
    assert table.count({"whole milk": True}) == 2513


def test_categories_with_missing_values(shared_data):
    table = read(
        shared_data / "mushroom_uci" / "mushrooms.csv.xz", null_values="?", chunk_records=1000
    )
    assert table.shape == (8124, 23)
    counts = table.one_way()
    assert sum(counts[name].get(None, 0) for name in table.schema.names) == 2480
    assert table.one_way()["type"] == {"e": 4208, "p": 3916}


def test_adult(shared_data):
    path = shared_data / "adult" / "adult.data.xz"
    table = read_csv(path, chunk_records=5000, **ADULT)
    assert table.shape == (32_561, 15)
    assert table.one_way()["class"] == {"<=50K": 24_720, ">50K": 7841}
    assert table.one_way()["workclass"][None] == 1836
    assert table.schema["age"].labels.dtype == "Int64"
    cut = read(path, discretise={"age": "mdl", "fnlwgt": 4}, target="class", **ADULT)
    assert 2 < cut.schema["age"].arity < 73
    assert cut.schema["fnlwgt"].arity == 4


@pytest.mark.parametrize(
    ("name", "shape", "first", "notes"),
    [
        ("adult/adult.data.xz", (32_561, 15), "0", ["',' and blanks", "there is no header"]),
        ("adult/adult.test.xz", (16_281, 15), "0", ["a comment", "',' and blanks", "no header"]),
        ("letter/letter-recognition.data.xz", (20_000, 17), "Letter", []),
        ("mushroom_uci/mushrooms.csv.xz", (8124, 23), "type", []),
        ("debd/nltcs/nltcs.train.data.xz", (16_181, 16), "0", ["there is no header"]),
        (
            "ilpd/Indian Liver Patient Dataset (ILPD).csv.xz",
            (583, 11),
            "Age",
            ["lines end in CR only"],
        ),
    ],
)
def test_layouts_are_found(shared_data, caplog, name, shape, first, notes):
    with caplog.at_level(logging.INFO, logger="tacit.io"):
        table = read(shared_data / name, format="csv", discretise=3)
    assert table.shape == shape
    assert table.schema.names[0] == first
    assert len(caplog.records) == bool(notes)
    assert all(note in caplog.text for note in notes)


def test_bank_marketing_is_separated_by_semicolons(shared_data, tmp_path):
    with zipfile.ZipFile(shared_data / "bank_marketing" / "bank+marketing.zip") as archive:
        inner = io.BytesIO(archive.read("bank.zip"))
    with zipfile.ZipFile(inner) as archive:
        archive.extract("bank-full.csv", tmp_path)
    table = read(tmp_path / "bank-full.csv")
    assert table.shape == (45_211, 17)
    assert table.one_way()["y"] == {"no": 39_922, "yes": 5289}


def test_a_bag_of_words_is_a_log(shared_data):
    [path] = (shared_data / "bow_kos").glob("docword.kos.txt*")
    layout = {"format": "csv", "separator": " ", "header": False, "skip_lines": 3}
    table = read(path, long=("0", "1", "2"), **layout)
    assert (*table.shape, table.n_stored) == (3430, 6906, 353_160)
    assert table.index.to_list() == list(range(1, 3431))
    parts = scan(path, long=("0", "1", "2"), partition_records=1000, **layout)
    assert parts.n_partitions > 1
    assert parts.schema == table.schema
    assert np.array_equal(parts.collect().values, table.values)
    present = read(path, long=("0", "1"), min_count=20, **layout)
    counts = present.one_way()
    assert all(counts[name][True] >= 20 for name in present.schema.names)


def test_adult_as_binary_columns(shared_data):
    features = {str(c): 0 for c in range(123)}
    for part, m, stored in [("trn", 32_561, 451_592), ("tst", 16_281, 225_731)]:
        path = shared_data / "a9a_libsvm" / f"adult.{part}.bz2"
        table = read_svmlight(path, n_features=123, defaults=features)
        assert table.shape == (m, 124)
        assert table.n_stored == stored + table.one_way()["target"][1]
        assert table.schema["target"].labels.items == (-1, 1)


def test_words_as_presence(shared_data):
    path = shared_data / "reuters_moneyfx" / "reuters.trn.bz2"
    features = {str(c): 0 for c in range(8315)}
    table = read_svmlight(path, discretise="presence", defaults=features)
    assert table.shape == (7770, 8316)
    assert table.n_stored == 339_837 + min(table.one_way()["target"].values())


REAL_VALUED = {"discretise": 4}


@pytest.mark.parametrize(
    ("name", "m", "n", "options"),
    [
        ("enron/enron", 1702, 1001 + 53, {}),
        ("medical/medical", 978, 1449 + 45, {}),
        ("tmc2007/tmc2007-500", 28_596, 500 + 22, {}),
        ("delicious/delicious", 16_105, 500 + 983, {}),
        ("corel5k/Corel5k-sparse", 5000, 499 + 374, {}),
        ("genbase/genbase", 662, 1186 + 27, {}),
        ("birds/birds-train", 322, 260 + 19, REAL_VALUED),
        ("cal500/cal500", 502, 68 + 174, REAL_VALUED),
        ("emotions/emotions", 593, 72 + 6, REAL_VALUED),
        ("flags/flags", 194, 19 + 7, REAL_VALUED),
        ("foodtruck/foodtruck", 407, 21 + 12, REAL_VALUED),
        ("scene/scene-test", 1196, 294 + 6, REAL_VALUED),
        ("yeast/yeast", 2417, 103 + 14, REAL_VALUED),
    ],
)
def test_multilabel_sets(shared_data, name, m, n, options):
    table = read_arff(shared_data / "multilabel" / f"{name}.arff.xz", **options)
    assert table.shape == (m, n)
    assert table.columns[-1].labels.items == ("0", "1")


def test_train_and_test_make_the_whole(shared_data):
    folder = shared_data / "multilabel" / "tmc2007"
    parts = [read(folder / f"tmc2007-500-{part}.arff.xz") for part in ("train", "test")]
    whole = read(folder / "tmc2007-500.arff.xz")
    joined = Table.concat(parts)
    assert joined.schema == whole.schema
    assert joined.n_records == whole.n_records
    same = joined.one_way(), whole.one_way()
    differ = [name for name in whole.schema.names if same[0][name] != same[1][name]]
    assert not differ


def test_bare_carriage_returns(shared_data):
    path = next((shared_data / "ilpd").glob("*.csv.xz"))
    table = read_csv(path, discretise=4)
    assert table.shape == (583, 11)


def test_binary_density_sets_have_no_header(shared_data):
    table = read(shared_data / "debd" / "nltcs" / "nltcs.train.data.xz")
    assert table.shape == (16_181, 16)
    assert {labels.items for labels in table.schema.labels} == {(0, 1)}


def test_a_large_csv_file_in_chunks(shared_data, tmp_path):
    path = shared_data / "kddcup99_10pct" / "kddcup.data_10_percent.gz"
    table = read(path, format="data", discretise=4, chunk_records=100_000)
    assert table.shape == (494_021, 42)
    assert table.one_way()["41"]["smurf."] == 280_790
    assert isinstance(table.to_frame("polars"), pl.DataFrame)
