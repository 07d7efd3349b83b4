"""One file format for tables and models: safetensors, checked before it is believed.

A file holds named arrays and, in its header, the format version, the kind of object and the type,
shape and checksum of each array. Nothing in it is ever executed. Arrays are read into memory, or
mapped where that is asked for. Large arrays of some kinds have a checksum for each block, too: they
are read, block by block, when they are used.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from tacit.blocks import LEAST, BlockArray, block_seals
from tacit.errors import FileError, InputError
from tacit.writing import written_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Saved",
    "State",
    "class_of",
    "damaged_if_it_fails",
    "json_array",
    "load",
    "read_arrays",
    "read_json",
    "seal_of",
    "write_arrays",
]

FORMAT = "1"
_SEAL = "crc32:"
_BLOCKS = ".blocks"  # the name of an array's checksums by block ends so
State: TypeAlias = Mapping[str, "NDArray[Any]"]

# Which class a kind of file is read by; it is imported when such a file is loaded.
KINDS = {
    "adtree": "tacit.counts:ADTree",
    "bayes_net": "tacit.network:BayesNet",
    "best_subset": "tacit.select:BestSubset",
    "boosted_rules_classifier": "tacit.rules:BoostedRulesClassifier",
    "boosted_rules_regressor": "tacit.rules:BoostedRulesRegressor",
    "branching": "tacit.network:Branching",
    "covering_rules_classifier": "tacit.rules:CoveringRulesClassifier",
    "decision_graph_classifier": "tacit.tree:DecisionGraphClassifier",
    "decision_tree_classifier": "tacit.tree:DecisionTreeClassifier",
    "decision_tree_regressor": "tacit.tree:DecisionTreeRegressor",
    "dependency_network": "tacit.tree:DependencyNetwork",
    "dependency_tree": "tacit.network:DependencyTree",
    "frequent_itemsets": "tacit.baskets:FrequentItemsets",
    "kmeans": "tacit.mixture:KMeans",
    "naive_bayes_mixture": "tacit.mixture:NaiveBayesMixture",
    "near_graph": "tacit.similarity:NearGraph",
    "normalized_cut_classifier": "tacit.similarity:NormalizedCutClassifier",
    "partition": "tacit.io.tables.folder:PartitionFile",
    "recommender": "tacit.baskets:Recommender",
    "significant_rules": "tacit.baskets:SignificantRules",
    "similarity_join": "tacit.similarity:SimilarityJoin",
    "sparse_agglomerative": "tacit.similarity:SparseAgglomerative",
    "sparse_components": "tacit.similarity:SparseComponents",
    "sparse_computation": "tacit.similarity:SparseComputation",
    "sparse_density_peaks": "tacit.similarity:SparseDensityPeaks",
    "sparse_hdbscan": "tacit.similarity:SparseHDBSCAN",
    "sparse_k_neighbors_classifier": "tacit.similarity:SparseKNeighborsClassifier",
    "sparse_k_neighbors_regressor": "tacit.similarity:SparseKNeighborsRegressor",
    "sparse_neighbors": "tacit.similarity:SparseNeighbors",
    "sparse_spectral": "tacit.similarity:SparseSpectral",
    "sparse_svc": "tacit.similarity:SparseSVC",
    "table": "tacit.table:Table",
    "tree_mixture": "tacit.density:TreeMixture",
}
_DTYPES = {
    "F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8,
    "BOOL": np.bool_,
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


class Saved:
    """What is saved to a file and loaded again: subclasses say what is in it.

    ``to_state`` returns named arrays; ``from_state`` makes the object of such arrays after it has
    checked that they go together. What it raises about them becomes a :class:`FileError`.
    """

    _kind: ClassVar[str]
    _in_blocks: ClassVar[tuple[str, ...]] = ()  # arrays that `from_state` may get as BlockArray

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file that :func:`tacit.load` reads; atomic."""
        state = dict(self.to_state())
        for name in self._in_blocks:
            if name in state:
                state[name + _BLOCKS] = block_seals(np.ascontiguousarray(state[name]))
        write_arrays(path, self._kind, state)

    def to_state(self) -> State:
        """Return the named arrays that a file holds."""
        raise NotImplementedError(f"{type(self).__name__} has no file format")

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the object that :meth:`to_state` described."""
        raise NotImplementedError(f"{cls.__name__} has no file format")

    def _from_file(self, path: str | os.PathLike[str]) -> Any:
        """Return what is loaded, for those that have to know where from."""
        return self


def json_array(facts: Any) -> NDArray[np.uint8]:
    """Return facts that JSON can hold as an array for a file."""
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return np.frombuffer(text.encode(), np.uint8)


def read_json(array: NDArray[Any]) -> Any:
    """Return the facts that :func:`json_array` wrote."""
    return json.loads(array.tobytes())


@contextmanager
def damaged_if_it_fails(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a file's content makes fail into an error that names the file."""
    try:
        yield
    except FileError:
        raise
    except KeyError as error:
        raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise FileError(path, f"is damaged: {error}") from None


