"""One run of sizeup in a mount namespace of its own, held at a chosen system call while a fault is made.

``calls.c`` is preloaded and holds the process at the call; the fault itself is real where ``Fault.real`` says so: a
signal, a file system that is full or read-only, a limit of the process, a CPU taken away, no ``/proc`` or ``/sys``.
Errors of devices and of quotas are what the call returns.
"""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from marked_processes import marked_processes
from sizeup.session.reader import read_session

PATIENCE_SECONDS = 90.0
_MARK = "SIZEUP_FAULT_SCENE"
_SIZE_OF_STATE = "8m"
RUN = (
    "run", "-q", "--full-load", "-p", "io.direct", "--set", "io.direct.size=16MiB", "io.direct.seconds=500ms",
    "io.direct.warmup=200ms", "io.direct.engine=threads", "io.direct.depth=1", "io.direct.cold_read=false",
)  # fmt: skip


@dataclass(frozen=True)
class HeldCall:
    """Where a run is held: the call of ``calls.c``, a part of its path and how many such calls come before."""

    call: str
    path: str
    skip: int = 0
    in_worker: bool = False
    arguments: Callable[["Scene"], Sequence[str]] = lambda scene: (*RUN, f"io.direct.path={scene.target}")
    before: Callable[["Scene"], None] = lambda scene: None


