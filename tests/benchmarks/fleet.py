"""How long ``sizeup fleet`` takes, and how much memory, for more and more sessions that are made from a real one.

    python tests/benchmarks/fleet.py SESSION FOLDER 500 1000 5000
    python tests/benchmarks/fleet.py SESSION FOLDER --parquet 5000 50000

The second makes partitions of Parquet with so many hosts, without session files.

SESSION is a session file; each copy has a host of its own and its samples repeated until there are 6,000. The load of
this machine is printed beside each time. Copies are made in FOLDER, are removed again, and take about 0.3 MB each.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

SAMPLES = 6000


def copies(session: Path, folder: Path, count: int) -> None:
    """Write so many sessions of hosts of their own, in folders of 1,000."""
    lines = session.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0])
    body = "".join(_repeated(lines[1:]))
    for number in range(count):
        rack = folder / f"rack{number // 1000:02}"
        rack.mkdir(parents=True, exist_ok=True)
        head = {**header, "host": f"node{number:05}", "id": f"{number:032x}"}
        text = json.dumps(head, separators=(",", ":")) + "\n" + body
        (rack / f"node{number:05}.sizeup.jsonl").write_text(text, encoding="utf-8")


def _repeated(lines: list[str]) -> list[str]:
    """Return the lines with each batch of samples written again, later by some ns, until there are enough."""
    batches = [line for line in lines if line.startswith('{"kind":"samples"')]
    samples = sum(len(json.loads(line)["values"]) for line in batches)
    repeats = -(-SAMPLES // max(samples, 1))
    found = []
    for line in lines:
        found.append(line)
        if line.startswith('{"kind":"samples"'):
            for later in range(1, repeats):
                record = json.loads(line)
                record["t_ns"] = [moment + later for moment in record["t_ns"]]
                found.append(json.dumps(record, separators=(",", ":")) + "\n")
    return found


def measured(*arguments: str) -> tuple[float, float, float]:
    """Return wall time and CPU time in seconds, and the highest memory in MB, of one command."""
    code = (
        "import sys, resource; from sizeup.cli import run; status = run(sys.argv[1:]);"
        "used = resource.getrusage(resource.RUSAGE_SELF);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr); sys.exit(status)"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    wall = time.monotonic() - began
    cpu, memory = map(float, done.stderr.splitlines()[-1].split())
    return wall, cpu, memory


def row(count: int, name: str, *arguments: str) -> None:
    """Measure and print."""
    wall, cpu, memory = measured("fleet", *arguments)
    load, each = os.getloadavg()[0], 1000 * cpu / count
    print(f"{count:8}  {name:20}  {wall:7.1f}  {cpu:5.1f}  {each:14.2f}  {memory:9.0f}  {load:4.1f}", flush=True)


def partitions(session: Path, folder: Path, count: int) -> None:
    """Write Parquet of so many hosts, each with the figures of the session and up to 3 % of scatter."""
    from msgspec.structs import replace

    from sizeup.fleet.host_session import read_host_session
    from sizeup.fleet.parquet import write_parquet

    one, chance = read_host_session(str(session)), random.Random(1)
    hosts = []
    for number in range(count):
        figures = tuple(replace(each, value=each.value * chance.lognormvariate(0, 0.03)) for each in one.figures)
        name = f"node{number:05}"
        hosts.append(replace(one, host=name, id=name, path=f"{name}.sizeup.jsonl", figures=figures))
    write_parquet(hosts, str(folder), partitioned=True)


def main() -> None:
    """Print a row for each number of sessions."""
    session, folder, *counts = sys.argv[1:]
    parquet = counts[0] == "--parquet"
    print("sessions  command                wall s  CPU s  ms CPU/session  MB memory  load")
    for count in map(int, counts[parquet:]):
        made = Path(folder) / f"fleet-{count}"
        rows = str(made / "rows.parquet")
        try:
            if parquet:
                made.mkdir(parents=True)
                partitions(Path(session), made / "rows", count)
                row(count, "text from partitions", str(made / "rows"))
                continue
            copies(Path(session), made, count)
            row(count, "text", str(made))
            row(count, "text and --parquet", str(made), "--parquet", rows)
            row(count, "text from Parquet", rows)
        finally:
            shutil.rmtree(made)


if __name__ == "__main__":
    main()
