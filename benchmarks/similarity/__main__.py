"""Sparse computation: pairs, projections, neighbours, cuts and support vectors against peers."""

from __future__ import annotations

from benchmarks.report import Section
from benchmarks.similarity.cuts import cuts
from benchmarks.similarity.neighbors import neighbours
from benchmarks.similarity.pairs import pairs
from benchmarks.similarity.projection import projection
from benchmarks.similarity.quality import quality
from benchmarks.similarity.scale import scale
from benchmarks.similarity.svm import support_vectors


def main() -> None:
    for name, title, *parts in (
        (
            "similarity", "Sparse computation: similarities of near objects",
            pairs, projection, neighbours, cuts, support_vectors, scale,
        ),
        ("similarity-found", "What classifiers by similarity find", quality),
    ):  # fmt: skip
        section = Section(name, title)
        section.made_with("numpy", "scipy", "scikit-learn")
        for add in parts:
            add(section)
        section.write()


if __name__ == "__main__":
    main()
