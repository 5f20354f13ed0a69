"""The space that a database takes of the storage: where it is known, today and in the last year."""

from pathlib import Path

import pytest
from msgspec.structs import replace

import purchase
from sizeup.discovery.machine import discover
from sizeup.errors import UsageError
from sizeup.model.advice import Card
from sizeup.model.machine import LocalMount, Machine
from sizeup.model.network import NfsMount
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.quantity import Origin, Quantity
from sizeup.session.value import Session, StepRun
from sizeup.sizing.advise import described, size
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizing.measured_sessions import ramp, session

ARRAY = ("array.disks=24", "array.raid=10", "array.disk_gb=960")
GROWTH = ("workload.growth_percent=20", "workload.horizon_years=3")


def space(*settings: str, **more: Value) -> Card:
    values = {**parse_settings(settings), **more}
    return next(card for card in size(values).cards if card.resource == "space")


def test_the_drives_hold_the_database_today_and_in_the_last_year() -> None:
    found = space("db.gb=4000", *ARRAY, *GROWTH)

    assert (found.share, found.last_year) == pytest.approx((4000 / 11520, 4000 * 1.728 / 11520))
    assert (found.status, found.n_plus_one, found.demand) == ("pass", None, "4,000 GB")
    assert found.detected == "11,520 GB (24 drives in RAID 10)"


def test_a_database_that_outgrows_the_drives_fails_with_the_year() -> None:
    found = space("db.gb=8000", *ARRAY, *GROWTH)

    assert (found.status, found.exceeded_in) == ("fail", 3)
    assert (found.demand, found.last_year) == ("8,000 GB", pytest.approx(8000 * 1.728 / 11520))


def test_data_that_grows_like_the_load_is_named_where_it_decides() -> None:
    """8,000 of 11,520 GB are 69 % and pass; times 1.728 they are 120 %. 4,000 GB become 60 % and pass all the same."""
    like_the_load = space("db.gb=8000", *ARRAY, *GROWTH)

    assert like_the_load.assumed == ("the data grows like the load",)
    assert like_the_load.statement.endswith("; assumed: the data grows like the load)")
    assert space("db.gb=8000", *ARRAY, *GROWTH, "db.growth_percent=20").assumed == ()
    assert space("db.gb=4000", *ARRAY, *GROWTH).assumed == ()


def test_volumes_count_all_their_drives() -> None:
    assert space("db.gb=4000", *ARRAY, "array.volumes=2").share == pytest.approx(4000 / 23040)


def test_the_space_that_is_set_replaces_the_drives_and_these_what_was_detected() -> None:
    detected: dict[str, Value] = {"capacity.gb": Quantity(5e12, "bytes", Origin.DETECTED, "dm-3")}

    assert space("db.gb=4000", *ARRAY, "capacity.gb=8000").share == 0.5
    assert space("db.gb=4000", **detected).share == 0.8
    assert space("db.gb=4000", *ARRAY, **detected).share == pytest.approx(4000 / 11520)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ((), "because nothing tells how large the storage is. Use --set capacity.gb=N"),
        (
            ("array.disks=24", "array.raid=10"),
            "because the capacity of a drive is not given. Use --set array.disk_gb=N or capacity.gb=N",
        ),
    ],
)
def test_an_unknown_space_says_why_and_what_to_do(settings: tuple[str, ...], why: str) -> None:
    found = space("db.gb=4000", *settings)

    assert (found.status, found.share, found.demand) == ("unknown", None, "4,000 GB")
    assert why in found.statement


@pytest.mark.parametrize(("gb", "status"), [("1", "uncertain"), ("1901", "fail")])
def test_all_disks_of_the_machine_bound_the_space_from_above_alone(gb: str, status: str) -> None:
    found = space(f"db.gb={gb}", "path.disks_gb=1900")

    assert found.status == status
    assert found.facts.bottleneck == "--set, all that the machine sees"
    assert ("Use --set db.device=TEXT or capacity.gb=N to decide" in found.statement) == (status == "uncertain")


