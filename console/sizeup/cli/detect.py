"""What the machine is: processors, caches, memory by node, disks, networks, findings."""

from __future__ import annotations

import argparse
import sys

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--sysroot", metavar="DIR", default="/", help="a recording, a directory or an archive, instead of this machine"
    )
    parser.add_argument("--json", action="store_true", help="everything, as one JSON document (sizeup.detect/1)")


def run(arguments: argparse.Namespace) -> int:
    """Discover and print."""
    from sizeup.discovery.machine import discover

    machine = discover(arguments.sysroot)
    if arguments.json:
        import msgspec

        from sizeup.views.machine import detection

        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(detection(machine)), indent=2) + b"\n")
    else:
        from sizeup.report.machine import machine_text

        sys.stdout.write(machine_text(machine))
    return ExitStatus.OK
