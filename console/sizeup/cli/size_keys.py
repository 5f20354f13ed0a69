"""List every key that sizeup size --set takes, with its meaning and its range."""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus

ARGUMENTS = ()


def run(arguments: argparse.Namespace) -> int:
    """Print the keys."""
    del arguments
    from sizeup.sizing.keys import KEYS

    for key in KEYS.values():
        print(f"{key.name:32} {key.help}; {key.expectation}")
    return ExitStatus.OK
