"""Mount a file system whose server answers nothing from some time on, then run a program: ``DIR FILE PROGRAM...``.

The kernel waits for it as for an NFS server that is gone: in state D, until the server comes back or is killed. Until
FILE exists the root directory and its space are shown, as of a server that still answers. Needs a mount namespace.
Messages are those of <linux/fuse.h>, protocol 7.31.
"""

import ctypes
import os
import struct
import sys
import threading

_HEADER = struct.Struct("<IIQQIIIHH")
_FORGET, _GETATTR, _STATFS, _INIT, _OPENDIR, _READDIR, _RELEASEDIR, _ACCESS, _BATCH_FORGET = (
    2,
    3,
    17,
    26,
    27,
    28,
    29,
    34,
    42,
)
_SILENT = (_FORGET, _BATCH_FORGET)
_ENOENT = 2


def _answer(opcode: int) -> bytes | int:
    attributes = struct.pack("<6Q10I", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40777, 2, os.getuid(), os.getgid(), 0, 4096, 0)
    answers = {
        _INIT: struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 12, 10, 65536, 1, 0, 0, *[0] * 8)[:64],
        _GETATTR: struct.pack("<QII", 0, 0, 0) + attributes,
        _STATFS: struct.pack("<5Q10I", 1 << 22, 1 << 21, 1 << 21, 1000, 1000, 4096, 255, 4096, *[0] * 7),
        _OPENDIR: struct.pack("<QII", 1, 0, 0),
        _READDIR: b"", _RELEASEDIR: b"", _ACCESS: b"",
    }  # fmt: skip
    return answers.get(opcode, _ENOENT)


def serve(device: int, hung: str) -> None:
    """Answer until the file exists; then leave questions unread, so that who asks can be killed, as with NFS."""
    opcode = 0
    while opcode != _INIT or not os.path.exists(hung):
        message = os.read(device, 1 << 17)
        _, opcode, unique, *_ = _HEADER.unpack_from(message)
        if opcode in _SILENT:
            continue
        found = _answer(opcode)
        error, body = (-found, b"") if isinstance(found, int) else (0, found)
        os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)


def main() -> None:
    """Mount, serve in a thread of a child that lives as long as the program, and become the program."""
    directory, hung, *program = sys.argv[1:]
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"server:/export", directory.encode(), b"fuse.sshfs", 6, options.encode()):
        sys.exit(f"no FUSE here: {os.strerror(ctypes.get_errno())}")
    program_id = os.fork()
    if not program_id:
        os.close(device)
        os.execvp(program[0], program)
    threading.Thread(target=serve, args=(device, hung), daemon=True).start()
    _, status = os.waitpid(program_id, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    main()
