"""Links of recorded machines that are below what both their ends can, through the whole program."""

from pathlib import Path

import pytest

from recordings import recorded, recorded_machine
from sizeup.cli import run
from sizeup.discovery.capture import CapturingSysroot, write_capture
from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine, PciLink
from sizeup.views.machine.topology import topology
from sizeup.views.machine.topology_item import find
from sizeup.views.map.map import MapMaker

LINKED = (
    "hwloc/32intel64-2p8co2t+8ve",
    "hwloc/fakepcilocalities",
    "pcp/meminfo-root-008+links",
    "pcp/scsi-map-root-001+links",
    "prometheus-node_exporter/fixtures",
    "prometheus-procfs/fixtures",
)


def degraded(machine: Machine) -> list[tuple[str, ...]]:
    return [finding.subjects for finding in machine.findings if finding.id == "pci.degraded-link"]


def below_its_own_end(machine: Machine) -> list[str]:
    """Links that are called degraded by whoever looks at one end alone."""

    def below(link: PciLink | None, limit: PciLink | None) -> bool:
        if link is None or limit is None:
            return False
        return link.gigatransfers < limit.gigatransfers or link.width < limit.width

    return [function.address for function in machine.pci if below(function.link, function.link_limit)]


def test_of_the_recorded_links_nine_are_below_one_end_and_none_below_both() -> None:
    machines = [recorded_machine(name) for name in LINKED]

    assert sum(len(below_its_own_end(machine)) for machine in machines) == 9
    assert [degraded(machine) for machine in machines] == [[]] * len(LINKED)


def test_a_recorded_drive_whose_link_fell_back_is_degraded_in_the_finding_the_tree_and_the_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file of the capture is altered: the link of a controller comes up at the rate that every link starts with."""
    recorder = CapturingSysroot(recorded("pcp/scsi-map-root-001+links"))
    discover(recorder)
    (speed,) = (path for path in recorder.captured.files if path.endswith("/0000:04:00.0/current_link_speed"))
    assert recorder.captured.files[speed] == b"8.0 GT/s PCIe\n"
    recorder.captured.files[speed] = b"2.5 GT/s PCIe\n"
    root = str(tmp_path / "root.tar")
    write_capture(root, recorder.captured, tool="test", masked=False)
    machine = discover(root)
    item = find(topology(machine), "pci:0000:04:00.0")[-1]
    drawn = "\n".join(
        "".join(cell.text for cell in row) for row in MapMaker(machine).draw(machine.nodes, {}, 160, 40).rows
    )

    assert degraded(machine) == [("pci:0000:04:00.0",)]
    assert item.label.startswith("nvme0 ! DEGRADED link: NVMe")
    assert item.label.endswith("PCIe 2.5 GT/s x4 of 8 GT/s x4")
    assert "PCIe 2.5 GT/s x4 of 8 GT/s x4 WARN DEGRADED link" in drawn
    assert run(["detect", "--sysroot", root]) == 0
    assert "0000:04:00.0" in capsys.readouterr().out
