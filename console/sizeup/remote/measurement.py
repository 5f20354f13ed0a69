"""Measure one other host: start ssh, send sizeup, and save the session while it arrives."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from sizeup import files
from sizeup.child_process import environment
from sizeup.errors import ExitStatus, RefusedError, SizeupError, UsageError
from sizeup.remote import wheels
from sizeup.remote.host_program import CANCEL_SECONDS, MARK
from sizeup.session.builder import SessionBuilder
from sizeup.session.limits import FILE_LIMIT_BYTES
from sizeup.session.reader import CHUNK_BYTES, LineSplitter
from sizeup.session.records import AnyRecord, OutcomeRecord, PlanRecord, StepStartRecord
from sizeup.session.store import new_path
from sizeup.text import one_line

Show = Callable[[str], None]

_SSH_OPTIONS = (
    "-T",
    # A question for a password would stop one host among several, and hide the others' lines.
    "-oBatchMode=yes",
    # A host that has gone is noticed within 45 s; the run there is canceled by the end of its standard input.
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=3",
)
_SSH_FAILED = 255
_NO_PYTHON = 69
_FINISH_SECONDS = CANCEL_SECONDS + 20
"""A host that writes on after its run should have ended is left to end it by itself."""
_LINES_BEFORE_MARK = 1000
"""What the login shell of the host may print before it starts the command."""
_COMMAND = (
    "sh -c 'for p in python3 python3.14 python3.13 python3.12 python3.11; do "
    'if "$p" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null; then '
    'exec "$p" -I -c "import sys; exec(sys.stdin.buffer.read({length}))"; fi; done; '
    "python3 -V 2>&1; exit {status}'"
)
"""For any login shell: no exclamation mark, no line break, single quotes outside."""


class HostResult(Struct, frozen=True):
    """What became of one host."""

    target: str
    path: str
    """The session file; empty where nothing arrived."""
    status: ExitStatus
    problem: str
    """Empty where the run ended by itself."""


def host_of(target: str) -> str:
    """Return the host's name in ``[USER@]HOST``; raises ``UsageError`` where ssh would read an option."""
    host = target.removeprefix("ssh://").rpartition("@")[2]
    if target.startswith("ssh://"):
        host = host.partition(":")[0]
    if not host or target.startswith("-") or any(character.isspace() for character in target):
        raise UsageError(f"--target {target!r}: expected [USER@]HOST, as for ssh")
    return host


def find_ssh() -> str:
    """Return the path of the ssh client; raises ``RefusedError`` without one."""
    found = shutil.which("ssh")
    if found is None:
        raise RefusedError("--target needs the OpenSSH client, and there is no ssh in PATH; install openssh-client")
    return found


