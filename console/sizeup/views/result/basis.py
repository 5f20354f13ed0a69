"""The workload that an answer is about, in one sentence: a reader checks first whether it is the right one."""

from __future__ import annotations

from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS, OPTION_SOURCE
from sizeup.sizing.sheet import Inputs, brief
from sizeup.sizing.workload import STORAGE_KEYS, YEAR_NS, random_size
from sizeup.units import format_in

_OTHERS = ("workload.cpu_cores", "workload.cpu_percent", "db.gb")
"""Figures that are part of a workload, too."""
_SAME = 0.01
"""Two throughputs that differ by less are one."""


def basis_text(inputs: Inputs) -> str:
    """Return the figures of the workload, its growth and where it comes from; empty where there is none."""
    stated = [value for key in (*STORAGE_KEYS, *_OTHERS) if (value := _number(inputs, key)) is not None]
    if not stated:
        return ""
    size = _number(inputs, "db.gb")
    database = "" if size is None else f"{brief(size, 'GB')} database"
    parts = [part for part in (_requests(inputs), _throughput(inputs), _redo(inputs), database) if part]
    if not parts:
        cores, percent = (_number(inputs, f"workload.cpu_{name}") for name in ("cores", "percent"))
        busy = f"{brief(percent, '%')} CPU" if percent else ""
        parts = [brief(cores, "busy cores") if cores is not None else busy]
    years = _number(inputs, "workload.horizon_years")
    if years is not None and years.origin is not Origin.RULE and years.value:
        rates = [_number(inputs, key) for key in ("workload.growth_percent", "db.growth_percent")]
        load, data = ("" if one is None or one.origin is Origin.RULE else f"+{brief(one, '%')}" for one in rates)
        load = load if load not in ("", "+0 %") else "no growth"
        growth = load if load == "no growth" else f"{load} a year"
        if data and data != load:  # else the rate is that of both
            growth = f"load {load}, data {data} a year"
        parts.append(f"{growth} for {format_in(years.value / YEAR_NS, 'years')}")
    elif (rate := _number(inputs, "workload.growth_percent")) and rate.value and rate.origin is not Origin.RULE:
        parts.append("growth not counted without a horizon (workload.horizon_years)")
    sources = dict.fromkeys("entered" if value.source == OPTION_SOURCE else value.source for value in stated)
    alone = [one for one in sources if not any(other.startswith(f"{one}: ") for other in sources)]  # of the same files
    return f"{', '.join(parts)} ({'; '.join(alone)})"


def _number(inputs: Inputs, key: str) -> Quantity | None:
    value = inputs.get(key)
    return value if isinstance(value, Quantity) else None


def _requests(inputs: Inputs) -> str:
    """Return the random I/O: ``40,000 IOPS (60 % reads, 8 KiB)``; what is a default is called so."""
    reads, writes = (_number(inputs, f"workload.{name}_iops") for name in ("read", "write"))
    both = _number(inputs, "workload.iops")
    details = []
    if reads is not None or writes is not None:
        stated = sum(one.value for one in (reads, writes) if one is not None)
        total = stated if both is None or None not in (reads, writes) else max(both.value, stated)
        share = reads.value if reads is not None else total - stated
        details.append(f"{format_in(share / total, '%')} reads")
    elif both is not None:
        total = both.value
        details += _detail(inputs, "workload.read_percent", " reads")
    else:
        return ""
    if (size := random_size(inputs, total)) is not None:
        details.append(f"{brief(size, 'KiB')} on average")
    else:
        details += _detail(inputs, "workload.io_kib", "")
    typed = all(one is None or one.origin is Origin.USER for one in (reads, writes, both))
    rate = format_in(total if typed else float(f"{total:.4g}"), "IOPS")
    return f"{rate} ({', '.join(details)})" if details else rate


def _detail(inputs: Inputs, key: str, what: str) -> list[str]:
    value = _number(inputs, key)
    if value is None:
        return []
    return [f"{brief(value, KEYS[key].unit)}{what}{' assumed' if value.origin is Origin.RULE else ''}"]


def _throughput(inputs: Inputs) -> str:
    whole, sequential = (_number(inputs, f"workload.{name}mb_s") for name in ("", "sequential_"))
    if whole is None:
        return "" if sequential is None else f"{brief(sequential, 'MB/s')} sequential"
    iops, block = _number(inputs, "workload.iops"), _number(inputs, "workload.io_kib")
    follows = iops is not None and block is not None and abs(iops.value * block.value / whole.value - 1) < _SAME
    return "" if follows else f"{brief(whole, 'MB/s')} in all"  # that of the random I/O alone says nothing more


def _redo(inputs: Inputs) -> str:
    redo, databases = _number(inputs, "redo.mb_s"), _number(inputs, "redo.databases")
    if redo is None and (writes := _number(inputs, "redo.writes_s")) is not None:
        return f"{brief(writes, 'IOPS')} of redo"
    if redo is None:
        typed = [value for key in STORAGE_KEYS if (value := _number(inputs, key)) is not None]
        return "redo not given" if any(value.origin is Origin.USER for value in typed) else ""
    if not redo.value:
        return "no redo"
    times = f"{format_in(databases.value, '')} x " if databases is not None and databases.value > 1 else ""
    return f"{times}{brief(redo, 'MB/s')} redo"
