"""Figures of a fleet as Parquet, a row for each figure of each session, and back; the only module that needs DuckDB.

Parquet keeps what a fleet needs of a session in a hundredth of its size. Written in partitions
(``day=2026-03-01/product=PowerEdge R650/``), it is read by every engine, and parts of several servers that collect
sessions can lie in one directory.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sizeup import files
from sizeup.decoding import convert, json_decoder
from sizeup.errors import RefusedError, UsageError
from sizeup.fleet.host_session import HostFigure, HostFinding, HostSession, SynchronizedStart
from sizeup.model.plan import Better
from sizeup.report import output
from sizeup.report.tidy import insert_rows
from sizeup.text import clean

if TYPE_CHECKING:
    import duckdb

_MEMORY = "400MB"
_FINDINGS = json_decoder(tuple[HostFinding, ...])


class ParquetRow(Struct):
    """One figure of one session; without figures a session has one row whose ``figure`` is null."""

    session_path: str
    session_id: str
    host: str
    started: str
    started_epoch: float | None
    tool: str
    model: str
    cpu_model: str
    sockets: int | None
    cores: int | None
    memory_bytes: int | None
    machine_zlib: str | None
    """What discovery found: JSON, packed by zlib; in the first row of a session, null in the others."""
    run_grade: str
    run_cause: str
    run_sentence: str
    start_at: float | None
    start_delay_ns: int | None
    clock_synchronized: bool | None
    start_refused: str | None
    damage: str
    findings: str
    """JSON: id, severity and title of each."""
    card: str | None = None
    figure: str | None = None
    title: str | None = None
    unit: str | None = None
    better: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    workload: str | None = None
    measured_epoch: float | None = None
    invalid: str | None = None
    not_converged: bool | None = None
    distribution: str | None = None


_TYPES = {"str": "VARCHAR", "float": "DOUBLE", "int": "BIGINT", "bool": "BOOLEAN"}
_COLUMNS = {name: _TYPES[kind.partition(" ")[0]] for name, kind in ParquetRow.__annotations__.items()}


def write_parquet(sessions: Sequence[HostSession], path: str, *, partitioned: bool) -> None:
    """Write one file, or with ``partitioned`` a directory of partitions, complete or not at all."""
    with _connection() as connection:
        insert_rows(connection, _COLUMNS, _rows(sessions))
        _copy(connection, path, partitioned=partitioned)


def _copy(connection: duckdb.DuckDBPyConnection, path: str, *, partitioned: bool) -> None:
    """Let DuckDB write into a private directory beside the target, and move the complete files from there."""
    if partitioned and os.path.exists(path) and not (os.path.isdir(path) and not os.listdir(path)):
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
        for source, name in _made_files(made):
            destination = os.path.join(path, name) if partitioned else path
            if partitioned:
                files.make_directory(os.path.dirname(destination))
            with open(source, "rb") as file:
                output.write(destination, partial(shutil.copyfileobj, file), advice="")
    except OSError as error:
        raise UsageError(f"{path}: cannot write: {error.strerror or error}; choose another path") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _made_files(made: str) -> Iterator[tuple[str, str]]:
    if not os.path.isdir(made):
        yield made, ""
    for where, _, names in os.walk(made):
        yield from ((os.path.join(where, name), os.path.relpath(os.path.join(where, name), made)) for name in names)


def read_parquet(path: str) -> list[HostSession]:
    """Return the sessions in a Parquet file that ``write_parquet`` wrote; raises ``UsageError`` for another."""
    names = ", ".join(_COLUMNS)
    with _connection() as connection:
        import duckdb

        try:
            found = connection.execute(
                f"SELECT {names} FROM read_parquet(?, hive_partitioning = false) "  # noqa: S608
                "ORDER BY session_path, session_id, machine_zlib IS NULL, figure",
                [path],
            ).fetchall()
        except duckdb.Error as error:
            raise UsageError(
                f"{path}: expected Parquet of sizeup fleet --parquet, found {str(error).splitlines()[0]}"
            ) from error
    try:
        cells = ((_cleaned(cell) for cell in row) for row in found)
        rows = convert([dict(zip(_COLUMNS, row, strict=True)) for row in cells], list[ParquetRow])
        return [_session(list(each)) for _, each in groupby(rows, lambda row: (row.session_path, row.session_id))]
    except (msgspec.MsgspecError, ValueError) as error:
        raise UsageError(f"{path}: expected Parquet of sizeup fleet --parquet, found {error}") from error


@contextlib.contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that loads nothing from the network."""
    if importlib.util.find_spec("duckdb") is None:
        raise RefusedError("Parquet needs DuckDB, which is not installed; install it with: pip install 'sizeup[fleet]'")
    import duckdb

    off = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(config={**off, "memory_limit": _MEMORY}) as connection:
        yield connection


def _cleaned(cell: object) -> object:
    """Return a cell without characters that steer a terminal; line feeds are kept, as they separate sentences."""
    return "\n".join(map(clean, cell.split("\n"))) if isinstance(cell, str) else cell


def _rows(sessions: Iterable[HostSession]) -> Iterator[ParquetRow]:
    for session in sessions:
        about = _about(session)
        for number, figure in enumerate(session.figures):
            low, high = figure.interval or (None, None)
            yield replace(
                about, machine_zlib=None if number else about.machine_zlib, card=figure.card, figure=figure.name,
                title=figure.title, unit=figure.unit, better=figure.better.value, value=figure.value, low=low,
                high=high, workload=figure.workload, measured_epoch=figure.when, invalid=figure.invalid,
                not_converged=figure.scatter, distribution=figure.distribution,
            )  # fmt: skip
        if not session.figures:
            yield about


def _about(session: HostSession) -> ParquetRow:
    start = session.start
    at, delay_ns, synchronized, refused = (None,) * 4 if start is None else msgspec.structs.astuple(start)
    return ParquetRow(
        session.path, session.id, session.host, session.started, session.when, session.tool, session.model,
        session.cpu_model, session.sockets, session.cores, session.memory_bytes,
        base64.b64encode(session.packed_machine).decode() or None,
        session.grade, session.cause, session.sentence, at, delay_ns, synchronized, refused,
        "\n".join(session.damage), msgspec.json.encode(session.findings).decode(),
    )  # fmt: skip


def _session(rows: Sequence[ParquetRow]) -> HostSession:
    row = rows[0]
    start = None
    if row.start_at is not None:
        start = SynchronizedStart(row.start_at, row.start_delay_ns, row.clock_synchronized, row.start_refused or "")
    return HostSession(
        row.session_path, row.session_id, row.host, row.started, row.started_epoch, row.tool, row.model, row.cpu_model,
        row.sockets, row.cores, row.memory_bytes, base64.b64decode(row.machine_zlib or "", validate=True),
        row.run_grade, row.run_cause, row.run_sentence,
        tuple(_figure(each) for each in rows if each.figure is not None),
        tuple(filter(None, row.damage.split("\n"))),
        start,
        _FINDINGS.decode(row.findings),
    )  # fmt: skip


def _figure(row: ParquetRow) -> HostFigure:
    interval = None if row.low is None or row.high is None else (row.low, row.high)
    return HostFigure(
        row.card or "", row.figure or "", row.title or "", row.unit or "", Better(row.better), row.value or 0.0,
        row.workload or "", row.measured_epoch, row.invalid or "", bool(row.not_converged), interval,
        row.distribution or "", row.session_path, row.started,
    )  # fmt: skip
