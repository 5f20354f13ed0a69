"""Kernel, hypervisor, container, clock source and the settings that change what is measured."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from sizeup.discovery.cpuinfo import CpuInfo
from sizeup.discovery.cpus import CPU
from sizeup.discovery.cpuset import CpusetLimits
from sizeup.discovery.os_settings import bracketed, policy_setting
from sizeup.discovery.sysroot import Sysroot
from sizeup.discovery.virtualization import DMI, POWERVM, read_cloud, read_virtualization
from sizeup.model.machine import ControlGroup, LogicalPartition, PciFunction, Platform
from sizeup.procfs.lists import parse_cpulist
from sizeup.procfs.lparcfg import LPARCFG, parse_lparcfg
from sizeup.procfs.mounts import parse_mounts
from sizeup.procfs.process import parse_cgroup, parse_limits
from sizeup.procfs.stat import parse_stat
from sizeup.units import whole_number

_CLOCKS = "/sys/devices/system/clocksource/clocksource0"

_SETTINGS = (
    "numa", "numa_balancing", "isolcpus", "nohz_full", "nohz", "rcu_nocbs", "mitigations", "transparent_hugepage",
    "hugepages", "hugepagesz", "default_hugepagesz", "maxcpus", "nr_cpus", "nosmt", "mem", "memmap", "clocksource",
    "tsc", "notsc", "idle", "processor.max_cstate", "intel_idle.max_cstate", "cpufreq.default_governor",
    "intel_pstate", "amd_pstate", "pcie_aspm", "iommu", "intel_iommu", "amd_iommu", "noapic", "acpi", "elevator",
    "scsi_mod.use_blk_mq", "nvme_core.multipath", "nvme.poll_queues", "hpet", "cgroup_disable", "preempt",
)  # fmt: skip


def _container(sysroot: Sysroot) -> str | None:
    for path, name in (("/run/.containerenv", "podman"), ("/.dockerenv", "docker")):
        if sysroot.exists(path):
            return name
    for variable in (sysroot.read("/proc/1/environ") or "").split("\0"):
        if variable.startswith("container="):
            return variable.partition("=")[2] or "container"
    groups = sysroot.read("/proc/1/cgroup") or ""
    for word in ("kubepods", "docker", "libpod", "lxc"):
        if f"/{word}" in groups:
            return {"kubepods": "kubernetes", "libpod": "podman"}.get(word, word)
    return None


def _control_group(sysroot: Sysroot, cpuset_limits: CpusetLimits) -> ControlGroup | None:
    """Quota and memory limit of our cgroup, from whichever version holds the controller."""
    paths = {}
    for group in parse_cgroup(sysroot.read("/proc/self/cgroup") or ""):
        for controller in group.controllers or ("",):
            paths[controller] = "" if group.path == "/" else group.path
    if not paths and cpuset_limits.cpuset is None:
        return None
    quota = memory = None
    known = False
    for mount in parse_mounts(sysroot.read("/proc/mounts") or ""):
        if mount.kind == "cgroup2" and "" in paths:
            base = mount.point + paths[""]
            words = (sysroot.line(f"{base}/cpu.max") or "").split()
            quota = _ratio(*words) if len(words) == 2 and quota is None else quota
            limit = sysroot.line(f"{base}/memory.max")
            known |= sysroot.whole or limit is not None  # the group at the root has no such file
            memory = whole_number(limit or "") if memory is None else memory
        elif mount.kind == "cgroup" and "cpu" in mount.options and "cpu" in paths:
            base = mount.point + paths["cpu"]
            quota = _ratio(
                sysroot.line(f"{base}/cpu.cfs_quota_us") or "", sysroot.line(f"{base}/cpu.cfs_period_us") or ""
            )
        elif mount.kind == "cgroup" and "memory" in mount.options and "memory" in paths:
            limit = sysroot.line(f"{mount.point}{paths['memory']}/memory.limit_in_bytes")
            known |= limit is not None
            # Version 1 writes "no limit" as the largest multiple of a page, which has 19 digits.
            memory = memory if (found := whole_number(limit or "")) is None else found
    return ControlGroup(cpuset_limits.cgroup or paths.get("") or None, cpuset_limits.cpuset, quota, memory, known)


def _ratio(quota: str, period: str) -> float | None:
    microseconds, every = whole_number(quota), whole_number(period)
    return microseconds / every if microseconds and every else None


def _cpu_set(sysroot: Sysroot, name: str) -> tuple[int, ...]:
    text = sysroot.line(f"{CPU}/{name}")
    # nohz_full prints "(null)" where it was never set.
    return () if text is None or "null" in text else sysroot.parsed(f"{CPU}/{name}", parse_cpulist) or ()


def _product(sysroot: Sysroot, cpuinfo: CpuInfo, sysinfo: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Product and vendor: from DMI, of IBM Z from ``/proc/sysinfo``, else from cpuinfo or the device tree."""
    product, vendor = sysroot.line(f"{DMI}/product_name"), sysroot.line(f"{DMI}/sys_vendor")
    if product is not None or vendor is not None:
        return product, vendor
    if machine_type := sysinfo.get("Type"):
        model = sysinfo.get("Model")
        return f"type {machine_type}" + (f", model {model}" if model else ""), sysinfo.get("Manufacturer") or None
    tree = (sysroot.read("/proc/device-tree/model") or "").split("\0")[0].strip()
    return cpuinfo.machine or tree or None, None


