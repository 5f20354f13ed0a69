"""List what drifted on this machine since a baseline: settings, disks, memory modules, firmware, kernel, parts.

BASELINE is a session file or the output of sizeup detect --json. Serial numbers and host names are not compared.
"""

from __future__ import annotations

import argparse
import os
import sys

from sizeup.cli.decision import add_allow_undecided, decision_status
from sizeup.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "baseline", metavar="BASELINE", nargs="?",
        help="session file, capture, or output of sizeup detect --json to compare with; exit status 5 if anything "
        "drifted, 6 if nothing did but a fact is unknown on one side",
    )  # fmt: skip
    parser.add_argument("--against", help=argparse.SUPPRESS)  # as version 0.2 had it
    parser.add_argument(
        "--sysroot", metavar="DIR", default="/",
        help="check a capture (a directory or an archive) instead of this machine",
    )  # fmt: skip
    add_allow_undecided(parser, "a fact is unknown on one side")
    parser.add_argument("--json", action="store_true", help="print as JSON (sizeup.check/1)")


def run(arguments: argparse.Namespace) -> int:
    """Compare and print."""
    from sizeup.cli.detect import load_machine
    from sizeup.compare.drift import drift
    from sizeup.discovery.machine import discover
    from sizeup.views.comparison.drift import drift_data, undecided_sentence

    name = arguments.baseline or arguments.against
    if name is None:
        raise UsageError("expected a baseline: a session, a capture, or the output of sizeup detect --json")
    baseline = load_machine(name)
    found = drift(baseline, discover(arguments.sysroot))
    if arguments.json:
        import msgspec

        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(drift_data(found)), indent=2) + b"\n")
    else:
        from sizeup.report.machine import drift_text
        from sizeup.terminal.capabilities import is_utf8
        from sizeup.text import plain

        text = drift_text(found)
        sys.stdout.write(text if is_utf8(os.environ) else plain(text))
    undecided = undecided_sentence(found) if found.undecided else ""
    return decision_status(arguments, different=bool(found.drifted), undecided=undecided)
