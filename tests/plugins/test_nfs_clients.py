"""nfs.clients without a server or libnfs: a library that answers from memory, recorded mounts, and known figures."""

import errno
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cffi import FFI
from msgspec.structs import replace

from fakes import HandContext
from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap, Machine
from sizeup.model.network import NfsMount
from sizeup.model.plan import Refusal, Step
from sizeup.model.sample import Estimate, Progress
from sizeup.procfs.mounts import parse_mountinfo
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.call_with_timeout import StalledError
from sizeup_direct_io.target import OpenTarget, TargetKind
from sizeup_direct_io.worker import Engine, Pattern, Worker
from sizeup_nfs import libnfs, probe
from sizeup_nfs.libnfs import SONAMES, Connection, LibNfs, Share, find_library, find_share
from sizeup_nfs.probe import (
    KERNEL,
    LIBNFS,
    Arm,
    NfsClients,
    NfsFile,
    conclusions,
    cpu_cost,
    estimates_of,
    open_file,
    plan_arms,
)

BLOCK_BYTES, BLOCKS = 8192, 2048
SHARE = Share("192.0.2.2", "/export", "/data.dbf", 1 << 20, "version=4&rsize=1048576")
SETTINGS = {
    "path": "/mnt/a/data.dbf",
    "more_paths": "",
    "connections": 2,
    "requests": 4,
    "seconds": 0.2,
    "rounds": 2,
    "stall": 30.0,
}
ffi = FFI()
ALIVE: list[object] = []
"""A worker that was abandoned may still call a library."""


class FakeLibrary:
    """Functions named as those of libnfs, with the arguments of either order; each read is answered when served."""

    def __init__(self, *, buffer_first: bool, silent: bool = False, lost: bool = False, short: bool = False):
        self.buffer_first, self.silent, self.lost, self.short = buffer_first, silent, lost, short
        self.reads: list[tuple[int, int]] = []
        self.names: list[bytes] = []
        self.urls: list[bytes] = []
        self.closed = self.served = 0
        self.left = threading.Event()
        ALIVE.append(self)
        self._waiting: dict[int, list[tuple[int, int, int]]] = {}
        """By context, each of which one thread uses."""
        self._data = ffi.new("char[]", 1 << 20)
        self._readable, write = os.pipe()
        os.write(write, b"x")
        words = ", ".join(["uintptr_t"] * (7 if buffer_first else 6))
        self._callbacks = [
            ffi.callback(f"int({words})", self._pread),
            ffi.callback("int(uintptr_t)", lambda context: self._readable),
            ffi.callback("int(uintptr_t)", lambda context: 1),
            ffi.callback("int(uintptr_t, int)", self._serve),
        ]
        names = ("nfs_pread_async", "nfs_get_fd", "nfs_which_events", "nfs_service")
        vars(self).update(zip(names, self._callbacks, strict=True))
        if buffer_first:
            self.rpc_nfs3_read_task = None

    def _pread(self, context: int, file: int, *words: int) -> int:
        count, offset = (words[1], words[2]) if self.buffer_first else (words[1], words[0])
        self.reads.append((offset, count))
        self._waiting[context].append((count, words[-2], words[-1]))
        return 0 if count in (BLOCK_BYTES, 1 << 20) and offset % count == 0 else -1

    def _serve(self, context: int, events: int) -> int:
        self.served += 1
        if self.lost:
            self.left.set()
            return -1
        if self.silent:
            time.sleep(0.01)
            return 0
        waiting, self._waiting[context] = self._waiting[context], []
        for count, done, request in waiting:
            call = ffi.cast("void(*)(int, void *, void *, void *)", done)
            call(count - self.short, ffi.NULL, self._data, ffi.cast("void *", request))
        return 0

    def nfs_init_context(self) -> Any:
        self._waiting[number := len(self._waiting) + 1] = []
        return ffi.cast("void *", number)

    def nfs_parse_url_incomplete(self, context: Any, url: bytes) -> Any:
        self.urls.append(url)
        return url

    def nfs_destroy_url(self, url: Any) -> None: ...

    def nfs4_set_client_name(self, context: Any, name: bytes) -> None:
        self.names.append(name)

    def nfs_mount(self, context: Any, server: bytes, exported: bytes) -> int:
        return 0 if (server, exported) == (b"192.0.2.2", b"/export") else -13

    def nfs_open(self, context: Any, path: bytes, flags: int, file: Any) -> int:
        assert flags == os.O_RDONLY
        return 0 if path == b"/data.dbf" else -2

    def nfs_get_error(self, context: Any) -> Any:
        return ffi.new("char[]", b"permission denied")

    def nfs_close(self, context: Any, file: Any) -> None:
        self.closed += 1

    def nfs_destroy_context(self, context: Any) -> None: ...


