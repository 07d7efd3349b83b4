"""Fits circuits of deeprob-kit in an environment of its own, for `benchmarks.density.peers`.

Not to be imported. Reads one JSON object from stdin: the learner, the seed, the CPU seconds after
which it ends, and the file with the arrays "train", "valid" and "test". Tries some settings, of
which the best on "valid" counts. Prints a line of JSON for each as it is done: its settings, mean
log-likelihoods, CPU seconds so far.
"""

from __future__ import annotations

import copy
import json
import resource
import sys
import time
from typing import Any

import numpy as np

BATCH = 500  # records whose likelihoods are asked for at once


def learnspn(train: Any, seed: int, **settings: Any) -> Any:
    """LearnSPN: G-tests split columns, k-means splits records."""
    from deeprob.spn.learning.wrappers import learn_estimator
    from deeprob.spn.structure.leaf import Bernoulli

    return learn_estimator(
        train, [Bernoulli] * train.shape[1], [[0, 1]] * train.shape[1], method="learnspn",
        split_rows="kmeans", split_cols="gvs", random_state=seed, verbose=False,
        **copy.deepcopy(settings),  # it writes into them
    )  # fmt: skip


def xpc(train: Any, seed: int, **settings: Any) -> Any:
    """An ensemble of extremely randomised circuits, whose leaves are Chow–Liu trees."""
    from deeprob.spn.learning.xpc import learn_expc

    return learn_expc(
        train, ensemble_dim=10, det=False, sd_level=0, conj_len=2, arity=3, random_seed=seed,
        **settings,
    )[0]  # fmt: skip


# From quick to slow: the time is limited.
LEARNERS: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "LearnSPN": (
        learnspn,
        [
            {"learn_leaf": "mle", "min_rows_slice": rows, "learn_leaf_kwargs": {"alpha": 0.1}}
            for rows in (512, 128, 32)
        ],
    ),
    "LearnSPN, leaves are trees": (
        learnspn,
        [
            {
                "learn_leaf": "binary-clt",
                "min_rows_slice": rows,
                "learn_leaf_kwargs": {"alpha": 0.1, "to_pc": False},
            }
            for rows in (512, 128, 32)
        ],
    ),
    "XPC, 10 averaged": (xpc, [{"min_part_inst": rows} for rows in (512, 128, 32)]),
}


def mean_score(model: Any, records: Any) -> float:
    """Return the mean log-likelihood of records."""
    from deeprob.spn.algorithms.inference import log_likelihood

    parts = [
        np.ravel(log_likelihood(model, records[first : first + BATCH]))
        for first in range(0, len(records), BATCH)
    ]
    return float(np.concatenate(parts).mean())


def main() -> None:
    asked = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (asked["limit"], asked["limit"]))
    with np.load(asked["file"]) as arrays:
        train, valid, test = (
            arrays[part].astype(np.float32) for part in ("train", "valid", "test")
        )
    learner, choices = LEARNERS[asked["learner"]]
    taken = 0.0
    for settings in choices:
        start = time.process_time()
        try:
            model = learner(train, asked["seed"], **settings)
        except AssertionError as error:  # XPC found nothing to divide: records are too few
            print(error, file=sys.stderr)
            continue
        taken += time.process_time() - start
        scores = {"valid": mean_score(model, valid), "test": mean_score(model, test)}
        print(json.dumps(scores | {"seconds": taken, "settings": settings}), flush=True)


if __name__ == "__main__":
    main()
