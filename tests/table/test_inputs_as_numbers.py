"""X as numbers, as numbers beside labels, and as ones and zeros."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from polars.testing import assert_frame_equal
from scipy import sparse

from support.reader import Reader
from tacit import InputError, Table
from tacit.table.input_spec import Numbers
from tacit.table.inputs import Inputs

examples = settings(max_examples=50)

FRAME = pl.DataFrame({"sky": ["blue", "grey", "grey", "red"], "wet": [0, 1, 1, 0]})
NUMBERS = np.array([[0.5, 3], [1.5, 1], [2.5, 2], [9.5, 1]])


class TestNumbers:
    FRAME = pl.DataFrame(
        {"a": [1.5, None, 3.0], "b": ["x", "y", "x"], "c": [True, None, False], "d": [3, 2, 1]}
    )

    def dense(self, columns):
        """Return columns of numbers as a matrix."""
        n, indptr, records, values, unlisted = columns.arguments
        matrix = np.tile(unlisted, (n, 1))
        for column in range(len(unlisted)):
            held = slice(indptr[column], indptr[column + 1])
            matrix[slice(None) if records is None else records[held], column] = values[held]
        return matrix

    def test_are_the_same_whatever_holds_them(self):
        expected = [[1.5, 0, 1, 3], [np.nan, 1, np.nan, 2], [3, 0, 0, 1]]
        for X in (self.FRAME, self.FRAME.to_pandas(), Table(self.FRAME)):
            inputs = Inputs.fit(Reader(), X)
            np.testing.assert_array_equal(self.dense(inputs.numbers()), expected)
            assert inputs.spec.numeric.tolist() == [True, False, False, True]
            for other in (self.FRAME, Table(self.FRAME)):
                read = Inputs.read(Reader().fit(self.FRAME), other, inputs.spec).numbers()
                np.testing.assert_array_equal(self.dense(read), expected)

    def test_of_arrays(self):
        for X in (NUMBERS, sparse.csr_array(NUMBERS), NUMBERS.astype(object)):
            inputs = Inputs.fit(Reader(), X)
            np.testing.assert_array_equal(self.dense(inputs.numbers()), NUMBERS)
            assert inputs.spec.domains == (Numbers(), Numbers())
            assert inputs.spec.origin == "array"

    def test_are_not_labels(self):
        estimator = Reader().fit(self.FRAME)
        inputs = Inputs.fit(estimator, self.FRAME)
        inputs.numbers()
        for form in (pl.DataFrame, Table):
            other = form(self.FRAME.with_columns(b=pl.lit(7)))
            with pytest.raises(InputError, match=r"X: column 'b' holds Int\d+, but in fit labels"):
                Inputs.read(estimator, other, inputs.spec).numbers()
            other = form(self.FRAME.with_columns(a=pl.lit("x")))
            with pytest.raises(InputError, match="X: column 'a' holds String, but in fit numbers"):
                Inputs.read(estimator, other, inputs.spec).numbers()

    @given(
        hnp.arrays(
            np.float64, (5, 2), elements=st.floats(-1e300, 1e300) | st.sampled_from([0.0, np.nan])
        )
    )
    @examples
    def test_of_a_table_are_those_of_its_frame(self, X):
        frame = pl.DataFrame(X, schema=["a", "b"], orient="row", nan_to_null=True)
        of_frame = Inputs.fit(Reader(), frame).numbers()
        of_table = Inputs.fit(Reader(), Table(frame)).numbers()
        np.testing.assert_array_equal(self.dense(of_frame), X)
        np.testing.assert_array_equal(self.dense(of_table), X)


class TestMixed:
    def test_real_numbers_are_apart_from_labels(self):
        frame = FRAME.with_columns(heat=pl.Series([1.5, 2.5, None, 4.5]))
        for X in (frame, frame.to_pandas(), Table(frame)):
            inputs = Inputs.fit(Reader(), X)
            numbers, table = inputs.mixed()
            np.testing.assert_array_equal(numbers, [[1.5], [2.5], [np.nan], [4.5]])
            assert_frame_equal(table.to_frame("polars"), FRAME)
            again, others = Inputs.read(Reader().fit(frame), frame[1:], inputs.spec).mixed()
            np.testing.assert_array_equal(again, numbers[1:])
            assert_frame_equal(others.to_frame("polars"), FRAME[1:])


class TestOneHot:
    def test_a_label_is_a_column(self):
        for X in (FRAME, Table(FRAME)):
            encoding, matrix = Inputs.fit(Reader(), X).one_hot()
            assert encoding.names == ("sky=blue", "sky=grey", "sky=red", "wet")
            rows = matrix.toarray() if sparse.issparse(matrix) else matrix
            assert rows.tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]]
            again = Inputs.read(Reader().fit(X), X, encoding.spec).one_hot(encoding)
            again = again.toarray() if sparse.issparse(again) else again
            np.testing.assert_array_equal(again, rows)
