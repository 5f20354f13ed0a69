"""``sizeup-memhammer PAGES LOOPS``: the Silly Little Benchmark with its original arguments."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from sizeup.procfs.process import make_first_oom_victim
from sizeup.text import one_line
from sizeup_memory.binding import MAX_HAMMERS, Allocation, Hammer, Pages, new_job
from sizeup_memory.hammer import output_line, too_short

_MAX_COUNT = 10**12
"""Maximum of pages and loops, beyond any machine."""
_MAX_CPU = (1 << 31) - 1
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_SPAN = re.compile(r"(?P<first>[0-9]{1,10})(-(?P<last>[0-9]{1,10}))?")

_DESCRIPTION = """Store to random cache lines of PAGES pages of 4 KiB, PAGES times LOOPS stores in all, in one process
per CPU of LIST, started together, and print one line per process. This measures random-store throughput: the
stores do not depend on each other. For the latency of dependent loads: sizeup --batch -p memory.latency"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as the original; return status 0, or 3 with the reason if it is not possible here."""
    parser = argparse.ArgumentParser(prog="sizeup-memhammer", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("pages", metavar="PAGES", type=_count, help="pages of 4 KiB per process; 131072 is 512 MiB")
    parser.add_argument("loops", metavar="LOOPS", type=_count, help="average number of stores per page")
    parser.add_argument(
        "--cpus", metavar="LIST", type=_cpus, help="CPUs, one process each, such as 0-3,8; default: one CPU"
    )
    options = parser.parse_args(arguments)
    cpus = options.cpus or [min(os.sched_getaffinity(0))]
    make_first_oom_victim()  # at most half of the available memory is used; this is for unexpected shortage
    job, hammer = new_job(), Hammer(options.pages, options.loops, cpus, Allocation(Pages.BASE))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler cannot run inside the native call
    status = hammer.call(job)()
    if status < 0:
        _report_error(job.reason or os.strerror(-status))
        return 3
    results = hammer.results()
    if not all(result.wall_us for result in results):
        _report_error(too_short(results[0].ops))
        return 3
    return _print(output_line(result) + "\n" for result in results)


def _print(lines: Iterable[str]) -> int:
    """Print the results; return status 2 if standard output cannot be written, 0 also if its reader is gone."""
    if sys.stdout is None:  # what Python makes of a closed descriptor
        _report_error("standard output: cannot write: it is closed")
        return 2
    try:
        sys.stdout.write("".join(lines))
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError):  # nothing buffered may be written again at interpreter exit
            os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 1)
        if not isinstance(error, BrokenPipeError):
            _report_error(f"standard output: cannot write: {error.strerror}")
            return 2
    return 0


def _report_error(message: str) -> None:
    with suppress(OSError, AttributeError):  # standard error may be full or closed too
        sys.stderr.write(f"sizeup-memhammer: {message}\n")


def _count(text: str) -> int:
    """Return a number of pages or loops."""
    value = int(text) if _NUMBER.fullmatch(text) else 0
    if not 1 <= value <= _MAX_COUNT:
        raise argparse.ArgumentTypeError(
            f"expected a whole number from 1 to {_MAX_COUNT:,}, found {one_line(text, 60)!r}"
        )
    return value


def _cpus(text: str) -> list[int]:
    cpus: list[int] = []
    for span in text.split(","):
        match = _SPAN.fullmatch(span)
        first = int(match["first"]) if match else 1
        last = int(match["last"] or first) if match else 0
        if not first <= last < first + MAX_HAMMERS or last > _MAX_CPU or len(cpus) + last - first >= MAX_HAMMERS:
            raise argparse.ArgumentTypeError(
                f"expected a CPU list such as 0-3,8 of at most {MAX_HAMMERS} CPUs, found {one_line(text, 60)!r}"
            )
        cpus.extend(range(first, last + 1))
    return cpus
