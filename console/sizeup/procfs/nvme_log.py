"""The SMART / health log of an NVMe controller, by the ioctl that nvme-cli uses; the kernel answers root alone.

``struct nvme_passthru_cmd`` and ``NVME_IOCTL_ADMIN_CMD`` of include/uapi/linux/nvme_ioctl.h. Command "Get Log Page"
(02h) and "SMART / Health Information" (log page 02h): NVM Express Base Specification 2.0, 5.16 and 5.16.1.3. The
command reads and changes nothing; its time limit is left to the kernel, which resets a controller at the end of one.
"""

from __future__ import annotations

import array
import errno
import os
import stat
import struct

from sizeup.errors import MalformedError
from sizeup.model.storage import NvmeHealth

try:
    import fcntl
except ImportError:  # a system that is no Unix: devices are asked nothing there
    fcntl = None  # type: ignore[assignment]

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

    def counter(offset: int) -> int | None:
        value = int.from_bytes(data[offset : offset + 16], "little")
        return value if value < _MOST else None

    def units(offset: int) -> int | None:
        value = int.from_bytes(data[offset : offset + 16], "little") * _DATA_UNIT
        return value if value < _MOST else None

    return NvmeHealth(
        critical_warning=warning,
        temperature_celsius=kelvin - _KELVIN if kelvin else None,
        spare_percent=spare,
        spare_threshold_percent=threshold,
        used_percent=used,
        read_bytes=units(32),
        written_bytes=units(48),
        power_on_hours=counter(128),
        unsafe_shutdowns=counter(144),
        media_errors=counter(160),
    )
