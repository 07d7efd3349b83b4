"""``tacit predict``: what a saved model says about the records of a file."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

import tacit
from tacit.cli.options import output_option
from tacit.cli.output import make_console, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.writing import FRAMES, check_target, write_frames
from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["COMMAND", "Prediction", "predict", "prediction_frame"]


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
        Literal["error", "default"],
        typer.Option(
            help="A column that the file does not have is an error, or its default throughout, as "
            "is right for items that are in no basket."
        ),
    ] = "error",
    top: Annotated[
        int, typer.Option(min=1, help="How many items a dependency network lists of each record.")
    ] = 10,
    column: Annotated[
        str | None,
        typer.Option(help="The column that a dependency tree predicts; without it, all columns."),
    ] = None,
) -> None:
    """Apply a saved model: print or write a row for each record, in order.

    A model of clusters gives the column cluster, another one the column prediction; before it come
    the ids of records, where they have some, as in a log (--long). With --proba
    there is a column for each class or cluster, too. A dependency network lists what goes with each
    record: record, rank, item and probability. A dependency tree predicts each column from the
    others, missing values or not, or the one that --column names. Without -o, CSV is printed.

    Columns that the model has in bins are cut where they were for the model, unless --discretise
    says otherwise. A model of numbers takes CSV, Parquet, Arrow and svmlight files.

    Example: `tacit predict model.tacit new.csv --proba -o predictions.csv`
    """
    check_target(output, "--output", FRAMES, source.path, model)
    fitted = _load(model)
    if unseen is not None:
        if not hasattr(fitted, "unseen"):
            raise InputError(f"--unseen: a {type(fitted).__name__} has no such setting")
        fitted.unseen = unseen
    recommends = not hasattr(fitted, "predict")
    if column is not None and not hasattr(fitted, "edges_"):
        raise InputError(f"--column: what a {type(fitted).__name__} predicts is settled")
    if proba and (recommends or not hasattr(fitted, "predict_proba")):
        raise InputError(f"--proba: a {type(fitted).__name__} gives no probabilities")
    if hasattr(fitted, "n_jobs"):
        fitted.n_jobs = source.n_jobs
    ask = Prediction(fitted, recommends, proba, top, column, str(source.path), absent)
    if source.partitioned:
        n = write_frames(ask.over(source), output)
    else:
        records = _read(source, fitted, absent)
        with working(f"predicting {records.shape[0]:,} records"):
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
    path: str = ""
    absent: str = "error"

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
        if hasattr(model, "edges_"):
            return _predict_columns(model, records, self.column, self.proba)
        probabilities = model.predict_proba(records) if self.proba else None
        return prediction_frame(model, model.predict(records), probabilities)

    def over(self, source: Source) -> Iterator[pl.DataFrame]:
        """Yield the predictions of one partition after another."""
        if not _knows_tables(self.model):
            raise InputError(
                f"FILE: this {type(self.model).__name__} is about numbers, which are not read in "
                "partitions; give one file"
            )
        if not source.path.is_dir():
            source = source.with_cuts(_cuts(self.model))
        table = source.read_table()
        assert isinstance(table, tacit.PartitionedTable)
        return table.map(self)

    def __call__(self, partition: Partition) -> pl.DataFrame:
        """Return the predictions of a partition."""
        model = copy(self.model)
        if hasattr(model, "n_jobs"):
            model.n_jobs = partition.n_jobs
        records = _complete(self.path, partition.records, model, self.absent)
        frame = replace(self, model=model).frame(records)
        if "record" in frame.columns and self.recommends:
            frame = frame.with_columns(frame.get_column("record") + partition.first)
        return frame


def _load(path: Path) -> Any:
    with working(f"reading {path}"):
        saved = tacit.load(path)
    if not (hasattr(saved, "predict") or hasattr(saved, "recommend")):
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


def _read(source: Source, model: Any, absent: str) -> Any:
    """Read what the model was fitted on: a table, its numbers in the same bins, or numbers."""
    if hasattr(model, "rules_"):
        return _read_rules(source, model, absent)
    if hasattr(model, "encoder_") and model.encoder_.kind != "table":
        return _read_objects(source, model)
    if getattr(model, "column_names_", None) and len(model.schema_ or ()) < model.n_features_in_:
        return _read_objects(source, model)
    if model.schema_ is None:
        return _read_numbers(source, model)
    if hasattr(model, "nodes_") and (frame := _read_frame(source, model, absent)) is not None:
        return frame
    table = source.with_cuts(_cuts(model)).read()
    return _complete(str(source.path), table, model, absent)


def _knows_tables(model: Any) -> bool:
    """Return whether a model takes Tables, and not only numbers."""
    if hasattr(model, "rules_"):
        return bool(model._features.kind == "table")
    if hasattr(model, "encoder_"):
        return bool(model.encoder_.kind == "table")
    schema = model.schema_
    return schema is not None and len(schema) >= getattr(model, "n_features_in_", 0)


def _cuts(model: Any) -> dict[str, Any]:
    """Return where the columns of a model are cut."""
    if getattr(model, "schema_", None) is None:
        return {}
    from tacit.table.discretise import bin_edges

    bins = {column.name: bin_edges(column.labels) for column in model.schema_}
    cuts = {name: edges for name, edges in bins.items() if edges is not None}
    if hasattr(model, "_features"):  # numbers that are all in one bin are cut nowhere, but cut
        cuts |= getattr(model._features, "cuts", {})
    return cuts


def _fitted_columns(
    source: Source, records: Any, names: Any, held: Any, absent: str = "error"
) -> Any:
    """Return the columns of records that a model was fitted on."""
    lacking = [name for name in names if name not in set(held)]
    if lacking and absent == "default":
        raise InputError("--absent: this model needs all columns that it was fitted on")
    if lacking:
        raise FileError(source.path, f"has no column {lacking[0]!r}, on which the model was fitted")
    return records.select(list(names))


def _read_frame(source: Source, model: Any, absent: str) -> pl.DataFrame | None:
    """Read the columns of a tree that was grown on a frame, its numbers as they are."""
    if model._fitted().features.kind != "frame" or (numbers := source.read_numbers()) is None:
        return None
    frame, names = numbers.frame, model.feature_names_in_
    return cast("pl.DataFrame", _fitted_columns(source, frame, names, frame.columns, absent))


def _read_rules(source: Source, model: Any, absent: str) -> Any:
    """Read the columns that rules are about, as the model was given them."""
    if model._features.kind == "array":
        return _read_numbers(source, model)
    names = model.feature_names_in_
    if model._features.kind == "table":
        table = source.read()
        return _fitted_columns(source, table, names, table.schema.names, absent)
    frame = _read_columns(source, arff=True)
    return _fitted_columns(source, frame, names, frame.columns, absent)


def _read_objects(source: Source, model: Any) -> Any:
    """Read the columns of a classifier by similarity, or of a dependency tree that has numbers."""
    frame = _read_columns(source)
    named = hasattr(model, "feature_names_in_")
    names = getattr(model, "column_names_", model.feature_names_in_ if named else frame.columns)
    frame = _fitted_columns(source, frame, names, frame.columns)
    return frame if named else frame.to_numpy()


def _read_columns(source: Source, *, arff: bool = False) -> pl.DataFrame:
    numbers = source.read_numbers(arff=arff)
    if numbers is None:
        raise FileError(source.path, "must be a file of columns, as the model was fitted on")
    return numbers.frame


def _read_numbers(source: Source, model: Any) -> Any:
    """Read numbers as they are: svmlight, or a frame with the columns of the model."""
    kind = source.options.get("format") or source.path.suffix.lstrip(".").lower()
    if kind in ("svm", "svmlight", "libsvm"):
        from sklearn.datasets import load_svmlight_file

        with working(f"reading {source.path}"):
            try:
                return load_svmlight_file(str(source.path), n_features=model.n_features_in_)[0]
            except (OSError, ValueError) as error:
                raise FileError(source.path, f"cannot be read as numbers: {error}") from None
    frame = _read_columns(source)
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return frame.to_numpy()
    return _fitted_columns(source, frame, known, frame.columns)


def _complete(path: str, table: Table, model: Any, absent: str) -> Table:
    """Return the table with what it lacks of the model's columns: the default throughout."""
    schema, held = table.schema, set(table.schema.names)
    known = getattr(model, "schema_", None) or ()
    lacking = [column for column in known if column.name not in held]
    if not lacking:
        return table
    if absent == "error":
        raise FileError(
            path,
            f"has no column {lacking[0].name!r}, on which the model was fitted; if that means the "
            "default, say --absent default",
        )
    wider = tacit.schema.Schema(
        [*schema.names, *(column.name for column in lacking)],
        [*schema.labels, *(column.labels for column in lacking)],
        [*schema.defaults, *(column.default for column in lacking)],
    )
    made = tacit.Table.from_stored(wider, table.indptr, table.values, table.weights)
    return made.with_index(table.index)


def prediction_frame(
    model: Any, labels: NDArray[Any], probabilities: NDArray[np.float64] | None = None
) -> pl.DataFrame:
    """Return a row for each record: what it is, and the probability of each class or cluster."""
    import polars as pl

    if hasattr(model, "n_clusters"):
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
