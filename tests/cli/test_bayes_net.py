"""``tacit bayes-net`` learns, reads, asks and converts nets."""

import json
import math

import pytest

import tacit
from support.commands import one_error
from support.nets import sprinkler
from tacit import BayesNet


@pytest.fixture(scope="module")
def wet():
    return sprinkler().sample(2000, random_state=0)


@pytest.fixture(scope="module")
def wet_file(wet, write):
    return write("wet.csv", wet.to_frame())


@pytest.fixture
def bif(tmp_path):
    path = tmp_path / "sprinkler.bif"
    sprinkler().save_bif(path)
    return path


def test_learns(run, wet_file, tmp_path):
    out = tmp_path / "net.bif"
    lines = run("bayes-net", wet_file, "--n-restarts", 2, "-o", out).stdout.splitlines()
    net = BayesNet.read_bif(out)
    assert net.structural_hamming_distance(sprinkler()) == 0
    assert ["arcs", "3"] in [line.split() for line in lines]
    assert [line.split()[0] for line in lines[-5:-2]] == list(net.column_names_)
    assert lines[-1] == f"written: {out}"


@pytest.mark.parametrize(
    "ending",
    [".bif", ".bif.gz", ".xml", ".xmlbif", ".xml.gz", ".tacit", ".dot", ".svg", ".png", ".pdf"],
)
def test_converts(run, bif, tmp_path, ending):
    out = tmp_path / f"out{ending}"
    assert run("bayes-net", bif, "-o", out).exit_code == 0
    if "bif" in ending or "xml" in ending:
        read = BayesNet.read_bif if ".bif" in ending else BayesNet.read_xmlbif
        assert read(out) == sprinkler()
        again = tmp_path / "again.bif"
        assert run("bayes-net", out, "-o", again).exit_code == 0
        assert BayesNet.read_bif(again) == sprinkler()
    elif ending == ".tacit":
        assert tacit.load(out) == sprinkler()
    else:
        assert out.stat().st_size > 100


def test_draws(run, bif, tmp_path):
    out = tmp_path / "drawn.csv"
    assert run("bayes-net", bif, "--draw", 50, "--random-state", 7, "-o", out).exit_code == 0
    drawn = tacit.read(out).conform(sprinkler().schema_)
    expected = sprinkler().sample(50, random_state=7)
    assert (drawn.to_numpy() == expected.to_numpy()).all()
    refused = run("bayes-net", bif, "--draw", 50)
    assert "--draw: say where records go" in refused.stderr
    assert run("bayes-net", bif, "-o", out).exit_code == 2


def test_asks(run, bif):
    lines = run("bayes-net", bif, "--query", "rain | grass=wet").stdout.splitlines()
    answer = sprinkler().query("rain", {"grass": "wet"})
    assert lines[-5] == f"given grass = wet (probability {answer.evidence:.4g}):"
    assert lines[-1].split() == ["yes", f"{answer['yes']:.4%}"]


def test_json(run, bif, wet_file):
    options = ["-q", "sprinkler, rain|grass=wet", "-q", "grass", "--test", wet_file, "--json"]
    printed = json.loads(run("bayes-net", bif, *options).stdout)
    net = sprinkler()
    answer = net.query(["sprinkler", "rain"], {"grass": "wet"})
    assert printed["columns"] == list(net.column_names_)
    assert printed["arcs"][0] == {"from": "rain", "to": "sprinkler"}
    assert printed["score"] is None
    assert printed["log_likelihood"] == {"test": net.score(tacit.read(wet_file))}
    first, second = printed["answers"]
    assert first["given"] == {"grass": "wet"}
    assert first["log_evidence"] == pytest.approx(answer.log_evidence)
    assert first["probabilities"][1] == {
        "labels": ["off", "yes"], "probability": pytest.approx(answer["off", "yes"]),
    }  # fmt: skip
    assert [row["labels"] for row in second["probabilities"]] == [["dry"], ["wet"]]


