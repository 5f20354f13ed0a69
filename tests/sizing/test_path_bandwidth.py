"""Ways to storage: which devices count, and what they carry together."""

import pytest
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.budget import PathBudget, Stage
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    MultipathMap,
    NvmeController,
    NvmeNamespace,
    NvmePath,
    Path,
    ScsiDevice,
    TargetPort,
    Transport,
)
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.keys import KEYS, UnusedMeasurement
from sizeup.sizing.path_bandwidth import (
    PACKET_EFFICIENCY,
    Capacity,
    PathBandwidth,
    disks_that_count,
    storage_path_bandwidths,
)
from sizeup.sizing.rules import shipped
from sizeup.sizing.storage_paths import StorageTarget, down_devices, find_target


def budget(device: str, limit: float | None, share: float | None = None) -> PathBudget:
    return PathBudget(device, f"0000:{device}:00.0", 0, (), limit, f"link {device}", share)


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
    return size(described(NVME, {"db.device": Words(device, Origin.USER, "--set")}))


def test_devices_add_up_with_a_shared_link_counted_once() -> None:
    assert storage_path_bandwidths(NVME) == (
        PathBandwidth(
            "NVMe",
            ("nvme0", "nvme1"),
            6e9,
            "link nvme0",
            degraded_bytes_per_second=2e9,
            failure="nvme1",
        ),
    )


@pytest.mark.parametrize(
    ("device", "carried"), [("nvme1n1", 4e9), ("/dev/nvme0n1", 2e9), ("/boot", 2e9), ("/dev/md0", 6e9)]
)
def test_a_named_device_keeps_only_the_paths_to_it(device: str, carried: float) -> None:
    capacity = named(device).find("io.capacity")

    assert capacity is not None
    assert capacity.quantity is not None
    assert capacity.quantity.value == carried


def test_the_stack_under_the_named_device_says_how_many_drives_writes_get() -> None:
    advice = named("/dev/md0").find("storage.write-spindles")

    assert advice is not None
    assert advice.verdict == "Effective drives: 1 drive for writes, 2 drives for random reads"


def test_an_unknown_device_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean nvme0n1"):
        storage_path_bandwidths(NVME, "/dev/nvme0n2")


def network(*nics: Nic, transports: int | None = None) -> Machine:
    return Machine(
        nics=nics,
        nfs_mounts=(NfsMount("/data", "filer:/vol", transports=transports),),
        budgets=(budget("eth0", 1.25e9), budget("eth1", 1.25e9), budget("eth2", 3e9)),
    )


def test_nfs_takes_the_fastest_interface_that_is_up() -> None:
    machine = network(Nic("eth0", "physical", carrier=True), Nic("eth2", "physical", carrier=False))

    assert storage_path_bandwidths(machine) == (PathBandwidth("NFS", ("eth0",), 1.25e9, "link eth0", failure="eth0"),)


@pytest.mark.parametrize(("mode", "carried"), [("802.3ad", 2.5e9), ("active-backup", 1.25e9)])
def test_members_of_a_bond_add_up_as_its_mode_says(mode: str, carried: float) -> None:
    bond = Nic("bond0", "bond", carrier=True, lower=("eth0", "eth1"), bond_mode=mode, bond_active="eth0")

    assert storage_path_bandwidths(network(bond))[0].bytes_per_second == carried


NOT_TAKEN = UnusedMeasurement(
    Quantity(9e9, "bytes/s", Origin.MEASURED, "io.direct rate at queue_depth=8"),
    "it may come from a cache",
    "physical: 9 GB/s exceeds the bandwidth of the path",
    "run io.direct with a larger size",
)


@pytest.mark.parametrize("found", [Machine(), NVME])
def test_an_unused_measurement_is_reported_instead_of_the_advice_to_measure(found: Machine) -> None:
    cores = Quantity(8, "1", Origin.USER, "--set")
    capacity = size(described(found, {"machine.cores": cores, "capacity.mb_s": NOT_TAKEN})).find("io.capacity")

    assert capacity is not None
    told = " ".join((capacity.verdict, *capacity.caveats))
    assert (
        "9,000 MB/s was measured but is not used: it is not valid, because it may come from a cache. "
        "Run io.direct with a larger" in told
    )
    assert "io.direct rate at queue_depth=8; physical: 9 GB/s exceeds the bandwidth of the path" in told
    assert "storage probe" not in told
    assert "storage probe" not in " ".join(capacity.working)


def test_a_measured_capacity_has_no_advice_to_measure_it() -> None:
    rate = Quantity(1e9, "bytes/s", Origin.MEASURED, "io.direct")
    unmeasured, measured = (
        size(described(NVME, {})).find("io.capacity"),
        size(described(NVME, {"capacity.mb_s": rate})).find("io.capacity"),
    )

    assert unmeasured is not None
    assert measured is not None
    assert unmeasured.caveats == (
        "this is the bandwidth of the links; the disks may deliver less. Measure it with a storage probe",
    )
    assert measured.caveats == ()


