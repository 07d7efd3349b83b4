"""What the explorer holds: the table as it is shown, and what counts it."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.counts import Distinct, counter
from tacit.errors import InputError
from tacit.explore import findings, questions
from tacit.explore.jobs import Jobs
from tacit.explore.partitions import count_partitions, table_of
from tacit.explore.state import Selection
from tacit.explore.views import views_of
from tacit.machine import check_int
from tacit.scale import as_partitioned
from tacit.table import Table, as_table

if TYPE_CHECKING:
    import os

    from tacit.counts import Counter

__all__ = ["Explorer"]

_DENSE = 20  # records × columns for each stored value
_MANY = 200_000  # distinct records


class Explorer:
    """A table to be looked at.

    Parameters
    ----------
    table : Table, or what :func:`tacit.as_table` takes, or PartitionedTable
        Of partitions, what is kept are the distinct records as they are shown; where these are more
        than fit, every question is a pass.
    target : str, optional
        The column that others are ordered by: by how much they say about it.
    title : str, default "table"
        What the page is called: the name of the file.
    start : str, default ""
        The state that the page begins with, as its address has it behind ``#``.
    code : str, default "table"
        Python that makes the table, for the page to show.
    file : str, default ""
        The file and the options it is read by, as commands have them.

    Attributes
    ----------
    views : Views
        How the table is shown.

    Examples
    --------
    >>> import tacit
    >>> from tacit.explore import Explorer
    >>> explorer = Explorer(tacit.datasets.load_visits())
    >>> explorer.table.count({"weather": True, "news": True})
    845
    """

    def __init__(
        self,
        table: Any,
        *,
        target: str | None = None,
        title: str = "table",
        start: str = "",
        code: str = "table",
        file: str = "",
    ) -> None:
        partitioned = as_partitioned(table)
        self._source = as_table(table) if partitioned is None else partitioned
        self.views = views_of(self._source)
        self.title = title
        self.start = start
        self.code = code
        self.file = file
        schema = self.views.schema
        if target is not None and target in self.views.left_out:
            why = self.views.left_out[target]
            raise InputError(f"target: column {target!r} is not shown: {why}")
        self.target = None if target is None else schema.position(target, "target")
        self._lock = threading.Lock()

    @cached_property
    def table(self) -> Table:
        """The records as they are shown: numbers in bins, rare labels together.

        Of a table in partitions, its distinct records with how often each occurs as weights.
        """
        if isinstance(self._source, Table):
            return self.views.of(self._source)
        if isinstance(self.counter, Distinct):
            return table_of(self.counter)
        raise InputError(
            "this needs the distinct records in memory, which are more than the limit lets in: "
            "give more --memory, or leave columns out"
        )

    @cached_property
    def counter(self) -> Counter:
        """What answers the page's questions."""
        if not isinstance(self._source, Table):
            counts = count_partitions(self._source, self.views)
        elif _is_dense(self.table) and Distinct.fits(self.table):
            counts = Distinct(self.table)
        else:
            return counter(self.table)
        if isinstance(counts, Distinct) and counts.n_distinct > _MANY:
            # The page goes by what is there, and is not kept waiting for it.
            threading.Thread(target=counts.cache, name="tacit-cache", daemon=True).start()
        return counts

    @cached_property
    def jobs(self) -> Jobs:
        """The models that are learnt for the page."""
        return Jobs(lambda: self.table)

    def save(self, path: str | os.PathLike[str], *, max_records: int | None = None) -> None:
        """Write the page as one HTML file, which needs neither a server nor a network.

        It holds the records as they are shown, and how often each occurs.

        Parameters
        ----------
        path : path-like
        max_records : int, optional
            Of more distinct records than this, the file holds a sample of so many records, and the
            exact counts of all columns and pairs of columns. Counts of more columns are then
            estimates, which the page shows with their 95% intervals.
        """
        from tacit.explore.offline import write_page

        if max_records is not None:
            check_int(max_records, "max_records", 1)
        write_page(self, path, max_records)

    def describe(self) -> dict[str, Any]:
        """Return what the page has to know first."""
        return {
            **self.views.describe(),
            "title": self.title,
            "target": self.target,
            "start": self.start,
            "code": self.code,
            "file": self.file,
        }

    def tables(self, request: Any) -> bytes:
        """Answer ``{"ask": [...]}`` with counts; see :mod:`tacit.explore.questions`."""
        with self._lock:
            counter = self.counter
        return questions.pack(questions.answer(counter, _field(request, "ask")))

    def findings(self, request: Any) -> dict[str, Any]:
        """Answer ``{"a": …, "b": …}`` with what sets the records of A apart."""
        table = self.table
        arities = table.schema.arities.tolist()
        a = Selection.parse(_field(request, "a"), arities, "a")
        b = request.get("b")
        other = None if b is None else Selection.parse(b, arities, "b")
        return findings.conjunctions(table, a, other)


def _is_dense(table: Table) -> bool:
    """Return whether a code of each record and column takes hardly more than what is stored."""
    return not table.weighted and table.n_records * len(table.schema) <= _DENSE * table.n_stored


def _field(request: Any, name: str) -> Any:
    if not isinstance(request, dict) or name not in request:
        raise InputError(f"the request must be an object with {name!r}")
    return request[name]
