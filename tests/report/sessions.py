"""Session files for the reports: a small whole one, and one whose every text is hostile."""

from pathlib import Path

from msgspec.structs import replace

from declared import declaration_of, series_of
from sizeup.model.advice import Advice, AdviceSet, Input, Source
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Gap, Machine, Platform
from sizeup.model.network import NfsMount, Nic
from sizeup.model.plan import Better, Plan, Refusal, Series, Step
from sizeup.model.sample import Disturbance, Estimate, Outcome, Samples, Status
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.model.topology import Cache, CacheKind, Core, Package, Pu
from sizeup.quantity import Origin, Quantity
from sizeup.session.records import (
    AdviceRecord,
    EndRecord,
    EnvironmentRecord,
    EstimateRecord,
    FindingRecord,
    GapRecord,
    MachineRecord,
    NoteRecord,
    OutcomeRecord,
    PlanRecord,
    Record,
    SamplesRecord,
    SessionRecord,
    StepStartRecord,
)
from sizeup.session.writer import Writer

KIB = 1024

LATENCY = Step(
    "memory.latency", "memory.latency", "Memory latency", {"cpu": 1}, 16, 300, touches="512 MiB of anonymous memory"
)
CLOCK = Step("clock.cost", "clock.cost", "Clock cost", {}, 1, 60)


def machine(word: str = "") -> Machine:
    """One socket of two cores; ``word`` is put into every text that says something."""
    return Machine(
        packages=(Package((0, 1), 0, f"Xeon {word}"),),
        cores=(Core((0,), 0, 0, 0), Core((1,), 0, 0, 1)),
        pus=(Pu(0, online=True, allowed=True, core=0), Pu(1, online=True, allowed=True, core=1)),
        caches=(Cache(1, CacheKind.DATA, 32 * KIB, 64, (0,)), Cache(3, CacheKind.UNIFIED, 8 * KIB * KIB, 64, (0, 1))),
        memory_bytes=32 * KIB**3,
        cpu_model=f"Intel Xeon E5320 {word}".strip(),
        base_clock=Quantity(1.86e9, "Hz", Origin.DETECTED, "/proc/cpuinfo"),
        platform=Platform(kernel=f"6.1 {word}".strip(), hostname=word or "db01", is_guest=False),
        nics=(Nic("eth0", "physical", mac="0a:0b:0c:0d:0e:0f", up=True, carrier=True, speed_bits_per_second=10**10),),
        block_devices=(
            BlockDevice(
                "sda", BlockKind.SCSI, 10**12, model=f"PERC {word}", serial="S3RIAL-9X7", mount_points=("/u01",)
            ),
        ),
        nfs_mounts=(NfsMount("/backup", "filer7:/vol/backup"),),
        gaps=(Gap(f"/sys/firmware/dmi {word}", "permission denied"),),
    )


def records(word: str = "") -> list[Record]:
    """A run of two steps, one refused, with sizing, a finding and a note."""
    latency = replace(series_of("memory.latency")["dram-4k"], title=f"Random cycle {word}".strip())
    cost = Series("cost", "Cost of one call", "ns", Better.LOWER, "method")
    points = [(4 * KIB, 1.2), (64 * KIB, 4.0), (512 * KIB * KIB, 131.3)]
    measured: list[Record] = []
    for size, value in points:
        at = {"working_set_bytes": size}
        flags = (Disturbance.NONE, Disturbance.STOLEN | Disturbance.LATE, Disturbance.NONE)
        samples = Samples("dram-4k", at, (1, 2, 3), (value * 0.9, value * 3, value), tuple(map(int, flags)))
        measured.append(
            SamplesRecord("memory.latency", samples.series, samples.at, samples.t_ns, samples.values, samples.flags)
        )
        estimate = Estimate("dram-4k", at, value, value * 0.95, value * 1.05, 5, converged=size < KIB * KIB)
        measured.append(EstimateRecord(10**9, "memory.latency", estimate))
    return [
        SessionRecord(1, "5e551011", "sizeup 0.1.0", word or "db01", "2026-01-31T09:30:00Z"),
        EnvironmentRecord(1, {"load_1min": 0.4, "governor": word or "performance"}),
        MachineRecord(1, machine(word)),
        PlanRecord(2, Plan("standard", (LATENCY, CLOCK), (Refusal("io.direct", "io.direct", f"no target {word}"),))),
        OutcomeRecord(2, "io.direct", Outcome(Status.REFUSED, f"no target was named {word}".strip())),
        StepStartRecord(3, LATENCY, "sizeup 0.1.0", (latency,), "curve", 0, declaration_of("memory.latency")),
        *measured,
        OutcomeRecord(2 * 10**9, "memory.latency", Outcome(Status.NOT_CONVERGED, "the budget ended first")),
        StepStartRecord(3 * 10**9, CLOCK, "sizeup 0.1.0", (cost,), "bars"),
        EstimateRecord(3 * 10**9, "clock.cost", Estimate("cost", {"method": word or "rdtsc"}, 11.0, 10.9, 11.2, 9)),
        EstimateRecord(3 * 10**9, "clock.cost", Estimate("cost", {"method": "system call"}, 110.0)),
        OutcomeRecord(4 * 10**9, "clock.cost", Outcome(Status.OK)),
        FindingRecord(
            5 * 10**9,
            Finding(
                "memory.thp", Severity.WARNING, f"Huge pages are off {word}".strip(), (f"enabled: never {word}",),
                "Random access costs a third more.", "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
            ),
        ),
        AdviceRecord(5 * 10**9, AdviceSet((
            Advice(
                "io.demand.ghz-rule", "I/O need by the GHz rule", f"2 cores at 1.86 GHz want 46.5 MB/s {word}".strip(),
                Quantity(46.5e6, "bytes/s", Origin.RULE, "io.ghz-rule"),
                ("2 cores x 1.86 GHz x 12.5 MB/s/GHz = 46.5 MB/s",),
                (Input("machine.ghz", Quantity(1.86e9, "Hz", Origin.USER, "--set"), shown_in="GHz"),),
                (Source("io.ghz-rule", f"The GHz rule {word}".strip(), "2007-02-01", "H"),),
                (f"The rule is from 2007 {word}".strip(),),
            ),
            Advice("license.cost", "Licenses", "1 license, 40,000 USD", None, (), (), ()),
        ), rules={"io": "2026-01-20"})),
        GapRecord(5 * 10**9, Gap("/dev/cpu/0/msr", f"permission denied {word}".strip())),
        NoteRecord(6 * 10**9, f"Before the BIOS.\nSecond line {word}", "anna", "2026-01-31T10:00:00Z", ("baseline",)),
        EndRecord(6 * 10**9, "complete"),
    ]  # fmt: skip


def written(path: Path, *items: Record) -> str:
    """A session file of these records."""
    with Writer.create(str(path)) as writer:
        writer.write(*items)
    return str(path)
