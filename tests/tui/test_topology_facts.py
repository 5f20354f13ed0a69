"""The Topology mode answers what a machine is at a glance: twenty facts of 8 sockets with HBAs, without a key more."""

import re
import tarfile
from pathlib import Path

import pytest

from consoles import MakeConsole
from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine
from topology_mode import in_topology, map_of
from trees import LARGE, grow

_PORT = """\
/sys/class/fc_host/{host} -> ../../devices/{pci}/{host}/fc_host/{host}
/sys/class/scsi_host/{host} -> ../../devices/{pci}/{host}/scsi_host/{host}
/sys/devices/{pci}/{host}/fc_host/{host}/port_name = 0x100000000000{number}
/sys/devices/{pci}/{host}/fc_host/{host}/speed = {speed}
/sys/devices/{pci}/{host}/fc_host/{host}/port_state = {state}
/sys/devices/{pci}/{host}/scsi_host/{host}/model_name = LPe32002
/sys/bus/pci/devices/{address} -> ../../../devices/{pci}
/sys/devices/{pci}/uevent = PCI_CLASS=C0400\\nPCI_ID=10DF:E300\\nPCI_SLOT_NAME={address}
/sys/devices/{pci}/numa_node = {node}
/sys/devices/{pci}/current_link_speed = 8.0 GT/s PCIe
/sys/devices/{pci}/current_link_width = 8
/sys/devices/{pci}/max_link_speed = 8.0 GT/s PCIe
/sys/devices/{pci}/max_link_width = 8
"""
_PORTS = (
    ("host11", "pci0000:40/0000:40:02.0", 4, "32 Gbit", "Online"),
    ("host12", "pci0000:40/0000:40:03.0", 4, "32 Gbit", "Online"),
    ("host13", "pci0000:80/0000:80:02.0", 8, "16 Gbit", "Online"),
    ("host14", "pci0000:80/0000:80:03.0", 8, "unknown", "Linkdown"),
)
_FACTS = {
    "sockets": "8 sockets",
    "cores": "256 cores",
    "threads": "256 threads",
    "clock": "2 GHz",
    "memory": "7.69 GiB",
    "nodes": "16 nodes",
    "processor": "Emulated Xeon",
    "host": "lluww",
    "socket of a node": "S7 N15",
    "cores of a node": "N15 ■{16} ",
    "memory of a node": r"N2 ■+ [▄▖]+ 1\d\d of 500 MiB",
    "model": "Standard PC",
    "distances": "10 local, 12 same socket, 21 to 31 other",
    "a port that is up": "host11 fc, 32 Gb/s, online",
    "another speed": "host13 fc, 16 Gb/s, online",
    "a port that is down": "host14 fc.* Linkdown",
    "link of an HBA": "PCIe 8 GT/s x8",
    "speed of an interface": "eth2 25 Gb/s",
    "size of an NVMe disk": "nvme4 4.29 GB, PCIe 2.5 GT/s x1",
    "server of a file system": r"/u02 NFS 4.1, filer:/oradata",
}
"""Patterns of what stands on the screen; blanks stand for any white space and for the end of a line."""


def large_with_hbas(folder: Path) -> Machine:
    """The recorded machine with four FC ports, an interface that is up and a file system of a server, all made up."""
    root = folder / "root"
    with tarfile.open(LARGE) as archive:
        archive.extractall(root, filter="fully_trusted")  # it has links that leave it
    for number, (host, pci, node, speed, state) in enumerate(_PORTS, start=1001):
        address = pci.rpartition("/")[2]
        grow(
            root, _PORT.format(host=host, pci=pci, node=node, speed=speed, state=state, address=address, number=number)
        )
    grow(root, "\n".join(f"/sys/class/net/eth2/{name}" for name in ("speed = 25000", "operstate = up", "carrier = 1")))
    mounts = root / "proc/self/mountinfo"
    options = "rw,vers=4.1,rsize=1048576,wsize=1048576,hard,proto=tcp,addr=192.0.2.7"
    mounts.write_text(f"{mounts.read_text()}90 23 0:60 / /u02 rw,relatime - nfs4 filer:/oradata {options}\n")
    return discover(str(root))


@pytest.mark.ci
async def test_twenty_facts_of_a_large_machine_stand_on_the_first_screen(
    make_console: MakeConsole, tmp_path: Path
) -> None:
    console = make_console(large_with_hbas(tmp_path))
    async with in_topology(console, columns=120, rows=40):
        drawn = map_of(console)
        shown = " ".join((console.text, *drawn))

    missing = [name for name, fact in _FACTS.items() if not re.search(fact.replace(" ", r"[\s│├└]+"), shown)]
    assert len(_FACTS) == 20
    assert missing == []
