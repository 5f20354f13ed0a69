"""The estimates of sessions as one table, written as CSV or by DuckDB as Parquet: a row each, a column a variable."""

from __future__ import annotations

import codecs
import csv
import importlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from sizeup import files
from sizeup.errors import MalformedError, UsageError
from sizeup.report.data import inert
from sizeup.session.reader import read_session
from sizeup.session.records import AnyRecord, EstimateRecord
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point, PointKey, Session, StepRun, point_key

VALID, NOT_VALID = "valid", "not valid"
_BATCH = 100
"""Rows that are handed to DuckDB at once; of 2,000 the memory of 500 sessions is 340 MB instead of 110."""
Cell = str | int | float | None


class TidyRow(Struct, frozen=True):
    """One estimate; None for what is unknown."""

    host: str
    machine_type: str | None
    """The instance type of a cloud, else the model that the firmware states and the CPU."""
    session: str
    time: datetime | None
    """When it was estimated, UTC without a zone."""
    probe: str
    step: str
    run: int
    """Which repetition of the step in the session, from 1."""
    series: str
    quantity: str | None
    unit: str | None
    better: str | None
    value: float
    low: float | None
    high: float | None
    status: str
    reason: str | None
    at: Mapping[str, str | int | float]


_NOT_TEXT = {"time": "TIMESTAMP", "run": "BIGINT", "value": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE"}
FIXED: Mapping[str, str] = {name: _NOT_TEXT.get(name, "VARCHAR") for name in TidyRow.__struct_fields__[:-1]}
"""The columns that every table has, with their SQL types."""


class TidyTable(Struct, frozen=True):
    """The rows of one or several sessions, and the columns that their coordinates need."""

    rows: tuple[TidyRow, ...]
    coordinates: Mapping[str, str]
    """The column of each coordinate."""
    types: Mapping[str, str]
    """The SQL type of each column, in the order of the columns."""

    def cells(self) -> Iterator[list[Cell]]:
        """Yield the cells of each row, in the order of the columns."""
        for row in self.rows:
            time = None if row.time is None else row.time.isoformat(timespec="milliseconds")
            fixed = [time if name == "time" else getattr(row, name) for name in FIXED]
            yield [*fixed, *(row.at.get(key) for key in self.coordinates)]


def read_table(paths: Iterable[str]) -> TidyTable:
    """Return one table of the estimates of all these sessions; raise ``MalformedError`` if none has any."""
    rows = [row for path in paths for row in session_rows(*read_timed(path))]
    if not rows:
        raise MalformedError(
            "no session has an estimate: expected at least one step with results; see: sizeup session show"
        )
    names = column_names(sorted({key for row in rows for key in row.at}))
    kinds: dict[str, set[str]] = {key: set() for key in names}
    for row in rows:
        for key, value in row.at.items():
            kinds[key].add({str: "VARCHAR", int: "BIGINT", float: "DOUBLE"}[type(value)])
    widest = ("VARCHAR", "DOUBLE", "BIGINT")  # each holds the values of those behind it
    types = {**FIXED, **{column: next(kind for kind in widest if kind in kinds[key]) for key, column in names.items()}}
    return TidyTable(tuple(rows), names, types)


def column_names(coordinates: Sequence[str]) -> dict[str, str]:
    """Return a name for each coordinate that SQL and OpenMetrics take without quotes, such as ``at_block_bytes``."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for key in coordinates:
        plain = "at_" + re.sub(r"[^A-Za-z0-9_]", "_", key)
        name, number = plain, 2
        while name.lower() in taken:
            name, number = f"{plain}_{number}", number + 1
        taken.add(name.lower())
        names[key] = name
    return names


def read_timed(path: str) -> tuple[Session, Mapping[tuple[str, PointKey], int]]:
    """Return a session, and when each of its estimates was made, in nanoseconds since its start."""
    times: dict[tuple[str, PointKey], int] = {}

    def note(record: AnyRecord) -> None:
        if isinstance(record, EstimateRecord):
            estimate = record.estimate
            times[record.step, point_key(estimate.series, estimate.at)] = record.t_ns

    return read_session(path, note), times


def session_rows(session: Session, times: Mapping[tuple[str, PointKey], int]) -> Iterator[TidyRow]:
    """Yield a row for each estimate; a point without one gives the median of its samples."""
    machine, machine_type = session.machine, None
    if machine is not None:
        cloud, parts = machine.platform.cloud, (machine.platform.model, machine.cpu_model)
        machine_type = (cloud and cloud.instance_type) or ", ".join(filter(None, parts)) or None
    for run in session.steps.values():
        validity, number = StepValidity(run), run.step.id.partition("~")[2]
        repetition = int(number) if number.isdecimal() and len(number) < 10 else 1
        for key, point in run.points.items():
            if point.value is None:
                continue
            invalid = validity.of(point)
            reason = None if invalid is None else invalid.clause
            t_ns = times.get((run.step.id, key), run.ended_ns or run.started_ns)
            series = run.series.get(point.series)
            for quantity, value, low, high in _figures(run, point):
                yield TidyRow(
                    session.header.host,
                    machine_type,
                    session.header.id,
                    _moment(session.header.started, t_ns),
                    run.step.probe,
                    run.base_id,
                    repetition,
                    point.series,
                    quantity,
                    None if series is None else series.unit,
                    None if series is None else series.better.value,
                    value,
                    low,
                    high,
                    VALID if invalid is None else NOT_VALID,
                    reason,
                    point.at,
                )


def _figures(run: StepRun, point: Point) -> Iterator[tuple[str | None, float, float | None, float | None]]:
    """Yield the estimate, and beside it the figure that its quantity means if that is another one."""
    declared, estimate = run.quantity(point), point.estimate
    assert point.value is not None
    low, high = (None, None) if estimate is None else (estimate.low, estimate.high)
    if declared is None or not declared.extra:
        yield None if declared is None else declared.name, point.value, low, high
        return
    yield None, point.value, low, high
    meant = None if estimate is None else estimate.extra.get(declared.extra)
    if isinstance(meant, int | float):
        yield declared.name, float(meant), None, None


def _moment(started: str, t_ns: int) -> datetime | None:
    try:
        start = datetime.fromisoformat(started)
        aware = start if start.tzinfo is not None else start.replace(tzinfo=UTC)
        return (aware + timedelta(microseconds=t_ns // 1000)).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def write_tidy_csv(table: TidyTable, file: BinaryIO) -> None:
    """Write a line for each estimate; empty for what is unknown, times in UTC with a ``Z``."""
    writer = csv.writer(codecs.getwriter("utf-8")(file, "replace"), lineterminator="\n")
    writer.writerow(table.types)
    time = list(table.types).index("time")
    for cells in table.cells():
        cells[time] = None if cells[time] is None else f"{cells[time]}Z"
        writer.writerow("" if cell is None else inert(cell) for cell in cells)


def write_tidy_parquet(table: TidyTable, file: BinaryIO) -> None:
    """Write a Parquet file with a type for each column."""
    duckdb = import_duckdb()
    with files.temporary_directory() as folder:
        parquet = os.path.join(folder, "rows.parquet")
        with duckdb.connect(config={"threads": 2, "autoinstall_known_extensions": False}) as connection:
            insert_rows(
                connection, table.types, (dict(zip(table.types, cells, strict=True)) for cells in table.cells())
            )
            connection.table("rows").write_parquet(parquet, compression="zstd")
        with open(parquet, "rb") as written:
            shutil.copyfileobj(written, file)


def insert_rows(connection: Any, types: Mapping[str, str], rows: Iterator[Any]) -> None:
    """Make the table ``rows`` of a database; ``types`` are the SQL types of its columns."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
    connection.execute(f"CREATE TABLE rows ({columns})")
    shape = msgspec.json.encode([types]).decode()
    insert = f"INSERT INTO rows SELECT unnest(from_json(?, '{shape}'), recursive := true)"
    while batch := list(islice(rows, _BATCH)):
        connection.execute(insert, [msgspec.json.encode(batch).decode()])


def import_duckdb() -> Any:
    """Return the module that writes Parquet; raise ``UsageError`` if it is not installed."""
    try:
        return importlib.import_module("duckdb")  # an extra, whose types need not be there
    except ImportError as error:
        raise UsageError(
            "Parquet needs DuckDB, which is not installed; install it with: pip install 'sizeup[fleet]', "
            "or write CSV with --format tidy-csv"
        ) from error
