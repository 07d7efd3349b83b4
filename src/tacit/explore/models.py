"""Models of the selected records: what may be asked for, learnt in a process of its own, asked.

A module of ``model_kinds`` for each kind: ``check`` returns the parameters of a request, ``learn``
what the page shows, plain values for JSON, and the model itself if ``ask`` answers further
questions of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.explore.state import Selection

if TYPE_CHECKING:
    from tacit.table import Table

__all__ = ["ask", "check_request", "learn"]

_KINDS = ("tree", "clusters", "web", "net", "itemsets", "recommend")


def _kind(name: Any) -> Any:
    """Return a module, which is imported when it is first asked for."""
    return import_module(f"tacit.explore.model_kinds.{name}")


def check_request(table: Table, request: Any) -> dict[str, Any]:
    """Return what a request asks for, or say what is wrong with it."""
    kind = request.get("model") if isinstance(request, dict) else None
    if kind not in _KINDS:
        raise InputError(f"model must be one of {', '.join(_KINDS)}")
    given = Selection.parse(request.get("given", ""), table.schema.arities.tolist())
    return {"model": kind, "given": given.to_text(), **_kind(kind).check(table, request)}


def learn(table: Table, request: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Learn a model of the selected records; return what is shown, and what is asked later."""
    selection = Selection.parse(request["given"], table.schema.arities.tolist())
    records = table.where(selection.query(table.schema))
    if not len(records):
        raise InputError("no record is selected")
    found, model = _kind(request["model"]).learn(table.take(records), request)
    return {"kind": request["model"], **found}, model


def ask(table: Table, request: dict[str, Any], model: Any, question: Any) -> dict[str, Any]:
    """Answer a question about a model that was learnt."""
    if model is None or not isinstance(question, dict):
        raise InputError("question: this model answers none")
    answer: dict[str, Any] = _kind(request["model"]).ask(table, model, question)
    return answer
