"""Names of what a machine runs on: bare metal, a hypervisor, or unknown."""

from __future__ import annotations

from sizeup.discovery.virtualization import DOM0
from sizeup.model.platform import CloudInstance, Platform

_NAMES = {
    "kvm": "KVM",
    "qemu": "QEMU (with KVM or by emulation)",
    "tcg": "QEMU by emulation (TCG)",
    "vmware": "VMware",
    "virtualbox": "VirtualBox",
    "hyperv": "Hyper-V",
    "xen": "Xen",
    "zvm": "z/VM",
    "phyp": "PowerVM",
    "pr/sm": "PR/SM, in a logical partition (LPAR)",
}

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
    name = platform.hypervisor
    return f"guest under {_NAMES.get(name, name) if name else 'an unnamed hypervisor'}"


def cloud_text(cloud: CloudInstance) -> str:
    """Return provider, instance type and region: ``Amazon EC2, m5.large, eu-west-1``."""
    kind = cloud.instance_type or "instance type unknown: no file names it (the provider's console does)"
    return ", ".join(filter(None, (cloud.provider, kind, cloud.region)))
