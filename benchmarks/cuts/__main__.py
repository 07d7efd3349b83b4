"""How numbers are cut by default: held-out prediction of a class by models of discrete columns."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import tacit
from benchmarks.adult import NAMES
from benchmarks.report import SHARED, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.table import Table

FOLDS, MOST = 5, 10_000
CUTS: dict[str, Any] = {
    "auto": "auto", "5 bins": 5, "10 bins": 10, "20 bins": 20, "10 wide": "width", "mdl": "mdl",
}  # fmt: skip


def data_sets() -> Iterator[tuple[str, Table, str]]:
    """Yield a name, a table and its class; training parts only."""
    folder = SHARED
    adult = {"separator": ", ", "header": False, "names": NAMES}
    yield "Adult", tacit.read(folder / "adult" / "adult.data.xz", **adult), "class"
    with (
        zipfile.ZipFile(folder / "bank_marketing" / "bank+marketing.zip") as outer,
        zipfile.ZipFile(io.BytesIO(outer.read("bank.zip"))) as inner,
    ):
        frame = pl.read_csv(io.BytesIO(inner.read("bank-full.csv")), separator=";")
    yield "Bank marketing", tacit.Table(frame), "y"
    liver = tacit.read(next((folder / "ilpd").iterdir()))
    yield "Liver patients", liver, liver.schema.names[-1]
    covtype = tacit.read(folder / "covtype" / "covtype.csv.xz")
    yield "Covertype", covtype, covtype.schema.names[-1]


def log_loss(model: Any, test: Table, column: str) -> float:
    """Return the mean loss, in nats, of the class of records given their other columns."""
    probabilities = model.predict_proba(test, column)
    labels = model.schema_[column].labels
    codes = np.array([labels.code(label) for label in test.select([column]).to_frame()[column]])
    return float(-np.log(np.maximum(probabilities[np.arange(len(codes)), codes], 1e-12)).mean())


def score(table: Table, target: str, cuts: Any, make: Any) -> float:
    """Return the mean held-out loss over folds; cut points are found on the training part."""
    kinds = {target: "categorical"}
    order = np.random.default_rng(0).permutation(table.n_records)[:MOST]
    losses = []
    for fold in range(FOLDS):
        held = order[fold::FOLDS]
        train = table.take(np.setdiff1d(order, held))
        test = table.take(np.sort(held))
        if cuts == "mdl":
            train = train.cut("mdl", target=target)
        how = None if cuts == "mdl" else cuts
        model = make(discretise=how, kinds=kinds, unseen="default").fit(train)
        losses.append(log_loss(model, test, target))
    return float(np.mean(losses))


def main() -> None:
    """Write the tables."""
    section = Section("cuts", "Cutting numbers by default")
    section.made_with("numpy", "polars", note="Held-out records; no time is measured.")
    models = {
        "Bayes net": lambda **options: tacit.BayesNet(random_state=0, **options),
        "dependency network": lambda **options: tacit.DependencyNetwork(**options),
    }
    sets = list(data_sets())
    for name, make in models.items():
        section.part(
            f"Mean log-loss (nats) of the class by a {name}",
            f"{FOLDS} folds of at most {MOST:,} records of training parts; cut points are found on "
            'the folds that are learnt from. "auto" is the default; the others cut all numeric '
            "columns, those of few numbers too.",
        )
        rows = []
        for data, table, target in sets:
            losses = [score(table, target, cuts, make) for cuts in CUTS.values()]
            rows.append((data, *(f"{loss:.4f}" for loss in losses)))
            print(rows[-1], flush=True)
        section.table(("data", *CUTS), rows)
    section.write()


if __name__ == "__main__":
    main()