def library_of(fake: FakeLibrary) -> LibNfs:
    return LibNfs("libnfs.so.16" if fake.buffer_first else "libnfs.so.13", ffi, fake)


@pytest.mark.parametrize("buffer_first", [True, False])
def test_a_read_has_the_order_of_arguments_of_its_version(buffer_first: bool) -> None:
    fake = FakeLibrary(buffer_first=buffer_first)
    worker = Worker(
        *(Engine.THREADS, -1, BLOCK_BYTES, 0, BLOCKS * BLOCK_BYTES),
        pattern=Pattern.SEQUENTIAL,
        depth=4,
        client=Connection(library_of(fake), SHARE).calls(),
    )

    with IoJob([worker]) as job:
        while job.sample().requests < BLOCKS + 8:
            assert job.sample().running
            time.sleep(0.001)
        sample = job.sample()

    assert (sample.errors, sample.error, sample.first_error) == (0, None, None)
    assert sample.read_bytes == sample.requests * BLOCK_BYTES
    assert fake.reads[: BLOCKS + 4] == [(i % BLOCKS * BLOCK_BYTES, BLOCK_BYTES) for i in range(BLOCKS + 4)]


@pytest.mark.parametrize(("fault", "error"), [("short", errno.ENODATA), ("lost", errno.ECONNRESET)])
def test_a_read_that_ends_early_and_a_lost_connection_are_errors(fault: str, error: int) -> None:
    fake = FakeLibrary(buffer_first=True, **{fault: True})
    calls = Connection(library_of(fake), SHARE).calls()
    worker = Worker(Engine.THREADS, -1, BLOCK_BYTES, 0, BLOCKS * BLOCK_BYTES, error_limit=1, client=calls)

    with IoJob([worker]) as job:
        while (sample := job.sample()).running and fake.served < 100:
            time.sleep(0.001)

    assert (sample.running, sample.requests, sample.error) == (False, 0, error)


@pytest.mark.parametrize(
    ("soname", "new_calls"),
    [("libnfs.so.14", True), ("libnfs.so.16", False), ("libnfs.so.15", True), ("libnfs.so.12", False)],
)
def test_a_library_of_unknown_order_is_never_called(soname: str, new_calls: bool) -> None:
    lib = SimpleNamespace(**({"rpc_nfs3_read_task": None} if new_calls else {}))

    with pytest.raises(RefusedError, match=f"{soname}: expected libnfs 4.0 to 7.0 .* was not called"):
        LibNfs(soname, ffi, lib)


def test_the_newest_version_is_tried_first_and_the_order_changed_at_16() -> None:
    numbers = {int(name.split(".")[2]): order for name, order in SONAMES.items()}

    assert list(numbers) == [17, 16, 14, 13]
    assert numbers == {17: True, 16: True, 14: False, 13: False}


def test_every_connection_has_a_name_of_its_own_and_the_limits_of_the_url() -> None:
    fake = FakeLibrary(buffer_first=False)
    for _ in range(3):
        Connection(library_of(fake), SHARE)

    assert len(set(fake.names)) == 3
    assert fake.urls[0] == b"nfs://?autoreconnect=0&version=4&rsize=1048576"


def test_a_refused_connection_names_the_export_option(monkeypatch: pytest.MonkeyPatch) -> None:
    share = Share("192.0.2.9", "/export", "/data.dbf", 1 << 20, "version=3")
    for user, hint in ((1000, "permission denied; without root.*option insecure"), (0, "permission denied$")):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        with pytest.raises(SizeupError, match=f"connecting to 192.0.2.9:/export failed: {hint}"):
            Connection(library_of(FakeLibrary(buffer_first=True)), share)


