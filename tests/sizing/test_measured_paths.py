"""A measured capacity counts for the paths that it was taken on."""

import pytest
from msgspec.structs import replace

from sizeup.model.machine import PathBudget
from sizeup.model.plan import Gentle, Step
from sizeup.model.sample import Coordinates, Estimate
from sizeup.model.storage import BlockDevice, BlockKind, Hba, Transport
from sizeup.quantity import Origin, Quantity, Words
from sizeup.session.value import Session
from sizeup.sizing.inputs.measured import measured
from sizing.measured_sessions import FIVE, ONE, capacity_of, drives, figures, put, ramp, session, unused


def test_one_drive_of_five_replaces_its_own_estimate_and_is_named() -> None:
    found = session("io.direct", *ramp("dss-rand", 114e6, 114.7e6), machine=FIVE, path="/dev/nvme2n1")

    rate, bottleneck, caveats = capacity_of(found)

    assert (rate, bottleneck) == (4 * 250 + 114.7, "nvme2n1, as measured")
    assert "measured: nvme2n1 114.7 MB/s; estimated by their links: nvme0, nvme1, nvme3, nvme4" in caveats
    assert capacity_of(found, "/u02")[:2] == (114.7, "nvme2n1, as measured")
    assert capacity_of(found, "/u03")[:2] == (250, "link of nvme3")


def test_a_measurement_of_another_device_is_reported_and_not_used() -> None:
    found = session("io.direct", *ramp("dss-rand", 114e6, 114.7e6), machine=FIVE, path="/dev/nvme2n1")
    _, _, caveats = capacity_of(found, "/u03")

    assert any("is not used, because it is of nvme2n1 alone. Measure /u03" in caveat for caveat in caveats)


@pytest.mark.parametrize(
    ("points", "why"),
    [
        (ramp("single-read", 378e6), "small requests were measured, and large ones carry more"),
        (ramp("dss-rand", 378e6), "it was measured at queue depth 1 alone"),
        (
            [("rate", {"workload": "dss-rand"}, 300e6), *ramp("dss-rand", 378e6)],
            "it was measured at queue depth 1 alone",
        ),
        (ramp("dss-rand", 100e6, 190e6, 378e6), "it still rose at queue depth 4, where its ramp ended"),
        (
            [*ramp("dss-rand", 370e6, 378e6), ("cpu", {"workload": "dss-rand", "queue_depth": 2}, 0.99)],
            "the CPUs of the host were the limit (99 % busy)",
        ),
        (
            [
                *ramp("dss-rand", 377e6, 378e6, 500e6),
                ("validity", {"workload": "dss-rand", "queue_depth": 4, "part": "x"}, 0),
            ],
            "the best figure of its ramp is not valid (its x check failed)",
        ),
    ],
)
def test_what_does_not_show_the_most_is_a_lower_bound(points: list[tuple[str, Coordinates, float]], why: str) -> None:
    capacity = measured(session("io.direct", *points))["path.bandwidth_mb_s"]

    assert isinstance(capacity, Quantity)
    assert (capacity.least, capacity.most) == (378e6, 4e9)  # up to its link
    assert [one.reason for one in capacity.uncertainties] == [why]


@pytest.mark.parametrize(("first", "last", "rises"), [(1, 120e6, False), (1, 122e6, True), (2, 122e6, True)])
def test_a_ramp_rises_by_what_each_doubling_of_its_depth_gains(first: int, last: float, rises: bool) -> None:
    """From one depth to four times it are two doublings: 100 MB/s x 1.1 x 1.1 = 121 MB/s."""
    rates = ((first, 100e6), (4 * first, last))
    points = [("rate", {"workload": "dss-rand", "queue_depth": depth}, rate) for depth, rate in rates]
    for depth, busy in ((first, 0.99), (4 * first, 0.95)):  # no limit at the last depth
        points.append(("cpu", {"workload": "dss-rand", "queue_depth": depth}, busy))
    capacity = measured(session("io.direct", *points))["path.bandwidth_mb_s"]

    assert isinstance(capacity, Quantity)
    assert bool(capacity.uncertainties) is rises


def test_a_gentle_figure_is_a_lower_bound_whose_caps_are_named_and_one_at_full_load_comes_first() -> None:
    gently, full = (
        session("io.direct", *ramp("oltp-read", *values, series="iops")) for values in ((500,), (9e3, 9.1e3))
    )
    run = gently.steps.pop("io.direct")
    run.step = replace(run.step, id="io.direct~2", gentle=Gentle(cpu=0))
    gently.steps["io.direct~2"] = run
    capacity = measured(gently)["capacity.iops"]
    both = measured(Session(full.header, machine=ONE, steps=full.steps | gently.steps))["capacity.iops"]

    assert isinstance(capacity, Quantity)
    assert (capacity.least, capacity.most) == (500, None)
    reason = "it was measured gently: at most 500 IOPS and 50 MB/s"
    assert [(one.reason, one.action) for one in capacity.uncertainties] == [(reason, "Measure at full load")]
    assert isinstance(both, Quantity)
    assert (both.least, both.uncertainties) == (9.1e3, ())


