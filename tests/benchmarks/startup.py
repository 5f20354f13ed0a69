"""CPU time of short commands, beside the bare interpreter and the import that the console needs.

Run by hand on an otherwise idle machine, from the root of the checkout:

    python tests/benchmarks/startup.py
"""

import os
import resource
import statistics
import subprocess
import sys

ROUNDS = 20

COMMANDS = {
    "python, nothing": ["-c", "pass"],
    "sizeup --batch --help": ["-m", "sizeup", "--batch", "--help"],
    "sizeup detect": ["-m", "sizeup", "detect"],
    "sizeup size": ["-m", "sizeup", "size"],
    "sizeup probe list": ["-m", "sizeup", "probe", "list"],
    "sizeup doctor": ["-m", "sizeup", "doctor"],
    "import textual.app": ["-c", "import textual.app"],
}


def cpu_ms(arguments: list[str]) -> float:
    """User and system time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.devnull, "wb") as nowhere:
        subprocess.run([sys.executable, *arguments], stdin=nowhere, stdout=nowhere, stderr=nowhere, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Measure in interleaved rounds, so that a slow minute affects all alike, and print a Markdown table."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, arguments in COMMANDS.items():
            times[name].append(cpu_ms(arguments))
    bare = statistics.median(times["python, nothing"])
    print(f"| {ROUNDS} runs each | CPU ms, median | least | times the interpreter |\n|---|---:|---:|---:|")
    for name, values in times.items():
        middle = statistics.median(values)
        print(f"| `{name}` | {middle:.1f} | {min(values):.1f} | {middle / bare:.1f} |")


if __name__ == "__main__":
    main()