@pytest.mark.parametrize(
    ("line", "share"),
    [
        (
            r"60 1 0:5 / /mnt/a\040b rw - nfs 192.0.2.2:/vol/x\040y rw,vers=3,rsize=32768,mountport=20048,port=0",
            Share("192.0.2.2", "/vol/x y", "/d/f", 32768, "version=3&rsize=32768&mountport=20048"),
        ),
        (
            "60 1 0:50 / /mnt/a\\040b rw - nfs4 filer:/ rw,vers=4.2,rsize=262144,port=12049,sec=krb5,addr=192.0.2.7",
            Share("192.0.2.7", "/", "/d/f", 262144, "version=4&rsize=262144&nfsport=12049"),
        ),
        (
            "60 1 0:50 / /mnt/a\\040b rw - nfs4 [2001:db8::1]:/vol rw",
            Share("2001:db8::1", "/vol", "/d/f", 1 << 20, "version=4&rsize=1048576"),
        ),
    ],
)
def test_a_file_on_the_server_is_found_from_its_mount(line: str, share: Share) -> None:
    (mount,) = parse_mountinfo(line)

    assert find_share(mount, "/mnt/a b/d/f") == share


def test_arms_cover_each_client_path_and_number_of_connections() -> None:
    def arms(mounted: list[int], most: int) -> list[tuple[Any, ...]]:
        return [(arm.client, arm.paths, arm.connections) for arm in plan_arms(8192, mounted, most)]

    assert arms([2], 4) == [(KERNEL, (0,), 2), *((LIBNFS, (0,), count) for count in (1, 2, 4))]
    assert arms([1, 2], 2) == [
        *((KERNEL, (0,), 1), (LIBNFS, (0,), 1), (LIBNFS, (0,), 2)),
        *((KERNEL, (1,), 2), (LIBNFS, (1,), 1), (LIBNFS, (1,), 2)),
        *((KERNEL, (0, 1), 3), (LIBNFS, (0, 1), 2)),
    ]


@pytest.mark.parametrize("arm", list(plan_arms(8192, [1, 3], 5)))
def test_every_arm_has_the_same_requests_in_flight(arm: Arm) -> None:
    threads = arm.threads(16)

    assert sum(depth for _, depth in threads) == 16
    assert len(threads) == (16 if arm.client == KERNEL else arm.connections)
    assert {path for path, _ in threads} == set(arm.paths)


class Interval(SimpleNamespace):
    """What a window's reads used; several add up."""

    def pooled_with(self, other: Any) -> Any:
        return Interval(**{name: value + vars(other)[name] for name, value in vars(self).items()})

    def count(self, kind: str) -> int:
        return 7 if kind == "read" else 0

    def mean_ns(self, kind: str) -> float:
        return 60.0

    def quantile_ns(self, kind: str, quantile: float) -> float:
        return quantile * 100

    def histogram(self, kind: str) -> dict[int, int]:
        return {60: self.count(kind)}


def run_of(rate: float, *, cpu_ns: int | None = 4_000_000, user_ns: int = 1_000_000, **more: Any) -> Any:
    """A window that moved 2 MB, of which the threads' CPU time covers one."""
    interval = Interval(usage_bytes=1_000_000, user_ns=user_ns, transferred_bytes=2_000_000)
    known = {"host_cpu": None, "others_busy_share": 0.25, "other_io": lambda: None, "requests": 10 if rate else 0}
    read = {"bytes_per_second": rate, "io_cpu_ns": cpu_ns, "intervals": {"read": interval}}
    return SimpleNamespace(**known, **read, **more)


def test_cpu_cost_counts_the_whole_host_and_the_kernel_has_what_is_not_user_time() -> None:
    assert cpu_cost([run_of(1.0)]) == (2_000_000.0, 0.5)
    assert cpu_cost([run_of(1.0), run_of(1.0, cpu_ns=8_000_000)]) == (3_000_000.0, pytest.approx(2 / 3))
    assert cpu_cost([run_of(1.0, user_ns=9_000_000)]) == (2_000_000.0, 0.0)
    assert cpu_cost([run_of(1.0), run_of(1.0, cpu_ns=None)]) is None


