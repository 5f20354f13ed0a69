"""Check what works on this machine and terminal: access rights, kernel limits, clock, files, and each probe.

Nothing is measured except the speed of the connection to this terminal.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from sizeup.cli.arguments import switch
from sizeup.config import KEYS, Configuration, load
from sizeup.errors import ExitStatus, MalformedError
from sizeup.model.machine import Machine
from sizeup.views.machine.doctor import StoreFacts, TerminalFacts, terminal_checks

ARGUMENTS = (
    switch("--keys", help="list every configuration key with its value and source"),
    switch("--json", help="print as JSON in base units, one object per check"),
)


def run(arguments: argparse.Namespace) -> int:
    """Run the checks and print them."""
    configuration = load(os.environ)
    if arguments.keys:
        if arguments.json:
            print(json.dumps(_keys_data(configuration), indent=1))
            return ExitStatus.OK
        for key in KEYS:
            value = configuration.switch(key.name) if isinstance(key.default, bool) else configuration.text(key.name)
            setting = configuration.settings.get(key.name)
            print(f"{key.name} = {json.dumps(value)}  ({setting.source if setting else 'default'})\n    {key.help}")
            print(f"    value: {key.expectation}; variable: {key.variable}; option: {key.option or 'none'}")
        return ExitStatus.OK
    from sizeup.discovery.machine import discover
    from sizeup.discovery.os_settings import read_limits
    from sizeup.discovery.sysroot import Sysroot
    from sizeup.procfs.stat import read_load_average, read_pressure
    from sizeup.session import store
    from sizeup.views.machine import doctor

    machine = discover("/")
    waits = {name: read_pressure(name) for name in ("cpu", "io", "memory")}
    pressure = {name: None if found is None else found.some_avg10_percent for name, found in waits.items()}
    checks = [
        *doctor.load_checks(read_load_average(), os.cpu_count() or 1, pressure),
        *terminal_checks(terminal_facts(os.environ)),
        *doctor.access_checks(machine, read_limits(Sysroot()), os.geteuid()),
        *doctor.machine_checks(machine),
        *doctor.store_checks(store_facts(store.directory())),
        *doctor.configuration_checks(
            configuration.path, found=configuration.found, unknown_variables=configuration.unknown_variables
        ),
        *doctor.probe_checks(_probe_reasons(machine)),
    ]
    if arguments.json:
        print(json.dumps(doctor.doctor_data(checks), indent=1))
    else:
        print("\n".join(doctor.doctor_lines(checks)))
    return ExitStatus.OK


def terminal_facts(environment: Mapping[str, str]) -> TerminalFacts:
    """Return the facts about the terminal; the console reads standard input and draws on standard error."""
    from sizeup.terminal.capabilities import colors, is_utf8, locale, needs_ascii

    present = os.isatty(0) and os.isatty(2)
    size = os.get_terminal_size(2) if present else os.terminal_size((0, 0))
    term = environment.get("TERM", "")
    signs = (("tmux", "TMUX"), ("screen", "STY"), ("SSH", "SSH_CONNECTION"), ("SSH", "SSH_TTY"))
    return TerminalFacts(
        present=present,
        term=term,
        columns=size.columns,
        rows=size.lines,
        colors=colors(environment),
        no_color=bool(environment.get("NO_COLOR")),
        locale=locale(environment),
        locale_utf8=is_utf8(environment),
        ascii_only=needs_ascii(environment),
        around=tuple(dict.fromkeys(name for name, variable in signs if environment.get(variable))),
    )


def store_facts(folder: Path) -> StoreFacts:
    """Return whether sessions can be saved in a directory, which need not exist; nothing is created."""
    # Path.exists raises if a parent directory is not searchable.
    existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    writable = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    try:
        status = os.statvfs(existing)
    except OSError:
        return StoreFacts(str(folder), writable, None)
    return StoreFacts(str(folder), writable, status.f_bavail * status.f_frsize)


def _probe_reasons(machine: Machine) -> dict[str, str | None]:
    """Return why each probe cannot run, from the manifests only: importing a plug-in may fail."""
    from sizeup.probing.planner import unmet
    from sizeup.probing.registry import load_registry
    from sizeup.probing.settings import missing, resolve

    registry = load_registry()
    reasons: dict[str, str | None] = {}
    for name, probe in registry.probes.items():
        reason = unmet(machine, probe.manifest)
        if reason is None:
            try:
                lacking = missing(probe.manifest, resolve(probe.manifest, None, {}))
            except MalformedError as error:
                reason = str(error)
            else:
                options = " ".join(f"--set {name}.{parameter.name}=..." for parameter in lacking)
                reason = f"needs parameters: sizeup --batch -p {name} {options}" if options else None
        reasons[name] = reason
    return reasons | {broken.name: broken.reason for broken in registry.broken}


def _keys_data(configuration: Configuration) -> dict[str, Any]:
    return {
        "schema": "sizeup.keys/1",
        "file": configuration.path,
        "keys": [
            {
                "name": key.name,
                "variable": key.variable,
                "option": key.option or None,
                "expected": key.expectation,
                "default": key.default,
                "help": key.help,
                "set": asdict(configuration.settings[key.name]) if key.name in configuration.settings else None,
            }
            for key in KEYS
        ],
    }
