"""The child: makes inputs one after another, uses them, and notes what nobody should see."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import resource
import struct
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import tacit
from fuzz.runner import TARGETS

MEMORY = 6 << 30
ALLOWED = (tacit.InputError, MemoryError)


def main(target, first, last, corpus, folder, seconds):
    """Throw inputs from one number to another."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    throw = importlib.import_module(f"fuzz.{target}" if target in TARGETS else target).throw
    files = sorted(Path(corpus).iterdir()) if corpus else []
    scratch = Path(folder) / "scratch"
    scratch.mkdir(exist_ok=True)
    progress = os.open(Path(folder) / "progress", os.O_WRONLY)
    report = (Path(folder) / "found").open("a")
    end = time.monotonic() + seconds if seconds >= 0 else None
    number = first
    while number != last and (end is None or time.monotonic() < end):
        os.pwrite(progress, struct.pack("<q", number), 0)
        rng = np.random.default_rng([sum(target.encode()), number])
        try:
            throw(rng, files, scratch)
        except ALLOWED:
            pass
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            where = traceback.extract_tb(error.__traceback__)
            if isinstance(error, ValueError) and "/sklearn/" in where[-1].filename:
                number += 1
                continue  # what scikit-learn says of shapes, for all estimators
            ours = [f for f in where if "/tacit/" in f.filename] or where
            at = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
            entry = f"{target} {number}: {type(error).__name__}: {str(error)[:200]} ({at})"
            report.write(json.dumps(entry) + "\n")
            report.flush()
        number += 1


if __name__ == "__main__":
    a = sys.argv[1:]
    main(a[0], int(a[1]), int(a[2]), a[3], a[4], float(a[5]))
