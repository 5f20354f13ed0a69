"""What a host or its login shell does wrong ends in a result, and harms neither this host nor the others."""

import os
import threading
from pathlib import Path

import pytest

from remote.ssh_stand_in import make_ssh, make_wheel, session_lines
from remote.target_host import PATIENCE_SECONDS, TargetHost, host, until
from sizeup.cli.targets import _result_lines
from sizeup.errors import ExitStatus
from sizeup.remote import measurement
from sizeup.remote.measurement import HostMeasurement, HostResult

__all__ = ["host"]


def raw_ssh(folder: Path, script: str) -> str:
    """Write an ssh whose host is a shell script that prints what it likes."""
    folder.mkdir(parents=True)
    ssh = folder / "ssh"
    ssh.write_text(f"#!/bin/sh\n{script}\n")
    ssh.chmod(0o755)
    return str(ssh)


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


def test_a_host_that_prints_something_else_does_not_hide_the_others(host: TargetHost) -> None:
    make_wheel(host.wheels)
    good = host.measure(make_ssh(host.folder / "bin"))
    other = HostMeasurement("db02", str(host.sessions), host.shown.append)
    bad = other.measure(
        raw_ssh(host.folder / "other", f"{described()}; echo something else; cat > /dev/null"), str(host.wheels), ()
    )

    lines = _result_lines([good, bad])

    assert lines[0] == "1 of 2 hosts measured"
    assert "no session: db02: expected a sizeup session" in lines[-1]


def test_a_host_that_never_stops_printing_is_left(host: TargetHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "_FINISH_SECONDS", 0.2)
    make_wheel(host.wheels)

    result = host.measure(raw_ssh(host.folder / "bin", f"{described()}; while :; do echo something else; done"))

    assert result.status is ExitStatus.REFUSED
    assert "expected a sizeup session" in result.problem


def test_a_run_that_is_canceled_before_it_began_connects_to_nothing(host: TargetHost) -> None:
    make_wheel(host.wheels)
    host.run.cancel(wait=True)

    result = host.measure(make_ssh(host.folder / "bin", before=f"touch '{host.trace}'"))

    assert result.status is ExitStatus.INTERRUPTED
    assert not host.trace.exists()


def test_canceling_does_not_wait_for_a_host_that_takes_nothing(host: TargetHost) -> None:
    make_wheel(host.wheels)
    (host.wheels / "large-1.0-py3-none-any.whl").write_bytes(bytes(1 << 20))
    results: list[HostResult] = []
    ssh = raw_ssh(host.folder / "bin", f"{described()}; exec sleep 60")
    thread = threading.Thread(target=lambda: results.append(host.measure(ssh)))
    thread.start()
    until(lambda: host.run._sending and host.shown[-1].startswith("sending"))

    host.run.cancel(wait=True)

    thread.join(PATIENCE_SECONDS)
    assert [result.status for result in results] == [ExitStatus.INTERRUPTED]


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

    (result,) = measurement.measure_all([host.run], str(host.folder / "no ssh"), str(host.wheels), ())

    assert result.status is ExitStatus.PROBE_FAILED
    assert result.problem.endswith("no ssh: No such file or directory")