def test_unused_measurements_of_iops_and_log_writes_are_reported_where_they_are_needed() -> None:
    wanted = {key: KEYS[key].parse("5", Origin.USER, "--set") for key in ("workload.iops", "redo.mb_s")}
    rate = replace(NOT_TAKEN, quantity=Quantity(4e4, "1/s", Origin.MEASURED, "io.direct"))
    write = replace(NOT_TAKEN, quantity=Quantity(4e5, "ns", Origin.MEASURED, "io.direct"))
    sizing = size({**wanted, "capacity.iops": rate, "redo.sync_write_us": write})
    requests, writer = sizing.find("verdict.storage"), sizing.find("redo.sync-write")

    assert requests is not None
    assert requests.decision == "unknown"
    assert "capacity unknown. 40,000 IOPS was measured but is not used: it is not valid" in requests.verdict
    assert writer is not None
    assert writer.verdict.startswith("Redo capacity: unknown. 400 us was measured but is not used: it is not valid")


def test_one_tcp_connection_can_be_narrower_than_the_link() -> None:
    sizing = size(described(network(Nic("eth2", "physical", carrier=True), transports=1), {}))
    capacity = sizing.find("io.capacity")

    assert capacity is not None
    assert capacity.quantity is not None
    assert (capacity.decision, capacity.quantity.value) == ("NFS connections (nconnect)", 2e9)


def fibre_channel(*hbas: Hba, luns: int = 1, states: tuple[str, ...] = ("running", "running")) -> Machine:
    """Ports in front of LUNs that each of them reaches, all LUNs under multipath maps."""
    units, maps, devices = [], [], []
    for lun in range(luns):
        paths = [f"sd{hba.name[-1]}{lun}" for hba in hbas]
        for hba, name, state in zip(hbas, paths, states, strict=False):
            units.append(ScsiDevice(f"{hba.name[-1]}:0:0:{lun}", 0, hba.name, name, state=state))
            devices.append(BlockDevice(name, BlockKind.SCSI, 10**12, leaves=(name,)))
        over = tuple(
            Path(name, None, hba.name, Transport.FC, None, None, None, None, state, None)
            for hba, name, state in zip(hbas, paths, states, strict=False)
        )
        maps.append(MultipathMap(f"mpath{lun}", f"dm-{lun}", 10**12, None, None, over))
        members = tuple(paths)
        devices.append(BlockDevice(f"dm-{lun}", BlockKind.MULTIPATH, 10**12, members=members, leaves=(f"dm-{lun}",)))
    return Machine(
        hbas=hbas,
        scsi_devices=tuple(units),
        maps=tuple(maps),
        block_devices=tuple(devices),
        budgets=tuple(budget(hba.name, 800e6) for hba in hbas),
    )


def port(name: str, state: str | None = "Online", **more: tuple[TargetPort, ...]) -> Hba:
    return Hba(name, Transport.FC, state=state, **more)


def carried(machine: Machine, device: str | None = None) -> float:
    return sum(bandwidth.bytes_per_second for bandwidth in storage_path_bandwidths(machine, device))


@pytest.mark.parametrize("state", ["Linkdown", "Offline", "Error", "Not Present"])
def test_a_fibre_channel_port_that_is_down_carries_nothing_and_is_named(state: str) -> None:
    machine = fibre_channel(port("host3"), port("host4", state))
    sizing = size(described(machine, {"machine.cores": Quantity(8, "1", Origin.USER, "--set")}))
    capacity = sizing.find("io.capacity")

    assert carried(machine) == 800e6
    assert capacity is not None
    assert f"down, so counted as 0: host4 ({state})" in capacity.caveats


def test_ports_that_are_all_down_leave_the_capacity_unknown_with_the_reason() -> None:
    machine = fibre_channel(port("host3", "Linkdown"), port("host4", "Linkdown"))
    capacity = size(described(machine, {"machine.cores": Quantity(8, "1", Origin.USER, "--set")})).find("io.capacity")

    assert storage_path_bandwidths(machine) == ()
    assert capacity is not None
    assert (capacity.decision, capacity.quantity) == ("unknown", None)
    assert "no path that is up reports its speed (down: host3 (Linkdown), host4 (Linkdown))" in capacity.verdict


@pytest.mark.parametrize("state", [None, "Online", "Unknown", "running"])
def test_a_port_that_says_nothing_of_a_fault_counts(state: str | None) -> None:
    assert carried(fibre_channel(port("host3", state))) == 800e6


