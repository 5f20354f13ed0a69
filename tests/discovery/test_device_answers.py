"""Rings, offloads and the NVMe health log: made bytes, every refusal, and a device that does not answer."""

import errno
import os
import stat
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from finding_checks import find, only
from sizeup.discovery.capture import CapturingSysroot, capture
from sizeup.discovery.machine import discover
from sizeup.discovery.nics import with_rings
from sizeup.discovery.nvme import with_health
from sizeup.discovery.sysroot import Sysroot
from sizeup.errors import MalformedError
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine
from sizeup.model.network import Nic, NicRings
from sizeup.model.storage import NvmeController, NvmeHealth
from sizeup.procfs import device_questions
from sizeup.procfs.device_questions import DeviceQuestions
from sizeup.procfs.kernel_file import Unreadable
from sizeup.report.machine import machine_text
from trees import grow

RINGS = struct.pack("=9I", 0x10, 4096, 0, 0, 2048, 512, 0, 0, 256)
HEALTHY = NvmeHealth(0, 36, 100, 10, 3, 512_000 * 7, 512_000 * 9, 1234, 5, 0)
NIC = Nic("eth0", "physical")
DRIVE = NvmeController("nvme0", "pcie", "0000:01:00.0", model="Example SSD", state="live")


def log_page(
    warning: int = 0, kelvin: int = 309, spare: int = 100, threshold: int = 10, used: int = 3, media: int = 0
) -> bytes:
    page = bytearray(512)
    struct.pack_into("<BHBBB", page, 0, warning, kelvin, spare, threshold, used)
    for offset, value in ((32, 7), (48, 9), (128, 1234), (144, 5), (160, media)):
        page[offset : offset + 16] = value.to_bytes(16, "little")
    return bytes(page)


def test_rings_are_read_from_the_kernels_structure() -> None:
    assert device_questions.parse_rings(RINGS) == NicRings(512, 4096, 256, 2048)
    assert device_questions.parse_rings(struct.pack("=9I", 0x10, 0, 0, 0, 0, 64, 0, 0, 64)) == NicRings(
        64, None, 64, None
    )


@pytest.mark.parametrize("data", [b"", RINGS[:-1], RINGS + b"\0", b"\0" + RINGS[1:]])
def test_rings_of_another_length_or_command_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedError, match="expected"):
        device_questions.parse_rings(data)


def test_the_health_log_is_read_by_the_offsets_of_the_specification() -> None:
    assert device_questions.parse_health(log_page()) == HEALTHY
    assert device_questions.parse_health(log_page(kelvin=0)).temperature_celsius is None
    assert device_questions.parse_health(log_page(media=(1 << 64) + 1)).media_errors is None


@pytest.mark.parametrize("data", [b"", log_page()[:-1], log_page() + b"\0", bytes(512)])
def test_a_log_page_of_another_length_or_of_zeros_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedError, match="expected"):
        device_questions.parse_health(data)


def test_the_command_asks_for_the_log_alone_and_sets_no_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, tuple[int, ...]]] = []

    def answer(_: int, request: int, command: bytearray) -> int:
        asked.append((request, struct.unpack("=BBHIIIQQIIIIIIIIII", command)))
        return 0

    (tmp_path / "nvme0").write_bytes(b"")
    made = os.stat_result((stat.S_IFCHR, *[0] * 9), {"st_rdev": os.makedev(241, 3)})
    monkeypatch.setattr(device_questions.os, "fstat", lambda _: made)
    monkeypatch.setattr("fcntl.ioctl", answer)

    assert len(device_questions.ask_health("nvme0", "241:3", str(tmp_path))) == 512

    ((request, words),) = asked
    assert request == 0xC0484E41
    assert words[:6] == (0x02, 0, 0, 0xFFFFFFFF, 0, 0)
    assert (words[8], words[9], words[10]) == (0, 512, 0x007F0002)
    assert words[11:] == (0,) * 7


@pytest.mark.parametrize(("kind", "number"), [(stat.S_IFCHR, "241:4"), (stat.S_IFBLK, "241:3"), (stat.S_IFREG, "0:0")])
def test_a_device_that_is_not_the_controller_is_asked_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int, number: str
) -> None:
    (tmp_path / "nvme0").write_bytes(b"")
    made = os.stat_result((kind, *[0] * 9), {"st_rdev": os.makedev(241, 3) if number != "0:0" else 0})
    monkeypatch.setattr(device_questions.os, "fstat", lambda _: made)
    monkeypatch.setattr("fcntl.ioctl", lambda *_: pytest.fail("asked"))

    with pytest.raises(OSError, match="another device"):
        device_questions.ask_health("nvme0", number, str(tmp_path))


