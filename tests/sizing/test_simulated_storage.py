"""Storage of known rates, measured as the quick plan does and judged: what passes, what fails, and what stays open.

The mix of devices is fixed here, before any of them is judged. A demand up to the sustained rate of a device with cold
caches is one that it carries; one above is not.
"""

import random
import re
from collections import Counter
from collections.abc import Callable

import pytest
from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine, Platform
from sizeup.model.sample import Estimate
from sizeup.model.storage import NvmeNamespace
from sizeup.quantity import Quantity
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.advise import answer, described
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.rules import shipped
from sizeup.sizing.sheet import Inputs
from sizing.measured_sessions import drives, session

GIB = 1 << 30
DEPTHS = (1, 8, 64)
SHARES = (0.01, 0.05, 0.2, 1.1, 3.0)
"""Of the sustained rate of the device: what is demanded of it."""
CARRIED = ("pass", "warn")
SECONDS = 3
"""Of each point of the plan."""


ONE = drives(1, 64e9)
"""One drive, whose link is no limit; its loss leaves nothing, so that a pass is a warning."""
GUEST = replace(ONE, platform=Platform(is_guest=True, vendor="Amazon EC2"))
VMWARE = replace(ONE, platform=Platform(is_guest=True, vendor="VMware, Inc."))
ARRAY = replace(
    ONE,
    nvme_controllers=tuple(replace(one, transport="fc") for one in ONE.nvme_controllers),
    platform=Platform(is_guest=False),
)
TWO = drives(2, 64e9)
LUNS = replace(
    TWO,
    nvme_controllers=ARRAY.nvme_controllers,
    nvme_namespaces=tuple(NvmeNamespace(f"nvme{n}n1", None, 1, 10**12, ("nvme0",)) for n in range(2)),
    budgets=ARRAY.budgets,
)


class SimulatedDevice(Struct, frozen=True):
    """What a device sustains, and what a run of some seconds sees of it."""

    reads: float
    """Sustained, with cold caches, at the highest depth."""
    mixed: float
    """The same of 70 % reads."""
    seen_reads: tuple[float, ...]
    """Of each second at the highest depth."""
    seen_mixed: tuple[float, ...]
    cold: float | None
    """What old data give; None where there are none."""
    machine: Machine = ONE
    others: float = 0.0
    """Of the CPUs, taken by others meanwhile."""
    parts: tuple["SimulatedDevice", ...] = ()
    """Its targets, where it has several; each was measured in a step of its own."""
    target: str = "/u00"
    size: int = GIB
    """Of the new file."""
    cache: float = 0.0
    """Of the largest cache that is known; 0 for none."""


def seconds(random_: random.Random, rate: float, spread: float = 0.03) -> tuple[float, ...]:
    return tuple(rate * random_.uniform(1 - spread, 1 + spread) for _ in range(SECONDS))


def of(random_: random.Random, reads: float, mixed: float, *, spread: float = 0.03) -> tuple[tuple[float, ...], ...]:
    return seconds(random_, reads, spread), seconds(random_, mixed, spread)


def local(r: random.Random) -> SimulatedDevice:
    """A drive inside, whose writes fall once it is full."""
    reads = r.uniform(2e4, 8e5)
    mixed = reads / r.uniform(1.2, 3)
    return SimulatedDevice(reads, mixed * r.uniform(0.12, 1), *of(r, reads, mixed), None)


def capped(r: random.Random) -> SimulatedDevice:
    """A volume of a cloud that keeps its limit."""
    rate = r.choice((3000, 6000, 16000, 64000))
    return SimulatedDevice(rate, rate, *of(r, rate, rate, spread=0.01), rate * r.uniform(0.9, 1), GUEST)


def bursting(r: random.Random) -> SimulatedDevice:
    """A volume of a cloud in its burst."""
    rate, burst = r.uniform(100, 1000), r.uniform(3000, 12000)
    burst = min(burst, 30 * rate)
    return SimulatedDevice(rate, rate, *of(r, burst, burst), burst * r.uniform(0.9, 1), GUEST)


def cached(r: random.Random, machine: Machine) -> SimulatedDevice:
    """A new file in the cache of a host or an array; 85 % of them have old data."""
    reads = r.uniform(500, 2e4)
    mixed, gain = reads / r.uniform(1.2, 3), r.uniform(1, 40)
    cold = reads * r.uniform(0.9, 1.0) if r.random() < 0.85 else None
    return SimulatedDevice(reads, mixed, *of(r, reads * gain, mixed * gain), cold, machine)