@pytest.mark.parametrize(
    ("states", "carried_bytes"),
    [(("running", "running"), 1.6e9), (("running", "offline"), 8e8), (("offline", "transport-offline"), 0)],
)
def test_a_port_whose_paths_have_all_failed_carries_nothing(states: tuple[str, ...], carried_bytes: float) -> None:
    machine = fibre_channel(port("host3"), port("host4"), states=states)

    assert carried(machine) == carried_bytes
    assert carried(machine, "dm-0") == carried_bytes


def test_a_port_out_of_reach_of_every_target_carries_nothing() -> None:
    gone = port("host3", targets=(TargetPort("0x50", state="Blocked"), TargetPort("0x51", state="Not Present")))
    session = Hba("host5", Transport.ISCSI, state="running", targets=(TargetPort("iqn", state="FAILED"),))

    assert down_devices(Machine(hbas=(gone, session))) == {
        "host3": "no target port reachable: Blocked, Not Present",
        "host5": "no target port reachable: FAILED",
    }


def test_an_adapter_over_an_interface_without_link_carries_nothing() -> None:
    hba = Hba("host5", Transport.ISCSI, state="running", net_device="eth0")

    assert (
        down_devices(Machine(hbas=(hba,), nics=(Nic("eth0", "physical", carrier=False),)))["host5"] == "no link on eth0"
    )


def test_a_sas_adapter_with_nothing_attached_carries_nothing() -> None:
    assert down_devices(Machine(hbas=(Hba("host5", Transport.SAS, state="running", phys=8),))) == {
        "host5": "nothing attached"
    }


@pytest.mark.parametrize("state", ["connecting", "resetting", "dead"])
def test_a_controller_that_is_not_live_carries_nothing(state: str) -> None:
    controllers = (NVME.nvme_controllers[0], NvmeController("nvme1", "pcie", None, state=state))

    assert storage_path_bandwidths(replace(NVME, nvme_controllers=controllers)) == (
        PathBandwidth("NVMe", ("nvme0",), 2e9, "link nvme0", failure="nvme0"),
    )


def test_an_inaccessible_nvme_path_is_none_to_its_namespace() -> None:
    paths = (NvmePath("nvme0c0n1", "nvme0", "optimized"), NvmePath("nvme0c1n1", "nvme1", "inaccessible"))
    shared = NvmeNamespace("nvme0n1", None, 1, 10**12, ("nvme0", "nvme1"), paths)
    machine = replace(NVME, nvme_namespaces=(shared,))

    assert carried(machine, "nvme0n1") == 2e9


def test_a_bond_member_without_link_adds_nothing() -> None:
    members = (Nic("eth0", "physical", carrier=True), Nic("eth1", "physical", up=False))
    bond = Nic("bond0", "bond", carrier=True, lower=("eth0", "eth1"), bond_mode="802.3ad")

    assert carried(network(*members, bond)) == 1.25e9


def test_an_interface_that_is_not_up_is_not_taken_for_nfs() -> None:
    assert (
        storage_path_bandwidths(network(Nic("eth0", "physical", up=False), Nic("eth2", "physical", carrier=False)))
        == ()
    )


def test_nfs_takes_the_interface_of_its_route_and_not_the_fastest() -> None:
    machine = network(Nic("eth0", "physical", carrier=True), Nic("eth2", "physical", carrier=True))
    routed = replace(machine, nfs_mounts=(NfsMount("/data", "filer:/vol", nic="eth0"),))

    assert (
        storage_path_bandwidths(routed)
        == storage_path_bandwidths(routed, "/data")
        == (PathBandwidth("NFS", ("eth0",), 1.25e9, "link eth0", failure="eth0"),)
    )


def test_ports_of_one_slot_share_its_link_though_their_speed_is_unknown() -> None:
    link = Stage("link", "0000:23:00.0", 8e9, "8 GT/s x8")
    slot = tuple(
        PathBudget(name, f"0000:23:00.{number}", 0, (replace(link, subject=f"0000:23:00.{number}"),), 8e9, "link")
        for number, name in enumerate(("host1", "host2"))
    )

    assert carried(Machine(hbas=(port("host1"), port("host2")), budgets=slot)) == pytest.approx(8e9 * 0.915)


def degraded(machine: Machine, device: str | None = None) -> tuple[float, str]:
    (bandwidth,) = storage_path_bandwidths(machine, device)
    return bandwidth.degraded_bytes_per_second, bandwidth.failure


def test_of_two_ports_one_is_left_after_a_failure() -> None:
    assert degraded(fibre_channel(port("host3"), port("host4"))) == (800e6, "host3")


def test_ports_of_one_slot_fail_together() -> None:
    machine = fibre_channel(port("host3"), port("host4"), port("host5"), states=("running",) * 3)
    addresses = ("0000:01:00.0", "0000:01:00.1", "0000:02:00.0")
    slots = [replace(one, pci_address=at) for one, at in zip(machine.budgets, addresses, strict=True)]

    assert degraded(replace(machine, budgets=tuple(slots))) == (800e6, "host3, host4")


