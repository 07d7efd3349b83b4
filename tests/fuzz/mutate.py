"""Changes of bytes, of facts in JSON, and of saved arrays under checksums that fit."""

from __future__ import annotations

import json

import numpy as np

from tacit import store

NUMBERS = (
    0, 1, -1, 2, 7, 8, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1, -(2**31), 2**32 - 1,
    2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1,
)  # fmt: skip
REALS = (0.0, -0.0, 1.5, -1.0, 1e-320, 1e308, -1e308, np.nan, np.inf, -np.inf)
TEXTS = (
    "", "\0", "a\0b", "\x1b[31m", "\u202e", "<script>", "=1+1", "é" * 300, "\ud800", "NaN", "1e999",
    "9" * 400, "-", '"', "'", "%", "{", "}", "[", ",", ";", "\t", "\r", "\n", " ", "?", "1:1",
    "-1:1", "99999999999999999999:1", "@data\n", "@attribute x {", "probability (", "<VARIABLE>",
)  # fmt: skip
FACTS = (None, True, False, *NUMBERS, 0.5, float("nan"), float("inf"), *TEXTS, [], {}, [[]], [None])
DTYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", "?")


def pick(rng, things):
    """Return one of some things."""
    return things[int(rng.integers(len(things)))]


def change_bytes(rng, data, words=()):
    """Return bytes with one to four changes."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        n = len(data)
        at = int(rng.integers(n + 1))
        length = int(min(n - at, rng.geometric(0.1)))
        way = int(rng.integers(9))
        if way == 0 and at < n:
            data[at] ^= 1 << int(rng.integers(8))
        elif way == 1 and at < n:
            data[at] = pick(rng, (0, 1, 0x7F, 0x80, 0xFF, 0xFE, 10, 32, 34))
        elif way == 2:
            size = pick(rng, (1, 2, 4, 8))
            number = pick(rng, NUMBERS) % (1 << 8 * size)
            data[at : at + size] = number.to_bytes(size, pick(rng, ("little", "big")))
        elif way == 3:
            del data[at : at + length]
        elif way == 4:
            data[at:at] = data[at : at + length] * int(rng.integers(1, 5))
        elif way == 5:
            data[at:at] = pick(rng, (*TEXTS, *words)).encode("utf-8", "surrogatepass")
        elif way == 6:
            data[at : at + length] = bytes(rng.integers(0, 256, length, np.uint8))
        elif way == 7:
            other = int(rng.integers(n + 1))
            data[at : at + length] = data[other : other + length]
        elif rng.random() < 0.1:
            del data[at:]
    return bytes(data)


def change_facts(rng, facts):
    """Return facts of JSON with one of them changed."""
    if isinstance(facts, dict) and facts and rng.random() < 0.95:
        key = pick(rng, list(facts))
        if rng.random() < 0.1:
            return {k: v for k, v in facts.items() if k != key}
        return facts | {key: change_facts(rng, facts[key])}
    if isinstance(facts, list) and facts and rng.random() < 0.9:
        at = int(rng.integers(len(facts)))
        way = int(rng.integers(8))
        if way == 0:
            return facts[:at] + facts[at + 1 :]
        if way == 1:
            return [*facts, facts[at]]
        if way == 2:
            other = int(rng.integers(len(facts)))
            return [*facts[:at], facts[other], *facts[at + 1 :]]
        return [*facts[:at], change_facts(rng, facts[at]), *facts[at + 1 :]]
    if isinstance(facts, int | float) and not isinstance(facts, bool) and rng.random() < 0.5:
        return facts + pick(rng, (-1, 1, 0.5, 2**31))
    return pick(rng, FACTS)


def change_array(rng, array):
    """Return an array with some values changed, or another type or shape."""
    array = np.array(array)
    if array.dtype == np.uint8 and array.ndim == 1 and array[:1].tobytes() in (b"{", b"["):
        try:
            facts = json.loads(array.tobytes())
        except ValueError:
            facts = None
        if facts is not None and rng.random() < 0.9:
            text = json.dumps(change_facts(rng, facts)).encode()
            return np.frombuffer(text, np.uint8)
    way = int(rng.integers(12))
    if way == 0:
        return array[: int(rng.integers(len(array) + 1))] if array.ndim else array
    if way == 1:
        return np.concatenate([array, array[:1]]) if array.ndim and len(array) else array
    if way == 2:
        with np.errstate(all="ignore"):
            return array.astype(pick(rng, DTYPES))
    if way == 3:
        return array.reshape(-1) if rng.random() < 0.5 else array[..., None]
    if not array.size:
        return np.zeros((int(rng.integers(3)),), array.dtype)
    flat = array.reshape(-1)
    for _ in range(int(rng.integers(1, 4))):
        at, other = int(rng.integers(array.size)), int(rng.integers(array.size))
        if way == 4:
            flat[at] = flat[other]
        elif way == 5 and array.dtype.kind in "iu":
            with np.errstate(all="ignore"):
                flat[at] += np.array(pick(rng, (-1, 1, 2))).astype(array.dtype)
        elif way == 6:
            flat[at], flat[other] = flat[other], flat[at]
        elif array.dtype.kind == "f":
            flat[at] = pick(rng, REALS)
        elif array.dtype.kind == "b":
            flat[at] = not flat[at]
        else:
            flat[at] = np.array(pick(rng, NUMBERS) & (2**64 - 1), np.uint64).astype(array.dtype)
    return array


def change_saved(rng, path, source):
    """Write a saved file with arrays that were changed: its header and its checksums are right."""
    kind, arrays = store.read_arrays(source)
    arrays = dict(arrays)
    for _ in range(int(rng.integers(1, 3))):
        name = pick(rng, list(arrays))
        if rng.random() < 0.03:
            del arrays[name]
            if not arrays:
                break
        else:
            arrays[name] = change_array(rng, arrays[name])
    if rng.random() < 0.02:
        kind = pick(rng, list(store.KINDS))
    store.write_arrays(path, kind, arrays)
