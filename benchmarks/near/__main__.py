"""Neighbours of dense objects and of sets, beside peers."""

from __future__ import annotations

from benchmarks.near import default_search, dense, sparse


def main() -> None:
    """Write all sections."""
    dense.main()
    sparse.main()
    default_search.main()


if __name__ == "__main__":
    main()
