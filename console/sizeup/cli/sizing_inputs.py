"""What is sized: the machine, the workload, the inputs and the rules, as options and as values."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, NamedTuple

from sizeup.cli.arguments import Argument, arg, refuse_without, switch
from sizeup.errors import UsageError
from sizeup.input_file import read_text
from sizeup.text import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sizeup.model.machine import Machine
    from sizeup.session.value import Session
    from sizeup.sizing.input_value import Value
    from sizeup.sizing.rules import Rules
    from sizeup.sizing.sheet import Inputs

_TEXT_LIMIT = 64 << 20
"""Bytes read of one file; a week of sar -d at one second is less."""
_SERVER_LIMIT = 1 << 20
"""Bytes read of a server written by hand."""
_PERCENTILE = 95.0
_MOST_CORES = 65536


def sizing_inputs(*, settings: str, workload: str) -> tuple[Argument, Argument]:
    """Return --set and --workload with their help; both may be repeated."""
    return (
        arg("--set", metavar="KEY=VALUE", action="extend", nargs="+", default=[], dest="assignments", help=settings),
        arg(
            "--workload", metavar="FILE", action="extend", nargs="+", default=[],
            help=f"{workload} AWR or Statspack reports (text, HTML), snapshots of databases, sar, iostat, vmstat, "
            "kSar's CSV, or TOML",
        ),
    )  # fmt: skip


SIZING = (
    *sizing_inputs(
        settings="set a figure, such as machine.ghz=2.66 (list the keys with sizeup size keys)",
        workload="take the workload from",
    ),
    arg("--percentile", type=float, help="percentile of the workload's intervals to size for (default: 95)"),
    arg("--devices", metavar="A,B", help="count only these disks of the workload files"),
    arg(
        "--workload-cores", type=int, metavar="N",
        help="physical cores of the servers that the workload files are of: the CPU demand by sar, iostat or vmstat",
    ),
    arg("--rules", metavar="FILE", help="overrides of rules (default: rules.toml in the configuration directory)"),
    switch("--rules-of-thumb", help="fill in what rules of thumb expect where no workload is given"),
)  # fmt: skip
"""Everything that is sized by, but the machine."""


class SizedSubject(NamedTuple):
    """One machine to size, or what is known of one."""

    name: str
    """In a word or two."""
    inputs: Inputs
    machine: Machine | None = None
    """None where its figures are typed or published."""
    session: Session | None = None


def sized_subject(given: str, settings: Mapping[str, Value], *, own_first: bool = False) -> SizedSubject:
    """Return what ``this``, ``none``, a published case, a capture, a session or a server in TOML stands for.

    The settings replace its figures; with ``own_first``, they do not replace what a server in TOML states.
    """
    from sizeup.sizing.inputs.presets import find_preset, shipped_presets

    if given == "none":
        return SizedSubject("the given machine", dict(settings))
    if given in shipped_presets():
        return SizedSubject(given, {**find_preset(given).values(), **settings})
    path = "/"
    if given != "this":
        from sizeup.session.store import find

        try:
            path = find(given)
        except UsageError:
            path = ""
        if not os.path.exists(path):
            raise UsageError(
                "expected a capture, a session, a server in TOML (.toml), a published case, this or none, found "
                f"nothing at {given}{nearest(given, shipped_presets())}; list cases with: sizeup size cases, sessions "
                "with: sizeup session list"
            )
    if path.endswith(".toml"):
        from sizeup.sizing.inputs.imported import parse_toml

        own = parse_toml(read_text(path, "a candidate", _SERVER_LIMIT), given, "candidate")
        return SizedSubject(given, {**settings, **own} if own_first else {**own, **settings})
    from sizeup.cli.console import is_capture
    from sizeup.discovery.machine import discover

    if is_capture(path):
        from sizeup.sizing.advise import described

        machine = discover(path)
        return SizedSubject("this machine" if path == "/" else given, described(machine, settings), machine)
    from sizeup.session.reader import read_session
    from sizeup.sizing.recorded_inputs import sized_inputs

    session = read_session(path)
    return SizedSubject(given, sized_inputs(session, given, settings), session.machine, session)


def typed_inputs(assignments: Sequence[str]) -> dict[str, Value]:
    """Return the inputs that are set; raise UsageError for a key that comes twice, of which either may be meant."""
    from sizeup.sizing.keys import parse_settings

    keys = [one.partition("=")[0].strip() for one in assignments]
    if twice := next((key for key in keys if keys.count(key) > 1), ""):
        raise UsageError(f"--set: {twice}: expected once, found {keys.count(twice)} times")
    return parse_settings(assignments)


def workload_inputs(arguments: argparse.Namespace) -> dict[str, Value]:
    """Return the inputs from the workload files, and over them those that are set; the options are ``SIZING``."""
    for flag in ("--percentile", "--devices", "--workload-cores"):
        refuse_without(arguments, flag, "--workload")
    percentile = _PERCENTILE if arguments.percentile is None else arguments.percentile
    if not 0 < percentile <= 100:
        raise UsageError(f"--percentile: expected a number above 0 and at most 100, found {percentile:g}")
    cores = arguments.workload_cores
    if cores is not None and not 1 <= cores <= _MOST_CORES:
        raise UsageError(f"--workload-cores: expected a whole number from 1 to {_MOST_CORES}, found {cores}")
    devices = tuple(name.strip() for name in (arguments.devices or "").split(",") if name.strip())
    thumb = ["workload.rules_of_thumb=yes"] if arguments.rules_of_thumb else []
    stated, typed = (
        read_workload_files(arguments.workload, percentile, devices, cores),
        typed_inputs([*thumb, *arguments.assignments]),
    )
    if "license.product" in typed:  # of another vendor than that of the present database, perhaps
        stated.pop("license.pack", None)
    return {**stated, **typed}


def read_workload_files(
    names: Sequence[str], percentile: float = _PERCENTILE, devices: tuple[str, ...] = (), cores: int | None = None
) -> dict[str, Value]:
    """Return the inputs that reports of other tools state."""
    from sizeup.sizing.inputs.imported import WorkloadFile, read_workload

    sources = tuple(WorkloadFile(name, read_text(name, "a workload file", _TEXT_LIMIT)) for name in names)
    return read_workload(sources, percentile, devices, cores)


def sizing_rules(path: str | None) -> Rules:
    """Return the shipped rules with the user's overrides, from ``path`` or from the configuration directory."""
    import platformdirs

    from sizeup.sizing import rules

    where = path or os.path.join(platformdirs.user_config_dir("sizeup"), "rules.toml")
    if path is None and not os.path.exists(where):
        return rules.shipped()
    text = read_text(where, "a file of rule overrides", _TEXT_LIMIT)
    return rules.load(rules.shipped_texts(), (where, text))
