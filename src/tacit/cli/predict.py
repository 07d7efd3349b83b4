"""``tacit predict``: what a saved model says about the records of a file."""

from __future__ import annotations

import re
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

import tacit
from tacit.cli.options import output_option
from tacit.cli.output import make_console, working
from tacit.cli.reading import Numbers, Source, reads_file
from tacit.cli.writing import FRAMES, check_target, write_frames
from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from tacit.statistic import Partition

__all__ = ["COMMAND", "Prediction", "predict", "prediction_frame"]

_NUMBER = r"[+-]?[\d.]+(?:[eE][+-]?\d+)?"


def predict(
    source: Source,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model: .tacit.")],
    output: Annotated[
        Path | None,
        output_option(
            metavar="OUT.parquet",
            help="Write the predictions to a file; .csv, .tsv and .arrow work, too.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class or cluster.")
    ] = False,
    unseen: Annotated[
        Literal["error", "default"] | None,
        typer.Option(
            help="A label that the model has not seen is an error, or counts as its column's "
            "default; by default as the model says."
        ),
    ] = None,
    absent: Annotated[
        Literal["error", "default"] | None,
        typer.Option(
            help="A column that the file does not have is an error, or its default throughout; "
            "by default an error, but for items of baskets and logs."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="How many items a dependency network lists of each record.")
    ] = 10,
    column: Annotated[
        str | None,
        typer.Option(
            help="The column that a dependency tree or a mixture of them predicts; by default all."
        ),
    ] = None,
) -> None:
    """Apply a saved model: print or write a row for each record, in order.

    A model of clusters gives the column cluster, another one the column prediction; before it come
    the ids of records, where they have some, as in a log (--long). With --proba
    there is a column for each class or cluster, too. A dependency network lists what goes with each
    record: record, rank, item and probability. A dependency tree, or a mixture of them, predicts
    each column from the others, missing values or not, or the one that --column names. A selection
    (`tacit select`) gives the columns it chose. Without -o, CSV is printed.

    Numbers are cut where the model has bins.

    Example: `tacit predict model.tacit new.csv --proba -o predictions.csv`
    """
    check_target(output, "--output", FRAMES, source.path, model)
    fitted = _load(model)
    for name, value in (("unseen", unseen), ("absent", absent)):
        if value is not None:
            if not hasattr(fitted, name):
                raise InputError(f"--{name}: a {type(fitted).__name__} has no such setting")
            setattr(fitted, name, value)
    recommends = hasattr(fitted, "recommend") and not hasattr(fitted, "predict")
    if column is not None and not hasattr(fitted, "edges_"):
        raise InputError(f"--column: what a {type(fitted).__name__} predicts is settled")
    if proba and (recommends or not hasattr(fitted, "predict_proba")):
        raise InputError(f"--proba: a {type(fitted).__name__} gives no probabilities")
    if hasattr(fitted, "n_jobs"):
        fitted.n_jobs = source.n_jobs
    ask = Prediction(fitted, recommends, proba, top, column)
    naming = _naming(source.path, tolerant=hasattr(fitted, "absent"))
    if source.partitioned:
        with naming:
            n = write_frames(ask.over(source), output)
    else:
        records = _read(source, fitted)
        with working(f"predicting {records.shape[0]:,} records"), naming:
            frame = ask.frame(records)
        n = write_frames([frame], output)
    if output is not None:
        make_console().print(f"{output}: {n:,} predictions", soft_wrap=True)


@dataclass(frozen=True)
class Prediction:
    """What a model is asked about records; of partitions, wherever they are."""

    model: Any
    recommends: bool = False
    proba: bool = False
    top: int = 10
    column: str | None = None

    def frame(self, records: Any) -> pl.DataFrame:
        """Return the predictions of records, and before them the ids of records that have some."""
        frame = self._frame(records)
        ids = records.index if isinstance(records, tacit.Table) else None
        if ids is None:
            return frame
        from tacit.table.index import put_index

        if self.recommends:
            ids = ids.gather(frame.get_column("record"))
        return cast("pl.DataFrame", put_index(frame, ids, "polars"))

    def _frame(self, records: Any) -> pl.DataFrame:
        model = self.model
        if self.recommends:
            items: pl.DataFrame = model.recommend(records, self.top)
            return items
        if hasattr(model, "subset_"):
            chosen = model.transform(records)
            chosen = chosen.with_index(None) if chosen.index is not None else chosen
            return cast("pl.DataFrame", chosen.to_frame("polars"))
        if hasattr(model, "edges_"):
            return _predict_columns(model, records, self.column, self.proba)
        probabilities = model.predict_proba(records) if self.proba else None
        return prediction_frame(model, model.predict(records), probabilities)

    def over(self, source: Source) -> Iterator[pl.DataFrame]:
        """Yield the predictions of one partition after another."""
        table = source.read_table()
        assert isinstance(table, tacit.PartitionedTable)
        return table.map(self)

    def __call__(self, partition: Partition) -> pl.DataFrame:
        """Return the predictions of a partition."""
        model = copy(self.model)
        if hasattr(model, "n_jobs"):
            model.n_jobs = partition.n_jobs
        frame = replace(self, model=model).frame(partition.records)
        if "record" in frame.columns and self.recommends:
            frame = frame.with_columns(frame.get_column("record") + partition.first)
        return frame


