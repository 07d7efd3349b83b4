"""A few inputs of each kind that `make fuzz` throws by the hour: no crash, hang or raw error."""

import pytest

from fuzz.runner import TARGETS, campaign, make_corpus

N = 150


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    make_corpus(folder)
    return folder


@pytest.mark.parametrize("target", TARGETS)
def test_a_bounded_campaign(target, corpus):
    done = campaign(target, count=N, corpus=None if target == "calls" else corpus)
    assert done.found == []
    assert done.n_inputs == N


def test_what_is_found_is_told(corpus, monkeypatch, tmp_path):
    """A target that fails at an input, dies at another and goes on: both are told, none is lost."""
    (tmp_path / "faulty.py").write_text(
        "import os\n"
        "def throw(rng, files, scratch):\n"
        "    counter = scratch / 'n'\n"
        "    n = int(counter.read_text()) if counter.exists() else 0\n"
        "    counter.write_text(str(n + 1))\n"
        "    if n == 2:\n"
        "        raise KeyError('raw')\n"
        "    if n == 4:\n"
        "        os.abort()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = campaign("faulty", count=8, corpus=corpus)
    assert done.n_inputs == 8
    assert len(done.found) == 2
    assert any("KeyError: 'raw'" in what for what in done.found)
    assert any("faulty 4: ended with -6" in what for what in done.found)
