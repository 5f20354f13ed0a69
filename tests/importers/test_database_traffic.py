"""What the counters of a real server say is what its devices did in the same seconds, as far as they count the same."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from importers.servers import DeviceTraffic, LoopDevice, device, program, run_as, statement, user
from sizeup.importers.databases import parse_snapshots, spans
from sizeup.importers.intervals import LoadInterval

pytestmark = [pytest.mark.ci, pytest.mark.alone]  # its mounts are seen by tests that compare this machine with itself
_WITHIN = 0.05
_WAL_BLOCK = 8192


def sql(client: str) -> str:
    """Return what the statement of the page gives to its client, psql or mysql."""
    return statement(client).partition("<<'END'\n")[2].removesuffix("END\n")


def compared(
    take: Callable[[], str], data: LoopDevice, log: LoopDevice, under_load: Callable[[], None]
) -> tuple[LoadInterval, float, DeviceTraffic, DeviceTraffic]:
    """Return what the snapshots say, over how many seconds, and what the devices of data and log did meanwhile."""
    first, data_before, log_before = take(), data.traffic(), log.traffic()
    under_load()
    second, data_after, log_after = take(), data.traffic(), log.traffic()
    texts = [(first, "first"), (second, "second")]
    rate = spans([(_with(first, 0), "first"), (_with(second, 1), "second")])[2].rate("test.one")
    assert rate is not None
    seconds = 1 / rate
    (interval,) = parse_snapshots(texts).intervals
    return interval, seconds, data_after.since(data_before), log_after.since(log_before)


def _with(text: str, count: int) -> str:
    """Return a snapshot with a counter that shows its seconds."""
    return text.replace("end.snapshot", f"sum.test.one={count}\nend.snapshot")


def close(rate: float | None, seconds: float, counted: float, within: float = _WITHIN) -> None:
    assert rate is not None
    assert rate * seconds == pytest.approx(counted, rel=within)


@contextlib.contextmanager
def mariadb(owner: str, data: LoopDevice, log: LoopDevice) -> Iterator[tuple[str, ...]]:
    """Run a server that really reads and writes: direct I/O and a buffer pool that is small for its table."""
    socket, directory = data.directory / "socket", data.directory / "data"
    own = ("--no-defaults", f"--datadir={directory}", f"--innodb-log-group-home-dir={log.directory}")
    run_as(owner, program("mariadb-install-db"), *own, "--auth-root-authentication-method=normal", "--skip-test-db")
    with (data.directory / "messages").open("wb") as messages:
        server = subprocess.Popen(
            (program("mariadbd"), *own, f"--socket={socket}", "--skip-networking", f"--user={owner}",
             "--innodb-buffer-pool-size=24M", "--innodb-log-file-size=48M", "--innodb-flush-method=O_DIRECT"),
            stdout=messages, stderr=messages,
        )  # fmt: skip
    try:
        client = (program("mysql"), "--no-defaults", f"--socket={socket}", "-uroot", "-B", "-N")
        for _ in range(300):
            if subprocess.run((*client, "-e", "SELECT 1"), check=False, capture_output=True).returncode == 0:
                break
            assert server.poll() is None, (data.directory / "messages").read_text(errors="replace")[-2000:]
            time.sleep(0.2)
        yield client
    finally:
        server.terminate()
        server.wait(120)


def test_mariadb_under_sysbench_counts_what_its_devices_do() -> None:
    """Requests and bytes are those of the devices; redo is written in whole blocks of the device.

    Each write of redo begins and ends with a block that is partly filled: bytes = generated + writes x block. The
    device of the log also has the writes of checkpoints, small and some a second, which are no redo writes.
    """
    owner = user("mysql")
    for name in ("mariadbd", "mariadb-install-db", "sysbench", "mysql", "mkfs.ext4", "losetup"):
        program(name)
    with device(owner, 1024) as data, device(owner, 256) as log, mariadb(owner, data, log) as client:
        run_as("nobody", *client, "-e", "CREATE DATABASE sbtest")
        load = (
            program("sysbench"), "oltp_read_write", f"--mysql-socket={data.directory / 'socket'}", "--mysql-user=root",
            "--db-driver=mysql", "--tables=1", "--table-size=400000", "--threads=8",
        )  # fmt: skip
        run_as("nobody", *load, "prepare")
        with subprocess.Popen((*load, "--time=60", "run"), stdout=subprocess.DEVNULL, cwd="/") as running:
            time.sleep(3)

            def take() -> str:
                done = subprocess.run(client, input=sql("mysql"), check=True, capture_output=True, text=True)
                return done.stdout

            found, seconds, on_data, on_log = compared(take, data, log, lambda: time.sleep(12))
            running.terminate()

    assert found.read_share is not None
    assert found.requests_per_second is not None
    close(found.requests_per_second * found.read_share, seconds, on_data.reads)
    close(found.requests_per_second, seconds, on_data.reads + on_data.writes)
    close(found.bytes_per_second, seconds, on_data.read_bytes + on_data.written_bytes)
    close(found.redo_written_bytes_per_second, seconds, on_log.written_bytes)
    assert found.redo_writes_per_second is not None
    assert 0.85 < found.redo_writes_per_second * seconds / on_log.writes <= 1 + _WITHIN


def test_postgresql_under_pgbench_counts_what_its_devices_do() -> None:
    """Bytes are those of the device where the page cache neither serves nor merges; redo as in MariaDB.

    Shared buffers hold everything and the page cache was emptied, so that each block is read once, from the device;
    no block is written twice before the second checkpoint, which ends the interval. Adjacent writes are merged by the
    kernel, so that requests of writes are an upper bound.
    """
    owner = user("postgres")
    programs = {name: program(name) for name in ("initdb", "pg_ctl", "pgbench", "psql", "mkfs.ext4", "losetup")}
    with device(owner, 1024) as data, device(owner, 2048) as log:
        directory = str(data.directory / "data")
        run_as(owner, programs["initdb"], "-A", "trust", "-N", "-D", directory, "-X", str(log.directory / "wal"))
        settings = {
            "listen_addresses": "", "unix_socket_directories": str(data.directory), "shared_buffers": "500MB",
            "autovacuum": "off", "checkpoint_timeout": "1h", "max_wal_size": "1200MB", "min_wal_size": "1200MB",
            "bgwriter_lru_maxpages": "0",
        }  # fmt: skip
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        environment = {"PGHOST": str(data.directory), "PGDATABASE": "postgres"}

        def start() -> None:
            run_as(
                owner,
                programs["pg_ctl"],
                "-D",
                directory,
                "-w",
                "-l",
                f"{data.directory}/messages",
                "-o",
                options,
                "start",
            )

        def stop() -> None:
            run_as(owner, programs["pg_ctl"], "-D", directory, "-w", "-m", "fast", "stop")

        def query(text: str) -> str:
            script = data.directory / "query.sql"
            script.write_text(text, encoding="utf-8")
            return run_as(owner, programs["psql"], "-XAtq", "-f", str(script), environment=environment)

        def take() -> str:
            query("CHECKPOINT")
            time.sleep(1.5)
            return query(sql("psql"))

        start()
        try:
            for _ in range(3):  # 770 MB of log, so that the load writes into files that are there: a new one is filled
                run_as(owner, programs["pgbench"], "-i", "-q", "-s", "20", environment=environment)
            query("CHECKPOINT")
            stop()
            data.empty_page_cache()
            start()
            query(sql("psql"))
            load = (programs["pgbench"], "-c", "8", "-T", "12")
            found, seconds, on_data, on_log = compared(
                take, data, log, lambda: (run_as(owner, *load, environment=environment), None)[1]
            )
        finally:
            stop()

    assert found.requests_per_second is not None
    assert found.read_share is not None
    reads = found.requests_per_second * found.read_share
    close(reads, seconds, on_data.reads)
    close(reads * _WAL_BLOCK, seconds, on_data.read_bytes)
    close(found.bytes_per_second, seconds, on_data.read_bytes + on_data.written_bytes)
    assert found.requests_per_second * seconds > on_data.reads + on_data.writes
    close(found.redo_writes_per_second, seconds, on_log.writes)
    close(found.redo_written_bytes_per_second, seconds, on_log.written_bytes)
