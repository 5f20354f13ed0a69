"""Write the files that let Ansible, Slurm or Kubernetes run sizeup on many hosts.

They are complete and meant to be read and changed. sizeup itself opens no connection here and starts nothing; what each
engine needs and does is described by: sizeup help engines
"""

from __future__ import annotations

import argparse

from sizeup.cli.arguments import arg
from sizeup.deploy import ENGINES, engine_files
from sizeup.errors import ExitStatus

ARGUMENTS = (
    arg("engine", choices=ENGINES, metavar="ENGINE", help=f"one of {', '.join(ENGINES)}"),
    arg("folder", metavar="DIR", help="directory to write into; it must be new or empty"),
)


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and say how they are used."""
    import shlex

    from sizeup import files

    use = ENGINES[arguments.engine].format(folder=shlex.quote(arguments.folder))
    with files.new_directory(arguments.folder, engine_files(arguments.engine)) as paths:
        print("\n".join([*paths, "", f"Use them with: {use}"]), flush=True)
    return ExitStatus.OK
