"""The user-space NFS client: libnfs where it is installed, opened by its soname.

Versions 4.0 (soname 13), 5.0 (14), 6.0 (16) and 7.0 (17). The arguments of ``nfs_pread`` and ``nfs_pread_async``
changed their order between the second and the third (sahlberg/libnfs, commit 5e8f7ce).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from cffi import FFI
from msgspec import Struct

from sizeup.errors import RefusedError, SizeupError
from sizeup.procfs.mounts import MountEntry
from sizeup.units import whole_number

SONAMES = dict.fromkeys(("libnfs.so.17", "libnfs.so.17.0.0", "libnfs.so.16", "libnfs.so.16.2.0"), True)
SONAMES |= dict.fromkeys(("libnfs.so.14", "libnfs.so.13"), False)
"""Tried in this order: whether a read takes the buffer first. A build by CMake has the whole version in its soname."""
_NEW_CALL = "rpc_nfs3_read_task"
"""Exported since the order changed; earlier versions call it ``rpc_nfs3_read_async``."""
CALLS = f"""
void *nfs_init_context(void), *nfs_parse_url_incomplete(void *, const char *url);
void nfs_destroy_context(void *), nfs_destroy_url(void *), nfs4_set_client_name(void *, const char *id);
char *nfs_get_error(void *);
int nfs_mount(void *, const char *server, const char *exported);
int nfs_open(void *, const char *path, int flags, void **file), nfs_close(void *, void *file);
int nfs_pread_async(void), nfs_get_fd(void *), nfs_which_events(void *), nfs_service(void *, int events);
void {_NEW_CALL}(void);
"""


class Share(Struct, frozen=True):
    """One file on a server, as a mount of the kernel names it."""

    address: str
    export: str
    path: str
    """Of the file below the export."""
    read_bytes: int
    """The most that the mount reads with one call (rsize)."""
    arguments: str
    """Of the URL: version (3 or 4: libnfs has no minor ones), ``read_bytes``, and the ports of the mount."""


def find_share(mount: MountEntry, real_path: str) -> Share:
    """Return the file that a real path below an NFS mount is on the server."""
    options = dict(option.partition("=")[::2] for option in mount.options)
    host, _, export = mount.source.partition(":/")
    read_bytes = whole_number(options.get("rsize", "")) or 1 << 20
    arguments = f"version={3 if options.get('vers', '4').startswith('3') else 4}&rsize={read_bytes}"
    for name, argument in (("port", "nfsport"), ("mountport", "mountport")):
        if whole_number(options.get(name, "")):
            arguments += f"&{argument}={options[name]}"
    path = real_path.removeprefix(mount.point.rstrip("/"))
    return Share(options.get("addr", host.strip("[]")), f"/{export}", path, read_bytes, arguments)


class LibNfs:
    """The loaded library; raises RefusedError where the order of its arguments is not known for certain."""

    def __init__(self, soname: str, ffi: Any, lib: Any) -> None:
        self.soname, self.ffi, self.lib = soname, ffi, lib
        self.buffer_first, new_calls = SONAMES.get(soname), hasattr(lib, _NEW_CALL)
        if self.buffer_first is not new_calls:
            raise RefusedError(
                f"{soname}: expected libnfs 4.0 to 7.0 with the calls of its version, found those "
                f"{'of 6.0 and later' if new_calls else 'before 6.0'}; it was not called, since arguments in the wrong "
                "order overwrite memory. Install a released version"
            )


@cache  # so that it stays loaded while a thread may be in it
def find_library() -> LibNfs:
    """Return the newest libnfs that is installed; raise RefusedError where there is none."""
    ffi = FFI()
    ffi.cdef(CALLS)
    for soname in SONAMES:
        with suppress(OSError):
            return LibNfs(soname, ffi, ffi.dlopen(soname))
    install = "apt install libnfs13 (or libnfs14, libnfs16), dnf install libnfs, zypper install libnfs"
    raise RefusedError(f"libnfs is not installed. To compare, install it: {install}")


class Connection:
    """One context of the library: one connection to a server, with the file open for reading."""

    def __init__(self, library: LibNfs, share: Share) -> None:
        self._library, lib = library, library.lib
        self._context, self._file = lib.nfs_init_context(), library.ffi.new("void **")
        # A lost connection ends the measurement: one that the library makes again would hide it.
        url = lib.nfs_parse_url_incomplete(self._context, f"nfs://?autoreconnect=0&{share.arguments}".encode())
        self._check(0 if url else -1, f"setting {share.arguments}")
        lib.nfs_destroy_url(url)
        # By default contexts of one second share a name, and the server drops the state of all but the last one.
        lib.nfs4_set_client_name(self._context, f"sizeup {os.getpid()} {secrets.token_hex(8)}".encode())
        mounted = lib.nfs_mount(self._context, share.address.encode(), os.fsencode(share.export))
        hint = "; without root, only to an export with the option insecure (exports(5))" if os.geteuid() else ""
        self._check(mounted, f"connecting to {share.address}:{share.export}", hint)
        opened = lib.nfs_open(self._context, os.fsencode(share.path), os.O_RDONLY, self._file)
        self._check(opened, f"opening {share.path} on {share.address}:{share.export}")

    def _check(self, status: int, doing: str, hint: str = "") -> None:
        if status < 0:
            text = self._library.lib.nfs_get_error(self._context)
            reason = self._library.ffi.string(text).decode(errors="replace") if text else "no reason given"
            raise SizeupError(f"libnfs: {doing} failed: {reason}{hint}")

    def calls(self) -> Mapping[str, int]:
        """Return the addresses that the measuring loop needs of this connection, which it uses from one thread."""
        lib, read = self._library.lib, "read_into" if self._library.buffer_first else "read_at"
        found = {name: getattr(lib, f"nfs_{name}") for name in ("get_fd", "which_events", "service")}
        found |= {read: lib.nfs_pread_async, "context": self._context, "file": self._file[0]}
        return {name: int(self._library.ffi.cast("uintptr_t", of)) for name, of in found.items()}

    def close(self) -> None:
        """Close the file and the connection."""
        self._library.lib.nfs_close(self._context, self._file[0])
        self._library.lib.nfs_destroy_context(self._context)
