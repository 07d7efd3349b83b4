"""Files that commands write: checked before work begins, written when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from tacit.cli.output import working
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import polars as pl

__all__ = ["FRAMES", "check_ending", "check_target", "write_frame", "write_frames"]

FRAMES = (".parquet", ".csv", ".tsv", ".arrow", ".ipc", ".feather")


def check_ending(path: Path | None, option: str, endings: tuple[str, ...]) -> None:
    """Refuse a name that does not say how to write the file."""
    if path is not None and path.suffix.lower() not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}" if endings[1:] else endings[0]
        raise typer.BadParameter(f"{str(path)!r} must end in {known}", param_hint=option)


def check_target(path: Path | None, option: str, endings: tuple[str, ...], *inputs: Path) -> None:
    """Refuse what cannot be written in the end, or would destroy an input, before work begins."""
    check_ending(path, option, endings)
    if path is None:
        return
    if not path.parent.is_dir():
        raise InputError(f"{option}: the folder {str(path.parent)!r} does not exist")
    if path.is_dir():
        raise InputError(f"{option}: {str(path)!r} is a folder")
    if any(path.exists() and given.exists() and path.samefile(given) for given in inputs):
        raise InputError(f"{option}: {str(path)!r} is what is read; it would be lost")


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as the end of the name says."""
    with working(f"writing {path}"):
        match path.suffix.lower():
            case ".csv":
                frame.write_csv(path)
            case ".tsv":
                frame.write_csv(path, separator="\t")
            case ".parquet":
                frame.write_parquet(path)
            case _:
                frame.write_ipc(path)


def write_frames(frames: Iterable[pl.DataFrame], path: Path | None) -> int:
    """Write frames one behind another, or print them as CSV as they come; return their length."""
    total, kept = 0, []
    for frame in frames:
        if path is None:
            typer.echo(frame.write_csv(include_header=not total), nl=False)
        else:
            kept.append(frame)
        total += frame.height
    if path is not None:
        import polars as pl

        write_frame(pl.concat(kept), path)
    return total