def test_a_status_of_the_controller_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvme0").write_bytes(b"")
    made = os.stat_result((stat.S_IFCHR, *[0] * 9), {"st_rdev": os.makedev(241, 3)})
    monkeypatch.setattr(device_questions.os, "fstat", lambda _: made)
    monkeypatch.setattr("fcntl.ioctl", lambda *_: 0x2002)

    with pytest.raises(OSError, match="refused the command"):
        device_questions.ask_health("nvme0", "241:3", str(tmp_path))


def test_offloads_that_the_driver_does_not_have_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {0x14: 1, 0x1E: 0, 0x25: 1 << 15}

    def call(_: str, command: bytes) -> bytes:
        number, _zero = struct.unpack("=II", command)
        if number not in values:
            raise OSError(errno.EOPNOTSUPP, "no")
        return struct.pack("=II", number, values[number])

    monkeypatch.setattr(device_questions, "_call", call)
    assert device_questions.parse_offloads(device_questions.ask_offloads("eth0").decode()) == (
        ("rx-checksumming", True), ("tcp-segmentation-offload", False), ("large-receive-offload", True),
    )  # fmt: skip

    values.clear()
    with pytest.raises(OSError, match="no offload"):
        device_questions.ask_offloads("eth0")


@pytest.mark.parametrize("name", ["", "a" * 16, "eth\0", "no-such-one"])
def test_a_name_that_no_interface_has_is_refused(name: str) -> None:
    with pytest.raises(OSError) as refusal:  # noqa: PT011  its number is checked
        device_questions.ask_rings(name)
    assert refusal.value.errno == errno.ENODEV


class Answering(Sysroot):
    """A root whose devices all give one answer."""

    def __init__(self, root: str, answer: Callable[[], bytes]) -> None:
        super().__init__(root)
        self._made = answer

    def device(self, path: str, question: Callable[[], bytes]) -> bytes | Unreadable:
        return DeviceQuestions(0.05).ask(self._made)


def refused(number: int) -> Callable[[], bytes]:
    def answer() -> bytes:
        raise OSError(number, "refused")

    return answer


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EPERM, "permission denied"),
        (errno.EACCES, "permission denied"),
        (errno.EIO, "cannot be read: Input/output error"),
        (errno.EOPNOTSUPP, None),
        (errno.ENODEV, None),
        (errno.ENOTTY, None),
    ],
)
def test_a_refusal_is_unknown_and_a_gap_unless_the_device_has_no_such_thing(
    tmp_path: Path, number: int, reason: str | None
) -> None:
    (tmp_path / "sys").mkdir()
    root = Answering(str(tmp_path), refused(number))

    (nic,), (drive,) = with_rings(root, (NIC,)), with_health(root, (DRIVE,))

    assert (nic.rings, nic.offloads, drive.health) == (None, (), None)
    subjects = ("ethtool/eth0/rings", "ethtool/eth0/offloads", "nvme/nvme0/smart-log")
    assert [(gap.subject, gap.reason) for gap in root.gaps] == [(one, reason) for one in subjects if reason]


def test_a_device_that_does_not_answer_holds_up_nothing() -> None:
    never = threading.Event()
    questions = DeviceQuestions(0.05)

    def silent() -> bytes:
        never.wait(600)
        return b"late"

    began = time.monotonic()
    answers = [questions.ask(silent), *(questions.ask(lambda: b"prompt") for _ in range(50))]
    never.set()

    assert {answer.errno for answer in answers if isinstance(answer, Unreadable)} == {errno.ETIMEDOUT}
    assert len([answer for answer in answers if isinstance(answer, Unreadable)]) == 51
    assert time.monotonic() - began < 180


