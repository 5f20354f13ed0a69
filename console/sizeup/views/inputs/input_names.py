"""What inputs of sizing are called: the name of a key in plain words."""

from __future__ import annotations

import re

from sizeup.sizing.keys import KEYS
from sizeup.sizing.rules import shipped
from sizeup.text import capitalized

_LABELS = {
    "machine.sockets": "Sockets",
    "machine.cores": "Cores",
    "machine.cores_per_socket": "Cores per socket",
    "machine.threads_per_core": "Threads per core",
    "machine.vcpus": "Virtual CPUs",
    "machine.ghz": "Base clock",
    "machine.cpu_model": "Processor",
    "machine.memory_gib": "Memory",
    "machine.guest": "Virtual machine",
    "machine.hypervisor": "Hypervisor",
    "machine.server_cores": "Cores of the server of an LPAR",
    "memory.sessions": "Server processes",
    "memory.session_mib": "Memory per process",
    "memory.local_ns": "Local memory latency",
    "memory.remote_ns": "Remote memory latency",
    "workload.scope": "What the workload covers",
    "workload.class": "Kind of workload",
    "workload.iops": "Random IOPS",
    "workload.mb_s": "Throughput",
    "workload.sequential_mb_s": "Sequential throughput",
    "workload.read_percent": "Share of reads",
    "workload.io_kib": "Block size",
    "workload.cpu_percent": "CPU utilization",
    "workload.spread_cores": "Busy cores if threads share none",
    "workload.cpu_model": "Processor of the present server",
    "workload.growth_percent": "Growth per year",
    "workload.horizon_years": "Planning horizon",
    "workload.utilization_percent": "Planned peak CPU utilization",
    "workload.rules_of_thumb": "Rules of thumb",
    "sga.mb": "Shared memory (SGA)",
    "redo.mb_s": "Redo rate",
    "redo.databases": "Databases with redo here",
    "db.gb": "Database size",
    "db.growth_percent": "Data growth per year",
    "db.device": "Database device or mount",
    "path.stages": "Storage path",
    "path.bandwidth_mb_s": "Path bandwidth",
    "path.degraded_mb_s": "Path bandwidth, N+1",
    "path.bottleneck": "Narrowest stage",
    "capacity.mb_s": "Storage throughput",
    "capacity.iops": "Storage IOPS",
    "capacity.latency_ms": "Latency at those IOPS",
    "cluster.nodes": "Servers",
    "license.pack": "Vendor",
    "license.product": "Product",
    "license.version": "Version",
    "license.metric": "Metric",
    "license.options": "Options",
    "license.users": "Users",
    "license.list_usd": "List price of a license",
    "license.term_years": "Term",
    "license.scope": "What is counted",
    "license.aggregate": "Rounding in a cluster",
    "license.discount_percent": "Discount",
    "license.support_percent": "Support per year",
    "license.uplift_percent": "Increase of support per year",
    "license.host_cores": "Cores of the hosts",
    "license.host_sockets": "Sockets of the host",
    "license.hosts": "Hosts of the guest",
    "license.partition": "Kind of LPAR",
    "license.passive_servers": "Passive servers",
    "path.policy": "Path policy",
    "path.kind": "Kind of paths",
    "path.down": "Paths that are down",
    "path.measured": "Place of the measurement",
    "path.write_spindles": "Effective drives, writes",
    "path.read_spindles": "Effective drives, reads",
    "capacity.curve_iops": "Measured IOPS",
    "capacity.curve_ms": "Measured latencies",
    "array.disks": "Drives",
    "array.volumes": "Volumes",
    "workload.read_iops": "Random read IOPS",
    "workload.write_iops": "Random write IOPS",
    "workload.percentile": "Percentile of the workload",
    "workload.p99_ms": "Response time (99th percentile)",
    "workload.commits_s": "Commits per second",
    "workload.committers": "Sessions that commit at once",
    "capacity.commits_s": "Storage can do (commits/s); blank: measured",
    "policy.n_plus_one": "Must any failure leave enough",
    "redo.writes_s": "Redo writes per second",
    "redo.average_mb_s": "Average redo rate",
    "redo.switch_minutes": "Time between log switches",
    "redo.sync_write_us": "Redo write latency",
    "memory.memlock_kib": "Locked-memory limit",
    "sysstat.db_block_gets": "Db block gets",
    "sysstat.consistent_gets": "Consistent gets",
    "sysstat.physical_reads": "Physical reads",
    "sysstat.flash_hits": "Flash cache hits",
    "sysstat.flash_inserts": "Flash cache inserts",
}
"""Short names of inputs; of the others the help begins with one."""
_OF_PRODUCTS = {
    "price": "Price",
    "price_low": "Lowest price",
    "price_high": "Highest price",
    "support_percent": "Support per year",
}
"""Figures of products, by the part of their id that names the field."""


def input_label(key: str) -> str:
    """Return what an input is called: ``Random IOPS``."""
    label = _LABELS.get(key)
    if label is None:
        label = capitalized(re.split(r"[,;:(]", KEYS[key].help, maxsplit=1)[0].strip())
    return label


def used_name(key: str) -> str:
    """Return what a figure that was used is called, an input or a rule's; empty where its id says all."""
    name = key.partition("[")[0]
    if name in KEYS:
        return input_label(name)
    figure = shipped().figures.get(key)
    if figure is not None:
        return capitalized(figure.title)
    factor = next((one for pack in shipped().packs for one in pack.factor if one.id == key), None)
    if factor is not None:
        return f"Factor of {factor.title}"
    return next((text for part, text in _OF_PRODUCTS.items() if part in key.split(".")), "")
