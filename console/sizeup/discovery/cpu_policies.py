"""Settings of cpufreq by policy, which is a CPU or a group of them (Documentation/admin-guide/pm/cpufreq.rst)."""

from __future__ import annotations

import re
from collections import Counter

from sizeup.discovery.sysroot import Sysroot
from sizeup.text import one_line

_CPUS = "/sys/devices/system/cpu"
_POLICY = re.compile(r"policy\d{1,5}")
_POLICIES_LIMIT = 8192
_TEXT_LIMIT, _SHOWN = 64, 8


class CpuPolicies:
    """The policies of one machine; kernels and captures without them have those of their CPUs alone."""

    def __init__(self, sysroot: Sysroot, cpu: int) -> None:
        self._sysroot = sysroot
        self._cpu = f"{_CPUS}/cpu{cpu}/cpufreq"
        names = [name for name in sysroot.names(f"{_CPUS}/cpufreq") if _POLICY.fullmatch(name)]
        self._policies = [f"{_CPUS}/cpufreq/{name}" for name in names[:_POLICIES_LIMIT]]

    def setting(self, name: str) -> str | None:
        """Return a setting, ``performance``; where policies differ, each with how many have it, the most first."""
        own = self._sysroot.line(f"{self._cpu}/{name}")
        counts = Counter(text for policy in self._policies if (text := self._sysroot.line(f"{policy}/{name}")))
        if len(counts) < 2:
            found = next(iter(counts), own)
            return None if found is None else one_line(found, _TEXT_LIMIT) or None
        total = sum(counts.values())
        return ", ".join(
            f"{one_line(text, _TEXT_LIMIT)} ({count} of {total} policies)" for text, count in counts.most_common(_SHOWN)
        )


def values_of(setting: str | None) -> tuple[str, ...]:
    """Return the values in a text of ``setting``: one, or those of the policies that differ."""
    return () if setting is None else tuple(part.partition(" (")[0] for part in setting.split(", "))
