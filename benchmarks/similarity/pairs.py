"""Near pairs and their similarities: against `sparsecomputation` and a kd-tree."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.report import SHARED, Section, milliseconds, on_one_core, times_once
from benchmarks.similarity.data import covertype, letters
from tacit.datasets import make_objects
from tacit.similarity.graph import near_graph, near_indices
from tacit.similarity.grid.blocks import Blocks, near_blocks
from tacit.similarity.grid.grid import Grid
from tacit.similarity.projection.linear import project

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGE = 500_000
COLUMNS = 54
LETTER_GRIDS = (20, 4, 2)
GRIDS = ((2, (200, 300, 400, 500, 600)), (3, (200, 1000, 10_000)))
PEER_GIGABYTES = 12
PEER_SECONDS = 600
MOST_PEER_PAIRS = 120_000_000  # its list of pairs takes about 70 bytes each
MOST_STORED = 500_000_000  # similarities that this machine has room for
REPEATS = 3

PEER = """
import json, resource, sys, time
from itertools import chain
limit = int(sys.argv[4]) << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
import numpy as np
try:
    import six
except ImportError:  # the peer is installed without what it asks for, and uses six.moves.zip alone
    import types
    sys.modules["six"] = six = types.ModuleType("six")
    sys.modules["six.moves"] = six.moves = types.ModuleType("six.moves")
    six.moves.zip = zip
from sparsecomputation import SparseComputation
folder, k, method = sys.argv[1], int(sys.argv[2]), sys.argv[3]
coords = np.load(folder + "/coords.npy")
X = np.load(folder + "/X.npy")
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
try:
    begun = time.perf_counter()
    pairs = SparseComputation(None, resolution=k, method=method).select_pairs(coords)
    selected = time.perf_counter()
    flat = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs)).reshape(-1, 2)
    del pairs
    as_array = time.perf_counter()
    similarities = np.empty(len(flat))
    for first in range(0, len(flat), 1 << 15):  # all at once would need rows for every pair
        some = flat[first : first + (1 << 15)]
        rest = X[some[:, 0]] - X[some[:, 1]]
        squares = np.einsum("ij,ij->i", rest, rest)
        similarities[first : first + (1 << 15)] = np.exp(-np.sqrt(squares))
    compared = time.perf_counter()
    took, most = [selected - begun, as_array - selected, compared - as_array], peak()
    flat.sort(axis=1)
    keys = flat[:, 0] * len(coords) + flat[:, 1]
    order = np.argsort(keys)
    np.save(folder + "/keys.npy", keys[order])
    np.save(folder + "/similarities.npy", similarities[order])
    print(json.dumps({"seconds": took, "peak": most}))
except MemoryError:
    print(json.dumps({"seconds": None, "peak": peak()}))
