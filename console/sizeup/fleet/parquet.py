"""Figures of a fleet as Parquet, a row for each figure of each session, and back; the only module that needs DuckDB.

Parquet keeps what a fleet needs of a session in a hundredth of its size. Written in partitions
(``day=2026-03-01/product=PowerEdge R650/``), it is read by every engine, and parts of several servers that collect
sessions can lie in one directory.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct

from sizeup import files
from sizeup.decoding import convert, json_decoder
from sizeup.errors import RefusedError, UsageError
from sizeup.fleet.host_session import HostFigure, HostFinding, HostSession, SynchronizedStart
from sizeup.report import output
from sizeup.report.tidy import insert_rows
from sizeup.text import clean

if TYPE_CHECKING:
    import duckdb

_MEMORY = "400MB"
_FINDINGS = json_decoder(tuple[HostFinding, ...])
_SESSION = {
    "session_path": "path", "session_id": "id", "host": "host", "started": "started", "started_epoch": "when",
    "tool": "tool", "model": "model", "cpu_model": "cpu_model", "sockets": "sockets", "cores": "cores",
    "memory_bytes": "memory_bytes", "machine_zlib": "packed_machine", "run_grade": "grade", "run_cause": "cause",
    "run_sentence": "sentence",
}  # fmt: skip
"""Columns of a session, by the fields of ``HostSession``; its machine is null in all of its rows but the first."""
_START = {
    "start_at": "at", "start_delay_ns": "delay_ns", "clock_synchronized": "clock_synchronized",
    "start_refused": "refused",
}  # fmt: skip
_FIGURE = {
    "card": "card", "figure": "name", "title": "title", "unit": "unit", "better": "better", "value": "value",
    "low": "value", "high": "value", "workload": "workload", "measured_epoch": "when", "invalid": "invalid",
    "not_converged": "scatter", "distribution": "distribution",
}  # fmt: skip
"""Columns of a figure, all null in the one row of a session without figures; ``low`` and ``high`` of its interval."""
_SQL = {
    "str": "VARCHAR", "bytes": "VARCHAR", "Better": "VARCHAR", "float": "DOUBLE", "int": "BIGINT", "bool": "BOOLEAN",
}  # fmt: skip


_TEXTS = {"damage": "VARCHAR", "findings": "VARCHAR"}
"""Sentences, and as JSON id, severity and title of each."""
_KINDS = ((_SESSION, HostSession), (_START, SynchronizedStart), (_TEXTS, None), (_FIGURE, HostFigure))
_COLUMNS = {
    column: name if kind is None else _SQL[kind.__annotations__[name].partition(" ")[0]]
    for columns, kind in _KINDS
    for column, name in columns.items()
}


def write_parquet(sessions: Sequence[HostSession], path: str, *, partitioned: bool) -> None:
    """Write one file, or with ``partitioned`` a directory of partitions, complete or not at all."""
    with _connection() as connection:
        insert_rows(connection, _COLUMNS, _rows(sessions))
        _copy(connection, path, partitioned=partitioned)


def _copy(connection: duckdb.DuckDBPyConnection, path: str, *, partitioned: bool) -> None:
    """Let DuckDB write into a private directory beside the target, and move the complete files from there."""
    if partitioned and os.path.exists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise UsageError(f"{path}: expected an empty or new directory for --partition, found files; choose another")
    target = os.path.abspath(path)
    scratch = files.free_path(os.path.dirname(target), f".{os.path.basename(target)}", ".writing")
    try:
        files.make_directory(scratch)
        made = os.path.join(scratch, "rows")
        chosen = "*" if not partitioned else (
            "*, coalesce(nullif(started[:10], ''), 'unknown') AS day, coalesce(nullif(model, ''), 'unknown') AS product"
        )  # fmt: skip
        options = "FORMAT parquet, COMPRESSION zstd" + (", PARTITION_BY (day, product)" if partitioned else "")
        quoted = made.replace("'", "''")
        query = f"SELECT {chosen} FROM rows ORDER BY host, started, session_path, machine_zlib IS NULL"  # noqa: S608
        connection.execute(f"COPY ({query}) TO '{quoted}' ({options})")
        below = [os.path.join(where, name) for where, _, names in os.walk(made) for name in names]
        for source in below if partitioned else [made]:
            destination = os.path.join(path, os.path.relpath(source, made)) if partitioned else path
            if partitioned:
                files.make_directory(os.path.dirname(destination))
            with open(source, "rb") as file:
                output.write(destination, partial(shutil.copyfileobj, file), advice="")
    except OSError as error:
        raise UsageError(f"{path}: cannot write: {error.strerror or error}; choose another path") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def read_parquet(path: str) -> list[HostSession]:
    """Return the sessions in a Parquet file that ``write_parquet`` wrote; raises ``UsageError`` for another."""
    names, wanted = ", ".join(_COLUMNS), f"{path}: expected Parquet of sizeup fleet --parquet, found "
    with _connection() as connection:
        import duckdb

        try:
            found = connection.execute(
                f"SELECT {names} FROM read_parquet(?, hive_partitioning = false) "  # noqa: S608
                "ORDER BY session_path, session_id, machine_zlib IS NULL, figure",
                [path],
            ).fetchall()
        except duckdb.Error as error:
            raise UsageError(f"{wanted}{str(error).splitlines()[0]}") from error
    # Without characters that steer a terminal; line feeds are kept, as they separate sentences.
    cleaned = ([clean(cell) if isinstance(cell, str) else cell for cell in row] for row in found)
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in cleaned]
    try:
        return [_session(list(each)) for _, each in groupby(rows, lambda row: (row["session_path"], row["session_id"]))]
    except (msgspec.MsgspecError, ValueError) as error:
        raise UsageError(f"{wanted}{error}") from error


@contextlib.contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that loads nothing from the network."""
    if importlib.util.find_spec("duckdb") is None:
        raise RefusedError("Parquet needs DuckDB, which is not installed; install it with: pip install 'sizeup[fleet]'")
    import duckdb

    off = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(config={**off, "memory_limit": _MEMORY}) as connection:
        yield connection


