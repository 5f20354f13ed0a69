"""Findings about disks, their paths, links and networks."""

from typing import Any

import pytest
from msgspec.structs import replace

from finding_checks import GIB, find, ids, only, two_sockets
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine, PciFunction, PciLink, Platform
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    MultipathMap,
    Path,
    ScsiDevice,
    TargetPort,
    Transport,
)


def test_a_link_is_degraded_only_against_the_lesser_of_its_two_ends() -> None:
    port = PciFunction("0000:00:01.0", 0x060400, 1, 1, link_limit=PciLink(8, 16))
    card = PciFunction(
        "0000:01:00.0", 0x010802, 1, 1, parent=port.address, link=PciLink(8, 4), link_limit=PciLink(16, 4),
        common_link_limit=PciLink(8, 4),
    )  # fmt: skip
    worse = replace(card, link=PciLink(8, 2))
    graphics = replace(worse, class_code=0x030000)

    assert ids(Machine(pci=(port, card))) == []
    assert ids(Machine(pci=(port, worse))) == ["pci.degraded-link"]
    assert ids(Machine(pci=(port, graphics))) == []


def test_a_bond_over_two_sockets_with_unlike_members_says_both() -> None:
    nics = (
        Nic("bond0", "bond", up=True, lower=("a", "b")),
        Nic("a", "physical", up=True, speed_bits_per_second=10**10, node=0, master="bond0"),
        Nic("b", "physical", up=True, speed_bits_per_second=10**9, node=1, master="bond0"),
    )

    assert ids(replace(two_sockets(), nics=nics)) == ["bond.uneven-speed", "bond.across-packages"]


def test_what_is_unknown_of_a_member_is_said_to_be_unknown() -> None:
    nics = (
        Nic("bond0", "bond", up=True, lower=("a", "b", "c")),
        Nic("a", "physical", up=False),
        Nic("b", "physical", up=True),
        Nic("c", "physical", up=None, speed_bits_per_second=10**10),
    )

    (finding,) = find(Machine(nics=nics))

    assert finding.evidence == (
        "a: NUMA node unknown, down",
        "b: NUMA node unknown, speed unknown",
        "c: NUMA node unknown, state unknown, 10 Gb/s",
    )


def test_paths_of_which_only_the_state_is_known_are_one_line() -> None:
    bare = [replace(path(name), hba=None, node=None, speed_bits_per_second=None) for name in ("sda", "sdb", "sdc")]
    found = MultipathMap("a", "dm-0", 1, None, False, (*bare[:2], replace(bare[2], state="offline")))
    known = replace(found, paths=(*bare[:2], path("sdc", "offline")))

    assert only(Machine(maps=(found,)), "multipath.dead-path").evidence == (
        "sda, sdb: running; sdc: offline (adapters, speeds and NUMA nodes could not be read)",
    )
    assert only(Machine(maps=(known,)), "multipath.dead-path").evidence == (
        "sda: running, adapter unknown, speed unknown, NUMA node unknown",
        "sdb: running, adapter unknown, speed unknown, NUMA node unknown",
        "sdc: offline, adapter host0, 16 Gb/s, NUMA node 0",
    )


def path(device: str, state: str = "running", node: int | None = 0, gigabits: int = 16) -> Path:
    return Path(device, None, "host0", Transport.FC, "i", "t", None, node, state, gigabits * 10**9)


def test_maps_are_held_against_their_like() -> None:
    other = replace(path("sdb"), hba="host1", target="u")
    whole = MultipathMap("a", "dm-0", 1, None, False, (path("sda"), other))
    poorer = MultipathMap("b", "dm-1", 1, None, False, (path("sdc"),))
    mixed = MultipathMap("c", "dm-2", 1, None, False, (path("sdd", "offline"), path("sde", node=1, gigabits=8)))

    assert ids(replace(two_sockets(), maps=(whole,))) == []
    found = find(replace(two_sockets(), maps=(whole, poorer, mixed)))
    assert [(finding.id, finding.subjects) for finding in found] == [
        ("multipath.few-paths", ("map:b",)),
        ("multipath.dead-path", ("map:c",)),
        ("multipath.uneven-speed", ("map:c",)),
        ("multipath.across-packages", ("map:c",)),
        ("multipath.single-point", ("map:c",)),
    ]


