"""What a table says: counts of one value, of two, of a few columns at once."""

from tacit.counts.contingency import ContingencyTable
from tacit.counts.contingency_measures import IndependenceTest
from tacit.counts.direct import contingency
from tacit.counts.one_way import OneWay, one_way
from tacit.counts.pairs import Pairs, pairs
from tacit.counts.records import StoredRecords, Subset
from tacit.counts.two_way import TwoWay, two_way

__all__ = [
    "ContingencyTable",
    "IndependenceTest",
    "OneWay",
    "Pairs",
    "StoredRecords",
    "Subset",
    "TwoWay",
    "contingency",
    "one_way",
    "pairs",
    "two_way",
]
