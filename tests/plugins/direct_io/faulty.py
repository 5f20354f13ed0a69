"""A file system in user space whose requests fail or hang on demand: ``python faulty.py MOUNT_POINT STATE``.

Speaks the kernel's FUSE protocol (linux/fuse.h) directly. It keeps names and sizes and reads as zeros. ``STATE`` is
a file of four bytes: 0 is well, a positive errno fails every read and write with it, ``HANG`` answers nothing,
``NO_DIRECT`` refuses to open with O_DIRECT, ``SLOW`` added to an errno waits before it fails, ``DELAYED`` plus
milliseconds answers each read and write after that time, one after the other.
"""

import ctypes
import errno
import itertools
import mmap
import os
import stat
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

HANG, NO_DIRECT = -1, -2
SLOW = 1 << 16
DELAYED = 1 << 20
LARGEST_WRITE = 1 << 20
_ROOT = 1
_HEADER = struct.Struct("=IIQQIIIHH")
_REPLY = struct.Struct("=IiQ")
_ATTRIBUTES = struct.Struct("=6Q10I")
_ENTRY = struct.Struct("=4Q2I")
_SET_SIZE = 1 << 3
_MAX_PAGES, _ASYNC_DIO, _BIG_WRITES, _ASYNC_READ = 1 << 22, 1 << 15, 1 << 5, 1
_NO_REPLY = {2, 36, 42}  # forget, interrupt, batch forget


class Server:
    """One mounted file system."""

    def __init__(self, mount_point: str, state: mmap.mmap) -> None:
        self._state = state
        self._names: dict[bytes, int] = {}
        self._sizes: dict[int, int] = {}
        self._numbers = itertools.count(_ROOT + 1)
        self._device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0".encode()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"faulty", mount_point.encode(), b"fuse.faulty", 0, options) < 0:
            raise OSError(ctypes.get_errno(), "mount")
        self._calls: dict[int, Callable[[int, bytes], bytes]] = {
            1: self._lookup, 3: self._attributes, 4: self._set_attributes, 10: self._unlink, 14: self._opened,
            15: self._read, 16: self._write, 17: self._room, 18: self._nothing, 20: self._nothing, 25: self._nothing,
            26: self._init, 27: self._opened, 28: self._nothing, 29: self._nothing, 35: self._create,
        }  # fmt: skip

    def serve(self) -> None:
        """Answer until it is unmounted."""
        while True:
            try:
                request = os.read(self._device, LARGEST_WRITE + (1 << 16))
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                continue
            _, code, unique, node, *_ = _HEADER.unpack_from(request)
            while self._asked_for() == HANG:
                time.sleep(0.01)
            if code in _NO_REPLY:
                continue
            try:
                body, status = self._calls.get(code, self._unknown)(node, request[_HEADER.size :]), 0
            except OSError as error:
                body, status = b"", -(error.errno or errno.EIO)
            os.write(self._device, _REPLY.pack(_REPLY.size + len(body), status, unique) + body)

    def _asked_for(self) -> int:
        return int.from_bytes(self._state[:4], "little", signed=True)

    def _fail_if_asked(self) -> None:
        asked = self._asked_for()
        if asked >= DELAYED:
            time.sleep((asked - DELAYED) / 1000)
            return
        if asked > SLOW:
            time.sleep(0.3)
        if asked > 0:
            raise OSError(asked % SLOW, "")

    def _unknown(self, node: int, body: bytes) -> bytes:
        raise OSError(errno.ENOSYS, "")

    def _init(self, node: int, body: bytes) -> bytes:
        flags = _ASYNC_READ | _BIG_WRITES | _ASYNC_DIO | _MAX_PAGES
        return struct.pack("=4I2H2I2HI7I", 7, 31, 0, flags, 64, 48, LARGEST_WRITE, 1, 256, 0, 0, *[0] * 7)

    def _described(self, node: int) -> bytes:
        mode = stat.S_IFDIR | 0o755 if node == _ROOT else stat.S_IFREG | 0o600
        size = self._sizes.get(node, 0)
        return _ATTRIBUTES.pack(node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def _entry(self, node: int) -> bytes:
        return _ENTRY.pack(node, 0, 0, 0, 0, 0) + self._described(node)

    def _lookup(self, node: int, body: bytes) -> bytes:
        name = body.rstrip(b"\0")
        if name not in self._names:
            raise OSError(errno.ENOENT, "")
        return self._entry(self._names[name])

    def _attributes(self, node: int, body: bytes) -> bytes:
        return struct.pack("=QII", 0, 0, 0) + self._described(node)

    def _set_attributes(self, node: int, body: bytes) -> bytes:
        valid, _, _, size = struct.unpack_from("=IIQQ", body)
        if valid & _SET_SIZE:
            self._sizes[node] = size
        return self._attributes(node, body)

    def _create(self, node: int, body: bytes) -> bytes:
        made = self._names[body[16:].rstrip(b"\0")] = next(self._numbers)
        self._sizes[made] = 0
        # As with some real ones, the file is there although opening it fails.
        return self._entry(made) + self._opened(made, body)

    def _unlink(self, node: int, body: bytes) -> bytes:
        self._names.pop(body.rstrip(b"\0"))
        return b""

    def _opened(self, node: int, body: bytes) -> bytes:
        (flags,) = struct.unpack_from("=I", body)
        if flags & os.O_DIRECT and self._asked_for() == NO_DIRECT:
            raise OSError(errno.EINVAL, "")
        return struct.pack("=QIi", 0, 0, 0)

    def _read(self, node: int, body: bytes) -> bytes:
        self._fail_if_asked()
        _, offset, size = struct.unpack_from("=QQI", body)
        return bytes(max(0, min(size, self._sizes.get(node, 0) - offset)))

    def _write(self, node: int, body: bytes) -> bytes:
        self._fail_if_asked()
        _, offset, size = struct.unpack_from("=QQI", body)
        self._sizes[node] = max(self._sizes.get(node, 0), offset + size)
        return struct.pack("=II", size, 0)

    def _room(self, node: int, body: bytes) -> bytes:
        return struct.pack("=5Q10I", 1 << 22, 1 << 22, 1 << 22, 1000, 1000, 4096, 255, 4096, 0, *[0] * 6)

    def _nothing(self, node: int, body: bytes) -> bytes:
        return b""


def main() -> None:
    """Mount and serve."""
    mount_point, state = sys.argv[1:]
    with Path(state).open("r+b") as file:
        server = Server(mount_point, mmap.mmap(file.fileno(), 4))
    print("mounted", flush=True)
    server.serve()


if __name__ == "__main__":
    main()
