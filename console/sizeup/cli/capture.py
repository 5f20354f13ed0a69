"""Record what describes this machine, for ``sizeup detect --sysroot FILE`` somewhere else.

Serial numbers, hardware and network addresses, world-wide names, host and export names are replaced by
stand-ins that agree within the file; --no-mask keeps them.
"""

from __future__ import annotations

import argparse
import os
import sys

from sizeup import __version__
from sizeup.errors import ExitStatus, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="where to write; .tar.gz and .tar.xz are compressed")
    parser.add_argument("--sysroot", metavar="DIR", default="/", help="another tree instead of this machine")
    parser.add_argument("--no-mask", action="store_true", help="keep serial numbers, addresses and names")
    parser.add_argument("--force", action="store_true", help="write over an existing file")


def run(arguments: argparse.Namespace) -> int:
    """Discover, mask, write."""
    from sizeup.discovery.anonymizer import new_salt
    from sizeup.discovery.capture import capture

    if os.path.isfile(arguments.file) and not arguments.force:  # said before the work, and looked at again after it
        raise UsageError(f"{arguments.file} exists already; choose another name, or --force to write over it")
    salt = None if arguments.no_mask else new_salt()
    _, count = capture(
        arguments.sysroot, arguments.file, tool=f"sizeup {__version__}", salt=salt, replace=arguments.force
    )
    kept = "identities kept" if arguments.no_mask else "identities replaced by stand-ins"
    size = f" {os.path.getsize(arguments.file)} bytes," if os.path.isfile(arguments.file) else ""  # no size of a pipe
    print(f"{arguments.file}: {count} files,{size} {kept}", file=sys.stderr)
    if size:
        print(f"read it back with: sizeup detect --sysroot {arguments.file}", file=sys.stderr)
    return ExitStatus.OK
