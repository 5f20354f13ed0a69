"""Every command and option that a message names exists, and belongs to the command that prints the message."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sizeup
from sizeup.cli import COMMANDS, renamed, split_path
from sizeup.cli import run as run_command
from sizeup.cli.parser import build_parser
from sizeup.errors import ExitStatus

CONSOLE = Path(sizeup.__file__).parent
PLUGINS = Path(__file__).parents[2] / "plugins"
FOREIGN = (
    "chcpu", "dmidecode", "fio", "grep", "iostat", "iscsiadm", "lscpu", "lsmem", "lspci", "mdadm", "mount", "nfsstat",
    "numactl", "numastat", "sar", "ssh", "taskset", "wipefs",
)  # fmt: skip
"""Commands of others: what stands behind one of them, up to the end of the clause, is its own."""
PROSE = frozenset(
    {"among", "and", "could", "had", "has", "in", "is", "itself", "keeps", "may", "on", "session", "was", "without"}
)
"""Words behind the name of the program that are no commands."""
START = "run"
SPOKEN_BY: dict[str, tuple[str, ...]] = {
    "cli/size_design.py": ("size",),
    "cli/size_emit.py": ("size",),
    "cli/size_profile.py": ("size",),
    "cli/results.py": ("session export",),
    "cli/sizing_inputs.py": ("size",),
    "compare/condition_results.py": ("session compare",),
    "compare/conditions.py": ("session compare",),
    "compare/experiment.py": ("experiment",),
    "compare/profile.py": ("size", "fleet"),
    "engine/experiment.py": ("experiment",),
    "engine/run.py": (START,),
    "engine/spec.py": (START,),
    "batch/standard_output.py": ("session compare",),
    "cli/console.py": ("",),
    "config.py": (START,),
    "cli/parser.py": ("",),
    "errors.py": ("session compare",),
    "discovery/capture.py": ("capture",),
    "discovery/sysroot.py": ("", "detect"),
    "views/result/candidates.py": ("size compare",),
    "views/result/design.py": ("size",),
    "importers/awr.py": ("size",),
    "importers/intervals.py": ("size",),
    "importers/kinds.py": ("session import",),
    "importers/slb.py": ("session import",),
    "probing/kit/template.py": ("probe new",),
    "probing/kit/check.py": ("probe check",),
    "probing/planner.py": (START,),
    "probing/settings.py": (START,),
    "fleet/": ("fleet",),
    "report/machine.py": ("detect",),
    "report/output.py": ("session export",),
    "session/store.py": (START, "session import"),
    "views/inputs/option_text.py": ("size",),
    "session/writer.py": (START, "session import"),
    "report/tidy.py": ("session export",),
    "remote/": (START,),
    "sizing/": ("size",),
    "tui/console.py": ("",),
    "tui/screens/export_dialog.py": ("session export",),
    "tui/runs.py": (START,),
    "tui/screens/sizing_text.py": ("size",),
    "views/result/answer.py": ("size",),
    "views/comparison/comparison.py": ("session compare",),
    "views/comparison/drift.py": ("drift",),
    "views/result/license_answer.py": ("size",),
    "views/result/licenses.py": ("size",),
}
"""Whose messages those of a module outside ``cli`` are: an option without its command must exist in each of these."""
NOT_OF_IT = {
    "child_process.py": {"-c", "-P", "-s"},  # of the Python interpreter
    "cli/experiment.py": {"-c"},  # of the shell
    "cli/__init__.py": {"--batch"},
    "cli/parser.py": {"--theme", "--glyphs", "--ascii", "--no-color", "--no-mouse", "--low-bandwidth", "--readonly"},
    "config.py": {f"--{name}" for name in ("theme", "glyphs", "ascii", "color", "mouse", "low-bandwidth", "readonly")},
    "cli/probes.py": {"--set"},  # of sizeup run
    "errors.py": {"--fail-if", "--against", "--profile", "--only-builtin"},  # behind the names of their commands
    "engine/experiment.py": {"-c"},
    "cli/size_emit.py": {"-p"},  # of sysctl
    "cli/doctor.py": {"--set"},  # put behind "sizeup --batch -p NAME"
    "probing/kit/check.py": {"--no-deps"},  # of pip
    "deploy/__init__.py": {"-i", "-e", "--nodes", "-f", "-t"},  # of ansible-playbook, sbatch, kubectl, podman
    "discovery/findings/memory.py": {"-w", "--sort"},  # of sysctl and ps
    "discovery/findings/platform.py": {"-g"},  # of cpupower
    "discovery/findings/settings.py": {"-w", "-D", "-E"},  # of sysctl and cpupower
    "importers/fio.py": {"--output-format", "--status-interval"},
    "importers/iostat.py": {"-c", "-d", "-h", "-H", "-m", "-p", "-s", "-y", "--human", "--pretty"},
    "importers/intervals.py": {"--human"},
    "importers/sar.py": {"--", "-b", "-d", "-h", "-j", "-o", "-p", "-u", "-N", "-P", "--human", "--pretty"},
    "tui/console.py": {"--command-palette"},  # a widget's id
    "views/machine/device_sections.py": {"-g", "-k"},  # of ethtool
    "views/machine/doctor.py": {"-l", "-n"},  # of ulimit
    "views/machine/hardware_sections.py": {"-i"},  # of ethtool
    "remote/host_program.py": {"-I", "-c"},  # of the Python interpreter
    "probing/remote_python.py": {"-T", "-c", "-I", "-V", "-r"},  # of ssh, the shell and the Python interpreter
    "sizeup_memory/memhammer.py": {"--cpus"},  # of its own
}

_OTHERS = re.compile(rf"\b(?:{'|'.join(FOREIGN)})\b \(?-[^;,)]*")
_OURS = re.compile(r"\bsizeup (?P<next>-{0,2}[a-z]+)(?P<rest>[^;:,()|\n]*)")
_OPTION = re.compile(r"(?:^|(?<!var)[\s(=])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-]|:\S)")


def texts(source: str, *, with_docstring: bool) -> Iterator[str]:
    """Return the strings of a module that a user may see; a formatted one is whole, with ``{}`` in it."""
    tree = ast.parse(source)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    if with_docstring:
        yield ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            passed |= {id(value) for value in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.value


@cache
def options(command: str) -> frozenset[str]:
    return frozenset(build_parser(command)._option_string_actions) | ({"--batch"} if command == START else set())


def wrong(text: str, commands: tuple[str, ...], foreign: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """What a text recommends that does not exist; ``commands`` are those that print it."""
    found: list[str] = []
    text = _OTHERS.sub(" ", text)
    for match in _OURS.finditer(text):
        words = match[0].split()[1:]
        words = [word.rstrip("`.'") for word in words]
        command = split_path(words)[0]
        if words[0] in PROSE and not command:
            continue
        if not command and not words[0].startswith("-"):
            found.append(f"no command: {match[0]}")
            continue
        told = _OPTION.findall(f"{match['next']}{match['rest']}")
        found += [f"sizeup {command} has no {option}" for option in told if option not in options(command)]
    for option in _OPTION.findall(_OURS.sub(" ", text)):
        if option not in foreign:
            lacking = [command for command in commands if option not in options(command)]
            found += [f"sizeup {command} has no {option}" for command in lacking]
            found += [] if commands else [f"whose option is {option}?"]
    return found


def modules() -> list[tuple[str, Path]]:
    return [
        (path.relative_to(base).as_posix(), path) for base in (CONSOLE, PLUGINS) for path in sorted(base.rglob("*.py"))
    ]


def wrong_in(name: str, path: Path) -> list[str]:
    """What the texts of a module recommend that does not exist."""
    module = name.removeprefix("cli/").removesuffix(".py")
    command = next((path for path, (target, _) in COMMANDS.items() if target == module), "")
    of_command = name.startswith("cli/") and bool(command)
    classes = [path for path, (target, _) in COMMANDS.items() if target.startswith(f"{module}:")]
    package, _, _ = name.partition("/")
    commands = SPOKEN_BY.get(f"{package}/") or SPOKEN_BY.get(
        name, (command,) if of_command else (START,) if name.startswith("cli/") else ()
    )

    if name in ("cli/arguments.py", "cli/renamed.py"):  # what all commands have, and what they had
        of_all = {option for words in (*renamed.OPTIONS.values(), *renamed.MOVED.values()) for option in words}
        commands, foreign = (), frozenset(of_all).union(*map(options, COMMANDS), ("-",))
        return [fault for text in texts(path.read_text(), with_docstring=False) for fault in wrong(text, (), foreign)]
    foreign = NOT_OF_IT.get(name, frozenset()) | frozenset().union(*map(options, classes))
    return [
        fault
        for text in texts(path.read_text(encoding="utf-8"), with_docstring=of_command)
        for fault in wrong(text, commands, foreign)
    ]


@pytest.mark.ci
def test_every_command_and_option_that_a_text_names_exists() -> None:
    assert [f"{name}: {fault}" for name, path in modules() for fault in wrong_in(name, path)] == []


@pytest.mark.parametrize(
    ("text", "commands", "found"),
    [
        ("or add to it with --append {}", ("session import",), ["sizeup session import has no --append"]),
        ("or add to it with --append {}", (START,), []),
        ("choose a file with -o", (), ["whose option is -o?"]),
        ("see: sizeup doctor --kees", (), ["sizeup doctor has no --kees"]),
        ("see: sizeup list", (), ["no command: sizeup list"]),
        ("start it with numactl --interleave=all; see: sizeup --batch -p NAME", (), []),
        ("another sizeup is writing this session", (), []),
    ],
)
def test_a_wrong_recommendation_is_found(text: str, commands: tuple[str, ...], found: list[str]) -> None:
    assert wrong(text, commands) == found


def test_an_import_is_not_told_to_add_to_a_session(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fields = {"CPU(s):": 2, "Socket(s):": 1, "Core(s) per socket:": 2, "Thread(s) per core:": 1}
    rows = [{"field": field, "data": str(value)} for field, value in fields.items()]
    (tmp_path / "lscpu.json").write_text(json.dumps({"lscpu": rows}))
    (tmp_path / "there").write_text("kept")

    status = run_command(["session", "import", str(tmp_path / "lscpu.json"), "-o", str(tmp_path / "there")])

    said = capfd.readouterr().err
    assert status == ExitStatus.USAGE
    assert said == f"sizeup: {tmp_path / 'there'}: already exists; choose another file with -o\n"
    assert (tmp_path / "there").read_text() == "kept"


def test_a_run_is_told_how_to_add_to_a_session(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "there"
    there.write_text("kept")

    status = run_command(["--batch", "-p", "null", "-o", str(there)])

    said = capfd.readouterr().err
    assert status == ExitStatus.USAGE
    assert (
        f"choose another file with -o, or add to it with --append {there}, or finish it with --resume {there}" in said
    )
