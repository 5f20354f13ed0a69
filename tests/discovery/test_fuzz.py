"""No input raises: whatever a recording holds, discovery gives a machine with gaps.

Each input is a whole machine with a few of its files, links and names spoilt. The long run takes
``SIZEUP_FUZZ_INPUTS`` of them (100,000) from ``SIZEUP_FUZZ_SEED`` on, over the suite's own machines
and, where they are, the recorded ones.
"""

import contextlib
import errno
import os
import re
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from characters import ANY_CHARACTER
from recordings import expectations, recorded
from sizeup.compare.drift import drift
from sizeup.discovery.block import parse_block_drivers, parse_vpd_serial
from sizeup.discovery.caches import parse_cache_size
from sizeup.discovery.capture import CapturedFiles, CapturingSysroot
from sizeup.discovery.cpuinfo import parse_cpuinfo
from sizeup.discovery.cpus import parse_dmi_clock, parse_named_clock
from sizeup.discovery.machine import discover
from sizeup.discovery.nfs import parse_tcp
from sizeup.discovery.numa import SMBIOS_TABLE, parse_distances
from sizeup.discovery.os_settings import bracketed
from sizeup.discovery.pci import parse_id, parse_link_speed
from sizeup.discovery.routes import (
    parse_address,
    parse_fabric_address,
    parse_ipv6_addresses,
    parse_ipv6_routes,
    parse_routes,
    portal_host,
)
from sizeup.discovery.scsi import parse_rate
from sizeup.discovery.sysroot import ArchiveSysroot
from sizeup.discovery.virtualization import parse_instance_data
from sizeup.errors import MalformedError
from sizeup.procfs.block import parse_block_stat
from sizeup.procfs.device_questions import parse_health, parse_offloads, parse_rings
from sizeup.procfs.kernel_file import parse_integer
from sizeup.procfs.lists import parse_cpulist, parse_cpumask
from sizeup.procfs.lparcfg import parse_lparcfg, reduced_lparcfg
from sizeup.procfs.meminfo import parse_meminfo, parse_swap_areas
from sizeup.procfs.mounts import parse_mount_id, parse_mountinfo, parse_mounts, parse_mountstats
from sizeup.procfs.process import (
    parse_allowed,
    parse_capabilities,
    parse_cgroup,
    parse_flock_writers,
    parse_hard_limits,
    parse_limits,
    parse_process_io,
    parse_scheduling,
)
from sizeup.procfs.smbios import parse_memory_devices, without_identities
from sizeup.procfs.stat import parse_load_average, parse_pressure, parse_process_stat, parse_stat
from sizeup.report.machine import machine_text
from sizeup.session.builder import decode
from sizeup.session.records import ENCODER, MachineRecord
from sizeup.views.machine.detection import detection
from smbios_tables import END, SYSTEM, dimm, empty_slot
from trees import MACHINES, grow
from trees import machine as tree_machine

pytestmark = pytest.mark.ci

_LARGEST = 3000
"""Files of a machine that is worth spoiling: above that an input takes too long."""

SPOILT = (
    b"", b"\n", b"\0", b"\0" * 64, b"-1", b"0", b"1", b"2", b"255", b"65535", b"4294967295", b"18446744073709551615",
    b"99999999999999999999999999", b"-99999999999999999999", b"1e999", b"nan", b"0x", b"0x1234567890abcdef1234", b"0-",
    b"-", b",", b"0-65535", b"0-99999999999", b"3-1", b"0-7:0", b"0-7:2/0", b"1,1,1", b"ffffffff,ffffffff", b"g",
    b"Unknown", b"unknown", b"(null)", b"<NULL>", b"[", b"]", b"[]", b"a" * 5000, b"1 " * 3000, b"\xff\xfe\x00\x80",
    "²٣".encode(), b"8 GT/s", b"99999 GT/s", b"16 Gbit", b"999999999 Gbit", b"raid5", b"mpath-", b"LVM-", b"K",
    b"9" * 400 + b"K", b"9" * 5000, b"9" * 5000 + b" 100000", b"some " + b"9" * 5000 + b" 1",
    b"Node 0 MemTotal: 99999999999999999999 kB", b"device x mounted on y with fstype nfs4\n\txprt:\n\tREAD: 1 2 3",
    b"1 2 3:4 / /a rw - nfs", b"%s%n", b"../../../../etc/passwd", b"cpu  1 2 3 4 5 6 7 8",
    b"processor : -1\nprocessor : 1",
)  # fmt: skip

