"""Labels and names that would steer a terminal are spelt out, wherever commands show them."""

import json
import os
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from support.commands import PLAIN, run
from tacit.cli import app
from tacit.terminal import visible

TITLE = "\x1b]0;owned\x07"
BACKWARDS = "\u202eabc\u2066"
ONE_BYTE = "\x9b31m"
LABELS = [TITLE, BACKWARDS, ONE_BYTE, "plain"]
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMANDS = {
    "summary": ["--columns"],
    "count": ["a", "t"],
    "table": ["a", "t"],
    "pairs": [],
    "tree": ["--target", "t"],
    "classify": ["--target", "t"],
    "rules": ["--target", "t"],
    "cluster": ["-k", "2"],
    "itemsets": [],
    "association-rules": [],
    "dependency-tree": [],
    "bayes-net": ["--query", "t"],
    "find-rules": ["--target", "t", "--value", TITLE],
    "significant-rules": ["--target", "t"],
    "recommend": [],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 300)
    t = np.where(rng.random(300) < 0.9, a % 2, rng.integers(0, 2, 300))
    rows = [f"{LABELS[x]},{'uv'[y]},{LABELS[z]}" for x, y, z in zip(a, a // 2, t, strict=True)]
    path = tmp_path_factory.mktemp("labels") / "data.csv"
    path.write_text("\n".join(["a,b,t", *rows]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_text(path, command):
    result = run(command, path, *COMMANDS[command])
    assert result.exit_code == 0, result.stderr
    assert not STEERING.search(result.stdout), result.stdout
    assert not STEERING.search(result.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_json(path, command):
    result = run(command, path, *COMMANDS[command], "--json")
    assert result.exit_code == 0, result.stderr
    assert not STEERING.search(result.stdout), result.stdout
    json.loads(result.stdout)


def strings_in(content):
    """Give all texts of JSON."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | dict):
        for item in content.values() if isinstance(content, dict) else content:
            yield from strings_in(item)


def test_all_labels_are_shown_and_json_keeps_them(path):
    text = run("count", path, "t").stdout
    assert r"\x1b]0;owned\x07" in text
    assert r"\u202eabc\u2066" in text
    shown = json.loads(run("count", path, "a", "--json").stdout)
    assert set(LABELS) <= set(strings_in(shown))


def test_a_terminal_gets_only_what_we_steer_it_by(path):
    colours = {**PLAIN, "FORCE_COLOR": "1", "NO_COLOR": None, "TTY_COMPATIBLE": "1"}
    result = CliRunner(env=colours).invoke(app, ["count", str(path), "a", "t"], color=True)
    assert result.exit_code == 0
    assert "\x1b[1m" in result.stdout  # a head in bold is ours
    assert "\x1b]" not in result.stdout
    assert "\x07" not in result.stdout
    assert r"\x1b]0;owned\x07" in result.stdout


def test_errors_name_files_that_would_steer(path):
    bad = os.fspath(path.with_name("no\x1b[31m\u202e.csv"))
    result = run("summary", bad)
    assert result.exit_code == 1
    assert r"no\x1b[31m\u202e.csv" in result.stderr
    assert not STEERING.search(result.stderr)


@pytest.mark.parametrize("text", ["a\tb\nc", "é × 日本 🙂", ""])
def test_other_text_stays(text):
    assert visible(text) == text
    assert visible(text + "\ud800\r\x7f\u2028") == text + r"\ud800\r\x7f\u2028"
