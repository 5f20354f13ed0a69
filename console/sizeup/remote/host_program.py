"""The program that ``sizeup run --target`` runs on the other host: unpack sizeup, measure, remove everything.

It is sent over the connection and executed there, before sizeup is, so it uses Python's standard library alone.

Standard input brings this program, then one line of JSON, then a tar archive of wheels, and then nothing: it stays
open, and its end says that the connection is lost, which cancels the run (``--control``). Standard output carries one
line that starts with ``MARK`` and describes the host, and then the session as it is measured.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

MARK = "sizeup-target"
NEEDED_BYTES = 64 << 20
"""For the unpacked wheels (20 MB) and what Python compiles of them."""
CANCEL_SECONDS = 20.0
"""After SIGTERM a run saves its session and removes its files; then it is killed."""
_MAIN = "import sys; sys.path.insert(0, {site!r}); from sizeup.__main__ import main; sys.exit(main())"


def choose_folder() -> str:
    """Return a directory for temporary files that has space, and whose files may be loaded as libraries."""
    tried = []
    for folder in (os.environ.get("TMPDIR", ""), "/tmp", "/var/tmp", os.path.expanduser("~")):  # noqa: S108  made private
        if not folder or folder in tried or not os.access(folder, os.W_OK | os.X_OK):
            continue
        tried.append(folder)
        about = os.statvfs(folder)
        if not about.f_flag & os.ST_NOEXEC and about.f_bavail * about.f_frsize >= NEEDED_BYTES:
            return folder
    sys.exit(
        f"no directory for temporary files is writable, has {NEEDED_BYTES >> 20} MiB free and is mounted without "
        f"noexec (tried {', '.join(tried) or 'none'}); set TMPDIR on the host"
    )


def start_cleaner(private: str) -> tuple[int, int]:
    """Fork the process that removes ``private`` once this one has ended, even if it was killed.

    Returns its process id and a pipe: the process group that has to be ended first is written into it, and closing it
    starts the removal.
    """
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(reader)
        return process, writer
    os.close(writer)
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # held open they would keep the connection open
        os.dup2(nothing, descriptor)
    written = b""
    while chunk := os.read(reader, 64):
        written += chunk
    if written.strip():
        end_group(int(written))
    shutil.rmtree(private, ignore_errors=True)
    os._exit(0)


def end_group(group: int) -> None:
    """End a process group: SIGTERM, and SIGKILL to what is left of it after ``CANCEL_SECONDS``."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        deadline = time.monotonic() + CANCEL_SECONDS
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.05)
        os.killpg(group, signal.SIGKILL)


def run_sizeup(private: str, options: list[str], cleaner: int) -> int:
    """Run ``sizeup --batch`` from the unpacked wheels; the session goes to standard output."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _MAIN.format(site=os.path.join(private, "site")), "--batch", "--quiet",
         "--control", "-o", "-", *options],
        cwd=private,
        env={**os.environ, "TMPDIR": private},
        process_group=0,
    )  # fmt: skip
    os.write(cleaner, b"%d\n" % process.pid)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.terminate())
    return process.wait()


def main() -> int:
    """Describe the host, take the wheels, measure; returns the exit status of the run."""
    glibc = ""
    with contextlib.suppress(ValueError, OSError):
        glibc = (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ")
    about = {"python": list(sys.version_info[:2]), "machine": os.uname().machine, "glibc": glibc}
    sys.stdout.write(f"\n{MARK} {json.dumps(about)}\n")  # a login shell may leave its last line open
    sys.stdout.flush()
    line = sys.stdin.buffer.readline()
    if not line.strip():  # no wheels fit this host
        return 0
    request = json.loads(line)
    archive = sys.stdin.buffer.read(request["bytes"])
    if len(archive) < request["bytes"]:
        return 1  # the connection is lost
    private = tempfile.mkdtemp(prefix="sizeup-", dir=choose_folder())
    process, cleaner = start_cleaner(private)
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as wheels:
            for member in wheels:
                content = wheels.extractfile(member)
                assert content is not None
                zipfile.ZipFile(io.BytesIO(content.read())).extractall(os.path.join(private, "site"))  # noqa: S202  the caller's own
        return run_sizeup(private, request["options"], cleaner)
    finally:
        os.close(cleaner)
        os.waitpid(process, 0)


if __name__ == "__main__":
    sys.exit(main())