ERRORS = (errno.EACCES, errno.EIO, errno.EINVAL, errno.EPERM, errno.EISDIR, errno.ESTALE, errno.ENOENT, errno.EAGAIN)
NEIGHBORS = ("cpu99999", "node7", "index99", "hugepages-0kB", "host0", "..", "sda", "x")
TARGETS = ("/", ".", "..", "/sys", "/nowhere", "../../../../../..", "self", "/proc/self", "a\0b", "x" * 300)


RINGS = struct.pack("=9I", 0x10, 4096, 0, 0, 4096, 256, 0, 0, 256)
HEALTH = struct.pack("<BHBBB506x", 1, 309, 9, 10, 100)


class ArchiveInMemory(ArchiveSysroot):
    """A recording that was never a file."""

    def __init__(self, captured: CapturedFiles) -> None:
        self._captured = captured
        super().__init__("/memory")

    def _check(self, root: str) -> None:
        self._files, self._links = dict(self._captured.files), dict(self._captured.links)
        self._refused = dict(self._captured.refused)
        self._entries = {"": set()}
        for path in (*self._files, *self._links, *self._captured.directories):
            above, _, name = path.rpartition("/")
            while name:
                self._entries.setdefault(above, set()).add(name)
                above, _, name = above.rpartition("/")
        for path in self._captured.directories:
            self._entries.setdefault(path, set())


def _captured(root: str) -> CapturedFiles:
    recorder = CapturingSysroot(root)
    discover(recorder)
    return recorder.captured


@cache
def own_captures(scratch: str) -> tuple[CapturedFiles, ...]:
    found = []
    for tree in sorted(MACHINES.glob("*.tree")):
        root = Path(scratch) / tree.stem
        grow(root, tree.read_text(encoding="utf-8"))
        (root / "proc/self").mkdir(parents=True, exist_ok=True)
        (root / "proc/self/mountstats").write_text((MACHINES / "mountstats.txt").read_text())
        table = root / SMBIOS_TABLE.lstrip("/")
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_bytes(SYSTEM + dimm() + empty_slot("DIMM_B1", "P0 CHANNEL B") + END)
        _add_answers(root)
        found.append(_captured(str(root)))
    return tuple(found)


def _add_answers(root: Path) -> None:
    """What the devices of a tree answered when it was captured."""
    for name in os.listdir(root / "sys/class/net") if (root / "sys/class/net").is_dir() else ():
        folder = root / "ioctl/ethtool" / name
        folder.mkdir(parents=True)
        (folder / "rings").write_bytes(RINGS)
        (folder / "offloads").write_text("rx-checksumming 1\nlarge-receive-offload 0\n")
    for name in os.listdir(root / "sys/class/nvme") if (root / "sys/class/nvme").is_dir() else ():
        folder = root / "ioctl/nvme" / name
        folder.mkdir(parents=True)
        (folder / "smart-log").write_bytes(HEALTH)


def spoil(random: Random, captured: CapturedFiles) -> CapturedFiles:
    """A copy of the machine with one to eight things wrong."""
    files, links = dict(captured.files), dict(captured.links)
    directories, refused = set(captured.directories), dict(captured.refused)
    names = list(files)
    for _ in range(random.randint(1, 8)):
        path = random.choice(names)
        match random.randrange(10):
            case 0 | 1 | 2 | 3:
                files[path] = random.choice(SPOILT)
            case 4:
                files[path] = files.get(path, b"")[: random.randrange(40)]
            case 5:
                files[path] = random.randbytes(random.randrange(200))
            case 6:
                files.pop(path, None)
            case 7:
                files.pop(path, None)
                links[path] = random.choice((*TARGETS, path, random.choice(names)))
            case 8:
                refused[path] = random.choice(ERRORS)
            case _:
                other = random.choice(names)
                files[path] = files.get(other, b"")
        if random.random() < 0.2:
            files[f"{path.rpartition('/')[0]}/{random.choice(NEIGHBORS)}"] = b"1"
    return CapturedFiles(files, links, directories, refused)


