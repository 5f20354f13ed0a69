"""What to buy for a workload: the parts with what limits them, and other machines for the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.quantity import Quantity, Words
from sizeup.sizing.design import (
    CORES,
    DRIVES,
    MEMORY,
    PORTS,
    SHARED,
    Alternative,
    Design,
    DesignPart,
    has_vcpus,
    kept_settings,
    kept_workload,
)
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import is_chosen
from sizeup.sizing.licensing.count import usd_brief
from sizeup.sizing.licensing.limits import THREADS
from sizeup.sizing.sheet import Inputs, brief
from sizeup.sizing.workload import YEAR_NS
from sizeup.text import plural, uncapitalized
from sizeup.units import format_in
from sizeup.views.result.basis import basis_text
from sizeup.views.result.licenses import priced_at

SCHEMA = "sizeup.design/1"
_NAMES = {DRIVES: "Drives", PORTS: "Ports", CORES: "Cores", MEMORY: "Memory, GiB"}
_WHEN = {
    "today": "today",
    "failure": "after failure",
    "last-year": "in {}",
    "failure-last-year": "after failure in {}",
    "": "",
}
_LIMITS = {"GB": "space", "cores": "CPU", "GiB": "memory", "least": "fewest possible", "page-cache": "page cache"}
_SAID = {
    "array.drive": (DRIVES, "{} drives"),
    "array.raid": (DRIVES, "RAID {}"),
    "path.policy": (PORTS, "all paths carry data"),
    "machine.sockets": (CORES, "{} socket"),
    "path.stages": (PORTS, "{}"),
    "array.disk_gb": (DRIVES, "{:,} GB each"),
    "workload.specrate_per_core": (CORES, "cores as fast as those of the present server"),
}
"""What is said of a part where nobody chose it."""
_ADVISE_MEMORY = ("postgresql", "mysql")
"""Databases whose manuals say what memory they take beside their buffers."""


def design_notes(found: Design) -> list[str]:
    """Return what is not designed, each with the key that gives it, and what nobody chose."""
    bought = {part.key for part in found.parts}
    notes = [
        f"{_NAMES[key].partition(',')[0]}: not designed. Use {' or '.join(KEYS[one].flag for one in keys)}"
        for key, keys in found.undesigned.items()
    ]
    notes += (
        [f"Space: not designed. Use {KEYS['db.gb'].flag}"] if DRIVES in bought and "db.gb" not in found.inputs else []
    )
    if DRIVES in bought and PORTS not in found.inputs and PORTS not in found.undesigned:
        notes.append(f"Ports: none, as NVMe drives are inside the server. For an array, use --set {PORTS}={SHARED}")
    notes += _group_notes(found)
    notes += [
        f"{_NAMES[key].partition(',')[0]}: none passes for certain with this edition ({limits})"
        f"{''.join(f'; {text}' for text in _without_threads(found.alternatives[0]) if key == CORES)}"
        for key, limits in found.alternatives[0].unmet.items()
    ]
    model = found.inputs.get("machine.cpu_model")
    if CORES in bought and isinstance(model, Words):
        of_each, sockets = (found.inputs.get(f"machine.{one}") for one in ("cores_per_socket", "sockets"))
        notes.append(
            f"Cores: the fewest, perhaps no whole processors, of which licenses count all cores; give those of one "
            f"{model.value}: {KEYS['machine.cores_per_socket'].flag}"
            if of_each is None or not isinstance(sockets, Quantity)
            else f"Cores: {plural(int(sockets.value), 'whole processor')} {model.value}{_each(found.inputs)}"
        )
    if CORES in bought and has_vcpus(found.inputs):
        vcpus, each = found.inputs.get("machine.vcpus"), _each(found.inputs)
        unknown = f"vCPUs: unknown, one a core or more. Use {KEYS[THREADS].flag}"
        notes.append(f"vCPUs: {brief(vcpus, '')}{each}" if isinstance(vcpus, Quantity) else unknown)
    ends = (f"{key} {brief(value, KEYS[key].unit.removeprefix('1'))}" for key, value in found.upper_ends.items())
    notes += [f"Bought for the upper ends of ranges: {', '.join(ends)}"] if found.upper_ends else []
    if found.replaced:
        notes.append(f"Designed, so not taken from what is given: {', '.join(found.replaced)}")
    needs = [KEYS["workload.cpu_cores"].assignment] if CORES in found.undesigned else []
    needs += [] if is_chosen(found.inputs) else ["license.pack=oracle license.product=ee"]
    notes += [f"Licenses: not designed. Use --set {' '.join(needs)}"] if needs else []
    said = ((*_SAID[key], value) for key, value in found.assumed.items())
    assumed = [text.format(int(value) if value.isdecimal() else value) for part, text, value in said if part in bought]
    assumed += dict.fromkeys(text for part in found.parts for text in part.rests)
    return [*notes, *([f"Assumed: {', '.join(assumed)}"] if assumed else [])]


_LARGEST_GROUP = 32
"""Drives with parity in one group, of common RAID controllers: Dell PERC H310 to H810, user's guide."""


