"""A folder of partitions holds the table that was written there, or is refused."""

import errno
import json
import os
import pickle
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.scans import as_read, assert_same, some_frames, write
from tacit.io.tables import mapped
from tacit.io.tables.folder import INDEX, LOCK
from tacit.scale import of_tables

CUTS = {"discretise": {"size": [0.0, 1.0, 2.5]}, "weights": "weight"}


@pytest.fixture
def visits():
    return tacit.datasets.load_visits().take(np.arange(900))


@pytest.fixture
def made(visits, tmp_path):
    """Return a folder of six partitions."""
    tacit.scale.partition(visits, 6).materialise(tmp_path / "made")
    return tmp_path / "made"


def files_of(folder):
    return sorted(folder.glob("part-*.tacit"))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_same_table(tmp_path, n_jobs):
    frames = some_frames()
    parts = tacit.scan(write(tmp_path, frames, "parquet"), partition_records=10, **CUTS)
    made = parts.materialise(tmp_path / "folder", n_jobs=n_jobs)
    table = as_read(frames, **CUTS)
    assert_same(made, table)
    again = tacit.scan(tmp_path / "folder")
    assert again.cost.passes == 0
    assert_same(again, table)
    assert again.partition_sizes.tolist() == parts.partition_sizes.tolist()
    assert "not read yet" not in repr(again)


@given(data=st.data())
@settings(max_examples=15)
def test_any_cut_and_thread(data, tmp_path_factory):
    table = as_read(some_frames(data.draw(st.integers(0, 99)), (12, 9)), **CUTS)
    weighted = data.draw(st.booleans())
    table = table if weighted else table.with_weights(None)
    cuts = data.draw(st.lists(st.integers(0, table.n_records), max_size=5))
    ends = sorted({0, table.n_records, *cuts})
    tables = [table.take(np.arange(a, b)) for a, b in pairwise(ends)]
    folder = tmp_path_factory.mktemp("cut")
    made = of_tables(tables).materialise(folder, n_jobs=data.draw(st.integers(1, 3)))
    assert_same(made, table)
    assert made.weighted == weighted


def test_models_of_it(made, visits):
    model = tacit.NaiveBayesMixture(3, random_state=0, max_iter=4)
    one = model.fit(visits)
    weights = one.weights_.copy() if hasattr(one, "weights_") else None
    other = tacit.NaiveBayesMixture(3, random_state=0, max_iter=4).fit(tacit.scan(made))
    assert weights is None or np.allclose(weights, other.weights_, rtol=1e-9)
    assert np.array_equal(tacit.scan(made).pairs().stored, visits.pairs().stored)


def test_partitions_are_mapped_and_looked_through_once(made, monkeypatch):
    looked = []
    check = mapped.check_stored
    monkeypatch.setattr(mapped, "check_stored", lambda *given: (looked.append(1), check(*given)))
    table = tacit.scan(made, memory="1MB")
    counts = table.one_way().counts
    assert len(looked) == 6
    kept = [records for records, _ in table._passes.default._kept.values()]
    assert len(kept) == 6
    assert table._passes.default.kept_bytes == 0
    for loaded in kept:
        for array in (loaded.indptr, loaded.values):
            base = array
            while not isinstance(base, np.memmap) and base.base is not None:
                base = base.base
            assert isinstance(base, np.memmap)
    read = table.cost.bytes_read
    assert read == sum(path.stat().st_size for path in files_of(made))
    assert np.array_equal(table.one_way().counts, counts)
    assert table.cost.bytes_read == read  # they stay
    assert np.array_equal(tacit.scan(made).one_way().counts, counts)
    assert len(looked) == 6  # this process knows them


def test_weights_are_mapped(tmp_path, visits):
    heavy = visits.with_weights(np.arange(900) / 4)
    made = tacit.scale.partition(heavy, 2).materialise(tmp_path / "made")
    assert_same(made, heavy)
    assert not any(table.weights.flags.owndata for table, _ in made._passes.default._kept.values())


