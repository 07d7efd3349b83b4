"""Commands run as in a pipe, and what they leave on stderr."""

from typer.testing import CliRunner

from tacit.cli import app

PLAIN = {"FORCE_COLOR": None, "TTY_COMPATIBLE": "0", "NO_COLOR": "1", "COLUMNS": "80"}


def run(*arguments):
    """Run a command and return its result: exit_code, stdout, stderr."""
    result = CliRunner(env=PLAIN).invoke(app, [str(x) for x in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def one_error(result):
    """Return the single line that a failed command leaves on stderr."""
    assert result.exit_code == 1
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


def usage_error(result):
    """Return what a command that was called wrongly says, on one line."""
    assert result.exit_code == 2
    assert result.stdout == ""
    return " ".join(result.stderr.replace("│", " ").split())


def assert_sports_by_scores(result):
    """Check the counts of these two columns of the visits, as a square of text."""
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["sports", "×", "scores,", "20,000", "records"]
    assert ["False", "16,407", "187", "16,594"] in lines
    assert ["True", "1,916", "1,490", "3,406"] in lines
    assert ["total", "18,323", "1,677", "20,000"] in lines