def test_no_answer_in_time_is_said(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    root = Answering(str(tmp_path), refused(errno.ETIMEDOUT))
    with_health(root, (DRIVE,))

    assert [gap.reason for gap in root.gaps] == ["no answer in time; it is asked again at the next start"]


@pytest.mark.parametrize(
    "drive", [replace(DRIVE, transport="tcp"), replace(DRIVE, state="resetting"), replace(DRIVE, state=None)]
)
def test_drives_over_a_network_and_those_that_are_not_live_are_not_asked(tmp_path: Path, drive: NvmeController) -> None:
    (tmp_path / "sys").mkdir()
    root = Answering(str(tmp_path), lambda: pytest.fail("asked"))

    assert with_health(root, (drive,)) == (drive,)
    assert with_rings(root, (replace(NIC, kind="veth"),)) == (replace(NIC, kind="veth"),)


MACHINE = """
/sys/class/net/eth0/type = 1
/sys/class/net/eth0/operstate = up
/sys/class/net/eth0/device/vendor = 0x8086
/sys/class/nvme/nvme0/state = live
/sys/class/nvme/nvme0/transport = pcie
/sys/class/nvme/nvme0/model = Example SSD
/ioctl/ethtool/eth0/offloads = rx-checksumming 1\\ngeneric-receive-offload 0
"""


def recorded(root: Path, health: bytes = log_page()) -> Machine:
    grow(root, MACHINE)
    for path, data in (("ethtool/eth0/rings", RINGS), ("nvme/nvme0/smart-log", health)):
        target = root / "ioctl" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return discover(str(root))


def test_a_capture_has_the_answers_and_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeviceQuestions, "ask", lambda *_: pytest.fail("asked"))
    machine = recorded(tmp_path)

    (nic,), (drive,) = machine.nics, machine.nvme_controllers
    assert nic.rings == NicRings(512, 4096, 256, 2048)
    assert nic.offloads == (("rx-checksumming", True), ("generic-receive-offload", False))
    assert drive.health == HEALTHY
    assert machine.findings == ()
    text = " ".join(machine_text(machine, width=200).split())
    assert "eth0 512 of 4096 256 of 2048 generic-receive-offload; all others are on" in text
    assert "nvme0 none 36 °C 100 % (at least 10 %) 3 % 4.61 MB 0 5 1234" in text
    assert "unknown: they need root" not in text


@pytest.mark.parametrize("salt", [None, b"salt"])
def test_a_capture_of_them_reads_back_to_the_same_machine(tmp_path: Path, salt: bytes | None) -> None:
    (tmp_path / "root").mkdir()
    machine = recorded(tmp_path / "root")
    archive = str(tmp_path / "a.tar")
    capture(str(tmp_path / "root"), archive, tool="test", salt=salt)

    again = discover(archive)
    assert [nic.rings for nic in again.nics] == [nic.rings for nic in machine.nics]
    assert [nic.offloads for nic in again.nics] == [nic.offloads for nic in machine.nics]
    assert again.nvme_controllers[0].health == HEALTHY


def test_a_refusal_is_recorded_as_one(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    root = CapturingSysroot(str(tmp_path))
    root.live = True
    assert root.device("/ioctl/nvme/nvme0/smart-log", refused(errno.EPERM)) == Unreadable(errno.EPERM)

    assert root.captured.refused == {"/ioctl/nvme/nvme0/smart-log": errno.EPERM}
    assert root.captured.files == {"/ioctl/nvme/nvme0/smart-log": b""}


def test_why_spare_and_wear_are_unknown_is_said(tmp_path: Path) -> None:
    grow(tmp_path, MACHINE)
    (tmp_path / "sizeup-capture.json").write_text(f'{{"refused": {{"/ioctl/nvme/nvme0/smart-log": {errno.EACCES}}}}}')
    (tmp_path / "ioctl/nvme/nvme0").mkdir(parents=True)
    (tmp_path / "ioctl/nvme/nvme0/smart-log").write_bytes(b"")

    text = " ".join(machine_text(discover(str(tmp_path))).split())
    assert "Spare and wear are unknown: they need root (nvme smart-log /dev/NAME)." in text


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (log_page(), []),
        (log_page(spare=10, threshold=10, used=99), []),
        (log_page(spare=9, threshold=10), [("nvme.failing", Severity.CRITICAL)]),
        (log_page(warning=0b1), [("nvme.failing", Severity.CRITICAL)]),
        (log_page(warning=0b10), [("nvme.failing", Severity.WARNING)]),
        (log_page(warning=0b1010), [("nvme.failing", Severity.CRITICAL)]),
        (log_page(used=100), [("nvme.worn", Severity.WARNING)]),
        (log_page(used=255, warning=0b100), [("nvme.failing", Severity.CRITICAL), ("nvme.worn", Severity.WARNING)]),
    ],
)
def test_only_what_the_specification_calls_a_warning_is_a_finding(
    page: bytes, found: list[tuple[str, Severity]]
) -> None:
    machine = Machine(nvme_controllers=(replace(DRIVE, health=device_questions.parse_health(page)),))

    assert [(finding.id, finding.severity) for finding in find(machine)] == found


def test_the_warning_is_in_words() -> None:
    machine = Machine(nvme_controllers=(replace(DRIVE, health=replace(HEALTHY, critical_warning=0b1000_1001)),))

    assert only(machine, "nvme.failing").evidence[0] == (
        "nvme0 Example SSD: critical warning 0x89 (spare below its threshold, media read only, bit 7)"
    )