def _rows(sessions: Iterable[HostSession]) -> Iterator[dict[str, Any]]:
    for session in sessions:
        lists = {"damage": "\n".join(session.damage), "findings": msgspec.json.encode(session.findings).decode()}
        about = _cells(_SESSION, session) | _cells(_START, session.start) | lists
        about["machine_zlib"] = session.packed_machine or None
        for figure in session.figures or (None,):
            low, high = (figure and figure.interval) or (None, None)
            yield about | _cells(_FIGURE, figure) | {"low": low, "high": high}
            about["machine_zlib"] = None


def _cells(columns: Mapping[str, str], value: Struct | None) -> dict[str, Any]:
    return {column: None if value is None else getattr(value, name) for column, name in columns.items()}


def _session(rows: Sequence[Mapping[str, Any]]) -> HostSession:
    row, figures = rows[0], []
    damage, findings = convert((row["damage"], row["findings"]), tuple[str, str])
    for each in rows:
        if each["figure"] is not None:
            interval = None if each["low"] is None or each["high"] is None else (each["low"], each["high"])
            about = {"interval": interval, "path": each["session_path"], "started": each["started"]}
            figures.append(_fields(_FIGURE, each) | about)
    found = _fields(_SESSION, row) | {
        "damage": tuple(filter(None, damage.split("\n"))),
        "findings": _FINDINGS.decode(findings),
        "figures": figures,
        "packed_machine": row["machine_zlib"] or "",
        "start": None if row["start_at"] is None else _fields(_START, row),
    }
    return cast("HostSession", convert(found, HostSession))


def _fields(columns: Mapping[str, str], row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[column] for column, name in columns.items() if column not in ("low", "high")}