@pytest.mark.parametrize(
    ("gb", "status", "said"),
    [
        ("1300", "pass", "(68 %, half of 4 drives, as in RAID 10)"),
        ("1900", "warn", "(99 %, half of 4 drives, as in RAID 10)"),
        (
            "3000",
            "uncertain",
            "; as low as 78 %: the RAID level is not given). Use --set array.raid=0|1|10|5|6 to decide",
        ),
        ("4000", "fail", "; at least 104 %: the RAID level is not given)"),
    ],
)
def test_drives_without_a_raid_level_hold_between_half_and_all_of_their_size(gb: str, status: str, said: str) -> None:
    """4 x 960 GB are 3,840 GB, half of them 1,920 GB: 1,300 / 1,920 = 68 %, 3,000 / 3,840 = 78 %, 4,000 / 3,840."""
    found = space(f"db.gb={gb}", "array.disks=4", "array.disk_gb=960")

    assert found.status == status
    assert found.statement.endswith(said)
    assert found.needs == "" or status != "pass"


def test_all_disks_are_visible_but_not_those_behind_a_network(tmp_path: Path) -> None:
    """Two LUNs of 500 GB over two paths each, and a disk of 275 GB that no adapter leads to."""
    machine = discover(purchase.server(tmp_path, luns=2))
    machine = replace(machine, block_devices=(*machine.block_devices, DISK))
    remote = replace(machine, nfs_mounts=(NfsMount("/data", "filer:/vol"),))

    seen = described(machine, {})["path.disks_gb"]
    assert isinstance(seen, Quantity)
    assert (seen.value, seen.source) == (1.275e12, "3 disks")
    assert "path.disks_gb" not in described(remote, {})


@pytest.mark.parametrize("kind", ["lvm", "crypt", "dm", "multipath", "md", "bcache"])
def test_what_lies_on_other_disks_is_no_capacity_of_its_own(kind: str) -> None:
    """A capture without ``slaves/``: a disk, a stack on it, and a LUN of 400 GB that two paths reach."""
    stack = BlockDevice("stack0", BlockKind(kind), 270 * 10**9)
    paths = [BlockDevice(name, BlockKind.SCSI, 400 * 10**9, wwn="naa.6000") for name in ("sda", "sdb")]

    seen = described(Machine(block_devices=(stack, DISK, *paths)), {})["path.disks_gb"]

    assert isinstance(seen, Quantity)
    assert (seen.value, seen.source) == (675e9, "2 disks")


def test_without_a_database_there_is_no_demand() -> None:
    assert space(*ARRAY) == Card("space", "unknown")


def test_the_size_of_the_databases_device_is_detected(tmp_path: Path) -> None:
    root = purchase.server(tmp_path, luns=2)
    machine = discover(root)
    whole, one = (
        size(described(machine, parse_settings(["db.gb=400", *device]))).inputs
        for device in ((), ("db.device=/dev/mapper/data1",))
    )
    cards = [next(card for card in size(inputs).cards if card.resource == "space") for inputs in (whole, one)]

    assert "nothing says which of the disks (1,000 GB in all)" in cards[0].statement
    assert cards[0].status == "uncertain"
    assert cards[1].share == pytest.approx(400 / 500)


DISK = BlockDevice("vda", BlockKind.VIRTIO, 275 * 10**9, leaves=("vda",), mount_points=("/", "/run/netns"))


def on_root(free: int | None, *settings: str) -> Card:
    size_bytes = None if free is None else 271 * 10**9
    root = LocalMount("/", "/dev/vda", "ext4", (), size_bytes, free)
    machine = Machine(block_devices=(DISK,), local_mounts=(root,))
    inputs = described(machine, parse_settings(settings or ["db.device=/", "db.gb=100"]))
    return next(card for card in size(inputs).cards if card.resource == "space")


