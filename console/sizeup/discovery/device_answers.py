"""What devices answer and no file of the kernel says: rings and offloads of interfaces, the health log of NVMe drives.

The live machine is asked; a capture has the answers under ``ANSWERS``.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from sizeup.discovery.sysroot import ANSWERS, Sysroot
from sizeup.errors import MalformedError
from sizeup.model.network import Nic, is_port
from sizeup.model.storage import NvmeController
from sizeup.procfs import device_questions
from sizeup.procfs.kernel_file import Unreadable

_NOT_SUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL})
"""Errors of a device that has no such thing; that is an answer and no gap."""
_NO_ANSWER = "no answer in time; it is asked again at the next start"

T = TypeVar("T")


def _answer(sysroot: Sysroot, path: str, question: device_questions.Question, parse: Callable[[bytes], T]) -> T | None:
    """Return what ``parse`` makes of the answer; None where there is none, with a gap unless that is no wonder."""
    data = sysroot.device(path, question)
    if isinstance(data, Unreadable):
        if data.errno == errno.ETIMEDOUT:
            sysroot.note(path.removeprefix(f"{ANSWERS}/"), _NO_ANSWER)
        elif not data.missing and data.errno not in _NOT_SUPPORTED:
            sysroot.note(path.removeprefix(f"{ANSWERS}/"), data.reason)
        return None
    try:
        return parse(data)
    except MalformedError as error:
        sysroot.note(path.removeprefix(f"{ANSWERS}/"), f"malformed: {error}")
        return None


def with_rings(sysroot: Sysroot, nics: tuple[Nic, ...]) -> tuple[Nic, ...]:
    """Return the interfaces with rings and offloads of those that carry traffic."""
    return tuple(_with_rings(sysroot, nic) if is_port(nic) or nic.kind == "bond" else nic for nic in nics)


def _with_rings(sysroot: Sysroot, nic: Nic) -> Nic:
    base = f"{ANSWERS}/ethtool/{nic.name}"
    return replace(
        nic,
        rings=_answer(
            sysroot, f"{base}/rings", lambda: device_questions.ask_rings(nic.name), device_questions.parse_rings
        ),
        offloads=_answer(
            sysroot,
            f"{base}/offloads",
            lambda: device_questions.ask_offloads(nic.name),
            lambda data: device_questions.parse_offloads(data.decode("ascii", "replace")),
        )
        or (),
    )


def with_health(sysroot: Sysroot, controllers: tuple[NvmeController, ...]) -> tuple[NvmeController, ...]:
    """Return the controllers with the health log of those on PCI that are live."""
    return tuple(
        _with_health(sysroot, one) if one.transport == "pcie" and one.state == "live" else one for one in controllers
    )


def _with_health(sysroot: Sysroot, controller: NvmeController) -> NvmeController:
    name = controller.name
    number = sysroot.line(f"/sys/class/nvme/{name}/dev")
    path = f"{ANSWERS}/nvme/{name}/smart-log"
    return replace(
        controller,
        health=_answer(sysroot, path, lambda: device_questions.ask_health(name, number), device_questions.parse_health),
    )