def _load(path: Path) -> Any:
    with working(f"reading {path}"):
        saved = tacit.load(path)
    if not any(hasattr(saved, name) for name in ("predict", "recommend", "subset_")):
        raise FileError(path, f"holds a saved {type(saved).__name__}, not a model that predicts")
    return saved


def _predict_columns(tree: Any, records: Any, column: str | None, proba: bool) -> pl.DataFrame:
    """Return what a dependency tree says of one column, or of all."""
    import polars as pl

    if column is None:
        if proba:
            raise InputError("--proba: of a dependency tree, say which --column to predict")
        told = tree.predict(records)
        names = enumerate(tree.column_names_)
        return pl.DataFrame({name: told[:, k].tolist() for k, name in names})
    try:
        frame = pl.DataFrame({"prediction": tree.predict(records, column).tolist()})
        if not proba:
            return frame
        probabilities = tree.predict_proba(records, column)
    except InputError as error:
        raise InputError(str(error).replace("column:", "--column:", 1)) from None
    labels = tree.schema_[column].labels
    return frame.with_columns(
        pl.Series(f"P({label})", probabilities[:, k]) for k, label in enumerate(labels)
    )


def _read(source: Source, model: Any) -> Any:
    """Read a table; numbers of ARFF files as numbers, unless the model knows them as labels."""
    if tacit.io.file_kind(source.address, source.options.get("format")) == "svmlight":
        width = getattr(model, "n_features_in_", None)  # the last columns may be nowhere stored
        named = hasattr(model, "feature_names_in_")
        options = source.options if named else {**source.options, "n_features": width}
        return replace(source, options=options).read()
    numbers = None if _knows_number_texts(model) else source.read_arff()
    if isinstance(numbers, Numbers):
        frame, names = numbers.frame, getattr(model, "feature_names_in_", None)
        known = frame.columns if names is None else [x for x in names if x in frame.columns]
        return frame.select(known)
    return source.read() if numbers is None else numbers


@contextmanager
def _naming(path: Path, *, tolerant: bool) -> Iterator[None]:
    """Say of the file what is said of X."""
    try:
        yield
    except InputError as error:
        problem = str(error)
        if not problem.startswith("X: there is no column"):
            raise
        hint = "; if that means the default, say --absent default" * tolerant
        raise FileError(path, problem.replace("X: there is", "has", 1) + hint) from None


def _knows_number_texts(model: Any) -> bool:
    """Whether a column of labels has nothing but texts that are numbers, as ARFF may declare."""
    schema = getattr(model, "schema_", None)
    if hasattr(model, "rules_"):
        schema = model._features.spec.schema
    return any(
        labels.edges is None and all(re.fullmatch(_NUMBER, str(x)) for x in labels)
        for labels in (() if schema is None else schema.labels)
        if labels.dtype == "String"
    )


def prediction_frame(
    model: Any, labels: NDArray[Any], probabilities: NDArray[np.float64] | None = None
) -> pl.DataFrame:
    """Return a row for each record: what it is, and the probability of each class or cluster."""
    import polars as pl

    if hasattr(model, "n_clusters") or hasattr(model, "n_clusters_"):
        what, heads = "cluster", [f"cluster {k}" for k in range(_width(probabilities))]
    else:
        known = getattr(model, "classes_", range(_width(probabilities)))
        what, heads = "prediction", [f"P({name})" for name in known]
    if labels.ndim == 2:  # several labels or numbers, each a column
        names = getattr(model, "classes_", range(labels.shape[1]))
        frame = pl.DataFrame({str(name): labels[:, k] for k, name in enumerate(names)})
    else:
        frame = pl.DataFrame({what: labels})
    if probabilities is None:
        return frame
    return frame.with_columns(pl.Series(head, probabilities[:, k]) for k, head in enumerate(heads))


def _width(probabilities: NDArray[np.float64] | None) -> int:
    return 0 if probabilities is None else probabilities.shape[1]


COMMAND = reads_file(predict, before=("model",), partitions=True)
