"""Names of what a machine runs on: bare metal, a hypervisor, or unknown."""

from __future__ import annotations

from sizeup.decoding import data_beside
from sizeup.discovery.virtualization import DOM0
from sizeup.model.machine import CloudInstance, LogicalPartition, Platform
from sizeup.units import format_in

UNPROVEN = "unknown: no evidence of a guest or of bare metal"
"""The text where ``runs_on`` returns None."""


def runs_on(platform: Platform) -> str | None:
    """Return ``guest under KVM``, ``bare metal``, or None if unknown."""
    if platform.hypervisor == DOM0:
        return "control domain (dom0) of Xen"
    if platform.is_guest is None:
        return None
    if not platform.is_guest:
        return "bare metal"
    name, names = platform.hypervisor, data_beside(__file__, "hypervisor_names.toml", dict[str, str])
    return f"guest under {names.get(name, name) if name else 'an unnamed hypervisor'}"


def cloud_text(cloud: CloudInstance) -> str:
    """Return provider, instance type and region: ``Amazon EC2, m5.large, eu-west-1``."""
    kind = cloud.instance_type or "instance type unknown: no file names it (the provider's console does)"
    return ", ".join(filter(None, (cloud.provider, kind, cloud.region)))


def partition_text(partition: LogicalPartition) -> str:
    """Return the processors of a partition: ``shared, capped at 1.5 cores; the server has 16 active cores``."""
    entitled = "" if partition.entitled_cores is None else format_in(partition.entitled_cores, "cores")
    if partition.shared is None:
        kind = f"entitled to {entitled}" if entitled else ""
    elif not partition.shared:
        kind = "dedicated"
    elif partition.capped:
        kind = f"shared, capped at {entitled}" if entitled else "shared, capped"
    else:
        cap = "uncapped" if partition.capped is False else "cap unknown"
        kind = f"shared, {cap}, entitled to {entitled}" if entitled else f"shared, {cap}"
    cores = partition.server_cores
    server = "" if cores is None else f"the server has {format_in(cores, 'active cores')}"
    return "; ".join(filter(None, (kind, server)))