def test_options_of_the_search(run, wet_file):
    options = [
        "--criterion", "bdeu", "--prior-weight", 5, "--max-parents", 1, "--require", "grass->rain",
        "--forbid", "rain -> sprinkler", "--start", "branching", "--parameters", "mle",
        "--max-seconds", 60, "--random-state", 3, "--ignore-missing", "--json",
    ]  # fmt: skip
    printed = json.loads(run("bayes-net", wet_file, *options).stdout)
    assert {"from": "grass", "to": "rain"} in printed["arcs"]
    assert {"from": "rain", "to": "sprinkler"} not in printed["arcs"]
    assert list(printed["score"]) == ["bdeu"]
    net = BayesNet(
        criterion="bdeu", prior_weight=5, max_parents=1, required=[("grass", "rain")],
        forbidden=[("rain", "sprinkler")], start="branching", parameters="mle", random_state=3,
    )  # fmt: skip
    net.fit(tacit.read(wet_file))
    assert printed["score"]["bdeu"] == pytest.approx(net.learning_.score)


def test_saved_nets_are_taken_and_shown(run, bif, tmp_path):
    out = tmp_path / "net.tacit"
    run("bayes-net", bif, "-o", out)
    assert run("bayes-net", out).stdout == run("bayes-net", bif).stdout
    shown = run("show", out).stdout
    assert "Bayes net of 3 columns, 3 arcs, 7 parameters" in shown
    assert "grass" in shown


def test_queries_with_labels_of_all_kinds(run, mixed_file):
    options = ["-q", "a=b | town=, [red]size[/red]=7", "-q", "rooms|a=b=x=y"]
    result = run("bayes-net", mixed_file, *options)
    assert "given town = (missing), [red]size[/red] = 7" in result.stdout
    assert "given a=b = x=y" in result.stdout


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--require", "rain"], "--require: 'rain' is not FROM->TO"),
        (["--require", "rain->snow"], "--require: there is no column 'snow'"),
        (["--forbid", "->rain"], "--forbid: '->rain' is not FROM->TO"),
        (["--require", "rain->grass", "--require", "grass->rain"], "form a cycle"),
        (["--prior-weight", 0], "--prior-weight must be a"),
        (["--max-seconds", -1], "--max-seconds must be a finite number above 0"),
        (["--query", "snow"], "--query: there is no column 'snow'"),
        (["--query", "rain|snow=1"], "--query: there is no column 'snow'"),
        (["--query", "rain|grass"], "--query: 'grass' is not COLUMN=LABEL"),
        (["--query", "rain|grass=damp"], "column 'grass' has no label 'damp'"),
        (["--query", "rain|rain=no"], "column 'rain' is given"),
    ],
)
def test_wrong_options(run, wet_file, options, problem):
    assert problem in one_error(run("bayes-net", wet_file, *options))


@pytest.mark.parametrize(
    "option",
    [
        ("--criterion", "bic"), ("--n-restarts", 10), ("--max-parents", 5), ("--prior-weight", 1.0),
        ("--parameters", "bdeu"), ("--start", "empty"), ("--max-seconds", 1),
        ("--require", "rain->grass"), ("--forbid", "rain->grass"), ("--ignore-missing",),
    ],
)  # fmt: skip
def test_options_of_the_search_are_refused_for_nets(run, bif, option):
    result = run("bayes-net", bif, *option)
    assert result.exit_code == 1
    assert f"{option[0]}: {bif} holds a net, so there is nothing to be searched" in result.stderr


def test_drawn_records_can_be_tested(run, tmp_path):
    columns = {"b": ["TRUE", "FALSE"], "n": ["0", "1"], "s": ["LOW", "HIGH"]}
    path, out = tmp_path / "net.bif", tmp_path / "drawn.csv"
    BayesNet.from_tables(columns, {}, {name: [0.5, 0.5] for name in columns}).save_bif(path)
    run("bayes-net", path, "--draw", 20, "-o", out)
    result = run("bayes-net", path, "--test", out, "--json")
    assert json.loads(result.stdout)["log_likelihood"]["test"] == pytest.approx(3 * math.log(0.5))


