"""What libvirt, libnvme, Prometheus and others say of the devices of a recording, in our terms."""

from typing import Any

from sizeup.model.machine import Machine
from sizeup.procfs.lists import format_list
from topology_oracles import Comparison


def libvirt_fc(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """FC adapters by name."""
    ours, theirs = {}, {}
    hbas = {hba.name: hba for hba in machine.hbas}
    for name, host in entry["fc_hosts"].items():
        hba = hbas[name]
        ours[name] = (hba.port_name, hba.node_name, hba.fabric_name)
        theirs[name] = (host["wwpn"], host["wwnn"], host.get("fabric_wwn"))
    online = next(hba.name for hba in machine.hbas if hba.state == "Online")
    return {"fc_hosts": (ours, theirs), "first_online": (online, entry["first_online_vport_capable"])}


def libnvme(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """NVMe controllers, namespaces with their paths, subsystems; without ANA every path is optimized."""
    nqns = {subsystem.name: subsystem.nqn for subsystem in machine.nvme_subsystems}
    return {
        "controllers": (
            {c.name: {"traddr": c.address, "transport": c.transport} for c in machine.nvme_controllers},
            entry["controllers"],
        ),
        "subsystems": (sorted(nqns), sorted(entry["subsystems"])),
        "namespaces": (
            {
                n.name: {
                    "controllers": list(n.controllers),
                    "nqn": nqns.get(n.subsystem or ""),
                    "nsid": n.namespace_id,
                    "paths": [
                        {"ana": p.ana_state or "optimized", "numa_nodes": format_list(p.numa_nodes), "path": p.name}
                        for p in n.paths
                    ],
                    "subsystem": n.subsystem,
                }
                for n in machine.nvme_namespaces
            },
            entry["namespaces"],
        ),
    }


def _gigabits(text: str | None) -> int | None:
    return None if not text else int(text.split()[0]) * 10**9


def prometheus(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Procfs and node_exporter: a class of devices each."""
    out: Comparison = {}
    hbas = {hba.name: hba for hba in machine.hbas}
    for name, host in entry.get("fc_hosts", {}).items():
        hba = hbas[name]
        out[f"fc_hosts.{name}"] = (
            (hba.port_name, hba.state, hba.speed_bits_per_second),
            (host["port_name"] or None, host["port_state"], _gigabits(host["speed"])),
        )
    for name, host in entry.get("sas_hosts", {}).items():
        out[f"sas_hosts.{name}"] = (hbas[name].phys, host["phys"])
    controllers = {controller.name: controller for controller in machine.nvme_controllers}
    for name, wanted in entry.get("nvme", {}).items():
        c = controllers[name]
        out[f"nvme.{name}"] = (
            (c.model, c.serial, c.firmware, c.state),
            tuple(wanted.get(key, wanted.get(f"{key}_revision")) for key in ("model", "serial", "firmware", "state")),
        )
    nics = {nic.name: nic for nic in machine.nics}
    for name, wanted in entry.get("nics", {}).items():
        nic = nics[name]
        pairs = {
            "address": nic.mac,
            "duplex": nic.duplex,
            "mtu": nic.mtu,
            "speed": nic.speed_bits_per_second and nic.speed_bits_per_second // 10**6,
            "operstate": "up" if nic.up else "down",
        }
        out[f"nics.{name}"] = (
            {key: pairs[key] for key in wanted if key in pairs},
            {k: v for k, v in wanted.items() if k in pairs},
        )
    for address, wanted in entry.get("pci", {}).items():
        f = next(function for function in machine.pci if function.address == address)
        ours = {
            "cls": f"{f.class_code:06x}",
            "cur": f.link and [f.link.gigatransfers, f.link.width],
            "max": f.link_limit and [f.link_limit.gigatransfers, f.link_limit.width],
            "numa": -1 if f.node is None else f.node,
            "parent": f.parent,
            "sriov_numvfs": f.virtual_functions,
            "sriov_totalvfs": f.virtual_functions_limit,
        }
        out[f"pci.{address}"] = (
            {key: ours[key] for key in wanted if key in ours},
            {k: v for k, v in wanted.items() if k in ours},
        )
    maps = {found.name: found for found in machine.maps}
    for name, wanted in entry.get("multipath", {}).items():
        m = maps[name]
        out[f"multipath.{name}"] = (
            {
                "dm": m.device,
                "paths": {p.device: p.state for p in m.paths},
                "size": m.size_bytes,
                "suspended": m.suspended,
                "uuid": m.uuid,
            },
            wanted,
        )
    for name in entry.get("not_multipath", ()):
        out[f"not_multipath.{name}"] = (any(m.device == name for m in machine.maps), False)
    # Of several mounts on one place the one with statistics is theirs.
    mounts = {mount.mount_point: mount for mount in machine.nfs_mounts if mount.age_seconds is not None}
    for wanted in entry.get("nfs_mounts", ()):
        mount = mounts.get(wanted.get("mount", ""))
        if mount is None:
            mount = next(m for m in machine.nfs_mounts if m.export == wanted.get("export", wanted.get("device")))
        ours = {
            "age": mount.age_seconds,
            "device": mount.export,
            "export": mount.export,
            "mount": mount.mount_point,
            "proto": mount.protocol,
            "retrans": next((int(o[8:]) for o in mount.options if o.startswith("retrans=")), None),
            "rsize": mount.read_size_bytes,
            "wsize": mount.write_size_bytes,
            "sec": mount.security,
            "vers": mount.version,
            "xprts": mount.transports,
        }
        out[f"nfs.{mount.mount_point}"] = (
            {k: ours[k] for k in wanted if k in ours},
            {k: v for k, v in wanted.items() if k in ours},
        )
    bonds = {nic.name: nic for nic in machine.nics if nic.kind == "bond"}
    for name, wanted in entry.get("bonding", {}).items():
        lower = bonds[name].lower
        out[f"bonding.{name}"] = (len(lower), wanted["slaves"])
    arrays = {device.name: device for device in machine.block_devices}
    for name, wanted in entry.get("md", {}).items():
        if name in arrays and "raid_disks" in wanted:
            out[f"md.{name}"] = (
                (arrays[name].raid_disks, arrays[name].raid_degraded or 0),
                (wanted["raid_disks"], wanted["degraded"]),
            )
    for name, wanted in entry.get("disks", {}).items():
        if name in arrays:
            d = arrays[name]
            # Serials are in a udev database that the recording has packed away; unknown is printed as 0.
            out[f"disks.{name}"] = (bool(d.rotational), wanted["rotational"] == "1")
    for name, wanted in entry.get("infiniband", {}).items():
        rates = {str(p.port): (p.rate_bits_per_second or 0) / 8 for p in machine.rdma_ports if p.device == name}
        out[f"infiniband.{name}"] = (rates, wanted["rate_Bps"])
    return out


def telegraf(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Mount points that must be there."""
    mounts = {mount.mount_point for mount in machine.nfs_mounts}
    wanted = entry["mounts_at_least"]
    return {"mounts_at_least": ([where for where in wanted if where in mounts], wanted)}


def lsblk(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Lsblk's columns that we have."""
    devices = {device.dm_name or device.name: device for device in machine.block_devices}
    out: Comparison = {}
    for name, wanted in entry["devices"].items():
        d = devices.get(name)
        if d is None:
            out[name] = (None, wanted)
            continue
        ours = {
            "KNAME": d.name,
            "MAJ:MIN": d.devno,
            "RO": str(int(bool(d.read_only))),
            "LOG-SEC": str(d.logical_block_bytes),
            "PHY-SEC": str(d.physical_block_bytes),
            "ROTA": str(int(bool(d.rotational))),
        }
        if d.parent is None:
            ours["SCHED"] = d.scheduler
            ours["RQ-SIZE"] = str(d.queue_depth_limit)
            ours["MODEL"] = d.model and d.model.split()[0]  # the table was split at blanks
        if "STATE" in wanted and d.parent is None and d.state is not None:
            ours["STATE"] = d.state
        keys = [key for key in ours if key in wanted]
        out[name] = ({key: ours[key] for key in keys}, {key: wanted[key] for key in keys})
    return out