def _group_notes(found: Design) -> list[str]:
    """Return that drives with parity are several groups where they are more than one holds."""
    levels = (
        (one.changed.get("array.raid", getattr(found.inputs.get("array.raid"), "value", "")), one.buy)
        for one in found.alternatives
        if one.changed.keys() <= {"array.raid"}
    )
    large = {level: buy[DRIVES] for level, buy in levels if level in ("5", "6") and buy.get(DRIVES, 0) > _LARGEST_GROUP}
    why = f"Common controllers hold at most {_LARGEST_GROUP} in one, and each has parity of its own"
    way = "Buy drives for it, or use --set array.raid=10"
    return [f"RAID {level}: {count:,} drives count as one group. {why}. {way}" for level, count in large.items()]


def parts_table(found: Design) -> Table:
    """Return a row for each part: how many pass today, after a failure and in the last year, and what limits it."""
    years = found.inputs.get("workload.horizon_years")
    last = (
        f"Year {format_in(years.value / YEAR_NS, '')}" if isinstance(years, Quantity) and years.value else "Last year"
    )
    columns = (
        Column("Part"),
        *(Column(title, numeric=True) for title in ("Today", "Failure", last, "Buy")),
        Column("Limited by"),
    )
    rows = []
    for part in found.parts:
        cells = (
            f"{part.counts[when]:,}" if when in part.counts else UNKNOWN for when in ("today", "failure", "last-year")
        )
        limit = f"{_LIMITS.get(part.limit, part.limit)} {_WHEN[part.when].format(uncapitalized(last))}".rstrip()
        limit = "outage on failure" if part.limit == "outage" else limit
        rows.append((_part_name(part, found.inputs), *cells, f"{part.buy:,}", limit))
    return Table("", columns, tuple(rows))


def _part_name(part: DesignPart, inputs: Inputs) -> str:
    if part.key == DRIVES:
        size, kind = inputs["array.disk_gb"], inputs.get("array.drive")
        of_kind = f" {kind.value}" if isinstance(kind, Words) else ""
        gb = brief(size, "GB") if isinstance(size, Quantity) else ""
        return f"{gb}{of_kind}, RAID {getattr(inputs['array.raid'], 'value', '')}"
    if part.key == PORTS:
        return f"Ports: {getattr(inputs[PORTS], 'value', '').partition('*')[0].rpartition(':')[2]}"
    return f"{_NAMES[part.key]}{_each(inputs)}"


def _each(inputs: Inputs) -> str:
    """Return what follows a figure of each server: nothing where there is one."""
    nodes = inputs.get("cluster.nodes")
    return " a server" if isinstance(nodes, Quantity) and nodes.value > 1 else ""


