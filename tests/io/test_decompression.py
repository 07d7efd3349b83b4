"""What is decompressed to the disk leaves room on it."""

import gzip
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import tacit
from tacit.io import opening


@pytest.mark.parametrize("free", [0.04, 0.06])
def test_a_disk_is_never_filled(tmp_path, monkeypatch, free):
    path = tmp_path / "data.parquet.gz"
    path.write_bytes(gzip.compress(bytes(30_000_000)))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    size = 500_000_000

    def disk_usage(folder):
        used = sum(file.stat().st_size for file in Path(folder).iterdir())
        return SimpleNamespace(total=size, free=int(size * free) - used)

    monkeypatch.setattr(opening.shutil, "disk_usage", disk_usage)
    with pytest.raises(tacit.FileError, match=r"data\.parquet\.gz: takes more than .* when it is"):
        tacit.read(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_large_disk_may_be_nearly_full(tmp_path, monkeypatch):
    path = tmp_path / "data.parquet.gz"
    path.write_bytes(gzip.compress(b"no such file"))
    room = SimpleNamespace(total=4 * 10**12, free=10**9)  # far less than 5 %
    monkeypatch.setattr(opening.shutil, "disk_usage", lambda folder: room)
    with pytest.raises(tacit.FileError) as error:
        tacit.read(path)
    assert "takes more than" not in str(error.value)
