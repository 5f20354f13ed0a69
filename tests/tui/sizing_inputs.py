"""What the tests of Sizing and of the verdict measure and type."""

from textual.pilot import Pilot

from consoles import ended, pressed, records
from declared import declaration_of, series_of
from sizeup.model.plan import Plan, Step
from sizeup.model.sample import Estimate
from sizeup.quantity import Origin
from sizeup.session.records import EstimateRecord, PlanRecord, Record, StepStartRecord
from sizeup.sizing.keys import KEYS

CPU_DEMAND = {"workload.cpu_percent": KEYS["workload.cpu_percent"].parse("97", Origin.USER, "--set")}


def measured_io(*, cached: bool) -> list[Record]:
    """A finished session with two rates of direct I/O; their verdict says that it may be a cache's."""
    step = Step("io.direct.scan", "io.direct", "Direct I/O", {"path": "/dev/sda"}, 1.0, 2.0)
    series = tuple(series_of("io.direct").values())
    at = {"workload": "dss-scan", "queue_depth": 4}
    caveat = "physical: 9 GB/s exceeds the bandwidth of the path: probably a cache; not used for sizing"
    estimates = [Estimate("rate", {**at, "queue_depth": 2}, 8.9e9), Estimate("rate", at, 9e9)]
    if cached:
        verdicts = [{**one.at, "part": "physical"} for one in estimates]
        extra = {"sizing": "left out"}
        estimates += [Estimate("validity", verdict, 0.5, caveats=(caveat,), extra=extra) for verdict in verdicts]
    return [
        *records()[:2],
        PlanRecord(2, Plan("custom", (step,))),
        StepStartRecord(3, step, "sizeup 0", series, "curve", 0, declaration_of("io.direct")),
        *(EstimateRecord(4, step.id, estimate) for estimate in estimates),
        *ended(step.id),
    ]


async def set_input(pilot: Pilot[int], key: str, text: str) -> None:
    """Choose an input of the Sizing mode by its name, and type its value."""
    await pressed(pilot, "a", *key, "enter", *text, "enter")
    await pilot.pause()


async def choose_input(pilot: Pilot[int], key: str) -> None:
    """Put the cursor of the Sizing mode on an input."""
    pilot.app.screen.show_target(key)
    await pilot.pause()


MEASURED = measured_io(cached=False)[:-2]
"""Of that session all but its end."""
