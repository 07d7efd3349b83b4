"""The examples in these pages run in a folder of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
