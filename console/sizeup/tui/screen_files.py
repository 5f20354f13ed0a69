"""The screen in a file, as text or as a picture."""

from __future__ import annotations

import re
from datetime import UTC, datetime


def save_screen(mode: str, ending: str, content: str) -> str:
    """Write it into the current directory under a name that no file has, and return its path."""
    from sizeup import files
    from sizeup.report import output

    name = f"sizeup-{mode}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    path = files.free_path(output.current_folder(), name, f".{ending}")
    output.write(path, lambda file: file.write(content.encode()), advice="")
    return path


def without_web_fonts(picture: str) -> str:
    """Return Textual's picture without the fonts that it would fetch from the network."""
    local = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return local.replace("Fira Code", "DejaVu Sans Mono")
