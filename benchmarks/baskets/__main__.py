"""Baskets: significant rules, and recommendations."""

from __future__ import annotations

from benchmarks.baskets import recommend, significant


def main() -> None:
    """Write all sections."""
    significant.main()
    recommend.main()


if __name__ == "__main__":
    main()
