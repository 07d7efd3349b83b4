"""Runs the benchmarks named on the command line, or all of them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HELPERS = {
    "__init__", "__main__", "adtree_peers", "adtree_searches", "adtree_synth", "adtree_tables",
    "adult", "bayes_net_peers", "bayes_net_scores", "dependency_tree_disk",
    "dependency_tree_figures", "dependency_tree_peers", "mixture_clusters", "mixture_held_out",
    "mixture_kmeans", "mixture_peers",
    "numpy_counting", "report", "rules_boomer", "rules_data", "rules_found", "rules_peers",
    "scale_growth", "scale_limit", "scale_model", "scale_peers",
    "similarity_cuts", "similarity_data", "similarity_neighbours",
    "similarity_pairs", "similarity_projection", "similarity_quality", "similarity_scale",
    "similarity_sparsifiers", "similarity_svm", "trees_found",
}  # fmt: skip


def main() -> None:
    known = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in HELPERS)
    for name in sys.argv[1:] or known:
        if name not in known:
            sys.exit(f"there is no benchmark {name!r}; there are {', '.join(known)}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