def neighbors(r: random.Random) -> SimulatedDevice:
    """A host whose CPUs others use meanwhile."""
    reads = r.uniform(5e3, 2e5)
    mixed, taken = reads / r.uniform(1.2, 3), r.uniform(0.1, 0.6)
    left = 1 - taken * r.uniform(0, 1)
    return SimulatedDevice(reads, mixed, *of(r, reads * left, mixed * left, spread=0.3), None, others=taken)


def drifting(r: random.Random) -> SimulatedDevice:
    """A drive that is slower from second to second, until the sustained rate."""
    reads = r.uniform(5e3, 2e5)
    mixed, first = reads / r.uniform(1.2, 3), r.uniform(1.1, 2)
    fall = [first + (1 - first) * second / (SECONDS - 1) for second in range(SECONDS)]
    return SimulatedDevice(reads, mixed, tuple(reads * f for f in fall), tuple(mixed * f for f in fall), None)


def client_bound(r: random.Random) -> SimulatedDevice:
    """More than the CPUs of this host can ask for."""
    reads = r.uniform(4e5, 3e6)
    mixed, most = reads / r.uniform(1.2, 2), r.uniform(0.2, 0.9)
    return SimulatedDevice(reads, mixed, *of(r, reads * most, mixed * most), None, others=r.uniform(0.06, 0.2))


def of_known_cache(r: random.Random) -> SimulatedDevice:
    """A new file of 8 GiB to 1 TiB behind a cache of 0 to 64 GiB, whose size is known."""
    reads, cache, size, gain = r.uniform(500, 2e4), r.uniform(0, 64) * GIB, 8 * GIB * 2 ** r.randrange(8), 40
    mixed, hit = reads / r.uniform(1.2, 3), min(1.0, cache / size)
    faster = 1 / (1 - hit + hit / gain)
    seen = of(r, reads * faster, mixed * faster)
    return SimulatedDevice(reads, mixed * r.uniform(0.12, 1), *seen, None, ARRAY, size=size, cache=cache)


def thin(r: random.Random) -> SimulatedDevice:
    """A thin LUN whose old blocks were never written, and whose writes allocate."""
    reads, gain = r.uniform(500, 2e4), r.uniform(1, 40)
    mixed = reads / r.uniform(1.2, 3)
    return SimulatedDevice(reads, mixed * r.uniform(0.3, 1), *of(r, reads * gain, mixed * gain), None, ARRAY)


def two_luns(r: random.Random) -> SimulatedDevice:
    """Two LUNs, each of which alone has all of one array and its cache."""
    first = cached(r, LUNS)
    seen = replace(first, target="/u01", cold=None if first.cold is None else first.reads * r.uniform(0.8, 1.0))
    return replace(first, parts=(first, seen))


def two_drives(r: random.Random) -> SimulatedDevice:
    """Two drives inside, measured one after the other; the data are spread as they carry them."""
    parts = (local(r), replace(local(r), target="/u01"))
    reads, mixed = (sum(values) for values in zip(*((one.reads, one.mixed) for one in parts), strict=True))
    return SimulatedDevice(reads, mixed, (), (), None, TWO, parts=parts)


def measured_twice(r: random.Random) -> SimulatedDevice:
    """Two runs of a shared device of which others take 0 to 60 % that nobody sees."""
    reads = r.uniform(5e3, 2e5)
    mixed = reads / r.uniform(1.2, 3)
    left = [r.uniform(0.4, 1) for _ in range(2)]
    parts = [SimulatedDevice(reads, mixed, *of(r, reads * part, mixed * part), None) for part in left]
    return SimulatedDevice(reads * max(left), mixed * max(left), (), (), None, parts=tuple(parts))


KINDS: dict[str, Callable[[random.Random], SimulatedDevice]] = {
    "local": local,
    "capped": capped,
    "credits": bursting,
    "cached by the host": lambda r: cached(r, VMWARE),
    "cached by the array": lambda r: cached(r, ARRAY),
    "neighbors": neighbors,
    "drifting": drifting,
    "client-bound": client_bound,
    "behind a known cache": of_known_cache,
    "thin": thin,
    "two LUNs of an array": two_luns,
    "two drives": two_drives,
    "measured twice": measured_twice,
}


