"""The commands of the documentation, and a directory in which each of them can be run as printed.

A fenced block without a language, or of ``sh`` or ``console``, holds commands: the lines behind ``$`` where it has any,
with what they print below them, else all of it, as one script. A comment before a block says what differs:

- ``<!-- output exact -->``: what the commands print is compared with the page; else it is of one machine and one day
- ``<!-- run by FILE -->``: that file of the tests or the gate runs them, because they need what a sandbox has not
- ``<!-- by hand: REASON -->``: nothing runs them but a person

Pages of results are left out: they state what was run, with which version, on which machine.
"""

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import purchase
from report.sessions import records, written
from sizeup.session.records import SessionRecord
from sizeup.session.writer import Writer

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "results")]

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A fenced block with commands."""

    note: str
    commands: tuple[str, ...]
    outputs: tuple[str, ...]
    """What each command prints; empty where the block shows none."""

    shows: bool
    """Whether it has prompts, with what the commands print below them."""

    @property
    def run_by(self) -> str:
        """The file that runs it, where a sandbox cannot."""
        if self.note == "test command":
            return ".ci/run"
        return self.note.removeprefix("run by ") if self.note.startswith("run by ") else ""

    @property
    def by_hand(self) -> bool:
        """Whether nothing runs it."""
        return self.note.startswith("by hand: ") or self.note == "run command"

    @property
    def compared(self) -> bool:
        """Whether what is printed must be what the page shows."""
        return any(self.outputs) and self.note == "output exact"


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that hold commands."""
    found = []
    for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        note, text = match["note"] or "", match["text"]
        if match["language"] not in ("", "sh", "console") or note == "jq":
            continue
        if re.search(r"^\$ ", text, re.MULTILINE):
            parts = re.findall(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
            found.append(Block(note, *map(tuple, zip(*parts, strict=True)), shows=True))
        else:
            found.append(Block(note, (text,), ("",), shows=False))
    return found


def lines(block: Block) -> int:
    """Return how many commands a block has: a line each, with its continuation."""
    joined = "".join(block.commands).replace("\\\n", " ")
    return sum(1 for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#"))


_WRAPPER = """#!/bin/sh
# sizeup as it is typed; a terminal for what needs one, and short measurements.
case "$1" in
"" | attach) exec {python} {folder}/interactive.py "$@" ;;
*) test -z "$SIZEUP_UPDATE_DOCS" || exec {python} -m sizeup "$@" ;;
esac
case "$1" in
experiment) exec {python} -m sizeup "$@" --rounds 3 --settle 0 --plan quick --yes ;;
--batch) case "$*" in
  *--repeat* | *--quiet*) exec {python} -m sizeup "$@" -p clock.cost ;;
  *--plan* | *--start-at* | *null*) exec {python} -m sizeup "$@" ;;
  *) exec {python} -m sizeup "$@" --plan quick ;;
  esac ;;
*) exec {python} -m sizeup "$@" ;;
esac
"""

_STAND_INS = {
    "pdsh": 'shift 2; exec "$@"',
    "switch-to": "exit 0",
    "sysctl": "exit 0",
    "mount": "exit 0",
    "scp": "exit 0",
    "ansible-playbook": "cp -r sessions fleet/",
    "sbatch": "exit 0",
    "kubectl": "exit 0",
    "ssh": 'shift; exec "$@"',
}
"""What the pages use that a test must not: commands that change the machine, or need another one."""

PLACES = {"/sys/block/sdb/queue/scheduler": "scheduler", "/dev/sdb": "disk", "/u01": "u01", "/data": "u01"}
"""Paths of the reader's server, and what stands for each in the sandbox."""


def sandbox(folder: Path) -> dict[str, str]:
    """Fill a directory with the files that the pages name; return the environment of its commands."""
    tools, home = folder / "bin", folder / "home"
    tools.mkdir()
    scripts = {"sizeup": _WRAPPER.format(python=sys.executable, folder=Path(__file__).parent)}
    scripts |= {name: f"#!/bin/sh\n{line}\n" for name, line in _STAND_INS.items()}
    for name, script in scripts.items():
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)
    work = folder / "work"
    for name in ("u01", "home", "work", "work/old", "work/new", "work/before", "work/after"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "disk").write_bytes(os.urandom(1 << 24))
    purchase.files(work)
    for name in ("run", "old", "new", "after"):
        written(work / f"{name}.sizeup.jsonl", *records())
    (work / "sessions").mkdir()
    for number in range(1, 4):
        _of_a_run(work / f"sessions/db{number:02}.sizeup.jsonl", "sessions", number)
    for side in ("old", "new", "before", "after"):
        for number in range(1, 7):
            _of_a_run(work / side / f"{side}-{number}.sizeup.jsonl", side, number)
    return {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": "",
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "COLUMNS": "80",
        "LC_ALL": "C.UTF-8",
    }


def _of_a_run(path: Path, side: str, number: int) -> None:
    """Write a session with a time and an id of its own."""
    first, *rest = records()
    assert isinstance(first, SessionRecord)
    hour = number + (8 if side in ("new", "after") else 0)
    header = SessionRecord(first.format, f"{side}{number}", first.tool, first.host, f"2026-01-31T{hour:02}:30:00Z")
    with Writer.create(str(path)) as writer:
        writer.write(header, *rest)


def placed(command: str, folder: Path) -> str:
    """Return the command with the reader's paths replaced by those of the sandbox, and one round in place of six."""
    command = command.replace("1 2 3 4 5 6", "1").replace("--repeat 6", "--repeat 2")  # rounds
    if "sizeup experiment" in command:  # twelve runs each: of a probe that takes no time
        command = re.sub(r"-p \S+", "-p null", re.sub(r"--(?:set|metric) \S+", "", command))
    for path, name in PLACES.items():
        command = re.sub(rf"(?<![\w/.-]){re.escape(path)}(?![\w])", str(folder / name), command)
    return command


def as_read(printed: str, folder: Path) -> str:
    """Return what a command printed with the reader's paths, and a name of a server in place of this host's."""
    for path, name in PLACES.items():
        printed = printed.replace(str(folder / name), path)
    return re.sub(rf"\b{re.escape(os.uname().nodename)}\b(?!\.\w)", "db01", printed)  # vm.nr_hugepages on a host vm