def fc_port(name: str, state: str | None, **more: Any) -> Hba:
    return Hba(name, Transport.FC, "lpfc", state=state, **more)


@pytest.mark.parametrize("state", ["Linkdown", "Offline", "Error", "Blocked"])
def test_a_port_that_carried_something_and_is_down_is_a_warning(state: str) -> None:
    lost = fc_port("host7", state, received_bytes=41_000_000, sent_bytes=0)
    up = fc_port("host8", "Online", received_bytes=41_000_000)

    (finding,) = find(Machine(hbas=(lost, up)))

    assert (finding.id, finding.severity, finding.subjects) == ("fc.port-down", Severity.WARNING, ("hba:host7",))
    assert finding.title == "Fibre Channel port host7 is down"
    assert finding.evidence == (f"host7 (fc_host): {state}, no remote ports seen, 41 MB received, nothing sent",)
    assert finding.command == "grep . /sys/class/fc_host/host7/port_state"


@pytest.mark.parametrize(
    "use", [{"received_bytes": 4}, {"sent_bytes": 4}, {"targets": (TargetPort("5006"),)}, {"scsi": True}]
)
def test_each_sign_of_use_makes_a_lost_port_a_warning(use: dict[str, Any]) -> None:
    behind = (ScsiDevice("7:0:0:0", 0, hba="host7"),) if use.pop("scsi", False) else ()
    machine = Machine(hbas=(fc_port("host7", "Linkdown", **use),), scsi_devices=behind)

    assert ids(machine) == ["fc.port-down"]


def test_ports_that_were_perhaps_never_cabled_are_one_note() -> None:
    ports = (fc_port("host7", "Linkdown", received_bytes=0, sent_bytes=0), fc_port("host8", "Offline"))

    (finding,) = find(Machine(hbas=ports))

    assert (finding.id, finding.severity) == ("fc.port-unused", Severity.INFO)
    assert finding.title == "Fibre Channel ports host7, host8 have no link and no known use"
    assert finding.evidence[0] == "host7 (fc_host): Linkdown, no remote ports seen, nothing received, nothing sent"
    assert finding.evidence[1] == "host8 (fc_host): Offline, no remote ports seen, traffic counters not readable"
    assert finding.remedy.startswith("Nothing to do if it is not meant to be cabled")


@pytest.mark.parametrize(
    "port",
    [
        fc_port("host7", "Online"),
        fc_port("host7", "Unknown", received_bytes=4),
        fc_port("host7", None, received_bytes=4),
        Hba("host7", Transport.ISCSI, state="Offline", targets=(TargetPort("iqn"),)),
    ],
)
def test_a_port_whose_state_is_unknown_is_not_called_down(port: Hba) -> None:
    assert ids(Machine(hbas=(port,))) == []


def test_nfs_wants_a_connection_for_each_ten_gigabits() -> None:
    nic = Nic("eth0", "physical", up=True, speed_bits_per_second=25 * 10**9)
    mount = NfsMount("/data", "filer:/data", transports=2, protocol="tcp", nic="eth0")

    (finding,) = find(Machine(nics=(nic,), nfs_mounts=(mount,)))

    assert finding.title == "/data uses 2 connections, too few for the speed of eth0 (25 Gb/s)"
    assert find(Machine(nics=(nic,), nfs_mounts=(replace(mount, transports=3),))) == ()
    assert find(Machine(nics=(nic,), nfs_mounts=(replace(mount, protocol="rdma"),))) == ()


def test_maps_of_unknown_transport_need_not_be_alike() -> None:
    unknown = [replace(path(name), transport=None) for name in ("sda", "sdb", "sdc", "sdd", "sde")]
    maps = (
        MultipathMap("a", "dm-0", 1, None, False, tuple(unknown[:3])),
        MultipathMap("b", "dm-1", 1, None, False, tuple(unknown[3:])),
    )

    assert ids(replace(two_sockets(), maps=maps)) == []


