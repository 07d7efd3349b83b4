"""Throw inputs at the library: ``python -m fuzz [targets] --seconds 60``."""

from __future__ import annotations

import argparse
import sys

from fuzz.runner import TARGETS, campaign


def main() -> int:
    """Run a campaign, and print what was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--seconds", type=float, default=60, help="of each target")
    parser.add_argument("--count", type=int, help="inputs of each target")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    asked = parser.parse_args()
    n_found = 0
    for target in asked.targets or TARGETS:
        seconds = None if asked.count else asked.seconds
        done = campaign(target, first=asked.first, count=asked.count, seconds=seconds)
        print(f"{target}: {done.n_inputs:,} inputs, {len(done.found)} found", flush=True)
        for what in done.found:
            print(what, flush=True)
        n_found += len(done.found)
    return 1 if n_found else 0


if __name__ == "__main__":
    sys.exit(main())
