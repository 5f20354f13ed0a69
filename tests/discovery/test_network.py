"""Interfaces say their speed only when it means something; NFS mounts are read and never touched."""

from pathlib import Path

import pytest

from recordings import recorded_machine
from sizeup.discovery.machine import discover
from sizeup.discovery.nics import parse_buffer_sizes, read_tcp_buffers
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import NfsMount, NfsOperation, Nic, RdmaPort, TcpBuffers
from sizeup.report.machine import machine_text
from sizeup.views.machine.device_sections import nfs_section
from sizeup.views.machine.hardware_sections import nvme_section
from trees import MACHINES, discovered, grow, machine


def test_interfaces_by_kind_place_and_speed(tmp_path: Path) -> None:
    found = discover(machine(tmp_path, "networks"))
    nics = {nic.name: nic for nic in found.nics}

    assert nics["eth0"] == Nic(
        name="eth0",
        kind="physical",
        driver="ice",
        mac="02:00:00:00:00:01",
        mtu=9000,
        up=True,
        carrier=True,
        speed_bits_per_second=25 * 10**9,
        duplex="full",
        pci_address="0000:00:03.0",
        node=1,
        receive_queues=1,
        transmit_queues=1,
        master="bond0",
        rdma=("mlx5_0",),
    )
    assert [nics[name].speed_bits_per_second for name in ("down0", "odd0", "br0")] == [None, None, None]
    assert (nics["bond0"].bond_mode, nics["bond0"].bond_active, nics["bond0"].lower) == (
        "active-backup",
        "eth0",
        ("eth0",),
    )
    assert "bonding_masters" not in nics
    assert found.rdma_ports == (RdmaPort("mlx5_0", 1, "ACTIVE", 25 * 10**9, "0000:00:03.0", 1, None, "1X EDR"),)


def test_connections_are_counted_from_the_transports(tmp_path: Path) -> None:
    root = grow(
        tmp_path,
        "/proc/self/mountinfo = 36 35 0:42 / /mnt/with\\040blank rw,noatime shared:9 - nfs4 filer:/data rw,vers=4.1\n"
        "/proc/net/route = Iface Destination Gateway Flags RefCnt Use Metric Mask\\n"
        "eth0 000200C0 00000000 1 0 0 0 00FFFFFF 0 0 0\\neth1 00000000 010200C0 3 0 0 0 00000000 0 0 0\n",
    )
    (tmp_path / "proc/self/mountstats").write_text((MACHINES / "mountstats.txt").read_text())

    assert discover(root).nfs_mounts == (
        NfsMount(
            mount_point="/mnt/with blank",
            export="filer:/data",
            version="4.1",
            protocol="tcp",
            read_size_bytes=262144,
            write_size_bytes=131072,
            transports=2,
            hard=True,
            sync=False,
            read_only=False,
            security="sys",
            address="192.0.2.7",
            options=(
                "rw", "vers=4", "minorversion=1", "rsize=262144", "wsize=131072", "hard", "proto=tcp", "sec=sys",
                "addr=192.0.2.7", "noatime", "vers=4.1",
            ),
            age_seconds=600,
            retransmits=2,
            read_bytes=500,
            written_bytes=600,
            operations=(
                NfsOperation("READ", 10, 100, 2000, 1, 20, 21),
                NfsOperation("WRITE", 5, 50, 600, 1, 10, 11),
            ),
            device="0:42",
            nic="eth0",
        ),
    )  # fmt: skip


def test_infiniband_is_shown_with_link_layer_rate_and_encoding(tmp_path: Path) -> None:
    port = "/sys/class/infiniband/mlx5_0/ports/1"
    found = discovered(
        tmp_path, f"{port}/state = 4: ACTIVE\n{port}/rate = 200 Gb/sec (4X HDR)\n{port}/link_layer = InfiniBand\n"
    )

    assert found.rdma_ports == (
        RdmaPort("mlx5_0", 1, "ACTIVE", 200 * 10**9, link_layer="InfiniBand", encoding="4X HDR"),
    )
    assert "  mlx5_0/1     InfiniBand  ACTIVE  200 Gb/s  4X HDR    25 GB/s     -" in machine_text(found).splitlines()


@pytest.mark.parametrize("link", ["bond0/lower_eth1", "bond0/slave_eth1", "eth1"])
def test_a_member_is_down_as_the_bond_says(tmp_path: Path, link: str) -> None:
    net = "/sys/class/net"
    tree = f"""
{net}/bond0/bonding/mode = active-backup 1
{net}/bond0/bonding/slaves = eth0 eth1
{net}/bond0/operstate = up
{net}/{link}/bonding_slave/mii_status = down
{net}/eth0/operstate = up
{net}/eth0/bonding_slave/mii_status = up
{net}/eth1/operstate = up
"""
    (found,) = (one for one in discovered(tmp_path, tree).findings if one.id == "bond.member-down")

    assert found.title == "Bond bond0: 1 member down (eth1)"
    assert "eth1: down by the bond's own check" in found.evidence


