"""Measure one other host: start ssh, send sizeup, and save the session while it arrives."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TextIO

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sizeup import files
from sizeup.child_process import environment
from sizeup.errors import ExitStatus, SizeupError, UsageError
from sizeup.probing.remote_python import NO_PYTHON, SSH_FAILED, host_name
from sizeup.remote.host_program import CANCEL_SECONDS, MARK
from sizeup.remote.one_file import OneFile
from sizeup.remote.wheels import WheelFolder
from sizeup.session.builder import SessionBuilder
from sizeup.session.reader import LineSplitter
from sizeup.session.records import AnyRecord, OutcomeRecord, PlanRecord, StepStartRecord
from sizeup.session.store import new_path
from sizeup.text import one_line

Show = Callable[[str], None]

_CONNECT_SECONDS = 60.0
"""To connect, log in and start Python."""
_SILENT_SECONDS = 120.0
"""Without a byte in either direction; a step may be silent for its own time limit besides."""
_LONGEST_SECONDS = 86_400.0
"""From the start of the run to its end, whatever the host says of its steps."""
_FINISH_SECONDS = CANCEL_SECONDS + 20
"""A host that writes on after its run should have ended is left to end it by itself."""
_END_SECONDS = 5.0
"""For ssh to end after SIGTERM."""
_SESSION_LIMIT_BYTES = 256 << 20
"""Of each host; a session of a million samples has 20 MB."""
_CHUNK_BYTES = 1 << 16
"""The longest first line of a session, too."""
_LINES_BEFORE_MARK = 1000
"""What the login shell of the host may print before it starts the command."""


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
    host = host_name(target)
    if not host:
        raise UsageError(f"--target {target!r}: expected [USER@]HOST, as for ssh")
    return host


class HostMeasurement:
    """The run on one host; ``measure`` and ``cancel`` are of one event loop."""

    def __init__(self, target: str, folder: str | None, show: Show) -> None:
        self._target = target
        self._host = host_of(target)
        self._folder = folder
        self._show = show
        self._errors = deque[str](maxlen=20)
        self._path = ""
        self._process: Process | None = None
        self._limit = asyncio.timeout_at(None)
        self._begin = self._step_seconds = 0.0
        self._canceled = self._described = self._sent = False
        self._steps = self._number = 0

    def cancel(self, *, wait: bool) -> None:
        """Cancel the run: the host sees the end of its input, ends the session and cleans up, for a limited time.

        Without ``wait`` the connection is ended, and the end of the session is lost. So it is while sizeup is sent:
        nothing is measured yet.
        """
        self._canceled = True
        if self._process is None or self._process.returncode is not None:
            return  # measure() ends at once
        self._show("canceling")
        if wait and self._sent:
            _stdin(self._process).close()
            asyncio.get_running_loop().call_later(_FINISH_SECONDS, _end, self._process.terminate)
        else:
            _end(self._process.terminate)

    async def measure(
        self, ssh: str, sizeup: WheelFolder | OneFile, options: Sequence[str], start_seconds: float = 0.0
    ) -> HostResult:
        """Run ``sizeup --batch OPTIONS`` on the host; problems of the host are part of the result.

        The run is to begin in ``start_seconds``; until then the host may be silent.
        """
        if self._canceled:
            return HostResult(self._target, "", ExitStatus.INTERRUPTED, "canceled")
        self._show("connecting")
        command, program = sizeup.start(ssh, self._target)
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=_CHUNK_BYTES, env=environment(),
                process_group=0,  # Ctrl-C on the terminal goes to sizeup alone
            )  # fmt: skip
        except OSError as error:  # no process more, no memory
            problem = f"cannot start {ssh}: {error.strerror}"
            self._show(problem)
            return HostResult(self._target, "", ExitStatus.PROBE_FAILED, problem)
        if self._canceled:
            self.cancel(wait=False)
        self._begin = asyncio.get_running_loop().time() + start_seconds
        errors = asyncio.create_task(self._read_errors(process))
        problem, status = "", ExitStatus.REFUSED
        try:
            async with asyncio.timeout(_CONNECT_SECONDS) as self._limit:
                await self._exchange(process, program, sizeup, options)
        except TimeoutError:
            status, doing = ExitStatus.PROBE_FAILED, "wrote nothing" if self._sent else "took nothing of what was sent"
            problem = f"{doing} for {_SILENT_SECONDS + self._step_seconds:.0f} s and was left"
            if not self._described:
                check = f"check that this ends at once: ssh {self._target} true"
                problem = f"no answer within {_CONNECT_SECONDS:.0f} s; {check}"
            elif asyncio.get_running_loop().time() >= self._begin + _LONGEST_SECONDS:
                problem = f"not finished after {_LONGEST_SECONDS / 3600:.0f} h, the longest that a run may take"
            _end(process.terminate)
        except SizeupError as error:
            problem = one_line(str(error))
        await _finish(process)
        await asyncio.wait([errors], timeout=1)
        errors.cancel()
        ended = -signal.SIGKILL if process.returncode is None else process.returncode
        failed = problem and not (self._canceled and ended)
        result = HostResult(self._target, self._path, status, problem) if failed else self._result(ended)
        self._show(result.problem or "measured")
        return result

    async def _exchange(
        self, process: Process, program: bytes, sizeup: WheelFolder | OneFile, options: Sequence[str]
    ) -> None:
        """Send sizeup, and take the session at the same time: a host may write before it reads."""
        _stdin(process).write(program)
        description = await self._description(_stdout(process))
        if description is None:
            return
        self._described = True
        try:
            request, content = sizeup.choose(description, options)
        except msgspec.MsgspecError as error:
            raise UsageError(f"the host described itself in a way that is not understood: {error}") from error
        self._show(f"sending {len(content) / 1e6:.1f} MB")
        _stdin(process).write(request)
        sending = asyncio.create_task(self._send(_stdin(process), content))
        try:
            await self._save(_stdout(process))
        finally:
            sending.cancel()

    def _progress(self) -> None:
        """Extend the time limit: a byte has come or gone."""
        now = asyncio.get_running_loop().time()
        silent = max(now, self._begin) + _SILENT_SECONDS + self._step_seconds
        self._limit.reschedule(min(silent, self._begin + _LONGEST_SECONDS))

    async def _read_errors(self, process: Process) -> None:
        assert process.stderr is not None
        while True:
            with contextlib.suppress(ValueError):  # a line beyond the limit
                line = await process.stderr.readline()
                if not line:
                    return
                if text := one_line(line[:4096].decode(errors="replace").strip()):
                    self._errors.append(text)

    async def _send(self, stream: asyncio.StreamWriter, content: bytes) -> None:
        # Where ssh has ended, its exit status says why.
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(content), _CHUNK_BYTES):
                stream.write(content[start : start + _CHUNK_BYTES])
                await stream.drain()
                self._progress()
            self._sent = True
            self._show("starting")

    async def _description(self, stream: asyncio.StreamReader) -> str | None:
        """Return what the host says about itself, after what its login shell may print; None if it says nothing."""
        for _ in range(_LINES_BEFORE_MARK):
            try:
                line = (await stream.readline())[:4096].decode(errors="replace")
            except ValueError:  # a line beyond the limit
                continue
            if not line:
                return None
            if line.startswith(MARK):
                return line.removeprefix(MARK)
            if text := one_line(line):
                self._errors.append(text)
        raise UsageError(
            f"printed {_LINES_BEFORE_MARK} lines and no answer; check that this prints nothing: ssh {self._target} true"
        )

    async def _save(self, stream: asyncio.StreamReader) -> None:
        """Write the session to its file as it arrives, and show how far the run is; nothing without its header."""
        builder = SessionBuilder("its output", samples=False, listener=self._record)
        try:
            chunk = await stream.readline()
        except ValueError:
            builder.skip_too_long()
        if not chunk:
            return
        builder.add(chunk.rstrip(b"\n"))
        records, total, descriptor = LineSplitter(builder), 0, self._create()
        try:
            while chunk:
                total += len(chunk)
                if total > _SESSION_LIMIT_BYTES:
                    raise UsageError(f"the session has more than {_SESSION_LIMIT_BYTES >> 20} MiB and was cut there")
                _write(descriptor, chunk, self._path)
                self._progress()
                chunk = await stream.read(_CHUNK_BYTES)
                records.feed(chunk)
        finally:
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
                self._step_seconds = record.step.time_limit_seconds
                self._show(f"[{self._number}/{self._steps}] {one_line(record.step.title, 60)}")
            case OutcomeRecord(outcome=ended) if ended.reason:
                self._show(f"{one_line(record.step, 60)} {ended.status.value}: {one_line(ended.reason, 60)}")

    def _result(self, status: int) -> HostResult:
        """Return what the exit status of ssh says, and the last line that the host wrote to standard error."""
        said = self._errors[-1].removeprefix("sizeup: ") if self._errors else ""
        if self._canceled and status:
            return HostResult(self._target, self._path, ExitStatus.INTERRUPTED, "canceled")
        if status == NO_PYTHON:
            problem = f"needs Python 3.11 or newer, found {said or 'no python3'}; install it there"
            return HostResult(self._target, "", ExitStatus.REFUSED, problem)
        if status == SSH_FAILED or status < 0:
            problem = "connection lost before the run began" if self._described else "no connection"
            if self._path:
                problem = "connection lost; what had arrived is saved"
        elif status not in list(ExitStatus):
            problem = f"ended with status {status}"
        elif not status and not self._path:
            problem = "the host ended without a session"
        else:
            return HostResult(self._target, self._path, ExitStatus(status), said if status else "")
        return HostResult(self._target, self._path, ExitStatus.PROBE_FAILED, f"{problem}: {said}" if said else problem)


def measure_all(
    runs: Sequence[HostMeasurement],
    ssh: str,
    sizeup: WheelFolder | OneFile,
    options: Sequence[str],
    start_seconds: float = 0.0,
) -> list[HostResult]:
    """Measure all hosts at the same time; Ctrl-C cancels every run and waits, a second one does not wait."""

    async def measure() -> list[HostResult]:
        presses = itertools.count()

        def interrupted() -> None:
            wait = not next(presses)
            for run in runs:
                run.cancel(wait=wait)

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted)
        return await asyncio.gather(*(run.measure(ssh, sizeup, options, start_seconds) for run in runs))

    return asyncio.run(measure())


def _stdin(process: Process) -> asyncio.StreamWriter:
    assert process.stdin is not None
    return process.stdin


def _stdout(process: Process) -> asyncio.StreamReader:
    assert process.stdout is not None
    return process.stdout


def _end(signal_process: Callable[[], None]) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal_process()


async def _finish(process: Process) -> None:
    """Let the host clean up: its input ends, and what it still writes is taken, for a limited time."""
    _stdin(process).close()
    for seconds, end in ((_FINISH_SECONDS, process.terminate), (_END_SECONDS, process.kill), (_END_SECONDS, None)):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while await _stdout(process).read(_CHUNK_BYTES):
                    pass
                await process.wait()
                return
        if end is not None:
            _end(end)


def _write(descriptor: int, chunk: bytes, path: str) -> None:
    try:
        while chunk:
            chunk = chunk[os.write(descriptor, chunk) :]
    except OSError as error:
        raise UsageError(f"{path}: cannot write the session: {error.strerror}") from error


class HostLines:
    """Shows what each host is doing: a line that is updated on a terminal, and printed elsewhere."""

    def __init__(self, targets: Sequence[str], stream: TextIO, *, quiet: bool) -> None:
        self._texts = dict.fromkeys(targets, "")
        self._stream = stream
        self._quiet = quiet
        self._live = None
        if stream.isatty() and not quiet:
            self._live = Live(console=Console(file=stream), get_renderable=self._table, refresh_per_second=4)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, target: str, text: str) -> None:
        """Show what a host is doing now."""
        self._texts[target] = text
        if self._live is None and not self._quiet:
            print(f"{target}: {text}", file=self._stream, flush=True)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for target, text in self._texts.items():
            table.add_row(Text(target, no_wrap=True), Text(text, no_wrap=True, overflow="ellipsis"))
        return table
