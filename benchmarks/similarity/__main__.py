"""Sparse computation: pairs, projections, neighbours, cuts and support vectors against peers."""

from __future__ import annotations

from benchmarks.report import Section, machine, versions
from benchmarks.similarity.cuts import cuts
from benchmarks.similarity.neighbors import neighbours
from benchmarks.similarity.pairs import pairs
from benchmarks.similarity.projection import projection
from benchmarks.similarity.quality import quality
from benchmarks.similarity.scale import scale
from benchmarks.similarity.svm import support_vectors


def speed() -> None:
    """Write how long things take."""
    section = Section("similarity", "Sparse computation: similarities of near objects")
    section.say(f"{machine()}; {versions('numpy', 'scipy', 'scikit-learn')}.", "")
    for add in (pairs, projection, neighbours, cuts, support_vectors, scale):
        add(section)
    section.write()


def answers() -> None:
    """Write how good the answers are."""
    section = Section("similarity-found", "What classifiers by similarity find")
    section.say(f"{machine()}; {versions('numpy', 'scipy', 'scikit-learn')}.", "")
    quality(section)
    section.write()


def main() -> None:
    speed()
    answers()


if __name__ == "__main__":
    main()
