"""Ask devices of the running kernel by ioctl, without waiting for one that does not answer.

An ioctl cannot be interrupted: of a network interface it waits for the kernel's lock on the configuration (rtnl), of an
NVMe drive for the drive, until the kernel gives up after ``nvme_core.admin_timeout`` (60 s). So each question is put in
a thread of its own, and all questions of one look together get ``SECONDS``; what has not answered by then is unknown.
The threads are daemons: nothing waits for them, but the end of the process may have to wait for the kernel.
"""

from __future__ import annotations

import array
import errno
import os
import socket
import stat
import struct
import time
from collections.abc import Callable

from sizeup.errors import MalformedError
from sizeup.files import answer_of
from sizeup.model.network import NicRings
from sizeup.model.storage import NvmeHealth
from sizeup.procfs.kernel_file import Unreadable

SECONDS = 2.0
"""Time for all questions; interfaces answer in microseconds, drives in milliseconds."""

Question = Callable[[], bytes]
"""Returns the answer; raises OSError where the kernel or the device refuses."""
try:
    import fcntl
except ImportError:  # a system that is no Unix: devices are asked nothing there
    fcntl = None  # type: ignore[assignment]

_SIOCETHTOOL = 0x8946
_NAME_BYTES = 16  # IFNAMSIZ, with its zero
_IFREQ = struct.Struct(f"={_NAME_BYTES}sQ16x")
"""Name and pointer; the union is 24 bytes where pointers have 64 bits, and no shorter request is made."""

_GRINGPARAM = 0x10
_RINGS = struct.Struct("=9I")
_VALUE = struct.Struct("=II")
_GFLAGS, _LRO = 0x25, 1 << 15  # ETH_FLAG_LRO
_OFFLOADS = (
    ("rx-checksumming", 0x14),  # ETHTOOL_GRXCSUM
    ("tx-checksumming", 0x16),  # ETHTOOL_GTXCSUM
    ("scatter-gather", 0x18),  # ETHTOOL_GSG
    ("tcp-segmentation-offload", 0x1E),  # ETHTOOL_GTSO
    ("generic-segmentation-offload", 0x23),  # ETHTOOL_GGSO
    ("generic-receive-offload", 0x2B),  # ETHTOOL_GGRO
)
LARGE_RECEIVE = "large-receive-offload"
OFFLOADS = (*(name for name, _ in _OFFLOADS), LARGE_RECEIVE)
"""Names as ethtool -k writes them."""

_ADMIN_CMD = 0xC048_4E41  # _IOWR('N', 0x41, struct nvme_passthru_cmd)
_COMMAND = struct.Struct("=BBHIIIQQIIIIIIIIII")
_GET_LOG_PAGE = 0x02
_HEALTH_PAGE = 0x02
_WHOLE_CONTROLLER = 0xFFFF_FFFF
LOG_BYTES = 512
_KELVIN = 273  # the offset that the kernel's nvme driver uses, too
_MOST = 1 << 63
_DATA_UNIT = 512_000
"""Bytes of a data unit: thousands of 512 bytes, whatever the block of the drive."""


class DeviceQuestions:
    """Questions of one look at a machine."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds

    def ask(self, question: Question) -> bytes | Unreadable:
        """Return the answer, or why there is none: ETIMEDOUT where the time is over."""
        if self._left <= 0:
            return Unreadable(errno.ETIMEDOUT)
        began = time.monotonic()
        try:
            return answer_of(question).result(self._left)
        except TimeoutError:
            return Unreadable(errno.ETIMEDOUT)
        except OSError as error:
            return Unreadable(error.errno or errno.EIO)
        except RuntimeError:  # no memory, or no thread allowed, for it
            return Unreadable(errno.EAGAIN)
        finally:
            self._left -= time.monotonic() - began


def _call(interface: str, command: bytes) -> bytes:
    """Return the structure of a command as the kernel filled it in; raise OSError where it refuses."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no ioctl")
    name = os.fsencode(interface)
    if not 0 < len(name) < _NAME_BYTES or b"\0" in name:
        raise OSError(errno.ENODEV, "no name of an interface")
    data = array.array("B", command)
    address, _ = data.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        fcntl.ioctl(channel, _SIOCETHTOOL, _IFREQ.pack(name, address))
    return data.tobytes()


