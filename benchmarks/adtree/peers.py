"""Contingency tables as other libraries count them: each asks for one table at a time."""

from __future__ import annotations

import importlib.metadata
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from benchmarks.report import per_item, race

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.numpy_counting import NumpyCounter
    from benchmarks.report import Section
    from tacit import Table


class Peer:
    """A library that counts.

    `ask` is what is timed, and gives what the library gives; `dense` makes an array of it.
    Columns have short names, c0, c1, …, and the table's codes for labels.
    """

    package: str
    how: str

    def __init__(self, table: Table) -> None:
        self.arities: list[int] = table.schema.arities.tolist()
        columns = {f"c{k}": table.codes(k).astype(np.uint16) for k in range(table.n_columns)}
        self.frame = pl.DataFrame(columns)
        self.prepare()

    def prepare(self) -> None:
        """Hold the frame as the library likes it best."""

    def ask(self, names: list[str]) -> Any:
        raise NotImplementedError

    def dense(self, answer: Any, places: Sequence[int]) -> Any:
        *codes, counts = (answer[name] for name in [*(f"c{c}" for c in places), "n"])
        return self._filled(places, codes, counts)

    def _filled(self, places: Sequence[int], codes: Sequence[Any], counts: Any) -> Any:
        cells = np.zeros([self.arities[c] for c in places], np.int64)
        cells[tuple(np.asarray(column, np.int64) for column in codes)] = counts
        return cells.ravel()


class Pandas(Peer):
    package, how = "pandas", "`groupby(…, observed=True).size()`, categoricals"

    def prepare(self) -> None:
        self.data = self.frame.to_pandas().astype("category")

    def ask(self, names: list[str]) -> Any:
        return self.data.groupby(names, observed=True).size()

    def dense(self, answer: Any, places: Sequence[int]) -> Any:
        codes = [answer.index.get_level_values(k) for k in range(len(places))]
        return self._filled(places, codes, answer.to_numpy())


class Polars(Peer):
    package, how = "polars", "`group_by(…).len()`, all cores"

    def prepare(self) -> None:
        self.frame = self.frame.cast(pl.UInt8)

    def ask(self, names: list[str]) -> Any:
        return self.frame.group_by(names).len("n")


class DuckDB(Peer):
    package, how = "duckdb", "`GROUP BY`, a table in memory, all cores"

    def prepare(self) -> None:
        import duckdb

        self.base = duckdb.connect()
        self.base.register("given", self.frame.cast(pl.UInt8).to_arrow())
        self.base.execute("CREATE TABLE adult AS SELECT * FROM given")

    def ask(self, names: list[str]) -> Any:
        listed = ", ".join(names)
        query = f"SELECT {listed}, count(*) AS n FROM adult GROUP BY {listed}"
        return self.base.execute(query).fetchnumpy()


class Pgmpy(Peer):
    package, how = "pgmpy", "`BaseEstimator.state_counts(last, the others)`"

    def prepare(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of its own parts when it is imported
            from pgmpy.estimators import BaseEstimator

            data = self.frame.to_pandas().astype("category")
            names = {f"c{k}": list(range(arity)) for k, arity in enumerate(self.arities)}
            self.estimator = BaseEstimator(data, state_names=names)

    def ask(self, names: list[str]) -> Any:
        return self.estimator.state_counts(names[-1], parents=names[:-1])

    def dense(self, answer: Any, places: Sequence[int]) -> Any:
        return answer.to_numpy().T.ravel()  # a row for each label of the last column


class PyAgrum(Peer):
    package, how = "pyagrum", "`BNLearner.rawPseudoCount`, all cores"

    def prepare(self) -> None:
        import pyagrum

        self.learner = pyagrum.BNLearner(self.frame.to_pandas())

    def ask(self, names: list[str]) -> Any:
        return self.learner.rawPseudoCount(names)

    def dense(self, answer: Any, places: Sequence[int]) -> Any:
        shape = [self.arities[c] for c in places]
        return np.array(answer).reshape(shape[::-1]).T.ravel()  # the first column runs fastest


PEERS = (Pandas, Polars, DuckDB, Pgmpy, PyAgrum)
N_TABLES = {"pgmpy": 20}  # of the sample; it takes long


def against_peers(
    section: Section,
    table: Table,
    numpy: NumpyCounter,
    sets: Sequence[Sequence[int]],
    ours: dict[str, float],
) -> None:
    """Time the peers on a sample of three-column tables, beside what tacit took for one."""
    section.say(
        f"Other libraries, three-column tables one by one; each on a sample of {len(sets)} of the "
        "tables drawn above (pgmpy: the first 20), every answer checked. The last columns are how "
        "many times as long they take as tacit does.",
        "",
    )
    rows = []
    for kind in PEERS:
        sample = sets[: N_TABLES.get(kind.package, len(sets))]
        try:
            peer = kind(table)
            for places in sample:
                cells = peer.dense(peer.ask([f"c{c}" for c in places]), places)
                assert np.array_equal(cells, numpy.tuned(places)), f"{kind.package} differs"
        except ImportError as problem:
            rows.append((kind.package, f"not at hand: {problem}", *["–"] * (1 + len(ours))))
            continue
        seconds = race({"peer": _all_of(peer.ask, sample)}, repeats=3)["peer"]
        times = [f"{seconds / len(sample) / tacit:,.0f}×" for tacit in ours.values()]
        name = f"{kind.package} {importlib.metadata.version(kind.package)}"
        rows.append((name, kind.how, per_item(seconds, len(sample)), *times))
    section.table(("library", "how", "a table", *(f"/ {name}" for name in ours)), rows)


def _all_of(ask: Callable[[list[str]], Any], sets: Sequence[Sequence[int]]) -> Callable[[], None]:
    named = [[f"c{c}" for c in places] for places in sets]

    def work() -> None:
        for names in named:
            ask(names)

    return work
