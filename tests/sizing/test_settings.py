"""The settings of --emit: values worked out by hand, the way back, and what is unknown left out with its key."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup import cli
from sizeup.cli.size_emit import FILES
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.sizing.advise import size
from sizeup.sizing.keys import KEYS, LEAVE_TO_OTHERS, parse_settings
from sizeup.sizing.rules import shipped
from sizeup.sizing.settings import ChosenSetting, chosen_settings, settings_table

NFS = ("path.stages=nic:eth10*1", "net.connections=1", "net.rtt_ms=2")
SIZES = ("net.tcp_rmem=4096,131072,6291456", "net.tcp_wmem=4096,16384,4194304")


def chosen(files: str, *inputs: str) -> dict[str, ChosenSetting]:
    sizing = size(parse_settings(inputs))
    return {one.setting.name: one for one in chosen_settings(sizing, shipped(), files.split())}


def values(files: str, *inputs: str) -> dict[str, str | None]:
    return {name: one.value for name, one in chosen(files, *inputs).items()}


def test_huge_pages_hold_the_shared_memory_and_one_more_for_each_segment() -> None:
    """65,537 MiB in pages of 2 MiB: 32,769; two segments: two more; 32,771 x 2,048 KiB = 67,115,008 KiB."""
    found = values("hugepages limits", "sga.mb=65537", "sga.segments=2")

    assert found == {"vm.nr_hugepages": "32771", "oracle - memlock": "67115008"}


def test_a_database_that_allocates_beside_its_buffers_gets_a_tenth_more_pages() -> None:
    """1,000 MiB are 500 pages; 10 % more are 550, and one for the segment. 102,400 x 1.1 is no more than 112,640."""
    assert values("hugepages", "sga.mb=1000", "license.pack=mariadb")["vm.nr_hugepages"] == "551"
    large = ("sga.mb=204800", "license.pack=mysql")
    assert values("hugepages limits", *large) == {"vm.nr_hugepages": "112641", "mysql - memlock": str(112641 * 2048)}
    required = size(parse_settings(large)).find("memory.huge-pages")
    assert required is not None
    assert required.verdict == "112,641 huge pages required for the shared memory"


def test_the_pages_may_all_be_locked() -> None:
    """65,536 MiB, 3 % of them, 24 MiB and 2,000 connections of 52 KiB are 67,627.6 MiB: 33,814 pages, and one."""
    found = values("hugepages limits postgresql", "sga.mb=65536", "license.pack=postgresql")

    assert found["vm.nr_hugepages"] == "33815"
    assert found["postgres - memlock"] == str(33815 * 2048)
    assert "mysql - memlock" in values("limits", "sga.mb=65536", "license.pack=mysql")


@pytest.mark.parametrize(
    ("buffers_mb", "needed"),
    [(64, (38, 48, 81)), (128, (72, 82, 115)), (256, (140, 150, 183)), (512, (276, 286, 319)),
     (1024, (537, 547, 581)), (2048, (1060, 1070, 1104)), (4096, (2107, 2117, 2150)), (8192, (4200, 4210, 4243))],
)  # fmt: skip
def test_postgresql_starts_with_the_huge_pages(buffers_mb: int, needed: tuple[int, ...]) -> None:
    """As postgres -C shared_memory_size_in_huge_pages of version 15.18 prints for max_connections 100, 500, 2,000.

    With 5,000 of them, which memory.sessions states, 64 MB need 155 pages.
    """
    sizes = (f"sga.mb={buffers_mb}", "license.pack=postgresql", "machine.memory_gib=64")
    pages = int(values("hugepages", *sizes)["vm.nr_hugepages"] or 0)
    sizing = size(parse_settings(sizes))
    (memory,) = (card for card in sizing.cards if card.resource == "memory")

    assert max(needed) <= pages <= max(needed) * 1.01 + 20
    assert memory.facts is not None
    assert pages - 2 < memory.facts.demand.value / 2**21 <= pages - 1
    more = values("hugepages", "sga.mb=64", "license.pack=postgresql", "memory.sessions=5000")
    assert 155 <= int(more["vm.nr_hugepages"] or 0) <= 180


@pytest.mark.parametrize(
    ("pack", "pages", "user", "why"),
    [
        ("oracle", "32769", "oracle", ""),
        ("postgresql", "33815", "postgres", ""),
        ("mysql", "36046", "mysql", ""),
        ("mariadb", "36046", "mysql", ""),
        ("db2", "32769", "db2inst1", ""),
        ("sql-server", None, "mssql", "SQL Server uses transparent huge pages"),
        ("sap-hana", None, "SIDadm", "SAP HANA takes its memory in normal or transparent huge pages"),
        ("vmware", None, "", "license.pack names no database"),
        ("windows", None, "", "license.pack names no database"),
    ],
)
def test_each_database_has_its_own_user_and_huge_pages_only_if_it_uses_them(
    pack: str, pages: str | None, user: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """65,536 MiB are 32,768 pages and one for the segment, with 10 % more 36,046, for PostgreSQL 33,815."""
    inputs = ("sga.mb=65536", f"license.pack={pack}", "numa.nodes=2")
    locked, name = None if pages is None else str(int(pages) * 2048), f"{user} - memlock".removeprefix(" - ")

    assert values("hugepages limits", *inputs) == {"vm.nr_hugepages": pages, name: locked}
    printed = emitted(capsys, "--emit", "hugepages", "--set", *inputs).replace("\n# ", " ")
    assert (f"vm.nr_hugepages: not set. {why}" in printed) is bool(why)
    answers = {one.id for one in size(parse_settings(inputs)).advice}
    of_pages = {"memory.huge-pages", "memory.huge-pages-per-node", "memory.memlock"}
    assert of_pages & answers == (set() if pack in ("sql-server", "sap-hana") else of_pages)


def test_every_pack_has_huge_pages_and_a_limit_or_a_reason_why_not() -> None:
    for pack in shipped().license_packs():
        assert len(values("hugepages limits", "sga.mb=64", f"license.pack={pack.pack}")) == 2, pack.pack


@pytest.mark.parametrize(("rate", "size"), [("0.1", "1024MB"), ("1.4", "1024MB"), ("1.5", "1073MB")])
def test_max_wal_size_is_never_below_the_default_of_postgresql(rate: str, size: str) -> None:
    """0.1 and 1.4 MB/s x 300 s x 2.5 are 75 and 1,050 MB, less than 1 GiB; 1,125 MB are 1,072.9 MiB."""
    assert values("postgresql", f"redo.mb_s={rate}")["max_wal_size"] == size


@pytest.mark.parametrize(("memory_gib", "warns"), [("80", True), ("120", False), (None, False)])
def test_shared_buffers_above_two_fifths_of_the_memory_carry_a_warning(memory_gib: str | None, warns: bool) -> None:
    """48 GiB are 60 % of 80 and 40 % of 120."""
    memory = () if memory_gib is None else (f"machine.memory_gib={memory_gib}",)
    found = chosen("postgresql", "sga.mb=49152", *memory)["shared_buffers"]

    assert found.value == "49152MB"
    assert found.reason.startswith("WARNING: 60 % of the memory.") is warns


@pytest.mark.parametrize(
    "name",
    ["vm.nr_hugepages", "postgres - memlock", "shared_buffers", "huge_pages", "innodb_buffer_pool_size", "large_pages"],
)
def test_no_file_sets_memory_that_does_not_fit(name: str) -> None:
    """64 GiB do not fit into 32 GiB, and do into 128."""
    files, inputs = "hugepages limits postgresql mysql", ("sga.mb=65536", "memory.huge_page_kib=2048")
    found = chosen(files, *inputs, "machine.memory_gib=32")[name]

    assert found.value is None
    assert found.answer is not None
    assert found.answer.decision == "does-not-fit"
    assert chosen(files, *inputs, "machine.memory_gib=128")[name].value


def test_only_the_tcp_buffer_that_is_too_small_is_raised() -> None:
    """1,177 MB/s x 2 ms x 2 = 4.7 MB: above the 4 MiB of the send buffer, so 8 MiB; within the 6 MiB of the other."""
    found = chosen("sysctl", *NFS, *SIZES)

    assert found["net.ipv4.tcp_wmem"].value == "4096 16384 8388608"
    assert found["net.ipv4.tcp_rmem"].value is None


def test_zone_reclaim_is_a_setting_of_several_nodes() -> None:
    assert values("sysctl", "numa.nodes=2")["vm.zone_reclaim_mode"] == "0"
    assert "vm.zone_reclaim_mode" not in values("sysctl", "numa.nodes=1")


def test_postgresql_takes_its_memory_and_the_wal_between_two_checkpoints() -> None:
    """8 MB/s x 300 s x 2.5 = 6,000 MB; / 1.048576 = 5,722.05, rounded up."""
    found = values("postgresql", "sga.mb=65536", "redo.mb_s=8", "array.drive=nvme-pcie4")

    assert found == {
        "shared_buffers": "65536MB",
        "huge_pages": "on",
        "max_wal_size": "5723MB",
        "checkpoint_timeout": "300s",
        "random_page_cost": "1.1",
    }


def test_magnetic_drives_of_a_stripe_are_read_at_once() -> None:
    disks = ("array.disks=24", "array.drive=hdd-15k")
    assert values("postgresql", *disks, "array.raid=10")["effective_io_concurrency"] == "24"
    many = ("array.disks=1500", *disks[1:], "array.raid=10")
    assert values("postgresql", *many)["effective_io_concurrency"] == "1000", "PostgreSQL does not start with more"
    assert "random_page_cost" not in values("postgresql", *disks)
    assert "effective_io_concurrency" not in values("postgresql", *disks, "array.raid=5")
    assert chosen("postgresql", "array.disks=24")["random_page_cost"].missing == ("array.drive",)


def test_mysql_writes_in_the_background_what_the_workload_writes() -> None:
    """10,000 IOPS with 60 % reads: 4,000 writes/s; 1 MB/s x 3,600 s = 3,600 MB = 3,433.2 MiB, rounded up."""
    inputs = ("sga.mb=1024", "workload.iops=10000", "workload.read_percent=60", "redo.mb_s=1")
    found = values("mysql", *inputs, "capacity.mixed_iops=9000")

    assert found["innodb_buffer_pool_size"] == "1024M"
    assert found["innodb_flush_log_at_trx_commit"] == "1", "the verdict counts commits as durable"
    assert found["innodb_io_capacity"] == "4000"
    assert found["loose_innodb_redo_log_capacity"] == found["innodb_log_file_size"] == "3434M"
    # 30 % of 20,000 requests of the mix are 6,000 writes; 30 % of 9,000 are less than the workload's own 4,000.
    assert values("mysql", *inputs, "capacity.mixed_iops=20000")["innodb_io_capacity_max"] == "6000"
    assert "innodb_io_capacity_max" not in found


def test_of_a_measured_mix_the_writes_that_are_certain_count() -> None:
    doubt = Uncertainty(15_000.0, "throughput was not steady")
    mixed = Quantity(38_201.0, "1/s", Origin.MEASURED, "io.direct", uncertainties=(doubt,))
    sizing = size({**parse_settings(["workload.iops=10000", "workload.read_percent=60"]), "capacity.mixed_iops": mixed})
    all_settings = chosen_settings(sizing, shipped(), ["mysql"])
    (most,) = (one for one in all_settings if one.setting.name == "innodb_io_capacity_max")

    assert most.value == "4500"
    assert ("capacity.mixed_iops", replace(mixed, value=15_000.0)) in most.basis


@pytest.mark.parametrize(("rate", "log"), [("0.02", "100M"), ("20", "16384M")])
def test_the_redo_log_of_mysql_stays_within_its_limits(rate: str, log: str) -> None:
    """0.02 MB/s x 3,600 s are 72 MB, below the least; 20 MB/s are 72 GB, above the most of 16 GiB."""
    assert values("mysql", f"redo.mb_s={rate}")["innodb_log_file_size"] == log


@pytest.mark.parametrize(("rate", "seconds"), [("120", "143 s"), ("1", "3,600 s"), ("0.01", "10,500 s")])
def test_the_redo_log_of_mysql_says_how_long_it_lasts(rate: str, seconds: str) -> None:
    """17,180 MB / 120 MB/s = 143 s; 104.9 MB / 0.01 MB/s = 10,486 s."""
    found = chosen("mysql", f"redo.mb_s={rate}")["loose_innodb_redo_log_capacity"]

    assert found.reason.startswith(f"Redo of {seconds} at the peak")


LOAD = ("workload.iops=10000", "workload.read_percent=60", "workload.io_kib=16", "capacity.latency_ms=0.45")


def test_a_device_is_only_read_by_fio() -> None:
    """10,000/s x 0.45 ms = 4.5 requests at once."""
    found = values("fio", *LOAD, "db.device=/dev/sdb")

    assert (found["filename"], found["rw"], found["rate_iops"]) == ("/dev/sdb", "randread", "6000")
    assert (found["bs"], found["iodepth"]) == ("16384", "5")
    assert not {"directory", "rwmixread", "size"} & set(found)


def test_a_directory_gets_the_reads_and_the_writes() -> None:
    found = values("fio", *LOAD, "db.device=/u01", "db.gb=2")

    assert (found["directory"], found["rw"], found["rwmixread"]) == ("/u01", "randrw", "60")
    assert (found["rate_iops"], found["size"]) == ("6000,4000", "2000000000")


def test_fio_without_a_place_makes_a_small_file_where_it_is_started() -> None:
    found = values("fio", *LOAD, "db.gb=4000")

    assert (found["directory"], found["size"], found["rw"]) == (".", "1g", "randrw")


def test_what_arithmetic_adds_to_a_whole_rate_is_not_rounded_up() -> None:
    assert values("fio", "workload.iops=30000", "workload.read_percent=70")["rate_iops"] == "21000,9000"


@pytest.mark.parametrize(
    ("settings", "depth", "jobs", "rate"),
    [
        (("workload.iops=40000",), "40", "1", "24000,16000"),
        (("workload.iops=40000", "array.drive=hdd-15k"), "400", "1", "24000,16000"),
        (("workload.iops=250000", "capacity.latency_ms=0.3"), "25", "3", "50000,33334"),
    ],
)
def test_fio_has_requests_enough_for_the_rate(settings: tuple[str, ...], depth: str, jobs: str, rate: str) -> None:
    """40,000/s x 1 ms = 40, on magnetic drives x 10 ms; 250,000/s x 0.3 ms = 75 in 3 jobs."""
    found = values("fio", "workload.read_percent=60", *settings)

    assert (found["iodepth"], found["numjobs"], found["rate_iops"]) == (depth, jobs, rate)
    assert "Little's law" in chosen("fio", "workload.read_percent=60", *settings)["iodepth"].reason


@pytest.mark.parametrize(
    ("rates", "size", "part"),
    [
        (
            ("workload.io_kib=8", "workload.mb_s=245", "workload.sequential_mb_s=150.8", "redo.mb_s=5"),
            "8192",
            "75.4 of the 250",
        ),
        (("workload.io_kib=8", "workload.mb_s=75.4"), "8192", ""),
        (("workload.mb_s=94.2", "workload.sequential_mb_s=18.8416"), "8192", "75.4 of the 94.2"),
        (("workload.mb_s=94.2",), "10240", ""),
        ((), "8192", ""),
    ],
)
def test_fio_says_which_part_of_the_workload_it_is(rates: tuple[str, ...], size: str, part: str) -> None:
    """9,200 x 8 KiB are 75.4 MB/s; 94.2 MB/s in as many are 10,239 bytes each, in steps of 512 10,240."""
    found = chosen("fio", "workload.read_iops=6000", "workload.write_iops=3200", *rates)["bs"]

    assert found.value == size
    assert (f"This job is the random I/O alone, {part} MB/s of the workload" in found.reason) is bool(part)
    assert ("alone" in found.reason) is bool(part)


def test_what_is_unknown_names_the_keys_that_give_it() -> None:
    found = chosen("hugepages sysctl", "net.rtt_ms=2")

    assert found["vm.nr_hugepages"].missing == ("sga.mb",)
    assert found["net.ipv4.tcp_rmem"].missing == ("net.tcp_rmem", "path.stages")


def test_the_table_names_known_files_sources_and_keys() -> None:
    table = settings_table()

    assert tuple(file.id for file in table.file) == FILES
    assert {one.file for one in table.setting} == set(FILES)
    assert {one.source for one in table.setting} == {one.id for one in table.source}
    assert all(one.reason and set(one.needs) <= set(KEYS) for one in table.setting)


def emitted(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(["size", "--machine", "none", *arguments]) == 0
    return capsys.readouterr().out


def test_each_value_stands_under_its_reason_working_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    text = emitted(capsys, "--emit", "hugepages", "--set", "sga.mb=1000")
    comment = text.partition("vm.nr_hugepages = 501\n")[0]

    assert text.startswith("# 99-sizeup-hugepages.conf\n")
    assert "#   ceil(1,000 MiB / 2 MiB) = 500 pages\n#   500 pages + 1 segment = 501 pages\n" in comment
    assert "#   sga.mb 1,000 MiB (--set)\n" in comment
    assert "(default)\n# Oracle Database 19c: Configuring HugePages on Linux\n# https://docs.oracle.com/" in comment
    assert "sysctl vm.nr_hugepages > before.conf" in text


@pytest.mark.parametrize(
    ("pack", "value", "source"),
    [("oracle", "10", "red-hat"), ("sql-server", "1", "microsoft"), ("postgresql", "1", "kernel-vm")],
)
def test_swapping_is_set_as_the_vendor_of_the_database_or_its_system_recommends(
    pack: str, value: str, source: str
) -> None:
    found = chosen("sysctl", f"license.pack={pack}")["vm.swappiness"]

    assert (found.value, found.source.id) == (value, source)


def test_every_vendor_has_a_value_of_swapping() -> None:
    for pack in shipped().license_packs():
        assert values("sysctl", f"license.pack={pack.pack}")["vm.swappiness"] in ("1", "10")


def test_settings_of_a_machine_that_is_too_small_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    small = emitted(capsys, "--emit", "sysctl", "--set", "machine.memory_gib=8", "sga.mb=65536")
    large = emitted(capsys, "--emit", "sysctl", "--set", "machine.memory_gib=256", "sga.mb=65536")

    assert "# WARNING: this machine is too small. Memory: 64 GiB demand, 8 GiB capacity" in small
    assert "WARNING" not in large


def test_a_share_of_reads_that_nobody_stated_is_called_a_default(capsys: pytest.CaptureFixture[str]) -> None:
    text = emitted(capsys, "--emit", "mysql", "--set", "workload.iops=1000")

    assert "#   workload.iops 1,000 IOPS (--set)\n#   workload.read_percent 70 % (default)\n" in text
    assert "innodb_io_capacity = 300\n" in text  # 30 % of 1,000


def test_files_are_written_once_and_the_way_back_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "settings"
    arguments = ["size", "--emit", "sysctl", "limits", "-o", str(folder)]
    name, limits = "99-sizeup-sysctl.conf", "99-sizeup-limits.conf"

    assert cli.run(arguments) == 0
    before = Path("/proc/sys/vm/swappiness").read_text(encoding="ascii").strip()
    assert sorted(path.name for path in folder.iterdir()) == [limits, name, f"undo-{name}"]
    assert "vm.swappiness = 10\n" in (folder / name).read_text(encoding="utf-8")
    assert f"vm.swappiness = {before}\n" in (folder / f"undo-{name}").read_text(encoding="utf-8")
    assert capsys.readouterr().out.splitlines() == [str(folder / one) for one in (name, f"undo-{name}", limits)]
    (folder / name).unlink()

    assert cli.run(arguments) == 2
    assert capsys.readouterr().err == (f"sizeup: {folder}: exists and is not an empty directory; choose another one\n")
    assert not (folder / name).exists()


def accepted(*command: str, user: str | None = None) -> str:
    """Return what a program of others prints that reads a file; skip where the program is missing."""
    program = shutil.which(command[0]) or shutil.which(command[0], path="/usr/sbin:/usr/lib/postgresql/15/bin")
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=60, check=False, user=user)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.ci
def test_sysctl_takes_the_network_settings_and_the_way_back(tmp_path: Path) -> None:
    cli.run(["size", "--machine", "none", "--emit", "sysctl", "-o", str(tmp_path / "new"), "--set", *NFS, *SIZES])
    lines = (tmp_path / "new" / "99-sizeup-sysctl.conf").read_text(encoding="utf-8").splitlines()
    network = tmp_path / "network.conf"
    network.write_text("\n".join(line for line in lines if line.startswith(("#", "net."))), encoding="utf-8")
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-n", "true"], check=False).returncode != 0:
        pytest.skip("a network namespace cannot be made here")

    printed = accepted("unshare", "-n", "sh", "-c", f"sysctl -p {network} && cat /proc/sys/net/ipv4/tcp_wmem")
    assert printed.splitlines()[-1].split() == ["4096", "16384", "8388608"]


def written(folder: Path, name: str, *inputs: str) -> Path:
    """Return the file of that name, which holds every setting that these inputs give."""
    arguments = ["size", "--machine", "none", "--emit", name, "-o", str(folder / name), "--set", *inputs]
    assert cli.run(arguments) == 0
    [path] = [path for path in (folder / name).iterdir() if not path.name.startswith("undo-")]
    return path


POSTGRESQL = {"shared_buffers": "8192", "max_wal_size": "5723", "checkpoint_timeout": "300", "random_page_cost": "1.1"}
"""The values in the server's own units: shared_buffers in pages of 8 KiB."""


