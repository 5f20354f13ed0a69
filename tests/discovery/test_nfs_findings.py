"""Findings about NFS mounts, paths and free memory: each case with what must not be one."""

from typing import Any

import pytest
from msgspec.structs import replace

from finding_checks import GIB, find, ids, node, only, two_sockets
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine, Platform
from sizeup.model.network import NfsMount
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.storage import Hba, MultipathMap, Path, Transport

MOUNT = NfsMount(
    "/u02", "filer:/u02", "4.2", "tcp", read_size_bytes=1 << 20, write_size_bytes=1 << 20, hard=True,
    read_only=False, address="192.0.2.7",
)  # fmt: skip


def mounted(**more: Any) -> Machine:
    return Machine(nfs_mounts=(replace(MOUNT, **more),))


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, []),
        ({"hard": None}, []),
        ({"protocol": "udp"}, ["nfs.udp"]),
        ({"protocol": "udp6", "read_only": True}, []),
        ({"protocol": None}, []),
        ({"hard": False}, ["nfs.soft-mount"]),
        ({"hard": False, "read_only": True}, []),
        ({"attribute_cache": "noac"}, ["nfs.no-attribute-cache"]),
        ({"attribute_cache": "actimeo=0"}, []),
        ({"attribute_cache": "noac", "read_only": True}, []),
        ({"read_size_bytes": 8192}, ["nfs.small-requests"]),
        ({"write_size_bytes": 32767}, ["nfs.small-requests"]),
        ({"read_size_bytes": 32768, "write_size_bytes": 32768}, []),
        ({"read_size_bytes": None, "write_size_bytes": 0}, []),
        ({"unanswered": "TCP"}, ["nfs.server-silent"]),
        ({"unanswered": "TCP", "read_only": True}, ["nfs.server-silent"]),
    ],
)
def test_mounts_that_a_database_does_not_bear(more: dict[str, Any], found: list[str]) -> None:
    assert ids(mounted(**more)) == found


def test_a_silent_server_is_critical_where_processes_wait_for_ever() -> None:
    hard, soft = (mounted(unanswered="TCP connection", hard=hard) for hard in (True, False))

    found = only(hard, "nfs.server-silent")
    assert found.severity is Severity.CRITICAL
    assert found.evidence == ("server: 192.0.2.7", "TCP connection")
    assert found.command == "grep -E ':0801 ' /proc/net/tcp /proc/net/tcp6"
    assert only(soft, "nfs.server-silent").severity is Severity.WARNING
    assert ":03E8 " in only(mounted(unanswered="TCP", options=("port=1000",)), "nfs.server-silent").command
    assert ":0801 " in only(mounted(unanswered="TCP", options=("port=99999999",)), "nfs.server-silent").command


def nodes(*free: int, **more: Any) -> Machine:
    return two_sockets(*(replace(node(number, 100, share), **more) for number, share in enumerate(free)))


@pytest.mark.parametrize(
    ("machine", "low"),
    [
        (nodes(8, 80), ("node:0",)),
        (nodes(80, 70, 12, 75), ("node:2",)),
        (nodes(30, 80), ()),
        (nodes(6, 25), ()),
        (nodes(8, 80, file_bytes=60 * GIB, shmem_bytes=0), ()),
        (nodes(8, 80, file_bytes=60 * GIB, shmem_bytes=60 * GIB), ("node:0",)),
        (nodes(8, 80, file_bytes=None), ()),
        (nodes(8, 80, huge_pages=(HugePages(1 << 30, 60, 60),)), ()),
        (nodes(8), ()),
        (two_sockets(node(0, 100, 8), NumaNode(1, (2, 3), memory_bytes=100 * GIB)), ()),
        (two_sockets(node(0, 100, 80), NumaNode(1, (), memory_bytes=100 * GIB, free_bytes=0, file_bytes=0)), ()),
    ],
)
def test_a_node_at_a_fraction_of_the_others_free_memory(machine: Machine, low: tuple[str, ...]) -> None:
    assert [found.subjects for found in find(machine) if found.id == "memory.low-node"] == ([low] if low else [])


def test_an_exhausted_node_is_not_reported_twice() -> None:
    assert "memory.low-node" not in ids(nodes(2, 80))


def path(hba: str, target: str, address: str, nic: str | None = None, over: Transport | None = Transport.FC) -> Path:
    return Path("sd" + hba, None, hba, over, "i", target, address, 0, "running", None, net_device=nic)


def mapped(*paths: Path, platform: Platform | None = None) -> Machine:
    hbas = tuple(Hba(path.hba or "", Transport.FC) for path in paths)
    maps = tuple(MultipathMap(name, f"dm-{name}", 1, None, None, paths) for name in ("a", "b"))
    return Machine(maps=maps, hbas=hbas, platform=platform or Platform())


@pytest.mark.parametrize(
    ("machine", "part"),
    [
        (mapped(path("h1", "t1", "0000:01:00.0"), path("h2", "t2", "0000:02:00.0")), None),
        (mapped(path("h1", "t1", "0000:01:00.0"), path("h2", "t2", "0000:01:00.1")), "the card at 0000:01:00"),
        (mapped(path("h1", "t1", "0000:01:00.0"), path("h1", "t2", "0000:01:00.0")), "the port h1"),
        (mapped(path("h1", "t1", "0000:01:00.0"), path("h2", "t1", "0000:02:00.0")), "the target port t1"),
        (
            mapped(path("h1", "t1", "0000:01:00.0"), path("h2", "t1", "0000:01:00.1")),
            "the card at 0000:01:00 and the target port t1",
        ),
        (
            mapped(path("h1", "t1", "", "eth0", Transport.ISCSI), path("h2", "t2", "", "eth0", Transport.ISCSI)),
            "the interface eth0",
        ),
        (mapped(path("h1", "t1", "", "eth0", Transport.ISCSI), path("h2", "t2", "", None, Transport.ISCSI)), None),
        (mapped(path("h1", "t1", "x", None, Transport.VIRTIO), path("h1", "t1", "x", None, Transport.VIRTIO)), None),
        (mapped(path("h1", "t1", "0000:01:00.0")), None),
        (
            mapped(
                path("h1", "t1", "0000:01:00.0"), path("h1", "t1", "0000:01:00.0"), platform=Platform(is_guest=True)
            ),
            None,
        ),
    ],
)  # fmt: skip
def test_paths_that_have_a_part_in_common_are_one_finding(machine: Machine, part: str | None) -> None:
    titles = [found.title for found in find(machine) if found.id == "multipath.single-point"]

    assert titles == ([] if part is None else [f"All paths of 2 devices go over {part}"])


@pytest.mark.parametrize(
    ("speed", "supported", "found"),
    [
        (8, (4, 8, 16), ["fc.slow-port"]), (16, (4, 8, 16), []), (None, (16,), []), (8, (), []), (32, (16,), []),
    ],
)  # fmt: skip
def test_a_port_below_its_speed_is_a_note(speed: int | None, supported: tuple[int, ...], found: list[str]) -> None:
    hba = Hba(
        "host1", Transport.FC, state="Online", speed_bits_per_second=None if speed is None else speed * 10**9,
        supported_bits_per_second=tuple(rate * 10**9 for rate in supported),
    )  # fmt: skip

    assert ids(Machine(hbas=(hba,))) == found
