"""Reads the session files of a fleet; what cannot be read is reported per file and never fails the whole."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from sizeup.errors import SizeupError, UsageError
from sizeup.fleet.host_session import HostSession, read_host_session
from sizeup.session.store import SUFFIX

PARQUET = ".parquet"
SUFFIXES = (SUFFIX, f"{SUFFIX}.gz", PARQUET)


class FileProblem(Struct, frozen=True):
    """A file that could not be read, or only in part."""

    path: str
    problem: str
    read: bool = False
    """Whether the rest of it was used."""


class FleetFiles(Struct, frozen=True):
    """What the files of a fleet contain."""

    sessions: tuple[HostSession, ...]
    problems: tuple[FileProblem, ...]


def fleet_paths(arguments: Sequence[str]) -> list[str]:
    """Return the session files that arguments name: files, patterns, and directories with all below them."""
    found: dict[str, None] = {}
    for argument in arguments:
        named = [argument]
        if not os.path.exists(argument):
            if not glob.has_magic(argument):
                problem = "no such file or directory; name session files or a directory that has some"
                raise UsageError(f"{argument}: {problem}")
            named = sorted(glob.glob(argument, recursive=True))
        paths = [path for name in named for path in (_below(name) if os.path.isdir(name) else (name,))]
        if not paths:
            raise UsageError(
                f"{argument}: expected session files (*{SUFFIX}, *{SUFFIX}.gz) or Parquet of a fleet (*{PARQUET}), "
                "found none"
            )
        found.update(dict.fromkeys(paths))
    return list(found)


def _below(folder: str) -> Iterator[str]:
    def refused(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot list this directory: {error.strerror}") from error

    for where, folders, names in os.walk(folder, onerror=refused):
        folders.sort()
        yield from (os.path.join(where, name) for name in sorted(names) if name.endswith(SUFFIXES))


def read_fleet(paths: Iterable[str]) -> FleetFiles:
    """Read one file after the other, so that memory holds the samples of at most one session."""
    sessions, problems = [], []
    for path in paths:
        try:
            if path.endswith(PARQUET):
                from sizeup.fleet.parquet import read_parquet

                found = read_parquet(path)
            else:
                found = [read_host_session(path)]
        except SizeupError as error:
            problems.append(FileProblem(path, str(error).removeprefix(f"{path}: ")))
            continue
        except OSError as error:
            problems.append(FileProblem(path, error.strerror or str(error)))
            continue
        sessions += found
        problems += (FileProblem(one.path, sentence, read=True) for one in found for sentence in one.damage)
    return FleetFiles(tuple(sessions), tuple(problems))