def ask_rings(interface: str) -> bytes:
    """Return ``struct ethtool_ringparam``; EOPNOTSUPP of an interface without rings."""
    return _call(interface, _RINGS.pack(_GRINGPARAM, *[0] * 8))


def parse_rings(data: bytes) -> NicRings:
    """Return the entries of the receive and send rings, and the most that the card has."""
    if len(data) != _RINGS.size:
        raise MalformedError(f"expected {_RINGS.size} bytes, found {len(data)}")
    command, receive_most, _, _, send_most, receive, _, _, send = _RINGS.unpack(data)
    if command != _GRINGPARAM:
        raise MalformedError(f"expected the command {_GRINGPARAM:#x}, found {command:#x}")
    return NicRings(receive, receive_most or None, send, send_most or None)


def ask_offloads(interface: str) -> bytes:
    """Return a line for each offload, its name and 0 or 1; EOPNOTSUPP where the interface answers for none."""
    lines = []
    for name, command in (*_OFFLOADS, (LARGE_RECEIVE, _GFLAGS)):
        try:
            _, value = _VALUE.unpack(_call(interface, _VALUE.pack(command, 0)))
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            continue
        lines.append(f"{name} {int(bool(value & _LRO if command == _GFLAGS else value))}\n")
    if not lines:
        raise OSError(errno.EOPNOTSUPP, "the interface answers for no offload")
    return "".join(lines).encode()


def parse_offloads(text: str) -> tuple[tuple[str, bool], ...]:
    """Return each known offload with whether it is on."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name not in OFFLOADS or value not in ("0", "1"):
            raise MalformedError(f"expected the name of an offload and 0 or 1, found {line[:60]!r}")
        found[name] = value == "1"
    return tuple(found.items())


def ask_health(name: str, number: str | None, folder: str = "/dev") -> bytes:
    """Return the log page of a controller; ``number`` is its ``major:minor`` by sysfs, which the device must have."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no ioctl")
    descriptor = os.open(f"{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISCHR(found.st_mode) or f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}" != number:
            raise OSError(errno.ENODEV, "another device has that name")
        data = array.array("B", bytes(LOG_BYTES))
        address, _ = data.buffer_info()
        words = LOG_BYTES // 4 - 1  # the command counts from 0
        command = bytearray(
            _COMMAND.pack(
                _GET_LOG_PAGE, 0, 0, _WHOLE_CONTROLLER, 0, 0, 0, address, 0, LOG_BYTES,
                words << 16 | _HEALTH_PAGE, 0, 0, 0, 0, 0, 0, 0,
            )
        )  # fmt: skip
        if fcntl.ioctl(descriptor, _ADMIN_CMD, command) != 0:
            raise OSError(errno.EIO, "the controller refused the command")  # an NVMe status, not an error number
        return data.tobytes()
    finally:
        os.close(descriptor)


def parse_health(data: bytes) -> NvmeHealth:
    """Return what the log says; a counter beyond 63 bits is unknown, as a session cannot hold it."""
    if len(data) != LOG_BYTES:
        raise MalformedError(f"expected {LOG_BYTES} bytes, found {len(data)}")
    if not any(data):
        raise MalformedError("expected a log page, found zeros alone")
    warning, kelvin, spare, threshold, used = struct.unpack_from("<BHBBB", data)

    def counter(offset: int, unit: int = 1) -> int | None:
        value = int.from_bytes(data[offset : offset + 16], "little") * unit
        return value if value < _MOST else None

    return NvmeHealth(
        critical_warning=warning,
        temperature_celsius=kelvin - _KELVIN if kelvin else None,
        spare_percent=spare,
        spare_threshold_percent=threshold,
        used_percent=used,
        read_bytes=counter(32, _DATA_UNIT),
        written_bytes=counter(48, _DATA_UNIT),
        power_on_hours=counter(128),
        unsafe_shutdowns=counter(144),
        media_errors=counter(160),
    )
