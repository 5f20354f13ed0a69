"""Print a session as text: how its run went, the verdict, each resource, then what was measured and the advice.

The advice is what the session recorded; --recompute works it out again with the rules of this version, and says so.
"""

from __future__ import annotations

import argparse

from sizeup.cli.arguments import arg, one_of, switch
from sizeup.cli.results import write_json
from sizeup.errors import ExitStatus

ARGUMENTS = (
    arg(
        "file", metavar="FILE", nargs="?",
        help="session file, name of a saved session, or - for standard input (default: the session that was written "
        "last)",
    ),
    one_of(
        switch("--json", help="print the results as JSON, without advice"),
        switch(
            "--recompute",
            help="recompute the advice with the rules of this version instead of showing what was recorded",
        ),
    ),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Print the session."""
    from sizeup.input_file import STDIN
    from sizeup.report.text import text
    from sizeup.session.reader import read_session
    from sizeup.session.store import LATEST, find
    from sizeup.sizing.session_advice import session_advice
    from sizeup.views.document.document import document
    from sizeup.views.run.results import results_data

    given = arguments.file or LATEST
    session = read_session(given if given == STDIN else find(given), pipes=True)
    if arguments.json:
        write_json(results_data(session))
    else:
        advice = session_advice(session, recompute=arguments.recompute)
        print(text(document(session, advice)), end="")
    return ExitStatus.OK
