"""A capture of this host: what discovery read, link by link, in one archive.

Discovery itself decides what belongs into it: it runs over a root that remembers every answer, so
that a capture reads back to the machine it was made of, and never holds a file nobody looks at.
Identifying values are replaced by stand-ins unless the user keeps them.
"""

from __future__ import annotations

import io
import ipaddress
import json
import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from sizeup.discovery import direct_nfs, routes
from sizeup.discovery.anonymizer import Anonymizer
from sizeup.discovery.block import parse_vpd_serial
from sizeup.discovery.file_systems import POOLS, UUID
from sizeup.discovery.machine import assessed, discover
from sizeup.discovery.nfs import parse_tcp
from sizeup.discovery.numa import SMBIOS_TABLE
from sizeup.discovery.pci import NVIDIA, reduced_information
from sizeup.discovery.sysroot import ANSWERS, LINKS_LIMIT, MANIFEST, Sysroot
from sizeup.discovery.virtualization import INSTANCE_DATA, provider_in, reduced_instance_data
from sizeup.errors import UsageError
from sizeup.files import write
from sizeup.model.machine import Machine
from sizeup.procfs.device_questions import Question
from sizeup.procfs.kernel_file import Unreadable
from sizeup.procfs.lparcfg import LPARCFG, reduced_lparcfg
from sizeup.procfs.mounts import is_below, parse_mountstats
from sizeup.procfs.smbios import without_identities

FORMAT = 1

_IDENTIFYING = frozenset({
    "serial", "serial_number", "product_serial", "product_uuid", "board_serial", "chassis_serial", "board_asset_tag",
    "chassis_asset_tag", "port_name", "node_name", "fabric_name", "sas_address", "host_sas_address", "wwid", "nguid",
    "uuid", "eui", "initiatorname", "targetname", "ipaddress", "hwaddress", "subsysnqn", "hostnqn", "hostid",
    "node_guid", "sys_image_guid", "permanent_port_name", "ibm,partition-name", "hostname",
})  # fmt: skip
"""Files whose whole text names one machine, part or place."""

_NAME_KIND = re.compile(r"^(?:naa\.|eui\.|nvme\.|t10\.|(?:part\d+-)?(?:mpath|LVM|CRYPT-\w+|CRYPT|DM_\w+)-)")
"""What tells the kind of a name, by which discovery knows it, and is no part of it."""

_WITH_ADDRESSES = (
    "/mounts", "/mountinfo", "/mountstats", "/address", "/ipaddress", "/dstaddr", direct_nfs.ORATAB,
    direct_nfs.INVENTORY, direct_nfs.TABLE,
)  # fmt: skip
"""Files in which network addresses stand between other words."""

_WITH_ADDRESSES_FIELDS = frozenset({
    "nfs_mounts", "mount_points", "address", "target", "local_address", "file_systems", "local_mounts", "lost_mounts",
    "oracle_homes", "server", "local_addresses", "server_addresses", "exports", "missing_mount_points",
})  # fmt: skip
"""The fields of a machine that come from them."""
_TCP_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_HEADINGS = {
    routes.IPV4_ROUTES: "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT",
    **dict.fromkeys(_TCP_TABLES, "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt"),
}


class CapturedFiles(Struct):
    """What was read, by path without links, seen from the root."""

    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)
    refused: dict[str, int] = field(default_factory=dict)
    whole: bool = True
    """Whether nothing was missing but what the machine lacks: false where a capture by others was captured again."""
    """Paths that could not be read, with the error number."""


