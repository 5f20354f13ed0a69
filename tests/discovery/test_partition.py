"""The processors of a PowerVM partition, found on machines grown from text."""

from pathlib import Path

from sizeup.discovery.capture import capture
from sizeup.discovery.machine import discover
from sizeup.model.machine import LogicalPartition, Machine
from sizeup.views.machine.facts import machine_facts
from trees import discovered

POWER = "/proc/cpuinfo = processor\\t: 0\\ncpu\\t\\t: POWER9\\nplatform\\t: pSeries\\n"
POWERVM = "/proc/device-tree/ibm,partition-name = db01"
LPARCFG = "/proc/ppc64/lparcfg"
SHARED = (
    f"{LPARCFG} = lparcfg 1.9\\nserial_number=IBM,0210ABCDE\\npartition_max_entitled_capacity=400\\n"
    "partition_entitled_capacity=150\\nsystem_active_processors=16\\ncapped=1\\nshared_processor_mode=1"
)
FOUND = LogicalPartition(shared=True, capped=True, entitled_cores=1.5, max_entitled_cores=4.0, server_cores=16)


def grown(root: Path, *lines: str) -> Machine:
    return discovered(root, "\n".join((POWER, *lines)))


def test_a_partition_has_the_processors_that_its_firmware_names(tmp_path: Path) -> None:
    machine = grown(tmp_path, POWERVM, SHARED)

    assert machine.platform.partition == FOUND
    assert dict(machine_facts(machine))["LPAR processors"] == (
        "shared, capped at 1.5 cores; the server has 16 active cores"
    )


def test_a_partition_without_the_file_has_a_gap(tmp_path: Path) -> None:
    machine = grown(tmp_path, POWERVM)

    assert machine.platform.partition is None
    assert [gap.reason for gap in machine.gaps if gap.subject == LPARCFG] == ["missing"]


def test_a_file_that_names_no_processors_is_a_gap(tmp_path: Path) -> None:
    machine = grown(tmp_path, POWERVM, f"{LPARCFG} = lparcfg 1.9")

    assert machine.platform.partition is None
    assert [gap.reason for gap in machine.gaps if gap.subject == LPARCFG] == ["names no processors of the partition"]


def test_a_guest_of_kvm_is_no_partition_although_its_kernel_has_the_file(tmp_path: Path) -> None:
    machine = grown(tmp_path, "/proc/device-tree/hypervisor/compatible = linux,kvm", SHARED)

    assert machine.platform.partition is None
    assert not [gap for gap in machine.gaps if gap.subject == LPARCFG]


def test_a_masked_capture_keeps_the_processors_and_no_serial_number(tmp_path: Path) -> None:
    grown(tmp_path / "server", POWERVM, SHARED)
    archive = tmp_path / "server.tar"
    machine, *_ = capture(str(tmp_path / "server"), str(archive), tool="test", salt=b"one")

    assert machine.platform.partition == FOUND
    assert discover(str(archive)).platform.partition == FOUND
    assert b"0210ABCDE" not in archive.read_bytes()
