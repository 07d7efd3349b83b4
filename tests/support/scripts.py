"""Scripts that need a process of their own."""

import subprocess
import sys
import textwrap


def run(script):
    """Run a script in a process of its own and return the words it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