class HostMeasurement:
    """The run on one host; ``measure`` blocks, ``cancel`` may come from another thread."""

    def __init__(self, target: str, folder: str | None, show: Show) -> None:
        self._target = target
        self._host = host_of(target)
        self._folder = folder
        self._show = show
        self._errors = deque[str](maxlen=20)
        self._path = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._canceled = self._sending = self._described = self._ended = False
        self._steps = self._number = 0

    def cancel(self, *, wait: bool) -> None:
        """Cancel the run: the host sees the end of its input, ends the session and cleans up.

        Without ``wait`` the connection is ended, too, and the end of the session is lost. So it is while sizeup is
        sent: nothing is measured yet, and its stream cannot be closed while a thread waits to write to it.
        """
        with self._lock:
            if self._ended:
                return
            self._canceled = True
            process, sending = self._process, self._sending
        self._show("canceling")
        if process is None:
            return  # measure() ends at once
        if sending or not wait:
            process.terminate()
        if not sending and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()

    def measure(self, ssh: str, wheel_folder: str, options: Sequence[str]) -> HostResult:
        """Run ``sizeup --batch OPTIONS`` on the host; problems of the host are part of the result."""
        self._show("connecting")
        program = resources.files("sizeup.remote").joinpath("host_program.py").read_bytes()
        try:
            process = self._start(ssh, _COMMAND.format(length=len(program), status=_NO_PYTHON))
        except OSError as error:  # no process more, no memory
            problem = f"cannot start {ssh}: {error.strerror}"
            self._show(problem)
            return HostResult(self._target, "", ExitStatus.PROBE_FAILED, problem)
        if process is None:
            return HostResult(self._target, "", ExitStatus.INTERRUPTED, "canceled")
        assert process.stdin is not None
        assert process.stdout is not None
        reader = threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True)
        reader.start()
        problem = ""
        try:
            self._send(process.stdin, program)
            description = self._description(process.stdout)
            if description is not None:
                self._described = True
                names = wheels.choose(wheels.wheel_names(wheel_folder), description)
                content = wheels.archive(wheel_folder, names)
                self._show(f"sending {len(content) / 1e6:.1f} MB")
                self._send(process.stdin, wheels.request(options, content))
                self._show("starting")
                self._save(process.stdout)
        except SizeupError as error:
            problem = one_line(str(error))
        finally:
            self._finish(process)
        reader.join(1)
        result = self._result(process.wait(), problem)
        with self._lock:
            self._ended = True
        self._show(result.problem or "measured")
        return result

    def _start(self, ssh: str, command: str) -> subprocess.Popen[bytes] | None:
        """Start ssh; None if the run was canceled before."""
        with self._lock:
            if self._canceled:
                return None
            self._process = subprocess.Popen(
                [ssh, *_SSH_OPTIONS, "--", self._target, command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                process_group=0,  # Ctrl-C on the terminal goes to sizeup alone
            )
            return self._process

    def _read_errors(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline(4096):
                if text := one_line(line.decode(errors="replace").strip()):
                    self._errors.append(text)

    def _send(self, stream: IO[bytes], content: bytes) -> None:
        with self._lock:
            if self._canceled:
                return
            self._sending = True
        # Where ssh has ended, its exit status says why.
        with contextlib.suppress(BrokenPipeError):
            stream.write(content)
            stream.flush()
        self._sending = False

    def _description(self, stream: IO[bytes]) -> wheels.HostDescription | None:
        """Return what the host says about itself, after what its login shell may print; None if it says nothing."""
        for _ in range(_LINES_BEFORE_MARK):
            line = stream.readline(4096).decode(errors="replace")
            if not line:
                return None
            if line.startswith(MARK):
                try:
                    return wheels.host_description(line.removeprefix(MARK))
                except msgspec.MsgspecError as error:
                    raise UsageError(f"the host described itself in a way that is not understood: {error}") from error
            if text := one_line(line):
                self._errors.append(text)
        return None

    def _save(self, stream: IO[bytes]) -> None:
        """Write the session to its file as it arrives, and show how far the run is."""
        records = LineSplitter(SessionBuilder(self._target, samples=False, listener=self._record))
        total, descriptor = 0, -1
        try:
            while chunk := stream.read1(CHUNK_BYTES):  # type: ignore[attr-defined]  # a BufferedReader
                if descriptor < 0:
                    descriptor = self._create()
                total += len(chunk)
                if total > FILE_LIMIT_BYTES:
                    raise UsageError(f"the session has more than {FILE_LIMIT_BYTES >> 30} GiB and was cut there")
                _write(descriptor, chunk, self._path)
                records.feed(chunk)
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _create(self) -> int:
        """Create the session file; another thread may take a free name first."""
        started, folder = datetime.now(UTC), None if self._folder is None else Path(self._folder)
        while True:
            path = str(new_path(self._host, started, folder))
            try:
                descriptor, new = files.create(path)
            except OSError as error:
                raise UsageError(f"{path}: cannot write the session: {error.strerror}") from error
            if new:
                self._path = path
                return descriptor
            os.close(descriptor)

    def _record(self, record: AnyRecord) -> None:
        match record:
            case PlanRecord():
                self._steps, self._number = len(record.plan.steps), 0
            case StepStartRecord():
                self._number += 1
                self._show(f"[{self._number}/{self._steps}] {one_line(record.step.title, 60)}")
            case OutcomeRecord() if record.outcome.reason:
                self._show(f"{record.step} {record.outcome.status.value}: {one_line(record.outcome.reason, 60)}")
            case _:
                pass

    @staticmethod
    def _finish(process: subprocess.Popen[bytes]) -> None:
        """Let the host clean up: its input ends, and what it still writes is taken, for a limited time."""
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        ender = threading.Timer(_FINISH_SECONDS, process.terminate)
        ender.daemon = True
        ender.start()
        with process.stdout:
            while process.stdout.read1(CHUNK_BYTES):  # type: ignore[attr-defined]  # a BufferedReader
                pass
        process.wait()
        ender.cancel()

    def _result(self, status: int, problem: str) -> HostResult:
        said = self._errors[-1].removeprefix("sizeup: ") if self._errors else ""
        if self._canceled and status:
            return HostResult(self._target, self._path, ExitStatus.INTERRUPTED, "canceled")
        if problem:
            return HostResult(self._target, self._path, ExitStatus.REFUSED, problem)
        if status == _NO_PYTHON:
            found = said or "no python3"
            return HostResult(
                self._target, "", ExitStatus.REFUSED, f"needs Python 3.11 or newer, found {found}; install it there"
            )
        if status == _SSH_FAILED or status < 0:
            lost = "connection lost before the run began" if self._described else "no connection"
            if self._path:
                lost = "connection lost; what had arrived is saved"
            return HostResult(self._target, self._path, ExitStatus.PROBE_FAILED, f"{lost}: {said}" if said else lost)
        if status not in list(ExitStatus):
            return HostResult(
                self._target, self._path, ExitStatus.PROBE_FAILED, f"ended with status {status}: {said}".rstrip(": ")
            )
        if not status and not self._path:
            nothing = "the host ended without a session"
            return HostResult(self._target, "", ExitStatus.PROBE_FAILED, f"{nothing}: {said}" if said else nothing)
        return HostResult(self._target, self._path, ExitStatus(status), said if status else "")


def measure_all(
    runs: Sequence[HostMeasurement], ssh: str, wheel_folder: str, options: Sequence[str]
) -> list[HostResult]:
    """Measure all hosts at the same time; Ctrl-C cancels every run and waits, a second one does not wait."""
    results: dict[int, HostResult] = {}

    def measure(number: int) -> None:
        results[number] = runs[number].measure(ssh, wheel_folder, options)

    threads = [threading.Thread(target=measure, args=(number,), daemon=True) for number in range(len(runs))]
    for thread in threads:
        thread.start()
    interrupts = 0
    while any(thread.is_alive() for thread in threads):
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            interrupts += 1
            for run in runs:
                run.cancel(wait=interrupts == 1)
    return [results[number] for number in range(len(runs))]


def _write(descriptor: int, chunk: bytes, path: str) -> None:
    try:
        while chunk:
            chunk = chunk[os.write(descriptor, chunk) :]
    except OSError as error:
        raise UsageError(f"{path}: cannot write the session: {error.strerror}") from error
