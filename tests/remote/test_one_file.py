"""The one file that is sent to a host without Python: what it needs there, and what is no such file."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from remote.ssh_stand_in import make_one_file, make_ssh
from remote.target_host import TargetHost, host, until
from sizeup.child_process import environment, sizeup_command
from sizeup.errors import ExitStatus, UsageError
from sizeup.remote.one_file import OneFile

__all__ = ["host"]


def program(folder: Path, name: str, script: str) -> None:
    """Put another program on the host, after ``make_ssh``."""
    path = folder / "bin/programs" / name
    path.unlink()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.ci
def test_the_host_needs_no_python(host: TargetHost) -> None:
    make_one_file(host.wheels)
    ssh = make_ssh(host.folder / "bin", before="unset TMPDIR; HOME=/nonexistent; export HOME")
    (host.folder / "bin/programs/python3").unlink()

    result = host.measure(ssh)

    assert (result.status, result.problem) == (ExitStatus.OK, "")
    assert not Path(host.traced()[0]).exists()


def test_a_host_of_another_machine_type_is_sent_nothing(host: TargetHost) -> None:
    make_one_file(host.wheels)
    ssh = make_ssh(host.folder / "bin")
    program(host.folder, "uname", "echo riscv64")

    result = host.measure(ssh)

    assert result.status is ExitStatus.REFUSED
    assert result.problem.startswith(f"is riscv64, and {host.wheels}/sizeup-one runs on {os.uname().machine}; name ")
    assert not any(text.startswith("sending") for text in host.shown)
    assert host.left == []


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("df", "echo Filesystem; echo /dev/vda 100 100 99000 100% /"),
        ("mktemp", "exit 1"),
        ("chmod", "exit 0"),  # nothing can be executed, as on noexec
    ],
)
def test_a_host_without_a_directory_for_it_says_where_it_looked(name: str, script: str, host: TargetHost) -> None:
    make_one_file(host.wheels)
    ssh = make_ssh(host.folder / "bin")
    program(host.folder, name, script)

    result = host.measure(ssh)

    assert result.status is ExitStatus.REFUSED
    assert result.problem.startswith("no directory for temporary files is writable, has 128 MiB free and is mounted ")
    assert f"(tried {host.temporary} /tmp /var/tmp " in result.problem
    assert host.left == []


def test_a_file_system_that_fills_up_is_named_and_nothing_stays(host: TargetHost) -> None:
    make_one_file(host.wheels)
    ssh = make_ssh(host.folder / "bin")
    program(host.folder, "head", "echo head: No space left on device >&2; exit 1")

    result = host.measure(ssh)

    assert (result.status, result.path) == (ExitStatus.PROBE_FAILED, "")
    assert "No space left on device" in result.problem
    assert host.left == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_stays_if_the_host_loses_the_connection_while_it_takes_the_file(
    number: signal.Signals, host: TargetHost
) -> None:
    make_one_file(host.wheels, size=1 << 20)
    ssh = make_ssh(host.folder / "bin")
    program(host.folder, "head", f"read -r line; kill -{number.value} $PPID; cat > {os.devnull}")

    result = host.measure(ssh)

    assert result.status is ExitStatus.PROBE_FAILED
    until(lambda: host.left == [])


def test_a_run_that_does_not_end_when_it_is_told_is_killed(host: TargetHost) -> None:
    ignoring = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getppid(), 9); time.sleep(600)"
    make_one_file(host.wheels, behavior=ignoring)
    ssh = make_ssh(host.folder / "bin")
    program(host.folder, "sleep", "exit 0")

    result = host.measure(ssh)

    assert result.status is not ExitStatus.OK
    until(lambda: host.left == [])


@pytest.mark.parametrize("content", [b"#!/bin/sh\n", b"\x7fELF".ljust(18, b"\0") + b"\x3e\0" + bytes(99), b""])
def test_another_file_is_refused_with_the_page_that_helps(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(content)

    with pytest.raises(
        UsageError, match="expected the executable that holds all of sizeup; how to get it: sizeup help one-file"
    ):
        OneFile(str(tmp_path / "other"))
    with pytest.raises(UsageError, match="No such file"):
        OneFile(str(tmp_path / "absent"))


@pytest.mark.ci
@pytest.mark.parametrize("named", [True, False], ids=["by the option", "as it was started from it"])
def test_the_command_sends_the_file_that_is_named_or_its_own(named: bool, host: TargetHost) -> None:
    path = str(make_one_file(host.wheels))
    ssh = make_ssh(host.folder / "bin")
    variables = {"PATH": os.pathsep.join([os.path.dirname(ssh), os.environ["PATH"]])}
    variables |= {} if named else {"SIZEUP_ONE_FILE": path}
    option = ["--one-file", path] if named else []
    command = sizeup_command("run", "--target", "a", *option, "-o", str(host.sessions))

    done = subprocess.run(command, env=environment(variables), capture_output=True, text=True, check=False)

    assert done.stdout.startswith("1 of 1 host measured\n"), done.stderr
    assert len(list(host.sessions.iterdir())) == 1