class CapturingSysroot(Sysroot):
    """A root that remembers its answers; a file is read once, so that the capture agrees with itself."""

    def __init__(self, root: str = "/") -> None:
        super().__init__(root)
        self.asks_mounts = False  # a capture reads back to an equal machine, and holds files alone
        self.captured = CapturedFiles(whole=self.whole)
        self._answers: dict[str, bytes | Unreadable] = {}
        self._traced: dict[str, str | None] = {"": ""}

    def answer(self, path: str) -> bytes | Unreadable:
        """As ``Sysroot.answer``, remembered."""
        if path not in self._answers:
            self._answers[path] = answer = super().answer(path)
            where = self._trace(path)
            if where is not None and isinstance(answer, bytes):
                self.captured.files[where] = answer
            elif where is not None and isinstance(answer, Unreadable) and not answer.missing:
                self.captured.refused[where] = answer.errno
                self.captured.files.setdefault(where, b"")
        return self._answers[path]

    def device(self, path: str, question: Question) -> bytes | Unreadable:
        """As ``Sysroot.device``, remembered; there is no link on the way."""
        answer = super().device(path, question)
        if isinstance(answer, bytes):
            self.captured.files[path] = answer
        elif not answer.missing:
            self.captured.refused[path] = answer.errno
            self.captured.files[path] = b""
        return answer

    def names(self, path: str) -> tuple[str, ...]:
        """As ``Sysroot.names``, with a place kept for every name."""
        found = super().names(path)
        where = self._trace(path)
        if where is not None and found:
            self.captured.directories.add(where)
            for name in found:
                self._keep(f"{where}/{name}")
        return found

    def exists(self, path: str) -> bool:
        """As ``Sysroot.exists``, with a place kept for what is there."""
        there = super().exists(path)
        if there and (where := self._trace(path)) is not None:
            self._keep(where)
        return there

    def readlink(self, path: str) -> str | None:
        """As ``Sysroot.readlink``, remembered."""
        target = super().readlink(path)
        parent, _, name = path.rpartition("/")
        where = self._trace(parent)
        if target is not None and where is not None:
            self.captured.links[f"{where}/{name}"] = target
        return target

    def realpath(self, path: str) -> str | None:
        """As ``Sysroot.realpath``, with its links remembered."""
        real = super().realpath(path)
        if real is not None and (where := self._trace(path)) is not None:
            self._keep(where)
        return real

    def _outside(self, where: str) -> str:
        return where if self.live else self.root + where

    def _keep(self, where: str) -> None:
        """Remember that something is there, and of which kind; its content only when it is read."""
        if where in self.captured.files or where in self.captured.links or where in self.captured.directories:
            return
        try:
            mode = os.lstat(self._outside(where)).st_mode
            if stat.S_ISLNK(mode):
                self.captured.links[where] = os.readlink(self._outside(where))
            elif stat.S_ISDIR(mode):
                self.captured.directories.add(where)
            else:
                self.captured.files[where] = b""
        except (OSError, ValueError):
            return

    def _trace(self, path: str, links_left: int = LINKS_LIMIT) -> str | None:
        """The path without links; every link on the way is remembered."""
        if path in self._traced:
            return self._traced[path]
        parent, _, name = path.rpartition("/")
        above = self._trace(parent, links_left) if parent else ""
        if above is None or name == "..":
            return None if above is None else above.rpartition("/")[0]
        where = f"{above}/{name}" if name not in ("", ".") else above
        try:
            target = os.readlink(self._outside(where))
        except (OSError, ValueError):
            self._traced[path] = where
            return where
        self.captured.links[where] = target
        if links_left == 0:
            return None
        self._traced[path] = self._trace(target if target.startswith("/") else f"{above}/{target}", links_left - 1)
        return self._traced[path]


def learn_identities(anonymizer: Anonymizer, captured: CapturedFiles, machine: Machine) -> None:
    """Everything that names this host or a part of it, from the files and from what was made of them."""
    for path, data in captured.files.items():
        name = path.rpartition("/")[2]
        text = data.decode("utf-8", "replace").strip("\0 \t\r\n")
        if name == "address" and "/net/" in path:
            anonymizer.learn_mac(text)
        elif name in _IDENTIFYING and provider_in(text) is None:
            anonymizer.learn(_NAME_KIND.sub("", text))
    for directory in captured.directories:
        if directory.startswith(POOLS):
            anonymizer.learn(directory.rpartition("/")[2] if UUID.fullmatch(directory.rpartition("/")[2]) else None)
    anonymizer.learn(machine.platform.hostname)
    for device in machine.block_devices:
        anonymizer.learn(device.serial)
        anonymizer.learn(_NAME_KIND.sub("", device.wwn or ""))
        anonymizer.learn(_NAME_KIND.sub("", device.dm_uuid or ""))
    for hba in machine.hbas:
        for target in hba.targets:
            anonymizer.learn(target.name if target.name != target.sysfs_name else None)
            anonymizer.learn(target.node_name)
    for controller in machine.nvme_controllers:
        anonymizer.learn(controller.serial)
    named = [(mount.export, mount.mount_point) for mount in machine.nfs_mounts]
    stats = captured.files.get("/proc/self/mountstats", b"").decode("utf-8", "replace")
    named += [(section.export, section.mount_point) for section in parse_mountstats(stats)]
    # What a home that was read lies below is in the names of its files, too.
    read = [home.path for home in machine.oracle_homes if home.unknown != "remote"]
    tables = (data for path, data in captured.files.items() if path.endswith(direct_nfs.TABLE))
    names = (name for table in tables for name in direct_nfs.names_in(table.decode("latin-1")))
    named += [(name, name) for name in names if not any(is_below(home, (name,)) for home in read)]
    for export, where in named:
        anonymizer.learn_share(export, where)


