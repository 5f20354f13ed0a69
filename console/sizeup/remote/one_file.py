"""The executable that holds everything, sent to hosts that need no Python."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import msgspec
from msgspec import Struct

from sizeup.decoding import json_decoder
from sizeup.errors import RefusedError, UsageError
from sizeup.probing.remote_python import shell_command

_MACHINES = {62: "x86_64", 183: "aarch64"}
"""Of an ELF header (elf(5), e_machine), as ``uname -m`` names them."""
_MAGIC = b"sizeup1\0"
"""At the end of the file."""


class _HostDescription(Struct, frozen=True):
    machine: str


_DESCRIPTION: msgspec.json.Decoder[_HostDescription] = json_decoder(_HostDescription)


class OneFile:
    """The executable, read once for all hosts; raises ``UsageError`` where another file is named.

    ``machine`` is the type that it is for, such as ``x86_64``.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._content = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"--one-file {path}: cannot read it: {error.strerror}") from error
        number = int.from_bytes(self._content[18:20], "little") if self._content.endswith(_MAGIC) else 0
        if number not in _MACHINES:
            raise UsageError(
                f"--one-file {path}: expected the executable that holds all of sizeup; how to get it: sizeup help "
                "one-file"
            )
        self.machine = _MACHINES[number]

    def start(self, ssh: str, target: str) -> tuple[tuple[str, ...], bytes]:
        """Return the command that starts the program on a host, and the program, with which its input begins."""
        program = resources.files("sizeup.remote").joinpath("host_program.sh").read_bytes()
        return shell_command(ssh, target), program + b".\n"

    def choose(self, description: str, options: Sequence[str]) -> tuple[bytes, bytes]:
        """Return the request to a host that described itself, and the executable; raises ``RefusedError``."""
        found = _DESCRIPTION.decode(description).machine
        if found != self.machine:
            raise RefusedError(
                f"is {found}, and {self._path} runs on {self.machine}; name the file for {found} with --one-file"
            )
        lines = [str(len(self._content)), *(f"={option}" for option in options), "."]
        return "".join(f"{line}\n" for line in lines).encode(), self._content
