"""io_uring against Linux AIO against threads on one file over NFS, in the lab's guest ``nfs``.

    SIZEUP_LAB=... python tests/benchmarks/direct_io_on_nfs.py [--rounds 5] [--seconds 2] [--results FILE]

The guest is emulated in software: its figures are ratios at most. ``delayed`` has 20 ms of way there and back
added (netem), so that waiting for the server, and not the processors, is what takes time.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fakes import HandContext
from lab.guest import fill_guest, run_guest
from sizeup_direct_io.comparisons import without_progress
from sizeup_direct_io.measure import Window, measure
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, Worker

OUT = 8
BLOCK_BYTES = 8192
FILE_BYTES = 64 << 20
MOUNTS = [("3", 1), ("3", 4), ("4.2", 1), ("4.2", 4)]
WAYS = {"plain": "", "delayed": "10ms"}
"""What is added to each packet on the loopback interface: it passes twice per request."""
WARMUP_SECONDS = 0.3


def command(*words: str) -> None:
    subprocess.run(words, check=True)


@contextmanager
def mounted(version: str, connections: int) -> Iterator[Path]:
    """The only mount of this server, so that its number of connections is its own."""
    point = Path("/mnt/measured")
    point.mkdir(exist_ok=True)
    source = "127.0.0.1:/srv/ram" if version == "3" else "127.0.0.1:/ram"
    command("mount", "-t", "nfs", "-o", f"retry=0,vers={version},nconnect={connections}", source, str(point))
    try:
        stats = (
            Path("/proc/self/mountstats").read_text().partition(f" mounted on {point} ")[2].partition("\ndevice ")[0]
        )
        assert stats.count("xprt:") == connections, stats
        yield point
    finally:
        command("umount", str(point))


def run(engine: Engine, descriptor: int, kind: str, seconds: float) -> dict[str, float]:
    """One window of one engine."""
    threads = OUT if engine is Engine.THREADS else 1
    workers = [
        Worker(
            engine=engine,
            descriptor=descriptor,
            block_bytes=BLOCK_BYTES,
            start_bytes=0,
            size_bytes=FILE_BYTES,
            seed=random.getrandbits(62),
            read_percent=100 if kind == "read" else 0,
            depth=OUT // threads,
        )
        for _ in range(threads)
    ]
    window = Window(WARMUP_SECONDS, seconds, 0.0, 1.0, 60.0)
    source = CounterSource(0, "/mnt/measured")
    measured = without_progress(measure(workers, ("all",), {}, window, HandContext(), source))
    charged, _ = measured.charged_bytes(reads=kind == "read", writes=kind == "write")
    assert charged is not None
    return {
        "iops": measured.iops,
        "cpu_us": measured.io_cpu_ns / max(1, measured.requests) / 1e3,
        "charged": charged / measured.requested_bytes,
        "blur": measured.uncertainty_bytes / measured.requested_bytes,
        "charged_to_samples": charged / measured.transferred_bytes,
    }


def measure_inside(rounds: int, seconds: float, results: Path) -> None:
    """Everything, as root in the guest; the order changes from round to round."""
    for point in ("/mnt/v3", "/mnt/v42", "/mnt/v4n", "/mnt/v40"):
        command("umount", point)
    Path("/srv/ram/measured").write_bytes(os.urandom(FILE_BYTES))
    with results.open("w", encoding="utf-8", buffering=1) as file:
        for way, delay in WAYS.items():
            if delay:
                command("tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", delay, "limit", "10000")
            for number in range(rounds):
                for version, connections in MOUNTS[number % 4 :] + MOUNTS[: number % 4]:
                    with mounted(version, connections) as point:
                        descriptor = os.open(point / "measured", os.O_RDWR | os.O_DIRECT)
                        engines = list(Engine)[number % 3 :] + list(Engine)[: number % 3]
                        for kind in ("read", "write"):
                            for engine in engines:
                                line = {
                                    "way": way, "version": version, "connections": connections, "round": number,
                                    "kind": kind, "engine": engine.value, **run(engine, descriptor, kind, seconds),
                                }  # fmt: skip
                                file.write(json.dumps(line) + "\n")
                        os.close(descriptor)


def summarize(results: Path) -> None:
    """Medians over the rounds with their range, and the ratio of io_uring to AIO within each round."""
    found: dict[tuple[str, str, int, str], dict[str, list[dict[str, Any]]]] = {}
    for text in results.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        key = (line["way"], line["version"], line["connections"], line["kind"])
        found.setdefault(key, {}).setdefault(line["engine"], []).append(line)
    print("| way, mount | | io_uring | Linux AIO | threads | io_uring / AIO | its CPU a request / AIO's |")
    print("|---|---|---|---|---|---|---|")
    for (way, version, connections, kind), engines in found.items():
        cells = []
        for engine in Engine:
            rates = [line["iops"] for line in engines[engine.value]]
            cells.append(f"{statistics.median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f})")
        pairs = list(zip(engines[Engine.IO_URING.value], engines[Engine.AIO.value], strict=False))
        rate = statistics.median(ours["iops"] / aio["iops"] for ours, aio in pairs)
        cpu = statistics.median(ours["cpu_us"] / aio["cpu_us"] for ours, aio in pairs)
        print(f"| {way}, v{version}, nconnect={connections} | {kind} | {' | '.join(cells)} | {rate:.2f} | {cpu:.2f} |")
    lines = [line for engines in found.values() for each in engines.values() for line in each]
    print(f"{len(lines)} windows, median and range of")
    for name, words in {
        "charged": "the bytes that the client counted as direct, over what the workers moved meanwhile",
        "blur": "how far that may be off",
        "charged_to_samples": "the same over what they moved between the samples that bound the window",
    }.items():
        values = sorted(line[name] for line in lines)
        print(f"- {words}: {statistics.median(values):.4f} ({values[0]:.4f} to {values[-1]:.4f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--results", type=Path, default=Path("direct-io-on-nfs.jsonl"))
    parser.add_argument("--inside", action="store_true", help="this is the guest")
    arguments = parser.parse_args()
    if arguments.inside:
        measure_inside(arguments.rounds, arguments.seconds, Path(os.environ["OUT"], "results"))
        return
    with tempfile.TemporaryDirectory() as folder:
        given, back = Path(folder, "in"), Path(folder, "out")
        fill_guest(given)
        inside = (
            "PYTHONPATH=site:tests python3 tests/benchmarks/direct_io_on_nfs.py --inside "
            f"--rounds {arguments.rounds} --seconds {arguments.seconds}"
        )
        run_guest("nfs", given, back, inside, minutes=90)
        arguments.results.write_bytes((back / "results").read_bytes())
    summarize(arguments.results)


if __name__ == "__main__":
    main()
