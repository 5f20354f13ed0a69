"""Make a session from the output of other tools: fio (JSON, text), ORION files, SLOB's awr_info.txt, SLB, lscpu -J."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime

from sizeup.cli.arguments import NEW_SESSION, arg
from sizeup.errors import ExitStatus, UsageError

ARGUMENTS = (
    arg("files", metavar="FILE", nargs="+", help="output of one or more tools on one machine"),
    NEW_SESSION,
    arg("--host", metavar="NAME", help="name of the host that was measured"),
    arg(
        "--kind", choices=("fio", "fio-text", "lscpu", "orion", "orion-matrix", "slb", "slob"),
        help="format of the files (default: detected for each)",
    ),
    arg(
        "--groups", metavar="N,N,...",
        help="for SLB: number of processes started together, in the order of the lines, such as 1,2,4",
    ),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Read all files, then write the session."""
    from pathlib import PurePath

    from sizeup.importers.imported import session_records
    from sizeup.importers.kinds import read_foreign
    from sizeup.session.store import new_path
    from sizeup.session.writer import Writer

    groups = _groups(arguments.groups)
    parts = [(PurePath(path).name, read_foreign(path, arguments.kind, groups)) for path in arguments.files]
    now = datetime.now(UTC)
    out = arguments.output or str(new_path(arguments.host or "imported", now))
    with Writer.create(out) as writer:
        writer.write(*session_records(parts, host=arguments.host, now=now))
        writer.sync()
    for name, part in parts:
        steps = sum(len(step.estimates) for step in part.steps)
        what = "the machine" if part.machine is not None else f"{steps} figures"
        print(f"{name}: {part.tool}, {what}")
        for line in part.summary:
            print(f"  {line}")
    print(f"Session saved in {out}")
    return ExitStatus.OK


def _groups(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    if not re.fullmatch(r"[1-9]\d{0,3}(,[1-9]\d{0,3})*", text, re.ASCII):
        raise UsageError(f"--groups: expected numbers of processes separated by commas, such as 1,2,4, found {text!r}")
    return tuple(int(count) for count in text.split(","))
