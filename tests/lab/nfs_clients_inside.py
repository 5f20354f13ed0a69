"""What a guest of the profile ``nfs`` does for test_nfs_clients.py; writes its findings to ``$OUT``."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cffi import FFI

from sizeup.procfs.mounts import read_nfs_bytes
from sizeup_nfs.libnfs import CALLS, Connection, LibNfs, find_library
from sizeup_nfs.probe import open_file

SIZE_BYTES = 32 << 20
PIECE_BYTES = 64 << 10


def served_bytes() -> int:
    """Return what the kernel's server has sent in replies to reads."""
    line = next(line for line in Path("/proc/net/rpc/nfsd").read_text().splitlines() if line.startswith("io "))
    return int(line.split()[1])


def moved(read: Callable[[int, int], bytes], mount: str) -> dict[str, object]:
    """Return the hash of the file as a client reads it, and what the counters of server and mount say."""
    server, client, digest = served_bytes(), read_nfs_bytes(mount), hashlib.sha256()
    for offset in range(0, SIZE_BYTES, PIECE_BYTES):
        digest.update(read(PIECE_BYTES, offset))
    after = read_nfs_bytes(mount)
    assert client is not None
    assert after is not None
    return {
        "hash": digest.hexdigest(),
        "server": served_bytes() - server,
        "mount": after.server_read - client.server_read,
    }


def by_library(library: LibNfs, connection: Connection) -> Callable[[int, int], bytes]:
    """Return a reader through ``nfs_pread``, whose arguments have the order of the library's version."""
    ffi = FFI()
    where = ("char *", "size_t", "uint64_t") if library.buffer_first else ("uint64_t", "uint64_t", "char *")
    ffi.cdef(f"int nfs_pread(void *, void *, {', '.join(where)});")
    lib, buffer = ffi.dlopen(library.soname), ffi.new("char[]", PIECE_BYTES)

    def read(count: int, offset: int) -> bytes:
        given = (buffer, count, offset) if library.buffer_first else (offset, count, buffer)
        got = lib.nfs_pread(connection._context, connection._file[0], *given)
        return bytes(ffi.buffer(buffer, got))

    return read


def main() -> None:
    content = os.urandom(SIZE_BYTES)
    Path("/srv/ram/data.dbf").write_bytes(content)
    found: dict[str, object] = {"expected": hashlib.sha256(content).hexdigest(), "calls": len(CALLS)}
    library = find_library()
    for name in ("v3", "v42"):
        file = open_file(f"/mnt/{name}/data.dbf")
        again = os.open(file.target.path, os.O_RDONLY)
        found[f"{name} kernel"] = moved(
            lambda count, at, fd=again: os.pread(fd, count, at), str(file.target.nfs_mount_point)
        )
        found[f"{name} connections"] = file.connections
        connection = Connection(library, file.share)
        found[f"{name} libnfs"] = moved(by_library(library, connection), str(file.target.nfs_mount_point))
        connection.close()
    for name, settings in {
        "one": ["path=/mnt/v42/data.dbf"],
        "two": ["path=/mnt/v42/data.dbf", "more_paths=/mnt/v3/data.dbf"],
        "local": ["path=/etc/passwd"],
        "folder": ["path=/mnt/v42"],
    }.items():
        chosen = [*settings, "seconds=200ms", "rounds=2", "requests=8", "stall=120s"]
        arguments = [word for one in chosen for word in ("--set", f"nfs.clients.{one}")]
        command = [sys.executable, "-m", "sizeup", "--batch", "--full-load", "--json", "-p", "nfs.clients", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        found[f"run {name}"] = {"status": done.returncode, "out": done.stdout, "error": done.stderr}
    (Path(os.environ["OUT"]) / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