def alternatives_table(found: Design) -> Table:
    """Return a row for the design and for each other machine: its parts and the cost of its licenses."""
    parts = [key for key in _NAMES if any(key in (*one.buy, *one.unmet) for one in found.alternatives)]
    priced = any(one.cost is not None or not one.permitted for one in found.alternatives)
    term = found.inputs["license.term_years"]
    years = format_in(term.value / YEAR_NS, "years") if isinstance(term, Quantity) else ""
    columns = [Column("Machine"), *(Column(_NAMES[key].rpartition(" ")[2], numeric=True) for key in parts)]
    columns += [Column("Licenses", numeric=True)] if priced else []
    rows = []
    for one in found.alternatives:
        # Of what no count of a part passes, the limit that is why.
        unmet = {key: limit or "none" for key, limit in one.unmet.items()}
        cells = [f"{one.buy[key]:,}" if key in one.buy else unmet.get(key, UNKNOWN) for key in parts]
        cost = UNKNOWN if one.cost is None else usd_brief(one.cost)
        cost = cost if one.permitted else "not permitted"
        rows.append((_name(one.changed), *cells, *([cost] if priced else [])))
    memory = found.alternatives[0].buy.get(MEMORY)
    known, rests = {text for part in found.parts for text in part.rests}, dict[str, list[str]]()
    for one in found.alternatives:
        option = one.cluster_option and f"with {one.cluster_option}"
        rest = (f"assumed {text}" for text in one.rests if text not in known)
        lack = one.missing and f"licenses unknown, use {KEYS[one.missing].flag}"
        advised = one.changed.get("license.pack") in _ADVISE_MEMORY and one.buy.get(MEMORY) != memory
        more = "memory by manual" if advised else ""
        for text in (*rest, *filter(None, (one.left_out, one.small_hosts, option, lack, more))):
            rests.setdefault(text, []).append(_name(one.changed))
    notes = [f"Licenses and support: {years}, {priced_at(found.inputs)}"] if priced else []
    of_two = [one.changed for one in found.alternatives if "cluster.nodes" in one.changed]
    shared = f", shared drives behind {of_two[0][PORTS]}" if of_two and PORTS in of_two[0] else ""
    notes += [f"2 servers: cores, GiB in each{shared}"] if of_two else []
    notes += [f"{_name(one.changed)}: {text}" for one in found.alternatives[1:] for text in _without_threads(one)]
    notes += [f"{', '.join(of)}: {text}" for text, of in rests.items()]
    return Table("", tuple(columns), tuple(rows), ". ".join(notes))


def _without_threads(one: Alternative) -> list[str]:
    """Return how many cores of one thread pass where no others do; an empty list elsewhere."""
    cores = one.single_threaded
    off = f"with hyper-threading off (--set {KEYS[THREADS].assignment.replace('=N', '=1')})"
    return [] if cores is None else [f"{format_in(cores, 'cores')} {off}"]


def _name(changed: Mapping[str, str]) -> str:
    if "array.raid" in changed:
        return f"RAID {changed['array.raid']}"
    if "array.drive" in changed:
        return f"{int(changed['array.disk_gb']):,} GB {changed['array.drive']}"
    if "machine.specrate_per_core" in changed:
        return "cores twice as fast"
    if "cluster.nodes" in changed:
        return "2 servers"
    if "license.pack" in changed:
        return " ".join(changed.values())
    return "as above"


def design_data(found: Design) -> dict[str, Any]:
    """Return the design as plain data."""
    data: dict[str, Any] = {"schema": SCHEMA}
    for name in ("parts", "undesigned", "replaced", "assumed", "alternatives", "upper_ends"):
        data[name] = msgspec.to_builtins(getattr(found, name))
    return data


def candidate_text(found: Design) -> str:
    """Return the machine as designed, and its workload, as TOML that ``--machine`` and ``--workload`` read."""
    title = json.dumps(f"designed for {basis_text(found.inputs)}", ensure_ascii=False)
    lines = ['schema = "sizeup.candidate/1"', f"title = {title}"]
    for table, settings in (("inputs", kept_settings(found)), ("workload", kept_workload(found))):
        if settings:
            lines += [
                "",
                f"[{table}]",
                *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in settings.items()),
            ]
    return "\n".join(lines) + "\n"
