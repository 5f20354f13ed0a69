"""The answer on one screen: what a buyer must not misread, for ordinary inputs on a made-up server."""

from collections.abc import Callable
from pathlib import Path

import pytest

import purchase
from sizeup import cli

Answer = Callable[..., list[str]]
LOAD = ("workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8")
DRIVES = ("array.disks=24", "array.raid=10", "array.drive_iops=4000", "array.disk_gb=960")
YEARS = ("workload.growth_percent=20", "workload.horizon_years=3")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server and the report, made once."""
    path = tmp_path_factory.mktemp("answer")
    purchase.server(path / "server-x")
    (path / "awr.txt").write_text(purchase.AWR, encoding="utf-8")
    return path


@pytest.fixture
def server(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the working directory."""
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def answer(server: Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    """What the command prints for these settings, on one screen."""

    def run(*settings: str, workload: bool = False, sysroot: str = "server-x") -> list[str]:
        report = ("--workload", "awr.txt") if workload else ()
        assert cli.run(["size", "--machine", sysroot, *report, "--set", *settings]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) <= 25, len(lines)
        assert max(map(len, lines)) <= 80
        return lines

    return run


def row(lines: list[str], name: str) -> list[str]:
    return next(line for line in lines if line.startswith(f"{name} ")).replace(" %", "%").split()


def words(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def test_a_workload_without_redo_says_so(answer: Answer) -> None:
    text = words(answer(*LOAD, *DRIVES))

    assert "redo not given" in text
    assert "! Redo is " in text


def test_the_input_that_the_licenses_lack_is_named(answer: Answer) -> None:
    """Cores of a cloud are counted by threads: the number of cores does not help."""
    cloud = ("machine.vcpus=48", "machine.guest=yes", "license.scope=cloud", "license.product=ee")
    load = ("workload.iops=100", "capacity.iops=5000", "machine.cpu_model=Intel(R) Xeon(R) Platinum 8488C")
    lines = answer(*cloud, *load, sysroot="none")

    assert "licenses (machine.threads_per_core)" in words(lines).lower()


def test_of_a_throughput_alone_no_iops_are_judged_not_even_those_of_redo(answer: Answer) -> None:
    lines = answer("workload.mb_s=900", "redo.mb_s=20", "db.gb=2000", "workload.rules_of_thumb=yes", *DRIVES)

    assert lines[0].startswith("NOT CERTAIN Storage paths: 920 MB/s ")
    assert row(lines, "Paths")[-2:] == ["NOT", "CERTAIN"]
    assert "! Assumed: a buffer pool of 10 % of the database" in lines


def test_a_cluster_names_what_one_lost_server_means_for_each_resource(answer: Answer) -> None:
    lines = answer("cluster.nodes=2", "db.gb=4000", "workload.cpu_percent=20", *DRIVES, *YEARS, workload=True)

    lost = "one of 2 servers lost: Storage 14 % used, 24 % in year 3; CPU 40 % used, 69 % in year 3; Memory 52 % used"
    assert f"{lost}, 54 % in year 3" in words(lines)
    assert row(lines, "License")[1:6] == ["32", "x", "Oracle", "EE", "+"]


def test_an_edition_that_is_cheaper_and_has_no_clusters_is_named_with_that(answer: Answer) -> None:
    lines = answer("cluster.nodes=2", "db.gb=4000", "workload.cpu_percent=5", *DRIVES, *YEARS, workload=True)

    assert "has no Real Application Clusters from 19c on" in words(lines)


def test_an_edition_that_perhaps_carries_no_such_load_says_so_before_its_price(answer: Answer) -> None:
    """Both servers' 12.8 busy cores on the 8 to 16 that 16 threads of two a core are."""
    text = words(answer("cluster.nodes=2", "db.gb=4000", "workload.cpu_percent=20", *DRIVES, *YEARS, workload=True))

    assert "Cheapest permitted: Oracle SE2 (perhaps too few: 16 threads), $116,200 in place of" in text


def test_a_guest_has_no_license_count_and_no_failure_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    guest = ("machine.cores=8", "machine.memory_gib=64", "machine.guest=yes", "capacity.iops=90000", *LOAD)
    assert cli.run(["size", "--machine", "none", "--set", *guest]) == 0
    text = words(capsys.readouterr().out.splitlines())

    assert "Storage: unknown, because neither paths nor drives are given" in text
    assert "! License count: unknown without the number of cores of all hosts that the guest may run on" in text


def test_without_the_drives_the_paths_alone_are_judged_and_the_space_is_unknown(answer: Answer) -> None:
    lines = answer("db.gb=4000", *YEARS, workload=True)

    assert words(lines).startswith("NOT CERTAIN Storage paths: ")
    assert ". Not judged: space, CPU" in words(lines)
    assert row(lines, "CPU")[-3:] == ["–", "NOT", "CERTAIN"]
    assert row(lines, "Paths")[-2:] == ["NOT", "CERTAIN"]
    assert row(lines, "Space")[1:] == ["unknown", "4,000", "GB", "–", "–", "–", "NO", "VERDICT"]
    assert "Growth Nothing judged passes 100 % within 3 years; highest: Memory, 52 % in year 3" in words(lines)
    assert lines[-1].endswith("more: sizeup size --show working")


def test_an_edition_that_is_not_permitted_is_the_verdict_whatever_else_passes(answer: Answer) -> None:
    lines = answer("machine.socket_capacity=4", "license.product=se2", *LOAD, *DRIVES, "redo.mb_s=20")

    assert lines[0].startswith("FAIL     Oracle Database Standard Edition 2 is not permitted on this server:")
    assert row(lines, "License")[-1] == "FAIL"
    assert "Edition Cheapest permitted: Oracle EE, $1,261,600 over 3 years" in words(lines)


def test_what_costs_nothing_has_no_list(answer: Answer) -> None:
    text = words(answer(*LOAD, *DRIVES, "redo.mb_s=20", "license.pack=postgresql"))

    assert "Cost none for the licenses of PostgreSQL; support is a separate contract" in text


def test_a_port_that_is_down_leaves_no_second(answer: Answer, server: Path) -> None:
    purchase.server(server / "down", states=("Online", "Linkdown"))
    lines = answer("db.gb=4000", *DRIVES, workload=True, sysroot="down")

    assert words(lines).startswith("WARN (assumed) Storage: 41,500 IOPS ")  # an average: peaks would fail
    assert row(lines, "Storage")[-3:] == ["outage", "WARN", "(assumed)"]
    assert "N+1      FC port host0 lost: outage" in lines
    assert "! Down, so counted as 0: host1 (Linkdown). Bring it up, or count on what is left" in lines


def test_ports_that_are_all_down_are_the_reason_of_an_unknown_capacity(answer: Answer, server: Path) -> None:
    purchase.server(server / "dead", states=("Linkdown", "Linkdown"))
    lines = answer("db.gb=4000", workload=True, sysroot="dead")

    assert lines[0].startswith("NOT CERTAIN Storage: 447.7 MB/s ")
    assert "is up reports its speed (down: host0 (Linkdown), host1 (Linkdown))" in words(lines)


def test_no_growth_repeats_no_figure(answer: Answer) -> None:
    lines = answer("db.gb=4000", *DRIVES, "workload.growth_percent=0", "workload.horizon_years=3", workload=True)

    assert "no growth for 3 years" in words(lines)
    assert "         FC port host0 lost: 28 % used" in lines


def test_an_sga_that_does_not_fit_is_the_verdict(answer: Answer) -> None:
    lines = answer("db.gb=4000", *DRIVES, "sga.mb=600000", workload=True)

    assert lines[0].startswith("FAIL     Memory: 591.9 GiB demand, 512 GiB capacity (116 %")
    assert row(lines, "Storage")[-1] == "ASSUMED"


def test_the_sga_in_use_is_the_demand_and_its_advisory_stands_beside_it(answer: Answer) -> None:
    lines = answer("db.gb=4000", "workload.cpu_percent=40", *DRIVES, *YEARS, workload=True)

    assert row(lines, "Memory")[1:6] == ["512", "GiB", "262", "GiB", "51%"]
    assert "! Memory: the SGA in use counts; its advisory predicts fewer reads up to 320 GiB" in lines
    other = answer("sga.mb=300000", *DRIVES, workload=True)
    assert not any("its advisory" in line for line in other)
