"""The quantities that probes declare and that sizing, comparisons, charts and findings know, each with its unit.

``docs/how-to/write-a-probe.md`` says what each is. A manifest may name others, which nothing looks for.
"""

from __future__ import annotations

from collections.abc import Mapping

UNITS: Mapping[str, str] = {
    "clock.gettimeofday": "ns",
    "clock.offset": "ns",
    "clock.read_cost": "ns",
    "host.cpu_share": "share",
    "load.knee": "1",
    "memory.cache_latency": "ns",
    "memory.core_to_core_latency": "ns",
    "memory.loaded_latency": "ns",
    "memory.local_latency": "ns",
    "memory.random_store_scaling": "ratio",
    "memory.random_store_time": "ns",
    "memory.random_stores": "1/s",
    "memory.read_bandwidth": "bytes/s",
    "memory.remote_latency": "ns",
    "memory.shared_write_bandwidth": "bytes/s",
    "memory.write_bandwidth": "bytes/s",
    "storage.bandwidth": "bytes/s",
    "storage.cold_iops": "1/s",
    "storage.commits": "1/s",
    "storage.host_cpu_per_megabyte": "ns",
    "storage.iops_within_p99": "1/s",
    "storage.log_bandwidth": "bytes/s",
    "storage.log_write_latency": "ns",
    "storage.log_write_latency_p99": "ns",
    "storage.mixed_bandwidth": "bytes/s",
    "storage.mixed_iops": "1/s",
    "storage.mixed_latency": "ns",
    "storage.mixed_read_write_iops": "1/s",
    "storage.random_iops": "1/s",
    "storage.read_latency": "ns",
    "storage.read_latency_p50": "ns",
    "storage.read_latency_p99": "ns",
    "storage.small_bandwidth": "bytes/s",
    "storage.sustained_write_iops": "1/s",
    "storage.write_cliff": "bytes",
}
"""The base unit of each, which a series that declares it must have."""
