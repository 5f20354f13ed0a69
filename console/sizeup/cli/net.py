"""Measure the network path to another host: round trips, throughput, CPU cost, retransmits and packet sizes.

ssh starts a program on HOST, which ends with the run, and must not ask for a password. The plan quick sends small
messages alone; the others load the network, for seconds.
"""

from __future__ import annotations

import argparse
import sys

from sizeup.cli import start
from sizeup.cli.arguments import NEW_SESSION, PLAN, QUIET, arg, one_of, switch
from sizeup.errors import RefusedError

ARGUMENTS = (
    arg("host", metavar="HOST", help="the other host, as [USER@]HOST for ssh"),
    *PLAN[::2],  # all but the probe
    one_of(NEW_SESSION, arg("--append", metavar="FILE", help="add the results to this session")),
    switch("--json", help="print the results as JSON in base units instead of a summary"),
    QUIET,
)


def run(arguments: argparse.Namespace) -> int:
    """Run the probes that measure another host, as ``sizeup run -p`` does."""
    from sizeup.cli.parser import build_parser
    from sizeup.probing.registry import load_registry

    found = [probe for probe in load_registry().probes.values() if probe.manifest.peer_setting]
    if not found:
        raise RefusedError("no installed probe measures another host; reinstall the package")
    if not arguments.quiet:
        print("\n".join(f"{probe.name} touches {probe.manifest.touches}" for probe in found), file=sys.stderr)
    whole = argparse.Namespace(**{**vars(build_parser("run").parse_args([])), **vars(arguments)})
    hosts = [f"{probe.name}.{probe.manifest.peer_setting}={arguments.host}" for probe in found]
    whole.probe, whole.assignments = [one.name for one in found], [*hosts, *(arguments.assignments or ())]
    return start.run(whole)
