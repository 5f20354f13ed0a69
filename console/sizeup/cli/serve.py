"""Serve the console of this machine to a browser, for users who have no terminal.

It listens on 127.0.0.1 unless --host is given, and prints an address that works once, in one browser.
From another machine, use an SSH tunnel:

    ssh -L 8765:localhost:8765 SERVER     and on the server: sizeup serve --port 8765
"""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import sys

from sizeup.errors import ExitStatus, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="show this saved session instead of this machine")
    parser.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any free port)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    if importlib.util.find_spec("textual_serve") is None or importlib.util.find_spec("aiohttp") is None:
        raise UsageError(
            "sizeup serve needs textual-serve, which is not installed; install it with: pip install 'sizeup[serve]'"
        )
    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port: expected a number from 0 (any free port) to 65535, found {arguments.port}")
    try:
        loopback = ipaddress.ip_address(arguments.host).is_loopback
    except ValueError as error:
        raise UsageError(f"--host: expected an address such as 127.0.0.1 or ::1, found {arguments.host!r}") from error
    if not loopback:
        print(
            f"sizeup: the console on {arguments.host} is reachable from other machines and not encrypted: "
            "anyone who reads the traffic can use it as you; use 127.0.0.1 and an SSH tunnel where you can",
            file=sys.stderr,
        )
    command, path = [], None
    if arguments.file is not None:
        from sizeup.session.reader import read_session
        from sizeup.session.store import find

        path = find(arguments.file)
        read_session(path)  # errors are printed here, not in the browser
        command = ["open", path]
    from sizeup.child_process import sizeup_command
    from sizeup.web.server import serve

    def announce(address: str) -> None:
        print(
            f"Open this address in a browser (it works once):\n\n    {address}\n\n"
            "In the same browser, /report has the report of the session. Press Ctrl+C to stop.",
            flush=True,
        )

    serve(
        sizeup_command(*command),
        arguments.host,
        arguments.port,
        arguments.file or "sizeup",
        announce,
        lambda: _report(path),
    )
    return ExitStatus.OK


def _report(path: str | None) -> str:
    """Return the web page of a session, or of the one that was written last; ``UsageError`` where there is none."""
    from sizeup.report.html import page
    from sizeup.session.reader import read_session
    from sizeup.session.store import latest
    from sizeup.views.document import document

    shown = path or latest()
    if shown is None:
        raise UsageError("No session is saved, so there is no report. Press r in the console to measure.")
    return page(document(read_session(str(shown))))