def test_wrong_files(run, bif, tmp_path, visits):
    refused = run("bayes-net", bif, "-o", tmp_path / "net.doc")
    assert refused.exit_code == 2
    assert ".svg" in refused.stderr
    assert "it would be lost" in run("bayes-net", bif, "-o", bif).stderr
    assert "nothing to be searched for" in run("bayes-net", bif, "--n-restarts", 3).stderr
    bad = tmp_path / "bad.bif"
    bad.write_text("network x {\n}\nvariabel", "utf-8")
    result = run("bayes-net", bad)
    assert result.exit_code == 1
    assert f"error: {bad}: line 3: 'variabel' is not known" in result.stderr
    model = tmp_path / "tree.tacit"
    tacit.DecisionTreeClassifier().fit(visits, "sports").save(model)
    assert "holds a saved DecisionTreeClassifier" in run("bayes-net", model).stderr


@pytest.fixture(scope="module")
def wet_parts(wet, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wet_parts")
    frame = wet.to_frame()
    for k in range(4):
        frame[500 * k : 500 * (k + 1)].write_parquet(folder / f"wet-{k}.parquet")
    frame.write_parquet(folder / "all.pq")
    return folder


@pytest.mark.parametrize("options", [[], ["--memory", "50MB"]])
def test_learns_from_partitions(run, wet_parts, options):
    whole = run("bayes-net", wet_parts / "all.pq", "--json")
    streamed = run("bayes-net", wet_parts / "wet-*.parquet", "--json", *options)
    one, other = json.loads(streamed.stdout), json.loads(whole.stdout)
    assert one["arcs"] == other["arcs"]
    assert one["score"] == other["score"]
    likelihood = other["log_likelihood"]["train"]
    assert one["log_likelihood"]["train"] == pytest.approx(likelihood, rel=1e-12)
    assert "passes: " in streamed.stderr


def test_partitions_are_scored_and_passes_shown(run, wet_parts):
    result = run(
        "bayes-net", wet_parts / "wet-*.parquet", "--test", wet_parts / "wet-[12].parquet",
        "--n-restarts", 1,
    )  # fmt: skip
    lines = [line.split() for line in result.stdout.splitlines()]
    assert any(line[:1] == ["passes"] and int(line[1]) > 1 for line in lines)
    assert any(line[:2] == ["of", "--test"] for line in lines)


def test_a_damaged_partition_is_named(run, wet_parts, tmp_path):
    good = (wet_parts / "wet-0.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(good)
    (tmp_path / "b.parquet").write_bytes(good[:200] + bytes(50) + good[250:])
    result = run("bayes-net", tmp_path / "*.parquet")
    assert result.exit_code == 1
    assert "b.parquet" in result.stderr


def test_how_sure_arcs_are(run, wet, wet_file, tmp_path):
    options = ["--algorithm", "climb", "--n-restarts", 0, "--n-bootstrap", 12, "--threshold", 0.5]
    outputs = [tmp_path / name for name in ("net.bif", "arcs.csv", "arcs.svg", "net.tacit")]
    written = [word for path in outputs for word in ("-o", path)]
    table = tacit.read(wet_file)
    net = BayesNet(algorithm="climb", n_restarts=0, random_state=0)
    strengths = net.arc_strengths(table, n_bootstrap=12)
    averaged = strengths.averaged_net(table, 0.5)
    printed = json.loads(run("bayes-net", wet_file, *options, "--json").stdout)
    assert printed["strengths"] == strengths.to_frame().to_dicts()
    assert printed["threshold"] == strengths.threshold
    assert {(arc["from"], arc["to"]) for arc in printed["arcs"]} == set(averaged.arcs_)
    assert printed["score"] is None
    result = run("bayes-net", wet_file, *options, *written)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["from", "to", "strength", "direction", "essential"] in lines
    assert BayesNet.read_bif(outputs[0]).arcs_ == averaged.arcs_
    assert tacit.read(outputs[1]).n_records == strengths.to_frame().height
    assert outputs[2].read_text("utf-8") == strengths.to_svg(0.5)
    assert tacit.load(outputs[3]) == averaged


def test_wrong_options_of_the_bootstrap(run, wet_file, bif, wet_parts):
    refused = run("bayes-net", wet_file, "--threshold", 0.5)
    assert "--threshold: give --n-bootstrap" in refused.stderr
    for option, value in (("--n-bootstrap", 5), ("--n-restarts", 0)):
        refused = run("bayes-net", bif, option, value)
        assert f"{option}: {bif} holds a net" in refused.stderr
    refused = run("bayes-net", wet_parts / "wet-*.parquet", "--n-bootstrap", 2)
    assert "arc_strengths needs all records on one machine" in refused.stderr


def test_asks_what_follows_from_doing(run, bif):
    net = sprinkler()
    options = [
        "-q", "grass | do(sprinkler=on), rain=no", "--most-probable", "rain, sprinkler | grass=wet",
        "--ask-next", "rain | do(sprinkler = off)", "--adjust", "sprinkler->grass", "--adjust",
        "grass->rain",
    ]  # fmt: skip
    printed = json.loads(run("bayes-net", bif, *options, "--json").stdout)
    (answer,) = printed["answers"]
    done = net.query("grass", {"rain": "no"}, do={"sprinkler": "on"})
    assert (answer["given"], answer["do"]) == ({"rain": "no"}, {"sprinkler": "on"})
    assert answer["probabilities"][1]["probability"] == pytest.approx(done["wet"])
    labels, score = net.most_probable({"grass": "wet"}, columns=["rain", "sprinkler"])
    assert printed["most_probable"] == [
        {"given": {"grass": "wet"}, "do": {}, "labels": labels, "log_probability": score}
    ]
    gains = net.value_of_information("rain", do={"sprinkler": "off"})
    assert printed["value_of_information"] == [
        {"given": {}, "do": {"sprinkler": "off"}, "target": "rain", "columns": gains.to_dicts()}
    ]
    assert printed["adjustment_sets"] == [
        {"treatment": "sprinkler", "outcome": "grass", "columns": ["rain"]},
        {"treatment": "grass", "outcome": "rain", "columns": None},
    ]
    text = run("bayes-net", bif, *options).stdout
    assert f"given do(sprinkler = on), rain = no (probability {done.evidence:.4g}):" in text
    assert f"most probable given grass = wet (log-probability {score:.4f}):" in text
    assert "what says most of rain given do(sprinkler = off):" in text
    assert "what sprinkler does to grass: adjust for rain\n" in text
    assert "what grass does to rain: no columns to adjust for will do\n" in text


def test_asks_with_what_is_likely(run, bif):
    options = ["-q", "rain", "--likelihood", "grass: dry=1, wet = 4e0", "--json"]
    (answer,) = json.loads(run("bayes-net", bif, *options).stdout)["answers"]
    expected = sprinkler().query("rain", likelihood={"grass": {"dry": 1, "wet": 4}})
    assert answer["probabilities"][1]["probability"] == pytest.approx(expected["yes"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--likelihood", "grass: dry=1, wet=4"], "there is no question that it is for"),
        (["-q", "rain", "--likelihood", "grass"], "--likelihood: 'grass' is not COLUMN: LABEL"),
        (["-q", "rain", "--likelihood", "grass: dry"], "--likelihood: 'grass: dry' is not COLUMN"),
        (["-q", "rain", "--likelihood", "grass: d=1"], "--likelihood: column 'grass' has no label"),
        (["-q", "rain", "--likelihood", "gras: d=1"], "--likelihood: there is no column 'gras'"),
        (["-q", "rain", "--likelihood", "grass: dry=1"], "needs a number for every label"),
        (["--ask-next", "rain, grass"], "--ask-next: name one column, not 2"),
        (["--adjust", "rain"], "--adjust: 'rain' is not FROM->TO"),
        (["--most-probable", "snow"], "--most-probable: there is no column 'snow'"),
        (["-q", "rain | do(grass)"], "--query: 'grass' is not COLUMN=LABEL"),
        (["-q", "rain | do(grass=blue)"], "column 'grass' has no label 'blue'"),
    ],
)
def test_wrong_questions(run, bif, options, message):
    refused = run("bayes-net", bif, *options)
    assert refused.exit_code == 1
    assert message in refused.stderr
