"""The option that says which changes are too small to count, of every command that compares."""

from __future__ import annotations

import argparse

from sizeup.errors import UsageError


def add_minimum_effect(parser: argparse._ActionsContainer) -> None:
    """Declare the option."""
    parser.add_argument(
        "--minimum-effect",
        type=float,
        metavar="PERCENT",
        help="treat smaller changes as no change (default: 2 %%)",
    )


def minimum_effect(arguments: argparse.Namespace) -> float:
    """Return the change as a share; raise UsageError for one that is none."""
    percent: float = 2.0 if arguments.minimum_effect is None else arguments.minimum_effect
    if not 0 <= percent < 100:
        raise UsageError(f"--minimum-effect: expected a percentage from 0 to 100, found {percent:g}")
    return percent / 100
