r"""Small machines as text: a line a file, ``PATH = TEXT``, or a link, ``PATH -> TARGET``.

``{0-3}`` in a path or its text stands for each number in turn, ``{}`` in the text for the same
number; ``\n`` starts a new line and ``\t`` is a tab. The trees in ``tests/machines/*.tree`` are such texts.
"""

import re
from functools import cache
from pathlib import Path

from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine

_SPAN = re.compile(r"\{(\d+)-(\d+)\}")
MACHINES = Path(__file__).parent / "machines"
LARGE = MACHINES / "8-sockets-16-nodes-256-cores.tar.gz"


@cache
def large_machine() -> Machine:
    """The recorded machine of 256 cores, read once."""
    return discover(str(LARGE))


def _expanded(line: str) -> list[str]:
    match = _SPAN.search(line)
    if match is None:
        return [line]
    numbers = range(int(match[1]), int(match[2]) + 1)
    return [line.replace(match[0], str(number)).replace("{}", str(number)) for number in numbers]


def grow(root: Path, text: str) -> str:
    """Make the files and links of ``text`` under ``root``; the value is the root, as discover() takes it."""
    made = set[Path]()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        for entry in _expanded(line):
            path, sign, rest = re.split(r" (=|->) ?", entry, maxsplit=1)
            target = root / path.strip().lstrip("/")
            if target.parent not in made:
                target.parent.mkdir(parents=True, exist_ok=True)
                made.add(target.parent)
            if sign == "->":
                target.symlink_to(rest.strip())
            else:
                target.write_text(rest.replace("\\n", "\n").replace("\\t", "\t") + "\n", encoding="utf-8")
    return str(root)


def discovered(root: Path, *trees: str) -> Machine:
    """The machine of these texts."""
    return discover(grow(root, "\n".join(trees)))


def machine(root: Path, name: str, *more: str) -> str:
    """Grow ``tests/machines/NAME.tree`` and the lines of ``more`` on top."""
    text = (MACHINES / f"{name}.tree").read_text(encoding="utf-8")
    return grow(root, "\n".join((text, *more)))
