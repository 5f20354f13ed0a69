"""Ways to storage: which devices count, and what they carry together."""

import pytest
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.budget import PathBudget
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import BlockDevice, BlockKind, NvmeController, NvmeNamespace
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing, size, whatif
from sizeup.sizing.keys import KEYS, LeftOut
from sizeup.sizing.ways import Way, storage_ways


def budget(device: str, limit: float | None, share: float | None = None) -> PathBudget:
    return PathBudget(device, "0000:01:00.0", 0, (), limit, f"link {device}", share)


NVME = Machine(
    nvme_controllers=tuple(NvmeController(name, "pcie", None) for name in ("nvme0", "nvme1")),
    nvme_namespaces=(
        NvmeNamespace("nvme0n1", None, 1, 10**12, ("nvme0",)),
        NvmeNamespace("nvme1n1", None, 1, 10**12, ("nvme1",)),
    ),
    block_devices=(
        BlockDevice("nvme0n1", BlockKind.NVME, 10**12, mount_points=("/boot",)),
        BlockDevice("nvme1n1", BlockKind.NVME, 10**12),
        BlockDevice("md0", BlockKind.MD, 10**12, leaves=("nvme0n1", "nvme1n1"), write_spindles=1, read_spindles=2),
    ),
    budgets=(budget("nvme0", 4e9, 2e9), budget("nvme1", 4e9)),
)


def named(device: str) -> Sizing:
    return whatif(NVME, {"db.device": Words(device, Origin.USER, "--set")})


def test_devices_add_up_with_a_shared_link_counted_once() -> None:
    assert storage_ways(NVME) == (Way("NVMe", ("nvme0", "nvme1"), 6e9, "link nvme0"),)


@pytest.mark.parametrize(
    ("device", "carried"), [("nvme1n1", 4e9), ("/dev/nvme0n1", 2e9), ("/boot", 2e9), ("/dev/md0", 6e9)]
)
def test_a_named_device_keeps_only_the_ways_to_it(device: str, carried: float) -> None:
    supply = named(device).find("io.supply")

    assert supply is not None
    assert supply.quantity is not None
    assert supply.quantity.value == carried


def test_the_stack_under_the_named_device_says_how_many_drives_writes_get() -> None:
    advice = named("/dev/md0").find("storage.write-spindles")

    assert advice is not None
    assert advice.verdict == "Writes get 1 drive; random reads 2 drives"


def test_an_unknown_device_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean nvme0n1"):
        storage_ways(NVME, "/dev/nvme0n2")


def network(*nics: Nic, transports: int | None = None) -> Machine:
    return Machine(
        nics=nics,
        nfs_mounts=(NfsMount("/data", "filer:/vol", transports=transports),),
        budgets=(budget("eth0", 1.25e9), budget("eth1", 1.25e9), budget("eth2", 3e9)),
    )


def test_nfs_takes_the_fastest_interface_that_is_up() -> None:
    machine = network(Nic("eth0", "physical", carrier=True), Nic("eth2", "physical", carrier=False))

    assert storage_ways(machine) == (Way("NFS", ("eth0",), 1.25e9, "link eth0"),)


@pytest.mark.parametrize(("mode", "carried"), [("802.3ad", 2.5e9), ("active-backup", 1.25e9)])
def test_members_of_a_bond_add_up_as_its_mode_says(mode: str, carried: float) -> None:
    bond = Nic("bond0", "bond", carrier=True, lower=("eth0", "eth1"), bond_mode=mode, bond_active="eth0")

    assert storage_ways(network(bond))[0].bytes_per_second == carried


NOT_TAKEN = LeftOut(
    Quantity(9e9, "bytes/s", Origin.MEASURED, "io.direct rate at outstanding=8"),
    "it may come from a cache",
    "physical: 9 GB/s is more than the way carries",
    "run io.direct with a larger size",
)


@pytest.mark.parametrize("found", [Machine(), NVME])
def test_what_was_measured_and_is_not_taken_is_said_in_place_of_the_wish_to_measure(found: Machine) -> None:
    cores = Quantity(8, "1", Origin.USER, "--set")
    supply = whatif(found, {"machine.cores": cores, "supply.mb_s": NOT_TAKEN}).find("io.supply")

    assert supply is not None
    told = " ".join((supply.verdict, *supply.doubts))
    assert "9,000 MB/s was measured and is not taken, as it may come from a cache: run io.direct with a larger" in told
    assert "io.direct rate at outstanding=8; physical: 9 GB/s is more than the way carries" in told
    assert "measure with" not in told
    assert "measured with the probe" not in " ".join(supply.working)


def test_a_supply_that_was_measured_is_not_asked_to_be_measured() -> None:
    rate = Quantity(1e9, "bytes/s", Origin.MEASURED, "io.direct")
    unmeasured, measured = whatif(NVME, {}).find("io.supply"), whatif(NVME, {"supply.mb_s": rate}).find("io.supply")

    assert unmeasured is not None
    assert measured is not None
    assert unmeasured.doubts == (
        "this is what links can carry, not what disks deliver; measure with the probe io.direct",
    )
    assert measured.doubts == ()


def test_requests_and_log_writes_that_are_not_taken_are_told_where_they_are_wanted() -> None:
    wanted = {key: KEYS[key].parse("5", Origin.USER, "--set") for key in ("workload.iops", "redo.mb_s")}
    rate = replace(NOT_TAKEN, quantity=Quantity(4e4, "1/s", Origin.MEASURED, "io.direct"))
    write = replace(NOT_TAKEN, quantity=Quantity(4e5, "ns", Origin.MEASURED, "io.direct"))
    sizing = size({**wanted, "supply.iops": rate, "redo.sync_write_us": write})
    requests, writer = sizing.find("io.balance.iops"), sizing.find("redo.sync-write")

    assert requests is not None
    assert requests.verdict.startswith("Supply unknown: 40,000 IOPS was measured and is not taken")
    assert writer is not None
    assert writer.verdict.startswith("Unknown: 400 us was measured and is not taken")


def test_one_tcp_connection_can_be_narrower_than_the_link() -> None:
    sizing = whatif(network(Nic("eth2", "physical", carrier=True), transports=1), {})
    supply = sizing.find("io.supply")

    assert supply is not None
    assert supply.quantity is not None
    assert (supply.decision, supply.quantity.value) == ("NFS connections (nconnect)", 2e9)
