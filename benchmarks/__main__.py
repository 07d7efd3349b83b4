"""Runs the benchmarks named on the command line, or all of them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main() -> None:
    known = sorted(folder.parent.name for folder in Path(__file__).parent.glob("*/__main__.py"))
    for name in sys.argv[1:] or known:
        if name not in known:
            sys.exit(f"there is no benchmark {name!r}; there are {', '.join(known)}")
        importlib.import_module(f"benchmarks.{name}.__main__").main()


if __name__ == "__main__":
    main()
