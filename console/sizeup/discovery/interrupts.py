"""To which CPUs the interrupts of devices go: ``msi_irqs`` of a PCI function, and ``/proc/irq``."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.discovery.device_parents import PCI_DEVICES
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.devices import DeviceInterrupts
from sizeup.procfs.kernel_file import Unreadable
from sizeup.procfs.lists import parse_cpulist

_IRQ = "/proc/irq"
_OF_DEVICE_LIMIT, _LIMIT = 512, 8192
_AFFINITY = ("effective_affinity_list", "smp_affinity_list")
"""Where the interrupt goes; where it may go, on kernels that do not tell (before Linux 4.13)."""


def _cpus(sysroot: Sysroot, irq: str) -> tuple[int, ...]:
    for name in _AFFINITY:
        data = sysroot.answer(f"{_IRQ}/{irq}/{name}")
        if isinstance(data, Unreadable):
            continue  # only root may read some of them; the CPUs are unknown then
        try:
            found = parse_cpulist(data.decode("ascii", "replace").strip())
        except ValueError:
            continue
        if found:
            return found
    return ()


def read_interrupts(sysroot: Sysroot, addresses: Iterable[str]) -> tuple[DeviceInterrupts, ...]:
    """Return the interrupts of these PCI functions; those without any, or of a capture without them, are left out."""
    if not sysroot.exists(_IRQ):
        return ()
    left = _LIMIT
    found = []
    for address in dict.fromkeys(addresses):
        irqs = [
            name for name in sysroot.names(f"{PCI_DEVICES}/{address}/msi_irqs") if name.isdecimal() and len(name) < 7
        ]
        read = irqs[: min(_OF_DEVICE_LIMIT, left)]
        left -= len(read)
        if irqs:
            cpus = {cpu for irq in read for cpu in _cpus(sysroot, irq)}
            found.append(DeviceInterrupts(address, len(irqs), tuple(sorted(cpus))))
    return tuple(found)
