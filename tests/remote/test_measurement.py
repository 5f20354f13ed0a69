"""Other hosts are measured over ssh, and nothing stays there, whatever dies."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import pytest

from remote.ssh_stand_in import WAIT, make_one_file, make_ssh, make_wheel, session_lines
from remote.target_host import PATIENCE_SECONDS, TargetHost, host, until
from sizeup.child_process import environment, sizeup_command
from sizeup.errors import ExitStatus, UsageError
from sizeup.remote.measurement import HostMeasurement, host_of, measure_all
from sizeup.session.reader import read_session

__all__ = ["host"]
Make = Callable[..., Path]


both = pytest.mark.parametrize("make", [make_wheel, make_one_file])
"""What is sent: wheels for the Python of the host, or the one file to a host without Python."""


@both
def test_a_session_arrives_and_nothing_stays(make: Make, host: TargetHost) -> None:
    make(host.wheels)

    result = host.measure(make_ssh(host.folder / "bin"), "--plan", "quick", "--set", "a.b=it's; rm")

    assert (result.status, result.problem) == (ExitStatus.OK, "")
    assert Path(result.path).read_bytes() == session_lines()
    assert Path(result.path).name.startswith("db01-")
    assert Path(result.path).stat().st_mode & 0o077 == 0
    private, arguments = host.traced()
    assert Path(private).parent == host.temporary
    assert arguments == str(["--batch", "--quiet", "--control", "-o", "-", "--plan", "quick", "--set", "a.b=it's; rm"])
    assert host.left == []


@both
def test_what_a_login_shell_prints_first_is_no_part_of_the_session(make: Make, host: TargetHost) -> None:
    make(host.wheels)

    result = host.measure(make_ssh(host.folder / "bin", before="echo Welcome; echo to db01"))

    assert Path(result.path).read_bytes() == session_lines()


@both
def test_the_exit_status_of_the_run_and_its_message_are_those_of_the_host(make: Make, host: TargetHost) -> None:
    make(host.wheels, behavior="print('sizeup: the start time has passed', file=sys.stderr)", status=4, content=b"")

    result = host.measure(make_ssh(host.folder / "bin"))

    assert (result.status, result.problem, result.path) == (ExitStatus.LATE, "the start time has passed", "")


@pytest.mark.parametrize(
    ("python", "found"), [("#!/bin/sh\n[ $1 = -V ] && echo Python 3.9.2; exit 1\n", "Python 3.9.2"), ("no program", "")]
)
def test_a_host_without_a_new_enough_python_says_which_it_has(python: str, found: str, host: TargetHost) -> None:
    make_wheel(host.wheels)

    result = host.measure(make_ssh(host.folder / "bin", python=python))

    assert result.status is ExitStatus.REFUSED
    assert result.problem.startswith("needs Python 3.11 or newer, found ")
    assert found in result.problem
    assert host.left == []


def test_a_host_that_no_wheel_fits_is_told_apart(host: TargetHost) -> None:
    host.wheels.mkdir()
    (host.wheels / "sizeup-9.0-cp311-abi3-manylinux_2_28_riscv128.whl").touch()

    result = host.measure(make_ssh(host.folder / "bin"))

    assert result.status is ExitStatus.REFUSED
    assert f"no wheel of sizeup fits Python 3.{sys.version_info[1]}, {os.uname().machine}" in result.problem
    assert host.left == []


def test_a_connection_that_cannot_be_made_is_reported_in_the_words_of_ssh(host: TargetHost) -> None:
    make_wheel(host.wheels)
    ssh = make_ssh(
        host.folder / "bin", before="echo 'ssh: connect to host db01 port 22: No route to host' >&2; exit 255"
    )

    result = host.measure(ssh)

    assert result.problem == "no connection: ssh: connect to host db01 port 22: No route to host"


@both
def test_canceling_lets_the_host_end_its_session(make: Make, host: TargetHost) -> None:
    make(host.wheels, behavior=WAIT, status=130)

    result = host.measure_and_cancel(make_ssh(host.folder / "bin"), host.traced)

    assert (result.status, result.problem) == (ExitStatus.INTERRUPTED, "canceled")
    assert read_session(result.path).end is not None
    assert host.traced()[-1] == "input ended"
    assert host.left == []


def test_an_interrupt_waits_for_the_hosts_and_ends_with_the_summary(host: TargetHost) -> None:
    """The sessions end and the hosts are clean before the table is printed."""
    make_wheel(host.wheels, behavior=WAIT, status=130)
    ssh = make_ssh(host.folder / "bin")
    command = sizeup_command("--target", "a", "--wheels", str(host.wheels), "-o", str(host.sessions))
    path = os.pathsep.join([os.path.dirname(ssh), os.environ["PATH"]])

    with subprocess.Popen(command, env=environment({"PATH": path}), stdout=PIPE, stderr=PIPE, text=True) as process:
        until(lambda: len(host.traced()) == 2)
        process.send_signal(signal.SIGINT)
        shown, errors = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == ExitStatus.INTERRUPTED, errors
    assert shown.startswith("0 of 1 host measured\n")
    assert host.traced()[2:] == ["input ended"]
    assert host.left == []


@both
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_stays_if_the_program_on_the_host_is_ended(
    number: signal.Signals, make: Make, host: TargetHost
) -> None:
    make(host.wheels, behavior="time.sleep(600)", content=session_lines(whole=False))

    def end() -> None:
        until(lambda: len(host.traced()) == 2)
        process = host.run._process
        assert process is not None
        os.kill(process.pid, number)  # the stand-in became the program

    ender = threading.Thread(target=end)
    ender.start()
    result = host.measure(make_ssh(host.folder / "bin"))

    ender.join()
    assert result.status is not ExitStatus.OK
    assert Path(result.path).read_bytes() == session_lines(whole=False)
    until(lambda: host.left == [])


def test_a_run_that_ignores_the_request_to_end_is_killed(host: TargetHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real limit is too long for a test: the program gets a shorter one."""
    from sizeup.remote import host_program

    ignoring = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", ignoring], stdout=subprocess.PIPE, process_group=0) as process:
        assert process.stdout is not None
        process.stdout.readline()
        monkeypatch.setattr(host_program, "CANCEL_SECONDS", 0.1)

        host_program.end_group(process.pid)

        assert process.wait() == -signal.SIGKILL


def test_several_hosts_are_measured_at_the_same_time(host: TargetHost) -> None:
    """Each waits for the other: one after the other, neither would end."""
    meet = "while len(open(os.environ['TRACE']).readlines()) < 4: time.sleep(0.01)"
    make_wheel(host.wheels, behavior=meet)
    ssh = make_ssh(host.folder / "bin")
    runs = [HostMeasurement(name, str(host.sessions), host.shown.append) for name in ("a", "b")]

    results = measure_all(runs, ssh, host.sent, ())

    assert [(result.target, result.status) for result in results] == [("a", ExitStatus.OK), ("b", ExitStatus.OK)]
    assert len(list(host.sessions.iterdir())) == 2


@pytest.mark.parametrize("target", ["", "-oProxyCommand=sh", "a b", "root@", "db01\x1b]0;title\x07", "db01\u202e"])
def test_what_is_no_host_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        host_of(target)


def test_a_user_and_a_port_are_no_part_of_the_name() -> None:
    assert [host_of(name) for name in ("db01", "dba@db01", "ssh://dba@db01:2222")] == ["db01", "db01", "db01"]
