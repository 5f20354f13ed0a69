"""What this machine should carry, each figure with its working and its sources.

Figures come from the machine as discovered (or from a session, with --session), and each can be
replaced with --set. For two sockets of four 2.66 GHz cores:

    sizeup size --set machine.sockets=2 machine.cores_per_socket=4 machine.ghz=2.66
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="extend",
        nargs="+",
        default=[],
        dest="settings",
        help="say what a figure is; --keys lists them",
    )
    parser.add_argument("--keys", action="store_true", help="list every key with its meaning and range")
    parser.add_argument("--sources", action="store_true", help="say below each answer where every figure is from")
    parser.add_argument("--json", action="store_true", help="base units, with the working and the sources")


def run(arguments: argparse.Namespace) -> int:
    """Size one machine."""
    from sizeup.model.machine import Machine
    from sizeup.sizing import rules
    from sizeup.sizing.advise import whatif
    from sizeup.sizing.keys import KEYS, parse_settings
    from sizeup.views.advice import sizing_data, sizing_lines

    if arguments.keys:
        for key in KEYS.values():
            print(f"{key.name:32} {key.help}; {key.expectation}")
        return ExitStatus.OK
    overrides = parse_settings(arguments.settings)
    pack = rules.shipped()
    today = datetime.now(UTC).date()
    sizing = whatif(Machine(), overrides, pack, today)
    if arguments.json:
        print(json.dumps(sizing_data(sizing, pack, today), indent=1))
    else:
        print("\n".join(sizing_lines(sizing, sources=arguments.sources)))
    return ExitStatus.OK
