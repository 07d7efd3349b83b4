"""``tacit bayes-net``: a Bayes net learnt from a table or read from a file, shown and asked."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

import tacit
from tacit.cli.answers import Query, answer_json, print_answers
from tacit.cli.bayes_net_texts import parse_arcs, parse_query
from tacit.cli.options import Json, Outputs, RandomState, Test, written_option
from tacit.cli.output import make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid, families_grid, likelihood_rows
from tacit.cli.writing import FRAMES, PICTURES, check_target, write_frame, write_model
from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from tacit.network import BayesNet, Distribution
    from tacit.network.bayes_net.net_estimator import NetEstimator
    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["COMMAND", "bayes_net"]

_search_option = partial(typer.Option, rich_help_panel="How the net is found")
_ENDINGS = (".bif", ".xml", ".xmlbif", ".bifxml", ".tacit", ".html", ".dot", *PICTURES)


Draw = Annotated[
    int | None,
    written_option(
        min=1, help="Draw so many records from the net, for a file such as -o drawn.csv."
    ),
]
Criterion = Annotated[
    Literal["bic", "aic", "bdeu", "bds", "k2", "penalized"] | None,
    _search_option(help="The score that the search maximises; bic unless said."),
]
Algorithm = Annotated[
    Literal["auto", "climb", "exact"] | None,
    _search_option(
        help="Go from net to net by arcs (climb), look at orders of the columns, too (auto), or "
        "prove which net is the best of all (exact); auto unless said."
    ),
]
Restarts = Annotated[
    int | None,
    _search_option(
        min=0, help="How often the search starts anew; as long as that helps, unless said."
    ),
]
MaxParents = Annotated[
    int | None, _search_option(min=0, help="Parents of a column, at most; 5 unless said.")
]
PriorWeight = Annotated[
    float | None,
    _search_option(
        help="How many records the prior is worth, in criteria and tables that have one; 1 unless "
        "said."
    ),
]
Parameters = Annotated[
    Literal["bdeu", "k2", "mle"] | None,
    _search_option(
        help="How tables are estimated: with a prior, or as fractions of the records alone; bdeu "
        "unless said."
    ),
]
Start = Annotated[
    Literal["empty", "branching"] | None,
    _search_option(
        help="Begin without arcs, or with the best one parent of each column; empty unless said."
    ),
]
Require = Annotated[
    list[str] | None,
    _search_option(metavar="A->B", help="An arc that the net has to have; can be repeated."),
]
Forbid = Annotated[
    list[str] | None,
    _search_option(metavar="A->B", help="An arc that it must not have; can be repeated."),
]
IgnoreMissing = Annotated[
    bool,
    _search_option(
        "--ignore-missing",
        help="Missing values are no label of their own: a record counts wherever it lacks nothing.",
    ),
]
MaxSeconds = Annotated[float | None, _search_option(help="End the search after so long.")]


def bayes_net(
    source: Source,
    query: Query = None,
    test: Test = None,
    draw: Draw = None,
    output: Outputs = None,
    criterion: Criterion = None,
    algorithm: Algorithm = None,
    n_restarts: Restarts = None,
    max_parents: MaxParents = None,
    prior_weight: PriorWeight = None,
    parameters: Parameters = None,
    start: Start = None,
    require: Require = None,
    forbid: Forbid = None,
    ignore_missing: IgnoreMissing = False,
    max_seconds: MaxSeconds = None,
    random_state: RandomState = 0,
    json: Json = False,
) -> None:
    """Learn a Bayes net from a table, or take one from a file, and show, ask and convert it.

    FILE may also be a net: BIF or XMLBIF (.bif, .xml, .xmlbif, also compressed), or one that was
    saved as .tacit. Ctrl-C ends the search, and the best net until then is shown and written.

    Output: the net (.bif, .xml or .xmlbif, compressed if .gz follows; .tacit), a page (.html), a
    picture (.svg, .png, .pdf, .dot), or with --draw records (.csv, .parquet, …).

    JSON: an object with columns, parameters, arcs (a list of objects with from and to), score,
    log_likelihood (an object: train, for a net that was learnt, and with --test test; the mean over
    records) and answers, a list of objects with columns, given, log_evidence and probabilities (a
    list of objects with labels and probability).

    Example: `tacit bayes-net visits.csv --query 'scores | sports=yes' -o net.svg`
    """
    _check_outputs(output or [], draw, [source.path] + ([] if test is None else [test]))
    records = _read(source)
    # What is not said is left to BayesNet, so that it shows what was said about a net, too.
    said = {
        "criterion": criterion, "algorithm": algorithm, "n_restarts": n_restarts,
        "max_parents": max_parents, "prior_weight": prior_weight, "parameters": parameters,
        "start": start, "max_seconds": max_seconds, "require": require or None,
        "forbid": forbid or None, "ignore_missing": ignore_missing or None,
    }  # fmt: skip
    said = {name: value for name, value in said.items() if value is not None}
    scores = {}
    learnt = not hasattr(records, "arcs_")
    if not learnt:
        if said:
            option = next(iter(said)).replace("_", "-")
            raise InputError(
                f"--{option}: {source.path} holds a net, so there is nothing to be searched for"
            )
        net: Any = records
    else:
        net = _learn(records, said, random_state, source.n_jobs)
        scores["train"] = net.score(records)
    if test is not None:
        scores["test"] = net.score(replace(source, path=test).read_table())
    answers = [net.query(*parse_query(net.schema_, text)) for text in query or []]
    for path in output or []:
        if path.suffix.lower() in FRAMES:
            write_frame(net.sample(draw or 1, random_state=random_state).to_frame(), path)
        else:
            _write(net, path)
    if json:
        print_json(_as_json(net, scores, answers))
    else:
        table = records if learnt else None
        _print(net, _facts(net, table, scores), answers, output or [])


def _check_outputs(output: list[Path], draw: int | None, inputs: list[Path]) -> None:
    from tacit.network.bif.files import format_of

    for path in output:
        zipped = path.suffix.lower() == ".gz" and format_of(path) is not None
        endings = _ENDINGS if draw is None else (*_ENDINGS, *FRAMES)
        check_target(path, "--output", (".gz",) if zipped else endings, *inputs)
    if draw is not None and not any(path.suffix.lower() in FRAMES for path in output):
        raise InputError("--draw: say where records go, as in -o drawn.csv")


def _print(
    net: NetEstimator, facts: list[tuple[str, str]], answers: list[Distribution], output: list[Path]
) -> None:
    console = make_console()
    put(console, facts_grid(facts))
    print_answers(console, answers)
    if not answers:
        console.print()
        put(console, families_grid(net))
    print_written(console, output)


def _read(source: Source) -> NetEstimator | Table | PartitionedTable:
    """Read a net or a table, whichever the file holds."""
    from tacit.network.bif.files import format_of

    if source.partitioned:
        return source.read_table()
    kind = format_of(source.path)
    if kind is not None:
        with working(f"reading {source.path}"):
            read = tacit.BayesNet.read_bif if kind == "bif" else tacit.BayesNet.read_xmlbif
            return read(source.path)
    content = source.read_any()
    if isinstance(content, tacit.Table) or hasattr(content, "arcs_"):
        return cast("NetEstimator | Table", content)
    raise FileError(source.path, f"holds a saved {type(content).__name__}, not a table or a net")


def _learn(
    table: Table | PartitionedTable, said: dict[str, Any], random_state: int, n_jobs: int | None
) -> BayesNet:
    settings = dict(said)
    net = tacit.BayesNet(
        required=parse_arcs(table.schema, settings.pop("require", []), "--require"),
        forbidden=parse_arcs(table.schema, settings.pop("forbid", []), "--forbid"),
        missing="ignore" if settings.pop("ignore_missing", False) else "state",
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=int(sys.stderr.isatty()),
        **settings,
    )
    return net.fit(table)


def _write(net: NetEstimator, path: Path) -> None:
    """Write what the end of the name asks for."""
    from tacit.network.bif.files import format_of

    match format_of(path):
        case "bif":
            net.save_bif(path)
        case "xmlbif":
            net.save_xmlbif(path)
        case _:
            write_model(net, path)


def _facts(
    net: NetEstimator, table: Table | PartitionedTable | None, scores: dict[str, float]
) -> list[tuple[str, str]]:
    rows = [] if table is None else table.summary().rows()[:3]
    if table is None:
        rows.append(("columns", f"{len(net.schema_):,}"))
    rows += [("arcs", f"{net.n_arcs_:,}"), ("parameters", f"{net.n_parameters_:,}")]
    learning = getattr(net, "learning_", None)
    if learning is not None:
        rows.append((learning.criterion, f"{learning.score:,.2f}"))
        if learning.proven:
            rows.append(("best of all nets", "proven"))
        elif learning.gap is not None:
            rows.append(("below the best net", f"{learning.gap:,.2f} at most"))
    rows += likelihood_rows(scores)
    if table is not None and learning is not None:
        early = ", interrupted" if learning.interrupted else ""
        early = ", out of time" if learning.out_of_time else early
        rows.append(("families scored", f"{learning.n_evaluated:,}{early}"))
        if learning.n_passes:
            rows.append(("passes", f"{learning.n_passes:,}"))
        rows.append(("time", f"{learning.seconds:.2f} s"))
    return rows


def _as_json(
    net: NetEstimator, scores: dict[str, float], answers: list[Distribution]
) -> dict[str, Any]:
    learning = getattr(net, "learning_", None)
    return {
        "columns": list(net.column_names_),
        "parameters": net.n_parameters_,
        "arcs": [{"from": a, "to": b} for a, b in net.arcs_],
        "score": None if learning is None else {learning.criterion: learning.score},
        "log_likelihood": scores,
        "answers": [answer_json(answer) for answer in answers],
    }


COMMAND = reads_file(bayes_net, partitions=True)