def test_storage_without_a_name_is_the_storage() -> None:
    """An import that tells no machine and no file."""
    found = measured(session("io.direct", *ramp("dss-rand", 114e6, 114.7e6), machine=None, path=""))["path.bottleneck"]

    assert isinstance(found, Words)
    assert found.value == "storage, as measured"


def test_requests_at_queue_depth_1_are_a_lower_bound() -> None:
    capacity = measured(session("io.direct", *ramp("single-read", 9e3, series="iops")))["capacity.iops"]

    assert isinstance(capacity, Quantity)
    assert (capacity.least, capacity.most) == (9e3, None)


def test_requests_of_one_drive_of_five_do_not_stand_for_all() -> None:
    found = session("io.direct", *ramp("oltp-read", 3.9e4, 4e4, series="iops"), machine=FIVE)

    assert unused(found, "capacity.iops").cause == "it is of nvme0n1 alone"
    assert measured(found, {"db.device": Words("/u00", Origin.USER, "--set")})["capacity.iops"] == Quantity(
        4e4, "1/s", Origin.MEASURED, "io.direct iops at workload=oltp-read, queue_depth=2 on /u00/data"
    )


def test_a_target_on_an_unknown_device_does_not_count_for_all_storage() -> None:
    found = session("io.direct", *ramp("dss-rand", 377e6, 378e6), path="/elsewhere/file")

    assert unused(found).sentence("MB/s") == (
        "378 MB/s was measured but is not used, because the device under its target "
        "(/elsewhere/file) is unknown. Measure a device or mount of this machine"
    )
    assert capacity_of(found)[:2] == (4000, "link of nvme0")


def test_the_mount_that_the_probe_opened_counts_and_not_the_name_of_its_path() -> None:
    found = session("io.direct", machine=FIVE, path="/u00/link-to-elsewhere")
    for series, at, value in ramp("dss-rand", 114e6, 114.7e6):
        put(found.steps["io.direct"], Estimate(series, at, value, extra={"mount_point": "/u03"}))
    assert capacity_of(found)[1] == "nvme3n1, as measured"
    for series, at, value in ramp("dss-rand", 114e6, 114.7e6):
        put(found.steps["io.direct"], Estimate(series, at, value, extra={"device_number": "259:4"}))
    assert capacity_of(found)[1] == "nvme4n1, as measured"
    for series, at, value in ramp("dss-rand", 114e6, 114.7e6):
        put(found.steps["io.direct"], Estimate(series, at, value, extra={"mount_point": "/tmp"}))
    assert unused(found).cause.startswith("the device under its target")


def test_several_paths_at_once_stand_for_all_of_them() -> None:
    found = session("io.direct", machine=drives(2, 4e9), path="/u00")
    run = found.steps["io.direct"]
    run.step = Step("io.direct", "io.direct", "", {"path": "/u00", "more_paths": "/u01"}, 1.0, 2.0)
    for depth, value in ((8, 4.9e9), (16, 5e9)):
        put(run, Estimate("rate", {"workload": "dss-rand", "queue_depth": depth, "path": "all together"}, value))

    assert figures(found)["path.bandwidth_mb_s"] == 5e9


def test_a_path_measured_slower_than_the_estimate_of_another_is_not_the_widest() -> None:
    adapter = Hba("host3", Transport.FC, state="Online")
    machine = replace(
        drives(1, 1e9), hbas=(adapter,), budgets=(*drives(1, 1e9).budgets, PathBudget("host3", None, 0, (), 8e8, "fc"))
    )
    found = session("io.direct", *ramp("dss-rand", 399e6, 400e6), machine=machine)

    rate, bottleneck, caveats = capacity_of(found)

    assert (rate, bottleneck) == (800, "fc")
    assert any("NVMe (nvme0) is not counted, with 400 MB/s" in caveat for caveat in caveats)


def test_of_a_disk_and_a_volume_on_it_the_one_counts_that_showed_more() -> None:
    volume = BlockDevice("dm-0", BlockKind.LVM, 10**11, "253:0", leaves=("nvme0n1",), mount_points=("/data",))
    machine = replace(ONE, block_devices=(*ONE.block_devices, volume))
    found = session("io.direct", *ramp("dss-rand", 399e6, 400e6), machine=machine, path="/data")
    raw = session("io.direct", *ramp("dss-rand", 599e6, 600e6)).steps["io.direct"]
    found.steps["io.direct~2"] = raw
    raw.step = Step("io.direct~2", "io.direct", "", {"path": "/dev/nvme0n1"}, 1.0, 2.0)

    assert capacity_of(found)[:2] == (600, "nvme0n1, as measured")


def test_what_a_failure_leaves_of_a_disk_without_a_known_path_is_unknown() -> None:
    disk = replace(ONE, nvme_controllers=(), nvme_namespaces=(), budgets=())

    found = measured(session("io.direct", *ramp("dss-rand", 399e6, 400e6), machine=disk))

    assert "path.bandwidth_mb_s" in found
    assert "path.degraded_mb_s" not in found
