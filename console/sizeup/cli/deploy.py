"""Write the files that let Ansible, Slurm or Kubernetes run sizeup on many hosts.

They are complete and meant to be read and changed. sizeup itself opens no connection here and starts nothing; what each
engine needs and does is described by: sizeup help engines
"""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the engine and the directory."""
    from sizeup.deploy import ENGINES

    parser.add_argument("engine", choices=ENGINES, metavar="ENGINE", help=f"one of {', '.join(ENGINES)}")
    parser.add_argument("folder", metavar="DIR", help="directory to write into; it must be new or empty")


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and say how they are used."""
    import shlex

    from sizeup import files
    from sizeup.deploy import ENGINES, engine_files

    use = ENGINES[arguments.engine].format(folder=shlex.quote(arguments.folder))
    with files.new_directory(arguments.folder, engine_files(arguments.engine)) as paths:
        print("\n".join([*paths, "", f"Use them with: {use}"]), flush=True)
    return ExitStatus.OK
