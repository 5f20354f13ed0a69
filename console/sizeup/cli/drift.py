"""List what drifted on this machine since a baseline: settings, disks, memory modules, firmware, kernel, parts.

BASELINE is a session file or the output of sizeup detect --json. Serial numbers and host names are not compared.
"""

from __future__ import annotations

import argparse

from sizeup.cli.arguments import allow_undecided, arg, decision_status, switch, sysroot
from sizeup.cli.results import write_json, write_text

ARGUMENTS = (
    arg(
        "baseline", metavar="BASELINE",
        help="session file, capture, or output of sizeup detect --json to compare with; exit status 5 if anything "
        "drifted, 6 if nothing did but a fact is unknown on one side",
    ),
    sysroot("check a capture (a directory or an archive) instead of this machine"),
    allow_undecided("a fact is unknown on one side"),
    switch("--json", help="print as JSON (sizeup.check/1)"),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Compare and print."""
    from sizeup.cli.detect import load_machine
    from sizeup.compare.drift import drift
    from sizeup.discovery.machine import discover
    from sizeup.views.comparison.drift import drift_data, undecided_sentence

    found = drift(load_machine(arguments.baseline), discover(arguments.sysroot))
    if arguments.json:
        write_json(drift_data(found))
    else:
        from sizeup.report.machine import drift_text

        write_text(drift_text(found))
    undecided = undecided_sentence(found) if found.undecided else ""
    return decision_status(arguments, different=bool(found.drifted), undecided=undecided)