def test_columns_of_it(made, visits):
    some = tacit.scan(made, columns=["news", "weather"], memory="1MB")
    assert_same(some, visits.select(["news", "weather"]))
    assert some._passes.default.kept_bytes > 0  # those are copies
    assert_same(tacit.scan(made).select(["news"]), visits.select(["news"]))


def test_schema_is_there_once_and_a_file_can_be_loaded(made, visits):
    assert all(b"weather" not in path.read_bytes() for path in files_of(made))
    tables = [tacit.load(path) for path in files_of(made)]
    assert all(table.schema == visits.schema for table in tables)
    assert np.array_equal(tacit.Table.concat(tables).to_numpy(), visits.to_numpy())
    assert tacit.read(files_of(made)[0]).n_records == 150
    alone = made.parent / files_of(made)[0].name
    shutil.copy(files_of(made)[0], alone)
    with pytest.raises(tacit.FileError, match="not written to the end"):
        tacit.load(alone)
    with pytest.raises(tacit.FileError, match="a partition of a folder; scan the folder"):
        tacit.scan(alone)


def test_what_is_sent_to_workers_is_small(made):
    metadata = tacit.scan(made)._metadata.partitions
    assert len(pickle.dumps(metadata.sources[0])) < 500
    sent = pickle.loads(pickle.dumps(metadata))
    assert sent.load(3, 1).n_records == 150
    assert sent.key == tacit.scan(made)._metadata.partitions.key  # what workers keep is used again


def test_a_folder_that_is_there(made, tmp_path, visits):
    parts = tacit.scale.partition(visits.take(np.arange(10)), 2)
    with pytest.raises(
        tacit.InputError, match=r"folder: .* is not empty; give another, or overwrite"
    ):
        parts.materialise(made)
    assert tacit.scan(made).n_records == 900
    (tmp_path / "empty").mkdir()
    assert parts.materialise(tmp_path / "empty").n_records == 10
    (tmp_path / "file").write_text("x")
    with pytest.raises(tacit.InputError, match=r"folder: .*file is a file"):
        parts.materialise(tmp_path / "file", overwrite=True)
    with pytest.raises(tacit.InputError, match="folder: there is no folder"):
        parts.materialise(tmp_path / "no" / "where")
    (made / "notes.txt").write_text("mine")
    with pytest.raises(
        tacit.InputError, match=r"holds 'notes\.txt', which materialise\(\) did not"
    ):
        parts.materialise(made, overwrite=True)
    assert (made / "notes.txt").exists()
    assert tacit.scan(made).n_records == 900


def test_overwriting(made, visits):
    old = set(files_of(made))
    half = made / ".part-00000000-00001.tacit.x1"  # what a process that was killed may leave
    half.write_text("")
    source = tacit.scan(made)  # which is being replaced by what is made of it
    again = source.select(["news", "sports"]).materialise(made, overwrite=True)
    assert not old & set(files_of(made))
    assert not half.exists()
    assert_same(again, visits.select(["news", "sports"]))
    assert_same(tacit.scan(made), visits.select(["news", "sports"]))


class FailingReader:
    def load(self, source, n_jobs):
        if source.name == "partition 2":
            raise tacit.FileError("there.parquet", "row group 2: is damaged")
        return source.table


def failing(visits):
    """Return a table of which a partition cannot be read."""
    parts = tacit.scale.partition(visits, 4)
    metadata = parts._metadata
    parts._cached_metadata = replace(
        metadata, partitions=replace(metadata.partitions, reader=FailingReader(), key="f")
    )
    return parts


def test_what_fails_leaves_nothing(tmp_path, made, visits):
    for folder in (tmp_path / "new", made):
        with pytest.raises(tacit.FileError, match="row group 2: is damaged"):
            failing(visits).materialise(folder, overwrite=True)
    assert not (tmp_path / "new").exists()
    assert len(list(made.iterdir())) == 7
    assert_same(tacit.scan(made), visits)


