"""Second opinions: what psutil and py-cpuinfo make of the same machine.

They never replace what the kernel's files say; where they disagree, both figures are shown. py-cpuinfo
takes more than a second, most of it asleep in a child process, so nothing may wait for it but a user
who asked.
"""

from __future__ import annotations

from msgspec import Struct

from sizeup.child_process import environment, python_command
from sizeup.errors import SizeupError
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.text import one_line

try:
    import psutil
except ImportError:  # a viewer is installed without it
    psutil = None

_MEMORY_TOLERANCE = 0.01
_ASK_CPUINFO = "import json, cpuinfo; print(json.dumps(cpuinfo.get_cpu_info()))"


class Opinion(Struct, frozen=True):
    """One figure of another library."""

    library: str
    what: str
    theirs: str
    ours: str
    agrees: bool


def psutil_opinions(machine: Machine) -> tuple[Opinion, ...]:
    """Counts and memory; psutil knows no cpusets, sockets or nodes."""
    if psutil is None:
        return ()
    threads, cores, ours = psutil.cpu_count() or 0, psutil.cpu_count(logical=False), machine.core_count
    total = psutil.virtual_memory().total
    memory = machine.memory_bytes
    online = machine.pu_counts.online
    return (
        Opinion("psutil", "threads online", str(threads), str(online), threads == online),
        Opinion(
            "psutil", "cores", str(cores or "unknown"), str(ours or "unknown"), None in (cores, ours) or cores == ours
        ),
        Opinion(
            "psutil", "memory in bytes", str(total), str(memory),
            memory is not None and abs(total - memory) <= _MEMORY_TOLERANCE * memory,
        ),
    )  # fmt: skip


def cpuinfo_opinions(machine: Machine) -> tuple[Opinion, ...]:
    """Name and count as py-cpuinfo finds them; takes more than a second."""
    import json
    import subprocess

    # It starts processes in ways that differ by version of Python, some of which look into the working directory.
    asked = subprocess.run(python_command(_ASK_CPUINFO), env=environment(), capture_output=True, check=False)
    if asked.returncode:
        reason = one_line(asked.stderr.decode(errors="replace").strip().rpartition("\n")[2])
        raise SizeupError(f"py-cpuinfo gave no second opinion: {reason}")
    found = json.loads(asked.stdout)
    name, count = str(found.get("brand_raw", "")), int(found.get("count", 0))
    ours = machine.cpu_model or ""
    return (
        Opinion("py-cpuinfo", "processor", name, ours, " ".join(name.split()) == ours),
        Opinion("py-cpuinfo", "threads", str(count), str(machine.pu_counts.online), count == machine.pu_counts.online),
    )


def disagreements(opinions: tuple[Opinion, ...]) -> tuple[Finding, ...]:
    """One finding for all that disagree; none where all agree."""
    odd = [opinion for opinion in opinions if not opinion.agrees]
    if not odd:
        return ()
    return (
        Finding(
            "tools.disagree",
            Severity.INFO,
            f"{' and '.join(dict.fromkeys(opinion.library for opinion in odd))} and the kernel's files disagree",
            tuple(f"{o.what}: {o.ours} in the kernel's files, {o.theirs} from {o.library}" for o in odd),
            "Other tools on this host may show the other figures; those of the kernel are used here.",
            "Check the figures against the data sheet.",
            ("machine",),
        ),
    )
