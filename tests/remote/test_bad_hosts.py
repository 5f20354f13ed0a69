"""What a host or its login shell does wrong ends in a result, and harms neither this host nor the others."""

import asyncio
import os
from pathlib import Path

import pytest

from remote.ssh_stand_in import make_ssh, make_wheel, session_lines
from remote.target_host import TargetHost, host
from sizeup.cli.start import _host_lines
from sizeup.errors import ExitStatus
from sizeup.remote import measurement
from sizeup.remote.measurement import HostMeasurement
from tiers import one_in

__all__ = ["host"]


def raw_ssh(folder: Path, script: str) -> str:
    """Write an ssh whose host is a shell script that prints what it likes."""
    folder.mkdir(parents=True)
    ssh = folder / "ssh"
    ssh.write_text(f"#!/bin/sh\n{script}\n")
    ssh.chmod(0o755)
    return str(ssh)


def make_wheels(host: TargetHost, *, larger_than_a_pipe: bool) -> None:
    """Write wheels, of which a pipe that nobody reads takes all or only a part."""
    make_wheel(host.wheels)
    (host.wheels / "large-1.0-py3-none-any.whl").write_bytes(bytes(1 << 20 if larger_than_a_pipe else 0))


def described(machine: str = os.uname().machine) -> str:
    """Return the line of a shell script with which a host describes itself."""
    return f"""printf '%s\\n' 'sizeup-target {{"python":[3,11],"machine":"{machine}","glibc":"9.9"}}'"""


def test_blank_and_open_lines_of_a_login_shell_are_skipped(host: TargetHost) -> None:
    make_wheel(host.wheels)

    result = host.measure(make_ssh(host.folder / "bin", before="echo; echo Welcome; echo; printf prompt"))

    assert (result.status, result.problem) == (ExitStatus.OK, "")
    assert Path(result.path).read_bytes() == session_lines()


def test_a_host_that_prints_nothing_is_not_measured(host: TargetHost) -> None:
    make_wheel(host.wheels)

    result = host.measure(raw_ssh(host.folder / "bin", "echo no shell here >&2"))

    assert result.status is ExitStatus.PROBE_FAILED
    assert result.problem == "the host ended without a session: no shell here"


def test_what_a_host_says_about_itself_cannot_control_the_terminal(host: TargetHost) -> None:
    make_wheel(host.wheels)

    result = host.measure(raw_ssh(host.folder / "bin", described(r"x\u001b]0;title\u0007")))

    assert result.status is ExitStatus.REFUSED
    assert result.problem.isprintable()


@pytest.mark.ci
def test_a_host_that_prints_something_else_does_not_hide_the_others(host: TargetHost) -> None:
    make_wheel(host.wheels)
    good = host.measure(make_ssh(host.folder / "bin"))
    other = HostMeasurement("db02", str(host.sessions), host.shown.append)
    ssh = raw_ssh(host.folder / "other", f"{described()}; echo something else; cat > /dev/null")
    bad = asyncio.run(other.measure(ssh, host.sent, ()))

    lines = _host_lines([good, bad])

    assert lines[0] == "1 of 2 hosts measured"
    assert lines[-1].startswith("db02      its output: expected a sizeup session")
    assert len(list(host.sessions.iterdir())) == 1


@pytest.mark.parametrize(
    ("printing", "found"),
    one_in(
        2,
        [
            ("while :; do echo something else; done", "expected a sizeup session"),
            ("while :; do printf x; done", "found no end to its first line"),
        ],
    ),
)
def test_a_host_that_prints_before_it_reads_is_left_without_a_file(
    printing: str, found: str, host: TargetHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody reads the wheels: who sends all of them first waits forever."""
    monkeypatch.setattr(measurement, "_FINISH_SECONDS", 0.2)
    make_wheels(host, larger_than_a_pipe=True)

    result = host.measure(raw_ssh(host.folder / "bin", f"{described()}; {printing}"))

    assert (result.status, result.path) == (ExitStatus.REFUSED, "")
    assert found in result.problem
    assert list(host.sessions.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "value", "script", "problem"),
    one_in(
        3,
        [
            ("_CONNECT_SECONDS", 0.2, "exec sleep 600", "no answer within 0 s"),
            ("_SILENT_SECONDS", 0.2, "{described}; exec sleep 600", "took nothing of what was sent for 0 s"),
            ("_SILENT_SECONDS", 0.2, "{described}; {header}; exec sleep 600", "wrote nothing for 0 s"),
            (
                "_LONGEST_SECONDS",
                0.5,
                "{described}; {header}; while :; do echo '{{}}'; sleep 0.01; done",
                "not finished",
            ),
            ("_SESSION_LIMIT_BYTES", 1 << 16, "{described}; {header}; while :; do echo '{{}}'; done", "has more than"),
        ],
    ),
)
def test_a_host_is_left_at_each_limit(
    limit: str, value: float, script: str, problem: str, host: TargetHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurement, "_FINISH_SECONDS", 0.2)
    monkeypatch.setattr(measurement, limit, value)
    make_wheels(host, larger_than_a_pipe="took" in problem)
    (host.folder / "header").write_bytes(session_lines().splitlines(keepends=True)[0])
    script = script.format(described=described(), header=f"cat '{host.folder / 'header'}'")

    result = host.measure(raw_ssh(host.folder / "bin", script))

    assert result.status in (ExitStatus.PROBE_FAILED, ExitStatus.REFUSED)
    assert problem in result.problem
    assert sum(path.stat().st_size for path in host.sessions.iterdir()) <= 1 << 16


def test_a_run_that_is_canceled_before_it_began_connects_to_nothing(host: TargetHost) -> None:
    make_wheel(host.wheels)
    host.run.cancel(wait=True)

    result = host.measure(make_ssh(host.folder / "bin", before=f"touch '{host.trace}'"))

    assert result.status is ExitStatus.INTERRUPTED
    assert not host.trace.exists()


def test_canceling_does_not_wait_for_a_host_that_takes_nothing(host: TargetHost) -> None:
    make_wheels(host, larger_than_a_pipe=True)
    ssh = raw_ssh(host.folder / "bin", f"{described()}; exec sleep 60")

    result = host.measure_and_cancel(ssh, lambda: host.shown[-1].startswith("sending"))

    assert result.status is ExitStatus.INTERRUPTED


@pytest.mark.ci
def test_hosts_of_one_name_get_a_file_each(host: TargetHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run takes the free name first."""
    make_wheel(host.wheels)
    taken = host.sessions / "db01.sizeup.jsonl"
    names = iter([taken, host.sessions / "db01-2.sizeup.jsonl"])
    taken.write_bytes(b"of another run\n")
    monkeypatch.setattr(measurement, "new_path", lambda *_: next(names))

    result = host.measure(make_ssh(host.folder / "bin"))

    assert taken.read_bytes() == b"of another run\n"
    assert Path(result.path).read_bytes() == session_lines()


def test_an_ssh_that_cannot_be_started_is_the_result_of_its_host(host: TargetHost) -> None:
    make_wheel(host.wheels)

    (result,) = measurement.measure_all([host.run], str(host.folder / "no ssh"), host.sent, ())

    assert result.status is ExitStatus.PROBE_FAILED
    assert result.problem.endswith("no ssh: No such file or directory")