def test_a_half_written_folder_is_refused(made, visits):
    (made / INDEX).unlink()
    with pytest.raises(tacit.FileError, match=r"is not a complete table: it has no tacit\.json"):
        tacit.scan(made)
    with pytest.raises(tacit.InputError, match="not empty"):
        tacit.scale.partition(visits, 2).materialise(made)
    assert_same(tacit.scale.partition(visits, 2).materialise(made, overwrite=True), visits)
    assert len(files_of(made)) == 2


def test_writing_stops_before_the_index(made, visits, monkeypatch):
    """A crash just before the new index is there leaves the old table."""
    from tacit.io.tables import folder

    def stop(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "written_whole", stop)
    monkeypatch.setattr(folder, "_remove", lambda *given: None)  # as if the process was gone
    monkeypatch.setattr(
        folder.store, "write_arrays", lambda path, kind, arrays: Path(path).write_bytes(b"")
    )
    monkeypatch.setattr(folder.store, "seal_of", lambda path: "")
    with pytest.raises(KeyboardInterrupt):
        tacit.scale.partition(visits.take(np.arange(20)), 2).materialise(made, overwrite=True)
    monkeypatch.undo()
    assert len(files_of(made)) == 8
    assert_same(tacit.scan(made), visits)


def damage(path, place, byte=0x55):
    data = bytearray(path.read_bytes())
    data[place] ^= byte
    path.write_bytes(data)


@pytest.mark.parametrize("place", [0, 9, 200, -1, -300])
def test_damage_is_found_and_named(made, place):
    damage(files_of(made)[4], place)
    table = tacit.scan(made)
    with pytest.raises(tacit.FileError, match=files_of(made)[4].name):
        table.one_way()


def test_files_that_are_gone_or_others(made, visits, tmp_path):
    one, other, *_ = files_of(made)
    shutil.copy(one, tmp_path / "one")
    one.unlink()
    with pytest.raises(tacit.FileError, match=f"{one.name}: is not there any more"):
        tacit.scan(made).one_way()
    shutil.copy(other, one)  # whole in itself, but not what was written there
    with pytest.raises(tacit.FileError, match=f"{one.name}: is not the file that was written"):
        tacit.scan(made).one_way()
    one.write_bytes((tmp_path / "one").read_bytes()[:-10])
    with pytest.raises(tacit.FileError, match=f"{one.name}: is not the file that was written"):
        tacit.scan(made).one_way()
    shutil.copy(tmp_path / "one", one)
    assert_same(tacit.scan(made), visits)


def test_a_file_that_changes_between_passes(made):
    table = tacit.scan(made)
    table.one_way()
    table._passes.default.release()
    damage(files_of(made)[2], -1)
    with pytest.raises(
        tacit.FileError, match=f"{files_of(made)[2].name}: is damaged: the checksum"
    ):
        table.one_way()


def edit(folder, change):
    """Change what an index says, and its checksum with it."""
    import zlib

    index = json.loads((folder / INDEX).read_text())
    change(index)
    content = json.dumps(index.pop("content"), ensure_ascii=False).encode()
    index["crc32"] = f"{zlib.crc32(content):08x}"
    (folder / INDEX).write_bytes(
        json.dumps(index)[:-1].encode() + b', "content": ' + content + b"}\n"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda x: x.update(tacit="9"),
            r"tacit\.json: has format '9'; this version of tacit reads",
        ),
        (lambda x: x["content"].pop("schema"), "tacit.json: is damaged: it has no 'schema'"),
        (lambda x: x["content"].update(partitions=[]), "it lists no records"),
        (
            lambda x: x["content"]["partitions"][0].update(file="../x.tacit"),
            r"lists '\.\./x\.tacit'",
        ),
        (lambda x: x["content"]["schema"].update(defaults=[7] * 27), "its schema"),
    ],
)
def test_an_index_is_not_believed_unchecked(made, change, message):
    edit(made, change)
    with pytest.raises(tacit.FileError, match=message):
        tacit.scan(made)