def test_what_could_not_be_read_of_an_array_is_not_said_to_be_none() -> None:
    array = BlockDevice("md0", BlockKind.MD, GIB, raid_level="raid5", raid_disks=3, raid_degraded=1, state="clean")
    bare = replace(array, raid_level=None, raid_disks=None, state=None, members=("sda", "sdb"))

    found, unknown = (only(Machine(block_devices=(each,)), "storage.degraded-array") for each in (array, bare))

    assert found.severity is Severity.CRITICAL
    assert found.title == "/dev/md0 (RAID 5) is degraded: 1 of 3 members missing"
    assert found.evidence == (
        "array state: clean (no writes pending; members may be missing)", "members found: could not be read",
    )  # fmt: skip
    assert unknown.title == "/dev/md0 (RAID level unknown) is degraded: 1 member missing"
    assert unknown.evidence == ("array state: unknown", "members found: sda, sdb")


@pytest.mark.parametrize(
    ("level", "disks", "missing", "words"),
    [
        ("raid1", 2, 1, "loses data"),
        ("raid1", 3, 1, "survives 1 more failure"),
        ("raid5", 4, 1, "loses data"),
        ("raid6", 6, 1, "survives 1 more failure"),
        ("raid6", 6, 2, "loses data"),
        ("raid10", 4, 1, "can lose data"),
        (None, None, 1, "can lose data"),
    ],
)
def test_what_the_next_failure_does_goes_by_the_level(
    level: str | None, disks: int | None, missing: int, words: str
) -> None:
    array = BlockDevice("md0", BlockKind.MD, 10**12, raid_level=level, raid_disks=disks, raid_degraded=missing)

    assert words in only(Machine(block_devices=(array,)), "storage.degraded-array").consequence


def test_a_map_is_looked_at_with_the_tool_of_its_driver() -> None:
    def lost(device: str, transport: Transport | None) -> Machine:
        ways = tuple(
            replace(path("x", state, at), transport=transport, hba=f"host{at}", target=f"t{at}")
            for state, at in (("dead", 0), ("live", 1))
        )
        return replace(two_sockets(), maps=(MultipathMap("a", device, 1, None, None, ways),))

    mapped, native = lost("dm-3", Transport.FC), lost("nvme1n1", None)

    assert {finding.command for finding in find(mapped)} == {"multipath -ll a"}
    assert {finding.command for finding in find(native)} == {"nvme list-subsys /dev/nvme1n1"}
    assert [finding.id for finding in find(mapped)] == [finding.id for finding in find(native)]
    assert not any("multipath" in finding.remedy for finding in find(native))
    assert any("iopolicy" in finding.remedy for finding in find(native))
    assert not any("iopolicy" in finding.remedy for finding in find(mapped))


@pytest.mark.parametrize(
    ("device", "transport", "words"),
    [("dm-0", Transport.FC, "zoning"), ("dm-0", Transport.ISCSI, "iscsiadm"), ("nvme0n1", None, "controllers")],
)
def test_missing_paths_are_looked_for_where_they_could_be(device: str, transport: Transport, words: str) -> None:
    alone = MultipathMap("a", device, 1, None, None, (replace(path("x"), transport=transport),))

    assert words in only(Machine(maps=(alone,)), "multipath.few-paths").remedy


def test_a_mount_keeps_its_options_and_old_kernels_are_not_told_one_that_they_lack() -> None:
    nic = Nic("eth0", "physical", up=True, speed_bits_per_second=25 * 10**9)
    options = ("rw", "vers=4.2", "hard", "nconnect=2", "sec=krb5", "clientaddr=192.0.2.1", "addr=192.0.2.7")
    mount = NfsMount("/my data", "filer:/data", transports=2, protocol="tcp", nic="eth0", options=options)
    machine = Machine(nics=(nic,), nfs_mounts=(mount,), platform=Platform(kernel="6.1.0-13-amd64"))

    assert (
        "(umount '/my data' && mount -t nfs -o rw,vers=4.2,hard,sec=krb5,nconnect=3 filer:/data '/my data')"
        in only(machine, "nfs.few-transports").remedy
    )
    old = replace(machine, platform=Platform(kernel="4.12.14-122-default"))
    assert "umount" not in only(old, "nfs.few-transports").remedy
    assert "on a kernel that has it" in only(old, "nfs.few-transports").remedy