def windows_of(arm: Arm, rates: list[float], cpu_ns: int = 4_000_000) -> tuple[Arm, list[Any]]:
    workload = "random 8 KiB" if arm.block_bytes == BLOCK_BYTES else "random 1 MiB"
    at = {"workload": workload, "client": arm.client, "path": str(arm.paths), "connections": arm.connections}
    return arm, [run_of(rate, cpu_ns=cpu_ns, at=at) for rate in rates]


def test_gains_compare_windows_of_one_round_and_one_difference_at_a_time() -> None:
    small = BLOCK_BYTES
    results = dict([
        windows_of(Arm(small, KERNEL, (0,), 1), [100.0, 200.0, 400.0]),
        windows_of(Arm(small, KERNEL, (1,), 2), [200.0, 420.0, 800.0]),
        windows_of(Arm(small, KERNEL, (0, 1), 3), [110.0, 190.0, 400.0]),
        windows_of(Arm(small, LIBNFS, (0,), 1), [150.0, 300.0, 601.0], 2_000_000),
        windows_of(Arm(small, LIBNFS, (0,), 4), [450.0, 900.0, 1800.0], 2_000_000),
        windows_of(Arm(small, LIBNFS, (0, 1), 4), [450.0, 900.0, 1800.0]),
        windows_of(Arm(1 << 20, KERNEL, (0,), 1), [1.0, 1.0, 1.0]),
        windows_of(Arm(1 << 20, KERNEL, (0, 1), 2), [1.0, 0.0, 1.0]),
    ])  # fmt: skip

    found = list(conclusions(results))
    statements = {(str(e.series), str(e.at["client"])): str(e.extra["statement"]) for e in found}

    assert [(e.series, e.at["client"], e.at["connections"], e.at["over_path"], round(e.value, 3)) for e in found] == [
        ("connection-gain", KERNEL, 2, "(0,)", 2.0),
        ("path-gain", KERNEL, 3, "(0,)", 1.0),
        ("client-gain", LIBNFS, 1, "(0,)", 1.5),
        ("path-gain", KERNEL, 3, "(1,)", 0.5),
        ("connection-gain", LIBNFS, 4, "(0,)", 3.0),
        ("path-gain", LIBNFS, 4, "(0,)", 1.0),
    ]
    assert statements["client-gain", LIBNFS].startswith(
        "random 8 KiB: libnfs (connections: 1, (0,)) has 1.50 times the throughput (95 % CI 1.5"
    )
    assert statements["client-gain", LIBNFS].endswith(
        "and 0.50 times the CPU time per MB of the kernel's client (connections: 1, (0,))"
    )
    assert "random 8 KiB: no difference shown: libnfs (connections: 4, (0, 1))" in statements["path-gain", LIBNFS]
    assert all("Oracle's Direct NFS is neither of the two" in str(each.extra["consequence"]) for each in found)
    assert all(each.low is not None and 0 <= each.low <= each.value for each in found)


def test_a_mount_that_counts_less_than_was_asked_for_shows() -> None:
    counted = {"converged": False, "iops": 3.0, "at": {"client": KERNEL}, "requested_bytes": 200}
    run = run_of(5.0, **counted, charged_bytes=lambda *, reads, writes: (None, 100 if reads and not writes else None))

    found = {estimate.series: estimate for estimate in estimates_of([run, run], {"requests": 4})}

    assert found["rate"].extra == {"requests": 4, "mount_counter_share": 0.5, "others_share": 0.25}
    assert (found["rate"].value, found["iops"].value, found["latency-p99"].value) == (5.0, 3.0, 99.0)
    assert found["rate"].converged is None
    assert (found["cpu-per-mb"].value, found["kernel-share"].value) == (2_000_000.0, 0.5)


