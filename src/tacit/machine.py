"""What this machine offers: threads and memory."""

from __future__ import annotations

import os
import re
from numbers import Integral
from pathlib import Path
from typing import Any

from tacit.errors import InputError

resource: Any
try:
    import resource
except ModuleNotFoundError:  # where there are no limits
    resource = None

__all__ = [
    "available_memory",
    "check_fits",
    "count_jobs",
    "human_bytes",
    "limit_memory",
    "parse_bytes",
    "check_int",
]

_GROUPS = Path("/sys/fs/cgroup")
_FIRST_NAMES = ("memory.limit_in_bytes", "memory.usage_in_bytes")  # of cgroup v1
_RESERVED = 1 << 31  # bytes of addresses that libraries reserve and do not use
_MOST_THREADS = 256  # more would only wait for each other
_SIZE = re.compile(r"([0-9]+\.?[0-9]*(?:e\+?[0-9]{1,2})?|\.[0-9]+) *(?:([kmgt])(i?))?b?", re.I)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def count_jobs(n_jobs: Any) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads.

    ``None`` is one thread, -1 all cores, -2 all but one. The answer never depends on it.

    >>> count_jobs(None), count_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InputError(f"n_jobs must be a non-zero integer or None, got {n_jobs!r}")
    wanted = int(n_jobs)
    if wanted > 0:
        return min(wanted, _MOST_THREADS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) + 1 + wanted)


def available_memory() -> int | None:
    """Bytes that can be had without swapping, or ``None`` where the system does not say.

    That is what is free on the machine, in the control groups that the process is in, and below
    the limit of its address space.
    """
    known = [n for n in (_free(), _free_in_groups(), _free_addresses()) if n is not None]
    return max(0, min(known)) if known else None


def _free() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _free_in_groups(proc: Path = Path("/proc/self/cgroup"), top: Path = _GROUPS) -> int | None:
    """Return what the tightest control group leaves, of its own limit and of those above it.

    Pages of files do not count: the system drops them when memory is asked for.
    """
    try:
        lines = proc.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    left = []
    for line in lines:
        _, controllers, name = (*line.split(":", 2), "", "")[:3]
        if controllers not in ("", "memory"):
            continue
        second = not controllers  # cgroup v2 has one hierarchy, v1 one for memory
        names = ("memory.max", "memory.current") if second else _FIRST_NAMES
        root = top if second else top / "memory"
        folder = root / name.lstrip("/")
        for group in (folder, *folder.parents):
            if group == top.parent or (not second and group == top):
                break
            numbers = [_number_in(group / file) for file in names]
            if numbers[0] is not None and numbers[1] is not None:
                left.append(numbers[0] - numbers[1] + _file_pages(group / "memory.stat"))
    return min(left) if left else None


def _number_in(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
        return int(text) if text.isdigit() and len(text) < 18 else None  # or "max"
    except (OSError, ValueError):
        return None


def _file_pages(path: Path) -> int:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return 0
    facts = dict(line.split(" ", 1) for line in lines if " " in line)
    return int(facts.get("inactive_file", facts.get("total_inactive_file", "0")))


def _free_addresses() -> int | None:
    if resource is None:
        return None
    limit: int = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return limit
    return limit - pages * int(resource.getpagesize())


def limit_memory(room: int | None) -> None:
    """Have this process take no more than so many bytes of memory, where it can be limited."""
    if resource is None or room is None:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = room + _RESERVED
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def check_fits(n_bytes: int, what: str, instead: str) -> None:
    """Refuse a result that would not fit in memory, before anything is allocated."""
    available = available_memory()
    if available is not None and n_bytes > available:
        raise InputError(
            f"{what} would take {human_bytes(n_bytes)}, but {human_bytes(available)} of memory "
            f"are available; {instead}"
        )


def human_bytes(n_bytes: float) -> str:
    """Write a number of bytes as people do.

    >>> human_bytes(512), human_bytes(25_300_000)
    ('512 B', '25.3 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} TB"


def parse_bytes(text: str, argument: str) -> int:
    """Return the number of bytes that a text such as 200MB, 2GiB or 1e9 means.

    >>> parse_bytes("25.3 MB", "limit"), parse_bytes("2GiB", "limit"), parse_bytes("1e9", "limit")
    (25300000, 2147483648, 1000000000)
    """
    match = _SIZE.fullmatch(text.strip())
    number, prefix, binary = match.groups("") if match else ("0", "", "")
    n_bytes = float(number) * (1024.0 if binary else 1000.0) ** _POWERS[prefix.lower()]
    if not 1 <= n_bytes < 2**62:
        raise InputError(f"{argument} must be a size such as 200MB, 2GiB or 1e9, got {text!r}")
    return round(n_bytes)


def check_int(value: Any, argument: str, least: int, most: int | None = None) -> int:
    """Return a whole number, or say that the argument must be one and how small it may be.

    >>> check_int(3, "leaf_size", 1)
    3
    >>> check_int(0, "n_columns", 1)
    Traceback (most recent call last):
    tacit.errors.InputError: n_columns must be a whole number of at least 1, got 0
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        number = int(value)
        if number >= least and (most is None or number <= most):
            return number
    allowed = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
    raise InputError(f"{argument} must be a whole number {allowed}, got {value!r}")
