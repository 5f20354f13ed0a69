"""Discovery against lstopo: the same root, alternately, median of 11; by hand, on a quiet machine.

``python tests/benchmarks/discovery.py [RECORDING...]`` compares ``discover()`` inside a running Python with
the whole process of ``lstopo-no-graphics --whole-io -`` on this machine, on machines made here and on the recordings
named. Python's own start is reported apart. The machines made here are a host of 480 CPUs and one of 64 nodes, which
must take at most 0.2 s, and one with 4,000 block devices and their settings, for which lstopo has no say and which must
take at most 1 s. CPU time stands beside the wall time: it says more where other work runs.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sizeup.discovery.machine import discover
from sizeup.procfs.lists import parse_cpulist

ROUNDS = 11
LSTOPO = ("lstopo-no-graphics", "--whole-io", "--of", "console", "/dev/null")


def write(root: Path, path: str, text: str) -> None:
    """One file of a machine."""
    target = root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text + "\n", encoding="utf-8")


def mask(cpus: str) -> str:
    """A list as the kernel's mask, which is what lstopo reads."""
    bits = sum(1 << cpu for cpu in parse_cpulist(cpus))
    words = []
    while bits or not words:
        words.append(f"{bits & 0xFFFFFFFF:08x}")
        bits >>= 32
    return ",".join(reversed(words))


def make_processors(root: Path, packages: int, cores: int) -> None:
    """Two threads a core, four caches a core, a node a package; sibling threads far apart in number, as on x86."""
    whole = packages * cores
    for cpu in range(2 * whole):
        core = cpu % whole
        package = core // cores
        first = package * cores
        siblings = f"{core},{core + whole}"
        everyone = f"{first}-{first + cores - 1},{first + whole}-{first + whole + cores - 1}"
        base = f"/sys/devices/system/cpu/cpu{cpu}"
        write(root, f"{base}/online", "1")
        for name, text in (
            ("thread_siblings", mask(siblings)), ("core_siblings", mask(everyone)), ("core_cpus", mask(siblings)),
            ("package_cpus", mask(everyone)), ("die_cpus", mask(everyone)),
            ("physical_package_id", package), ("core_id", core % cores), ("die_id", 0), ("core_cpus_list", siblings),
            ("package_cpus_list", everyone), ("die_cpus_list", everyone), ("thread_siblings_list", siblings),
            ("core_siblings_list", everyone),
        ):  # fmt: skip
            write(root, f"{base}/topology/{name}", str(text))
        for index, (level, kind, size, shared) in enumerate((
            (1, "Data", "32K", siblings), (1, "Instruction", "32K", siblings), (2, "Unified", "1024K", siblings),
            (3, "Unified", "32768K", everyone),
        )):  # fmt: skip
            for name, text in (
                ("shared_cpu_map", mask(shared)), ("level", level), ("type", kind), ("size", size),
                ("shared_cpu_list", shared), ("coherency_line_size", 64), ("ways_of_associativity", 8),
                ("number_of_sets", 64), ("id", core),
            ):  # fmt: skip
                write(root, f"{base}/cache/index{index}/{name}", str(text))
    write(root, "/sys/devices/system/cpu/online", f"0-{2 * whole - 1}")
    write(root, "/sys/devices/system/cpu/present", f"0-{2 * whole - 1}")
    write(root, "/sys/devices/system/node/online", f"0-{packages - 1}")
    for node in range(packages):
        base = f"/sys/devices/system/node/node{node}"
        first = node * cores
        everyone = f"{first}-{first + cores - 1},{first + whole}-{first + whole + cores - 1}"
        write(root, f"{base}/cpulist", everyone)
        write(root, f"{base}/cpumap", mask(everyone))
        write(root, f"{base}/distance", " ".join("10" if other == node else "21" for other in range(packages)))
        write(root, f"{base}/meminfo", f"Node {node} MemTotal: 67108864 kB\nNode {node} MemFree: 33554432 kB")
    write(root, "/proc/cpuinfo", "processor : 0\nmodel name : Example CPU @ 2.50GHz\nflags : fpu lm")
    write(root, "/proc/meminfo", f"MemTotal: {67108864 * packages} kB")


