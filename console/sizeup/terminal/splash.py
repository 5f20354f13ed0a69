"""What the terminal shows before Textual is loaded: the import takes a fifth of a second, this one millisecond.

Imports next to nothing, so that the first bytes leave at once.
"""

from __future__ import annotations

import os


def splash(columns: int, rows: int) -> bytes:
    """The first picture, on the alternate screen that the console then takes over; ASCII, as nothing is known yet."""
    lines = ("sizeup", "-" * 24, "reading this machine ...")
    top = max((rows - len(lines)) // 2, 1)
    picture = ["\x1b[?1049h\x1b[2J\x1b[?25l"]
    for offset, line in enumerate(lines[: max(rows - 1, 1)]):
        left = max((columns - len(line)) // 2, 0) + 1
        picture.append(f"\x1b[{top + offset};{left}H{line[:columns]}")
    return "".join(picture).encode()


def show_splash() -> None:
    """Draw the splash where the console could be shown; it draws it again once the command line is understood.

    Understanding it takes as long as all that comes before, so a bare ``sizeup`` greets first.
    """
    term = os.environ.get("TERM", "")
    if os.isatty(0) and os.isatty(2) and term not in ("", "dumb"):
        columns, rows = os.get_terminal_size(2)
        os.write(2, splash(columns, rows))


RESTORE = b"\x1b[H\x1b[2J\x1b[?1049l\x1b[?25h"
"""Takes the splash away again where the console cannot start after all."""
