"""What io.commit predicts beside PostgreSQL and MariaDB, in interleaved rounds on one directory; as root, by hand.

    python tests/benchmarks/commits_against_databases.py DIR --clients 1,8 --rounds 4

DIR is an empty directory on the file system in question, which the users of both servers may enter. The CPU time of a
transaction is an input of the prediction: it is measured before the rounds, of the server and of what drives it,
less what the log writer spends on a commit. Each round then runs the database, the log with that input, fio's
bound, and at one client pg_test_fsync. Idle is what these programs leave of the CPUs; ``--realtime`` puts all of them
before whatever else runs on the host. Where the flushes of a disk vary from second to second, ``delayed_files.c`` makes
one whose flushes take a stated time.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fakes import HandContext
from sizeup.model.machine import Machine
from sizeup.model.sample import Estimate
from sizeup.probing.manifest_file import parse_manifest
from sizeup_direct_io import commit
from sizeup_direct_io.commit import Commit, Method

POSTGRESQL = Path(os.environ.get("POSTGRESQL_BIN", "/usr/lib/postgresql/15/bin"))
PORT = "54329"
UPDATE = "\\set a random(1, 100000 * :scale)\nUPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :a;\n"
SETTINGS = "\nlisten_addresses=''\nport={port}\nunix_socket_directories='{folder}'\nmax_wal_size=8GB\nautovacuum=off\n"
PROGRAMS = ("postgres", "pgbench", "mariadbd", "sysbench")
Load = Callable[[int, float], float]
"""Runs so many clients for so many seconds; returns commits per second."""


def call(*command: object, user: str = "") -> str:
    """The output of a command, as a user."""
    return subprocess.run(
        ["runuser", "-u", user, "--", *map(str, command)] if user else [*map(str, command)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@contextmanager
def postgresql(folder: Path) -> Iterator[Load]:
    """A server with one table of 1,000,000 rows; pgbench changes one row in each transaction."""
    folder.mkdir()
    shutil.chown(folder, "postgres")
    call(POSTGRESQL / "initdb", "-D", folder / "data", "-A", "trust", "-N", user="postgres")
    with (folder / "data/postgresql.conf").open("a") as file:
        file.write(SETTINGS.format(port=PORT, folder=folder))
    (folder / "tiny.sql").write_text(UPDATE)
    server = (POSTGRESQL / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log")
    bench = (POSTGRESQL / "pgbench", "-h", folder, "-p", PORT, "-U", "postgres", "postgres")
    call(*server, "start", user="postgres")

    def load(clients: int, seconds: float) -> float:
        told = call(*bench, "-n", "-f", folder / "tiny.sql", "-c", clients, "-j", min(2, clients), "-T", round(seconds))
        return float(re.findall(r"tps = ([\d.]+)", told)[-1])

    try:
        call(*bench, "-i", "-s", 10, "-q")
        yield load
    finally:
        call(*server, "-m", "immediate", "stop", user="postgres")


@contextmanager
def mariadb(folder: Path) -> Iterator[Load]:
    """A server with one table of 1,000,000 rows; sysbench changes one row in each transaction."""
    folder.mkdir()
    shutil.chown(folder, "mysql")
    call("mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={folder}/data", "--skip-test-db")
    socket = f"--socket={folder}/socket"
    log = ("--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=64M", "--innodb-buffer-pool-size=1G")
    place = ("--no-defaults", "--user=mysql", f"--datadir={folder}/data", socket, "--skip-networking")
    server = subprocess.Popen(["mariadbd", *place, *log], stderr=subprocess.DEVNULL)
    bench = ("sysbench", "oltp_update_non_index", f"--mysql-{socket[2:]}", "--mysql-user=root", "--mysql-db=bench")
    size = ("--tables=1", "--table-size=1000000", "--db-driver=mysql")

    def load(clients: int, seconds: float) -> float:
        told = call(*bench, *size, f"--threads={clients}", f"--time={seconds:.0f}", "run")
        return float(re.findall(r"transactions: +\d+ +\(([\d.]+) per", told)[-1])

    try:
        while subprocess.run(["mariadb-admin", socket, "create", "bench"], capture_output=True).returncode:
            time.sleep(0.5)
        call(*bench, *size, "prepare")  # writes more than the log once, so that it is a recycled one
        call("mariadb", socket, "-e", "SET GLOBAL innodb_flush_log_at_trx_commit=1")
        yield load
    finally:
        server.kill()
        server.wait()


def cpu_ns() -> int:
    """The CPU time of all threads of servers and clients that live."""
    total = 0
    for program in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if (program / "comm").read_text().startswith(PROGRAMS):
                total += sum(int(one.read_text().split()[0]) for one in program.glob("task/*/schedstat"))
    return total


def measured(load: Load, clients: int, seconds: float) -> tuple[float, float, float]:
    """Commits per second; CPU time of each, of server and clients; the share of the CPUs that those leave idle."""
    inside = seconds / 2
    with ThreadPoolExecutor() as pool:
        running = pool.submit(load, clients, seconds)
        time.sleep(seconds / 4)
        before, start_ns = cpu_ns(), time.monotonic_ns()
        time.sleep(inside)
        spent, took_ns = cpu_ns() - before, time.monotonic_ns() - start_ns
        rate = running.result()
    return rate, spent / took_ns * 1e9 / rate, 1 - spent / took_ns / os.cpu_count()


def log(path: Path, committers: int, seconds: float, cpu_seconds: float, method: Method) -> dict[str, Estimate]:
    """The figures of io.commit at one point, and whether it calls itself an upper bound."""
    (manifest,) = (
        one
        for one in parse_manifest((files("sizeup_direct_io") / "probe.toml").read_text(encoding="utf-8"), "probe.toml")
        if one.name == "io.commit"
    )
    settings = {parameter.name: parameter.default for parameter in manifest.parameter} | {
        "path": str(path),
        "most_committers": committers,
        "rounds": 8,
        "seconds": seconds / 8,
        "transaction_cpu": cpu_seconds,
        "reserve": 1 << 20,
    }
    commit.log_points = lambda *_: (commit.LogPoint(method, committers),)
    (step,) = Commit().plan(Machine(), settings)
    return {
        one.series: one
        for one in Commit().run(step, HandContext())
        if isinstance(one, Estimate) and one.at.get("method") == method.value and one.at["committers"] == committers
    }


def fio(path: Path, jobs: int, seconds: float) -> float:
    """Flushes per second of jobs that do not wait for each other."""
    job = ("fio", "--name=log", f"--directory={path}", "--rw=write", "--bs=8k", "--size=16m", "--fdatasync=1")
    ways = ("--overwrite=1", "--time_based", f"--runtime={seconds}", f"--numjobs={jobs}", "--group_reporting")
    lean = ("--thread", "--gtod_reduce=1")  # where eight jobs keep the CPUs busy, what fio counts costs flushes
    found = json.loads(call(*job, *ways, *lean, "--output-format=json"))
    for file in path.glob("log.*"):
        file.unlink()
    return float(found["jobs"][0]["write"]["iops"])


def pg_test_fsync(path: Path) -> float:
    """Flushes per second of one page that is written again and again."""
    told = call(POSTGRESQL / "pg_test_fsync", "-s", 1, "-f", path / "fsync")
    return float(re.findall(r"fdatasync +([\d.]+) ops/sec", told)[0])


def main() -> None:
    """Run the rounds; print each, and the median ratio of predicted and measured with its range."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clients", default="1,8")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--databases", default="postgresql,mariadb")
    parser.add_argument("--bounds", action="store_true", help="fio and pg_test_fsync, too")
    parser.add_argument("--realtime", action="store_true")
    options = parser.parse_args()
    if options.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    ratios = defaultdict(list)

    def compare(what: str, predicted: float, measured: float, words: str = "") -> None:
        ratios[what].append(predicted / measured)
        print(f"{what}: {predicted:.0f} / {measured:.0f} = {predicted / measured:.2f} {words}", flush=True)

    for name in filter(None, options.databases.split(",")):
        place = options.folder / name
        with {"postgresql": postgresql, "mariadb": mariadb}[name](place) as load:
            load(8, 5)
            work_ns = {}
            for clients in map(int, options.clients.split(",")):
                _, whole_ns, _ = measured(load, clients, 2 * options.seconds)
                flush_ns = log(options.folder, clients, 4, 0, Method.FDATASYNC)["cpu-per-commit"].value
                work_ns[clients] = whole_ns - flush_ns
                print(f"{name} at {clients}: {whole_ns / 1e3:.0f} us of CPU, {flush_ns / 1e3:.0f} for its flush")
            for _ in range(options.rounds):
                for clients in map(int, options.clients.split(",")):
                    rate, each_ns, idle = measured(load, clients, options.seconds)
                    found = log(options.folder, clients, 4, work_ns[clients] / 1e9, Method.FDATASYNC)["commits"]
                    bound = "upper bound" if any("upper bound" in caveat for caveat in found.caveats) else ""
                    compare(
                        f"{name} at {clients}", found.value, rate, f"{each_ns / 1e3:.0f} us, {idle:.0%} idle {bound}"
                    )
        shutil.rmtree(place)
    for clients in map(int, options.clients.split(",") * options.rounds * options.bounds):
        found = log(options.folder, clients, options.seconds, 0, Method.INDEPENDENT)["commits"].value
        compare(f"fio with {clients} jobs", found, fio(options.folder, clients, options.seconds))
        if clients == 1:
            alone = log(options.folder, 1, 4, 0, Method.FDATASYNC)["commits"].value
            compare("pg_test_fsync", alone, pg_test_fsync(options.folder))
    for what, values in ratios.items():
        print(f"{what}: {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
