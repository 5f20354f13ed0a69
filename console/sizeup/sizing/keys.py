"""The inputs that a user can set for a machine, a workload and a contract: every key of ``--set``."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sizeup.sizing.input_key import InputKey, InputKind


def _count(name: str, text: str, *, least: float = 0, most: float = 1e9, unit: str = "1") -> InputKey:
    return InputKey(name, text, InputKind.COUNT, unit, least, most)


def _number(name: str, text: str, unit: str = "1", *, most: float = math.inf) -> InputKey:
    return InputKey(name, text, InputKind.NUMBER, unit, positive=True, maximum=most)


def _percent(name: str, text: str, *, most: float = 100) -> InputKey:
    return InputKey(name, text, InputKind.NUMBER, "%", maximum=most)


def _list(name: str, text: str, unit: str = "1") -> InputKey:
    return InputKey(name, text, InputKind.NUMBERS, unit)


def _choice(name: str, text: str, *choices: str) -> InputKey:
    return InputKey(name, text, InputKind.CHOICE, choices=choices)


def _words(name: str, text: str) -> InputKey:
    return InputKey(name, text, InputKind.WORDS)


_DECLARED = (
    _count("machine.sockets", "occupied sockets of one server", least=1, most=1024),
    _count(
        "machine.cores",
        "physical cores of one server, over all sockets; hardware threads do not count",
        least=1,
        most=65536,
    ),
    _count(
        "machine.cores_per_socket",
        "physical cores of one socket; with machine.sockets it gives machine.cores",
        least=1,
        most=4096,
    ),
    _count("machine.threads_per_core", "hardware threads of a core; 2 with hyper-threading on", least=1, most=16),
    _count("machine.vcpus", "virtual CPUs of the guest or cloud instance", least=1, most=65536),
    _count("machine.socket_capacity", "sockets on the board, occupied or not", least=1, most=1024),
    _number("machine.ghz", "base clock of a core", "GHz", most=20),
    _words("machine.cpu_model", "processor model as in /proc/cpuinfo"),
    _number("machine.memory_gib", "memory of one server", "GiB", most=1e7),
    _count("machine.server_cores", "physical cores that are active in the server that an LPAR runs on", least=1),
    _choice("machine.guest", "whether this is a virtual machine, so that its cores are virtual", "yes", "no"),
    _words(
        "machine.hypervisor",
        "what this virtual machine runs under: phyp (PowerVM), pr/sm, kvm, oracle-linux-kvm, vmware",
    ),
    _choice("workload.class", "kind of workload", "load", "oltp", "mixed", "dw", "pq-scan", "light-scan"),
    _number(
        "workload.mb_s",
        "throughput of the workload in all, random and sequential, without redo, at the percentile you plan for",
        "MB/s",
    ),
    _number("workload.sequential_mb_s", "sequential part of that throughput: scans, loads, backups", "MB/s"),
    _number("workload.iops", "random IOPS of the workload, reads and writes, at the percentile you plan for", "IOPS"),
    _number("workload.read_iops", "random read IOPS of the workload", "IOPS"),
    _number("workload.write_iops", "random write IOPS of the workload, without redo", "IOPS"),
    _choice(
        "workload.scope",
        "whether the workload is that of all servers of a cluster, or of one instance",
        "whole",
        "instance",
    ),
    _number("workload.percentile", "percentile of workload.mb_s and workload.iops", most=100),
    _number("workload.p99_ms", "99th percentile of the response time of random I/O that the workload needs", "ms"),
    _number("workload.commits_s", "commits per second of the workload", "/s"),
    _count("workload.committers", "sessions of the workload that commit at the same moment", least=1, most=65536),
    _choice(
        "policy.n_plus_one", "whether what is left after any single failure must carry the load", "required", "optional"
    ),
    _percent("workload.read_percent", "share of reads in the IOPS"),
    _number("workload.io_kib", "block size of random I/O", "KiB", most=1 << 20),
    _percent(
        "workload.growth_percent", "growth per year: of the load, and of the data without db.growth_percent", most=1000
    ),
    InputKey("workload.horizon_years", "years that the server must last", unit="y", maximum=50),
    InputKey(
        "workload.utilization_percent",
        "planned peak utilization of the CPUs, for the number of idle cores",
        unit="%",
        positive=True,
        maximum=100,
    ),
    _percent("workload.cpu_percent", "CPU utilization that the workload causes on this machine"),
    _number("workload.cpu_cores", "cores that the workload keeps busy on its present server"),
    _number("workload.spread_cores", "the same if no two of its busy threads share a core, the upper end"),
    _words("workload.cpu_model", "processor of the workload's present server, as in its /proc/cpuinfo"),
    _number("workload.specrate_per_core", "SPECrate result per core of the workload's present server"),
    _number("machine.specrate_per_core", "SPECrate result per core of this machine"),
    _choice("workload.rules_of_thumb", "whether rules of thumb fill in where no workload is given", "yes", "no"),
    _words(
        "path.stages",
        "links between server and disks as NAME:LINK*PORTS, with @CARDS where ports share one: "
        "hba:fc4*2@1,array:fc1*2; "
        "LINK is fc1 to fc64, eth1 to eth200, eth10-jumbo, gbe-nfs, pcie3-x8, sata3, sas1 to sas4",
    ),
    _choice("path.policy", "whether all parallel paths carry data, or half of them", "active-active", "active-passive"),
    _number("path.bandwidth_mb_s", "bandwidth of all detected storage paths together", "MB/s"),
    InputKey("path.degraded_mb_s", "bandwidth of those paths after losing the largest path or controller", unit="MB/s"),
    _number("path.port_lost_mb_s", "bandwidth of those paths after losing one port of a card with several", "MB/s"),
    _words("path.bottleneck", "stage with the least bandwidth on those paths"),
    _choice("path.kind", "kind of those paths", "NVMe", "HBA", "NFS", "storage"),
    _words("path.down", "controllers, ports and interfaces that are down, so counted as 0"),
    _number("path.write_spindles", "effective drives for writes behind db.device"),
    _number("path.read_spindles", "effective drives for reads behind db.device"),
    _number("path.disks_gb", "size of all disks that the machine sees", "GB"),
    _words("path.measured", "where the storage was measured; its space counts while db.device is not given"),
    _number("capacity.gb", "space that the storage has for the database", "GB"),
    _number("capacity.mb_s", "throughput that the storage can deliver", "MB/s"),
    _number("capacity.iops", "random IOPS that the storage can deliver", "IOPS"),
    _number("capacity.mixed_iops", "the same of 70 % reads and 30 % writes, where it was measured", "IOPS"),
    _number("capacity.latency_ms", "mean latency at that rate", "ms"),
    _number("capacity.iops_within_p99", "random IOPS that the storage can deliver within workload.p99_ms", "IOPS"),
    _percent("capacity.p99_read_percent", "share of reads that these were measured with"),
    _number("capacity.commits_s", "commits per second that the log on the storage can make durable", "/s"),
    _list("capacity.curve_iops", "IOPS of a measured curve, rising, for the response time", "IOPS"),
    _list("capacity.curve_ms", "mean latency of reads at each of those IOPS", "ms"),
    _number("capacity.cpu_us_mb", "CPU time per MB of I/O, kernel included", "us"),
    _count("array.disks", "drives of one volume, or of the whole array without array.volumes", least=1),
    _count("array.volumes", "number of identical volumes", least=1),
    _choice("array.raid", "RAID level", "0", "1", "10", "5", "6"),
    _number("array.disk_gb", "capacity of a drive", "GB"),
    _choice(
        "array.drive",
        "kind of drive in the catalog; for others use --set array.drive_iops=N and --set array.drive_mb_s=N",
        "hdd-5k4",
        "hdd-7k2",
        "hdd-10k",
        "hdd-15k",
        "ssd-sata",
        "nvme-pcie3",
        "nvme-pcie4",
        "nvme-pcie5",
    ),
    _number("array.drive_iops", "random read IOPS of one drive, in place of the catalog", "IOPS"),
    _number("array.drive_write_iops", "random write IOPS of one drive; without it as many as array.drive_iops", "IOPS"),
    _number("array.drive_mb_s", "sequential read throughput of one drive, in place of the catalog", "MB/s"),
    _number("array.drive_write_mb_s", "sequential write throughput of one drive; without it array.drive_mb_s", "MB/s"),
    _percent("array.rebuild_percent", "share of a drive's time that the rebuild of a lost one takes", most=95),
    _count("device.blocks_kib", "size of a device in /proc/partitions", least=1, most=1e15, unit="KiB"),
    _words("db.device", "block device or directory of the database; only the paths to it count"),
    _number("db.gb", "size of the database, tables and indexes", "GB"),
    _number("db.hot_gb", "size of the tables and indexes with most of the I/O (hot set)", "GB"),
    _percent("db.hot_percent", "share of the physical reads that the hot set causes"),
    _percent("db.growth_percent", "growth of the data per year; without it workload.growth_percent", most=1000),
    _count("redo.databases", "databases with redo on the same storage", least=1),
    _number("redo.mb_s", "peak redo rate of one database", "MB/s"),
    _number("redo.writes_s", "redo writes per second of one database at its peak", "IOPS"),
    _number("redo.average_mb_s", "average redo rate of one database over the day", "MB/s"),
    _number("redo.write_kib", "size of a redo write", "KiB"),
    _number("redo.cache_gb", "write cache of the array that stores the redo", "GB"),
    _count("redo.logs_per_database", "redo logs per database that need a LUN each", least=1),
    _number("redo.switch_minutes", "time between log switches at the peak", "min"),
    _number("redo.sync_write_us", "latency of one synchronous write of the redo size", "us"),
    _words("redo.link", "link for the redo, such as gbe-nfs or eth10"),
    _number("sga.mb", "shared memory of the database on each server (SGA, buffer pool)", "MiB"),
    _number("sga.advisory_mb", "size at which the buffer pool advisory no longer predicts fewer reads", "MiB"),
    _number("sga.keep_mb", "KEEP pool, part of the shared memory", "MiB"),
    _number("sga.recycle_mb", "RECYCLE pool, part of the shared memory", "MiB"),
    _count("sga.segments", "number of shared memory segments", least=1),
    _list("sga.parts_bytes", "components that SHOW SGA prints", "B"),
    _number("memory.huge_page_kib", "size of a huge page", "KiB"),
    _count("memory.huge_pages", "reserved huge pages", unit="1"),
    _count("memory.sessions", "server processes that map the shared memory", least=1),
    _number("memory.session_mib", "private memory of one server process", "MiB"),
    _number("memory.memlock_kib", "locked-memory limit (memlock) of the database's user", "KiB"),
    _number("memory.local_ns", "memory latency on the same NUMA node", "ns"),
    _number("memory.remote_ns", "memory latency to another NUMA node", "ns"),
    _count("numa.nodes", "NUMA nodes with memory", least=1, most=4096),
    _list("numa.node_mb", "memory of each node", "MiB"),
    _list("numa.free_mb", "free memory per node, as numactl --hardware prints it", "MiB"),
    _list("numa.free_before_mb", "free memory per node before the database started", "MiB"),
    _list("numa.free_after_mb", "free memory per node after it started", "MiB"),
    _count("slb.pages", "pages of a memhammer process", least=1, most=1e12),
    _count("slb.loops", "loops of a memhammer process", least=1, most=1e12),
    _count("slb.processes", "memhammer processes started together", least=1, most=1e6),
    _number("slb.store_ns", "time of a random store that memhammer printed", "ns"),
    _number("slb.elapsed_us", "elapsed time that memhammer printed", "us"),
    _number("slb.one_ops_s", "operations per second of a single process", "/s"),
    _list("slb.two_ops_s", "operations per second of each of two processes", "/s"),
    _list("slb.four_ops_s", "operations per second of each of four processes", "/s"),
    _number("scan.raw_gb", "size of the scanned data before compression", "GB"),
    _number("scan.stored_gb", "size on disk", "GB"),
    InputKey(
        "scan.partition_percent", "share of the partitions that a query reads", unit="%", positive=True, maximum=100
    ),
    _words("net.links", "network interfaces with a link"),
    _number("net.window_bytes", "TCP window of one connection", "B"),
    _number("net.rtt_ms", "network round-trip time to the storage", "ms"),
    _list("net.tcp_rmem", "sizes of a TCP receive buffer as in net.ipv4.tcp_rmem: least, first and largest", "B"),
    _list("net.tcp_wmem", "sizes of a TCP send buffer as in net.ipv4.tcp_wmem: least, first and largest", "B"),
    _count("net.connections", "TCP connections to the storage", least=1, most=65536),
    _choice(
        "flash.moved",
        "what of the database moves to flash where not all of it fits",
        "indexes",
        "indexes-and-hottest-table",
        "indexes-and-hot-tables",
    ),
    _number("flash.block_kib", "block size of the flash cache", "KiB"),
    _number("flash.cache_gib", "size of the flash cache on one server", "GiB"),
    _choice("flash.rac", "whether the cache serves a cluster database (RAC), which needs more metadata", "yes", "no"),
    _number("observed.mb_s", "throughput claimed or measured elsewhere", "MB/s"),
    _number("observed.iops", "IOPS claimed or measured elsewhere", "IOPS"),
    _number("observed.io_kib", "block size of those IOPS", "KiB"),
    _number("observed.gib", "amount of data read or written", "GiB"),
    _number("observed.seconds", "elapsed time", "s"),
    _number("observed.response_ms", "response time", "ms"),
    _number("observed.cycles_per_call", "clock cycles of one call"),
    _number("observed.users", "users served within the response time limit"),
    _percent("observed.kernel_cpu_percent", "share of CPU time spent in the kernel"),
    _count("sysstat.db_block_gets", "V$SYSSTAT: db block gets", most=1e18),
    _count("sysstat.consistent_gets", "V$SYSSTAT: consistent gets", most=1e18),
    _count("sysstat.physical_reads", "V$SYSSTAT: physical reads", most=1e18),
    _count("sysstat.flash_hits", "V$SYSSTAT: flash cache hits", most=1e18),
    _count("sysstat.flash_inserts", "V$SYSSTAT: flash cache inserts", most=1e18),
    _number("value.throughput", "throughput of the whole cluster"),
    _words("value.unit", "unit of value.throughput, such as TpmC"),
    _number("value.throughput_per_core", "throughput per core"),
    _percent("value.uplift_percent", "promised gain over value.throughput", most=10000),
    _number("value.percent_of_baseline", "throughput in percent of a baseline", "%"),
    _list("value.gains_percent", "gains in percent as a source prints them, of the baseline or over it", "%"),
    _number("value.response_factor", "how many times shorter the response time is than that of a baseline"),
    _number("value.system_usd", "price of the whole system", "USD"),
    _number("value.price_per_unit_usd", "published price per unit of throughput", "USD"),
    _count("value.drives", "drives in the system", least=1),
    _number("value.memory_gb", "memory in the system", "GB"),
    _count("cluster.nodes", "servers in the cluster", least=1, most=1024),
    _number("cluster.single_throughput", "throughput of one of these servers alone"),
    _count("cluster.survivors", "servers left after a failure", least=1, most=1024),
    InputKey(
        "cluster.degraded_percent",
        "throughput of the survivors, in percent of their linear share",
        unit="%",
        positive=True,
        maximum=200,
    ),
    _words("license.pack", "vendor: oracle, sql-server, db2, windows, vmware, mysql, postgresql, sap-hana"),
    _words("license.product", "product, such as ee or se2"),
    _choice("license.version", "version of SQL Server, where its limits differ; without it the latest", "2022", "2025"),
    _words("license.metric", "license metric, such as processor or nup"),
    _words("license.options", "options of the product, separated by commas: rac,partitioning; or none"),
    _choice(
        "license.scope",
        "what the license counts: the bare machine, a virtual machine, a hard or soft partition, a cloud instance",
        "bare",
        "vm",
        "hard",
        "soft",
        "cloud",
    ),
    _count("license.passive_servers", "servers of the cluster that only take over and run no queries", most=1024),
    _choice("license.aggregate", "whether a cluster's counts are rounded up per server or once", "server", "pool"),
    _count("license.users", "number of named users or devices"),
    _count(
        "license.pinned_cores",
        "cores of an accepted hard partition; of a capped LPAR its entitled capacity, rounded up",
        least=1,
        most=65536,
    ),
    _choice(
        "license.partition",
        "processors of the LPAR that this is: its own, shared up to a cap, or shared without one",
        "dedicated",
        "capped",
        "uncapped",
    ),
    _count("license.host_cores", "physical cores of all hosts that the guest may run on", least=1, most=1000000),
    _count("license.host_sockets", "occupied sockets of the physical host", least=1, most=1024),
    _count("license.hosts", "hosts that the guest may run on, each with license.host_sockets", least=1, most=10000),
    _number("license.list_usd", "list price of one license with its options, in place of the shipped one", "USD"),
    _percent("license.discount_percent", "discount on list prices"),
    _percent(
        "license.support_percent", "yearly support in percent of the net license price, in place of the shipped figure"
    ),
    _percent("license.uplift_percent", "yearly increase of the support price"),
    _count("license.term_years", "years over which costs are added up", least=1, most=50, unit="y"),
)

KEYS: Mapping[str, InputKey] = {key.name: key for key in _DECLARED}
"""Every key by its name."""
