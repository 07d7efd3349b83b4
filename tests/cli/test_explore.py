"""``tacit explore``: serves a file, or writes it as a page."""

import http.client
import signal
import socket
import subprocess
import sys
import threading

import polars as pl
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app

run = CliRunner().invoke


@pytest.fixture
def days(tmp_path):
    path = tmp_path / "days.csv"
    frame = pl.DataFrame({"rain": ["much", "no", "no", "some"], "wind": [3, 1, 2, 1]})
    frame.write_csv(path)
    return path


def test_it_writes_one_file(days, tmp_path):
    out = tmp_path / "days.html"
    result = run(app, ["explore", str(days), "--target", "rain", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "4 records" in result.stdout
    page = out.read_text()
    assert '"title": "days.csv"' in page
    assert '"target": 0' in page
    assert f"tacit count {days}"[12:] in page


def test_two_files_are_compared(days, tmp_path):
    other = tmp_path / "more.csv"
    pl.DataFrame({"wind": [1, 7], "rain": ["no", "no"]}).write_csv(other)
    out = tmp_path / "both.html"
    result = run(app, ["explore", str(days), "--against", str(other), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "6 records" in result.stdout
    assert '"start": "a=2:0&b=2:1&against=b&view=difference"' in out.read_text()
    pl.DataFrame({"snow": [1]}).write_csv(other)
    result = run(app, ["explore", str(days), "--against", str(other), "-o", str(out)])
    assert result.exit_code == 1
    assert "error: --against: the files have different columns, such as 'rain'" in result.stderr


def test_a_saved_tree_is_explored_without_its_file(days, tmp_path):
    tree = tmp_path / "days.tacit"
    tacit.ADTree(tacit.read(days)).build().save(tree)
    result = run(app, ["explore", str(tree), "-o", str(tmp_path / "x.html")])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "x.png"], "--output: 'x.png' must end in .html"),
        (["--target", "nothing", "-o", "x.html"], "--target: there is no column 'nothing'"),
    ],
)
def test_bad_input_is_told(days, arguments, said, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = run(app, ["explore", str(days), *arguments])
    assert result.exit_code == 1
    assert said in result.stderr


def test_a_port_in_use_is_told(days):
    pytest.importorskip("uvicorn")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run(app, ["explore", str(days), "--no-browser", "--port", str(port)])
    assert result.exit_code == 1
    assert f"--port: {port} cannot be used" in result.stderr


def test_it_serves_until_it_is_told_to_stop(days):
    pytest.importorskip("uvicorn")
    command = [sys.executable, "-m", "tacit", "explore", str(days), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        watch = threading.Timer(120, it.kill)
        watch.start()
        url = it.stdout.readline().strip()
        host, path = url.removeprefix("http://").split("/", 1)
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", f"/{path}")
        assert connection.getresponse().status == 303
        connection.close()
        it.send_signal(signal.SIGINT)
        _, said = it.communicate(timeout=60)
        watch.cancel()
    assert "Traceback" not in said
    assert it.returncode in (0, 130)
