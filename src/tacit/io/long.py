"""Logs in files: which columns say what, and what items are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import InputError, no_column
from tacit.io.opening import naming
from tacit.machine import count_jobs
from tacit.table import Table
from tacit.table.long import encode_long
from tacit.table.long_pairs import LongOptions

if TYPE_CHECKING:
    from tacit.io.opening import PathLike

__all__ = ["LONG_OPTIONS", "long_options", "read_long"]

_ROLES = ("record", "item", "value", "weight")
LONG_OPTIONS = ("duplicates", "min_count", "min_items", "missing", "names", "weights")


def long_options(
    long: Any, options: Mapping[str, Any], read_frame: Callable[..., pl.DataFrame]
) -> LongOptions:
    """Return how a log is to be read: its columns, and those of the options that are about it.

    `read_frame` reads columns of a file that has the names of items.
    """
    given: dict[str, Any] = {"weight": options.get("weights"), **_roles(long)}
    if given["weight"] is not None and not isinstance(given["weight"], str):
        raise InputError("weights: give the name of the column that holds them")
    about = {name: options[name] for name in LONG_OPTIONS[:4] if name in options}
    names = options.get("names")
    return LongOptions(
        **given, **about, names=None if names is None else _item_names(names, read_frame)
    )


def _roles(long: Any) -> dict[str, str]:
    """Return which column is what: of two or three names, or a mapping of roles to names."""
    if isinstance(long, Mapping):
        for role in long:
            if role not in _ROLES:
                raise InputError(f"long: {role!r} is none of {', '.join(_ROLES)}")
        for role in _ROLES[:2]:
            if role not in long:
                raise InputError(f"long: it does not say which column is the {role}")
        return dict(long)
    if (
        isinstance(long, str)
        or not isinstance(long, Sequence)
        or len(long) not in (2, 3)
        or not all(isinstance(name, str) for name in long)
    ):
        raise InputError(
            "long must be the columns of records and items, and perhaps of values, such as "
            f"('userId', 'movieId'); got {long!r}"
        )
    return dict(zip(_ROLES, long, strict=False))


def _item_names(names: Any, read_frame: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    """Return what items are called, by what they are as text."""
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != 3:
        raise InputError(
            "names must be a file, or a frame, and its columns of items and of their names, such "
            f"as ('movies.csv', 'movieId', 'title'); got {names!r}"
        )
    source, item, name = names
    if isinstance(source, pl.DataFrame):
        for column in (item, name):
            if column not in source.columns:
                raise no_column("names", column, source.columns)
        frame = source.select(item, name)
    else:
        frame = read_frame(source, columns=[item, name], argument="names")
    with naming("names" if isinstance(source, pl.DataFrame) else source):
        known = frame.select(
            pl.col(item).cast(pl.String).alias("item"), pl.col(name).cast(pl.String).alias("name")
        ).drop_nulls()
        twice = known.unique().filter(pl.col("item").is_duplicated())
        if twice.height:
            raise InputError(f"names: the item {twice.item(0, 0)!r} has several names")
    return known.unique(subset="item", maintain_order=True)


def read_long(
    path: PathLike, read: Callable[..., pl.DataFrame], options: LongOptions, n_jobs: int | None
) -> Table:
    """Read a log into a Table; `read` gives some columns of the file."""
    frame = read(path, columns=options.columns, argument="long")
    with naming(path):
        return Table._of(encode_long(frame, options, count_jobs(n_jobs)))