def load(path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = False) -> Any:
    """Load what :meth:`save` wrote: a table or a fitted model.

    Parameters
    ----------
    path : path-like
    verify : bool, default True
        Compare every array with its checksum first; parts of a large :class:`ADTree` when they
        are first used. Without it, arrays are only checked for making sense: what a table stores
        must be in range, sorted and one to a column.
    mmap : bool, default False
        Map the file instead of reading it: what is not looked at takes no memory, and processes
        share it. The file must then not change while it is in use: a program that writes into it
        or cuts it off ends this process. :meth:`save` never does so; it replaces the file.

    Returns
    -------
    Table or model
    """
    kind, arrays = read_arrays(path, verify=verify, mmap=mmap, later=True)
    if kind not in KINDS:
        raise FileError(path, f"holds a {kind!r}, which this version of tacit does not know")
    with damaged_if_it_fails(path):
        return class_of(kind).from_state(arrays)._from_file(path)


def class_of(kind: str) -> type[Saved]:
    """Import the class that a kind of file is read by."""
    module, _, name = KINDS[kind].partition(":")
    saved_class: type[Saved] = getattr(import_module(module), name)
    return saved_class


def write_arrays(path: str | os.PathLike[str], kind: str, arrays: State) -> None:
    """Write arrays under a kind, atomically: the file is there in full or not at all."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata = {"tacit": FORMAT, "kind": kind}
    metadata |= {f"{_SEAL}{name}": _seal(array) for name, array in contiguous.items()}
    with written_whole(path) as name:
        _write_file(name, contiguous, metadata)


def _write_file(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: dict[str, str]) -> None:
    """Write contiguous arrays as a safetensors file, those of the widest numbers first."""
    header: dict[str, Any] = {"__metadata__": metadata}
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        dtype = _NAMES.get(array.dtype)
        if dtype is None:
            raise InputError(f"cannot write {name!r}: there is no type for {array.dtype}")
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers are aligned
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, array in ordered:
            file.write(array.reshape(-1).view(np.uint8).data)


@contextmanager
def _reading_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says against reading into an error that names the file."""
    try:
        yield
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error


def seal_of(path: str | os.PathLike[str]) -> str:
    """Return a checksum of a file's header, which has the checksums of all arrays in it."""
    with _reading_errors(path), Path(path).open("rb") as file:
        head = file.read(8)
        length = int.from_bytes(head, "little")
        if length > os.fstat(file.fileno()).st_size - 8:
            raise FileError(path, "is damaged: its header does not fit into it")
        return f"{zlib.crc32(file.read(length), zlib.crc32(head)):08x}"


