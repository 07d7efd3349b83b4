"""Fits mlrl-boomer in an environment of its own, for `benchmarks.rules.peers`: not to be imported.

Reads one JSON object from stdin: the folder with X.npz and Y.npy, T.npz with other records, the
settings, columns that are nominal, and whether X is to be sparse. Prints the CPU seconds of fit and
of prediction, and leaves what was predicted in the folder.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

ONE_THREAD = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"}


def main() -> None:
    from mlrl.boosting import BoomerClassifier

    asked = json.load(sys.stdin)
    folder = Path(asked["folder"])
    X, T = (sparse.load_npz(folder / f"{name}.npz") for name in ("X", "T"))
    if asked["sparse"]:
        X, T = sparse.csc_matrix(X), sparse.csr_matrix(T)
    else:
        X, T = np.asfortranarray(X.toarray(), np.float32), T.toarray().astype(np.float32)
    Y = np.load(folder / "Y.npy")
    taken = []
    for _ in range(asked["repeats"]):
        model = BoomerClassifier(random_state=asked["seed"], **ONE_THREAD, **asked["settings"])
        start = time.process_time()
        model.fit(X, Y, **({"nominal_features": asked["nominal"]} if asked["nominal"] else {}))
        taken.append(time.process_time() - start)
    predicted = model.predict(T)
    np.save(
        folder / "P.npy",
        np.asarray(predicted.toarray() if sparse.issparse(predicted) else predicted),
    )
    if asked["settings"].get("probability_predictor"):
        probabilities = np.asarray(model.predict_proba(T))
        np.save(folder / "S.npy", probabilities[:, -1] if Y.shape[1] == 1 else probabilities)
    print(json.dumps({"fit": min(taken)}))


if __name__ == "__main__":
    main()
