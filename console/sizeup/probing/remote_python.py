"""Start a program on another host over the system's OpenSSH: ``--target``, and probes that need a peer there."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from subprocess import PIPE

from sizeup.child_process import environment
from sizeup.errors import RefusedError

SSH_FAILED, NO_PYTHON = 255, 69
"""Exit statuses: ssh could not log in, or lost the connection; no Python there is new enough."""
_OPTIONS = (
    "-T",
    # A question for a password would stop one host among several, and hide the others' lines.
    "-oBatchMode=yes",
    # A host that has gone is noticed within 45 s; the run there is canceled by the end of its standard input.
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=3",
)
_COMMAND = (
    "sh -c 'for p in python3 python3.14 python3.13 python3.12 python3.11 /usr/libexec/platform-python; do "
    'if "$p" -c "import sys; sys.exit(sys.version_info < {minimum})" 2>/dev/null; then '
    'exec "$p" -I -c "import sys; exec(sys.stdin.buffer.read({length}))"; fi; done; '
    "python3 -V 2>&1; exit {status}'"
)
"""For any login shell: no exclamation mark, no line break, single quotes outside."""
_SHELL = 'sh -c \'eval "$(while IFS= read -r line; do case $line in (.) break;; esac; printf "%s\\n" "$line"; done)"\''
"""Likewise: runs the shell program with which standard input begins, up to a line with a point."""


def host_name(target: str) -> str:
    """Return the host's name in ``[USER@]HOST``; empty where ssh would take it for something else."""
    host = target.removeprefix("ssh://").rpartition("@")[2]
    if target.startswith("ssh://"):
        host = host.partition(":")[0]
    return "" if target.startswith("-") or not target.isprintable() or " " in target else host


def find_ssh(need: str) -> str:
    """Return the path of the ssh client; raises ``RefusedError`` without one, ``need`` being what needs it."""
    found = shutil.which("ssh")
    if found is None:
        raise RefusedError(f"{need} needs the OpenSSH client, and there is no ssh in PATH; install openssh-client")
    return found


def python_command(ssh: str, target: str, program: bytes, minimum: tuple[int, int]) -> tuple[str, ...]:
    """Return the command that runs, on the host, the program with which its standard input begins."""
    command = _COMMAND.format(minimum=minimum, length=len(program), status=NO_PYTHON)
    return (ssh, *_OPTIONS, "--", target, command)


def shell_command(ssh: str, target: str) -> tuple[str, ...]:
    """Return the command that runs, on the host, the shell program with which its standard input begins."""
    return (ssh, *_OPTIONS, "--", target, _SHELL)


def start_python(target: str, program: bytes, minimum: tuple[int, int]) -> subprocess.Popen[bytes]:
    """Start a program on another host and send it; what it needs to know follows on its standard input."""
    command = python_command(find_ssh("measuring another host"), target, program, minimum)
    process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment(), bufsize=0)
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # its exit status and its errors say why
        process.stdin.write(program)
    return process
