"""What a table says: counts of one value, of two, of a few columns at once."""

from tacit.counts.adtree import ADTree, TreeStats
from tacit.counts.contingency.measures import IndependenceTest
from tacit.counts.contingency.table import ContingencyTable
from tacit.counts.counter import Counter, Layout, Tables
from tacit.counts.distinct import Distinct
from tacit.counts.engines import Bitmaps, Scan
from tacit.counts.one_way import OneWay, one_way
from tacit.counts.pairs import Pairs, pairs
from tacit.counts.planner import Plan, Planner, counter
from tacit.counts.records import StoredRecords, Subset
from tacit.counts.two_way import TwoWay, two_way

__all__ = [
    "ADTree",
    "Bitmaps",
    "ContingencyTable",
    "Counter",
    "Distinct",
    "IndependenceTest",
    "Layout",
    "OneWay",
    "Pairs",
    "Plan",
    "Planner",
    "Scan",
    "StoredRecords",
    "Subset",
    "Tables",
    "TreeStats",
    "TwoWay",
    "counter",
    "one_way",
    "pairs",
    "two_way",
]
