"""``tacit bayes-net``: a Bayes net learnt from a table or read from a file, shown and asked."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import tacit
from tacit.cli.bayes_net_questions import Answers, Questions
from tacit.cli.bayes_net_search import SearchOptions
from tacit.cli.options import Json, Outputs, RandomState, Test, written_option
from tacit.cli.output import make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid, families_grid, likelihood_rows, strengths_grid
from tacit.cli.writing import FRAMES, PICTURES, check_target, write_frame, write_model
from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from tacit.network import ArcStrengths
    from tacit.network.bayes_net.net_estimator import NetEstimator
    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["COMMAND", "bayes_net"]

_ENDINGS = (".bif", ".xml", ".xmlbif", ".bifxml", ".tacit", ".html", ".dot", *PICTURES)


Draw = Annotated[
    int | None,
    written_option(
        min=1, help="Draw so many records from the net, for a file such as -o drawn.csv."
    ),
]
Bootstrap = Annotated[
    int | None,
    written_option(
        "--n-bootstrap",
        min=1,
        help="Learn so many nets of resampled records, list how many of them have each arc, and "
        "go on with the net of the arcs that enough of them have.",
    ),
]
Threshold = Annotated[
    float | None,
    written_option(
        min=0,
        max=1,
        help="How many of these nets are enough, as a fraction; by the rule of Scutari and "
        "Nagarajan unless said.",
    ),
]


def bayes_net(
    source: Source,
    *,
    questions: Questions,
    test: Test = None,
    draw: Draw = None,
    output: Outputs = None,
    n_bootstrap: Bootstrap = None,
    threshold: Threshold = None,
    search: SearchOptions,
    random_state: RandomState = 0,
    json: Json = False,
) -> None:
    """Learn a Bayes net from a table, or take one from a file, and show, ask and convert it.

    FILE may also be a net: BIF or XMLBIF (.bif, .xml, .xmlbif, also compressed), or one that was
    saved as .tacit. Ctrl-C ends the search, and the best net until then is shown and written.

    What columns are set to from outside stands in brackets: --query 'A | do(B=LABEL), C=LABEL'.

    Output: the net (.bif, .xml or .xmlbif, compressed if .gz follows; .tacit), a page (.html), a
    picture (.svg, .png, .pdf, .dot), or with --draw records (.csv, .parquet, …). With --n-bootstrap
    pictures have arcs as wide as they are sure, and .csv, .parquet, … hold how sure they are.

    JSON: an object with columns, parameters, arcs (a list of objects with from and to), score,
    log_likelihood (an object: train, for a net that was learnt, and with --test test; the mean over
    records) and answers, a list of objects with columns, given, log_evidence and probabilities (a
    list of objects with labels and probability).

    Example: `tacit bayes-net visits.csv --query 'scores | sports=yes' -o net.svg`
    """
    inputs = [source.path] + ([] if test is None else [test])
    _check_outputs(output or [], draw, n_bootstrap, threshold, inputs)
    records = _read(source)
    scores = {}
    strengths = None
    learnt = not hasattr(records, "arcs_")
    if not learnt:
        _refuse_search(source, search, n_bootstrap)
        net: Any = records
    else:
        jobs, verbose = source.n_jobs, int(sys.stderr.isatty())
        net = search.estimator(records.schema, random_state, jobs, verbose)
        if n_bootstrap is None:
            net.fit(records)
        else:
            strengths = net.arc_strengths(records, n_bootstrap=n_bootstrap)
            net = strengths.averaged_net(records, threshold)
        scores["train"] = net.score(records)
    if test is not None:
        scores["test"] = net.score(replace(source, path=test).read_table())
    answers = questions.ask(net)
    for path in output or []:
        if draw is not None and path.suffix.lower() in FRAMES:
            write_frame(net.sample(draw, random_state=random_state).to_frame(), path)
        else:
            _write(net, strengths, threshold, path)
    if json:
        print_json(_as_json(net, strengths, scores, answers))
    else:
        table = records if learnt else None
        _print(net, strengths, _facts(net, table, scores), answers, output or [])


def _refuse_search(source: Source, search: SearchOptions, n_bootstrap: int | None) -> None:
    said = [*search.said(), *([] if n_bootstrap is None else ["n_bootstrap"])]
    if said:
        raise InputError(
            f"--{said[0].replace('_', '-')}: {source.path} holds a net, so there is nothing to be "
            "searched for"
        )


def _check_outputs(
    output: list[Path],
    draw: int | None,
    n_bootstrap: int | None,
    threshold: float | None,
    inputs: list[Path],
) -> None:
    from tacit.network.bif.files import format_of

    for path in output:
        zipped = path.suffix.lower() == ".gz" and format_of(path) is not None
        frames = draw is not None or n_bootstrap is not None
        endings = (*_ENDINGS, *FRAMES) if frames else _ENDINGS
        check_target(path, "--output", (".gz",) if zipped else endings, *inputs)
    if draw is not None and not any(path.suffix.lower() in FRAMES for path in output):
        raise InputError("--draw: say where records go, as in -o drawn.csv")
    if threshold is not None and n_bootstrap is None:
        raise InputError("--threshold: give --n-bootstrap, whose nets it is about")


def _print(
    net: NetEstimator,
    strengths: ArcStrengths | None,
    facts: list[tuple[str, str]],
    answers: Answers,
    output: list[Path],
) -> None:
    console = make_console()
    put(console, facts_grid(facts))
    if strengths is not None:
        console.print()
        put(console, strengths_grid(strengths.to_frame()))
    answers.print(console)
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


def _write(
    net: NetEstimator, strengths: ArcStrengths | None, threshold: float | None, path: Path
) -> None:
    """Write what the end of the name asks for; pictures show how sure arcs are."""
    from tacit.network.bif.files import format_of

    match format_of(path):
        case "bif":
            net.save_bif(path)
        case "xmlbif":
            net.save_xmlbif(path)
        case _ if strengths is not None and path.suffix.lower() in (*PICTURES, *FRAMES):
            write_model(strengths, path, shown={"threshold": threshold})
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
    net: NetEstimator,
    strengths: ArcStrengths | None,
    scores: dict[str, float],
    answers: Answers,
) -> dict[str, Any]:
    learning = getattr(net, "learning_", None)
    shown = {
        "columns": list(net.column_names_),
        "parameters": net.n_parameters_,
        "arcs": [{"from": a, "to": b} for a, b in net.arcs_],
        "score": None if learning is None else {learning.criterion: learning.score},
        "log_likelihood": scores,
        **answers.as_json(),
    }
    if strengths is not None:
        shown["strengths"] = strengths.to_frame().to_dicts()
        shown["threshold"] = strengths.threshold
    return shown


COMMAND = reads_file(bayes_net, partitions=True)
