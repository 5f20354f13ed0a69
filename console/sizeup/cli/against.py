"""The option that names the other side of a comparison, the same for every command."""

from __future__ import annotations

import argparse
from typing import Any


def add_against(parser: argparse._ActionsContainer, old: str, **options: Any) -> None:
    """Declare ``--against``; ``old`` is its name in version 0.2, which is taken as well and names the destination."""
    dest = old.lstrip("-").replace("-", "_")
    parser.add_argument("--against", dest=dest, **options)
    parser.add_argument(old, dest=dest, nargs=options.get("nargs"), default=argparse.SUPPRESS, help=argparse.SUPPRESS)
