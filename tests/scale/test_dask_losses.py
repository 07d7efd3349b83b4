"""A cluster that loses its last worker, or its scheduler: an error that says so, and soon."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from distributed import Client

import tacit
from support.deadly import Deadly
from tacit.scale import on_dask

pytestmark = pytest.mark.filterwarnings("ignore")


def parts():
    return tacit.scale.partition(tacit.datasets.load_visits(), 4)


@pytest.fixture
def processes(tmp_path):
    """Start a scheduler and a worker as processes; return the scheduler and where it is."""
    file = tmp_path / "scheduler.json"
    scheduler = [
        *("-m", "distributed.cli.dask_scheduler", "--port", "0", "--dashboard-address", ":0"),
        *("--scheduler-file", str(file), "--host", "127.0.0.1"),
    ]
    worker = [
        *("-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--no-nanny"),
        *("--nthreads", "1", "--dashboard-address", ":0"),
    ]
    tests = str(Path(__file__).parents[1])  # where workers find what they are asked for
    paths = [tests, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    started = [
        subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL, env=environment)
        for command in (scheduler, worker)
    ]
    for _ in range(600):
        if file.exists():
            break
        time.sleep(0.1)
    yield started[0], json.loads(Path(file).read_text())["address"]
    for process in started:
        process.kill()
        process.wait()


def test_the_last_worker_is_killed_in_a_pass(processes):
    _, address = processes
    whole = parts()
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=60)
        with on_dask(client, timeout=1.5):
            begin = time.monotonic()
            lost = r"cluster: all workers of tcp://.* were lost, and none came in 1\.5 seconds"
            with pytest.raises(tacit.InputError, match=lost):
                whole.reduce(Deadly())
            assert time.monotonic() - begin < 60
            with pytest.raises(
                tacit.InputError, match=r"no worker came to tcp://.* in 1\.5 seconds"
            ):
                whole.one_way()
    assert whole.count({}) == 20_000  # the table is what it was


def test_the_scheduler_is_killed(processes):
    scheduler, address = processes
    model = tacit.NaiveBayesMixture(20, n_init=1, max_iter=100_000, tol=0, random_state=0)
    with Client(address, set_as_default=False, timeout=3) as client:
        client.wait_for_workers(1, timeout=60)
        with on_dask(client, timeout=3):
            killer = threading.Timer(1.0, scheduler.kill)
            killer.start()
            lost = r"cluster: the scheduler at tcp://.* was lost|cluster: the client is closed"
            with pytest.raises(tacit.InputError, match=lost):
                model.fit(parts())
            killer.join()
            with pytest.raises(tacit.InputError, match=lost):
                model.fit(parts())
    assert not hasattr(model, "n_iter_")
