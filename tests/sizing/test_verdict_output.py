"""The verdict as printed: one screen, its working, and what is missing for one."""

import json

import pytest

from sizeup import cli
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import size
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.answer import answer_lines
from sizing.sized import SERVER


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(["size", *arguments]) == 0
    return capsys.readouterr().out


SCENARIO = (
    *("machine.sockets=2", "machine.cores_per_socket=16", "machine.ghz=2.9", "machine.memory_gib=512"),
    "machine.cpu_model=Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz",
    *("path.stages=hba:fc16*2", "path.policy=active-active", "array.disks=24", "array.drive_iops=4000"),
    *("array.raid=10", "workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8", "redo.mb_s=120"),
    *("db.gb=4000", "workload.growth_percent=20", "workload.horizon_years=3"),
)


def test_the_working_is_printed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    answer = printed(capsys, "--machine", "none", "--set", *SCENARIO)
    explained = printed(capsys, "--machine", "none", "--show", "storage", "--set", *SCENARIO)
    working = printed(capsys, "--machine", "none", "--show", "working", "--set", *SCENARIO)

    line = "447.68 MB/s / 3,200 MB/s = 13.99 %"
    assert line not in answer
    assert line in explained
    assert line in working
    assert "id    verdict.storage" in explained


def test_an_unknown_answer_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["size", "--machine", "none", "--show", "io.capacty", "--set", *SCENARIO]) == 2
    assert "io.capacity" in capsys.readouterr().err


def test_a_resource_without_a_demand_says_what_gives_it_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["size", "--machine", "none", "--show", "cpu", "--set", *SERVER]) == 2
    assert "--show cpu: expected a demand to explain, found none; use --set workload.cpu_cores=N" in (
        capsys.readouterr().err
    )
    assert "Storage capacity: unknown" in printed(capsys, "--machine", "none", "--show", "storage", "--set", *SERVER)


def test_the_table_shows_a_measured_latency_beside_the_memory() -> None:
    values = parse_settings(["machine.memory_gib=512", "sga.mb=102400"])
    measured = {"memory.local_ns": Quantity(92.0, "ns", Origin.MEASURED, "memory.latency")}
    lines = answer_lines(size({**values, **measured}))

    assert next(line for line in lines if line.startswith("Memory ")).split()[1:5] == ["512", "GiB,", "92", "ns"]


def test_an_unknown_capacity_of_storage_leaves_the_verdict_open_unless_something_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    workload = ("workload.iops=4000", "workload.cpu_cores=2", "machine.cores=4", "machine.memory_gib=4")
    fits, fails = (
        printed(capsys, "--machine", "none", "--set", *workload, sga) for sga in ("sga.mb=1000", "sga.mb=8000")
    )

    assert fits.startswith("NOT CERTAIN Storage: 32.77 MB/s ")
    assert fits.count("Storage: 32.77 MB/s ") == 1
    assert "! CPU: the processor of the present server is unknown (--show cpu)" in fits
    assert fails.startswith("FAIL     Memory: 7.812 GiB ")
    assert "! Storage: 32.77 MB/s " in fails


def test_licenses_are_a_row_where_nothing_is_asked_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--machine", "none", "--set", "machine.cores=16")

    assert "License  8 to 16 x Oracle EE, $630,800 to $1.26M over 3 years            ASSUMED" in text.splitlines()


def test_no_workload_says_so_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--machine", "none", "--set", *SERVER)

    assert text.startswith("NO VERDICT YET  No workload. Give one with --workload FILE")
    first = " ".join(text.partition("\n\n")[0].split())
    assert first.endswith("or --set workload.iops=N, or judge by published requirements with --profile etcd")
    assert "thumb" not in text


def test_the_document_has_the_cards(capsys: pytest.CaptureFixture[str]) -> None:
    cards = json.loads(printed(capsys, "--machine", "none", "--json", "--set", *SCENARIO))["cards"]

    assert {one["resource"] for one in cards} == {"storage", "space", "cpu", "memory", "network", "license"}