@pytest.mark.parametrize(
    ("free", "gb", "status"),
    [(200, 100, "pass"), (200, 199, "warn"), (200, 270, "uncertain"), (54.5, 100, "uncertain"), (54.5, 272, "fail")],
)
def test_a_mount_gives_what_is_free_and_at_most_its_size(free: float, gb: int, status: str) -> None:
    """Of 271 GB: 270 GB fit only if they are there already, 272 GB never; 199 of 200 free GB take 99.5 %."""
    found = on_root(int(free * 10**9), "db.device=/", f"db.gb={gb}")

    assert (found.status, found.share) == (status, pytest.approx(gb / free))
    assert found.detected.endswith(" GB (free of 271 GB on /)")
    named = "data of this database may be there already). Use --set capacity.gb=N to decide" in found.statement
    assert named == (status == "uncertain")


@pytest.mark.parametrize("device", ["/", "/var/tmp", "vda", "/dev/vda", "/run/netns"])
def test_a_directory_or_device_is_judged_by_the_mount_that_it_is_on(device: str) -> None:
    found = on_root(54_500_000_000, f"db.device={device}", "db.gb=272")

    assert found.status == "fail"


def test_unknown_free_space_never_passes() -> None:
    found = on_root(None)

    assert (found.status, found.share) == ("uncertain", pytest.approx(100 / 275))
    assert "none of it certain: vda is in use (mounted on /), and its free space is unknown)" in found.statement
    assert on_root(None, "db.device=/", "db.gb=276").status == "fail"


def test_what_somebody_set_needs_no_free_space() -> None:
    assert on_root(54_500_000_000, "db.device=/", "capacity.gb=400", "db.gb=100").share == 0.25


def test_a_full_mount_holds_at_most_what_is_there() -> None:
    assert on_root(0).status == "uncertain"
    assert on_root(0, "db.device=/", "db.gb=272").status == "fail"


@pytest.mark.parametrize("name", ["/dev/sdzz", "/run/user", "/proc", "sdzz"])
def test_what_is_no_storage_of_the_machine_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"db\.device: expected a block device or a directory"):
        on_root(None, f"db.device={name}")


def measured_on(*paths: str, **more: str) -> Card:
    """The space of a database after its storage was measured on these paths."""
    other = BlockDevice("vdb", BlockKind.VIRTIO, 500 * 10**9, leaves=("vdb",), mount_points=("/u01",))
    mounts = (
        LocalMount("/", "/dev/vda", "ext4", (), 271 * 10**9, 200 * 10**9),
        LocalMount("/u01", "/dev/vdb", "xfs", (), 500 * 10**9, 400 * 10**9),
    )
    machine = Machine(block_devices=(DISK, other), local_mounts=mounts)
    steps = [session("io.direct", *ramp("oltp-read", 9e3, series="iops"), machine=machine, path=path) for path in paths]
    runs = {f"io.direct~{number}": run for number, one in enumerate(steps) for run in one.steps.values()}
    stated = parse_settings(["db.gb=100", *(f"{key}={text}" for key, text in more.items())])
    inputs = described(machine, {**measured(replace_steps(steps[0], runs), stated), **stated})
    return next(card for card in size(inputs).cards if card.resource == "space")


def replace_steps(first: Session, runs: dict[str, StepRun]) -> Session:
    return Session(first.header, machine=first.machine, steps=runs)


def test_the_directory_that_was_measured_is_the_place_of_the_database_while_none_is_named() -> None:
    found = measured_on("/u01/data")

    assert (found.status, found.share) == ("assumed", 0.25)
    assert found.assumed == ("that the database goes to /u01, where the storage was measured",)
    assert measured_on("/u01/data", **{"db.device": "/var/tmp"}).share == 0.5
    assert measured_on("/u01/data", **{"db.device": "/var/tmp"}).status == "pass"


@pytest.mark.parametrize(
    ("paths", "status"), [(("/u01/a", "/u01/b"), "assumed"), (("/u01/a", "/var/tmp"), "uncertain")]
)
def test_directories_on_several_mounts_name_no_place(paths: tuple[str, ...], status: str) -> None:
    assert measured_on(*paths).status == status
