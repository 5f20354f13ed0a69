"""A delivered machine held against the one that was ordered, part by part."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.storage import Transport
from sizeup.quantity import Origin, Quantity, Uncertainty, Words
from sizeup.sizing.advise import Sizing, answer, is_virtual, size
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.imported import FILE_KEYS
from sizeup.sizing.io.array import FEWEST_DRIVES, StageCapacity
from sizeup.sizing.io.capacity import STORAGE, path_stages, stated_stages
from sizeup.sizing.io.share import of_mix
from sizeup.sizing.keys import KEYS
from sizeup.sizing.memory import KERNEL_SHARE
from sizeup.sizing.rules import Rules
from sizeup.sizing.server_share import PRESENT_PROCESSOR
from sizeup.sizing.sheet import Inputs, Sheet
from sizeup.sizing.storage_paths import down_devices, internal_disks, storage_path_bandwidths, visible_disks
from sizeup.sizing.verdict import limits
from sizeup.sizing.workload import workload_demand

_COUNTED = {
    "cluster.nodes": 1.0, "machine.socket_capacity": 1.0, "machine.sockets": 1.0, "machine.cores": 1.0,
    "machine.cores_per_socket": 1.0, "machine.threads_per_core": 1.0, "machine.vcpus": 1.0,
    "machine.memory_gib": 1 - KERNEL_SHARE, "machine.ghz": 0.99, "array.disks": 1.0, "array.disk_gb": 0.99,
}  # fmt: skip
"""What is counted, each with the share of it that is as ordered: the kernel keeps memory, sizes are rounded."""
_NAMED = ("machine.guest", "machine.cpu_model", "array.drive", "array.raid")
_VIRTUAL = "of a guest, not of its server: check the server itself"
_COMPARED_BY = {"path.stages": "path.bandwidth_mb_s", "array.drive_iops": "capacity.iops"}
_FOUND = "/sys/block"
_TYPED = (Origin.USER, Origin.IMPORTED)


class DeliveredPart(Struct, frozen=True):
    """One part as ordered and as found; figures in base units."""

    key: str
    """The input that states it; of ``path.stages`` with ``.ports`` or ``.cards``."""
    ordered: float | str
    found: float | str | None
    """None where it is unknown."""
    unit: str
    """The base unit of both; empty for words."""
    status: str
    """``as ordered``, ``more``, ``missing``, ``slower``, ``different``, ``down``, ``uncertain`` or ``unknown``."""
    uncertainty: Uncertainty | None = None
    """What leaves a figure uncertain."""
    licensed: bool = False
    """Whether the licenses of the order count what is more."""
    refusal: str = ""
    """Why the edition of the order is not permitted with what is more; empty where it is."""
    down: str = ""
    """The ports that were delivered and carry no data, each with its state."""
    by_workload: bool = False
    """Whether it is what the workload of the order needs, and not what the parts of the order are good for."""


def _with_drives(inputs: Inputs, machine: Machine | None) -> dict[str, Value]:
    """Add number, size, kind and RAID level of the drives of a machine where neither array nor host hides any."""
    names = frozenset[str]() if machine is None else internal_disks(machine)
    disks = [] if machine is None else [one for one in machine.block_devices if one.name in names]
    if machine is None or not disks or visible_disks(machine) - names:
        return dict(inputs)
    least = min(one.size_bytes or 0 for one in disks)
    kinds = {"nvme" if one.name.startswith("nvme") else "hdd" if one.rotational else "ssd-sata" for one in disks}
    levels = {(one.raid_level or "").removeprefix("raid") for one in machine.block_devices}
    levels = {level for level in levels if len(disks) >= FEWEST_DRIVES.get(level, math.inf)}
    found: dict[str, Value] = {"array.disks": Quantity(len(disks), "1", Origin.DETECTED, _FOUND)}
    if least:
        found["array.disk_gb"] = Quantity(least, "bytes", Origin.DETECTED, _FOUND)
    for key, words in (("array.drive", kinds), ("array.raid", levels)):
        if len(words) == 1:
            found[key] = Words(words.pop(), Origin.DETECTED, _FOUND)
    return {**found, **inputs}


def delivered_sizing(inputs: Inputs, machine: Machine | None, rules: Rules) -> Sizing:
    """Return the sizing of a delivered machine with its drives; what somebody counted need not be whole pairs.

    Space is that of the pairs, and unknown of fewer drives than their RAID level needs.
    """
    values = _with_drives(inputs, machine)
    disks, raid = values.get("array.disks"), values.get("array.raid")
    if not isinstance(disks, Quantity) or not isinstance(raid, Words):
        return size(values, rules)
    pairs = raid.value in ("1", "10") and disks.origin is not Origin.DETECTED  # md spreads copies over any number
    used = disks.value - disks.value % (2 if pairs else 1)
    values["array.disks"] = replace(disks, value=used)
    if used < FEWEST_DRIVES[raid.value]:
        del values["array.disks"]
    found = size(values, rules)
    return replace(found, inputs={**found.inputs, "array.disks": disks})


def delivered_parts(
    order: Sizing, here: Sizing, rules: Rules, machine: Machine | None = None
) -> Iterator[DeliveredPart]:
    """Yield each part that the order states, with what the delivered machine has of it.

    What was counted is missing where it is less; what was measured is slower where even its upper end is less, and
    uncertain where the order lies between its ends.
    """
    for key, share in _COUNTED.items():
        ordered = _stated(order, key)
        if ordered is not None:
            found = _stated(here, key)
            counted = _part(key, ordered, found, share, counted=True)
            known = found if key.startswith("machine.") else None
            yield counted if known is None else _of_server(counted, known, order, here, rules)
    for key in _NAMED:
        wanted, there = (one.inputs.get(key) for one in (order, here))
        if isinstance(wanted, Words):
            yield _named(key, wanted.value, there.value if isinstance(there, Words) else None)
    yield from _ports(order, here, machine, rules)
    paths = [_path(one, rules) for one in (order, here)]
    if paths[0] is not None:
        down = ""
        if machine is not None and _is_fc(order, rules) and "path.stages" not in here.inputs:
            down, paths[1] = _fc_down(machine), _fc_path(here, machine, paths[1])
        of_path = _part("path.bandwidth_mb_s", paths[0], paths[1])
        yield replace(of_path, status="down", down=down) if down and paths[1] is None else of_path
    for key, given in (
        ("capacity.gb", "storage.usable"),
        ("capacity.iops", "io.capacity.iops"),
        ("capacity.mb_s", "io.capacity"),
    ):
        advice, of_drives = order.find(given), here.find(given) if key == "capacity.gb" else None
        ordered, stated = None if advice is None else advice.quantity, _stated(order, key)
        ordered = stated if stated is not None and stated.origin in _TYPED else ordered
        if (needed := None if advice is None else _needed(order, key, rules)) is not None:
            yield replace(_part(key, needed, _of_its_mix(order, here, key, rules)), by_workload=True)
        elif ordered is not None:
            found_space = None if of_drives is None else of_drives.quantity
            block = order.inputs.get("workload.io_kib")
            if key == "capacity.iops" and ordered is not stated and paths[0] and isinstance(block, Quantity):
                through = paths[0].value / block.value  # the ports of the order carry no more
                ordered = replace(ordered, value=through, low=None, high=None) if through < ordered.value else ordered
            all_disks = _stated(here, "path.disks_gb") if key == "capacity.gb" else None
            if all_disks is not None:
                part = Uncertainty(0.0, "all disks that the machine sees", f"Use {KEYS[key].flag}")
                all_disks = replace(all_disks, uncertainties=(part,))
            yield _part(key, ordered, found_space or _stated(here, key) or all_disks)


def not_compared(order: Inputs, parts: Sequence[DeliveredPart]) -> list[str]:
    """Return the keys of an order that no part compares, its workload and its contract aside."""
    compared, aside = {one.key for one in parts}, (*FILE_KEYS["workload"], "license.")
    return [key for key in order if _COMPARED_BY.get(key, key) not in compared and not key.startswith(aside)]


def _of_server(part: DeliveredPart, found: Quantity, order: Sizing, here: Sizing, rules: Rules) -> DeliveredPart:
    """Add why a figure may not be that of the server, or what the contract of the order says of what is more."""
    why = _VIRTUAL if is_virtual(here.inputs) else next(iter(found.caveats), "")
    if why and not is_virtual(order.inputs) and part.key != "machine.vcpus":
        return replace(part, status="uncertain", uncertainty=Uncertainty(None, why, ""))
    if part.status != "more":
        return part
    others = {"machine.cores_per_socket", "machine.socket_capacity"}  # of what was ordered, like the figure itself
    delivered = {key: value for key, value in order.inputs.items() if key not in others}
    keys = ("machine.sockets", "machine.cores") if part.key == "machine.cores_per_socket" else (part.key,)
    delivered |= {key: replace(one, origin=Origin.USER) for key in keys if (one := _stated(here, key)) is not None}
    allowed, count = (answer(delivered, key, rules) for key in ("license.allowed", "license.units"))
    before, after = (None if one is None else one.quantity for one in (order.find("license.units"), count))
    refusal = allowed.verdict if allowed is not None and allowed.decision == "forbidden" else ""
    licensed = before is not None and after is not None and after.value > before.value
    return replace(part, licensed=licensed, refusal=refusal)


def _needed(order: Sizing, key: str, rules: Rules) -> Quantity | None:
    """Return what of the storage passes for the workload, today and in its last year; None where the order states it.

    None without such a workload, too.
    """
    sheet = Sheet(order.inputs, rules)
    demand, bounds = workload_demand(sheet), limits(sheet)
    if demand is None or key == "capacity.gb" or key in order.inputs:
        return None
    amount, unit = (demand.iops, "1/s") if key == "capacity.iops" else (demand.bytes_per_second, "bytes/s")
    if not amount:
        return None
    needed = max(amount / bounds.passes, demand.growth.grown(amount) / bounds.fails)
    return Quantity(needed, unit, Origin.RULE, "workload")


def _of_its_mix(order: Sizing, here: Sizing, key: str, rules: Rules) -> Quantity | None:
    """Return what was found, IOPS at the share of reads of the workload."""
    found, demand = _stated(here, key), workload_demand(Sheet(order.inputs, rules))
    if key != "capacity.iops" or demand is None or found is None:
        return found
    return of_mix(Sheet(here.inputs, rules), StageCapacity(STORAGE, None, found), demand.read_share or 0.0).iops


def _part(
    key: str, ordered: Quantity, found: Quantity | None, share: float = 1.0, *, counted: bool = False
) -> DeliveredPart:
    if found is None:
        return DeliveredPart(key, ordered.value, None, ordered.unit, "unknown")
    speed, enough, most = found.origin is Origin.MEASURED or key == "machine.ghz", ordered.value * share, found.most
    less, more = found.value < enough, share if counted else _COUNTED["array.disk_gb"] if key == "capacity.gb" else 0.0
    ends = (one for one in found.uncertainties if one.upper is less and not one.default and (less or not counted))
    uncertainty = next((one for one in ends if one.end is None or (one.end < enough) is not less), None)
    if most is not None and most < enough:
        status = "slower" if speed else "missing"
    elif uncertainty is None and found.value * more > ordered.value:
        status = "more"
    else:
        status = "as ordered" if uncertainty is None else "uncertain"
    return DeliveredPart(key, ordered.value, found.value, ordered.unit, status, uncertainty)


def _named(key: str, ordered: str, found: str | None) -> DeliveredPart:
    """Return a part that has a name: as ordered where each word of the order is in the name that was found."""
    wanted, there = (set(re.sub(r"\((r|tm)\)", "", (name or "").lower()).split()) for name in (ordered, found))
    if ordered == PRESENT_PROCESSOR or there < wanted:
        status = "unknown"
    else:  # of drives the kind alone is found, without speed or generation
        alike = wanted <= there or (key == "array.drive" and ordered.startswith(f"{found}"))
        status = "as ordered" if alike else "different"
    return DeliveredPart(key, ordered, found, "", status)


def _ports(order: Sizing, here: Sizing, machine: Machine | None, rules: Rules) -> Iterator[DeliveredPart]:
    """Yield the FC ports of the order and their cards, where it names nothing but one such stage in the servers."""
    wanted, stated = (stated_stages(Sheet(one.inputs, rules)) for one in (order, here))
    if not _is_fc(order, rules):
        return
    down = "" if machine is None or stated else _fc_down(machine)
    ports = [] if machine is None else [one for one in machine.hbas if one.transport is Transport.FC]
    slots = {(one.pci_address or one.name).partition(".")[0] for one in ports}
    found = (stated[0].count, stated[0].cards) if len(stated) == 1 else (len(ports) or None, len(slots) or None)
    for what, ordered, there in zip(("ports", "cards"), (wanted[0].count, wanted[0].cards), found, strict=True):
        if ordered is not None:
            count = None if there is None else Quantity(there, "1", Origin.DETECTED, what)
            part = _part(f"path.stages.{what}", Quantity(ordered, "1", Origin.USER, what), count, counted=True)
            if down and what == "ports":
                part = replace(part, status="down" if part.status in ("as ordered", "more") else part.status, down=down)
            yield part
    if len(stated) == 1 and stated[0].link != wanted[0].link:
        yield DeliveredPart("path.stages.link", wanted[0].link, stated[0].link, "", "different")


def _is_fc(order: Sizing, rules: Rules) -> bool:
    """Return whether the order names nothing but one stage in the servers, of FC."""
    wanted = stated_stages(Sheet(order.inputs, rules))
    return len(wanted) == 1 and wanted[0].link.startswith("fc")


def _fc_down(machine: Machine) -> str:
    """Return the FC ports that carry no data, each with its state; empty where all work."""
    states = down_devices(machine)
    down = (one.name for one in machine.hbas if one.transport is Transport.FC and one.name in states)
    return ", ".join(f"{name} ({states[name]})" for name in down)


def _fc_path(here: Sizing, machine: Machine, found: Quantity | None) -> Quantity | None:
    """Return what was found where it is of the FC ports or entered, else what the links of these ports carry."""
    if found is None or found.origin is Origin.USER:
        return found
    ports = {one.name for one in machine.hbas if one.transport is Transport.FC}
    device, kind = (here.inputs.get(key) for key in ("db.device", "path.kind"))
    paths = storage_path_bandwidths(machine, device.value if isinstance(device, Words) else None)
    of_fc = next((one for one in paths if ports.issuperset(one.devices)), None)
    if of_fc is None:
        return None
    if of_fc is not paths[0] or not isinstance(kind, Words) or kind.value != of_fc.kind:
        found = Quantity(of_fc.bytes_per_second, "bytes/s", Origin.DETECTED, ", ".join(of_fc.devices))
    open_end = Uncertainty(None, of_fc.unknown_text, f"Use {KEYS['path.bandwidth_mb_s'].flag}", upper=True)
    return replace(found, uncertainties=(*found.uncertainties, open_end)) if of_fc.unknown else found


def _stated(of: Sizing, key: str) -> Quantity | None:
    """Return a figure that is no default, the one server of a machine aside."""
    value = of.inputs.get(key)
    known = isinstance(value, Quantity) and (value.origin is not Origin.RULE or key == "cluster.nodes")
    return value if known and isinstance(value, Quantity) else None


def _path(of: Sizing, rules: Rules) -> Quantity | None:
    """Return the bandwidth of the narrowest link of the paths; None where it is unknown."""
    links = {key: value for key, value in of.inputs.items() if not key.startswith("capacity.")}
    rates = [stage.rate for stage in path_stages(Sheet(links, rules)) if stage.rate is not None]
    return min(rates, key=lambda rate: rate.value, default=None)
