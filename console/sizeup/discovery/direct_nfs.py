"""Oracle's Direct NFS: whether a home has it linked, and the paths of its ``oranfstab``.

Files alone are read, and none where a mount may wait for its server. ``dnfs_on`` copies ``libnfsodm`` to
``rdbms/lib/odm`` (``ins_rdbms.mk`` of 12c and later); 11g puts it in the place of ``lib/libodm11.so``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from sizeup.discovery.file_systems import waiting_points
from sizeup.discovery.routes import parse_address
from sizeup.discovery.sysroot import LINKS_LIMIT, Sysroot
from sizeup.errors import MalformedError
from sizeup.model.network import DirectNfsServer, OracleHome
from sizeup.procfs.mounts import MountEntry, is_below
from sizeup.text import clean

ORATAB, INVENTORY, TABLE = "/etc/oratab", "/ContentsXML/inventory.xml", "/oranfstab"
"""The inventory is below the directory that ``/etc/oraInst.loc`` names; tables are in ``/etc`` and ``dbs``."""
_HOMES_LIMIT = 64
_PATHS = ("server", "local", "path", "export", "mount")
_OTHERS = ("nfs_version", "mnt_timeout", "security_default", "security", "management", "community", "uid", "gid")
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

    Oracle, Database Installation Guide for Linux, "Creating an oranfstab File for Direct NFS Client". A word that is no
    attribute may name a host, so that no error repeats it.
    """
    servers: list[dict[str, list[str]]] = []
    last = expected = ""
    for number, match in _words(text):
        key, value = (match[1] or match[0].removesuffix(":")).lower(), match[2] or ""
        found = f"{key}:"
        if ":" not in match[0] or key not in _PATHS + _OTHERS:
            expected = "server:, local:, path:, export:, mount: or another attribute of oranfstab"
            found = found if re.fullmatch("[a-z_]{1,24}:", found) and ":" in match[0] else "another word"
        elif not value or value.endswith(":"):
            expected, found = f"a value after {key}:", "none"
        elif key != "server" and not servers:
            expected = "server:"
        elif (key == "mount") != (last == "export"):
            expected = "mount: after export:" if last == "export" else "export:"
        if expected:
            raise MalformedError(f"line {number}: expected {expected}, found {found}")
        if key == "server":
            servers.append({name: [] for name in _PATHS + _OTHERS})
        servers[-1][key].append(clean(value))
        last = key
    if last == "export":
        raise MalformedError("expected mount: after the last export:, found the end of the file")
    exports = (tuple(zip(one["export"], one["mount"], strict=True)) for one in servers)
    return tuple(
        DirectNfsServer(one["server"][0], tuple(one["local"]), tuple(one["path"]), mounts)
        for one, mounts in zip(servers, exports, strict=True)
    )


def _words(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each attribute, with its value where it has one, and the number of its line."""
    for number, line in enumerate(text.splitlines(), 1):
        words = _WORD.finditer(line.partition("#")[0])
        yield from ((number, word) for word in words if word[0].lower() != "dontroute")


def reduced(path: str, text: str) -> str:
    """One of Oracle's files with homes, paths and mistakes alone, no comments and secrets; another file as it is."""
    if path == ORATAB:
        return "".join(f"*:{home}:N\n" for home in parse_oratab(text))
    if path.endswith(INVENTORY):
        return "".join(f'<HOME LOC="{home}"/>\n' for home in parse_inventory(text))
    if not path.endswith(TABLE):
        return text
    lines: list[list[str]] = [[] for _ in range(text.count("\n") + 1)]
    for number, word in _words(text):
        kept = word[0] if word[0].endswith(":") else "x"
        value = word[2] if word[1] and word[1].lower() in _PATHS else "x"
        lines[number - 1].append(f"{word[1]}: {value} " if word[1] else f"{kept} ")
    return "\n".join(map("".join, lines))


def names_in(table: str) -> tuple[str, ...]:
    """The names of servers and directories in an ``oranfstab``."""
    words = (word for _, word in _words(table) if word[1] and word[1].lower() in _PATHS)
    return tuple(word[2] for word in words if parse_address(word[2]) is None)


def read_direct_nfs(
    sysroot: Sysroot, mounts: Sequence[MountEntry]
) -> tuple[tuple[OracleHome, ...], tuple[DirectNfsServer, ...]]:
    """Return the homes, and the servers of all tables; ``mounts`` is the table of mounts."""
    waiting = waiting_points(mounts)
    nfs = {mount.point for mount in mounts if mount.kind.startswith("nfs")}
    tables: dict[str, tuple[DirectNfsServer, ...]] = {}

    def read(path: str) -> str:
        return (sysroot.read(path) or "") if _may_read(sysroot, path, waiting) else ""

    def has_table(path: str) -> bool:
        if path not in tables and (text := read(path)):
            try:
                tables[path] = tuple(
                    replace(
                        one,
                        missing_mount_points=tuple(at for _, at in one.exports if at.rstrip("/") not in nfs),
                        oranfstab=path,
                    )
                    for one in parse_oranfstab(text)
                )
            except MalformedError as error:
                tables[path] = ()
                sysroot.note(path, f"malformed: {error}")
        return path in tables

    common = f"/etc{TABLE}" if has_table(f"/etc{TABLE}") else None
    pointer = re.search(r"^inventory_loc=(/\S*?)/*$", read("/etc/oraInst.loc"), re.MULTILINE)
    databases = parse_oratab(read(ORATAB))
    others = parse_inventory(read(pointer[1] + INVENTORY)) if pointer else ()
    homes = []
    for home in list(dict.fromkeys(databases + others))[:_HOMES_LIMIT]:
        linked, unknown = _linked(sysroot, home, waiting)
        if unknown == "missing" and home not in databases:
            continue  # of clients and tools
        own = f"{home}/dbs{TABLE}"
        homes.append(OracleHome(home, linked, unknown, own if has_table(own) else common))
    return tuple(homes), tuple(server for table in tables.values() for server in table)


def _linked(sysroot: Sysroot, home: str, waiting: Sequence[str]) -> tuple[bool | None, str | None]:
    odm, old = f"{home}/rdbms/lib/odm", f"{home}/lib/libodm11.so"
    if not (_may_read(sysroot, odm, waiting) and _may_read(sysroot, old, waiting)):
        return None, "remote"
    if any(name.startswith("libnfsodm") for name in sysroot.names(odm)):
        return True, None
    if not sysroot.exists(f"{home}/rdbms/lib") or any(gap.subject == odm for gap in sysroot.gaps):
        return None, "missing"
    target = sysroot.readlink(old)
    if target is None and sysroot.exists(old):
        return None, "copied"
    return target is not None and target.rpartition("/")[2].startswith("libnfsodm"), None


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
