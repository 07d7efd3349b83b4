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


def run_interrupted(setup, call, check="pass", delay=0.3):
    """Press Ctrl-C while a process of its own is in a call; return how it ended, and the seconds.

    `setup` goes before the call, `check` after it.
    """
    outcome, seconds = run(
        f"""
import os, signal, threading, time
{textwrap.dedent(setup)}
threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    {call}
    print("finished", time.monotonic() - start)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start)
{check}
"""
    )
    return outcome, float(seconds)
