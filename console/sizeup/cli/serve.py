"""The console in a browser of this machine, for people who may not install a terminal.

It listens on the loopback address alone unless told otherwise, and opens for one browser, with the
address it prints, once. From elsewhere, come through a tunnel:

    ssh -L 8765:localhost:8765 SERVER     and there: sizeup serve --port 8765
"""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import sys

from sizeup.errors import ExitStatus, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", metavar="FILE", nargs="?", help="show this session instead of this machine")
    parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="listen there; 127.0.0.1 unless said")
    parser.add_argument("--port", type=int, default=0, help="listen there; any free port unless said")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    if importlib.util.find_spec("textual_serve") is None or importlib.util.find_spec("aiohttp") is None:
        raise UsageError("sizeup serve needs textual-serve, which is not installed; try: pip install 'sizeup[serve]'")
    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port: expected a number from 0 to 65535, found {arguments.port}")
    try:
        loopback = ipaddress.ip_address(arguments.host).is_loopback
    except ValueError as error:
        raise UsageError(f"--host: expected an address such as 127.0.0.1 or ::1, found {arguments.host!r}") from error
    if not loopback:
        print(
            f"sizeup: {arguments.host} can be reached from other machines, and nothing is encrypted: "
            "whoever sees the traffic can run what you can run",
            file=sys.stderr,
        )
    command = []
    if arguments.file is not None:
        from sizeup.session.reader import read_session

        read_session(arguments.file)  # said here, not to the browser
        command = ["open", arguments.file]
    from sizeup.child_process import sizeup_command
    from sizeup.web.server import serve

    def announce(address: str) -> None:
        print(f"Open this address once, in one browser:\n\n    {address}\n\nEnd with ^C.", flush=True)

    serve(sizeup_command(*command), arguments.host, arguments.port, arguments.file or "sizeup", announce)
    return ExitStatus.OK
