"""Ways to storage: which devices count, and what they carry together."""

import pytest
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.machine import FileSystem, LocalMount, Machine, PathBudget, Stage
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import BlockDevice, BlockKind, Hba, Transport
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.detected import detected
from sizeup.sizing.keys import KEYS, parse_settings
from sizeup.sizing.rules import shipped
from sizeup.sizing.storage_paths import (
    PACKET_EFFICIENCY,
    Capacity,
    PathBandwidth,
    disks_that_count,
    find_target,
    storage_path_bandwidths,
)
from sizing.storage_machines import NVME, budget, carried, fibre_channel, network, port, target


def named(device: str) -> Sizing:
    return size(described(NVME, {"db.device": Words(device, Origin.USER, "--set")}))


def test_devices_add_up_with_a_shared_link_counted_once() -> None:
    assert storage_path_bandwidths(NVME) == (
        PathBandwidth("NVMe", ("nvme0", "nvme1"), 6e9, "link nvme0", degraded_bytes_per_second=2e9, failure="nvme1"),
    )


@pytest.mark.parametrize(
    ("device", "carried"), [("nvme1n1", 4e9), ("/dev/nvme0n1", 2e9), ("/boot", 2e9), ("/dev/md0", 6e9)]
)
def test_a_named_device_keeps_only_the_paths_to_it(device: str, carried: float) -> None:
    capacity = named(device).find("io.capacity")

    assert capacity.quantity.value == carried


def test_the_stack_under_the_named_device_says_how_many_drives_writes_get() -> None:
    advice = named("/dev/md0").find("storage.write-spindles")

    assert advice.verdict == "Effective drives: 1 drive for writes, 2 drives for random reads"


def test_an_unknown_device_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean nvme0n1"):
        storage_path_bandwidths(NVME, "/dev/nvme0n2")


def test_nfs_takes_the_fastest_interface_that_is_up() -> None:
    machine = network(Nic("eth0", "physical", carrier=True), Nic("eth2", "physical", carrier=False))

    assert storage_path_bandwidths(machine) == (PathBandwidth("NFS", ("eth0",), 1.25e9, "link eth0", failure="eth0"),)


@pytest.mark.parametrize(("mode", "carried"), [("802.3ad", 2.5e9), ("active-backup", 1.25e9)])
def test_members_of_a_bond_add_up_as_its_mode_says(mode: str, carried: float) -> None:
    bond = Nic("bond0", "bond", carrier=True, lower=("eth0", "eth1"), bond_mode=mode, bond_active="eth0")

    assert storage_path_bandwidths(network(bond))[0].bytes_per_second == carried


NOT_TAKEN = UnusedMeasurement(
    Quantity(9e9, "bytes/s", Origin.MEASURED, "io.direct rate at queue_depth=8"),
    "it may come from a cache (9 GB/s exceeds the bandwidth of the path)",
    "run io.direct with a larger size",
)


@pytest.mark.parametrize("found", [Machine(), NVME])
def test_an_unused_measurement_is_reported_instead_of_the_advice_to_measure(found: Machine) -> None:
    cores = Quantity(8, "1", Origin.USER, "--set")
    capacity = size(described(found, {"machine.cores": cores, "capacity.mb_s": NOT_TAKEN})).find("io.capacity")

    told = " ".join((capacity.verdict, *capacity.caveats))
    assert (
        "9,000 MB/s was measured but is not used, because it may come from a cache (9 GB/s exceeds the bandwidth of "
        "the path). Run io.direct with a larger" in told
    )
    assert "io.direct rate at queue_depth=8; it may come from a cache (9 GB/s exceeds the bandwidth of the path" in told
    assert "storage probe" not in told
    assert "storage probe" not in " ".join(capacity.working)


def test_a_measured_capacity_has_no_advice_to_measure_it() -> None:
    rate = Quantity(1e9, "bytes/s", Origin.MEASURED, "io.direct")
    unmeasured, measured = (
        size(described(NVME, {})).find("io.capacity"),
        size(described(NVME, {"capacity.mb_s": rate})).find("io.capacity"),
    )

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

    assert requests.decision == "unknown"
    assert "capacity unknown. 40,000 IOPS was measured but is not used" in requests.verdict
    assert writer.verdict.startswith("Redo capacity: unknown. 400 us was measured but is not used, because")


LOAD = (("workload.mb_s", "900"),)


