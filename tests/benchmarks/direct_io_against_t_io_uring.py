"""Our io_uring engine beside fio's t/io_uring on one file at QD 64: alternating pairs, by hand.

    python tests/benchmarks/direct_io_against_t_io_uring.py PROGRAM FILE --pairs 7 --seconds 3

PROGRAM is ``t/io_uring`` built from the sources of fio, FILE a written file. 8 KiB random reads, one submitting thread.
CPU time is that of the whole process; system calls are counted by ``perf stat`` in every run; requests of the other
program are its own bytes read (``ru_inblock``). For ours the start of Python is left out.
"""

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from sizeup.procfs.stat import read_pressure
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.worker import Engine, Worker

BLOCK_BYTES = 8192
DEPTH = 64
EVENT = "syscalls:sys_enter_io_uring_enter"
OTHERS = {"default (-s32 -c32)": (), "-s16 -c1": ("-s16", "-c1"), "-s4 -c1": ("-s4", "-c1")}


def ours(path: str, seconds: float) -> None:
    """Run our engine in this process and print what it did."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    worker = Worker(
        engine=Engine.IO_URING,
        descriptor=descriptor,
        block_bytes=BLOCK_BYTES,
        start_bytes=0,
        size_bytes=os.fstat(descriptor).st_size,
        seed=random.getrandbits(62),
        depth=DEPTH,
    )
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    with IoJob([worker]) as job:
        while time.monotonic() - start < seconds:
            time.sleep(0.2)
            job.sample()  # as in a session
        job.cancel()
        while job.sample().running:
            time.sleep(0.001)
        done, took = job.sample().requests, time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"requests": done, "seconds": took, "cpu": _cpu(after) - _cpu(before)}))


def _cpu(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def _counted(command: list[str]) -> tuple[str, int]:
    """Return the output of a command and its calls of io_uring_enter."""
    with tempfile.NamedTemporaryFile("r") as counts:
        perf = ["perf", "stat", "-x,", "-e", EVENT, "-o", counts.name, "--", *command]
        output = subprocess.run(perf, check=True, capture_output=True, text=True).stdout
        return output, next(int(line.split(",")[0]) for line in counts if EVENT in line)


def run_ours(path: str, seconds: float) -> dict[str, float]:
    """One run of ours, in a process of its own."""
    output, calls = _counted([sys.executable, __file__, "--ours", path, "--seconds", str(seconds)])
    done = json.loads(output)
    return {
        "iops": done["requests"] / done["seconds"],
        "cpu_us": done["cpu"] / done["requests"] * 1e6,
        "calls": calls / done["requests"],
    }


def run_other(program: str, options: tuple[str, ...], path: str, seconds: float) -> dict[str, float]:
    """One run of t/io_uring without polling, which needs a device with polled queues."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "-p0", f"-b{BLOCK_BYTES}", f"-d{DEPTH}", *options, f"-r{round(seconds)}", path]
    output, calls = _counted(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    requests = (after.ru_inblock - before.ru_inblock) * 512 / BLOCK_BYTES
    reported = [
        float(match[1]) * (1000 if match[2] else 1)
        for match in re.finditer(r"^IOPS=([\d.]+)(K?)", output, re.MULTILINE)
    ]
    return {
        "iops": statistics.mean(reported),
        "cpu_us": (_cpu(after) - _cpu(before)) / requests * 1e6,
        "calls": calls / requests,
    }


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--ours")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    if given.ours:
        ours(given.ours, given.seconds)
        return
    pressure = read_pressure("cpu")
    print("PSI cpu some avg10 before:", pressure and pressure.some_avg10_percent)
    print("| t/io_uring | pairs | IOPS theirs/ours | ratio | CPU us | ratio | calls per I/O | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name, options in OTHERS.items():
        pairs = []
        for pair in range(given.pairs):
            if pair % 2:
                mine = run_ours(given.file, given.seconds)
                pairs.append((run_other(given.program, options, given.file, given.seconds), mine))
            else:
                theirs = run_other(given.program, options, given.file, given.seconds)
                pairs.append((theirs, run_ours(given.file, given.seconds)))
        columns = [name, str(len(pairs))]
        for key, form in (("iops", ",.0f"), ("cpu_us", ".2f"), ("calls", ".3f")):
            middle = [statistics.median(run[key] for run in side) for side in zip(*pairs, strict=True)]
            ratio = statistics.median(mine[key] / theirs[key] for theirs, mine in pairs)
            columns += [f"{middle[0]:{form}} / {middle[1]:{form}}", f"{ratio:.2f}"]
        print("|", " | ".join(columns), "|", flush=True)


if __name__ == "__main__":
    main()