def test_a_damaged_index(made):
    text = (made / INDEX).read_text()
    (made / INDEX).write_text(text.replace('"news"', '"nows"'))
    with pytest.raises(tacit.FileError, match="its checksum does not match"):
        tacit.scan(made)
    (made / INDEX).write_text(text[:-40])
    with pytest.raises(tacit.FileError, match="is damaged: it cannot be read"):
        tacit.scan(made)


def test_values_out_of_range_are_found_in_spite_of_checksums(made):
    """Whoever writes files by hand does not get kernels to read beyond arrays."""
    from tacit import store

    path = files_of(made)[1]
    _, arrays = store.read_arrays(path)
    arrays["values"] = arrays["values"].copy()
    arrays["values"][3] = 60_000
    store.write_arrays(path, "partition", arrays)
    seal = store.seal_of(path)
    edit(made, lambda x: x["content"]["partitions"][1].update(seal=seal))
    with pytest.raises(tacit.FileError, match=f"{path.name}: is damaged: stored values"):
        tacit.scan(made).one_way()


@pytest.mark.parametrize(
    "options",
    [{"weights": "w"}, {"missing": "error"}, {"discretise": "width"}, {"partition_records": 3},
     {"defaults": {"news": True}}, {"separator": ";"}],
)  # fmt: skip
def test_options_that_a_folder_does_not_have(made, options):
    with pytest.raises(tacit.InputError, match="is no option of a folder of partitions"):
        tacit.scan(made, **options)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(
        tacit.InputError, match=r"is a folder, but not one that materialise\(\) wrote"
    ):
        tacit.scan(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(tacit.InputError, match=r"give a pattern such as '.*\*\.parquet'"):
        tacit.scan(tmp_path)


# Single Table files


def test_table_files_with_one_schema(tmp_path, visits):
    for k in range(3):
        visits.take(np.arange(300 * k, 300 * k + 300)).save(tmp_path / f"{k}.tacit")
    parts = tacit.scan(tmp_path / "*.tacit")
    assert parts.n_partitions == 3
    assert_same(parts, visits)
    assert parts._passes.default.kept_bytes == 0
    assert_same(tacit.scan(tmp_path / "*.tacit", columns=["news"]), visits.select(["news"]))
    damage(tmp_path / "1.tacit", -1)
    with pytest.raises(tacit.FileError, match=r"1\.tacit"):
        tacit.scan(tmp_path / "*.tacit").one_way()


@pytest.mark.parametrize("defaults", [None, {"word": "w1"}])
def test_table_files_whose_labels_differ(tmp_path, defaults):
    frames = [frame for frame in some_frames() if frame.height]
    for k, frame in enumerate(frames):
        ordered = frame if k != 1 else frame.select(frame.columns[::-1])
        tacit.Table(ordered, **CUTS).save(tmp_path / f"{k}.tacit")
    parts = tacit.scan(tmp_path / "*.tacit", defaults=defaults)
    tables = [tacit.load(tmp_path / f"{k}.tacit") for k in (0, 1, 2)]
    tables[1] = tables[1].select(tables[0].schema.names)
    assert_same(parts, tacit.Table.concat(tables, defaults=defaults))
    assert_same(parts.materialise(tmp_path / "all"), tacit.Table.concat(tables, defaults=defaults))


def test_table_files_that_do_not_go_together(tmp_path):
    tacit.Table({"a": [1, 2]}).save(tmp_path / "0.tacit")
    tacit.Table({"a": [1], "b": [1]}).save(tmp_path / "1.tacit")
    tacit.Table({"a": ["x"]}).save(tmp_path / "2.tacit")
    tacit.Table({"a": [1, 2]}, weights=[1, 2]).save(tmp_path / "3.tacit")
    tacit.NaiveBayesMixture(2, max_iter=1).fit(tacit.Table({"a": [1, 2, 1, 2]})).save(
        tmp_path / "4.tacit"
    )

    def scan(k):
        return tacit.scan([tmp_path / "0.tacit", tmp_path / f"{k}.tacit"])

    with pytest.raises(
        tacit.FileError, match=r"1\.tacit: has the column 'b', but .*0\.tacit does not"
    ):
        scan(1)
    with pytest.raises(tacit.InputError, match="column 'a' is Int64 in one and String in another"):
        scan(2).one_way()
    with pytest.raises(tacit.FileError, match=r"0\.tacit: has no weights, but .*3\.tacit has"):
        scan(3)
    with pytest.raises(tacit.FileError, match=r"4\.tacit: holds no Table but"):
        scan(4)
    with pytest.raises(tacit.InputError, match="missing is no option of tacit files"):
        tacit.scan(tmp_path / "0.tacit", missing="error")


class InterferingReader:
    """Has another table written to the folder while a partition is read."""

    def __init__(self, folder, other):
        self.folder, self.other = folder, other

    def load(self, source, n_jobs):
        if source.name == "partition 2":
            self.other.materialise(self.folder, overwrite=True)
        return source.table


def test_two_at_once(made, visits):
    other = tacit.scale.partition(visits.take(np.arange(20)), 2)
    parts = tacit.scale.partition(visits, 4)
    metadata = parts._metadata
    reader = InterferingReader(made, other)
    parts._cached_metadata = replace(
        metadata, partitions=replace(metadata.partitions, reader=reader, key="i")
    )
    # The second is refused, which here ends the first, too: whoever it was, the folder is whole.
    with pytest.raises(tacit.InputError, match="folder: someone else is writing to"):
        parts.materialise(made, overwrite=True)
    assert_same(tacit.scan(made), visits)
    assert len(files_of(made)) == 6


def test_what_killed_processes_leave_is_no_obstacle(made, visits):
    for name in (
        ".tmpAb12Cd",
        ".tacit.lock",
        ".tacit.json.0a1b2c3d",
        ".part-00000000-00001.tacit.f",
    ):
        (made / name).write_bytes(b"")
    assert_same(tacit.scan(made), visits)
    made_anew = tacit.scale.partition(visits, 2).materialise(made, overwrite=True)
    assert_same(made_anew, visits)
    assert len(list(made.iterdir())) == 3
    (made / ".tmpnotes").write_text("mine")
    with pytest.raises(tacit.InputError, match=r"holds '\.tmpnotes', which materialise\(\) did"):
        tacit.scale.partition(visits, 2).materialise(made, overwrite=True)
    assert (made / ".tmpnotes").read_text() == "mine"


def test_a_folder_that_cannot_be_written_to(made, visits, monkeypatch):
    real = os.open

    def refuse(path, *rest, **options):
        if Path(path).name == LOCK:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *rest, **options)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(tacit.InputError, match=r"folder: .*made cannot be written to: Perm"):
        tacit.scale.partition(visits, 2).materialise(made, overwrite=True)
    monkeypatch.undo()
    assert_same(tacit.scan(made), visits)


def test_a_folder_that_cannot_be_listed(made, visits, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", refuse)
    for ask in (
        lambda: tacit.scan(made),
        lambda: tacit.scale.partition(visits, 2).materialise(made, overwrite=True),
    ):
        with pytest.raises(tacit.FileError, match="made: cannot be read: Permission denied"):
            ask()


@pytest.mark.parametrize("first", [True, False])
def test_a_lock_that_goes_away_while_it_is_looked_at(made, visits, monkeypatch, first):
    """Whoever had it before removes the file, before it is looked at or after."""
    stat, looked = Path.stat, []

    def look(path, **options):
        if path.name != LOCK or looked:
            return stat(path, **options)
        looked.append(path)
        if first:
            path.unlink()
        status = stat(path, **options)
        path.unlink()
        return status

    monkeypatch.setattr(Path, "stat", look)
    again = tacit.scale.partition(visits, 2).materialise(made, overwrite=True)
    monkeypatch.undo()
    assert looked
    assert_same(again, visits)