def test_one_tcp_connection_can_be_narrower_than_the_link() -> None:
    one = network(Nic("eth2", "physical", carrier=True), transports=1)
    several = NfsMount("/more", "filer:/more", transports=4)
    sizing = size(described(replace(one, nfs_mounts=(*one.nfs_mounts, several)), {}))
    capacity = sizing.find("io.capacity")

    assert (capacity.decision, capacity.quantity.value) == ("NFS connections (nconnect)", 2e9)
    two = {**described(one, {}), "cluster.nodes": KEYS["cluster.nodes"].parse("2", Origin.USER, "--set")}
    assert size(two).find("io.capacity").quantity.value == 4e9  # below two links of 3 GB/s
    load = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in (("cluster.nodes", "3"), *LOAD)}
    (storage,) = [card for card in size({**described(one, {}), **load}).cards if card.resource == "storage"]
    (lost,) = [failure for failure in storage.failures if failure.lost == "one of 3 servers"]
    assert lost.share == pytest.approx(0.9 / 6)  # of three links of 3 GB/s two are left


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


def test_ports_of_different_fabrics_are_no_one_path() -> None:
    machine = fibre_channel(port("host0"), port("host1"), Hba("host11", Transport.SAS))

    assert [(one.devices, one.bytes_per_second) for one in storage_path_bandwidths(machine)] == [
        (("host0", "host1"), 1.6e9),
        (("host11",), 8e8),
    ]


def test_a_port_online_at_an_unknown_speed_is_named_and_leaves_a_failure_open() -> None:
    known = fibre_channel(port("host0"), port("host1"))
    machine = replace(known, budgets=known.budgets[:1])
    (found,) = storage_path_bandwidths(machine)
    values = described(machine, {})

    assert (found.devices, found.unknown, found.failure) == (("host0",), ("host1",), "")
    assert values["path.bandwidth_mb_s"].source == "FC port host0 (host1 online, speed unknown)"
    assert "path.degraded_mb_s" not in values
    down = replace(machine, hbas=(machine.hbas[0], port("host1", "Linkdown")))
    assert storage_path_bandwidths(down)[0].failure == "host0"


def test_half_of_the_detected_ports_carry_data_where_the_user_says_so() -> None:
    """Of 800 and 1,600 MB/s the slower half is sure, and the other takes over; both together have no slowest port."""
    machine = fibre_channel(port("host0"), port("host1"))
    machine = replace(machine, budgets=(budget("host0", 800e6), budget("host1", 1600e6)))
    found = {
        policy: size(described(machine, parse_settings(["workload.mb_s=400", f"path.policy=active-{policy}"])))
        for policy in ("passive", "active")
    }
    cards = {policy: next(one for one in of.cards if one.resource == "storage") for policy, of in found.items()}

    assert (cards["passive"].share, cards["passive"].n_plus_one) == (0.5, 0.5)
    assert (cards["active"].share, cards["active"].n_plus_one) == (pytest.approx(1 / 6), 0.5)
    assert "all 2 together, the slowest link host0" in cards["active"].statement
    assert "path.active_mb_s" not in detected(fibre_channel(port("host0")))


@pytest.mark.parametrize(
    ("points", "device", "status"),
    [
        (("/", "/scratch"), (), "uncertain"),
        (("/", "/scratch"), ("db.device=/data",), "fail"),
        (("/", "/boot"), (), "fail"),
        (("/", "/scratch"), ("db.device=/scratch/oracle",), "unknown"),
        (("/", "/scratch"), ("db.device=/lustre16",), "unknown"),
    ],
)
def test_what_nfs_cannot_carry_may_be_on_a_mount_of_unknown_speed(
    points: tuple[str, ...], device: tuple[str, ...], status: str
) -> None:
    """Local disks that nothing lists, and Lustre: 3,000 MB/s are too many for a 10 Gb/s interface alone."""
    lustre = (FileSystem("lustre", "/lustre16", mount_points=("/lustre16",)),) if "/scratch" in points else ()
    local = tuple(LocalMount(point, "/dev/sda", "xfs") for point in points)
    served = (NfsMount("/data", "filer:/vol", nic="eth0"),)
    machine = replace(network(Nic("eth0", "physical", carrier=True)), nfs_mounts=served)
    machine = replace(machine, local_mounts=local, file_systems=lustre)
    found = {
        one.resource: one for one in size(described(machine, parse_settings([*device, "workload.mb_s=3000"]))).cards
    }

    assert found["storage"].status == status
    assert found["network"].status == status
    if status == "uncertain":
        assert "the database may be on /lustre16 or /scratch, whose speed is unknown" in found["storage"].statement
        assert found["storage"].decides == "Use --set db.device=TEXT"
