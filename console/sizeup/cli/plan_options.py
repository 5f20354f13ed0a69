"""Options that say what is measured, of every command that runs a plan."""

from __future__ import annotations

import argparse


def add_plan_arguments(parser: argparse._ActionsContainer) -> None:
    """Declare the plan, its probes and their parameters."""
    parser.add_argument(
        "--plan", choices=("quick", "standard", "full"), help="set of probes to run (default: standard)"
    )
    parser.add_argument(
        "-p",
        "--probe",
        action="append",
        metavar="PROBE",
        help="run this probe only; repeatable; see: sizeup probe list",
    )
    parser.add_argument(
        "--set",
        dest="assignments",
        action="extend",
        nargs="+",
        metavar="PROBE.KEY=VALUE",
        help="set a parameter of a probe; repeatable",
    )


def add_only_builtin(parser: argparse._ActionsContainer) -> None:
    """Declare the option that leaves out plug-ins."""
    parser.add_argument("--only-builtin", action="store_true", help="use only the probes that come with sizeup")
