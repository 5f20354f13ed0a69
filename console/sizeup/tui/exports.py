"""Reports that the console writes, each in a process of its own: a large session must not hold the screen."""

from __future__ import annotations

import asyncio
import os
import re
from typing import IO

from sizeup import files
from sizeup.child_process import environment, sizeup_command
from sizeup.procfs.process import descriptor_path
from sizeup.report import output
from sizeup.session.store import session_name
from sizeup.session.value import Session

KINDS = {
    "page": (".shared.html", "Web page for sharing, names and addresses masked (HTML)"),
    "html": (".html", "Web page with all names (HTML)"),
    "share": (".shared.sizeup.jsonl.gz", "Session for sharing, names and addresses masked"),
    "markdown": (".md", "Text with tables (Markdown)"),
    "csv": (".csv", "All samples, one row each (CSV)"),
}
"""What can be written: how its file ends, and the words that it is offered by."""
COMPARED_KINDS = {
    "compared-html": (".compared.html", "The comparison, then this session, with all names (HTML)"),
    "compared-markdown": (".compared.md", "The comparison, then this session, with all names (Markdown)"),
    "compared-json": (".compared.json", "The comparison as data, with all names (JSON)"),
}
"""What can be written while two sessions are compared, before what can be written of one."""
MASKED = ("page", "share")

_STAMP = re.compile(r"\d{8}T\d{6}Z(-\d+)?$")
"""The time at the end of the name of a session, by which its masked report is found."""
_PRIVATE = 0o077
"""File mode mask: what is exported is as private as the session."""
_OURS = "sizeup: "
"""What a line begins with that is an error or a warning."""


def full_folder(text: str) -> str:
    """Return a folder as it was entered with its full path; as it is where the current folder has gone."""
    folder = os.path.expanduser(text.strip())
    try:
        return os.path.abspath(folder)
    except OSError:
        return folder


def folder_problem(text: str) -> str:
    """Return why nothing can be written into a folder that was entered; empty where it can be."""
    if not text.strip():
        return "Enter a folder."
    folder = full_folder(text)
    if os.path.isdir(folder):
        writable = os.access(folder, os.W_OK | os.X_OK)
        return "" if writable else f"{folder}: you may not write there. Enter another folder."
    if os.path.lexists(folder):
        return f"{folder} is a file that exists, and is left as it is. Enter a folder."
    return f"{folder}: no such folder. Create it first, or enter another."


def target(folder: str, kind: str, path: str, session: Session) -> str:
    """Where to write it: a name that no file has yet, and a masked one bears the time of the session, not the host."""
    stamp = _STAMP.search(session_name(path))
    masked = f"sizeup-{stamp[0] if stamp else re.sub('[^0-9TZ]', '', session.header.started)}"
    ending, _ = (KINDS | COMPARED_KINDS)[kind]
    return files.free_path(folder, masked if kind in MASKED else session_name(path), ending)


async def write_export(path: str, kind: str, target: str, baseline: str = "") -> tuple[bool, str]:
    """Write it, a comparison with the ``baseline``; whether it failed, and what there is to say of it."""
    try:
        failed, words = await _write(path, kind, target, baseline)
    except OSError as error:  # no process, or no memory
        return True, f"{target}: cannot write: {error.strerror}"
    if failed:
        return True, words
    # A name that stands in a note alone is found by nobody else.
    return False, f"Wrote {target}{'; read it before you send it' if kind in MASKED else ''}{words}"


async def _write(path: str, kind: str, target: str, baseline: str) -> tuple[bool, str]:
    """Write it; whether it failed, and its errors or warnings. What lies between two processes is in memory."""
    if kind == "compared-json":
        return await _write_comparison(path, target, baseline)
    if kind.startswith("compared-"):
        kind = kind.removeprefix("compared-")
        return await _run_export(path, "--format", kind, "-o", target, "--against", baseline)
    if kind != "page":
        return await _run_export(path, "--format", kind, "-o", target)
    with open(os.memfd_create("shared"), "w+b") as shared:  # noqa: ASYNC230  in memory, nothing waits
        failed, message = await _run_export(path, "--format", "share", stdout=shared)
        if not failed:
            failed, more = await _run_export(descriptor_path(0), "--format", "html", "-o", target, stdin=shared)
            message = more if failed else message + more
    return failed, message


async def _write_comparison(path: str, target: str, baseline: str) -> tuple[bool, str]:
    with open(os.memfd_create("comparison"), "w+b") as compared:  # noqa: ASYNC230  in memory, nothing waits
        failed, message = await _run_export(
            path, "--against", baseline, "--json", command="session compare", stdout=compared
        )
        if not failed:
            compared.seek(0)
            content = compared.read()
            await asyncio.to_thread(files.write, target, lambda file: file.write(content), mode=0o600)
    return failed, message


async def _run_export(
    *arguments: str,
    command: str = "session export",
    stdin: int | IO[bytes] = asyncio.subprocess.DEVNULL,
    stdout: int | IO[bytes] = asyncio.subprocess.DEVNULL,
) -> tuple[bool, str]:
    """Whether it failed and why; where it did not, its warnings."""
    process = await asyncio.create_subprocess_exec(
        *sizeup_command(*command.split(), *arguments),
        env=environment(),
        stdin=stdin,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
        umask=_PRIVATE,
    )
    lines = (await process.communicate())[1].decode(errors="replace").splitlines()
    messages = [line.removeprefix(_OURS).removesuffix(output.ADVICE) for line in lines if line.startswith(_OURS)]
    if process.returncode:
        return True, "; ".join(messages) or f"{command} ended with status {process.returncode}"
    return False, "".join(f"; {message}" for message in messages)
