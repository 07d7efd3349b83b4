"""An explorer of partitions answers as one of a Table: from distinct records, or by passes."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tacit
from explore.test_state import selections
from support.strategies import data as random_data
from tacit import InputError
from tacit.cli import app
from tacit.counts import Distinct
from tacit.explore import Explorer, partitions
from tacit.explore.jobs import Jobs
from tacit.explore.offline import packed_records
from tacit.explore.questions import answer


def some_frame(n=4000):
    rng = np.random.default_rng(6)
    return pl.DataFrame(
        {
            "number": rng.integers(0, 400, n),
            "few": rng.integers(0, 5, n),
            "town": [f"t{k}" for k in np.minimum(rng.geometric(0.05, n), 100)],
            "id": [f"id {k}" for k in range(n)],
            "late": rng.random(n) < 0.2,
        }
    )


@pytest.fixture
def few_fit(monkeypatch):
    """No memory for distinct records: every question is a pass."""
    monkeypatch.setattr(partitions, "available_memory", lambda: 1000)


def both_explorers(table, n):
    parts = tacit.scale.partition(table, n)
    return Explorer(table), Explorer(parts)


ASKED = [
    {"given": "", "sets": [[0], [1], [2], [3]]},
    {"given": "1:0-2;0:!3", "sets": [[2], [0, 3], [3, 1, 0]]},
    {"given": "1:", "sets": [[2]]},
]


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("passes", [False, True])
def test_partitions_are_shown_and_counted_as_a_table(n, passes, request):
    if passes:
        request.getfixturevalue("few_fit")
    whole, parts = both_explorers(tacit.Table(some_frame()), n)
    assert isinstance(parts.counter, partitions.Passes if passes else Distinct)
    assert parts.describe() == whole.describe()
    assert parts.tables({"ask": ASKED}) == whole.tables({"ask": ASKED})
    schema = parts.views.schema
    for query in ({}, {"late": True, "few": [1, 4]}):
        assert parts.counter.count(query) == whole.counter.count(query)
    one, other = parts.counter.table(["late", "few"]), whole.counter.table(["late", "few"])
    assert one.to_array().tolist() == other.to_array().tolist()
    assert schema == whole.views.schema
    if not passes:
        assert parts.table.weights.sum() == 4000
        found = parts.findings({"a": "3:1"})
        wanted = whole.findings({"a": "3:1"})
        assert [rule["text"] for rule in found["rules"]] == [r["text"] for r in wanted["rules"]]
        assert packed_records(parts) == packed_records(whole)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_state_of_partitions_is_counted(data):
    table = data.draw(random_data(with_chosen=False)).table().with_weights(None)
    n = data.draw(st.integers(1, min(3, table.n_records)))
    whole, parts = both_explorers(table, n)
    arities = whole.views.schema.arities.tolist()
    columns = st.lists(
        st.integers(0, len(arities) - 1), min_size=1, max_size=min(3, len(arities)), unique=True
    )
    groups = data.draw(st.lists(st.tuples(selections(arities), st.lists(columns, max_size=3))))
    asked = [{"given": s.to_text(), "sets": sets} for s, sets in groups]
    if not asked:
        return
    passes = partitions.Passes(tacit.scale.partition(table, n), parts.views)
    wanted = answer(tacit.counts.Scan(whole.table), asked)
    for counter in (whole.counter, parts.counter, passes):
        for one, other in zip(answer(counter, asked), wanted, strict=True):
            assert one.tolist() == other.tolist()


def test_what_needs_the_records_says_so(few_fit):
    _, parts = both_explorers(tacit.Table(some_frame()), 3)
    with pytest.raises(InputError, match="more than the limit lets in: give more --memory"):
        parts.findings({"a": "3:1"})
    with pytest.raises(InputError, match="more than the limit lets in: give more --memory"):
        parts.jobs.start({"model": "tree", "given": "", "target": 3})
    assert isinstance(parts.jobs, Jobs)
    parts.jobs.close()


def test_weights_are_refused():
    table = tacit.Table(some_frame()).with_weights(np.full(4000, 0.5))
    with pytest.raises(InputError, match="partitions with weights cannot be explored"):
        Explorer(tacit.scale.partition(table, 2)).counter  # noqa: B018


def test_a_dask_frame_is_explored():
    dd = pytest.importorskip("dask.dataframe")
    frame = some_frame(500).to_pandas()
    explorer = Explorer(dd.from_pandas(frame, npartitions=3), target="late")
    assert explorer.counter.count({"late": True}) == frame["late"].sum()


@pytest.mark.parametrize("kind", ["pattern", "folder", "memory"])
def test_partitions_are_written_as_a_page(tmp_path, kind):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = some_frame()
    for k in range(4):
        frame[k * 1000 : (k + 1) * 1000].write_parquet(folder / f"{k}.parquet")
    out = tmp_path / "x.html"
    source, options = folder / "*.parquet", []
    if kind == "folder":
        tacit.scan(str(source)).materialise(tmp_path / "table")
        source = tmp_path / "table"
    elif kind == "memory":
        options = ["--memory", "2GB"]
    arguments = ["explore", str(source), "--target", "late", "-o", str(out), *options]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "4,000 records" in result.stdout
    assert "tacit.scan(" in out.read_text()
    against = ["explore", str(source), "--against", str(source), "-o", str(out)]
    result = CliRunner().invoke(app, against)
    assert result.exit_code == 1
    assert "--against compares files that are read as a whole" in result.stderr


def test_logs_in_partitions(tmp_path):
    rng = np.random.default_rng(8)
    log = pl.DataFrame({"who": rng.integers(0, 300, 4000), "what": rng.integers(0, 9, 4000)})
    log.write_csv(tmp_path / "log.csv")
    out = tmp_path / "x.html"
    arguments = ["explore", str(tmp_path / "log.csv"), "--long", "who,what", "--memory", "2GB"]
    result = CliRunner().invoke(app, [*arguments, "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "300 records" in result.stdout
