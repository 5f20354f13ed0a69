"""Commands of the documentation with what they print, to be run again and compared."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1] / "docs"


class Transcript(NamedTuple):
    """One command of a page and the lines under it."""

    command: str
    output: str

    @property
    def arguments(self) -> list[str]:
        """What stands behind ``sizeup``."""
        return shlex.split(self.command.replace("\\\n", " "))[1:]


def transcripts(page: str) -> list[Transcript]:
    """Return every block of a page that begins with a prompt and a command of sizeup, of one line or several."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [Transcript(*found) for found in re.findall(r"```\n\$ (sizeup (?:.*\\\n)*.*)\n((?:.*\n)*?)```", text)]
