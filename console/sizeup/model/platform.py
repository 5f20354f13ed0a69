"""Kernel, hypervisor, clock source: what the machine runs on and under."""

from __future__ import annotations

from msgspec import Struct


class ControlGroup(Struct, frozen=True):
    """What the cgroup of this process allows it; None where it sets no limit or it is unknown."""

    path: str | None = None
    cpus: tuple[int, ...] | None = None
    """CPUs of its cpuset."""
    cpu_quota: float | None = None
    """CPUs' worth of time it may use, such as 1.5."""
    memory_bytes: int | None = None
    limits_known: bool = False
    """Whether its limits could be read: None then says that there is none."""


class CloudInstance(Struct, frozen=True):
    """What a cloud rents out as this machine, by files alone."""

    provider: str
    evidence: str
    """What names the provider, such as the words of DMI."""
    instance_type: str | None = None
    """``m5.large``; None where no file names it, as the DMI of most providers does not."""
    type_source: str | None = None
    region: str | None = None


class LogicalPartition(Struct, frozen=True):
    """The processors of a partition of PowerVM; None for what the firmware does not say."""

    shared: bool | None = None
    """Whether it shares its processors with other partitions; they are its own otherwise."""
    capped: bool | None = None
    """Whether it gets no more of them than its entitled capacity."""
    entitled_cores: float | None = None
    """Entitled capacity."""
    max_entitled_cores: float | None = None
    """What the entitled capacity can be raised to while it runs."""
    server_cores: int | None = None
    """Physical processors that are active in the server."""


class Platform(Struct, frozen=True):
    """What is true of the machine as a whole; None where it could not be read."""

    architecture: str | None = None
    kernel: str | None = None
    hostname: str | None = None
    hypervisor: str | None = None
    """``kvm``, ``vmware``, ``xen``, ``hyperv`` ...; None on bare metal or where it is unknown (see ``is_guest``).

    ``qemu`` where nothing tells whether QEMU uses KVM, ``tcg`` where it emulates the CPU, ``xen-dom0`` in the control
    domain of Xen, which is no guest but has virtual CPUs.
    """
    is_guest: bool | None = None
    """True under a hypervisor, False where something proves bare metal, None where it is unknown."""
    guest_evidence: str | None = None
    """What settled ``is_guest``, in words."""
    container: str | None = None
    """What contains this process, such as ``docker``, ``podman`` or ``lxc``; None where no sign of it is found."""
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()
    command_line: str | None = None
    governor: str | None = None
    """Of cpufreq; where its policies differ, each with how many have it."""
    transparent_huge_pages: str | None = None
    numa_balancing: bool | None = None
    model: str | None = None
    """What DMI calls the product, POWER the ``machine``, and IBM Z its type and model."""
    vendor: str | None = None
    serial: str | None = None
    """Of the product, from DMI; only root can read it."""
    firmware: str | None = None
    """Version of the BIOS."""
    kernel_settings: tuple[str, ...] = ()
    """Words of the command line that change what is measured: ``numa=off``, ``isolcpus=2-7`` ..."""
    frequency_driver: str | None = None
    turbo: bool | None = None
    """Whether the clock may rise above its base; None where no driver reports it."""
    shared_memory_controller: bool | None = None
    """Whether all sockets reach memory over one controller (front-side bus), by the CPU's family and model."""
    chassis_type: int | None = None
    """Number of SMBIOS 7.4.1, from DMI: 9 a laptop, 17 and 23 servers."""
    smt: str | None = None
    """``on``, ``off``, ``forceoff``, ``notsupported`` ... as in the kernel's SMT control."""
    isolated_cpus: tuple[int, ...] = ()
    tickless_cpus: tuple[int, ...] = ()
    """CPUs of ``nohz_full``."""
    steal_share: float | None = None
    """Share of CPU time since boot that the hypervisor gave to others, 0 to 1; None outside guests."""
    control_group: ControlGroup | None = None
    affinity: tuple[int, ...] | None = None
    """CPUs this process may be scheduled on; None where not captured."""
    memlock_bytes: int | None = None
    """How much this process may lock in memory; None when unlimited or unknown (see ``memlock_unlimited``)."""
    memlock_unlimited: bool | None = None
    hidden: tuple[str, ...] = ()
    """What a container or hypervisor keeps from view, in words."""
    cloud: CloudInstance | None = None
    """None where no file names a cloud."""
    partition: LogicalPartition | None = None
    """None where this is no partition of PowerVM, or where its processors are unknown."""
    z_partition: str | None = None
    """Kind and CPUs of the logical partition of IBM Z that this runs in: ``shared, 4 CPUs``; None elsewhere."""
