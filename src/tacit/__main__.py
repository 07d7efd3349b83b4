"""Run the command line: ``tacit``, or ``python -m tacit``."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run a command; Ctrl-C ends it quietly, also while modules are still being imported."""
    try:
        from tacit.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)  # 128 and the number of the signal, as shells have it


if __name__ == "__main__":
    main()
