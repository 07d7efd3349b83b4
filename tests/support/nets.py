"""Random Bayes nets, small enough for their whole joint distribution to be written down."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from tacit import BayesNet, FileError, Table


@st.composite
def nets(draw, max_columns=5, max_arity=3, zeros=True):
    """Nets whose parents may come before or after their children; some probabilities are 0."""
    n = draw(st.integers(1, max_columns))
    arities = draw(st.lists(st.integers(1, max_arity), min_size=n, max_size=n))
    rank = draw(st.permutations(range(n)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.3, 0.6, 1.0]))
    return random_net(arities, rank, rng, density, zeros and draw(st.booleans()))


def random_net(arities, rank, rng, density=0.6, zeros=False):
    names = [f"c{c}" for c in range(len(arities))]
    parents, tables = {}, {}
    for c, name in enumerate(names):
        above = [p for p in range(len(arities)) if rank[p] < rank[c] and rng.random() < density]
        rng.shuffle(above)
        above = above[:3]
        shape = [arities[p] for p in above]
        table = rng.dirichlet(np.ones(arities[c]), size=shape)
        if zeros and arities[c] > 1:
            table = np.where(table < 0.2, 0.0, table)
            table /= table.sum(axis=-1, keepdims=True)
        parents[name] = [names[p] for p in above]
        tables[name] = table
    columns = {name: [f"v{k}" for k in range(a)] for name, a in zip(names, arities, strict=True)}
    return BayesNet.from_tables(columns, parents, tables)


def joint_of(net):
    """Return P of every combination of codes, by multiplying it out."""
    arities = net.schema_.arities.tolist()
    joint = np.zeros(arities)
    for cell in product(*map(range, arities)):
        chance = 1.0
        for c, name in enumerate(net.column_names_):
            chance *= net.table(name)[tuple(cell[p] for p in net.parents_[c])][cell[c]]
        joint[cell] = chance
    return joint


def conditioned(joint, evidence):
    """Return the joint distribution given codes by place, and the probability of those."""
    mask = np.zeros_like(joint)
    mask[tuple(evidence.get(c, slice(None)) for c in range(joint.ndim))] = 1.0
    total = (joint * mask).sum()
    return joint * mask / (total if total > 0 else 1.0), total


def marginal(joint, places):
    """Return the distribution of some axes, in the given order."""
    rest = tuple(c for c in range(joint.ndim) if c not in places)
    summed = joint.sum(axis=rest)
    kept = sorted(places)
    return summed.transpose([kept.index(c) for c in places])


def table_of(net, codes):
    """Return records as a Table of labels; -1 is missing."""
    return Table(
        {
            name: [None if k < 0 else net.schema_.labels[c][k] for k in codes[:, c].tolist()]
            for c, name in enumerate(net.column_names_)
        }
    )


def net_file(name):
    """Return the path of a reference net, or skip the test."""
    folder = Path(__file__).parents[2].parent / "shared" / "data" / "bayes_nets"
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder}")
    return folder / f"{name}.bif.gz"


def sprinkler():
    """The net of every textbook."""
    return BayesNet.from_tables(
        {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "wet"]},
        {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"]},
        {
            "rain": [0.8, 0.2],
            "sprinkler": [[0.6, 0.4], [0.99, 0.01]],
            "grass": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
        },
    )


def error_of_changed(read, text, old, new):
    """Return what is said of a file in which something is replaced by something wrong."""
    assert old in text
    with pytest.raises(FileError) as caught:
        read(text.replace(old, new, 1))
    return str(caught.value)
