"""TCP windows and buffers of NFS: current against needed, the change and how to undo it."""

import msgspec
import pytest
from msgspec.structs import replace

from sizeup.compare.machines import machine_differences
from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, NfsOperation, Nic, TcpBuffers
from sizeup.quantity import Quantity, Words
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.detected import detected
from sizeup.sizing.keys import parse_settings
from sizeup.views.machine.detection import detected as machine_of
from sizeup.views.machine.detection import detection

NFS = ("path.stages=nic:eth10*1", "net.connections=1", "net.rtt_ms=2")
DEFAULT = ("net.tcp_rmem=4096,131072,6291456", "net.tcp_wmem=4096,16384,4194304")
NEEDED = 1176.9e6 * 2e-3 * 2
"""Bytes: 10 Gb/s of payload, 2 ms, and half of a buffer for the window."""


def buffers(*settings: str) -> Advice | None:
    return size(parse_settings(settings)).find("net.tcp-buffers")


def test_buffers_that_are_too_small_name_the_change_and_how_to_undo_it() -> None:
    answer = buffers(*NFS, *DEFAULT)

    assert answer.decision == "short"
    assert answer.quantity.value == pytest.approx(NEEDED, rel=1e-3)
    assert "are too small for writes (send buffer): receive 6 MiB, send 4 MiB at most" in answer.verdict
    assert "Change: sysctl net.ipv4.tcp_wmem='4096 16384 8388608'" in answer.verdict
    assert "Undo: sysctl net.ipv4.tcp_wmem='4096 16384 4194304'" in answer.verdict
    assert "tcp_rmem" not in answer.verdict


def test_buffers_that_suffice_are_stated_with_what_is_needed() -> None:
    answer = buffers(*NFS[:2], "net.rtt_ms=0.2", *DEFAULT)

    assert answer.decision == "enough"
    assert "sysctl" not in answer.verdict
    assert "0.449 MiB needed for 1,177 MB/s over 1 connection at a round trip of 0.2 ms" in answer.verdict


def test_a_port_without_a_link_is_none() -> None:
    port = Nic("eth0", "physical", carrier=True, speed_bits_per_second=25 * 10**9)
    dark, down = (replace(port, name=f"eth{n}", **{key: False}) for n, key in ((1, "carrier"), (2, "up")))
    links = detected(Machine(nics=(port, dark, down)))["net.links"]

    assert isinstance(links, Words)
    assert links.value == "1 x 25 Gb/s"


def test_connections_share_the_bandwidth() -> None:
    one, four = buffers(*NFS, *DEFAULT), buffers(NFS[0], "net.connections=4", NFS[2], *DEFAULT)

    assert four.quantity.value == pytest.approx(one.quantity.value / 4, rel=1e-5)
    assert four.decision == "enough"


def test_without_a_round_trip_the_need_is_unknown() -> None:
    answer = buffers(*NFS[:2], *DEFAULT)

    assert answer.decision == "unknown"
    assert "Use --set net.rtt_ms=N" in answer.verdict


def test_the_window_follows_from_the_smaller_largest_buffer() -> None:
    bound = size(parse_settings([*NFS, *DEFAULT])).find("net.window-bound")

    assert bound.quantity.value == pytest.approx(2 * 2**20 / 2e-3)


MOUNT = NfsMount(
    "/u01",
    "server:/u01",
    protocol="tcp",
    transports=2,
    operations=(
        NfsOperation("READ", 1000, 1, 1, 0, 900, 950),
        NfsOperation("GETATTR", 500, 1, 1, 0, 100, 110),
        NfsOperation("FSINFO", 2, 1, 1, 0, 0, 0),
    ),
)
MACHINE = Machine(nfs_mounts=(MOUNT,), tcp=TcpBuffers((4096, 131072, 6291456), (4096, 16384, 4194304), True))


def test_buffers_and_round_trip_come_from_the_machine() -> None:
    few = NfsOperation("FSINFO", 99, 1, 1, 0, 1, 1)  # too few calls for a mean
    found = detected(replace(MACHINE, nfs_mounts=(replace(MOUNT, operations=(*MOUNT.operations, few)),)))

    assert [size.value for size in found["net.tcp_rmem"]] == [4096, 131072, 6291456]  # type: ignore[union-attr]
    trip = found["net.rtt_ms"]
    assert isinstance(trip, Quantity)
    assert trip.value == pytest.approx(0.2e6)
    assert "GETATTR on /u01 at most" in trip.caveats[0]


def test_a_detected_round_trip_is_only_an_upper_bound() -> None:
    slow = replace(MOUNT, operations=(NfsOperation("GETATTR", 500, 1, 1, 0, 5000, 5010),))
    inputs = described(replace(MACHINE, nfs_mounts=(slow,)), parse_settings(["path.stages=nic:eth100*1"]))
    answer = size(inputs).find("net.tcp-buffers")

    assert answer.decision == "may be short"
    assert "may be too small for reads (receive buffer) and writes (send buffer)" in answer.verdict
    assert "at a round trip of at most 10 ms" in answer.verdict


@pytest.mark.parametrize(
    "machine", [Machine(tcp=MACHINE.tcp), replace(MACHINE, nfs_mounts=(replace(MOUNT, protocol="rdma"),))]
)
def test_without_nfs_over_tcp_nothing_is_asked_of_the_buffers(machine: Machine) -> None:
    assert not {"net.tcp_rmem", "net.tcp_wmem", "net.rtt_ms"} & detected(machine).keys()


def test_no_window_is_above_64_kib_without_scaling() -> None:
    found = detected(replace(MACHINE, tcp=TcpBuffers((1, 2, 3), None, False)))["net.window_bytes"]

    assert isinstance(found, Quantity)
    assert found.value == 65535
    assert "sysctl net.ipv4.tcp_window_scaling=1" in found.caveats[0]


def test_a_capture_and_the_document_of_a_machine_keep_its_buffers() -> None:
    document = msgspec.json.encode(detection(MACHINE))

    assert machine_of(document)[1].tcp == MACHINE.tcp
    changed = replace(MACHINE, tcp=TcpBuffers((1, 2, 1024), None))
    assert [(one.what, one.new, one.baseline) for one in machine_differences([changed], [MACHINE])] == [
        ("TCP buffers", "receive 1 KiB", "receive 6 MiB, send 4 MiB")
    ]


def test_other_than_three_sizes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"net\.tcp_rmem: expected three sizes .*, found 1"):
        buffers(*NFS, "net.tcp_rmem=6291456")


def test_no_buffer_above_what_the_kernel_takes_is_recommended() -> None:
    answer = buffers("path.stages=nic:eth200*1", "net.rtt_ms=100", *DEFAULT)

    assert "tcp_rmem='4096 131072 2147483647'" in answer.verdict
    assert answer.verdict.endswith("use more connections (nconnect)")
