"""Many users at once: no error, and no memory that is not given back."""

import http.client
import json
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn")

import tacit

USERS, ROUNDS = 30, 12


def resident(process):
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_many_users_of_one_server(tmp_path):
    path = tmp_path / "visits.csv"
    table = tacit.datasets.load_visits()
    table.to_frame().write_csv(path)
    command = [sys.executable, "-m", "tacit", "explore", str(path), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        address = urlsplit(server.stdout.readline().strip())
        wrong, held, answers = [], [], [set() for _ in range(ROUNDS)]
        barrier = threading.Barrier(USERS, action=lambda: held.append(resident(server.pid)))

        def use(user):
            connection = http.client.HTTPConnection(address.netloc, timeout=120)
            try:
                connection.request("GET", f"/?{address.query}")
                answer = connection.getresponse()
                answer.read()
                cookie = answer.getheader("set-cookie").partition(";")[0]
                for k in range(ROUNDS):
                    sets = [[c] for c in range(len(table.schema))]
                    body = json.dumps({"ask": [{"given": f"{k % 5}:!0", "sets": sets}]})
                    connection.request("POST", "/api/tables", body, {"Cookie": cookie})
                    answer = connection.getresponse()
                    answers[k].add((answer.status, answer.read()))
                    barrier.wait(120)
            except Exception as error:
                wrong.append((user, repr(error)))
                barrier.abort()
            finally:
                connection.close()

        users = [threading.Thread(target=use, args=(k,)) for k in range(USERS)]
        for user in users:
            user.start()
        for user in users:
            user.join()
        server.kill()
    assert not wrong
    assert [len(found) for found in answers] == [1] * ROUNDS  # all get the same
    assert {status for found in answers for status, _ in found} == {200}
    assert held[-1] - held[3] < 30_000_000
