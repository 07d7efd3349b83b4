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
from tacit.explore.models import check_request, learn
from tacit.explore.views import views_of


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
    return views_of(
        tacit.Table(
            {
                "x": x,
                "town": town.tolist(),
                "flag": flag,
                "noise": rng.integers(0, 3, n),
                "steps": steps,
            }
        )
    ).table


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
        ({"model": "net"}, "model must be"),
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


@pytest.fixture
def jobs(table):
    running = Jobs(table)
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
        with pytest.raises(InputError, match="no such job"):
            jobs.ask({"job": name})


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
    jobs = Jobs(table)
    try:
        begun = jobs.start({"model": "tree", "given": "", "target": 2})
        assert finished(jobs, begun["job"])["state"] == "done"
    finally:
        jobs.close()
    assert not (tmp_path / "ran").exists()


def test_a_process_ends_with_the_one_that_waits_for_it(table, tmp_path):
    path = tmp_path / "table.tacit"
    table.save(path)
    command = [sys.executable, "-P", "-m", "tacit.explore.worker", str(path), "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(30) == 1  # its parent is not process 1; no request was sent
        assert process.stdout.read() == b""


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
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tacit.Table, "save", fail)
    jobs = Jobs(table)
    try:
        with pytest.raises(InputError, match="No space left on device"):
            jobs.start({"model": "tree", "given": "", "target": 2})
        begun = jobs.start({"model": "tree", "given": "", "target": 2})
        assert finished(jobs, begun["job"])["state"] == "done"
    finally:
        jobs.close()
