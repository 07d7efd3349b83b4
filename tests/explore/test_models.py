"""Models of a selection: what nodes say of themselves is what counts say; jobs can be stopped."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tacit
from tacit import InputError
from tacit.explore import jobs as jobs_module
from tacit.explore.jobs import Jobs
from tacit.explore.model_kinds import itemsets
from tacit.explore.models import ask, check_request
from tacit.explore.models import learn as learn_and_keep
from tacit.explore.views import views_of


def learn(table, request):
    return learn_and_keep(table, request)[0]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    n = 3000
    x = rng.normal(50, 20, n).round(1)
    x[rng.random(n) < 0.1] = np.nan
    town = rng.choice(["n", "s", "w", None], n, p=[0.6, 0.2, 0.1, 0.1])
    steps = rng.integers(1, 13, n).astype(float)
    steps[rng.random(n) < 0.1] = np.nan
    flag = rng.random(n) < np.where((x > 60) | (town == "s"), 0.8, 0.15) ** (1 + (steps < 6))
    table = tacit.Table(
        {
            "x": x,
            "town": town.tolist(),
            "flag": flag,
            "noise": rng.integers(0, 3, n),
            "steps": steps,
        }
    )
    return views_of(table).of(table)


@pytest.mark.parametrize("target", [1, 2])
@pytest.mark.parametrize("given", ["", "3:0-1", "0:!3-9;1:0"])
def test_the_conditions_of_a_node_are_those_of_its_records(table, target, given):
    request = check_request(table, {"model": "tree", "given": given, "target": target})
    if target == 1 and "1:0" in given:
        with pytest.raises(InputError, match="have the same town"):
            learn(table, request)
        return
    tree = learn(table, request)
    part = table.take(
        table.where(
            tacit.explore.state.Selection.parse(given, table.schema.arities).query(table.schema)
        )
    )
    assert len(tree["nodes"]) >= (3 if target == 2 else 1)
    if target == 2:  # plain numbers, which the tree cuts in its own way
        assert any(4 in node["given"] for node in tree["nodes"])
    name = table.schema.names[target]
    classes = [table.schema[name].labels[code] for code in tree["classes"]]
    for node in tree["nodes"]:
        query = {
            table.schema.names[c]: [table.schema.labels[c][code] for code in codes]
            for c, codes in node["given"].items()
        }
        assert node["counts"] == [part.count({**query, name: label}) for label in classes]
        if node["parent"] >= 0:
            assert node["column"] in node["given"]


def test_clusters_have_traits(table):
    found = learn(table, check_request(table, {"model": "clusters", "given": "", "clusters": 3}))
    assert sum(cluster["size"] for cluster in found["clusters"]) == pytest.approx(3000)
    for cluster in found["clusters"]:
        for trait in cluster["traits"]:
            name, label = table.schema.names[trait["column"]], None
            label = table.schema[name].labels[trait["code"]]
            assert trait["overall"] == pytest.approx(table.count({name: label}) / 3000, abs=0.01)
            assert trait["low"] <= trait["lift"] <= trait["high"]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (None, "model must be"),
        ({"model": "forest"}, "model must be"),
        ({"model": ["tree"]}, "model must be"),
        ({"model": "itemsets", "confidence": 0.5}, "support must be"),
        ({"model": "itemsets", "support": 0, "confidence": 0.5}, "support must be"),
        ({"model": "itemsets", "support": 0.1, "confidence": True}, "confidence must be"),
        ({"model": "tree"}, "target must be"),
        ({"model": "tree", "target": 99}, "target must be"),
        ({"model": "clusters", "clusters": 1}, "clusters must be"),
        ({"model": "clusters", "clusters": 10**9}, "clusters must be"),
        ({"model": "clusters", "given": "99:1", "clusters": 3}, "no column 99"),
    ],
)
def test_other_requests_are_refused(table, request_, said):
    with pytest.raises(InputError, match=said):
        check_request(table, request_)


def test_the_web_has_the_strongest_arcs(table):
    found = learn(table, check_request(table, {"model": "web", "given": "4:0-5"}))
    part = table.take(table.where({"steps": list(table.schema["steps"].labels[:6])}))
    strongest = tacit.DependencyNetwork(discretise=None).fit(part).strongest(150)
    names = table.schema.names
    arrows = found["graph"]["arrows"]
    assert found["arcs"] == len(strongest) == len(arrows) > 3
    assert [names[a["from"]] for a in arrows] == strongest["predictor"].to_list()
    assert [names[a["to"]] for a in arrows] == strongest["target"].to_list()
    assert [a["gain"] for a in arrows] == strongest["gain"].to_list()
    boxes = {box["column"]: box for box in found["graph"]["boxes"]}
    assert set(boxes) == {c for a in arrows for c in (a["from"], a["to"])}
    for box in boxes.values():  # none lies on another
        for other in boxes.values():
            apart = abs(box["x"] - other["x"]) >= (box["w"] + other["w"]) / 2
            assert box is other or apart or abs(box["y"] - other["y"]) >= box["h"]


def test_marginals_of_a_net_move_with_the_evidence(table):
    request = check_request(table, {"model": "net", "given": ""})
    found, net = learn_and_keep(table, request)
    assert [[table.schema.names[c] for c in (a["from"], a["to"])] for a in
            found["graph"]["arrows"]] == [list(arc) for arc in net.arcs_]  # fmt: skip
    for evidence in ({}, {"2": 1}, {"0": 3, "1": 0}):
        answer = ask(table, request, net, {"evidence": evidence})
        given = {
            table.schema.names[int(c)]: table.schema.labels[int(c)][k] for c, k in evidence.items()
        }
        for c, name in enumerate(table.schema.names):
            if str(c) in evidence:
                assert answer["marginals"][c][evidence[str(c)]] == 1 == sum(answer["marginals"][c])
                continue
            alone = net.query(name, given)
            expected = [alone[label] for label in table.schema[name].labels]
            assert answer["marginals"][c] == pytest.approx(expected, abs=1e-12)
            assert answer["logEvidence"] == pytest.approx(alone.log_evidence, abs=1e-9)
    assert found["marginals"] == ask(table, request, net, {"evidence": {}})["marginals"]
    for bad in ({"9": 0}, {"x": 0}, {"-1": 0}, {"0": 99}, {"0": "1"}, ["0"], None):
        with pytest.raises(InputError, match="evidence"):
            ask(table, request, net, {"evidence": bad})
    with pytest.raises(InputError, match="answers none"):
        ask(table, request, None, {"evidence": {}})


def test_itemsets_and_rules_are_counted(table):
    request = {"model": "itemsets", "given": "4:!0", "support": 0.02, "confidence": 0.3}
    found = learn(table, check_request(table, request))
    part = table.take(table.where({"steps": tacit.exclude(table.schema["steps"].labels[0])}))

    def count(items):
        schema = part.schema
        return part.count({schema.names[c]: schema.labels[c][code] for c, code in items})

    assert found["total"] == part.n_records
    assert len(found["sets"]) == min(found["nSets"], 200) > 10
    for one in found["sets"]:
        assert len(one["items"]) > 1
        assert one["count"] == count(one["items"]) >= 0.02 * part.n_records
    assert len(found["rules"]) == min(found["nRules"], 200) > 3
    for rule in found["rules"]:
        both = count([*rule["if"], rule["then"]])
        assert rule["both"] == both
        assert 0.3 <= rule["confidence"] == pytest.approx(both / count(rule["if"]))
        assert rule["low"] < rule["lift"] < rule["high"]
        lift = rule["confidence"] * part.n_records / count([rule["then"]])
        assert rule["lift"] == pytest.approx(lift)
    lifts = [rule["lift"] for rule in found["rules"]]
    assert lifts == sorted(lifts, reverse=True)


def test_itemsets_of_columns_with_one_value():
    """The half of a column of 0 and 1 that no record has is in no set."""
    source = tacit.Table({"z": [0] * 40, "o": [1] * 40, "x": [0, 1] * 20, "y": [1, 0] * 20})
    table = views_of(source).of(source)
    found = learn(
        table, check_request(table, {"model": "itemsets", "support": 0.1, "confidence": 0.3})
    )
    names = table.schema.names
    for one in found["sets"]:
        cells = {names[c]: table.schema.labels[c][code] for c, code in one["items"]}
        assert one["count"] == table.count(cells) > 0
    assert learn(table, check_request(table, {"model": "recommend"}))["items"]


def test_messages_speak_of_the_page(table, monkeypatch):
    request = check_request(table, {"model": "clusters", "clusters": 6})
    with pytest.raises(InputError, match="3 records are too few for 6 clusters: take fewer"):
        learn(table.take(np.arange(3)), request)
    monkeypatch.setattr(itemsets, "_ROOM", 1000)
    request = check_request(table, {"model": "itemsets", "support": 0.001, "confidence": 0.3})
    with pytest.raises(InputError, match="too many itemsets of this support: take a higher one"):
        learn(table, request)


def test_recommendations_are_those_of_the_recommender(table):
    request = check_request(table, {"model": "recommend", "given": ""})
    found, model = learn_and_keep(table, request)
    counts = [table.count({table.schema.names[c]: table.schema.labels[c][k]})
              for c, k, _ in found["items"]]  # fmt: skip
    assert counts == [n for _, _, n in found["items"]]
    assert counts == sorted(counts, reverse=True)

    def pair(item):
        return table.schema.names[item[0]], table.schema.labels[item[0]][item[1]]

    for basket in ([], [[1, 1]], [[1, 1], [2, 1]]):
        ranked = ask(table, request, model, {"basket": basket})["ranked"]
        alone = model.recommend([pair(item) for item in basket], 20)
        assert [one["score"] for one in ranked] == pytest.approx(alone["score"].to_list())
        assert len(ranked) == min(20, len(alone))
        assert not {c for c, _ in basket} & {one["item"][0] for one in ranked}
        if len(basket) > 1:
            best = ranked[0]
            why = model.explain([pair(item) for item in basket], pair(best["item"]))
            assert len(best["because"]) == (why["contribution"][:-1] > 0).sum()
    for bad in (None, "x", [1], [[1, 99]], [[9, 0]], [[1, 0]], [[1, 1], [1, 2]], [[1, 1]] * 61):
        with pytest.raises(InputError, match="basket"):
            ask(table, request, model, {"basket": bad})


@pytest.fixture
def jobs(table):
    running = Jobs(lambda: table)
    yield running
    running.close()


def wait(jobs, name):
    while (report := jobs.ask({"job": name}))["state"] == "running":
        time.sleep(0.05)
    return report


def test_jobs_learn_fail_and_are_stopped(table, jobs):
    request = {"model": "tree", "given": "3:0", "target": 2}
    report = wait(jobs, jobs.start(request)["job"])
    assert report["state"] == "done"
    assert len(report["model"]["nodes"]) == len(learn(table, request)["nodes"])
    report = wait(jobs, jobs.start({"model": "tree", "given": "3:", "target": 2})["job"])
    assert report["state"] == "failed"
    assert report["problem"] == "no record is selected"
    first, second = (jobs.start(request)["job"] for _ in range(2))
    with pytest.raises(InputError, match="2 models are being learnt"):
        jobs.start(request)
    assert jobs.ask({"job": first, "cancel": True})["state"] == "cancelled"
    assert wait(jobs, first)["state"] == "cancelled"
    assert wait(jobs, second)["state"] == "done"
    for name in ("nothing", None, 3, ["x"]):
        with pytest.raises(InputError, match="no such model"):
            jobs.ask({"job": name})


def test_a_model_is_asked_after_it_was_learnt(table, jobs):
    name = jobs.start({"model": "net", "given": ""})["job"]
    with pytest.raises(InputError, match="has not been learnt"):
        jobs.ask({"job": name, "question": {}})
    assert wait(jobs, name)["model"]["kind"] == "net"
    answer = jobs.ask({"job": name, "question": {"evidence": {"2": 1}}})
    assert answer["marginals"][2] == [0.0, 1.0]
    tree = jobs.start({"model": "tree", "given": "", "target": 2})["job"]
    wait(jobs, tree)
    with pytest.raises(InputError, match="answers none"):
        jobs.ask({"job": tree, "question": {}})


def test_progress_is_told_as_it_comes(table, jobs, monkeypatch):
    monkeypatch.setattr(jobs, "_jobs", {})
    name = jobs.start({"model": "web", "given": ""})["job"]
    job = jobs._jobs[name]
    assert wait(jobs, name)["state"] == "done"
    assert job._progress["what"] == "columns"
    assert job._progress["total"] == len(table.schema)


def test_a_job_that_nobody_waits_for_is_stopped(jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "_UNASKED", 0.0)
    name = jobs.start({"model": "clusters", "given": "", "clusters": 20})["job"]
    process = jobs._jobs[name]._process
    process.wait(30)
    assert process.returncode != 0
    assert jobs.ask({"job": name})["state"] == "cancelled"


def finished(jobs, name):
    report = jobs.ask({"job": name})
    while report["state"] == "running":
        time.sleep(0.05)
        report = jobs.ask({"job": name})
    return report


def test_nothing_is_imported_from_the_folder_of_the_data(table, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("open('ran', 'w'); raise SystemExit")
    monkeypatch.chdir(tmp_path)
    jobs = Jobs(lambda: table)
    try:
        begun = jobs.start({"model": "tree", "given": "", "target": 2})
        assert finished(jobs, begun["job"])["state"] == "done"
    finally:
        jobs.close()
    assert not (tmp_path / "ran").exists()


def test_a_process_ends_with_the_one_that_waits_for_it(table, tmp_path):
    path = tmp_path / "table.tacit"
    table.save(path)
    command = [
        sys.executable,
        "-P",
        "-m",
        "tacit.explore.worker",
        str(path),
        "1",
        str(tmp_path / "m"),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(30) == 1  # its parent is not process 1; no request was sent
        assert process.stdout.read() == b""


def test_a_server_that_is_killed_leaves_no_folder(tmp_path):
    worker = (
        "import time; from tacit.explore import worker; "
        "worker.learn = lambda *given: time.sleep(60); worker.main()"
    )
    script = f"""