@pytest.mark.parametrize(("access", "left"), [("standby", 800e6), ("unavailable", 0)])
@pytest.mark.parametrize("device", [None, "dm-0"])
def test_a_standby_path_takes_over_after_a_failure(access: str, left: float, device: str | None) -> None:
    machine = fibre_channel(port("host3"), port("host4"))
    active, waiting = machine.scsi_devices
    units = (replace(active, access_state="active/optimized"), replace(waiting, access_state=access))

    machine = replace(machine, scsi_devices=units)

    assert carried(machine) == 800e6
    assert degraded(replace(machine, maps=machine.maps), device)[0] == left


@pytest.mark.parametrize(("mode", "active"), [("active-backup", "eth0"), ("802.3ad", None)])
def test_one_member_of_a_bond_is_left_after_a_failure(mode: str, active: str | None) -> None:
    members = (Nic("eth0", "physical", carrier=True), Nic("eth1", "physical", carrier=True))
    bond = Nic("bond0", "bond", carrier=True, lower=("eth0", "eth1"), bond_mode=mode, bond_active=active)

    machine = replace(network(*members, bond), nfs_mounts=(NfsMount("/data", "filer:/vol", nic="bond0"),))

    assert degraded(machine) == (1.25e9, "eth0")


def test_detected_links_lose_as_much_to_packet_headers_as_the_rules_say() -> None:
    assert shipped().figure("link.pcie.packet-efficiency").value == pytest.approx(PACKET_EFFICIENCY)


def target(name: str, disks: set[str], *carriers: str) -> StorageTarget:
    return StorageTarget(name, frozenset(disks), frozenset(carriers))


def test_a_measured_capacity_replaces_the_estimate_of_its_own_path_alone() -> None:
    one = Capacity(target("nvme1n1", {"nvme1n1"}, "nvme1"), 5e8)

    (bandwidth,) = storage_path_bandwidths(NVME, None, [one])

    assert (bandwidth.bytes_per_second, bandwidth.bottleneck, bandwidth.estimated) == (
        2e9 + 5e8,
        "nvme1n1, as measured",
        ("nvme0",),
    )


def test_a_lun_of_many_says_nothing_about_its_ports_unless_the_database_lies_on_it() -> None:
    machine = fibre_channel(port("host3"), port("host4"), luns=24)
    lun = find_target(machine, "/dev/dm-7")
    assert lun == target("dm-7", {"dm-7"}, "host3", "host4")
    measured = [Capacity(lun, 5.4e6)]

    assert storage_path_bandwidths(machine, None, measured) == storage_path_bandwidths(machine)
    assert [bandwidth.bytes_per_second for bandwidth in storage_path_bandwidths(machine, "dm-7", measured)] == [5.4e6]
    assert storage_path_bandwidths(machine, "dm-8", measured) == storage_path_bandwidths(machine, "dm-8")


def test_a_disk_without_a_known_path_counts_for_the_storage_only_where_it_is_all_of_it() -> None:
    disk = BlockDevice("vda", BlockKind.VIRTIO, 10**12, leaves=("vda",), mount_points=("/",))
    measured = [Capacity(target("vda", {"vda"}), 5e8)]
    other = replace(disk, name="vdb", leaves=("vdb",), mount_points=("/u01",))

    assert storage_path_bandwidths(Machine(block_devices=(disk,)), None, measured)[0].bytes_per_second == 5e8
    assert storage_path_bandwidths(Machine(block_devices=(disk, other)), None, measured) == ()
    assert storage_path_bandwidths(Machine(block_devices=(disk, other)), "/", measured)[0].bytes_per_second == 5e8
    assert disks_that_count(Machine(block_devices=(disk, other))) == {"vda", "vdb"}


def test_a_path_lies_on_the_mount_that_is_closest_above_it() -> None:
    root = BlockDevice("sda", BlockKind.SCSI, 10**12, leaves=("sda",), mount_points=("/",), devno="8:0")
    data = replace(root, name="sdb", leaves=("sdb",), mount_points=("/u01",), devno="8:16")
    machine = Machine(block_devices=(root, data), nfs_mounts=(NfsMount("/backup", "filer:/vol", nic="eth0"),))

    def name(where: str, *, exact: bool = False) -> str | None:
        found = find_target(machine, where, exact=exact)
        return None if found is None else found.name

    assert [name(where) for where in ("/u01/data", "/u011", "/dev/sdb", "/backup/x")] == [
        "sdb",
        "sda",
        "sdb",
        "filer:/vol",
    ]
    assert [name(where) for where in ("/dev/sdc", "relative", "")] == [None, None, None]
    assert [name(where, exact=True) for where in ("/u01", "8:16", "/u01/data")] == ["sdb", "sdb", None]
