"""Save a capture of this machine: the files that describe it, to be read elsewhere with sizeup detect --sysroot FILE.

Serial numbers, hardware and network addresses, WWNs, host names and NFS export names are replaced by
pseudonyms, the same ones throughout the file; --no-mask keeps them.
"""

from __future__ import annotations

import argparse
import os
import sys

from sizeup import __version__
from sizeup.cli.arguments import arg, switch, sysroot
from sizeup.errors import ExitStatus, UsageError

ARGUMENTS = (
    arg("file", metavar="FILE", help="file to write; .tar.gz and .tar.xz are compressed"),
    sysroot("capture another root directory instead of this machine"),
    switch("--no-mask", help="keep serial numbers, addresses and names"),
    switch("--force", help="overwrite an existing file"),
)


def run(arguments: argparse.Namespace) -> int:
    """Discover, mask, write."""
    from sizeup.discovery.anonymizer import new_salt
    from sizeup.discovery.capture import capture

    if os.path.isfile(arguments.file) and not arguments.force:  # before the work, and checked again after it
        raise UsageError(f"{arguments.file}: already exists; choose another name, or add --force to overwrite it")
    salt = None if arguments.no_mask else new_salt()
    _, count = capture(
        arguments.sysroot, arguments.file, tool=f"sizeup {__version__}", salt=salt, replace=arguments.force
    )
    masked = "kept" if arguments.no_mask else "replaced by pseudonyms"
    size = f" {os.path.getsize(arguments.file)} bytes," if os.path.isfile(arguments.file) else ""  # no size of a pipe
    print(f"{arguments.file}: {count} files,{size} serial numbers, addresses and names {masked}", file=sys.stderr)
    if size:
        print(f"Read it with: sizeup detect --sysroot {arguments.file}", file=sys.stderr)
    return ExitStatus.OK
