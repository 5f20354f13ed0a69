"""The wheels of sizeup and its dependencies that fit another host."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Iterable, Sequence
from importlib import resources

import msgspec
from msgspec import Struct

from sizeup.decoding import json_decoder
from sizeup.errors import RefusedError, UsageError
from sizeup.probing.remote_python import python_command

_GLIBC_OF_OLD_TAGS = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}


class HostDescription(Struct, frozen=True):
    """What decides which wheels fit a host."""

    python: tuple[int, int]
    machine: str
    """``x86_64``, as ``uname -m`` says."""
    glibc: str
    """``2.36``; empty with another C library."""


class WheelFolder(Struct, frozen=True):
    """A folder of wheels, of which a host gets those that fit its Python."""

    folder: str

    def start(self, ssh: str, target: str) -> tuple[tuple[str, ...], bytes]:
        """Return the command that starts the program on a host, and the program, with which its input begins."""
        program = resources.files("sizeup.remote").joinpath("host_program.py").read_bytes()
        return python_command(ssh, target, program, (3, 11)), program

    def choose(self, description: str, options: Sequence[str]) -> tuple[bytes, bytes]:
        """Return the request to a host that described itself, and the archive that follows it."""
        content = archive(self.folder, choose(wheel_names(self.folder), _DESCRIPTION.decode(description)))
        return msgspec.json.encode({"bytes": len(content), "options": list(options)}) + b"\n", content


_DESCRIPTION: msgspec.json.Decoder[HostDescription] = json_decoder(HostDescription)


def wheel_names(folder: str) -> list[str]:
    """Return the names of the wheels in a folder, sorted; raises ``UsageError`` if there is no sizeup among them."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".whl"))
    except OSError as error:
        raise UsageError(f"--wheels {folder}: {error.strerror}; expected a folder of wheels") from error
    if not any(name.startswith("sizeup-") for name in names):
        raise UsageError(
            f"--wheels {folder}: expected the wheels of sizeup and its dependencies, found {len(names)} wheels and no "
            "sizeup among them; how to collect them: sizeup help air-gapped-host"
        )
    return names


def fits(name: str, host: HostDescription) -> bool:
    """Return whether a wheel with this file name works on a host (PEP 425, 600 and 656)."""
    try:
        _, python, abi, platform = name.removesuffix(".whl").rsplit("-", 3)
    except ValueError:
        return False
    return _python_fits(python, abi, host.python) and any(_platform_fits(tag, host) for tag in platform.split("."))


def _python_fits(python: str, abi: str, version: tuple[int, int]) -> bool:
    for tag in python.split("."):
        if tag == "py3":
            return True
        found = re.fullmatch(r"(cp|py)(\d)(\d+)", tag)
        if found:
            wanted = int(found[2]), int(found[3])
            older_will_do = found[1] == "py" or "abi3" in abi.split(".")
            if wanted == version or (older_will_do and wanted[0] == version[0] and wanted <= version):
                return True
    return False


def _platform_fits(tag: str, host: HostDescription) -> bool:
    if tag == "any":
        return True
    if not tag.endswith(f"_{host.machine}"):
        return False
    glibc = tuple(int(part) for part in re.findall(r"\d+", host.glibc)[:2])
    kind = tag.removesuffix(f"_{host.machine}")
    if kind.startswith("musllinux"):
        return not glibc
    found = re.fullmatch(r"manylinux_(\d+)_(\d+)", kind)
    needed = _GLIBC_OF_OLD_TAGS.get(kind) if found is None else (int(found[1]), int(found[2]))
    return kind == "linux" if needed is None else bool(glibc) and needed <= glibc


def choose(names: Iterable[str], host: HostDescription) -> list[str]:
    """Return one wheel for each distribution, a compiled one before a pure one; raises ``RefusedError``."""
    chosen: dict[str, str] = {}
    known: dict[str, None] = {}
    for name in names:
        distribution = name.partition("-")[0].lower()
        known[distribution] = None
        if fits(name, host) and (distribution not in chosen or chosen[distribution].endswith("-any.whl")):
            chosen[distribution] = name
    missing = [distribution for distribution in known if distribution not in chosen]
    if "sizeup" in chosen and chosen["sizeup"].endswith("-any.whl"):
        missing.insert(0, "sizeup")  # the viewer, which measures nothing
    if missing:
        libc = f"glibc {host.glibc}" if host.glibc else "no glibc"
        about = f"Python {host.python[0]}.{host.python[1]}, {host.machine}, {libc}"
        raise RefusedError(
            f"no wheel of {', '.join(missing)} fits {about}; collect the wheels for it: sizeup help air-gapped-host"
        )
    return list(chosen.values())


def archive(folder: str, names: Iterable[str]) -> bytes:
    """Return a tar archive of these wheels."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", dereference=True) as tar:
        for name in names:
            try:
                tar.add(os.path.join(folder, name), arcname=name)
            except OSError as error:
                raise UsageError(f"--wheels {folder}: cannot read {name}: {error.strerror}") from error
    return content.getvalue()