def masked_machine(machine: Machine, anonymizer: Anonymizer) -> Machine:
    """The machine with all identifying text replaced; a masked capture of it reads back to the same."""

    def in_mounts(text: str) -> str:
        return anonymizer.text(text, mounts=True)

    def mask(value: Any, replace_in: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return replace_in(value)
        if isinstance(value, dict):
            return {
                key: mask(item, in_mounts if key in _WITH_ADDRESSES_FIELDS else replace_in)
                for key, item in value.items()
            }
        return [mask(item, replace_in) for item in value] if isinstance(value, (list, tuple)) else value

    document = mask(msgspec.to_builtins(machine), anonymizer.text)
    # Any word of the command line may name a server or hold a secret; the settings that we know do not.
    document["platform"]["command_line"] = " ".join(machine.platform.kernel_settings) or None
    return assessed(msgspec.convert(document, Machine))


def masked_files(captured: CapturedFiles, anonymizer: Anonymizer, machine: Machine) -> CapturedFiles:
    """The same tree with stand-ins in files, names and links."""
    files = {}
    for path, data in captured.files.items():
        if path.startswith(ANSWERS):
            files[anonymizer.text(path)] = data  # numbers alone
            continue
        text = (without_identities(data) if path == SMBIOS_TABLE else data).decode("latin-1")
        text = direct_nfs.reduced(path, text)
        if path.endswith("/vpd_pg80") and (serial := parse_vpd_serial(data)) is not None:
            text = text.replace(serial, anonymizer.replacement(serial))
        masked = anonymizer.text(text, mounts=path.endswith(_WITH_ADDRESSES))
        files[anonymizer.text(path)] = masked.encode("latin-1", "replace")
    if "/proc/cmdline" in files:
        files["/proc/cmdline"] = " ".join(machine.platform.kernel_settings).encode() + b"\n"
    files.update(masked_network(captured.files, machine, anonymizer))
    for path in [path for path in captured.files if path.startswith(NVIDIA) and path.endswith("/information")]:
        files[path] = reduced_information(captured.files[path])
    for path, reduced in ((INSTANCE_DATA, reduced_instance_data), (LPARCFG, reduced_lparcfg)):
        if path in files:
            files[path] = reduced(captured.files[path])
    if "/proc/1/environ" in files:
        kept = [word for word in captured.files["/proc/1/environ"].split(b"\0") if word.startswith(b"container=")]
        files["/proc/1/environ"] = b"\0".join(kept)
    return CapturedFiles(
        files,
        {
            anonymizer.text(path): anonymizer.text(target, mounts=target.startswith("/"))
            for path, target in captured.links.items()
        },
        {anonymizer.text(path) for path in captured.directories},
        {anonymizer.text(path): number for path, number in captured.refused.items()},
        captured.whole,
    )


def write_capture(path: str, captured: CapturedFiles, *, tool: str, masked: bool, replace: bool = True) -> int:
    """Write the archive, compressed by its name's ending; the value is the number of files in it.

    Without ``replace`` a file that is there is kept, and ``UsageError`` says so.
    """
    manifest = {"format": FORMAT, "tool": tool, "masked": masked, "refused": captured.refused, "whole": captured.whole}
    mode = "w:xz" if path.endswith(".xz") else "w:gz" if path.endswith(("gz", ".tgz")) else "w"
    packed = io.BytesIO()
    try:
        opened = tarfile.open(fileobj=packed, mode=mode)  # type: ignore[call-overload]  # noqa: SIM115
    except tarfile.CompressionError as error:
        raise UsageError(f"{path}: {error} in this Python; choose a name that ends in .tar.gz") from error
    with opened as archive:
        _add(archive, MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())
        for name in sorted(captured.directories):
            _add(archive, name, None)
        for name in sorted(captured.files):
            if name not in captured.directories and name not in captured.links:
                _add(archive, name, captured.files[name])
        for name in sorted(captured.links):
            info = tarfile.TarInfo(name.lstrip("/"))
            info.type, info.linkname = tarfile.SYMTYPE, captured.links[name]
            archive.addfile(info)
    try:
        write(path, lambda file: file.write(packed.getbuffer()), replace=replace)
    except FileExistsError as error:
        raise UsageError(f"{path}: already exists; choose another name, or add --force to overwrite it") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot write the capture: {error.strerror}") from error
    return len(captured.files)


def _add(archive: tarfile.TarFile, name: str, data: bytes | None) -> None:
    info = tarfile.TarInfo(name.lstrip("/"))
    if not info.name:
        return
    if data is None:
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(info)
        return
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def capture(
    root: str, path: str, *, tool: str, salt: bytes | None, replace: bool = True, also_masked: Iterable[str] = (),
    announce: Callable[[Mapping[str, str], tuple[str, ...]], None] | None = None,
) -> tuple[Machine, int]:  # fmt: skip
    """Record the machine under ``root`` into ``path``; ``salt`` is None to keep all identities.

    Before anything is written, ``announce`` gets the originals by what stands for them, and the names of
    ``also_masked`` that were not found. The value is the machine as the capture reads back, and its number of files.
    """
    recorder = CapturingSysroot(root)
    for top in ("/sys", "/proc"):
        recorder.exists(top)
    machine = discover(recorder)
    captured = recorder.captured
    lacking: tuple[str, ...] = ()
    if machine.platform.architecture is not None:
        captured.files["/proc/sys/kernel/arch"] = machine.platform.architecture.encode() + b"\n"
    if salt is not None:
        anonymizer = Anonymizer(salt)
        learn_identities(anonymizer, captured, machine)
        texts = [data.decode("latin-1") for data in captured.files.values()]
        texts += [*captured.files, *captured.links, *captured.links.values()]
        for name in also_masked:  # in small letters or in capitals
            pattern = re.compile(re.escape(name.strip().encode().decode("latin-1")), re.IGNORECASE)
            forms = {found for text in texts for found in pattern.findall(text)}
            lacking += () if forms else (name,)
            for form in forms:
                anonymizer.learn(form)
        captured = masked_files(captured, anonymizer, machine)
        machine = masked_machine(machine, anonymizer)
        if announce is not None:
            announce(anonymizer.masked, lacking)
    return machine, write_capture(path, captured, tool=tool, masked=salt is not None, replace=replace)


def _followed(machine: Machine) -> Iterator[tuple[str | None, str | None, bool]]:
    """Each address that was looked up, its interface, and whether it is one of this host."""
    for mount in machine.nfs_mounts:
        yield mount.address, mount.nic, False
    for hba in machine.hbas:
        yield hba.local_address, hba.net_device, True
        for target in hba.targets:
            yield routes.portal_host(target.address), hba.net_device, False
    for controller in machine.nvme_controllers:
        address = routes.parse_fabric_address(controller.address or "")
        yield address.get("traddr"), controller.net_device, False
        yield address.get("src_addr") or address.get("host_traddr"), controller.net_device, True


def _reversed_words(address: routes.Address) -> str:
    packed = address.packed
    return "".join(packed[at : at + 4][::-1].hex().upper() for at in range(0, len(packed), 4))


def masked_network(files: dict[str, bytes], machine: Machine, anonymizer: Anonymizer) -> dict[str, bytes]:
    """Return the routes, addresses and connections among ``files`` with stand-ins for what was looked up in them."""
    lines: dict[str, dict[str, None]] = {
        name: {}
        for name in (routes.IPV4_ROUTES, routes.IPV6_ROUTES, routes.IPV6_ADDRESSES, *_TCP_TABLES)
        if name in files
    }
    for text, nic, local in _followed(machine):
        if text is None or nic in (None, "lo"):
            continue
        masked = routes.parse_address(anonymizer.text(text, mounts=True))
        if masked is None:
            continue
        address, name = masked[0], anonymizer.text(nic or "")
        if isinstance(address, ipaddress.IPv4Address):
            line = f"{name}\t{_reversed_words(address)}\t00000000\t0001\t0\t0\t0\tFFFFFFFF\t0\t0\t0"
            lines.get(routes.IPV4_ROUTES, {})[line] = None
            continue
        packed, none = address.packed.hex(), "0" * 32
        lines.get(routes.IPV6_ROUTES, {})[f"{packed} 80 {none} 00 {none} 00000400 0 0 00000001 {name}"] = None
        if local:
            lines.get(routes.IPV6_ADDRESSES, {})[f"{packed} 01 80 00 80 {name}"] = None
    servers = {
        parsed[0]: mount.address
        for mount in machine.nfs_mounts
        if mount.address is not None and (parsed := routes.parse_address(mount.address)) is not None
    }
    for table in _TCP_TABLES:
        for number, found in enumerate(parse_tcp(files.get(table, b"").decode("latin-1"))):
            if found.remote in servers:
                server = routes.parse_address(anonymizer.text(servers[found.remote], mounts=True))
                remote = "0" * 8 if server is None else _reversed_words(server[0])
                state = f"{found.state:02X} 0:0 00:0 {found.retransmissions:X}"
                line = f"{number}: 00000000:0000 {remote}:{found.port:04X} {state}"
                lines[table][line] = None
    return {
        name: "".join(f"{line}\n" for line in (*filter(None, (_HEADINGS.get(name),)), *own)).encode()
        for name, own in lines.items()
    }
