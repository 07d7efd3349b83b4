"""How estimators take their X, in fit and ever after: whatever it is, by one gateway."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from polars.testing import assert_frame_equal
from scipy import sparse
from sklearn.utils import estimator_checks

from support.reader import Reader
from support.strategies import data
from tacit import InputError, Table
from tacit.errors import InputWarning
from tacit.schema import Schema
from tacit.table import inputs as module
from tacit.table.discretise import apply_cuts, bin_labels, bins_of
from tacit.table.input_spec import InputSpec
from tacit.table.inputs import Inputs

examples = settings(max_examples=50)


def labels_of(table):
    return table.to_frame("polars").to_dict(as_series=False)


FRAME = pl.DataFrame({"sky": ["blue", "grey", "grey", "red"], "wet": [0, 1, 1, 0]})
NUMBERS = np.array([[0.5, 3], [1.5, 1], [2.5, 2], [9.5, 1]])

frames = pytest.mark.parametrize(
    "as_kind",
    [
        lambda frame: frame,
        lambda frame: frame.to_pandas(),
        lambda frame: frame.to_arrow(),
        lambda frame: frame.to_dict(as_series=False),
        Table,
    ],
    ids=["polars", "pandas", "arrow", "mapping", "table"],
)
containers = [
    sparse.csr_array,
    sparse.csr_matrix,
    sparse.csc_array,
    sparse.coo_array,
    sparse.bsr_array,
    sparse.dok_array,
    sparse.lil_array,
    sparse.dia_array,
]


class TestFrames:
    @frames
    def test_have_names(self, as_kind):
        given = as_kind(FRAME)
        model = Reader().fit(given)
        assert model._input.origin == ("table" if isinstance(given, Table) else "frame")
        assert model.n_features_in_ == 2
        assert model.feature_names_in_.tolist() == ["sky", "wet"]
        assert model.feature_names_in_.dtype == object
        assert_frame_equal(model.table_.to_frame("polars"), FRAME)
        assert model._input.schema == model.table_.schema
        assert [column.edges for column in model._input.schema] == [None, None]

    @frames
    def test_are_read_under_the_schema_of_the_model(self, as_kind):
        model = Reader().fit(FRAME)
        other = FRAME[2:]
        read = model.read(as_kind(other))
        assert read.schema == model._input.schema
        assert read.to_numpy().tolist() == [[1, 1], [2, 0]]
        assert_frame_equal(read.to_frame("polars"), other)

    def test_a_table_is_itself(self):
        table = Table(FRAME)
        model = Reader().fit(table)
        assert model.table_ is table
        assert model.read(table) is table

    def test_missing_values_are_a_label(self):
        frame = pd.DataFrame({"a": ["x", None, "y"], "b": [1.0, np.nan, 2.0]})
        model = Reader().fit(frame)
        assert labels_of(model.read(frame[1:])) == {"a": [None, "y"], "b": [None, 2.0]}

    def test_columns_of_a_table_are_found_by_name(self):
        model = Reader().fit(FRAME)
        wider = FRAME.select("wet", pl.lit(7).alias("more"), "sky")
        np.testing.assert_array_equal(model.read(Table(wider)).to_numpy(), model.table_.to_numpy())
        with pytest.raises(InputError, match="X: there is no column 'sky', on which the model was"):
            model.read(Table(FRAME.select("wet")))

    @pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
    def test_columns_of_a_frame_are_compared_as_scikit_learn_does(self, kind):
        model = Reader().fit(FRAME)

        def native(frame):
            return Table(frame).to_frame(kind)

        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            model.read(native(FRAME.select("wet", "sky")))
        with pytest.raises(ValueError, match="unseen at fit time:\n- more"):
            model.read(native(FRAME.with_columns(more=1)))
        with pytest.raises(ValueError, match="yet now missing:\n- wet"):
            model.read(native(FRAME.select("sky")))

    def test_with_numbers_for_names_are_arrays(self):
        model = Reader().fit(pd.DataFrame(np.array([[1, 2], [3, 2]])))
        assert model._input.origin == "array"
        assert not hasattr(model, "feature_names_in_")
        with pytest.raises(TypeError, match="only supported if all input features have string"):
            Reader().fit(pd.DataFrame(np.ones((2, 2)), columns=["a", 1]))


class TestArrays:
    @pytest.mark.parametrize(
        "X",
        [
            np.array([[-3, 1], [5, 1], [5, 0]]),
            np.array([[1.0, 2.0], [3.0, 2.0]], np.float32),
            np.array([["a", "b"], ["c", "b"]]),
            np.array([["a", 1], ["c", 2]], object),
            np.array([[True, False], [True, True]]),
            np.asfortranarray([[1, 0], [2, 2]], np.uint8),
        ],
    )
    def test_dense(self, X):
        kept = X.copy()
        model = Reader().fit(X)
        assert model.n_features_in_ == 2
        assert not hasattr(model, "feature_names_in_")
        assert model._input.schema.names == ("x0", "x1")
        assert labels_of(model.table_) == {f"x{c}": X[:, c].tolist() for c in range(2)}
        assert labels_of(model.read(X[::-1])) == {f"x{c}": X[::-1, c].tolist() for c in range(2)}
        np.testing.assert_array_equal(X, kept)

    def test_read_only(self):
        X = np.array([[1.0, 2.0], [3.0, 2.0]])
        X.flags.writeable = False
        assert Reader().fit(X).read(X).n_records == 2

    @pytest.mark.parametrize("kind", containers)
    @pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
    def test_sparse(self, kind, dtype, monkeypatch):
        dense = np.array([[0, 3, 0], [0, 0, 0], [5, 3, 0], [0, 0, 1]], dtype)
        X = kind(dense)
        monkeypatch.setattr(module, "array_frame", None)  # which would make it dense
        model = Reader().fit(X)
        assert model.n_features_in_ == 3
        assert model._input.schema.names == ("x0", "x1", "x2")
        assert labels_of(model.table_) == {f"x{c}": dense[:, c].tolist() for c in range(3)}
        read = model.read(kind(dense[2:]))
        assert read.schema == model._input.schema
        assert labels_of(read) == {f"x{c}": dense[2:, c].tolist() for c in range(3)}
        np.testing.assert_array_equal(X.toarray(), dense)

    def test_sparse_and_dense_are_the_same_at_prediction(self):
        dense = np.array([[0, 3, 0], [0, 0, 0], [5, 3, 0], [0, 0, 1]])
        for fitted in (dense, sparse.csr_array(dense), dense.astype(float)):
            model = Reader().fit(fitted)
            codes = [model.read(X).to_numpy() for X in (dense, sparse.csc_array(dense))]
            np.testing.assert_array_equal(codes[0], codes[1])

    def test_names_are_remembered_or_forgotten_at_every_fit(self):
        model = Reader().fit(FRAME).fit(np.array([[1], [2]]))
        assert not hasattr(model, "feature_names_in_")
        assert model.fit(Table(FRAME)).feature_names_in_.tolist() == ["sky", "wet"]

    def test_other_kinds_at_prediction_are_taken_by_place_with_a_warning(self):
        dense = np.array([[0, 3], [1, 0], [1, 3]])
        model = Reader().fit(dense)
        with pytest.warns(UserWarning, match="X has feature names, but Reader was fitted without"):
            read = model.read(pl.DataFrame(dense, schema=["a", "b"]))
        np.testing.assert_array_equal(read.to_numpy(), model.table_.to_numpy())
        model = Reader().fit(pl.DataFrame(dense, schema=["a", "b"]))
        for X in (dense, sparse.csr_array(dense), dense.tolist()):
            with pytest.warns(UserWarning, match="X does not have valid feature names"):
                read = model.read(X)
            np.testing.assert_array_equal(read.to_numpy(), model.table_.to_numpy())

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_of_another_width_are_refused(self, kind):
        model = Reader().fit(kind([[0, 1], [1, 0]]))
        with pytest.raises(ValueError, match="X has 3 features, but Reader is expecting 2"):
            model.read(kind([[0, 1, 1], [1, 0, 0]]))


class TestBins:
    def test_are_those_of_fit(self):
        model = Reader(discretise=3).fit(NUMBERS)
        again = Table(pl.DataFrame(NUMBERS, schema=["x0", "x1"]), discretise=3)
        assert model.table_.schema == again.schema
        np.testing.assert_array_equal(model.table_.to_numpy(), again.to_numpy())
        np.testing.assert_array_equal(model.read(NUMBERS).to_numpy(), again.to_numpy())

    @pytest.mark.parametrize(
        "spec", ["width", "frequency", 2, 4, [1.0, 2.0], {"x0": 2, "x1": [1, 2]}]
    )
    @given(new=hnp.arrays(np.float64, (5, 2), elements=st.floats(-1e300, 1e300)))
    @settings(max_examples=20)
    def test_take_any_number(self, spec, new):
        model = Reader(discretise=spec).fit(NUMBERS)
        read = model.read(new)
        assert read.schema == model._input.schema
        for c, name in enumerate(["x0", "x1"]):
            edges = model._input.schema[name].edges
            assert tuple(read.schema[name].labels) == bin_labels(edges)
            np.testing.assert_array_equal(read.codes(name), apply_cuts(new[:, c], edges))

    def test_may_all_be_missed_but_one(self):
        model = Reader(discretise=[1, 2, 3]).fit(NUMBERS)
        assert model.read(np.full((3, 2), 99.0)).to_numpy().tolist() == [[3, 3]] * 3

    @pytest.mark.parametrize("spec", ["auto", {"x0": "width"}])
    def test_a_column_of_one_real_number_has_one_bin_for_all(self, spec):
        model = Reader(discretise=spec).fit(np.full((3, 1), 0.5))
        assert model._input.schema["x0"].edges == ()
        assert labels_of(model.read([[-7.25], [9.5]])) == {"x0": ["all", "all"]}

    def test_one_spec_leaves_columns_of_two_numbers_alone(self):
        model = Reader(discretise="width").fit(np.array([[0.5], [2.5], [0.5]]))
        assert model._input.schema["x0"].edges is None
        assert labels_of(model.read([[2.5]])) == {"x0": [2.5]}
        with pytest.raises(InputError, match=r"X: column 'x0' has 9\.5 at record 1, which"):
            model.read([[0.5], [9.5]])

    def test_of_frames_leave_other_columns_alone(self):
        frame = FRAME.with_columns(heat=pl.Series([1.5, None, 3.5, 4.5]))
        model = Reader(discretise={"heat": [2, 4]}).fit(frame)
        assert [c.edges for c in model._input.schema] == [None, None, (2.0, 4.0)]
        assert labels_of(model.read(frame[2:])) == {
            "sky": ["grey", "red"],
            "wet": [1, 0],
            "heat": ["2 – 4", ">= 4"],
        }
        whole = frame[:1].with_columns(heat=pl.Series([3]))  # numbers of any type
        assert labels_of(model.read(whole))["heat"] == ["2 – 4"]
        for nothing in (pl.Null, pl.Float32):
            missing = frame[:1].with_columns(heat=pl.Series([None], dtype=nothing))
            assert labels_of(model.read(missing))["heat"] == [None]
        missing = frame[:1].with_columns(heat=pl.Series([None], dtype=pl.Float64))
        without = Reader(discretise="width").fit(frame.drop_nulls())
        with pytest.raises(InputError, match="X: column 'heat' has a missing value at record 0"):
            without.read(missing)
        text = frame.with_columns(heat=pl.lit("hot"))
        with pytest.raises(InputError, match="X: column 'heat' has 'hot' at record 0, which"):
            model.read(text)
        named = frame.with_columns(heat=pl.lit(">= 4"))  # by which the bins are known
        assert labels_of(model.read(named))["heat"] == [">= 4"] * 4

    @pytest.mark.parametrize("kind", containers)
    def test_of_small_sparse_arrays(self, kind):
        model = Reader(discretise=2).fit(kind(NUMBERS))
        dense = Reader(discretise=2).fit(NUMBERS)
        assert model._input == dense._input
        np.testing.assert_array_equal(model.table_.to_numpy(), dense.table_.to_numpy())
        np.testing.assert_array_equal(model.read(kind(NUMBERS)).to_numpy(), dense.table_.to_numpy())

    @pytest.mark.parametrize("spec", [2, "width", "auto", {"x0": [1.0]}])
    def test_of_sparse_arrays_are_found_without_making_them_dense(self, spec, monkeypatch):
        monkeypatch.setattr(module, "array_frame", None)  # which would make it dense
        X = sparse.csr_array(NUMBERS)
        model = Reader(discretise=spec).fit(X)
        assert_frame_equal(model.read(X).to_frame(), model.table_.to_frame())

    @examples
    @given(
        hnp.arrays(np.float64, (6, 3), elements=st.sampled_from([-1.5, 0.0, 0.0, 0.5, 2.0])),
        st.lists(st.sets(st.sampled_from([-1.0, 0.0, 0.25, 2.0, 9.0])), min_size=3, max_size=3),
        st.data(),
    )
    def test_of_sparse_arrays_are_those_of_dense_ones(self, X, edges, data):
        labels = [bins_of(sorted(points)) for points in edges]
        defaults = [data.draw(st.integers(0, len(items) - 1)) for items in labels]
        spec = InputSpec.of_schema(Schema(["x0", "x1", "x2"], labels, defaults), "array")
        model = Reader()
        spec.note(model)
        dense = Inputs.read(model, X, spec).table()
        for kind in containers:
            given = kind(X)
            table = Inputs.read(model, given, spec).table()
            assert_frame_equal(table.to_frame("polars"), dense.to_frame("polars"))
            assert table.schema == spec.schema
            np.testing.assert_array_equal(given.toarray(), X)

    def test_of_sparse_arrays_take_finite_numbers_only(self):
        model = Reader(discretise=2).fit(NUMBERS)
        X = sparse.csr_array(NUMBERS)
        X.data[-1] = np.nan
        with pytest.raises(InputError, match=r"X contains NaN or inf: nan at row \d+, column \d+"):
            model.read(X)

    def test_of_booleans_are_those_of_numbers(self):
        model = Reader(discretise={"x0": [0.5]}).fit(np.array([[0.0], [1.0]]))
        assert labels_of(model.read(np.array([[True], [False]]))) == {"x0": [">= 0.5", "< 0.5"]}

    def test_of_whole_numbers(self):
        X = sparse.csr_array(np.array([[0, 3], [1, 0], [0, 7]]))
        model = Reader(discretise=2).fit(X)
        assert model._input.schema["x0"].edges is None
        assert model._input.schema["x1"].edges == (1.5,)
        assert labels_of(model.read(X)) == {"x0": [0, 1, 0], "x1": [">= 1.5", "< 1.5", ">= 1.5"]}
        named = Reader(discretise={"x0": [2]}).fit(X)
        assert labels_of(named.read(X)) == {"x0": ["< 2"] * 3, "x1": [3, 0, 7]}

    def test_of_a_table_are_those_of_its_frame(self):
        frame = FRAME.with_columns(heat=pl.Series([1.5, None, 3.5, 4.5]))
        for spec in ("auto", 2, "width", {"heat": [2, 4]}):
            of_table = Reader(discretise=spec).fit(Table(frame))
            of_frame = Reader(discretise=spec).fit(frame)
            assert of_table._input.schema == of_frame._input.schema
            assert_frame_equal(of_table.read(frame).to_frame(), of_frame.read(frame).to_frame())

    def test_may_tell_classes_apart_that_are_no_column(self):
        classes = np.array([0, 1, 1, 0])
        forms = (NUMBERS, sparse.csr_array(NUMBERS), Table(NUMBERS, columns=["x0", "x1"]))
        tables = [Inputs.fit(Reader(), X).table("mdl", classes=classes) for X in forms]
        for table in tables[1:]:
            assert table.schema.labels == tables[0].schema.labels
            np.testing.assert_array_equal(table.to_numpy(), tables[0].to_numpy())


class TestWeights:
    @pytest.mark.parametrize("X", [FRAME, Table(FRAME), NUMBERS[:, 1:]])
    def test_belong_to_the_table(self, X):
        weights = [1, 0.5, 2, 0]
        assert Reader().fit(X, sample_weight=weights).table_.weights.tolist() == weights
        assert Reader().fit(X).table_.weights is None

    def test_come_once(self):
        weighted = Table(FRAME, weights=[1, 2, 3, 4])
        assert Reader().fit(weighted).table_ is weighted
        with pytest.raises(InputError, match="sample_weight: the Table has weights already"):
            Reader().fit(weighted, sample_weight=[1, 1, 1, 1])

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1, 2], r"sample_weight: weights must have shape \(4,\)"),
            ([1, 2, 3, -4], "sample_weight: weights must be finite and not negative; record 3"),
        ],
    )
    def test_are_checked(self, weights, message):
        with pytest.raises(InputError, match=message):
            Reader().fit(FRAME, sample_weight=weights)


class TestUnseen:
    def test_is_an_error_or_the_default(self):
        other = FRAME.with_columns(sky=pl.Series(["blue", "green", None, "red"]))
        for X in (other, Table(other)):
            with pytest.raises(InputError, match="X: column 'sky' has 'green' at record 1, which"):
                Reader().fit(FRAME).read(X)
            read = Reader(unseen="default").fit(FRAME).read(X)
            assert labels_of(read)["sky"] == ["blue", "grey", "grey", "red"]

    def test_in_sparse_arrays(self):
        model = Reader().fit(sparse.csr_array(np.array([[0, 1], [1, 0], [0, 0]])))
        with pytest.raises(InputError, match="X: column 'x1' has 2 at record 1"):
            model.read(sparse.csr_array(np.array([[0, 1], [1, 2]])))


class TestRefusals:
    def test_cuts_for_a_target(self):
        with pytest.raises(InputError, match="discretise='mdl' needs target"):
            Reader(discretise="mdl").fit(NUMBERS)

    def test_cuts_of_what_is_not_there(self):
        with pytest.raises(InputError, match="discretise: there is no column 'a'"):
            Reader(discretise={"a": 3}).fit(NUMBERS)
        with pytest.raises(InputError, match="discretise: column 'sky' holds String, not numbers"):
            Reader(discretise={"sky": 3}).fit(FRAME)

    @pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
    def test_what_is_no_number(self, wrong):
        X = NUMBERS.copy()
        X[2, 1] = wrong
        model = Reader(discretise=2).fit(NUMBERS)
        for call in (model.fit, model.read, Reader().fit):
            with pytest.raises(InputError, match=r"X contains NaN or inf: .* at row 2, column 1"):
                call(X)

    def test_objects(self):
        X = NUMBERS.astype(object)
        X[2, 1] = None
        assert labels_of(Reader().fit(X).table_)["x1"] == [3, 1, None, 1]
        X[2, 1] = np.inf
        for call in (Reader().fit, Reader(2).fit, Reader(2).fit(NUMBERS).read):
            with pytest.raises(InputError, match="X: column 'x1' holds inf at record 2"):
                call(X)

    def test_what_is_no_table(self):
        with pytest.raises(ValueError, match="Expected 2D array"):
            Reader().fit([1, 2, 3])
        with pytest.raises(InputError, match="X: column 'x0' cannot be read"):
            Reader().fit(np.array([["a", 1], [{}, 2]], object))
        with pytest.raises(InputError, match="X: there are no records"):
            Reader().fit(FRAME.clear())


@pytest.mark.parametrize(
    "check",
    [
        "complex_data",
        "dataframe_column_names_consistency",
        "estimator_sparse_array",
        "estimators_nan_inf",
        "estimators_pickle",
        "fit2d_predict1d",
        "n_features_in_after_fitting",
    ],
)
def test_checks_of_scikit_learn(check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(estimator_checks, f"check_{check}")(
            "Reader", Reader(discretise=[-1.0, 0.0, 0.5, 1.0, 10.0])
        )


@given(d=data(with_chosen=False))
@examples
def test_inputs_are_left_as_they_are_and_threads_do_not_matter(d):
    frame = d.frame()
    kept = frame.clone()
    one, two = Reader(n_jobs=1).fit(frame), Reader(n_jobs=2).fit(frame)
    assert one._input == two._input
    np.testing.assert_array_equal(one.read(frame[::-1]).values, two.read(frame[::-1]).values)
    np.testing.assert_array_equal(one.read(d.table()).to_numpy(), np.array(d.rows))
    assert_frame_equal(frame, kept)


class TestKinds:
    def test_are_those_that_the_caller_names(self):
        frame = FRAME.with_columns(
            month=pl.Series([1, 2, 3, 4]), size=pl.Series(["1", "2", "", "4"])
        )
        model = Reader(kinds={"month": "categorical", 1: "boolean"}).fit(frame)
        kinds = [column.kind for column in model._input.schema]
        assert kinds == ["categorical", "boolean", "categorical", "categorical"]
        cut = Reader(2, kinds={"month": "categorical"}).fit(frame.select("month"))
        assert cut._input.schema["month"].edges is None
        with pytest.raises(InputError, match="kinds: column 'size' is no number at record 2: ''"):
            Reader(kinds={"size": "numeric"}).fit(frame)
        for X in (frame, Table(frame)):
            with pytest.raises(InputError, match="kinds: there is no column 'months'"):
                Reader(kinds={"months": "ordered"}).fit(X)

    def test_text_may_be_numbers(self):
        model = Reader([3], kinds={"a": "numeric"}).fit({"a": ["1.5", "2", None, "9"]})
        assert labels_of(model.table_) == {"a": ["< 3", "< 3", None, ">= 3"]}

    def test_of_a_table_leave_the_table_alone(self):
        table = Table({"a": [1, 2, 3]})
        model = Reader(kinds={"a": "ordered"}).fit(table)
        assert model.table_.schema["a"].kind == "ordered"
        assert table.schema["a"].kind == "numeric"

    def test_identifiers_are_warned_of(self):
        names = [f"n{k}" for k in range(60)]
        frame = pl.DataFrame({"name": names, "a": [0, 1] * 30})
        for X in (frame, Table(frame)):
            with pytest.warns(
                InputWarning, match="X: nearly every record has a label of its own in 'name'"
            ):
                Reader().fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Reader(kinds={"name": "identifier"}).fit(frame)
            Reader(kinds={"name": "categorical"}).fit(frame)
            Reader().fit(frame.select("a"))


class TestTarget:
    @frames
    def test_by_name(self, as_kind):
        model = Reader().fit(as_kind(FRAME), "wet")
        assert model.target_name_ == "wet"
        assert model.feature_names_in_.tolist() == ["sky"]
        if not isinstance(as_kind(FRAME), Table):
            assert list(model.target_) == [0, 1, 1, 0]
            assert model._input.names == ("sky",)
            read = model.read(as_kind(FRAME))  # the target among the columns is passed over
            assert labels_of(read) == {"sky": FRAME["sky"].to_list()}
        with pytest.raises(InputError, match="y: there is no column 'west'; did you mean 'wet'"):
            Reader().fit(as_kind(FRAME), "west")

    def test_of_a_table_has_a_position(self):
        inputs = Inputs.fit(Reader(), Table(FRAME), "sky")
        assert (inputs.target, inputs.target_name, inputs.y) == (0, "sky", None)
        assert inputs.features().schema.names == ("wet",)
        with pytest.raises(InputError, match="X: there is no column but the target 'sky'"):
            Inputs.fit(Reader(), Table(FRAME.select("sky")), "sky")

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_of_an_array_has_no_name(self, kind):
        with pytest.raises(InputError, match="y: an array has no column 'x1'; give a frame"):
            Inputs.fit(Reader(), kind([[1, 2]]), "x1")


class TestDropped:
    @pytest.mark.parametrize(
        "X",
        [FRAME, Table(FRAME), FRAME.to_pandas(), NUMBERS, sparse.coo_array(NUMBERS)],
        ids=["frame", "table", "pandas", "array", "sparse"],
    )
    def test_records_of_the_weight_zero(self, X):
        inputs = Inputs.fit(Reader(), X, [1, 2, 3, 4], [1, 0, 2, 0], drop=True)
        assert (inputs.n_records, inputs.n_given) == (2, 4)
        assert inputs.kept.tolist() == [True, False, True, False]
        assert inputs.weights.tolist() == [1, 2]
        whole = Inputs.fit(Reader(), X).table().to_frame("polars")
        dropped = Inputs.fit(Reader(), X, None, [1, 0, 2, 0], drop=True).table()
        assert_frame_equal(dropped.to_frame("polars"), whole[[0, 2]])
        assert dropped.weights.tolist() == [1, 2]
        with pytest.raises(InputError, match="sample_weight: all weights are zero"):
            Inputs.fit(Reader(), X, None, [0, 0, 0, 0], drop=True)

    def test_of_a_table_that_has_weights(self):
        table = Table(FRAME, weights=[1, 0, 2, 0])
        assert Reader(drop=True).fit(table).table_.weights.tolist() == [1, 2]
        assert Reader().fit(table).table_.n_records == 4
        assert table.n_records == 4


class TestAbsent:
    def test_columns_of_tables_and_frames(self):
        model = Reader().fit(Table(FRAME))
        for X in (FRAME.select("wet"), Table(FRAME.select("wet")), {"wet": [0, 1, 1, 0]}):
            with pytest.raises(
                InputError, match="X: there is no column 'sky', on which the model was"
            ):
                model.read(X)
            read = model.set_params(absent="default").read(X)
            assert labels_of(read) == {"sky": ["grey"] * 4, "wet": [0, 1, 1, 0]}
            model.set_params(absent=None)

    def test_columns_may_be_in_any_order_after_a_table(self):
        model = Reader().fit(Table(FRAME))
        read = model.read(FRAME.select("wet", pl.lit(1).alias("more"), "sky"))
        assert_frame_equal(read.to_frame("polars"), FRAME)
        codes = Table(FRAME).to_numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Reader().fit(Table(codes)).read(codes).to_numpy().tolist() == codes.tolist()

    def test_items_of_baskets_are_not_there(self):
        model = Reader().fit([["milk", "tea"], ["milk"], ["bread", "tea", "milk"]])
        assert model._input.presence
        assert model._input.names == ("bread", "milk", "tea")
        for X in ([["tea"]], [{"tea"}], {"tea": [True]}, Table({"tea": [True]})):
            read = model.read(X)
            assert labels_of(read) == {"bread": [False], "milk": [False], "tea": [True]}
        with pytest.warns(InputWarning, match=r"X: items that were not there in fit .*'rum'"):
            read = model.read([["rum", "tea"], ["rum"]])
        assert labels_of(read)["tea"] == [True, False]
        with pytest.raises(InputError, match="there is no column 'bread'"):
            model.set_params(absent="error").read({"tea": [True]})


def test_specs_can_be_pickled():
    spec = Reader(2).fit(NUMBERS)._input
    assert pickle.loads(pickle.dumps(spec)) == spec
