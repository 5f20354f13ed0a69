"""The columns that sar, iostat, vmstat and kSar share: a row of figures, one disk, the utilization of CPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sizeup.errors import MalformedError
from sizeup.importers.intervals import Disk, number

IDLE = ("idle", "iowait", "steal", "id", "wa", "st")
"""Without a per cent sign. Nothing of the workload ran in the first two; the host's other guests ran in the third."""
_WIDEST = 101.0
"""Columns are rounded on their own, in vmstat to whole per cent."""
_DIGITS = frozenset("0123456789.,")
_REQUESTS = (("r/s", "w/s"), ("rtps", "wtps"))
"""Columns of reads and writes, where they are counted separately; else ``tps``."""
_MOVED = {
    ("rkB/s", "wkB/s"): 1024.0,
    ("kB_read/s", "kB_wrtn/s"): 1024.0,
    ("rMB/s", "wMB/s"): 1048576.0,
    ("MB_read/s", "MB_wrtn/s"): 1048576.0,
    ("rsec/s", "wsec/s"): 512.0,
    ("rd_sec/s", "wr_sec/s"): 512.0,
    ("bread/s", "bwrtn/s"): 512.0,
    ("Blk_read/s", "Blk_wrtn/s"): 512.0,
}
"""Columns of what was read and written, and the bytes of their unit: sysstat divides sectors of 512 bytes by 2 and by
2,048; without a unit (POSIXLY_CORRECT) it prints the sectors."""


def row(header: Sequence[str], cells: Sequence[str], where: str) -> dict[str, object]:
    """Return the cells by the names of their columns; raise ``MalformedError`` for another number of them."""
    if len(cells) != len(header):
        raise MalformedError(f"{where}: expected {len(header)} columns, found {len(cells)}")
    return {name: _figure(cell, where) for name, cell in zip(header, cells, strict=True)}


def _figure(cell: str, where: str) -> float | str:
    """Return a cell as a number, with a point or a comma before its decimals; the cell itself where it is none."""
    if cell[:1] not in _DIGITS:
        return cell
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        if re.fullmatch(r"[\d.,]+[kMGTPE]", cell):
            raise MalformedError(f"{where}: expected plain figures, found {cell!r}; run it without --human") from None
        return _figure(cell[:-1], where) if cell.endswith("%") else cell


def utilization(cells: Mapping[str, object], where: str) -> float:
    """Return the busy share of all CPUs of one interval: what is neither idle, nor waiting for I/O, nor stolen."""
    percents = {name.lstrip("%"): number(cells, name, where) for name in cells if name.lstrip("%") in IDLE}
    if not {"idle", "id"} & percents.keys():
        raise MalformedError(f"{where}: expected a column %idle, found {', '.join(map(str, cells))}")
    unused = sum(percents.values())
    if unused > _WIDEST:
        raise MalformedError(f"{where}: expected idle, waiting and stolen time of at most 100 %, found {unused:g} %")
    return max(1 - unused / 100, 0.0)


def disk(cells: Mapping[str, object], name: str, where: str, advice: str) -> Disk:
    """Return one disk of one interval; ``advice`` is how to run the tool where columns are missing."""
    moved = next((pair for pair in _MOVED if pair[0] in cells and pair[1] in cells), None)
    requests = next((pair for pair in _REQUESTS if pair[0] in cells and pair[1] in cells), ("tps",))
    if moved is None or requests[0] not in cells:
        raise MalformedError(
            f"{where}: expected columns such as r/s, w/s, rkB/s and wkB/s, or tps, kB_read/s and kB_wrtn/s, found "
            f"{', '.join(cells)}; {advice}"
        )
    counts = [number(cells, column, where) for column in requests]
    read, written = (number(cells, column, where) * _MOVED[moved] for column in moved)
    return Disk(name, sum(counts), read, written, counts[0] if len(counts) > 1 else None)
