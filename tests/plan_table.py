"""What every plan does on the eight large machines: a row for each probe.

``PYTHONPATH=tests python tests/plan_table.py [quick|standard|full ...]`` prints the tables.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import pytest
from msgspec import Struct

from large_machines import EIGHT, PAGE_BYTES
from recorded_traffic import REGISTRY, multiple_of_cache, run
from sizeup.model.cpu_pairs import cpu_pairs
from sizeup.model.machine import Machine
from sizeup.model.plan import Settings, Step
from sizeup.probing.planner import make_plan
from sizeup_memory import durations

PLANS = ("quick", "standard", "full")
MIN_OF_CLASS = 3
MEASURED = ("memory.bandwidth", "memory.numa", "memory.loaded", "memory.hammer", "memory.shm")
"""Probes whose points the recorder takes down."""
IO_PRESETS = ("oltp-read", "dss-rand", "redo")


class PlanRow(Struct, frozen=True):
    """One probe in one plan on one machine."""

    machine: str
    plan: str
    probe: str
    steps: tuple[Step, ...]
    nodes: frozenset[int]
    """Nodes whose CPUs or memory are measured."""
    all_nodes: frozenset[int]
    classes: Counter[str]
    """Pairs or cells that are measured, by class."""
    all_classes: Counter[str]

    @property
    def estimate(self) -> float:
        """Seconds of all steps."""
        return sum(step.estimated_seconds for step in self.steps)

    @property
    def limit(self) -> float:
        """Seconds after which all steps would have been ended."""
        return sum(step.time_limit_seconds for step in self.steps)

    @property
    def lacking_classes(self) -> list[str]:
        """Classes with fewer measurements than a sample must have."""
        return [kind for kind, total in self.all_classes.items() if self.classes[kind] < min(MIN_OF_CLASS, total)]


@cache
def plan_rows(name: str, plan: str) -> list[PlanRow]:
    """The rows of one machine and plan, io.direct last: no plan has it, as it needs a path."""
    machine = EIGHT[name]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durations, "_BASE_PAGE_BYTES", PAGE_BYTES.get(name, 4096))
        steps = list(make_plan(machine, REGISTRY, name=plan).steps)
        for preset in IO_PRESETS:
            steps += make_plan(
                machine, REGISTRY, name=plan, probes=["io.direct"], settings={"io.direct": _disks(machine, preset)}
            ).steps
    by_probe: dict[str, list[Step]] = {}
    for step in steps:
        by_probe.setdefault(step.probe, []).append(step)
    return [_row(machine, name, plan, probe, some) for probe, some in by_probe.items() if probe != "null"]


def _disks(machine: Machine, preset: str) -> Settings:
    paths = [path for device in machine.block_devices for path in device.mount_points] or ["/data"]
    return {"preset": preset, "path": paths[0]} | ({"more_paths": ":".join(paths[1:])} if len(paths) > 1 else {})


def _row(machine: Machine, name: str, plan: str, probe: str, steps: Sequence[Step]) -> PlanRow:
    node_of = {cpu: node.os_id for node in machine.nodes for cpu in node.pus}
    nodes = {node_of[cpu] for step in steps for cpu in step.cpus}
    classes, totals = Counter[str](), Counter[str]()
    for step in steps:
        settings = step.settings
        if "cells" in settings:
            cells = json.loads(str(settings["cells"]))
            nodes |= {node for cell in cells for node in cell[:2] if node is not None}
            # The matrix of each kind of pages is one of its own; the nodes of /dev/shm are one together.
            matrix = f"{settings.get('part', '')} {settings.get('pages', '')}"
            classes.update(f"{matrix} {kind}" for _, _, kind in cells)
            for kind, total in json.loads(str(settings["cells_by_class"])).items():
                totals[f"{matrix} {kind}"] += total
        elif "pairs" in settings:
            pairs = {(cpu, partner, shares) for cpu, partner, _, shares in json.loads(str(settings["pairs"]))}
            classes.update(shares for _, _, shares in pairs)
            totals.update({shares.value: total for shares, total in cpu_pairs(machine).totals.items()})
    every = {node.os_id for node in machine.nodes}
    return PlanRow(name, plan, probe, tuple(steps), frozenset(nodes), frozenset(every), classes, totals)


def bytes_per_cache(row: PlanRow, machine: Machine) -> float | None:
    """The least memory of a thread at any point over its share of a cache; None where the probe needs no memory."""
    if row.probe == "memory.latency":
        return min(
            max(json.loads(str(step.settings["working_sets"]))) / one.size_bytes
            for step in row.steps
            for one in machine.caches
            if one.level > 1 and one.size_bytes and int(step.settings["cpu"]) in one.shared_by
        )
    if row.probe not in MEASURED:
        return None
    found = []
    for step in row.steps:
        with pytest.MonkeyPatch.context() as patch:
            found += [multiple_of_cache(machine, point.groups) for point in run(machine, step, patch)[1]]
    return min(found)


def _cells_of(row: PlanRow, multiple: float | None) -> list[str]:
    covered = len(row.all_classes) - len(row.lacking_classes)
    return [
        row.plan,
        row.probe,
        str(len(row.steps)),
        "" if multiple is None else f"{multiple:.3g}",
        f"{len(row.nodes)}/{len(row.all_nodes)}" if row.nodes else "",
        f"{covered}/{len(row.all_classes)}" if row.all_classes else "",
        f"{row.estimate:.1f}",
        f"{row.limit:,.0f}",
    ]


def table(plans: Iterable[str] = PLANS) -> Iterator[str]:
    """A section in Markdown for each machine, with the total of each plan."""
    for name, make in EIGHT.items():
        yield f"## {name}"
        yield "| plan | probe | steps | bytes per LLC | nodes | classes | estimate s | limit s |"
        yield "|---|---|---:|---:|---:|---:|---:|---:|"
        machine = make()
        for plan in plans:
            rows = plan_rows(name, plan)
            for row in rows:
                yield "| " + " | ".join(_cells_of(row, bytes_per_cache(row, machine))) + " |"
            total = sum(row.estimate for row in rows if row.probe != "io.direct")
            yield f"| {plan} | **in all, without io.direct** | | | | | **{total:.0f}** | |"
        yield ""


if __name__ == "__main__":
    print("\n".join(table(sys.argv[1:] or PLANS)))
