"""Utilization of CPUs from the columns that sar, iostat, vmstat and kSar share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sizeup.errors import MalformedError
from sizeup.importers.intervals import number

IDLE = ("idle", "iowait", "steal", "id", "wa", "st")
"""Without a per cent sign. Nothing of the workload ran in the first two; the host's other guests ran in the third."""
_WIDEST = 101.0
"""Columns are rounded on their own, in vmstat to whole per cent."""


def utilization(cells: Mapping[str, object], where: str) -> float:
    """Return the busy share of all CPUs of one interval: what is neither idle, nor waiting for I/O, nor stolen."""
    percents = {name.lstrip("%"): number(cells, name, where) for name in cells if name.lstrip("%") in IDLE}
    if not {"idle", "id"} & percents.keys():
        raise MalformedError(f"{where}: expected a column %idle, found {', '.join(map(str, cells))}")
    unused = sum(percents.values())
    if unused > _WIDEST:
        raise MalformedError(f"{where}: expected idle, waiting and stolen time of at most 100 %, found {unused:g} %")
    return max(1 - unused / 100, 0.0)


def figure(cell: str) -> float | str:
    """Return a cell as a number, with a point or a comma before its decimals; the cell itself where it is none."""
    if cell[:1] not in _DIGITS:
        return cell
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return cell


_DIGITS = frozenset("0123456789.,")


def row(header: Iterable[str], cells: Iterable[str]) -> dict[str, object]:
    """Return the cells by the names of their columns."""
    return {name: figure(cell) for name, cell in zip(header, cells, strict=True)}
