"""Writes the type stub of the compiled module: ``make stubs``."""

from __future__ import annotations

from pathlib import Path

from nanobind.stubgen import StubGen

from tacit import _core

STUB = Path(__file__).parents[2] / "src" / "tacit" / "_core.pyi"
ALIASES = """
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.int32]
Codes: TypeAlias = NDArray[np.uint32]
Flags: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = NDArray[Any]  # uint16 or uint32
Singles: TypeAlias = NDArray[np.float32]
Numbers: TypeAlias = NDArray[Any]  # float32 or float64
Counts: TypeAlias = NDArray[Any]  # int64, or float64 where weights are given
"""


def generate() -> str:
    """Return the stub of the module as it is compiled now."""
    generator = StubGen(_core, include_docstrings=True)
    generator.put(_core)
    header, _, body = generator.get().partition("\n\ndef ")
    doc = header.partition('"""')[2].rpartition('"""')[0]
    return f'"""{doc}"""\n{ALIASES}\n\ndef {body.strip()}\n'


if __name__ == "__main__":
    STUB.write_text(generate(), encoding="utf-8")