def test_a_plan_needs_an_nfs_mount() -> None:
    (refusal,) = NfsClients().plan(Machine(), SETTINGS)
    (step,) = NfsClients().plan(Machine(nfs_mounts=(NfsMount("/mnt/a", "filer:/vol"),)), SETTINGS)
    more = {**SETTINGS, "more_paths": "/mnt/b/data.dbf:/mnt/c/data.dbf"}
    (longer,) = NfsClients().plan(Machine(nfs_mounts=(NfsMount("/mnt/a", "filer:/vol"),)), more)

    assert isinstance(refusal, Refusal)
    assert "no NFS mount" in refusal.reason
    assert isinstance(step, Step)
    assert isinstance(longer, Step)
    assert longer.estimated_seconds > 2 * step.estimated_seconds


@pytest.mark.parametrize("name", ["file", "", "missing"])
def test_what_is_no_file_on_an_nfs_mount_is_refused_and_nothing_is_made(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(bytes(BLOCK_BYTES))

    with pytest.raises(RefusedError, match=r"expected a file on an NFS mount, found no file, or .*; set path to one"):
        open_file(str(tmp_path / name))
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_connections_are_those_that_the_kernel_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (mount,) = parse_mountinfo(f"60 1 0:50 / {tmp_path} rw - nfs4 filer:/vol rw,addr=192.0.2.7")
    (tmp_path / "self").mkdir()
    stats, file = tmp_path / "self" / "mountstats", tmp_path / "file"
    file.touch()
    head = f"device filer:/vol mounted on {tmp_path} with fstype nfs4 statvers=1.1\n"
    for name, value in (("find_mount", lambda path: mount), ("PROC", str(tmp_path))):
        monkeypatch.setattr(probe, name, value)
    monkeypatch.setattr(probe, "open_target", lambda spec: SimpleNamespace(descriptor=os.open(spec.path, os.O_RDONLY)))

    stats.write_text(head + "\txprt:\ttcp 1 0\n" * 4)
    found = open_file(str(file))
    os.close(found.target.descriptor)
    assert (found.connections, found.share.path, found.inode) == (4, "/file", file.stat().st_ino)
    for text in (head, ""):
        stats.write_text(text)
        with pytest.raises(RefusedError, match=r"the connections of .* are unknown"):
            open_file(str(file))


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Mounts by path, each of them a local file of the size that the clients' reads need."""
    content = tmp_path / "data.dbf"
    content.write_bytes(bytes(BLOCKS * BLOCK_BYTES))
    chosen: dict[str, Any] = {"number": 7, "connections": 1, "share": SHARE}

    (mount,) = parse_mountinfo("60 1 0:50 / /mnt/a rw - nfs4 filer:/vol rw")

    def open_here(path: str) -> NfsFile:
        descriptor = os.open(content, os.O_RDONLY)
        target = OpenTarget(
            TargetKind.FILE, path, descriptor, 0, BLOCKS * BLOCK_BYTES, mount, os.fstat(descriptor).st_dev
        )
        number = chosen["number"] if path == SETTINGS["path"] else 7
        return NfsFile(target, number, chosen["share"], chosen["connections"])

    monkeypatch.setattr(probe, "open_file", open_here)
    return chosen


def emitted(fake: FakeLibrary | None, monkeypatch: pytest.MonkeyPatch, **settings: str | int | float) -> list[Any]:
    if fake is None:  # the names of a library that no system has
        monkeypatch.setattr(libnfs, "SONAMES", {"libnfs.so.none": True})
        find_library.cache_clear()
    monkeypatch.setattr(probe, "find_library", find_library if fake is None else lambda: library_of(fake))
    step = Step("nfs.clients", "nfs.clients", "", {**SETTINGS, **settings}, 1.0, 60.0)
    return list(NfsClients().run(step, HandContext()))


def test_rounds_take_turns_and_a_read_is_one_call_to_the_server(
    opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened["share"] = replace(SHARE, read_bytes=32 << 10)
    windows: list[tuple[Any, ...]] = []

    def measure(workers: list[Worker], streams: Any, at: Any, window: Any, context: Any, source: Any) -> Any:
        yield from ()
        read = {worker.block_bytes for worker in workers}
        windows.append((at["client"], at["connections"], at["path"], *read, source.nfs_mount_point))
        assert sum(worker.depth for worker in workers) == 4
        figures = {"iops": 1.0, "converged": True, "requested_bytes": 1, "charged_bytes": lambda **_: (None, None)}
        return run_of(5.0, at=at, **figures)

    monkeypatch.setattr(probe, "measure", measure)
    emitted(FakeLibrary(buffer_first=True), monkeypatch, more_paths="/mnt/b/data.dbf", rounds=3)

    a, b = SETTINGS["path"], "/mnt/b/data.dbf"
    arms = [
        *((KERNEL, 1, a, "/mnt/a"), (LIBNFS, 1, a, None), (LIBNFS, 2, a, None)),
        *((KERNEL, 1, b, "/mnt/a"), (LIBNFS, 1, b, None), (LIBNFS, 2, b, None)),
        *((KERNEL, 2, "all together", None), (LIBNFS, 2, "all together", None)),
    ]
    each = [(*arm[:3], size, arm[3]) for size in (BLOCK_BYTES, 32 << 10) for arm in arms]
    assert windows == [*each, *each[::-1], *each]


@pytest.mark.ci
@pytest.mark.usefixtures("opened")
def test_a_run_measures_both_clients_in_turn_and_closes_its_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeLibrary(buffer_first=True)

    everything = emitted(fake, monkeypatch)
    order = [each.activity for each in everything if isinstance(each, Progress)]
    found = [each for each in everything if isinstance(each, Estimate)]

    assert len(set(order)) == 6
    assert order[6:] == order[:6][::-1]

    rates = {(e.at["workload"], e.at["client"], e.at["connections"]): e for e in found if e.series == "rate"}
    assert set(rates) == {
        (workload, client, count)
        for workload in ("random 8 KiB", "random 1 MiB")
        for client, count in ((KERNEL, 1), (LIBNFS, 1), (LIBNFS, 2))
    }
    assert all(e.value > 0 and e.replicates == 2 and e.extra["requests"] == 4 for e in rates.values())
    assert {e.series for e in found} >= {"latency-p99", "connection-gain", "client-gain"}
    assert fake.closed == 2


@pytest.mark.ci
@pytest.mark.usefixtures("opened")
def test_without_the_library_the_kernel_is_measured_and_a_gap_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = emitted(None, monkeypatch)

    gaps = {each.subject: each.reason for each in found if isinstance(each, Gap)}
    assert "apt install libnfs13" in gaps["nfs.clients: libnfs"]
    assert {e.at["client"] for e in found if isinstance(e, Estimate)} == {KERNEL}


@pytest.mark.ci
def test_a_server_that_refuses_libnfs_is_measured_through_the_kernel(
    opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened["share"] = Share("192.0.2.9", "/export", "/data.dbf", 32 << 10, "version=4")

    found = emitted(FakeLibrary(buffer_first=True), monkeypatch)

    assert "192.0.2.9:/export failed: permission denied" in next(each.reason for each in found if isinstance(each, Gap))
    assert {e.at["client"] for e in found if isinstance(e, Estimate)} == {KERNEL}
    assert {e.at["workload"] for e in found if isinstance(e, Estimate)} == {"random 8 KiB", "random 32 KiB"}


@pytest.mark.parametrize(
    ("settings", "change", "message"),
    [
        ({"requests": 1}, {}, "requests=1: expected at least 2, one for each connection"),
        ({"more_paths": "/mnt/b/data.dbf"}, {"number": 8}, "more_paths: expected the file of path"),
    ],
)
def test_settings_that_cannot_be_measured_are_refused(
    opened: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str | int],
    change: dict[str, Any],
    message: str,
) -> None:
    opened.update(change)

    with pytest.raises(RefusedError, match=message):
        emitted(FakeLibrary(buffer_first=True), monkeypatch, **settings)


@pytest.mark.ci
@pytest.mark.usefixtures("opened")
def test_a_server_that_hangs_or_goes_ends_the_run_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    hung = FakeLibrary(buffer_first=True, silent=True)
    with pytest.raises(StalledError, match="no request completed"):
        emitted(hung, monkeypatch, stall=0.5)
    hung.lost = True  # ends the abandoned worker
    assert hung.left.wait(60)
    with pytest.raises(SizeupError, match=r"ECONNRESET"):
        emitted(FakeLibrary(buffer_first=False, lost=True), monkeypatch)