import subprocess, time
import tacit
from tacit.explore import Explorer
started = subprocess.Popen
subprocess.Popen = lambda command, **options: started(
    [command[0], "-c", {worker!r}, *command[4:]], **options
)
jobs = Explorer(tacit.datasets.load_visits()).jobs
jobs.start({{"model": "tree", "given": "", "target": 3}})
print("begun", flush=True)
time.sleep(60)
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout.readline() == b"begun\n"
        time.sleep(2.0)  # until it learns
        assert len(list(tmp_path.iterdir())) == 1
        process.kill()
    for _ in range(100):
        if not list(tmp_path.iterdir()):
            return
        time.sleep(0.1)
    raise AssertionError("the folder is still there")


def test_models_end_with_the_server(tmp_path):
    script = """
import tacit
from tacit.explore import Explorer
from tacit.explore.server import Server
explorer = Explorer(tacit.datasets.load_visits())
explorer.jobs.start({"model": "tree", "given": "", "target": 3})
print("begun", flush=True)
Server(explorer).run()
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
        ) as process:
            assert process.stdout.readline() == b"begun\n"
            time.sleep(1.0)  # until it serves
            process.send_signal(number)
            assert process.wait(30) == 128 + number
        assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_and_forgotten(table, monkeypatch):
    save = tacit.Table.save

    def fail(self, path):
        monkeypatch.setattr(tacit.Table, "save", save)
        raise tacit.FileError(path, "cannot be written: No space left on device")

    monkeypatch.setattr(tacit.Table, "save", fail)
    jobs = Jobs(lambda: table)
    try:
        with pytest.raises(InputError, match="for models: cannot be written: No space left on dev"):
            jobs.start({"model": "tree", "given": "", "target": 2})
        begun = jobs.start({"model": "tree", "given": "", "target": 2})
        assert finished(jobs, begun["job"])["state"] == "done"
    finally:
        jobs.close()
