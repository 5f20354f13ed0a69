"""Time of one what-if, of its tornado and of all turning points, beside a plain loop of the same interpreter.

Run by hand on an otherwise idle machine, from the root of the checkout:

    python tests/benchmarks/whatif.py
"""

import statistics
import time
from collections.abc import Callable

from sizeup.discovery.machine import discover
from sizeup.sizing import rules
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.inputs.presets import find_preset
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.licensing.table import rows
from sizeup.sizing.sensitivity import flips, tornado

ROUNDS = 30
SERVER = (
    "machine.sockets=2",
    "machine.cores_per_socket=16",
    "machine.ghz=2.9",
    "machine.cpu_model=Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz",
    "machine.threads_per_core=2",
    "path.stages=hba:fc16*2,array:fc8*2",
    "sga.mb=65536",
    "redo.mb_s=20",
    "license.users=300",
    "license.options=rac,partitioning",
    "value.throughput=1000000",
)


def plain_loop() -> int:
    """The yardstick: 100,000 additions."""
    total = 0
    for number in range(100_000):
        total += number
    return total


def milliseconds(work: Callable[[], object]) -> float:
    """One run."""
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    """Measure in interleaved rounds, so that a slow minute affects all alike, and print a Markdown table."""
    pack = rules.shipped()
    machine = discover()
    settings = parse_settings(SERVER)
    full: Sizing = size(described(machine, settings), pack)
    works: dict[str, Callable[[], object]] = {
        "100,000 additions (the yardstick)": plain_loop,
        "what-if of a full server": lambda: size(described(machine, settings), pack),
        "what-if of a published case": lambda: size(find_preset("clovertown").values(), pack),
        "tornado of its cost": lambda: tornado(full.inputs, "license.cost.term", pack),
        "all turning points": lambda: flips(full.inputs, full.advice, pack),
        "every vendor's licenses": lambda: rows(full.inputs, pack),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(milliseconds(work))
    yardstick = statistics.median(next(iter(times.values())))
    print(f"{len(full.advice)} answers\n\n| | median ms | largest ms | yardsticks |\n|---|---|---|---|")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.2f} | {max(values):.2f} | {median / yardstick:.2f} |")


if __name__ == "__main__":
    main()
