"""Fits circuits of deeprob-kit or SPFlow in an environment of their own, for `peers`.

Not to be imported there. Reads one JSON object from stdin: the learner, the seed, the CPU seconds
after which it ends, and the file with the arrays "train", "valid" and "test". Tries some settings,
of which the best on "valid" counts. Prints a line of JSON for each as it is done: its settings,
mean log-likelihoods, CPU seconds of learning so far. What is learnt by gradients prints one
whenever "valid" is better than before.
"""

from __future__ import annotations

import copy
import json
import resource
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BATCH = 500  # records whose likelihoods are asked for at once
STEP, RATE, PATIENCE = 250, 0.05, 3  # records, learning rate of Adam, epochs without improvement


class Learner(NamedTuple):
    """How circuits are learnt, and with what settings, from quick to slow: the time is limited."""

    package: str
    learn: Callable[..., Iterator[Any]]  # circuits, each better or for other settings
    settings: list[dict[str, Any]]


def learnspn(train: Any, valid: Any, seed: int, **settings: Any) -> Iterator[Any]:
    """LearnSPN of deeprob-kit: G-tests split columns, k-means splits records."""
    from deeprob.spn.learning.wrappers import learn_estimator
    from deeprob.spn.structure.leaf import Bernoulli

    yield learn_estimator(
        train, [Bernoulli] * train.shape[1], [[0, 1]] * train.shape[1], method="learnspn",
        split_rows="kmeans", split_cols="gvs", random_state=seed, verbose=False,
        **copy.deepcopy(settings),  # it writes into them
    )  # fmt: skip


def xpc(train: Any, valid: Any, seed: int, **settings: Any) -> Iterator[Any]:
    """An ensemble of extremely randomised circuits, whose leaves are Chow–Liu trees."""
    from deeprob.spn.learning.xpc import learn_expc

    try:
        yield learn_expc(
            train, ensemble_dim=10, det=False, sd_level=0, conj_len=2, arity=3, random_seed=seed,
            **settings,
        )[0]  # fmt: skip
    except AssertionError as error:  # it found nothing to divide: records are too few
        print(error, file=sys.stderr)


def spflow_learnspn(train: Any, valid: Any, seed: int, **settings: Any) -> Iterator[Any]:
    """LearnSPN of SPFlow: randomised dependence coefficients split columns, k-means records."""
    import torch
    from spflow.learn.learn_spn import learn_spn, partition_by_rdc
    from spflow.meta.data.scope import Scope
    from spflow.modules.leaves import Bernoulli

    def partition(records: Any) -> Any:
        """Split off constant columns: its coefficients fail for these."""
        varied = records.std(dim=0) > 0 if len(records) > 1 else records[0] < 0
        parts = torch.arange(1, records.shape[1] + 1)
        if int(varied.sum()) > 1:
            parts[varied] = partition_by_rdc(records[:, varied]).long() + records.shape[1]
        return parts

    torch.manual_seed(seed)
    leaf = Bernoulli(scope=Scope(list(range(train.shape[1]))), out_channels=1)
    yield learn_spn(torch.tensor(train), leaf, partitioning_method=partition, **settings)


def hclt(train: Any, valid: Any, seed: int, **settings: Any) -> Iterator[Any]:
    """A hidden Chow–Liu tree of SPFlow, by Adam.

    With `init="random"`, SPFlow 1.1.0 gives transitions one state, which makes columns independent;
    so it is `init="uniform"`, and then parameters drawn at random.
    """
    import torch
    from spflow.zoo.hclt.learn import learn_hclt_binary

    torch.manual_seed(seed)
    given = torch.tensor(train)
    model = learn_hclt_binary(given, init="uniform", **settings)
    for parameter in model.parameters():
        parameter.data = torch.randn_like(parameter)
    adam = torch.optim.Adam(model.parameters(), lr=RATE)
    best, waited = -np.inf, 0
    while waited < PATIENCE:
        order = torch.randperm(len(given))
        for first in range(0, len(given), STEP):
            adam.zero_grad()
            loss = -model.log_likelihood(given[order[first : first + STEP]]).mean()
            loss.backward()
            adam.step()
        score = mean_score(model, valid)
        waited = 0 if score > best else waited + 1
        if score > best:
            best = score
            yield model


ROWS = (512, 128, 32)
LEARNERS: dict[str, Learner] = {
    "LearnSPN": Learner(
        "deeprob",
        learnspn,
        [
            {"learn_leaf": "mle", "min_rows_slice": rows, "learn_leaf_kwargs": {"alpha": 0.1}}
            for rows in ROWS
        ],
    ),
    "LearnSPN, leaves are trees": Learner(
        "deeprob",
        learnspn,
        [
            {
                "learn_leaf": "binary-clt",
                "min_rows_slice": rows,
                "learn_leaf_kwargs": {"alpha": 0.1, "to_pc": False},
            }
            for rows in ROWS
        ],
    ),
    "XPC, 10 averaged": Learner("deeprob", xpc, [{"min_part_inst": rows} for rows in ROWS]),
    "SPFlow's LearnSPN": Learner(
        "spflow", spflow_learnspn, [{"min_instances_slice": rows} for rows in ROWS]
    ),
    "SPFlow's HCLT": Learner("spflow", hclt, [{"num_hidden_cats": n} for n in (16, 8, 32)]),
}


def mean_score(model: Any, records: Any) -> float:
    """Return the mean log-likelihood of records."""
    if hasattr(model, "log_likelihood"):
        import torch

        with torch.no_grad():
            parts = [
                model.log_likelihood(torch.tensor(records[first : first + BATCH])).flatten()
                for first in range(0, len(records), BATCH)
            ]
        return float(torch.cat(parts).double().mean())
    from deeprob.spn.algorithms.inference import log_likelihood

    return float(
        np.concatenate(
            [
                np.ravel(log_likelihood(model, records[first : first + BATCH]))
                for first in range(0, len(records), BATCH)
            ]
        ).mean()
    )


def main() -> None:
    asked = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (asked["limit"], asked["limit"]))
    sys.setrecursionlimit(100_000)  # hidden trees are built by recursion
    with np.load(asked["file"]) as arrays:
        train, valid, test = (
            arrays[part].astype(np.float32) for part in ("train", "valid", "test")
        )
    learner = LEARNERS[asked["learner"]]
    if learner.package == "spflow":
        import torch

        torch.set_num_threads(1)
    taken = 0.0
    for settings in learner.settings:
        start = time.process_time()
        for model in learner.learn(train, valid, asked["seed"], **settings):
            taken += time.process_time() - start
            scores = {"valid": mean_score(model, valid), "test": mean_score(model, test)}
            print(json.dumps(scores | {"seconds": taken, "settings": settings}), flush=True)
            start = time.process_time()


if __name__ == "__main__":
    main()