@pytest.mark.ci
def test_postgresql_takes_every_setting(tmp_path: Path) -> None:
    settings = written(tmp_path, "postgresql", "sga.mb=64", "redo.mb_s=8", "array.drive=nvme-pcie4")
    owner = "nobody" if os.geteuid() == 0 else None  # PostgreSQL does not run as root
    with tempfile.TemporaryDirectory() as folder:
        if owner is not None:
            shutil.chown(folder, owner)
        data = Path(folder) / "data"
        accepted("initdb", "-D", str(data), user=owner)
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(settings.read_text(encoding="utf-8"))

        found = {name: accepted("postgres", "-C", name, "-D", str(data), user=owner).strip() for name in POSTGRESQL}
    assert found == POSTGRESQL


@pytest.mark.ci
def test_mariadb_takes_every_setting(tmp_path: Path) -> None:
    given = ("sga.mb=64", "redo.mb_s=0.1", "workload.iops=1000", "workload.read_percent=60", "capacity.mixed_iops=5000")
    settings = written(tmp_path, "mysql", *given)

    printed = accepted("mariadbd", f"--defaults-file={settings}", "--help", "--verbose")
    found = dict(line.split(maxsplit=1) for line in printed.splitlines() if line.startswith(("innodb-", "large-p")))
    assert found["innodb-buffer-pool-size"].strip() == "67108864"
    assert found["innodb-io-capacity"].strip() == "400"
    assert found["innodb-io-capacity-max"].strip() == "1500"  # 30 % of 5,000
    assert found["innodb-log-file-size"].strip() == str(344 << 20)  # 0.1 MB/s x 3,600 s = 343.3 MiB
    assert found["large-pages"].strip() == "TRUE"


