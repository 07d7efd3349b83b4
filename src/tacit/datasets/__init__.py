"""Data to try things on: generators of sparse tables and of numbers, and one small set to read."""

from tacit.datasets.baskets import make_baskets
from tacit.datasets.dependency_tree import TreeData, make_dependency_tree
from tacit.datasets.flights import make_flights
from tacit.datasets.labelled import make_labelled_records
from tacit.datasets.mixture import make_mixture
from tacit.datasets.objects import make_documents, make_objects
from tacit.datasets.paper_sizes import make_msnbc, make_msweb, make_television
from tacit.datasets.ratings import make_ratings
from tacit.datasets.synth import make_synth
from tacit.datasets.uniform import make_uniform
from tacit.datasets.visits import load_visits

__all__ = [
    "TreeData",
    "load_visits",
    "make_baskets",
    "make_dependency_tree",
    "make_documents",
    "make_flights",
    "make_labelled_records",
    "make_mixture",
    "make_msnbc",
    "make_msweb",
    "make_objects",
    "make_ratings",
    "make_synth",
    "make_television",
    "make_uniform",
]
