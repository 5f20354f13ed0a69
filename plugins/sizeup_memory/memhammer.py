"""``sizeup-memhammer PAGES LOOPS``: the Silly Little Benchmark for people who know the kit."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sizeup_memory.binding import Hammer, Memory, Pages, new_job
from sizeup_memory.slb import output_line

_DESCRIPTION = """Store to random lines of PAGES pages of 4 KiB, PAGES times LOOPS stores in all, in one process per
CPU of LIST, all started together; prints one line a process. This measures random-store throughput: the
stores do not depend on each other. For the latency of dependent loads: sizeup --batch -p memory.latency"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as the original: status 0, or 3 with the reason where this machine cannot or may not."""
    parser = argparse.ArgumentParser(prog="sizeup-memhammer", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("pages", metavar="PAGES", type=_count, help="pages of 4 KiB a process: 131072 are 512 MiB")
    parser.add_argument("loops", metavar="LOOPS", type=_count, help="stores a page, on average")
    parser.add_argument("--cpus", metavar="LIST", type=_cpus, help="such as 0-3,8; default: the CPU it runs on")
    options = parser.parse_args(arguments)
    cpus = options.cpus or [min(os.sched_getaffinity(0))]
    with suppress(OSError):  # memory is only ever taken where half of it stays free; this is for surprises
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    job, hammer = new_job(), Hammer(options.pages, options.loops, cpus, Memory(Pages.BASE))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler cannot run inside the native call
    status = hammer.call(job)()
    if status < 0:
        sys.stderr.write(f"sizeup-memhammer: {job.reason or os.strerror(-status)}\n")
        return 3
    for result in hammer.results():
        sys.stdout.write(output_line(result.ops, result.wall_us) + "\n")
    return 0


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a count of at least 1, found {text}")
    return value


def _cpus(text: str) -> list[int]:
    cpus: list[int] = []
    for span in text.split(","):
        first, dash, last = span.partition("-")
        cpus.extend(range(int(first), int(last if dash else first) + 1))
    return cpus