def run_of(device: SimulatedDevice) -> Session:
    """The session of quick runs on a device and its parts."""
    found = session("io.direct", machine=device.machine)
    for number, part in enumerate(device.parts or (device,)):
        run = session("io.direct").steps["io.direct"]
        settings = {"path": part.target, "cold_read": True, "cache_size": part.cache}
        run.step = replace(run.step, id=f"io.direct~{number}", settings=settings)
        found.steps[run.step.id] = run
        fill(run, part)
    return found


def fill(run: StepRun, device: SimulatedDevice) -> None:
    """Put three depths of two ramps into a step, a second after the other."""
    extra: dict[str, str | int | float] = {
        "mount_point": device.target, "target_bytes": device.size, "seconds": 2 * SECONDS,
        "others_share": device.others,
    }  # fmt: skip
    for workload, at_most in (("oltp-read", device.seen_reads), ("oltp-7030", device.seen_mixed)):
        for depth, part in zip(DEPTHS, (0.08, 0.97, 1.0), strict=True):
            at = {"workload": workload, "queue_depth": depth}
            values = [value * part for value in at_most]
            point = Point("iops", at, estimate=Estimate("iops", at, sum(values) / SECONDS, replicates=2, extra=extra))
            for second, value in enumerate(values):
                point.t_ns.append(int(second * 1e9))
                point.values.append(value)
                point.flags.append(0)
            run.points[point_key("iops", at)] = point
    if device.cold is not None:
        at = {"workload": "cold-read", "queue_depth": 64}
        more = {**extra, "sampled_bytes": 64 * GIB}
        run.points[point_key("iops", at)] = Point("iops", at, estimate=Estimate("iops", at, device.cold, extra=more))


def inputs_of(device: SimulatedDevice) -> Inputs:
    """Return what is known of a device by its run."""
    return described(device.machine, measured(run_of(device)))


def judge(device: SimulatedDevice, known: Inputs, share: float, read_percent: int) -> str:
    """Return the status of the storage at a share of what the device sustains."""
    rate = share * (device.reads if read_percent == 100 else device.mixed)
    stated = parse_settings(
        [f"workload.iops={rate}", f"workload.read_percent={read_percent}", "workload.io_kib=8", "capacity.mb_s=90000"]
    )  # fmt: skip
    advice = answer({**known, **stated}, "verdict.storage", shipped())
    assert advice is not None
    return advice.decision


def why_open(known: Inputs, share: float, read_percent: int) -> str:
    """Return what moved the end that left a demand open, without its figures."""
    value = known["capacity.iops" if read_percent == 100 else "capacity.mixed_iops"]
    assert isinstance(value, Quantity)
    found = [one for one in value.uncertainties if one.upper == (share > 1)]
    least = min(found, key=lambda one: one.end or 0, default=None)
    return "its interval" if least is None else re.sub(r"[\d,.]+", "N", least.reason)


@pytest.mark.parametrize("count", [3, pytest.param(40, marks=pytest.mark.ci)])
def test_what_passes_is_carried_and_what_fails_is_not(count: int) -> None:
    wrong: Counter[tuple[str, str]] = Counter()
    decided: Counter[tuple[str, float]] = Counter()
    undecided: Counter[str] = Counter()
    for kind, make in KINDS.items():
        for number in range(count):
            device = make(random.Random(f"{kind} {number}"))
            known = inputs_of(device)
            for share in SHARES:
                for read_percent in (100, 70):
                    status = judge(device, known, share, read_percent)
                    decided[kind, share] += status in (*CARRIED, "fail")
                    undecided[why_open(known, share, read_percent)] += status not in (*CARRIED, "fail")
                    if status in CARRIED and share > 1:
                        wrong[kind, "passes"] += 1
                    if status == "fail" and share <= 1:
                        wrong[kind, "fails"] += 1
    each = count * len(SHARES) * 2
    for kind in KINDS:
        print(
            kind,
            *(f"{decided[kind, share] / count / 2:.0%}" for share in SHARES),
            wrong[kind, "passes"],
            wrong[kind, "fails"],
        )
    print(undecided.most_common())
    assert not {what: times for what, times in wrong.items() if times > each * 0.01}, wrong


def test_a_small_demand_on_readable_old_data_passes() -> None:
    makers = [KINDS[name] for name in ("capped", "cached by the host", "cached by the array", "local")]
    devices = [make(random.Random(f"small {number}")) for make in makers for number in range(10)]
    found = Counter(
        judge(one, inputs_of(one), 0.01, 100) for one in devices if one.cold is not None or one.machine is ONE
    )

    assert sum(found[status] for status in CARRIED) >= 0.95 * found.total()