@pytest.mark.parametrize(("state", "rate"), [("4: ACTIVE", 10**10), ("1: DOWN", None), ("2: INIT", None)])
def test_an_infiniband_port_that_is_not_active_has_no_rate(tmp_path: Path, state: str, rate: int | None) -> None:
    base = "/sys/class/infiniband/mlx5_0/ports/1"
    (port,) = discovered(tmp_path, f"{base}/state = {state}\n{base}/rate = 10 Gb/sec (4X SDR)").rdma_ports

    assert (port.rate_bits_per_second, port.encoding) == (rate, rate and "4X SDR")


def test_ports_of_a_recorded_machine_are_infiniband() -> None:
    ports = recorded_machine("prometheus-procfs/fixtures").rdma_ports

    assert [(port.device, port.link_layer, port.encoding) for port in ports] == [
        ("hfi1_0", "InfiniBand", "4X EDR"), ("mlx4_0", "InfiniBand", "4X QDR"), ("mlx4_0", "InfiniBand", "4X QDR"),
        ("mlx5_0", "InfiniBand", "1X EDR"),
    ]  # fmt: skip


@pytest.mark.parametrize(("asked", "shown"), [("nconnect=4", "2 (nconnect=4)"), ("nconnect=2", "2"), ("hard", "2")])
def test_connections_that_were_asked_for_are_shown_where_they_differ(tmp_path: Path, asked: str, shown: str) -> None:
    point = "36 35 0:42 / /mnt/with\\040blank"
    root = grow(tmp_path, f"/proc/self/mountinfo = {point} rw shared:9 - nfs4 filer:/data rw,{asked}\n")
    (tmp_path / "proc/self/mountstats").write_text((MACHINES / "mountstats.txt").read_text())

    section = nfs_section(discover(root))
    assert section.table.rows[0][3] == shown


def test_a_controller_without_a_namespace_is_listed(tmp_path: Path) -> None:
    nvme = "/sys/class/nvme/nvme"
    found = discovered(
        tmp_path,
        f"{nvme}{{0-1}}/transport = pcie\n{nvme}{{0-1}}/state = live\n{nvme}{{0-1}}/model = Drive {{}}\n"
        f"{nvme}1/nvme1n1/size = 1000\n",
    )

    section = nvme_section(found)
    assert section.table.rows == (
        ("nvme0", "pcie", "live", "-", "none", "-", "-", "Drive 0"),
        ("nvme1", "pcie", "live", "-", "nvme1n1", "-", "-", "Drive 1"),
    )


def test_ip_over_infiniband_is_a_port_of_its_own_kind(tmp_path: Path) -> None:
    tree = (
        "/sys/class/net/ib0 -> ../../devices/pci0000:00/0000:00:04.0/net/ib0\n"
        "/sys/devices/pci0000:00/0000:00:04.0/net/ib0/device -> ../../../0000:00:04.0\n"
        "/sys/class/net/ib0/type = 32\n/sys/class/net/ib0/operstate = up\n/sys/class/net/ib0/speed = 100000\n"
        "/sys/class/net/ib0.8001/type = 32\n/sys/class/net/ib0.8001/parent = ib0\n"
    ).replace("/sys/class/net/ib0/", "/sys/devices/pci0000:00/0000:00:04.0/net/ib0/")
    found = discovered(tmp_path, tree)

    assert {nic.name: nic.kind for nic in found.nics} == {"ib0": "ipoib", "ib0.8001": "vlan"}
    assert [(budget.device, budget.stages[0].source) for budget in found.budgets] == [
        ("ib0", "100 Gb/s InfiniBand, before packet headers")
    ]
    assert any(line.split()[:2] == ["ib0", "ipoib"] for line in machine_text(found).splitlines())


IPV4 = "/proc/sys/net/ipv4"
BUFFERS = (
    f"{IPV4}/tcp_rmem = 4096\\t131072\\t6291456\n{IPV4}/tcp_wmem = 4096\\t16384\\t4194304\n"
    f"{IPV4}/tcp_window_scaling = 1"
)


@pytest.mark.parametrize(
    ("tree", "expected", "gaps"),
    [
        (BUFFERS, TcpBuffers((4096, 131072, 6291456), (4096, 16384, 4194304), True), []),
        ("/proc/version = x", None, []),
        (f"{IPV4}/tcp_rmem = 4096 lots\n{IPV4}/tcp_window_scaling = 0", TcpBuffers(None, None, False), ["tcp_rmem"]),
    ],
    ids=["whole", "absent", "no size"],
)
def test_tcp_buffers_are_read_from_their_files(
    tmp_path: Path, tree: str, expected: TcpBuffers | None, gaps: list[str]
) -> None:
    root = Sysroot(grow(tmp_path, tree))

    assert read_tcp_buffers(root) == expected
    assert [gap.subject.rpartition("/")[2] for gap in root.gaps] == gaps


@pytest.mark.parametrize("text", ["", "1 2", "1 2 3 4", "1 2 x", "-1 2 3"])
def test_three_sizes_of_a_buffer_are_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected three sizes"):
        parse_buffer_sizes(text)