def read_arrays(
    path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = False, later: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return the kind of a file and its arrays, checked and read-only; mapped if asked for.

    With `later`, large arrays that the kind has in blocks are :class:`BlockArray`.
    """
    with _reading_errors(path):
        is_there = Path(path).is_file()
    if not is_there:
        raise FileError(path, "no such file")
    with _reading_errors(path), Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < 8:
            raise FileError(path, f"not a tacit file: only {size} bytes long")
        length = int.from_bytes(file.read(8), "little")
        if length > size - 8:
            raise FileError(path, "not a tacit file, or cut off inside its header")
        kind, header, seals = _read_header(path, file.read(length))
        begin = 8 + length
        whole = np.memmap(file, np.uint8, "r") if mmap else None
        if whole is not None:
            size = len(whole)  # of what is there, should the file have changed
        in_blocks = class_of(kind)._in_blocks if later and kind in KINDS else ()
        arrays: dict[str, Any] = {}
        for name, entry in header.items():
            dtype, shape, start, end = _layout(path, name, entry, size - begin)
            mapped = None if whole is None else whole[begin + start : begin + end].view(np.ndarray)
            if name in in_blocks and end - start >= LEAST and name + _BLOCKS in header:
                arrays[name] = BlockArray(path, file.fileno(), begin + start, dtype, shape, mapped)
                continue
            if mapped is None:
                file.seek(begin + start)
                mapped = np.fromfile(file, np.uint8, end - start)
            array = arrays[name] = _shaped(path, name, mapped, dtype, shape)
            if verify and seals[name] != _seal(array):
                raise FileError(path, f"is damaged: the checksum of {name!r} does not match")
    for name in [name for name, array in arrays.items() if isinstance(array, BlockArray)]:
        if verify:
            arrays[name].seal(arrays[name + _BLOCKS])
    return kind, arrays


def _read_header(
    path: str | os.PathLike[str], text: bytes
) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Return the kind of a file, the entries of its arrays, and what is sealed of each."""
    try:
        header = json.loads(text)
        metadata = header.pop("__metadata__")
        version, kind = metadata["tacit"], metadata["kind"]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise FileError(path, "not a tacit file: its header cannot be read") from None
    if version != FORMAT:
        raise FileError(path, f"has format {version!r}; this version of tacit reads {FORMAT!r}")
    seals = {key.removeprefix(_SEAL): metadata[key] for key in metadata if key.startswith(_SEAL)}
    if set(seals) != set(header):
        odd = sorted(set(seals).symmetric_difference(header))[0]
        raise FileError(path, f"is damaged: its list of arrays is at odds about {odd!r}")
    return str(kind), header, seals


def _layout(
    path: str | os.PathLike[str], name: str, entry: Any, size: int
) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Return the type and the shape of an array and where it is, or say why that cannot be."""
    try:
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        shape = tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        counts = [*shape, begin, end]
        fine = all(type(n) is int and n >= 0 for n in counts)
    except (KeyError, TypeError, ValueError):
        raise FileError(path, f"is damaged: the header's entry for {name!r} is not valid") from None
    if not fine or end - begin != math.prod(shape) * dtype.itemsize:
        raise FileError(path, f"is damaged: the size of {name!r} does not fit its shape")
    if end > size:
        raise FileError(path, f"is cut off: {name!r} ends {end - size:,} bytes past the end")
    return dtype, shape, begin, end


def _shaped(
    path: str | os.PathLike[str],
    name: str,
    array: NDArray[Any],
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> NDArray[Any]:
    """Return bytes as a read-only array."""
    if len(array) != math.prod(shape) * dtype.itemsize:
        raise FileError(path, f"is cut off: {name!r} is not whole")  # while it was read
    if array.ctypes.data % dtype.alignment:
        array = array.copy()
    try:
        array = array.view(dtype).reshape(shape)
    except (ValueError, OverflowError):
        raise FileError(path, f"is damaged: {name!r} has an impossible shape") from None
    array.flags.writeable = False
    return array


def _seal(array: NDArray[Any]) -> str:
    """What an array is and a checksum of what it holds."""
    checksum = zlib.crc32(array.reshape(-1).view(np.uint8).data)
    return f"{array.dtype.str} {'×'.join(map(str, array.shape))} {checksum:08x}"
