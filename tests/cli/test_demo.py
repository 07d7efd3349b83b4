"""The demonstration, and the program as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tacit.cli import demo


def test_every_act_plays(run):
    result = run("demo")
    assert result.exit_code == 0
    assert result.stderr == ""
    text = result.stdout
    assert "20,000" in text
    assert "region \\ weather" in text
    assert "grocery offers" in text
    assert re.search(r"tables of three columns +2,925, all that there are", text)
    assert re.search(r"time for one +\d+\.\d µs", text)
    assert "sports and football: 0.13 of its 0.29 nats" in " ".join(text.split())
    assert re.search(r"\d% of all +cart \d+% \(6%\), checkout \d+% \(3%\)", text)
    assert re.search(r"football = True: True 63 % \(1,051 records\)", text)
    assert re.search(r"goes with sports and home +scores \(\d+%\), ", text)
    assert "100,000 × 2,922 = 292,200,000 cells" in text
    assert "1,182,980" in text
    assert "99.60% of the cells" in text
    assert text.count(">>> ") == len(demo.ACTS)


def test_acts_are_a_list_to_add_to(run, monkeypatch):
    def curtain(stage):
        stage.head("The end")
        stage.say(f"{stage.visits.n_columns} columns")

    monkeypatch.setattr(demo, "ACTS", [curtain])
    text = run("demo").stdout
    assert text.startswith("The end ─")
    assert text.rstrip().endswith("27 columns")


def test_python_m_tacit():
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "demo"], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line != line.rstrip() for line in lines)
    assert "\x1b" not in done.stdout
    assert re.search(r"time +\d+\.\d\d s on \d+ threads", done.stdout)


def test_python_m_tacit_in_ascii():
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "demo"],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout.isascii()
    assert b"292,200,000" in done.stdout


def test_error_of_a_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "summary", str(tmp_path / "no.tacit")],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
