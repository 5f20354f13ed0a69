"""Interfaces say their speed only when it means something; NFS mounts are read and never touched."""

from pathlib import Path

from sizeup.discovery.machine import discover
from sizeup.model.network import NfsMount, NfsOperation, Nic, RdmaPort
from trees import MACHINES, grow, machine


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
    assert found.rdma_ports == (RdmaPort("mlx5_0", 1, "ACTIVE", 25 * 10**9, "0000:00:03.0", 1),)


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
