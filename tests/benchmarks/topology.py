"""What the Topology mode costs each second on 8 sockets, 16 nodes and 256 cores, all of whose loads change.

Run by hand from the root of the checkout:

    PYTHONPATH=tests python -m benchmarks.topology

It prints the Markdown table that stands in ``docs/results/performance.md``: CPU time of one look (memory, huge pages
and links read again from a recording, load taken in, the map drawn and the screen composed), the terminal's bytes not
among it, and beside it what reading the whole machine costs. A test of the tier ``ci`` keeps the ratio of the two.
"""

import asyncio
import os
import random
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from consoles import Console
from sizeup.discovery.machine import discover, refreshed
from sizeup.discovery.sysroot import open_sysroot
from sizeup.tui.runs import LiveSource
from sizeup.tui.screens.topology import TopologyScreen
from trees import LARGE


def cpu_ms(work: Callable[[], object], times: int) -> list[float]:
    """CPU milliseconds of each call."""
    spent = []
    for _ in range(times):
        since = time.process_time()
        work()
        spent.append((time.process_time() - since) * 1e3)
    return spent


def unpacked(folder: Path) -> str:
    """The recording as a directory: an archive is read whole each time."""
    with tarfile.open(LARGE) as archive:
        archive.extractall(folder / "root", filter="fully_trusted")  # it has links that leave it
    return str(folder / "root")


async def looks_ms(folder: Path, root: str, columns: int, rows: int, times: int) -> list[float]:
    """CPU milliseconds of each look at the map, its drawing included."""
    found, sysroot, dice = discover(root), open_sysroot(root), random.Random(1)
    live_source = LiveSource(
        lambda listener: None,
        lambda: found,
        lambda known: refreshed(known, sysroot),
        lambda: {pu.cpu: dice.random() * 100 for pu in found.pus},
    )
    console = Console(folder, found, live_source=live_source, frames=True)
    spent = []
    async with console.shown(columns, rows) as pilot:
        await pilot.press("2", "t")
        await pilot.pause()
        screen = console.app.screen
        assert isinstance(screen, TopologyScreen)
        screen.on_screen_suspend()  # the clock looks no more
        for _ in range(times):
            since = time.process_time()
            screen.look()
            await console.app.workers.wait_for_complete()
            await pilot.pause()
            spent.append((time.process_time() - since) * 1e3)
    return spent


def main(times: int) -> int:
    """Measure and print."""
    os.environ["TERM"] = "xterm-256color"
    print(f"| {times} each | CPU ms, median | least | most |\n|---|---:|---:|---:|")
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        root = unpacked(folder)
        for columns, lines in ((80, 24), (120, 40), (200, 60)):
            spent = asyncio.run(looks_ms(folder, root, columns, lines, times))
            rows[f"one look at {columns} x {lines}"] = spent
        rows["reading the machine whole"] = cpu_ms(lambda: discover(root), times)
    for name, spent in rows.items():
        print(f"| {name} | {statistics.median(spent):.1f} | {min(spent):.1f} | {max(spent):.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 41))
