"""``sizeup size --profile``: published requirements, judged on both ends of what is known."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from fleet_sessions import Figures, records, server, write
from sizeup import cli
from sizeup.compare.profile import (
    AcceptanceResult,
    ProfileLimit,
    amount_text,
    known_figures,
    machine_figures,
    read_profile,
    requirements,
    shipped_profiles,
)
from sizeup.model.machine import Machine
from sizeup.model.network import Nic
from sizeup.model.sample import Coordinates, Estimate
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.sizing.inputs.measured import measured
from sizing.measured_sessions import put, session

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "profiles.md"
MACHINE = ("machine.cores=8", "machine.vcpus=16", "machine.memory_gib=64")


def judged(capsys: pytest.CaptureFixture[str], profile: str, *settings: str, status: int = 0) -> dict:
    arguments = ["size", "--machine", "none", "--json", "--profile", profile, "--set", *settings]
    assert cli.run(arguments) == status
    return json.loads(capsys.readouterr().out)


def statuses(data: dict) -> dict[str, str]:
    return {one["figure"]: one["status"] for one in data["requirements"]}


@pytest.mark.parametrize("name", shipped_profiles())
def test_every_shipped_limit_has_a_source_a_date_and_a_row_of_the_page(name: str) -> None:
    profile = read_profile(name, known_figures())
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}` |"))

    for limit in profile.limits:
        assert re.fullmatch(r"https://\S+", limit.source)
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", limit.date)
        assert limit.source in row or "| the same |" in row
        assert (
            re.search(r"\d+", limit.written.get("min", limit.written.get("max", str(int(limit.least or 0)))))[0] in row
        )


def test_requirements_per_cpu_are_multiplied_and_decide_by_what_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    """16 CPUs need 16 x 4 GiB = 64 GiB, 16 x 500 = 8,000 IOPS and 16 x 30 = 480 MB/s; 470 MB/s miss that."""
    data = judged(capsys, "cockroachdb", *MACHINE, "capacity.mixed_iops=8000", "capacity.mb_s=480")
    required = {one["figure"]: one["required"] for one in data["requirements"]}

    assert data["status"] == "PASS"
    assert (required["machine.memory"], required["storage.bandwidth"]) == (64 * 2.0**30, 480e6)
    assert required["storage.mixed_read_write_iops"] == 8000

    less = judged(capsys, "cockroachdb", *MACHINE, "capacity.mixed_iops=8000", "capacity.mb_s=470", status=5)
    assert (less["status"], statuses(less)["storage.bandwidth"]) == ("FAIL", "FAIL")
    assert less["statement"].endswith("Large read bandwidth: 470 MB/s; limit: at least 480 MB/s")


@pytest.mark.parametrize(("reads", "status"), [(90, "unknown"), (50, "PASS")])
def test_iops_of_fewer_writes_than_a_profile_asks_for_do_not_meet_it(
    reads: int, status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mix = ("capacity.mixed_iops=8000", f"capacity.mixed_read_percent={reads}")
    data = judged(capsys, "cockroachdb", *MACHINE, *mix, "capacity.mb_s=480", status=0 if status == "PASS" else 6)

    assert statuses(data)["storage.mixed_read_write_iops"] == status


def test_cores_that_are_entered_count_with_their_threads(capsys: pytest.CaptureFixture[str]) -> None:
    """2 sockets x 8 cores x 2 threads are 32 CPUs, which need 128 GiB."""
    settings = ("machine.sockets=2", "machine.cores_per_socket=8", "machine.threads_per_core=2")
    data = judged(capsys, "cockroachdb", *settings, "machine.memory_gib=100", status=5)

    assert data["requirements"][1]["required"] == 128 * 2.0**30


@pytest.mark.parametrize(
    ("ends", "status", "exit_status"),
    [("300..500..900", "PASS", 0), ("300..500..2500", "NOT CERTAIN", 6), ("2100..2200..2500", "FAIL", 5)],
)
def test_both_ends_of_a_figure_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ends: str, status: str, exit_status: int
) -> None:
    """At most 2 ms: ends of 0.3 to 0.9 ms meet it, 0.3 to 2.5 ms do on one side, 2.1 to 2.5 ms miss it."""
    path = tmp_path / "log.toml"
    path.write_text('[storage.log_write_latency]\nmax = "2 ms"\n')
    data = judged(capsys, str(path), f"redo.sync_write_us={ends}", status=exit_status)

    assert (data["status"], data["requirements"][0]["required"]) == (status, 2e6)
    assert data["profile"] == "log.toml"


def test_the_uncertainty_of_the_end_that_misses_a_limit_is_named() -> None:
    """At most 2 ms: the upper end decides, and of two uncertainties there the one that moved it farther."""
    limit = ProfileLimit("storage.log_write_latency", "Log write", "ns", most=2e6)
    low, near, far = (Uncertainty(end, f"{end}", "", upper=end > 5e5) for end in (1e5, 2.5e6, 3e6))
    value = Quantity(5e5, "ns", Origin.MEASURED, "step", uncertainties=(low, near, far))
    (most,) = requirements(limit, {limit.figure: value})
    (least,) = requirements(replace(limit, least=3e5, most=None), {limit.figure: value})

    assert (most.uncertainty, least.uncertainty) == (far, low)


def test_an_uncertainty_leaves_a_limit_open_and_its_action_decides() -> None:
    """40,000 IOPS of a new file: nothing is certain of 500. Typed, the same figure meets it."""
    profile = read_profile("cockroachdb", known_figures())
    limit = next(one for one in profile.limits if one.figure == "storage.mixed_read_write_iops")
    uncertainty = Uncertainty(0.0, "the host may hold the new file", "Read existing data")
    less = Uncertainty(300.0, "throughput was not steady", "Measure again")
    new = Quantity(40_000, "1/s", Origin.MEASURED, "step", uncertainties=(less, uncertainty))
    cpus = Quantity(1, "1", Origin.USER, "--set")
    (open_,), (typed,) = (
        tuple(requirements(limit, {limit.figure: figure, limit.per: cpus}))
        for figure in (new, Quantity(40_000, "1/s", Origin.USER, "--set"))
    )

    assert (open_.status, open_.uncertainty, typed.status) == ("NOT CERTAIN", uncertainty, "PASS")
    assert open_.sentence.endswith("(0 /s to 40 k/s; the host may hold the new file)")
    (unknown,) = requirements(limit, {limit.figure: new})
    assert (unknown.status, unknown.text) == ("unknown", "at least 500 /s per unit of machine.cpus")


def test_detected_memory_may_be_less_than_is_installed_and_links_are_not_the_storage(tmp_path: Path) -> None:
    """MemTotal of 15.4 GiB may be 15.4 / 0.93 = 16.6 GiB installed, so at least 16 GiB is not certain; 17 GiB fails."""
    profile = tmp_path / "memory.toml"
    used = Uncertainty(2.0**30, "14.4 GiB are in use now", "Stop other programs")
    memory = Quantity(15.4 * 2**30, "bytes", Origin.DETECTED, "/proc/meminfo", uncertainties=(used,))
    path = Quantity(1e9, "bytes/s", Origin.DETECTED, "links")
    nics = tuple(
        Nic(name, "physical", up=up, speed_bits_per_second=speed)
        for name, up, speed in (("eth0", True, 25 * 10**9), ("eth1", False, 10**11))
    )
    inputs = {"machine.memory_gib": memory, "path.bandwidth_mb_s": path}
    found = machine_figures(inputs, Machine(nics=nics))

    assert isinstance(found["machine.memory"], Quantity)
    assert found["machine.memory"].most == pytest.approx(16.559 * 2**30, rel=1e-4)
    for needed, status in (("15 GiB", "PASS"), ("16 GiB", "NOT CERTAIN"), ("17 GiB", "FAIL")):
        profile.write_text(f'[machine.memory]\nmin = "{needed}"\n')
        (one,) = requirements(read_profile(str(profile), known_figures()).limits[0], found)
        assert one.status == status
    assert "storage.bandwidth" not in found
    network = next(one for one in read_profile("tikv", known_figures()).limits if one.figure == "machine.network")
    (met,) = requirements(network, found)
    assert (met.status, met.text) == ("PASS", "at least 10 Gb/s")
    assert met.found is not None
    assert amount_text(met.found.value, network) == "25 Gb/s"


def test_the_p99_of_a_log_write_is_that_of_8_kib() -> None:
    sizes = ((512, 1e6), (8192, 6e6), (65536, 12e6))
    points = [
        ("latency-p99", {"workload": "redo", "block_bytes": size, "direction": "write"}, ns) for size, ns in sizes
    ]
    found = machine_figures({}, runs=session("io.direct", *points).steps.values())["storage.log_write_latency_p99"]

    assert isinstance(found, Quantity)
    assert found.value == 6e6


@pytest.mark.parametrize(
    ("part", "high", "status"),
    [("steady", 9e6, "PASS"), ("steady", 12e6, "NOT CERTAIN"), ("steady", None, "unknown"), ("cache", 9e6, "unknown")],
)
def test_a_commit_alone_that_was_not_steady_meets_a_limit_above_its_interval(
    part: str, high: float | None, status: str
) -> None:
    """The limit is 10 ms; a flush of one committer took 6 ms, that of eight 5 ms."""
    found = session("io.commit", machine=None)
    (run,) = found.steps.values()
    for committers, value in ((8, 5e6), (1, 6e6)):
        at: Coordinates = {"method": "fdatasync", "record_bytes": 1024, "committers": committers}
        low = None if high is None else 4e6
        put(run, Estimate("latency-p99", at, value, low, high, 3))
        put(run, Estimate("validity", {**at, "part": part}, 0.0))
    (limit,) = (one for one in read_profile("etcd", known_figures()).limits if one.figure.endswith("latency_p99"))
    (one,) = requirements(limit, machine_figures({}, runs=[run]))

    assert one.status == status
    assert one.found is None or one.found.value == 6e6
    assert "redo.write_kib" not in measured(found)  # the record of one commit is no write of a busy log


def test_the_text_has_the_verdict_first_and_what_measures_an_unknown_figure(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("--set", *MACHINE, "redo.sync_write_us=500", "capacity.mb_s=500")
    assert cli.run(["size", "--machine", "none", "--profile", "etcd", *settings]) == 6
    shown = capsys.readouterr()
    text = " ".join(shown.out.split())

    assert text.startswith(
        "NO VERDICT etcd, typical cluster: Log write p99: not measured. Measure it: sizeup run -p io"
    )
    assert "Memory at least 8 GB 64 GiB (user) PASS [1]" in text
    assert "Log write p99 at most 10 ms unknown unknown [2]" in text
    assert "[2] https://etcd.io/docs/v3.5/faq/ (2026-11-23)" in shown.out
    assert "add --allow-undecided" in shown.err
    assert cli.run(["size", "--machine", "none", "--profile", "etcd", "--allow-undecided", *settings]) == 0


def test_what_is_not_required_is_named_where_it_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("machine.cores=16", "machine.memory_gib=32", "capacity.gb=100")
    data = judged(capsys, "tikv", *settings)

    assert data["statement"].endswith("3 requirements met. Not judged: Fastest network link")
    assert statuses(data)["machine.network"] == "unknown"


def test_a_session_answers_with_its_measurements_and_a_fleet_reads_the_same_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ours.toml"
    path.write_text(
        '[machine.cores]\nmin = 1\n[memory.local_latency]\nmax = "110 ns"\n[clock.read_cost]\nmax = "1 s"\n'
    )
    session = write(tmp_path, "db01", records("db01", Figures(), server()))
    assert cli.run(["size", "--machine", str(session), "--json", "--profile", str(path)]) == 0
    data = json.loads(capsys.readouterr().out)

    assert [one["origin"] for one in data["requirements"]] == ["detected", "measured", "measured"]
    assert cli.run(["fleet", str(session), "--profile", str(path)]) == 0
    assert "Profile: 1 PASS, 0 FAIL, 0 UNDECIDED" in capsys.readouterr().out
    assert cli.run(["fleet", str(session), "--profile", "yugabytedb", "--json"]) in (0, 5)
    checks = json.loads(capsys.readouterr().out)["acceptance"][0]["checks"]
    assert [one["result"] for one in checks if one["figure"] == "machine.cores"] != [AcceptanceResult.UNDECIDED.value]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[memory.local_latency]\nworse_than_median = "15 %"',
            "memory.local_latency.worse_than_median: expected min or",
        ),
        ('[machine.memory]\nmin = "8 GB"\nper = "clock.read_cost"', "machine.memory.per: expected machine.cores or"),
        ("[machine.memory]\nmin = 8", 'machine.memory.min: expected an amount with its unit such as "110 ns"'),
        ("source = 4\n[machine.cores]\nmin = 2", "source: expected text or a date, found 4"),
        ("[machine.core]\nmin = 2", "machine.core: expected a figure (did you mean machine.cores?)"),
    ],
)
def test_a_bad_profile_says_what_was_expected(
    tmp_path: Path, text: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)

    assert cli.run(["size", "--machine", "none", "--profile", str(path)]) == 2
    assert f"{path}: {expected}" in capsys.readouterr().err


def test_a_wrong_name_lists_all_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["size", "--machine", "none", "--profile", "etdc"]) == 2
    error = capsys.readouterr().err

    assert all(name in error for name in shipped_profiles())
    assert "found 'etdc' (did you mean etcd?); sizeup help profiles describes them" in error
    assert cli.run(["size", "--allow-undecided"]) == 2
    assert cli.run(["help", "profiles"]) == 0
