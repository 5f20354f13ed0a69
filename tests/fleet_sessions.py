"""Session files of a fleet with the records that a run writes: like servers whose figures and facts a test chooses."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from declared import declaration_of, series_of
from sizeup.discovery.machine import discover
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import DimmSlot, Machine
from sizeup.model.plan import Plan, Settings, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.model.storage import Hba, Transport
from sizeup.session.records import (
    ENCODER,
    EndRecord,
    EnvironmentRecord,
    EstimateRecord,
    FindingRecord,
    MachineRecord,
    OutcomeRecord,
    PlanRecord,
    Record,
    SamplesRecord,
    SessionRecord,
    StepStartRecord,
)
from trees import machine as grown_machine

GIB = 1 << 30
LINK_DOWN = Finding("storage.link-down", Severity.WARNING, "FC port host4 has no link", (), "One path less.", "Check.")
_NODES, _CHANNELS = (0, 1), "ABCDEFGH"
_SECOND = 1_000_000_000


class Figures(Struct, frozen=True):
    """What one host measures."""

    dram_ns: float = 95.0
    remote_ns: float = 150.0
    read_bytes_per_second: float = 180e9
    iops: float = 150_000.0
    p99_ns: float = 300_000.0
    scan_bytes_per_second: float = 2.4e9
    clock_ns: float = 22.0

    def times(self, noise: Callable[[], float]) -> Figures:
        """Return the figures of a like host, each off by a factor."""
        return Figures(*(value * noise() for value in (getattr(self, name) for name in self.__struct_fields__)))


def _slots(populated: Callable[[int, str], bool]) -> tuple[DimmSlot, ...]:
    module = DimmSlot(
        size_bytes=32 * GIB, kind="DDR5", configured_transfers_per_second=4_800_000_000, part_number="M321R4GA3BB6"
    )
    empty = DimmSlot(size_bytes=0)
    return tuple(
        replace(module if populated(node, channel) else empty, name=f"{channel}1", bank=f"P{node} CH {channel}")
        for node in _NODES
        for channel in _CHANNELS
    )


@cache
def server() -> Machine:
    """A server of two sockets with 16 modules and two FC ports that are up."""
    with tempfile.TemporaryDirectory() as root:
        found = discover(grown_machine(Path(root), "2-sockets-smt"))
    ports = tuple(
        Hba(f"host{number}", Transport.FC, "qla2xxx", f"0000:3b:00.{number - 3}", state="Online", port_type="NPort",
            speed_bits_per_second=16_000_000_000, model="QLE2692", firmware="9.08.02")
        for number in (3, 4)
    )  # fmt: skip
    return replace(
        found,
        memory_bytes=16 * 32 * GIB,
        cpu_model="Intel(R) Xeon(R) Gold 6430",
        platform=replace(found.platform, model="PowerEdge R650", vendor="Dell Inc.", governor="performance"),
        dimm_slots=_slots(lambda *_: True),
        hbas=ports,
    )


def with_remote_dimms(machine: Machine) -> Machine:
    """All modules at node 0, so that the CPUs of node 1 find none of their own: same memory in larger modules."""
    slots = tuple(
        replace(slot, size_bytes=64 * GIB, part_number="M321R8GA0BB0")
        if slot.bank is not None and slot.bank.startswith("P0")
        else DimmSlot(slot.name, slot.bank, 0)
        for slot in machine.dimm_slots
    )
    nodes = tuple(
        replace(node, memory_bytes=(node.memory_bytes or 0) * (2 if node.os_id == 0 else 0)) for node in machine.nodes
    )
    return replace(machine, dimm_slots=slots, nodes=nodes)


def with_port_down(machine: Machine) -> Machine:
    """The second FC port without a link."""
    first, second = machine.hbas
    return replace(machine, hbas=(first, replace(second, state="Linkdown", speed_bits_per_second=None)))


def records(
    host: str,
    figures: Figures,
    machine: Machine | None,
    *,
    started: str = "2026-03-01T09:00:00Z",
    plan: str = "standard",
    settings: Mapping[str, Settings] | None = None,
    facts: Mapping[str, float | bool | None] | None = None,
    findings: tuple[Finding, ...] = (),
    status: Status = Status.OK,
    converged: bool = True,
    half: float = 0.03,
    extra: Mapping[str, float] | None = None,
    rounds: int = 1,
) -> list[Record]:
    """Return what a complete run of five probes writes, each as many times as there are rounds."""
    measured = _measured(figures)
    steps = tuple(
        Step(f"{probe}~{number}" if number > 1 else probe, probe, probe, (settings or {}).get(probe, {}), 1.0, 60.0)
        for number in range(1, rounds + 1)
        for probe in measured
    )
    written: list[Record] = [
        SessionRecord(1, f"{host}-{started}", "sizeup 0.2.0", host, started),
        EnvironmentRecord(10, {"kernel": "5.14.0", "load_1min": 0.2, **(facts or {})}),
    ]
    if machine is not None:
        named = replace(machine, platform=replace(machine.platform, hostname=host))
        written.append(MachineRecord(20, named))
    written += (FindingRecord(25, finding) for finding in findings)
    written.append(PlanRecord(30, Plan(plan, steps, settings=settings or {})))
    for number, step in enumerate(steps, 1):
        start = number * _SECOND
        series = tuple(series_of(step.probe).values())
        declaration = declaration_of(step.probe)
        written.append(
            StepStartRecord(start, step, "sizeup 0.2.0", series, "curve", 1000 if number == 1 else 0, declaration)
        )
        for name, at, value in measured[step.probe]:
            low, high = value * (1 - half), value * (1 + half)
            estimate = Estimate(name, at, value, low, high, 5, converged=converged, extra=extra or {})
            written.append(SamplesRecord(step.id, name, at, (start + 5,), (value,)))
            written.append(EstimateRecord(start + 10, step.id, estimate))
        written.append(OutcomeRecord(start + 20, step.id, Outcome(status)))
    written.append(EndRecord((len(steps) + 4) * _SECOND, "complete"))
    return written


def _measured(figures: Figures) -> dict[str, list[tuple[str, Coordinates, float]]]:
    random_reads: Coordinates = {"workload": "oltp-read", "queue_depth": 32}
    scan: Coordinates = {"workload": "dss-scan", "queue_depth": 8}
    nodes: Coordinates = {"cpu_node": 0, "memory_node": 0}
    far: Coordinates = {"cpu_node": 0, "memory_node": 1}
    return {
        "memory.latency": [("dram-thp-level", {"level": "DRAM"}, figures.dram_ns)],
        "memory.numa": [("latency", nodes, figures.dram_ns), ("latency", far, figures.remote_ns)],
        "memory.bandwidth": [("read", {"threads": 32, "cpu_node": 0}, figures.read_bytes_per_second)],
        "clock.cost": [("cost", {"method": "clock_gettime-monotonic"}, figures.clock_ns)],
        "io.direct": [
            ("iops", random_reads, figures.iops),
            ("latency-p99", {**random_reads, "direction": "read"}, figures.p99_ns),
            ("rate", scan, figures.scan_bytes_per_second),
        ],
    }


def write(folder: Path, host: str, content: list[Record], name: str = "") -> Path:
    """Write a session file."""
    path = folder / f"{name or host}.sizeup.jsonl"
    path.write_bytes(b"".join(ENCODER.encode(record) + b"\n" for record in content))
    return path


def made_fleet(folder: Path, hosts: int = 12, *, scatter: float = 0.01, seed: int = 1) -> None:
    """Write the sessions of like hosts, whose figures scatter by that share."""
    chance = random.Random(seed)
    for number in range(1, hosts + 1):
        figures = Figures().times(lambda: chance.lognormvariate(0, scatter))
        write(folder, f"db{number:02}", records(f"db{number:02}", figures, server()))
