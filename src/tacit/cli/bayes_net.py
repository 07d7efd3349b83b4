"""``tacit bayes-net``: a Bayes net learnt from a table or read from a file, shown and asked."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.bayes_net_texts import parse_arcs, parse_query
from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import distribution_grid, facts_grid, families_grid
from tacit.cli.tree_files import save_figure
from tacit.cli.writing import FRAMES, check_target, write_frame
from tacit.errors import FileError, InputError
from tacit.network import BayesNet
from tacit.network.bif.files import format_of
from tacit.table import Table

if TYPE_CHECKING:
    from tacit.network import Distribution
    from tacit.scale import PartitionedTable

__all__ = ["COMMAND", "bayes_net"]

_SEARCH = "How the net is found"
_SHOWN = "What is shown and written"
_ENDINGS = (".bif", ".xml", ".xmlbif", ".bifxml", ".tacit", ".dot", ".svg", ".png", ".pdf")


def bayes_net(
    source: Source,
    query: Annotated[
        list[str] | None,
        typer.Option(
            "--query",
            "-q",
            metavar="'A, B | C=LABEL'",
            help="Print the distribution of columns, given labels of others; can be repeated.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE2",
            help="Other records, read as FILE is: how probable they are.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    draw: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Draw so many records from the net, for a file such as -o drawn.csv.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write the net (.bif, .xml or .xmlbif, compressed if .gz follows; .tacit), its "
            "arcs (.dot), a picture (.svg, .png, .pdf), or with --draw records (.csv, .parquet); "
            "can be repeated.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    score: Annotated[
        Literal["bic", "aic", "bdeu", "bds", "k2", "penalised"] | None,
        typer.Option(
            help="What a net is to have much of; bic unless said.", rich_help_panel=_SEARCH
        ),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            min=0, help="How often the search starts anew; 10 unless said.", rich_help_panel=_SEARCH
        ),
    ] = None,
    max_parents: Annotated[
        int | None,
        typer.Option(
            min=0, help="Parents of a column, at most; 5 unless said.", rich_help_panel=_SEARCH
        ),
    ] = None,
    prior_weight: Annotated[
        float | None,
        typer.Option(
            help="How many records the prior is worth, in scores and tables that have one; 1 "
            "unless said.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    parameters: Annotated[
        Literal["bdeu", "k2", "mle"] | None,
        typer.Option(
            help="How tables are estimated: with a prior, or as shares of the records alone; bdeu "
            "unless said.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    start: Annotated[
        Literal["empty", "branching"] | None,
        typer.Option(
            help="Begin without arcs, or with the best one parent of each column; empty unless "
            "said.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A->B",
            help="An arc that the net has to have; can be repeated.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A->B",
            help="An arc that it must not have; can be repeated.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing",
            help="Missing values are no label of their own: a record counts wherever it lacks "
            "nothing.",
            rich_help_panel=_SEARCH,
        ),
    ] = False,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="End the search after so long.", rich_help_panel=_SEARCH),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="For restarts and --draw.", rich_help_panel=_SEARCH)
    ] = 0,
    json: Json = False,
) -> None:
    """Learn a Bayes net from a table, or take one from a file, and show, ask and convert it.

    FILE may also be a net: BIF or XMLBIF (.bif, .xml, .xmlbif, also compressed), or one that was
    saved as .tacit. Ctrl-C ends the search, and what was found until then is shown and written.

    JSON: an object with columns, parameters, arcs (a list of objects with from and to), score,
    log_likelihood (an object: train, for a net that was learnt, and with --test test; the mean over
    records) and answers, a list of objects with columns, given, log_evidence and probabilities (a
    list of objects with labels and probability).
    """
    inputs = [source.path] + ([] if test is None else [test])
    for path in output or []:
        zipped = path.suffix.lower() == ".gz" and format_of(path) is not None
        endings = _ENDINGS if draw is None else (*_ENDINGS, *FRAMES)
        check_target(path, "--output", (".gz",) if zipped else endings, *inputs)
    if draw is not None and not any(path.suffix.lower() in FRAMES for path in output or []):
        raise InputError("--draw: say where records go, as in -o drawn.csv")
    found = _read(source)
    # What is not said is left to BayesNet.learn, so that it shows what was said about a net, too.
    said = {
        "score": score, "restarts": restarts, "max_parents": max_parents,
        "prior_weight": prior_weight, "parameters": parameters, "start": start,
        "max_seconds": max_seconds,
    }  # fmt: skip
    said = {name: value for name, value in said.items() if value is not None}
    if isinstance(found, BayesNet):
        others = {"require": require, "forbid": forbid, "skip_missing": skip_missing}
        names = [*said, *(name for name, value in others.items() if value)]
        if names:
            raise InputError(
                f"--{names[0].replace('_', '-')}: {source.path} holds a net, so there is nothing "
                "to be searched for"
            )
        net, train = found, None
    else:
        net = _learn(
            found, **said,
            required=parse_arcs(found.schema, require or [], "--require"),
            forbidden=parse_arcs(found.schema, forbid or [], "--forbid"),
            missing="available" if skip_missing else "state",
            random_state=seed, n_jobs=source.n_jobs, verbose=int(sys.stderr.isatty()),
        )  # fmt: skip
        train = found
    scores = {} if train is None else {"train": net.score(train)}
    if test is not None:
        scores["test"] = net.score(replace(source, path=test).read_table())
    answers = [net.query(*parse_query(net.schema, text)) for text in query or []]
    for path in output or []:
        if path.suffix.lower() in FRAMES:
            write_frame(net.sample(draw or 1, random_state=seed).to_frame(), path)
        else:
            _write(net, path)
    if json:
        print_json(_as_json(net, scores, answers))
        return
    console = make_console()
    put(console, facts_grid(_facts(net, train, scores)))
    for answer in answers:
        console.print()
        if answer.given:
            shown = ", ".join(
                f"{name} = {'(missing)' if label is None else label}"
                for name, label in answer.given.items()
            )
            console.print(f"given {shown} (probability {answer.evidence:.4g}):", soft_wrap=True)
        put(console, distribution_grid(answer))
    if not answers:
        console.print()
        put(console, families_grid(net))
    if output:
        console.print(f"\nwritten: {', '.join(map(str, output))}", soft_wrap=True)


def _read(source: Source) -> BayesNet | Table | PartitionedTable:
    """Read a net or a table, whichever the file holds."""
    if source.partitioned:
        return source.read_table()
    kind = format_of(source.path)
    if kind is not None:
        with working(f"reading {source.path}"):
            read = BayesNet.read_bif if kind == "bif" else BayesNet.read_xmlbif
            return read(source.path)
    found = source.read_any()
    if isinstance(found, BayesNet | Table):
        return found
    raise FileError(source.path, f"holds a saved {type(found).__name__}, not a table or a net")


def _learn(table: Table | PartitionedTable, **options: Any) -> BayesNet:
    try:
        return BayesNet.learn(table, **options)
    except InputError as error:
        text = str(error)
        for argument in ("max_seconds", "max_parents", "prior_weight"):
            text = text.replace(argument, f"--{argument.replace('_', '-')}")
        raise InputError(text) from None


def _write(net: BayesNet, path: Path) -> None:
    """Write what the end of the name asks for."""
    with working(f"writing {path}"):
        match format_of(path) or path.suffix.lower():
            case "bif":
                net.save_bif(path)
            case "xmlbif":
                net.save_xmlbif(path)
            case ".tacit":
                net.save(path)
            case ".dot":
                path.write_text(net.to_dot(), "utf-8")
            case ".svg":
                path.write_text(net.to_svg(), "utf-8")
            case _:
                save_figure(net.plot(), path)


def _facts(
    net: BayesNet, table: Table | PartitionedTable | None, scores: dict[str, float]
) -> list[tuple[str, str]]:
    rows = [] if table is None else table.summary().rows()[:3]
    if table is None:
        rows.append(("columns", f"{len(net.schema):,}"))
    rows += [("arcs", f"{net.n_arcs:,}"), ("parameters", f"{net.n_parameters:,}")]
    report = net.report_
    if report is not None:
        rows.append((report.score_name, f"{report.score:,.2f}"))
    for name, what in (("train", "log-likelihood"), ("test", "  of --test")):
        if name in scores:
            rows.append((what, f"{scores[name]:,.4f} a record"))
    if table is not None and report is not None:
        early = ", interrupted" if report.interrupted else ""
        early = ", out of time" if report.out_of_time else early
        rows.append(("families scored", f"{report.n_evaluated:,}{early}"))
        if report.n_passes:
            rows.append(("passes", f"{report.n_passes:,}"))
        rows.append(("time", f"{report.seconds:.2f} s"))
    return rows


def _as_json(
    net: BayesNet, scores: dict[str, float], answers: list[Distribution]
) -> dict[str, Any]:
    return {
        "columns": list(net.names),
        "parameters": net.n_parameters,
        "arcs": [{"from": a, "to": b} for a, b in net.arcs],
        "score": None if net.report_ is None else {net.report_.score_name: net.report_.score},
        "log_likelihood": scores,
        "answers": [_answer_json(answer) for answer in answers],
    }


def _answer_json(answer: Distribution) -> dict[str, Any]:
    *labels, numbers = answer.to_frame().iter_columns()
    rows = zip(*(own.to_list() for own in labels), strict=True)
    return {
        "columns": list(answer.names),
        "given": {name: json_label(label) for name, label in answer.given.items()},
        "log_evidence": answer.log_evidence,
        "probabilities": [
            {"labels": [json_label(x) for x in row], "probability": p}
            for row, p in zip(rows, numbers.to_list(), strict=True)
        ],
    }


COMMAND = reads_file(bayes_net, partitions=True)
