"""Show what the machine is: processors, caches, memory by NUMA node, disks, networks and findings.

FILE and OTHER are a capture, a session file, or the output of sizeup detect --json.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping

from sizeup import __version__
from sizeup.cli.arguments import (
    ALSO_MASK,
    allow_undecided,
    also_masked,
    arg,
    decision_status,
    refuse_combination,
    switch,
    sysroot,
)
from sizeup.cli.results import list_masked, write_json, write_text
from sizeup.errors import ExitStatus, UsageError
from sizeup.input_file import opened, read
from sizeup.model.machine import Machine
from sizeup.terminal.capabilities import output_columns

_DOCUMENT_LIMIT = 256 << 20
"""Bytes of a detect document; that of a machine with 4,000 block devices takes a few MiB."""


def _interval(text: str) -> float:
    from sizeup.units import parse_seconds

    seconds = parse_seconds(text)
    if not 0.1 <= seconds <= 86_400:
        raise UsageError(f"--watch: expected an interval from 100ms to 24h, found {text!r}")
    return seconds


ARGUMENTS = (
    arg(
        "section", nargs="?", metavar="SECTION",
        help="print one section alone: cpu, storage, numa, network, nfs, devices, platform, budget or findings",
    ),
    sysroot("read a capture (a directory or an archive) instead of this machine", "--machine"),
    switch("--json", help="print everything as one JSON document (sizeup.detect/1)"),
    arg("--against", metavar="OTHER", help="list the differences from OTHER; exit status 5 if there are any"),
    arg("--since", metavar="FILE", help="show memory and huge pages by NUMA node, then and now"),
    arg(
        "--watch", nargs="?", type=_interval, const=2.0, metavar="SECONDS",
        help="print the memory growth by NUMA node at this interval, such as 500ms or 1m (default: 2 s)",
    ),
)  # fmt: skip


def load_machine(path: str) -> Machine:
    """Return the machine of a capture, of a session (also by its name in the store), or of a ``--json`` document."""
    from sizeup.discovery.machine import discover
    from sizeup.session.store import find

    path = find(path)
    if os.path.isdir(path):
        return discover(path)
    with opened(path, "a capture, a session or a document of sizeup detect --json") as file:
        start = file.read(64)
    if not start.lstrip().startswith(b"{"):
        return discover(path)
    if b'"schema"' in start:
        import msgspec

        from sizeup.views.machine.detection import SCHEMA, detected

        content = read(path, f"a {SCHEMA} document", _DOCUMENT_LIMIT)
        try:
            schema, machine = detected(content)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise UsageError(
                f"{path}: expected a {SCHEMA} document, found {error}; write one with: sizeup detect --json"
            ) from error
        if schema != SCHEMA:
            raise UsageError(
                f"{path}: expected the schema {SCHEMA}, found {schema}; write one with: sizeup detect --json"
            )
        return machine
    from sizeup.session.reader import read_session

    recorded = read_session(path, samples=False).machine
    if recorded is None:
        raise UsageError(
            f"{path}: this session contains no machine, because the run ended before discovery finished; choose another"
        )
    return recorded


def watch(look: Callable[[], Machine], write: Callable[[str], object], pause: Callable[[], object]) -> None:
    """Print the growth since the start at each interval, until interrupted."""
    from sizeup.report.machine import growth_text

    first = look()
    while True:
        pause()
        write(growth_text(first, look(), output_columns()) + "\n")


def run(arguments: argparse.Namespace) -> int:
    """Discover and print."""
    from sizeup.discovery.machine import discover, discover_memory

    refuse_combination(arguments, "--watch", ("--since", "--against", "--json"))
    refuse_combination(arguments, "--since", ("--against",))
    if arguments.section is not None:
        from sizeup.text import nearest
        from sizeup.views.machine.machine import PARTS

        if arguments.section not in PARTS:
            raise UsageError(
                f"detect: expected a section ({', '.join(PARTS)}), found {arguments.section!r}"
                f"{nearest(arguments.section, PARTS)}"
            )
        refuse_combination(arguments, "SECTION", ("--json", "--against", "--since", "--watch"))
    if arguments.watch is not None:

        def write(text: str) -> None:
            write_text(text)
            sys.stdout.flush()

        watch(lambda: discover_memory(arguments.sysroot), write, lambda: time.sleep(arguments.watch))
    if arguments.since is not None:
        return _since(arguments.since, arguments.sysroot, as_json=arguments.json)
    machine = discover(arguments.sysroot)
    if arguments.sysroot == "/":
        from sizeup.live.cpu_name import with_cpu_name

        machine = with_cpu_name(machine)
    if arguments.against is not None:
        return _diff(machine, load_machine(arguments.against), as_json=arguments.json)
    if arguments.json:
        from sizeup.views.machine.detection import detection

        write_json(detection(machine))
    else:
        from sizeup.report.machine import machine_text

        write_text(machine_text(machine, output_columns(), arguments.section))
    return ExitStatus.OK


def _since(path: str, sysroot: str, *, as_json: bool) -> int:
    from sizeup.discovery.findings.memory import growth_by_node, growth_findings
    from sizeup.discovery.machine import discover_memory

    before, after = load_machine(path), discover_memory(sysroot)
    if not {node.os_id for node in before.nodes} & {node.os_id for node in after.nodes}:
        raise UsageError(
            f"{path}: expected an earlier capture or session of this machine, found no NUMA node in common"
        )
    if as_json:
        growth = [{"node": node, "growth_bytes": size} for node, size in growth_by_node(before, after)]
        findings = growth_findings(before, after)
        write_json(
            {"schema": "sizeup.growth/1", "growth": growth, "before": before.nodes, "after": after.nodes,
             "findings": findings}
        )  # fmt: skip
    else:
        from sizeup.report.machine import growth_text

        write_text(growth_text(before, after, output_columns()))
    return ExitStatus.OK


def _diff(machine: Machine, other: Machine, *, as_json: bool) -> int:
    from sizeup.views.machine.difference import compared, parts_data

    comparison = compared(machine, other)
    if as_json:
        changed, parts = comparison.root.changed, parts_data(comparison)
        write_json({"schema": "sizeup.machine-diff/1", "differences": changed, "parts": parts})
    else:
        from sizeup.report.machine import differences_text

        write_text(differences_text(comparison, output_columns()))
    return ExitStatus.DIFFERENT if comparison.parts else ExitStatus.OK


def _announce(masked: Mapping[str, str], lacking: tuple[str, ...]) -> None:
    notes = [f"Not masked, as it is not in the capture: {name}" for name in lacking]
    stays = "Names of volumes, interfaces and directories stay; mask them with --also-mask NAME"
    list_masked(masked.items(), "In the capture", *notes, stays)


class Capture:
    """Save a capture of this machine: the files that describe it, to be read elsewhere: sizeup detect --sysroot FILE.

    Serial numbers, hardware and network addresses, WWNs, host names and NFS export names are replaced by
    pseudonyms, the same ones throughout the file; --no-mask keeps them.
    """

    ARGUMENTS = (
        arg("file", metavar="FILE", help="file to write; .tar.gz and .tar.xz are compressed"),
        sysroot("capture another root directory instead of this machine"),
        switch("--no-mask", help="keep serial numbers, addresses and names"),
        ALSO_MASK,
        switch("--force", help="overwrite an existing file"),
    )

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Discover, mask, write."""
        from sizeup.discovery.anonymizer import new_salt
        from sizeup.discovery.capture import capture

        if os.path.isfile(arguments.file) and not arguments.force:  # before the work, and checked again after it
            raise UsageError(f"{arguments.file}: already exists; choose another name, or add --force to overwrite it")
        refuse_combination(arguments, "--no-mask", ("--also-mask",))
        salt, also, tool = None if arguments.no_mask else new_salt(), also_masked(arguments), f"sizeup {__version__}"
        _, count = capture(
            arguments.sysroot, arguments.file, tool=tool, salt=salt, replace=arguments.force, also_masked=also,
            announce=_announce,
        )  # fmt: skip
        masked = "kept" if arguments.no_mask else "replaced by pseudonyms"
        size = (
            f" {os.path.getsize(arguments.file)} bytes," if os.path.isfile(arguments.file) else ""
        )  # no size of a pipe
        print(f"{arguments.file}: {count} files,{size} serial numbers, addresses and names {masked}", file=sys.stderr)
        if size:
            print(f"Read it with: sizeup detect --sysroot {arguments.file}", file=sys.stderr)
        return ExitStatus.OK


class DriftCheck:
    """List what drifted on this machine since a baseline: settings, disks, memory modules, firmware, kernel, parts.

    BASELINE is a session file or the output of sizeup detect --json. Serial numbers and host names are not compared.
    """

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

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Compare and print."""
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
