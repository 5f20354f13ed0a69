"""The options that state inputs of sizing, and the workload files that they name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sizeup.input_file import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizeup.sizing.input_value import Value

TEXT_LIMIT = 64 << 20
"""Bytes read of one file; a week of sar -d at one second is less."""
PERCENTILE = 95.0
"""Percentile of the workload's intervals to size for, unless another is chosen."""


def add_sizing_inputs(parser: argparse.ArgumentParser, *, settings: str, workload: str) -> None:
    """Declare --set and --workload with their help; both may be repeated."""
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="extend", nargs="+", default=[], dest="settings", help=settings
    )
    parser.add_argument(
        "--workload",
        metavar="FILE",
        action="extend",
        nargs="+",
        default=[],
        help=f"{workload} AWR or Statspack reports (text, HTML), sar, iostat, vmstat, kSar's CSV, or TOML",
    )


def read_workload_files(
    names: Sequence[str], percentile: float = PERCENTILE, devices: tuple[str, ...] = (), cores: int | None = None
) -> dict[str, Value]:
    """Return the inputs that reports of other tools state."""
    from sizeup.sizing.inputs.imported import WorkloadFile, read_workload

    sources = tuple(WorkloadFile(name, read_text(name, "a workload file", TEXT_LIMIT)) for name in names)
    return read_workload(sources, percentile, devices, cores)
