"""Sessions with a few measured figures, and what sizing takes from them."""

from declared import declaration_of, series_of
from sizeup.model.machine import Machine, PathBudget
from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.model.storage import BlockDevice, BlockKind, NvmeController, NvmeNamespace
from sizeup.quantity import Origin, Quantity, Words
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.advise import described, size
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.measured import measured


def drives(count: int, bytes_per_second: float) -> Machine:
    """NVMe drives, each on a link of its own."""
    numbers = range(count)
    return Machine(
        nvme_controllers=tuple(NvmeController(f"nvme{n}", "pcie", None, state="live") for n in numbers),
        nvme_namespaces=tuple(NvmeNamespace(f"nvme{n}n1", None, 1, 10**12, (f"nvme{n}",)) for n in numbers),
        block_devices=tuple(
            BlockDevice(
                f"nvme{n}n1", BlockKind.NVME, 10**12, f"259:{n}", leaves=(f"nvme{n}n1",), mount_points=(f"/u0{n}",)
            )
            for n in numbers
        ),
        budgets=tuple(PathBudget(f"nvme{n}", None, 0, (), bytes_per_second, f"link of nvme{n}") for n in numbers),
    )


ONE, FIVE = drives(1, 4e9), drives(5, 250e6)


def session(
    probe: str,
    *points: tuple[str, Coordinates, float],
    machine: Machine | None = ONE,
    path: str = "/u00/data",
    status: Status = Status.OK,
    reason: str = "",
) -> Session:
    step = Step(probe, probe, probe, {"path": path} if probe == "io.direct" else {}, 1.0, 2.0)
    run = StepRun(step, "sizeup", series_of(probe), "curve", 0, outcome=Outcome(status, reason))
    run.declaration = declaration_of(probe)
    for series, at, value in points:
        put(run, Estimate(series, at, value))
    header = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")
    return Session(header, machine=machine, steps={probe: run})


def put(run: StepRun, estimate: Estimate) -> None:
    run.points[point_key(estimate.series, estimate.at)] = Point(estimate.series, estimate.at, estimate=estimate)


def ramp(workload: str, *values: float, series: str = "rate") -> list[tuple[str, Coordinates, float]]:
    """A figure at depth 1, 2, 4 and so on."""
    return [(series, {"workload": workload, "queue_depth": 2**n}, value) for n, value in enumerate(values)]


def figures(found: Session) -> dict[str, float]:
    return {
        key: value.value
        for key, value in measured(found).items()
        if isinstance(value, Quantity) and key != "path.degraded_mb_s"
    }


def unused(found: Session, key: str = "capacity.mb_s") -> UnusedMeasurement:
    value = measured(found)[key]
    assert isinstance(value, UnusedMeasurement)
    return value


def capacity_of(found: Session, device: str | None = None) -> tuple[float, str, tuple[str, ...]]:
    """Megabytes a second, what limits them, and the caveats, as sizing says them."""
    assert found.machine is not None
    stated = {"machine.cores": Quantity(8, "1", Origin.USER, "--set")}
    if device is not None:
        stated |= {"db.device": Words(device, Origin.USER, "--set")}
    capacity = size(described(found.machine, {**measured(found, stated), **stated})).find("io.capacity")
    return round(capacity.quantity.value / 1e6, 1), capacity.decision, capacity.caveats