def make_disks(root: Path, count: int) -> None:
    """SCSI disks behind two FC ports, half of them each."""
    for number in range(count):
        host = number % 2
        name = "sd" + "".join(chr(97 + digit) for digit in (number // 676, number // 26 % 26, number % 26))
        hctl = f"{host}:0:0:{number}"
        base = f"/sys/devices/pci0000:00/0000:00:0{host + 1}.0/host{host}/rport-{host}:0-0/target{host}:0:0/{hctl}"
        for path, text in (
            (f"{base}/block/{name}/size", "2097152"), (f"{base}/block/{name}/dev", f"8:{number}"),
            (f"{base}/block/{name}/ro", "0"), (f"{base}/block/{name}/removable", "0"),
            (f"{base}/block/{name}/queue/rotational", "0"), (f"{base}/block/{name}/queue/logical_block_size", "512"),
            (f"{base}/block/{name}/queue/physical_block_size", "512"),
            (f"{base}/block/{name}/queue/scheduler", "[none] mq-deadline"),
            (f"{base}/block/{name}/queue/nr_requests", "256"), (f"{base}/block/{name}/queue/write_cache", "write back"),
            (f"{base}/block/{name}/queue/read_ahead_kb", "128"), (f"{base}/block/{name}/queue/max_sectors_kb", "1280"),
            (f"{base}/model", "ARRAY"), (f"{base}/vendor", "EXAMPLE"), (f"{base}/state", "running"),
            (f"{base}/type", "0"), (f"{base}/queue_depth", "32"), (f"{base}/wwid", f"naa.6000000000{number:06x}"),
        ):  # fmt: skip
            write(root, path, text)
        (root / base.lstrip("/") / "block" / name / "device").symlink_to("../..")
        for link, target in ((f"sys/block/{name}", f"{base}/block/{name}"), (f"sys/bus/scsi/devices/{hctl}", base)):
            (root / link).parent.mkdir(parents=True, exist_ok=True)
            (root / link).symlink_to(os.path.relpath(target, f"/{Path(link).parent}"))
    write(root, "/proc/devices", "Character devices:\n  1 mem\n\nBlock devices:\n  8 sd")
    for host in range(2):
        base = f"/sys/devices/pci0000:00/0000:00:0{host + 1}.0"
        write(root, f"{base}/numa_node", str(host))
        write(root, f"{base}/host{host}/fc_host/host{host}/port_name", f"0x100000000000000{host}")
        (root / "sys/class/fc_host").mkdir(parents=True, exist_ok=True)
        (root / f"sys/class/fc_host/host{host}").symlink_to(
            f"../..{base.removeprefix('/sys')}/host{host}/fc_host/host{host}"
        )


def seconds(job: Callable[[], object]) -> float:
    """Wall time of one run."""
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def lstopo(root: str) -> Callable[[], object]:
    """The whole process of lstopo on that root."""
    environment = dict(os.environ) if root == "/" else {**os.environ, "HWLOC_FSROOT": root}
    return lambda: subprocess.run(LSTOPO, env=environment, capture_output=True, check=False)


def compare(name: str, root: str, *, peer: bool, limit: float | None = None) -> None:
    """One line: ours with its CPU time, theirs, ratio; medians of alternating runs. ``limit`` is in ms."""
    ours, busy, theirs = [], [], []
    for _ in range(ROUNDS):
        began = time.process_time()
        ours.append(seconds(lambda: discover(root)))
        busy.append(time.process_time() - began)
        if peer:
            theirs.append(seconds(lstopo(root)))
    mine = statistics.median(ours) * 1000
    line = f"{name:32} {mine:8.1f} ms  CPU {statistics.median(busy) * 1000:8.1f} ms"
    if theirs:
        other = statistics.median(theirs) * 1000
        line += f"  lstopo {other:8.1f} ms  ratio {mine / other:.2f}"
    if limit is not None:
        line += f"  limit {limit:.0f} ms{'' if mine <= limit else ': exceeded'}"
    print(line)


def main() -> None:
    """Make the machines, compare, and say what Python's start costs."""
    peer = shutil.which(LSTOPO[0]) is not None
    with tempfile.TemporaryDirectory() as scratch:
        big, wide, disks = (Path(scratch) / name for name in ("480-cpus", "64-nodes", "4000-disks"))
        make_processors(big, 4, 60)
        make_processors(wide, 64, 2)
        make_processors(disks, 2, 8)
        make_disks(disks, 4000)
        compare("this machine", "/", peer=peer)
        for recording in sys.argv[1:]:
            compare("/".join(Path(recording).parts[-3:-1]), recording, peer=peer)
        compare("480 CPUs, made here", str(big), peer=peer, limit=200)
        compare("64 nodes, made here", str(wide), peer=peer, limit=200)
        compare("4,000 disks, made here", str(disks), peer=False, limit=1000)
    start = statistics.median(
        seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) for _ in range(ROUNDS)
    )
    loaded = statistics.median(
        seconds(lambda: subprocess.run([sys.executable, "-c", "import sizeup.discovery.machine"], check=True))
        for _ in range(ROUNDS)
    )
    print(f"Python's start {start * 1000:.1f} ms, with discovery imported {loaded * 1000:.1f} ms")


if __name__ == "__main__":
    main()
