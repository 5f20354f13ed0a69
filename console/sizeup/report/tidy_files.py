"""A table of estimates as CSV, and as Parquet, which DuckDB writes."""

from __future__ import annotations

import codecs
import csv
import importlib
import os
import shutil
from typing import Any, BinaryIO

from sizeup import files
from sizeup.errors import UsageError
from sizeup.report.data import inert
from sizeup.report.tidy import Cell, TidyTable


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
        rows, parquet = os.path.join(folder, "rows.csv"), os.path.join(folder, "rows.parquet")
        files.write(rows, lambda out: _write_plain(table, out))
        with duckdb.connect(config={"threads": 2, "autoinstall_known_extensions": False}) as connection:
            relation = connection.read_csv(
                rows,
                auto_detect=False,
                header=True,
                delimiter=",",
                quotechar='"',
                escapechar='"',
                na_values="",
                allow_quoted_nulls=False,
                parallel=False,
                columns=dict(table.types),
            )
            relation.write_parquet(parquet, compression="zstd")
        with open(parquet, "rb") as written:
            shutil.copyfileobj(written, file)


def import_duckdb() -> Any:
    """Return the module that writes Parquet; raise ``UsageError`` if it is not installed."""
    try:
        return importlib.import_module("duckdb")  # an extra, whose types need not be there
    except ImportError as error:
        raise UsageError(
            "Parquet needs DuckDB, which is not installed; install it with: pip install 'sizeup[fleet]', "
            "or write CSV with --tidy csv"
        ) from error


def _write_plain(table: TidyTable, file: BinaryIO) -> None:
    """Write the table for DuckDB: every text in quotes, so that an empty one is not taken for an unknown one."""
    text = codecs.getwriter("utf-8")(file, "replace")
    text.write(",".join(f'"{name}"' for name in table.types) + "\n")
    for cells in table.cells():
        text.write(",".join(map(_plain, cells)) + "\n")


def _plain(cell: Cell) -> str:
    if isinstance(cell, str):
        doubled = cell.replace('"', '""')
        return f'"{doubled}"'
    return "" if cell is None else repr(cell)