def _partition(sysroot: Sysroot) -> LogicalPartition | None:
    """Return the processors of a partition of PowerVM; what keeps them unknown is a gap."""
    text = sysroot.read(LPARCFG)
    found = None if text is None else parse_lparcfg(text)
    if found is None and not any(gap.subject == LPARCFG for gap in sysroot.gaps):
        sysroot.note(LPARCFG, "missing" if text is None else "names no processors of the partition")
    return found


def read_platform(
    sysroot: Sysroot, cpuinfo: CpuInfo, cpuset_limits: CpusetLimits, functions: Iterable[PciFunction]
) -> Platform:
    """Everything that is true of the machine as a whole; ``functions`` are those of PCI."""
    sysinfo: dict[str, str] = {}  # of IBM Z, a line for each name
    for line in (sysroot.read("/proc/sysinfo") or "").splitlines():
        key, _, value = line.partition(":")
        sysinfo.setdefault(key, " ".join(value.split()))
    product, vendor = _product(sysroot, cpuinfo, sysinfo)
    virtualization = read_virtualization(sysroot, cpuinfo, functions)
    virtual = virtualization.is_guest or virtualization.hypervisor is not None
    container = _container(sysroot)
    command_line = sysroot.line("/proc/cmdline")
    first = cpuinfo.processors[0] if cpuinfo.processors else 0
    limits = parse_limits(sysroot.read("/proc/self/limits") or "")
    hidden = []
    if container is not None:
        hidden.append(f"{container}: memory, processes and devices of the host that the container does not share")
    if virtual:
        hidden.append("hypervisor: the real sockets, caches, memory placement and links behind virtual devices")
    architecture = sysroot.line("/proc/sys/kernel/arch")  # since 6.1, and in every capture that sizeup made
    if architecture is None:
        architecture = os.uname().machine if sysroot.live else "x86_64" if "lm" in cpuinfo.flags else None
    kernel = sysroot.line("/proc/sys/kernel/osrelease")
    if kernel is None and (match := re.match(r"\S+\s+version\s+(\S+)", sysroot.line("/proc/version") or "")):
        kernel = match[1]
    no_turbo = sysroot.integer(f"{CPU}/intel_pstate/no_turbo")
    boost = sysroot.integer(f"{CPU}/cpufreq/boost") if no_turbo is None else int(no_turbo == 0)
    stat = parse_stat(sysroot.read("/proc/stat") or "") if virtual else None
    kind, cpus = sysinfo.get("LPAR Characteristics", "").lower(), sysinfo.get("LPAR CPUs Configured")
    return Platform(
        architecture=architecture,
        kernel=kernel,
        hostname=sysroot.line("/proc/sys/kernel/hostname"),
        hypervisor=virtualization.hypervisor,
        is_guest=virtualization.is_guest,
        guest_evidence=virtualization.evidence,
        container=container,
        clock_source=sysroot.line(f"{_CLOCKS}/current_clocksource"),
        clock_sources=tuple((sysroot.line(f"{_CLOCKS}/available_clocksource") or "").split()),
        command_line=command_line,
        governor=policy_setting(sysroot, first, "scaling_governor"),
        transparent_huge_pages=bracketed(sysroot.line("/sys/kernel/mm/transparent_hugepage/enabled")),
        numa_balancing=sysroot.flag("/proc/sys/kernel/numa_balancing"),
        model=product,
        vendor=vendor,
        serial=sysroot.line(f"{DMI}/product_serial"),
        firmware=sysroot.line(f"{DMI}/bios_version"),
        kernel_settings=tuple(word for word in (command_line or "").split() if word.partition("=")[0] in _SETTINGS),
        frequency_driver=sysroot.line(f"{CPU}/cpu{first}/cpufreq/scaling_driver"),
        turbo=None if boost is None else boost == 1,
        shared_memory_controller=shared_memory_controller(cpuinfo),
        chassis_type=whole_number(sysroot.line(f"{DMI}/chassis_type") or ""),
        smt=sysroot.line(f"{CPU}/smt/control"),
        isolated_cpus=_cpu_set(sysroot, "isolated"),
        tickless_cpus=_cpu_set(sysroot, "nohz_full"),
        steal_share=stat.steal / stat.total if stat is not None and stat.total else None,
        control_group=_control_group(sysroot, cpuset_limits),
        affinity=cpuset_limits.affinity,
        z_partition=", ".join(filter(None, (kind, f"{cpus} CPUs" if cpus else None))) or None,
        memlock_bytes=limits.get("Max locked memory"),
        memlock_unlimited=limits["Max locked memory"] is None if "Max locked memory" in limits else None,
        hidden=tuple(hidden),
        cloud=read_cloud(sysroot),
        partition=_partition(sysroot) if virtualization.hypervisor == POWERVM else None,
    )


_INTEL_NETBURST = 15
_INTEL_FRONT_SIDE_BUS = (*range(0x18), 0x1D)
"""Models of Intel's family 6 before Nehalem (0x1A), and Dunnington; arch/x86/include/asm/intel-family.h."""
_AMD_K8 = 15


def shared_memory_controller(cpuinfo: CpuInfo) -> bool | None:
    """Return whether all sockets reach memory over one controller, outside them; None where the CPU family is no x86.

    Intel's had a front-side bus until Nehalem; AMD's have had controllers of their own since family 15 (K8).
    """
    family, model = cpuinfo.family, cpuinfo.model_number
    if family is None or not cpuinfo.is_x86:
        return None
    if cpuinfo.vendor == "GenuineIntel" and model is not None:
        return family < 6 or family == _INTEL_NETBURST or (family == 6 and model in _INTEL_FRONT_SIDE_BUS)
    if cpuinfo.vendor in ("AuthenticAMD", "HygonGenuine"):
        return family < _AMD_K8
    return None