@dataclass
class Scene:
    """Directories of one run, and what was seen of it."""

    root: Path
    library: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    process: subprocess.Popen[Any] | None = None
    held: int = 0
    """The process at the call, by its number here."""
    output: str = ""
    errors: str = ""
    status: int = 0
    seconds: float = 0.0
    groups: list[Path] = field(default_factory=list)
    """Control groups that the fault needed."""

    def __post_init__(self) -> None:
        for path in (self.state, self.target, self.barrier, self.out):
            path.mkdir(parents=True)
        mounts = (
            f"mount -t tmpfs -o size={_SIZE_OF_STATE} tmpfs {self.state} && mount --bind {self.target} {self.target}"
            f" && mount --bind {self.out} {self.out} && echo mounted && exec sleep infinity"
        )
        command = ["unshare", "-rm", "--propagation", "private", "sh", "-c", mounts]
        self.keeper = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.keeper.stdout is not None
        assert self.keeper.stdout.readline() == "mounted\n"

    def close(self) -> None:
        """End the namespace; its file systems go with it."""
        self.keeper.kill()
        self.keeper.communicate()
        for group in self.groups:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while group.exists() and time.monotonic() < deadline:
                with suppress(OSError):  # the kernel has not yet let go of the last process
                    group.rmdir()
                time.sleep(0.01)

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def target(self) -> Path:
        return self.root / "target"

    @property
    def barrier(self) -> Path:
        return self.root / "barrier"

    @property
    def out(self) -> Path:
        return self.root / "out"

    def inside(self, path: Path) -> Path:
        """The path as the run sees it, from here."""
        return Path(f"/proc/{self.keeper.pid}/root{path}")

    def entered(self, *words: str) -> list[str]:
        """A command line that runs in the namespace."""
        return ["nsenter", "-t", str(self.keeper.pid), "-U", "-m", "--preserve-credentials", *words]

    def mount(self, *words: str) -> None:
        """Run ``mount`` in the namespace."""
        subprocess.run(self.entered("mount", *words), check=True, capture_output=True)

    def processes(self) -> list[int]:
        """Everything that the run started and that still runs."""
        return marked_processes(_MARK, self.mark)

    def environment(self, fault: str) -> Mapping[str, str]:
        return os.environ | {
            "LD_PRELOAD": str(self.library), "SIZEUP_FAULT": fault, _MARK: self.mark, "LC_ALL": "C.UTF-8",
            "XDG_STATE_HOME": str(self.state), "XDG_CONFIG_HOME": str(self.state), "COLUMNS": "200",
        }  # fmt: skip

    def go(self, stage: HeldCall, action: str, inject: Callable[["Scene"], None]) -> None:
        """Run to the stage, make the fault there, and wait for the end.

        The action is what ``calls.c`` does at the call; ``wait`` holds the process until ``inject`` has returned.
        """
        place = stage.path.format(target=self.target, state=self.state, out=self.out)
        held = action == "wait"
        what = f"wait {self.barrier}" if held else action
        rule = f"{stage.call}|{place}|{stage.skip}|{what}"
        started = time.monotonic()
        self.process = subprocess.Popen(
            self.entered(sys.executable, "-m", "sizeup", *stage.arguments(self)), env=self.environment(rule), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            if held:
                reached = self.barrier / "reached"
                while not reached.exists():
                    assert self.process.poll() is None, self.process.communicate()
                    assert time.monotonic() - started < PATIENCE_SECONDS, "the stage was never reached"
                    time.sleep(0.01)
                self.held = int(reached.read_text())
                inject(self)
                (self.barrier / "go").touch()
            started = time.monotonic()
            self.output, self.errors = self.process.communicate(timeout=PATIENCE_SECONDS)
            self.seconds = time.monotonic() - started
            self.status = self.process.returncode
        finally:
            for pid in self.processes() if self.process.poll() is None else ():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def left(self) -> list[str]:
        """What is still there a while after the end: processes, and files in the target directory."""
        deadline = time.monotonic() + 15
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        return [f"process {pid}" for pid in self.processes()] + [str(path) for path in self.target.iterdir()]


@dataclass(frozen=True)
class Fault:
    """A fault, how it is made at the held call, and what is then said."""

    make: Callable[[Scene], None] = lambda scene: None
    action: str = "wait"
    words: str = ""
    """A pattern of what the user reads; empty: nothing has to be said."""
    kills_runner: bool = False
    kills_held: bool = False
    """The process at the call dies: a worker or the run."""
    in_worker_only: bool = False
    in_runner_only: bool = False
    real: bool = True


def _signal(number: signal.Signals, runner: bool) -> Callable[[Scene], None]:
    def send(scene: Scene) -> None:
        os.kill(scene.process.pid if runner and scene.process is not None else scene.held, number)

    return send


def fill(folder: Path) -> None:
    """Write into a file until its small file system is full."""
    assert os.statvfs(folder).f_blocks * os.statvfs(folder).f_frsize < 1 << 28, "not the file system of the test"
    with suppress(OSError), (folder / "filler").open("wb", 0) as file:
        while True:
            file.write(bytes(4096))


def _read_only(scene: Scene) -> None:
    for path, how in ((scene.target, "bind,ro"), (scene.out, "bind,ro"), (scene.state, "ro")):
        with suppress(subprocess.CalledProcessError):  # busy where a file is open for writing
            scene.mount("-o", f"remount,{how}", str(path))


def _limit(name: str, value: Callable[[int], int]) -> Callable[[Scene], None]:
    def limit(scene: Scene) -> None:
        number = value(scene.held)
        subprocess.run(["prlimit", "--pid", str(scene.held), f"--{name}={number}:{number}"], check=True)

    return limit


def _open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def _address_space(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGESIZE")


def _one_cpu(scene: Scene) -> None:
    one = {min(os.sched_getaffinity(0))}
    for pid in scene.processes():
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                os.sched_setaffinity(int(task.name), one)


def control_group(controller: str) -> Path:
    """A new control group of a controller, of version 1 or 2; the test is skipped where none can be made."""
    name = f"sizeup-test-{uuid.uuid4().hex}"
    for root in (Path("/sys/fs/cgroup", controller), Path("/sys/fs/cgroup")):
        with suppress(OSError):
            group = root / name
            group.mkdir()
            if any(group.glob(f"{controller}.*")):
                return group
            group.rmdir()
    pytest.skip(f"no control group of {controller} can be made here")


def _cpuset(scene: Scene) -> None:
    group = control_group("cpuset")
    scene.groups.append(group)
    for name in ("mems", "cpus"):
        whole = group.parent / f"cpuset.effective_{name}"
        if whole.exists():  # version 1, in which a new group has none
            (group / f"cpuset.{name}").write_text(whole.read_text())
    for pid in scene.processes():
        (group / "cgroup.procs").write_text(str(pid))
    (group / "cpuset.cpus").write_text(str(min(os.sched_getaffinity(0))))


def _no_memory_left(scene: Scene) -> None:
    group = control_group("memory")
    scene.groups.append(group)
    for name, value in (("swap.max", "0"), ("swappiness", "0"), ("max", "4096"), ("limit_in_bytes", "4096")):
        if (group / f"memory.{name}").exists():
            (group / f"memory.{name}").write_text(value)
    (group / "cgroup.procs").write_text(str(scene.held))


def _hide(path: str) -> Callable[[Scene], None]:
    return lambda scene: scene.mount("-t", "tmpfs", "tmpfs", path)


def _error(number: int, words: str) -> Fault:
    return Fault(action=f"errno {number}", words=f"{words}|{errno.errorcode[number]}", real=False)


FAULTS: dict[str, Fault] = {
    "SIGKILL of the run": Fault(_signal(signal.SIGKILL, True), kills_runner=True),
    "SIGTERM of the run": Fault(_signal(signal.SIGTERM, True)),
    "SIGINT of the run": Fault(_signal(signal.SIGINT, True)),
    "SIGHUP of the run": Fault(_signal(signal.SIGHUP, True)),
    "SIGKILL of the worker": Fault(_signal(signal.SIGKILL, False), words="SIGKILL", in_worker_only=True),
    "SIGSEGV of the worker": Fault(_signal(signal.SIGSEGV, False), words="SIGSEGV", in_worker_only=True),
    "SIGTERM of the worker": Fault(_signal(signal.SIGTERM, False), words="SIGTERM", in_worker_only=True),
    "file system full": Fault(lambda scene: fill(scene.inside(scene.state))),
    "read-only": Fault(_read_only),
    "ENOSPC": _error(errno.ENOSPC, "No space left|is full"),
    "EIO": _error(errno.EIO, "Input/output error|failures"),
    "device removed": _error(errno.ENODEV, "No such device"),
    "EDQUOT": _error(errno.EDQUOT, "quota"),
    "EMFILE": Fault(_limit("nofile", _open_files)),
    "ENOMEM": Fault(_limit("as", _address_space)),
    "one CPU left": Fault(_one_cpu),
    "cpuset shrunk": Fault(_cpuset),
    "out of memory in the control group": Fault(_no_memory_left, words="SIGKILL", kills_held=True),
    "no /proc": Fault(_hide("/proc")),
    "no /sys": Fault(_hide("/sys")),
    "clock set back 1 h": Fault(action="clock -3600", real=False),
}


def _session(scene: Scene) -> None:
    environment = os.environ | {"XDG_STATE_HOME": str(scene.state), "XDG_CONFIG_HOME": str(scene.state)}
    command = [sys.executable, "-m", "sizeup", "run", "-q", "-p", "null", "-o", str(scene.root / "a.sizeup.jsonl")]
    subprocess.run(command, env=environment, check=True, capture_output=True)


def _export(kind: str) -> Callable[[Scene], Sequence[str]]:
    return lambda scene: (
        "session", "export", str(scene.root / "a.sizeup.jsonl"), f"--format={kind}", "-o", str(scene.out / "page"),
    )  # fmt: skip


_SESSION_FILE = "/sizeup/sessions/"
STAGES: dict[str, HeldCall] = {
    "discovery": HeldCall("open", "/sys/devices/system/", 5),
    "check": HeldCall("open", "{target}", in_worker=True),
    "prepare": HeldCall("create", "{target}", in_worker=True),
    "warm-up": HeldCall("pread", "{target}", in_worker=True),
    "measure": HeldCall("pread", "{target}", 2000, in_worker=True),
    "session created": HeldCall("create", _SESSION_FILE),
    "session written": HeldCall("write", _SESSION_FILE, 2),
    "session closed": HeldCall("fsync", _SESSION_FILE, 3),
    "export": HeldCall("create", "{out}", arguments=_export("html"), before=_session),
    "export written": HeldCall("write", "{out}", arguments=_export("json"), before=_session),
}


def compiled(folder: Path) -> Path:
    """``calls.c`` as a library in a folder."""
    library = folder / "calls.so"
    source = Path(__file__).with_name("calls.c")
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def namespaces() -> bool:
    """Whether a namespace can be made here."""
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0


def sessions(scene: Scene) -> Iterator[int]:
    """Numbers of malformed lines in the sessions that the run left, without one that it had only created."""
    for path in scene.inside(scene.state).rglob("*.sizeup.jsonl"):
        if path.stat().st_size > 0:
            yield read_session(str(path)).damage.malformed


def said(scene: Scene, pattern: str) -> bool:
    return re.search(pattern, scene.output + scene.errors, re.IGNORECASE) is not None


def impossible(stage: str, fault: str) -> str:
    """Why a fault cannot meet a stage; empty where it can."""
    if FAULTS[fault].in_worker_only and stage in STAGES and not STAGES[stage].in_worker:
        return "no worker runs"
    if fault == "read-only" and stage in (
        "warm-up",
        "measure",
        "session written",
        "session closed",
        "console",
        "remote",
    ):
        return "the kernel keeps a file system writable while a file is open for writing"
    return ""


_RUNS = "tests/pty/test_runs.py::"
_REMOTE = "tests/remote/test_measurement.py::"
_CONSOLE = "tests/faults/test_console.py::test_a_console_outlives_the_fault_of_its_run"
OF_CONSOLE = tuple(fault for fault in FAULTS if not fault.endswith("of the run") and fault != "read-only")
"""Faults that meet the run of a console; its file is open for writing, so that no file system becomes read-only."""
_OF_HOST = "tests/faults/test_remote.py::test_a_host_outlives_the_fault_of_its_run"
OF_REMOTE = tuple(fault for fault in FAULTS if not fault.endswith("of the run") and fault != "read-only")
"""Faults that meet the run on another host."""
_OWN_STAGES = {
    "console": {
        **dict.fromkeys(OF_CONSOLE, _CONSOLE),
        "SIGKILL of the run": f"{_RUNS}test_a_run_that_was_killed_is_spoken_of_and_resumed",
        **dict.fromkeys(
            ("SIGTERM of the run", "SIGINT of the run", "SIGHUP of the run"),
            f"{_RUNS}test_a_signal_during_a_run_saves_it_and_takes_everybody_along",
        ),
    },
    "remote": {
        "SIGKILL of the run": f"{_REMOTE}test_a_run_that_ignores_the_request_to_end_is_killed",
        **dict.fromkeys(OF_REMOTE, _OF_HOST),
        "SIGINT of the run": f"{_REMOTE}test_an_interrupt_waits_for_the_hosts_and_ends_with_the_summary",
        **dict.fromkeys(
            ("SIGTERM of the run", "SIGHUP of the run"),
            f"{_REMOTE}test_nothing_stays_if_the_program_on_the_host_is_ended",
        ),
    },
}
"""Stages with tests of their own, each of which makes the fault for real."""
CELLS = [(stage, fault) for fault in FAULTS for stage in STAGES if not impossible(stage, fault)]


def own_tests() -> set[str]:
    """Return the tests that make faults at stages of their own, as ``path::name``."""
    return {test for named in _OWN_STAGES.values() for test in named.values()}


def table() -> str:
    """Faults by stage, as Markdown: what was made for real and what the system call returned."""
    stages = (*STAGES, *_OWN_STAGES)
    lines = [f"| fault | {' | '.join(stages)} |", f"|---{'|:-:' * len(stages)}|"]
    for fault, made in FAULTS.items():
        mark = "●" if made.real else "○"
        cells = ["–" if impossible(stage, fault) else mark for stage in STAGES]
        cells += [mark if fault in named else "–" for named in _OWN_STAGES.values()]
        lines.append(f"| {fault} | {' | '.join(cells)} |")
    return "\n".join(lines)
