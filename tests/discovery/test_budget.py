"""The way of a device's data to memory is as wide as its narrowest stage."""

import pytest
from msgspec.structs import replace

from sizeup.discovery.budget import (
    bandwidth_budgets,
    ethernet_bytes_per_second,
    infiniband_bytes_per_second,
    link_bytes_per_second,
)
from sizeup.model.machine import Machine, PciFunction, PciLink
from sizeup.model.network import Nic, RdmaPort
from sizeup.model.storage import Hba, NvmeController, Transport


@pytest.mark.parametrize(
    ("speed", "width", "megabytes"),
    [(2.5, 4, 1000), (5, 8, 4000), (8, 4, 3938), (16, 16, 31508), (32, 4, 15754), (64, 4, 30250)],
)
def test_links_carry_their_payload_after_encoding(speed: float, width: int, megabytes: int) -> None:
    assert round((link_bytes_per_second(PciLink(speed, width)) or 0) / 1e6) == megabytes


def test_ethernet_carries_tcp_payload_by_its_mtu() -> None:
    assert round(ethernet_bytes_per_second(10**10, 1500) / 1e6) == 1177
    assert round(ethernet_bytes_per_second(10**10, 9000) / 1e6, 1) == 1237.5


def switch(lanes_up: int) -> tuple[PciFunction, ...]:
    """A root port, a switch behind it, and two drives of four lanes each."""
    up = PciLink(8, lanes_up)
    return (
        PciFunction("0000:00:01.0", 0x060400, 1, 1, link=up),
        PciFunction("0000:01:00.0", 0x060400, 1, 1, parent="0000:00:01.0", link=up),
        PciFunction("0000:02:00.0", 0x060400, 1, 1, parent="0000:01:00.0", link=PciLink(8, 4)),
        PciFunction("0000:02:01.0", 0x060400, 1, 1, parent="0000:01:00.0", link=PciLink(8, 4)),
        PciFunction("0000:03:00.0", 0x010802, 1, 1, parent="0000:02:00.0", link=PciLink(8, 4)),
        PciFunction("0000:04:00.0", 0x010802, 1, 1, parent="0000:02:01.0", link=PciLink(8, 4)),
    )


DRIVES = tuple(
    NvmeController(f"nvme{n}", "pcie", address, pci_address=address)
    for n, address in enumerate(("0000:03:00.0", "0000:04:00.0"))
)


def test_a_switch_uplink_is_shared_by_the_drives_behind_it() -> None:
    first, second = bandwidth_budgets(Machine(pci=switch(4), nvme_controllers=DRIVES))

    uplink = next(stage for stage in first.stages if stage.subject == "0000:01:00.0")
    assert uplink.shared_with == ("nvme1",)
    assert uplink.wanted_bytes_per_second == 2 * (uplink.bytes_per_second or 0)
    assert first.share_bytes_per_second == (first.limit_bytes_per_second or 0) / 2
    assert second.share_bytes_per_second == first.share_bytes_per_second


def test_a_wide_uplink_leaves_each_drive_its_own_link() -> None:
    first, _ = bandwidth_budgets(Machine(pci=switch(16), nvme_controllers=DRIVES))

    assert first.share_bytes_per_second is None
    assert first.narrowest == "link 0000:03:00.0 (8 GT/s x4)"


def test_the_port_is_a_stage_of_its_own() -> None:
    card = PciFunction("0000:05:00.0", 0x0C0400, 1, 1, parent="0000:00:02.0", link=PciLink(8, 8))
    hba = Hba("host1", Transport.FC, pci_address=card.address, speed_bits_per_second=16 * 10**9)
    nic = Nic("eth0", "physical", pci_address=card.address)

    fc, ethernet = bandwidth_budgets(Machine(pci=(card,), hbas=(hba,), nics=(nic,)))

    assert (fc.limit_bytes_per_second, fc.narrowest) == (1600e6, "port host1 (16 Gb/s fc)")
    assert ethernet.stages[0].bytes_per_second is None


@pytest.mark.parametrize(
    ("gigabits", "encoding", "link_layer", "megabytes"),
    [
        (40, "4X QDR", "InfiniBand", 4000), (20, "4X DDR", "InfiniBand", 2000), (10, "4X", "InfiniBand", 1000),
        (56, "4X FDR", "InfiniBand", 6788), (40, "4X FDR10", "InfiniBand", 5000), (100, "4X EDR", "InfiniBand", 12500),
        (40, "4X QDR", "Ethernet", 5000), (40, None, "InfiniBand", 5000),
    ],
)  # fmt: skip
def test_infiniband_carries_what_its_coding_leaves(
    gigabits: int, encoding: str | None, link_layer: str, megabytes: int
) -> None:
    port = RdmaPort("mlx4_0", 1, "ACTIVE", gigabits * 10**9, link_layer=link_layer, encoding=encoding)
    speed = gigabits * 10**9
    nic = Nic("ib0", "ipoib", pci_address="0000:05:00.0", speed_bits_per_second=speed, rdma=("mlx4_0",))

    (found,) = bandwidth_budgets(
        Machine(nics=(nic,), rdma_ports=(port, replace(port, port=2, rate_bits_per_second=None)))
    )

    assert round((found.limit_bytes_per_second or 0) / 1e6) == megabytes
    assert round((infiniband_bytes_per_second(port) or 0) / 1e6) == megabytes


def test_ports_that_are_down_have_no_bandwidth_and_take_none_from_others() -> None:
    pci = switch(4)
    fc = Hba("host1", Transport.FC, pci_address="0000:03:00.0", state="Linkdown")
    nics = tuple(Nic(name, "physical", pci_address="0000:04:00.0", up=name == "eth1") for name in ("eth0", "eth1"))

    (found,) = bandwidth_budgets(Machine(pci=pci, hbas=(fc,), nics=nics))

    assert (found.device, found.share_bytes_per_second) == ("eth1", None)


def test_a_port_of_known_speed_limits_even_where_its_link_is_not_told() -> None:
    up = Hba("host1", Transport.FC, speed_bits_per_second=16 * 10**9)
    down = Hba("host2", Transport.FC)

    (only,) = bandwidth_budgets(Machine(hbas=(up, down)))

    assert (only.pci_address, only.limit_bytes_per_second, only.narrowest) == (None, 1600e6, "port host1 (16 Gb/s fc)")
