"""What takes all records on one machine says so, and how to get them there."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_array

import tacit
from tacit.errors import refuse_partitions
from tacit.scale import partition


@pytest.fixture(scope="module")
def visits():
    return tacit.datasets.load_visits().take(np.arange(300))


@pytest.fixture(scope="module")
def parts(visits):
    return partition(visits, 3)


ENTRIES = {
    "boosted classifier": lambda p: tacit.BoostedRulesClassifier().fit(p, "region"),
    "boosted regressor": lambda p: tacit.BoostedRulesRegressor().fit(p, np.zeros(300)),
    "covering rules": lambda p: tacit.CoveringRulesClassifier().fit(p, "region"),
    "rule finder": lambda p: tacit.RuleFinder("region", "north").fit(p),
    "significant rules": lambda p: tacit.SignificantRules(value="north").fit(p, "region"),
    "forecast of itemsets": lambda p: tacit.FrequentItemsets().forecast(p),
    "best subset": lambda p: tacit.BestSubset(2).fit(p, "region"),
    "tune": lambda p: tacit.tune(tacit.SparseKNeighborsClassifier(), p, "region"),
    "minimum cut": lambda p: tacit.minimum_cut(p, [0], [1]),
    "normalised cut": lambda p: tacit.normalized_cut(p, [1, -1, 0]),
    "path of cuts": lambda p: tacit.normalized_cut_path(p, [1, -1, 0]),
    "neighbours": lambda p: tacit.SparseKNeighborsClassifier().fit(p, "region"),
    "cut classifier": lambda p: tacit.NormalizedCutClassifier().fit(p, "region"),
    "support vectors": lambda p: tacit.SparseSVC().fit(p, "region"),
    "similarities": lambda p: tacit.SparseComputation(5).fit(p).similarity(),
    "pairs of objects": lambda p: tacit.SparseComputation(5).fit(p).pairs(),
    "drawing": lambda p: tacit.SparseComputation(5).fit(p).plot(),
    "adaptive grid": lambda p: tacit.SparseComputation(adaptive=True).fit(p),
    "bitmaps": tacit.counts.Bitmaps,
    "scan": tacit.counts.Scan,
    "planner": tacit.counts.Planner,
    "counter": tacit.counter,
    "table": tacit.Table,
    "as_table": tacit.as_table,
    "array": np.asarray,
    "array of a type": lambda p: np.array(p, dtype=float),
    "checked array": check_array,
    "scikit-learn": lambda p: DecisionTreeClassifier().fit(p, np.zeros(300)),
}

OF_FRAMES = (
    "boosted classifier",
    "boosted regressor",
    "covering rules",
    "rule finder",
    "significant rules",
    "best subset",
    "tune",
    "minimum cut",
    "counter",
    "table",
    "as_table",
)


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_say_what_they_need(parts, name):
    with pytest.raises(tacit.InputError) as caught:
        ENTRIES[name](parts)
    text = str(caught.value)
    assert "one machine" in text
    assert "partitioned table" in text
    assert ".collect() gets all" in text
    assert ".take(…) some of them" in text


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("boosted classifier", "BoostedRulesClassifier"),
        ("boosted regressor", "BoostedRulesRegressor"),
        ("covering rules", "CoveringRulesClassifier"),
        ("rule finder", "RuleFinder"),
        ("significant rules", "SignificantRules"),
        ("forecast of itemsets", "FrequentItemsets"),
        ("best subset", "BestSubset"),
        ("bitmaps", "Bitmaps"),
        ("counter", "counter"),
        ("support vectors", "SparseSVC"),
        ("tune", "tune"),
    ],
)
def test_the_message_names_who_asks(parts, name, what):
    with pytest.raises(tacit.InputError, match=rf": {what} (needs|compares) "):
        ENTRIES[name](parts)


def test_explanations_take_one_machine(visits, parts):
    X = visits.select([name for name in visits.schema.names if name != "region"])
    y = visits.to_frame("polars")["region"]
    for model in (tacit.BoostedRulesClassifier(n_rules=2), tacit.CoveringRulesClassifier()):
        with pytest.raises(tacit.InputError, match="one machine"):
            model.fit(X, y).explain(parts)


def test_what_was_fitted_stays(visits, parts):
    model = tacit.BoostedRulesClassifier(n_rules=2).fit(visits, "region")
    wanted = model.predict(visits)
    with pytest.raises(tacit.InputError):
        model.fit(parts, "region")
    assert np.array_equal(model.predict(visits), wanted)


def test_the_message_helps(visits, parts):
    assert parts.collect().n_records == visits.n_records
    tacit.ADTree(parts.collect())
    tacit.RuleFinder("region", "north").fit(parts.take(np.arange(100)))


def test_nothing_else_is_refused(visits):
    for fine in (visits, np.zeros(3), {"a": [1]}, None, "parts"):
        refuse_partitions(fine, "anything")


@pytest.mark.parametrize("name", OF_FRAMES)
def test_frames_of_dask_are_in_partitions_too(visits, name):
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(visits.to_frame("pandas"), npartitions=2)
    with pytest.raises(tacit.InputError, match=r"one machine.*of Dask; \w+.compute\(\) gets all"):
        ENTRIES[name](frame)