"""


def ask_peer(coords: Any, X: Any, k: int, method: str) -> tuple[dict[str, Any], Any, Any]:
    """Let the peer select pairs in a separate process; its pairs and similarities, sorted."""
    with tempfile.TemporaryDirectory() as folder:
        low, high = coords.min(axis=0), coords.max(axis=0)
        np.save(f"{folder}/coords.npy", (coords - low) / (high - low))
        np.save(f"{folder}/X.npy", X)
        try:
            done = subprocess.run(
                [sys.executable, "-c", PEER, folder, str(k), method, str(PEER_GIGABYTES)],
                stdout=subprocess.PIPE, text=True, timeout=PEER_SECONDS, check=True,
            )  # fmt: skip
            report = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            report = {"seconds": None, "late": True}
        if report["seconds"] is None:
            return report, None, None
        return report, np.load(f"{folder}/keys.npy"), np.load(f"{folder}/similarities.npy")


def sorted_keys(coords: Any, grid: Grid) -> NDArray[np.int64]:
    """Return our pairs, each once, as sorted numbers."""
    blocks = Blocks.of(grid, coords)
    offsets, second = near_indices(near_blocks(blocks, blocks, grid), "upper", 1)
    first = np.repeat(np.arange(len(coords), dtype=np.int64), np.diff(offsets))
    return first * len(coords) + second


def count_pairs(coords: Any, grid: Grid) -> int:
    blocks = Blocks.of(grid, coords)
    return (near_blocks(blocks, blocks, grid).n_entries - len(coords)) // 2


def best_of(work: Any, repeats: int = REPEATS) -> float:
    work()
    return min(times_once(work)[0] for _ in range(repeats))


def agree(coords: Any, X: Any, grid: Grid, keys: Any, similarities: Any) -> None:
    """Check that both sides have the same pairs, and the same similarities of them."""
    assert np.array_equal(sorted_keys(coords, grid), keys), "the pairs are not the same"
    graph = near_graph(grid, coords, X, triangle="upper")
    assert np.allclose(graph.data, similarities, rtol=1e-9, atol=1e-12)


def letter_rows(section: Section) -> None:
    """Letter, three dimensions: the whole way from projected objects to similarities."""
    X, _ = letters()
    coords = project(X, 3).transform(X)
    section.part(
        "Near pairs and their similarities: Letter, 20,000 × 16, three dimensions",
        "Both are given the same projected objects, and find the same pairs with the same "
        "similarities, exp(−distance) in the original space. The peer is `sparsecomputation` "
        "2019.6.3 with the faster of its methods: selection, its list of pairs as an array, and "
        f"similarities by NumPy; it may take {PEER_GIGABYTES} GB. tacit: the grid, the pairs and "
        "the similarities as a CSR array that holds each pair once, or twice (a symmetric matrix). "
        "One thread.",
    )
    rows = []
    for k in LETTER_GRIDS:
        grid = Grid.over(coords, k)
        with on_one_core():
            answers = [ask_peer(coords, X, k, m) for m in ("block_enumeration", "block_shifting")]
            answers = sorted(answers, key=lambda one: sum(one[0]["seconds"] or [np.inf]))
            report, keys, similarities = answers[0]
            if keys is not None:
                agree(coords, X, grid, keys, similarities)
            upper = best_of(lambda: near_graph(grid, coords, X, triangle="upper"))  # noqa: B023
            both = best_of(lambda: near_graph(grid, coords, X))  # noqa: B023
        n_pairs = count_pairs(coords, grid)
        theirs = report["seconds"]
        rows.append(
            (
                f"{k}",
                f"{n_pairs:,}",
                " + ".join(map(milliseconds, theirs)) if theirs else "out of memory",
                f"{report['peak'] / 1e9:.1f} GB",
                f"{milliseconds(upper)} ({upper / n_pairs * 1e9:.1f} ns a pair)",
                f"{milliseconds(both)}",
                f"{sum(theirs) / upper:.0f}×" if theirs else "–",
                "30×" if k == 20 else "works",
            )
        )
    section.table(
        ("k", "pairs", "peer: selection + array + similarities", "peer's peak", "tacit",
         "tacit, symmetric", "ratio", "asked for"),
        rows,
    )  # fmt: skip


def large_rows(section: Section, name: str, X: Any) -> None:
    """Half a million objects, over resolutions."""
    rows = []
    for p, resolutions in GRIDS:
        coords = project(X, p).transform(X)
        rows += [(f"{p}", f"{k:,}", *large_row(coords, X, k)) for k in resolutions]
    section.say(f"{name}, {len(X):,} × {X.shape[1]}:", "")
    section.table(
        ("p", "k", "pairs", "`sparsecomputation`, selection alone", "kd-tree, pairs alone",
         "tacit, with similarities", "a pair", "peer / tacit", "kd-tree / tacit, a pair"),
        rows,
    )  # fmt: skip


def large_row(coords: Any, X: Any, k: int) -> tuple[str, ...]:
    grid = Grid.over(coords, k)
    n_pairs = count_pairs(coords, grid)
    with on_one_core():
        if n_pairs > MOST_STORED:
            return f"{n_pairs:,}", "–", "–", "too many to store here", "–", "–", "–"
        ours = best_of(lambda: near_graph(grid, coords, X, triangle="upper", dtype=np.float32))
        theirs = None
        if n_pairs <= MOST_PEER_PAIRS:
            report, keys, similarities = ask_peer(coords, X, k, "block_enumeration")
            if keys is not None:
                agree(coords, X, grid, keys, similarities)
                theirs = report["seconds"][0]
            del keys, similarities
        tree, n_found = ask_tree(coords, grid, n_pairs)
    nanoseconds = ours / max(1, n_pairs)
    return (
        f"{n_pairs:,}",
        "–" if theirs is None else milliseconds(theirs),
        f"{milliseconds(tree)} ({tree / max(1, n_found) * 1e9:.0f} ns a pair)",
        milliseconds(ours),
        f"{nanoseconds * 1e9:.1f} ns",
        "–" if theirs is None else f"{theirs / ours:.1f}×",
        f"{tree / max(1, n_found) / nanoseconds:.1f}×",
    )


def ask_tree(coords: Any, grid: Grid, n_pairs: int) -> tuple[float, int]:
    """Time a kd-tree on pairs within a box of the same size as three blocks side by side.

    Where there are too many pairs for its list, some of the objects are taken.
    """
    fraction = min(1.0, (60_000_000 / max(1, n_pairs)) ** 0.5)
    some = np.random.default_rng(0).permutation(len(coords))[: int(fraction * len(coords))]
    scaled = coords[some] / np.where(grid.widths > 0, grid.widths, 1.0)
    n_pairs_found = 0

    def work() -> None:
        nonlocal n_pairs_found
        n_pairs_found = len(cKDTree(scaled).query_pairs(1.5, p=np.inf, output_type="ndarray"))

    return times_once(work)[0], n_pairs_found


def pairs(section: Section) -> None:
    """Add the sections on near pairs."""
    if SHARED.exists():
        letter_rows(section)
    section.part(
        "Near pairs and their similarities: half a million objects",
        "The peer's time is that of selecting pairs alone, tacit's includes similarities (single "
        "precision, a CSR array that holds each pair once). The pairs are the same on both sides. "
        "The kd-tree (`scipy.spatial.cKDTree.query_pairs`) finds pairs within 1.5 intervals of the "
        "grid in each dimension, which are about as many; where they are more than its list has "
        "room for, of a random part of the objects. One thread; the best of a few runs of tacit.",
    )
    large_rows(section, "60 synthetic clusters", make_objects(LARGE, COLUMNS)[0])
    if SHARED.exists():
        large_rows(section, "Covertype", covertype()[0])
