"""Oracle's Direct NFS: whether a home has it linked, and the paths of its ``oranfstab``.

Files alone are read, and none where a mount may wait for its server. ``dnfs_on`` copies ``libnfsodm`` to
``rdbms/lib/odm`` (``ins_rdbms.mk`` of 12c and later); 11g puts it in the place of ``lib/libodm11.so``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from sizeup.discovery.routes import Routes, parse_address
from sizeup.discovery.sysroot import LINKS_LIMIT, Sysroot
from sizeup.errors import MalformedError
from sizeup.model.network import DirectNfsExport, DirectNfsLocal, DirectNfsServer, NfsMount, OracleHome
from sizeup.procfs.mounts import is_below
from sizeup.text import clean

ORATAB, ORANFSTAB, INVENTORY = "/etc/oratab", "/etc/oranfstab", "/ContentsXML/inventory.xml"
"""The last below the directory that ``/etc/oraInst.loc`` names."""
_HOMES_LIMIT = 64
_MOST_PATHS = 4
"""``local`` and ``path`` lines of one server, each."""
_PATHS = ("server", "local", "path", "export", "mount")
_OTHERS = ("nfs_version", "mnt_timeout", "security_default", "security", "management", "community", "uid", "gid")
_EXPECTED = "server:, local:, path:, export:, mount: or another attribute of oranfstab"
_WORD = re.compile(r"([A-Za-z_]+):[ \t]*(\S+)|\S+")


def parse_oratab(text: str) -> tuple[str, ...]:
    """The homes of ``/etc/oratab``: ``SID:HOME:Y`` a line."""
    return tuple(clean(home).rstrip("/ ") for home in re.findall(r"^[^#:\n]*:(/[^:#\n]*)", text, re.MULTILINE))


def parse_inventory(text: str) -> tuple[str, ...]:
    """The homes of a central inventory that are not removed."""
    homes = (home for home in re.findall(r"<HOME\s[^>]{0,4096}>", text) if 'REMOVED="T"' not in home)
    found = (re.search(r'\sLOC="(/[^"]*)"', home) for home in homes)
    return tuple(clean(match[1]).rstrip("/") for match in found if match is not None)


def parse_oranfstab(text: str) -> tuple[DirectNfsServer, ...]:
    """The servers of an ``oranfstab``, with nothing of this machine yet; raises ``MalformedError``.

    Oracle, Database Installation Guide for Linux, "Creating an oranfstab File for Direct NFS Client".
    """
    servers: list[tuple[str, dict[str, list[str]]]] = []
    last = ""
    for number, key, value in _attributes(text):
        if key == "server":
            servers.append((value, {name: [] for name in _PATHS}))
        if not servers or (key == "mount") != (last == "export"):
            expected = "server:" if not servers else "mount: after export:" if last == "export" else "export:"
            raise MalformedError(f"line {number}: expected {expected}, found {key}:")
        found = servers[-1][1].setdefault(key, [])
        found.append(value)
        if key in ("local", "path") and len(found) > _MOST_PATHS:
            raise MalformedError(f"line {number}: expected at most {_MOST_PATHS} {key}: of one server, found more")
        last = key
    if last == "export":
        raise MalformedError("expected mount: after the last export:, found the end of the file")
    return tuple(
        DirectNfsServer(
            name,
            tuple(DirectNfsLocal(local, None) for local in own["local"]),
            tuple(own["path"]),
            tuple(DirectNfsExport(*pair, mounted=False) for pair in zip(own["export"], own["mount"], strict=True)),
        )
        for name, own in servers
    )


def _attributes(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each attribute with its line; a word that is none may name a host, so that no error repeats it."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _WORD.finditer(line.partition("#")[0]):
            key = (match[1] or match[0].removesuffix(":")).lower()
            if match[0].lower() == "dontroute":
                continue
            if ":" not in match[0] or key not in _PATHS + _OTHERS:
                found = f"{key}:" if re.fullmatch("[a-z_]{1,24}", key) and ":" in match[0] else "another word"
                raise MalformedError(f"line {number}: expected {_EXPECTED}, found {found}")
            if match[2] is None or match[2].endswith(":"):
                raise MalformedError(f"line {number}: expected a value after {key}:, found none")
            yield number, key, clean(match[2])


def reduced_oratab(text: str) -> str:
    """The table with its homes alone."""
    return "".join(f"*:{home}:N\n" for home in parse_oratab(text))


def reduced_inventory(text: str) -> str:
    """The inventory with its homes alone: it names the nodes of a cluster, too."""
    return "".join(f'<HOME LOC="{home}"/>\n' for home in parse_inventory(text))


def reduced_oranfstab(text: str) -> str:
    """The table without comments, secrets and stray words, so that it reads, or fails, as before."""

    def kept(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0] if match[0].endswith(":") or match[0].lower() == "dontroute" else "x"
        return f"{match[1]}: {match[2] if match[1].lower() in _PATHS else 'x'}"

    return "".join(f"{_WORD.sub(kept, line.partition('#')[0])}\n" for line in text.splitlines())


def names_in(text: str) -> tuple[str, ...]:
    """The names of servers and directories in an ``oranfstab``."""
    found = (match[2] for match in _WORD.finditer(reduced_oranfstab(text)) if match[2] not in (None, "x"))
    return tuple(value for value in found if parse_address(value) is None)


def read_direct_nfs(
    sysroot: Sysroot, routes: Routes, mounts: Sequence[NfsMount], waiting: Sequence[str]
) -> tuple[tuple[OracleHome, ...], tuple[DirectNfsServer, ...]]:
    """Return the homes, and the servers of all tables; ``waiting`` are mount points not to be read."""
    tables: dict[str, tuple[DirectNfsServer, ...]] = {}

    def read(path: str) -> str:
        return (sysroot.read(path) or "") if _may_read(sysroot, path, waiting) else ""

    def has_table(path: str) -> bool:
        if path not in tables and (text := read(path)):
            try:
                tables[path] = tuple(_found(one, path, routes, mounts) for one in parse_oranfstab(text))
            except MalformedError as error:
                tables[path] = ()
                sysroot.note(path, f"malformed: {error}")
        return path in tables

    common = ORANFSTAB if has_table(ORANFSTAB) else None
    pointer = re.search(r"^inventory_loc=(/\S*?)/*$", read("/etc/oraInst.loc"), re.MULTILINE)
    databases = parse_oratab(read(ORATAB))
    others = parse_inventory(read(pointer[1] + INVENTORY)) if pointer else ()
    homes = []
    for home in list(dict.fromkeys(databases + others))[:_HOMES_LIMIT]:
        linked, unknown = _linked(sysroot, home, waiting)
        if unknown == "missing" and home not in databases:
            continue  # of clients and tools
        own = f"{home}/dbs/oranfstab"
        homes.append(OracleHome(home, linked, unknown, own if has_table(own) else common))
    return tuple(homes), tuple(server for table in tables.values() for server in table)


def _linked(sysroot: Sysroot, home: str, waiting: Sequence[str]) -> tuple[bool | None, str | None]:
    odm, old = f"{home}/rdbms/lib/odm", f"{home}/lib/libodm11.so"
    if not (_may_read(sysroot, odm, waiting) and _may_read(sysroot, old, waiting)):
        return None, "remote"
    if not sysroot.exists(f"{home}/rdbms/lib"):
        return None, "missing"
    if any(name.startswith("libnfsodm") for name in sysroot.names(odm)):
        return True, None
    target = sysroot.readlink(old)
    if target is None and sysroot.exists(old):
        return None, "copied"
    return target is not None and target.rpartition("/")[2].startswith("libnfsodm"), None


def _found(server: DirectNfsServer, table: str, routes: Routes, mounts: Sequence[NfsMount]) -> DirectNfsServer:
    """Return a server with its table, and what of it this machine has."""
    points = {mount.mount_point for mount in mounts}
    own = tuple(replace(one, here=routes.has(one.local_path)) for one in server.locals)
    exports = tuple(replace(one, mounted=(one.local_mount.rstrip("/") in points)) for one in server.exports)
    return replace(server, locals=own, exports=exports, oranfstab=table)


def _may_read(sysroot: Sysroot, path: str, waiting: Sequence[str]) -> bool:
    """Whether no part of a path, links followed, lies on a mount that may wait for a server."""
    pending, at, links_left = path.split("/"), "", LINKS_LIMIT
    while pending:
        part = pending.pop(0)
        at = at.rpartition("/")[0] if part == ".." else at if part in ("", ".") else f"{at}/{part}"
        if is_below(at, waiting) or links_left < 0:
            return False
        target = None if part in ("", ".", "..") else sysroot.readlink(at)
        if target is not None:
            links_left -= 1
            at = "" if target.startswith("/") else at.rpartition("/")[0]
            pending = [*target.split("/"), *pending]
    return True
