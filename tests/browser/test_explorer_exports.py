"""What the explorer hands out gives the numbers that it shows: code, commands and CSV."""

import random
import shlex

import pytest
from typer.testing import CliRunner

pytest.importorskip("uvicorn")

import tacit
from browser.explored import RICH, TOWN, counts, hostile_table, mixed_table, random_text
from tacit.cli import app
from tacit.explore import Explorer


@pytest.mark.parametrize("make", [mixed_table, hostile_table])
def test_exported_code_counts_the_same(explore, make):
    source = make()
    seen = explore(source, code="table")
    arities = Explorer(source).table.schema.arities.tolist()
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    draw = random.Random(2)
    for _ in range(6):
        text = random_text(draw, arities)
        seen.go(f"f={fingerprint}&a={text}")
        seen.page.locator("header").get_by_role("button", name="Export").click()
        code = seen.page.locator("dialog pre").first.text_content()
        seen.page.get_by_role("button", name="Close").click()
        shown = []
        exec(code, {"table": source, "print": shown.append})
        assert shown == [seen.size()]


def test_exported_commands_count_the_same(explore, tmp_path):
    """The file, the cuts and the conditions of the command are those of the page."""
    path = tmp_path / "mixed.csv"
    mixed_table().to_frame().write_csv(path)
    source = tacit.read(path)
    seen = explore(source, file=str(path))
    arities = Explorer(source).table.schema.arities.tolist()
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    draw, counted = random.Random(8), 0
    for _ in range(8):
        seen.go(f"f={fingerprint}&a={random_text(draw, arities)}")
        command = shell_command(seen)
        if command is None:  # nothing is selected of a column
            continue
        counted += 1
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, (command, result.output)
        assert float(result.stdout.replace(",", "")) == seen.size()
    assert counted > 3


def shell_command(seen):
    """Return the command for what is selected, or None."""
    made = seen.page.evaluate(
        "async () => (await import('/static/code.js'))"
        ".shellCommand(tacit.schema, tacit.state.a, [])"
    )
    return made["text"] if made["possible"] else None


def test_commands_that_would_be_read_as_something_else_are_not_given(explore, tmp_path):
    names = {"--dask=tcp://elsewhere:1": "0:0", "a": "1:!0", "s": "2:0-1", "e": "3:0", "x=y": "5:0"}
    data = {
        "--dask=tcp://elsewhere:1": ["u", "v", "w", "u"], "a": ["p", "q", "p", "q"],
        "s": ["a", "b", "a,b", "a"], "e": ["", None, "k", "k"], "x": [1, 2, 1, 2],
        "x=y": [3, 4, 3, 4], "a!": ["p", "p", "q", "q"],
    }  # fmt: skip
    path = tmp_path / "odd.csv"
    path.write_text("")
    table = tacit.Table(data)
    names["e"] = f"3:{table.schema['e'].labels.missing}"
    seen = explore(table, file=str(path))
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    assert "tacit count" in shell_command(seen)
    for name, text in names.items():
        seen.go(f"f={fingerprint}&a={text}")
        assert shell_command(seen) is None, name
    seen.go(f"f={fingerprint}&a=4:0;1:0")
    assert shell_command(seen).endswith("--given x=1 --given a=p")


def test_csv_has_the_counts(explore):
    source = mixed_table()
    table = Explorer(source).table
    seen = explore(source)
    seen.click(RICH, 1)
    text = seen.page.evaluate("async () => (await import('/static/export.js')).csvOf(tacit, [1])")
    lines = text.splitlines()
    assert lines[0] == "town,count,count_all"
    ours = dict(
        zip(["east", "north", "south", "west", ""], counts(table, "3:1", TOWN), strict=True)
    )
    assert {x.split(",")[0]: int(x.split(",")[1]) for x in lines[1:]} == ours