@pytest.mark.ci
@pytest.mark.parametrize("target", ["/dev/null", "{folder}"])
def test_fio_takes_the_job(tmp_path: Path, target: str) -> None:
    place = target.format(folder=tmp_path)

    accepted("fio", "--parse-only", str(written(tmp_path, "fio", *LOAD, "db.gb=1", f"db.device={place}")))


def test_what_a_database_allocates_beside_its_buffers_is_in_the_working(capsys: pytest.CaptureFixture[str]) -> None:
    text = emitted(capsys, "--emit", "hugepages", "mysql", "--set", "sga.mb=1000")

    assert "#   1,000 MiB + 100 MiB = 1,100 MiB\n#   ceil(1,100 MiB / 2 MiB) = 550 pages\n" in text
    assert "vm.nr_hugepages = 551\n" in text
    alone = emitted(capsys, "--emit", "hugepages", "--set", "sga.mb=1000", "license.pack=mariadb")
    assert "vm.nr_hugepages = 551\n" in alone, "whatever else is written"


@pytest.mark.parametrize(
    ("pack", "pages", "user"),
    [("mysql", 54069, "mysql"), ("mariadb", 54069, "mysql"), ("postgresql", 50691, "postgres"),
     ("oracle", 50691, "postgres")],
)  # fmt: skip
def test_of_two_databases_the_chosen_one_has_the_huge_pages(
    pack: str, pages: int, user: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """98,304 MiB and a tenth are 54,067.2 pages; with 3 %, 24 MiB and 2,000 connections of 52 KiB 50,689.1."""
    given = ("sga.mb=98304", f"license.pack={pack}", "machine.memory_gib=160")
    text = emitted(capsys, "--emit", "hugepages", "limits", "postgresql", "mysql", "--set", *given)

    assert f"\nvm.nr_hugepages = {pages}\n" in text
    assert f"\n{user} - memlock {pages * 2048}\n" in text
    assert "too small" not in text


@pytest.mark.parametrize(
    ("memory_gib", "said"),
    [
        ("96", "not set. Error: 49,153 huge pages required are 98,306 MiB and do not fit into the 98,304 MiB"),
        ("96.5", "leave 510 MiB (less than 3 % and than 1 GiB) of the 98,816 MiB of memory"),
        ("98", "WARNING: 49,153 huge pages leave 1.998 GiB of the 98 GiB of memory: leave at least 2.94 GiB (3 %)"),
        ("100", ""),
    ],
)
def test_huge_pages_that_leave_little_say_so(memory_gib: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """98,306 MiB of 100,352 leave 2 %; 98,816 leave 510 MiB, 0.5 %; 102,400 leave 4 %."""
    given = ("--set", "sga.mb=98304", f"machine.memory_gib={memory_gib}")
    text = emitted(capsys, "--emit", "hugepages", "sysctl", *given).replace("\n# ", " ")

    assert said in text
    assert text.count("huge pages leave") == ("WARNING: 49" in said), "in the file of huge pages alone"
    assert ("vm.nr_hugepages = 49153" in text) is (memory_gib in ("98", "100"))


def test_huge_pages_leave_what_other_programs_have_in_use() -> None:
    """40 of 64 GiB and 2 MiB leave less than the 24 GiB that are in use, and more than 23."""

    def left(in_use: int) -> str:
        others = Uncertainty((64 - in_use) * 2.0**30, f"{in_use} GiB are in use now", LEAVE_TO_OTHERS)
        memory = Quantity(64 * 2.0**30, "bytes", Origin.DETECTED, "/proc/meminfo", uncertainties=(others,))
        found = size({**parse_settings(["sga.mb=40960"]), "machine.memory_gib": memory})
        return getattr(found.find("memory.huge-pages-left"), "verdict", "")

    assert left(24).endswith(" leave 24 GiB of the 64 GiB of memory: 24 GiB are in use now")
    assert not left(23)


def test_postgresql_gets_its_settings_from_the_workload_of_another_database(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("redo.mb_s=8", "license.pack=mysql", "license.product=enterprise")

    assert "max_wal_size = " in emitted(capsys, "--emit", "postgresql", "--set", *given)


def test_two_databases_at_once_get_the_settings_that_each_gets_alone(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("redo.mb_s=4", "license.pack=mysql", "license.product=enterprise")

    assert "max_wal_size = 2862MB" in emitted(capsys, "--emit", "postgresql", "mysql", "--set", *given)  # 4 x 300 x 2.5


def test_a_database_without_redo_gets_no_size_of_its_log() -> None:
    assert not {"loose_innodb_redo_log_capacity", "innodb_log_file_size"} & set(values("mysql", "redo.mb_s=0"))