def survives(captured: CapturedFiles) -> None:
    machine = discover(ArchiveInMemory(captured))
    msgspec.json.encode(detection(machine))
    decode(ENCODER.encode(MachineRecord(0, machine)))  # what a run writes it can read again
    machine_text(machine)
    assert not drift(machine, machine).drifted


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(min_value=0))
def test_a_spoilt_machine_is_a_machine_with_gaps(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    random = Random(seed)
    survives(spoil(random, random.choice(own_captures(str(tmp_path_factory.getbasetemp() / "fuzz")))))


TEXT_PARSERS: tuple[Callable[[str], object], ...] = (
    parse_cpulist, parse_cpumask, parse_meminfo, parse_cpuinfo, parse_mounts, parse_mountinfo, parse_mountstats,
    parse_routes, parse_distances, parse_id, parse_link_speed, parse_rate, parse_integer, parse_named_clock,
    parse_block_drivers, parse_allowed, parse_block_stat, parse_capabilities, parse_cgroup, parse_limits,
    parse_lparcfg, parse_mount_id, parse_offloads, parse_pressure, parse_process_io, parse_process_stat,
    parse_scheduling, parse_stat,
    parse_cache_size, parse_flock_writers, parse_load_average, parse_swap_areas, parse_hard_limits,
    bracketed, parse_ipv6_routes, parse_ipv6_addresses,
    lambda text: list(parse_tcp(text)), portal_host, parse_fabric_address, parse_address,
)  # fmt: skip


@pytest.mark.parametrize("parse", TEXT_PARSERS, ids=lambda parse: parse.__name__)
def test_parsers_refuse_only_with_a_value_error(parse: Callable[[str], object]) -> None:
    @settings(max_examples=100, deadline=None)
    @given(text=st.text(ANY_CHARACTER, max_size=300) | st.text(alphabet="0123456789abcdefx,-:/ \n", max_size=80))
    def any_text(text: str) -> None:
        try:
            parse(text)
        except (ValueError, MalformedError):
            return

    any_text()


@given(data=st.binary(max_size=600) | st.binary(min_size=36, max_size=36) | st.binary(min_size=512, max_size=512))
@settings(max_examples=100, deadline=None)
def test_binary_records_of_any_kind_are_read_or_left(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        parse_instance_data(data)
    for parse in (parse_rings, parse_health):
        with contextlib.suppress(MalformedError):
            parse(data)
    parse_vpd_serial(data)
    parse_dmi_clock(data)
    parse_memory_devices(data)
    without_identities(data)
    reduced_lparcfg(data)


@pytest.mark.long
def test_a_hundred_thousand_spoilt_machines_raise_nothing(tmp_path: Path) -> None:
    count = int(os.environ.get("SIZEUP_FUZZ_INPUTS", "100000"))
    first = int(os.environ.get("SIZEUP_FUZZ_SEED", "0"))
    captures = list(own_captures(str(tmp_path)))
    captures += [captured for name in expectations() if len((captured := _captured(recorded(name))).files) < _LARGEST]
    captures = [captured for captured in captures if captured.files]
    for seed in range(first, first + count):
        random = Random(seed)
        try:
            survives(spoil(random, random.choice(captures)))
        except Exception as error:
            raise AssertionError(f"seed {seed} raises {error!r}") from error


NUMBER = re.compile(rb"(?<![0-9A-Za-z.])\d+")


@pytest.mark.ci
def test_no_number_in_any_file_is_too_long(tmp_path: Path) -> None:
    """The first number behind each word of each kind of file, of 18, 20 and 5,000 digits."""
    tried = set()
    for captured in own_captures(str(tmp_path)):
        for path, data in captured.files.items():
            places = {data[max(0, match.start() - 20) : match.start()]: match.span() for match in NUMBER.finditer(data)}
            kind = re.sub(r"\d+", "0", path)  # one of the files of all CPUs
            for word, (start, end) in list(places.items())[:12]:
                if (kind, word) in tried:
                    continue
                tried.add((kind, word))
                for digits in (b"9" * 18, b"18446744073709551615", b"9" * 5000):
                    spoilt = {**captured.files, path: data[:start] + digits + data[end:]}
                    survives(CapturedFiles(spoilt, captured.links, captured.directories, captured.refused))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "9" * 5000, "cpu.max": "9" * 5000 + " 100000"}, (None, None)),
        ({"memory.max": "1073741824", "cpu.max": "150000 100000"}, (1 << 30, 1.5)),
        ({"memory.max": "max", "cpu.max": "max 100000"}, (None, None)),
    ],
)
def test_a_limit_of_5000_digits_is_no_limit_that_is_known(
    tmp_path: Path, files: dict[str, str], expected: tuple[int | None, float | None]
) -> None:
    more = [f"/sys/fs/cgroup/{name} = {text}" for name, text in files.items()]
    root = tree_machine(
        tmp_path, "2-sockets-smt", "/proc/mounts = cgroup2 /sys/fs/cgroup cgroup2 rw 0 0", "/proc/self/cgroup = 0::/",
        *more,
    )  # fmt: skip

    group = discover(root).platform.control_group

    assert (group.memory_bytes, group.cpu_quota) == expected
