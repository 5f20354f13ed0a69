"""The processor's name by py-cpuinfo, where the kernel's files have none."""

from __future__ import annotations

import subprocess

from msgspec.structs import replace

from sizeup.child_process import environment, python_command
from sizeup.model.machine import Machine
from sizeup.text import one_line

_ASK = "import cpuinfo; print(cpuinfo.get_cpu_info().get('brand_raw', ''))"
_TIMEOUT_SECONDS = 10


def with_cpu_name(machine: Machine) -> Machine:
    """Return this machine with a name of its processor if anything but the kernel's files knows one.

    py-cpuinfo asks other programs and takes more than a second, so it is asked only then, and in a child: it starts
    processes in ways that differ by version of Python, some of which look into the working directory.
    """
    if machine.cpu_model is not None:
        return machine
    try:
        asked = subprocess.run(
            python_command(_ASK), env=environment(), capture_output=True, check=False, timeout=_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return machine
    name = one_line(asked.stdout.decode(errors="replace").strip())
    return replace(machine, cpu_model=f"{name} (by py-cpuinfo)") if name and not asked.returncode else machine
