"""Default priors of trees, graphs, networks and mixtures, before and after, on unseen records.

Names of parts may be given: networks, classes, mixtures, centred.
"""

from __future__ import annotations

import sys
import warnings

import tacit
from benchmarks.priors.before_after import classes, mixtures, networks
from benchmarks.priors.centred import centred_priors
from benchmarks.report import SHARED, Section

PARTS = {
    "networks": ("Priors of dependency networks", networks),
    "classes": ("Priors of trees and graphs", classes),
    "mixtures": ("Priors of mixtures", mixtures),
    "centred": ("Centred priors", centred_priors),
}


def main() -> None:
    """Write the tables."""
    warnings.simplefilter("ignore", tacit.InputWarning)
    for name in sys.argv[1:] or PARTS:
        title, measure = PARTS[name]
        section = Section(f"priors-{name}", title)
        if SHARED.exists():
            section.made_with("numpy", "polars", "scikit-learn")
            measure(section)
        else:
            section.say("Left out: the real data are not at hand.", "")
        section.write()


if __name__ == "__main__":
    main()
