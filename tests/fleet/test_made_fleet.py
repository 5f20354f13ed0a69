"""A made fleet of twelve like servers: planted faults are found and explained, and nothing else is reported."""

import gzip
from pathlib import Path

import pytest
from msgspec.structs import replace

from fleet_sessions import LINK_DOWN, Figures, made_fleet, records, server, with_port_down, with_remote_dimms, write
from sizeup.charts.table import Column, Table
from sizeup.cli import run
from sizeup.compare.comparison import Conclusion
from sizeup.compare.digest import epoch
from sizeup.fleet.explanation import PeerDifference, PeerDifferences
from sizeup.fleet.fleet import Fleet, HostStatus, Outlier, build_fleet, fleet_paths, read_fleet
from sizeup.fleet.host_session import HostFigure, read_host_session
from sizeup.fleet.table import (
    LINES,
    difference_sentences,
    figure_text,
    fitting,
    fleet_lines,
    problem_sentences,
    session_fleet_lines,
)
from sizeup.model.plan import Better
from sizeup.model.sample import Status
from sizeup.session.records import ContinuedRecord, PlanRecord, StepStartRecord
from sizeup.views.comparison.answer import fact_cards

ALIKE = Figures()
ABSENT = (
    "absent*: expected session files (*.sizeup.jsonl, *.sizeup.jsonl.gz) or Parquet of a fleet (*.parquet), found none"
)


def fleet(folder: Path) -> Fleet:
    return build_fleet(read_fleet(fleet_paths([str(folder)])))


def outliers(found: Fleet) -> list[tuple[str, Outlier]]:
    """All of them with their hosts."""
    return [(host.name, one) for host in found.hosts for one in host.outliers]


def slow(host: str) -> list:
    """1.6 times slower in everything, with the governor that saves power."""
    worse = {name: getattr(ALIKE, name) * 1.6 for name in ("dram_ns", "remote_ns", "p99_ns", "clock_ns")}
    rates = {name: getattr(ALIKE, name) / 1.6 for name in ("read_bytes_per_second", "iops", "scan_bytes_per_second")}
    saving = replace(server(), platform=replace(server().platform, governor="powersave"))
    return records(host, Figures(**worse, **rates), saving)


def planted(folder: Path) -> Fleet:
    made_fleet(folder)
    write(folder, "db03", slow("db03"))
    write(folder, "db07", records("db07", replace(ALIKE, remote_ns=225.0), with_remote_dimms(server())))
    halved = replace(ALIKE, scan_bytes_per_second=ALIKE.scan_bytes_per_second / 2)
    write(folder, "db11", records("db11", halved, with_port_down(server())))
    return fleet(folder)


def test_a_healthy_fleet_has_no_outlier_and_fits_on_a_screen(tmp_path: Path) -> None:
    made_fleet(tmp_path, 30)
    found = fleet(tmp_path)
    lines = fleet_lines(found)

    assert {host.status for host in found.hosts} == {HostStatus.OK}
    assert lines[0] == "30 hosts, no outliers"
    assert len(lines) <= LINES
    assert len(fleet_lines(found, every_host=True)) > 30
    assert [line for line in lines if "more; --all" in line]


def test_each_planted_fault_is_found_and_explained_and_nothing_else(tmp_path: Path) -> None:
    found = planted(tmp_path)
    out = {host.name: [one.figure.name.partition("@")[0] for one in host.outliers] for host in found.hosts}

    assert {name for name, figures in out.items() if figures} == {"db03", "db07", "db11"}
    assert set(out["db03"]) == {
        "clock.read_cost", "memory.local_latency", "memory.remote_latency", "memory.read_bandwidth",
        "storage.iops_within_p99", "storage.random_iops", "storage.bandwidth",
    }  # fmt: skip
    assert out["db07"] == ["memory.remote_latency"]
    assert out["db11"] == ["storage.bandwidth"]
    assert {one.conclusion for _, one in outliers(found)} == {Conclusion.WORSE}
    assert {one.peers for host, one in outliers(found) if host == "db07"} == {10}  # of 11 others one stands out itself
    text = "\n".join(fleet_lines(found))
    assert text.startswith("12 hosts, 3 outliers: db03, db07, db11\n")
    assert "differs in governor: powersave (11 of 11 peers: performance)" in text
    assert "differs in memory by node: 0: 32 GiB, 1: 0 B (10 of 10 peers: 0: 16 GiB, 1: 16 GiB)" in text
    assert "differs in memory slot P1 CH A A1 and 7 more like it: empty" in text.replace("\n        ", " ")
    assert "differs in adapter host4 state: Linkdown (10 of 10 peers: Online)" in text


def test_the_most_relevant_difference_comes_first(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    odd = with_port_down(with_remote_dimms(replace(server(), platform=replace(server().platform, kernel="6.12"))))
    write(tmp_path, "db05", records("db05", replace(ALIKE, remote_ns=300.0, scan_bytes_per_second=1e9), odd))
    remote, scan = sorted((one for _, one in outliers(fleet(tmp_path))), key=lambda one: one.figure.name)

    assert remote.differences.found[0].fact.startswith("memory")
    assert scan.differences.found[0].fact == "adapter host4 state"
    assert "kernel" in {one.fact for one in scan.differences.found}


def test_a_fact_that_peers_share_is_no_difference(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    for host in ("db01", "db02", "db03"):
        write(tmp_path, host, records(host, ALIKE, with_port_down(server())))
    write(tmp_path, "db04", records("db04", replace(ALIKE, scan_bytes_per_second=1e9), with_port_down(server())))
    found = fleet(tmp_path)

    assert [one.differences.found for _, one in outliers(found)] == [()]
    assert "no difference of hardware or settings was found" in "\n".join(fleet_lines(found))


def test_a_figure_that_is_not_valid_is_shown_and_never_used(tmp_path: Path) -> None:
    made_fleet(tmp_path, 3)
    slow = replace(ALIKE, dram_ns=500.0)
    write(tmp_path, "db02", records("db02", slow, server(), extra={"share_where_asked": 0.5}))
    found = fleet(tmp_path)
    host = found.hosts[1]

    assert not outliers(found)
    assert host.status is HostStatus.NOT_VALID
    assert figure_text(host, "memory.local_latency@memory.latency").strip() == "not valid"
    assert found.spreads[host.type.name, "memory.local_latency@memory.latency"].hosts == 2


def test_a_run_that_failed_gives_no_figure(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    write(tmp_path, "db02", records("db02", replace(ALIKE, dram_ns=500.0), server(), status=Status.FAILED))
    found = fleet(tmp_path)
    host = next(host for host in found.hosts if host.name == "db02")

    assert not outliers(found)
    assert host.status is HostStatus.NO_RESULT
    assert found.spreads[host.type.name, "memory.local_latency@memory.latency"].hosts == 11


def test_a_figure_that_did_not_converge_counts_by_the_near_end_of_its_interval(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    # 13 % above the median, but less than 10 % at the near end of its interval.
    write(tmp_path, "db01", records("db01", replace(ALIKE, dram_ns=108.0), server()))
    write(tmp_path, "db02", records("db02", replace(ALIKE, dram_ns=108.0), server(), converged=False))
    write(tmp_path, "db03", records("db03", replace(ALIKE, dram_ns=152.0), server(), converged=False))
    found = fleet(tmp_path)

    assert {host for host, _ in outliers(found)} == {"db01", "db03"}
    assert [host.name for host in found.hosts if host.status is HostStatus.UNDECIDED] == ["db02"]
    assert "? did not converge" in "\n".join(fleet_lines(found))


def test_a_figure_too_noisy_to_tell_is_no_ok(tmp_path: Path) -> None:
    """So wide are the intervals that nothing stands out; 372 ns among 198 ns are not like them all the same."""
    for host, value in (("db01", 198.0), ("db02", 198.0), ("db03", 372.0)):
        write(tmp_path, host, records(host, replace(ALIKE, dram_ns=value), server(), converged=False, half=0.4))
    found = fleet(tmp_path)

    assert not outliers(found)
    assert [host.status for host in found.hosts] == [HostStatus.OK, HostStatus.OK, HostStatus.UNDECIDED]
    assert fleet_lines(found)[0] == "3 hosts, no outliers; 1 undecided, measure again: db03"


def test_of_several_sessions_the_newest_valid_figure_counts(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    slow_then = records("db02", replace(ALIKE, dram_ns=152.0), server(), started="2026-02-01T09:00:00Z")
    write(tmp_path, "db02", slow_then, "old")
    failed_now = records("db02", ALIKE, server(), started="2026-03-05T09:00:00Z", status=Status.CRASHED)
    write(tmp_path, "db02", failed_now, "new")
    slow, elsewhere = replace(ALIKE, dram_ns=500.0), {"share_where_asked": 0.5}
    write(tmp_path, "db02", records("db02", slow, server(), started="2026-03-06T09:00:00Z", extra=elsewhere), "invalid")
    found = fleet(tmp_path)

    assert not outliers(found)
    assert not any(one.invalid for one in found.hosts[1].figures.values())
    assert [Path(one.path).name for one in found.hosts[1].sessions] == [
        "invalid.sizeup.jsonl", "new.sizeup.jsonl", "db02.sizeup.jsonl", "old.sizeup.jsonl",
    ]  # fmt: skip
    assert fleet_lines(found)[1].startswith("15 sessions; of db02 the newest valid figure of each probe")


def test_runs_with_other_settings_are_not_compared(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    other = records("db02", replace(ALIKE, iops=1e6), server(), settings={"io.direct": {"block": 512, "path": "/u01"}})
    write(tmp_path, "db02", other)
    same = records("db03", ALIKE, server(), settings={"io.direct": {"path": "/u02"}})
    write(tmp_path, "db03", same)
    found = fleet(tmp_path)

    assert not outliers(found)
    assert found.hosts[1].other_workload == {
        "storage.iops_within_p99@io.direct", "storage.random_iops@io.direct", "storage.bandwidth@io.direct",
    }  # fmt: skip
    assert not found.hosts[2].other_workload
    assert found.spreads[found.hosts[1].type.name, "storage.random_iops@io.direct"].hosts == 11
    assert "~ other settings than most, not compared" in "\n".join(fleet_lines(found, every_host=True))


def test_a_host_with_less_memory_is_compared_with_its_family(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    small = replace(server(), memory_bytes=(server().memory_bytes or 0) // 2)
    write(tmp_path, "db02", records("db02", replace(ALIKE, read_bytes_per_second=9e10), small))
    found = fleet(tmp_path)

    assert [(host, one.figure.card) for host, one in outliers(found)] == [("db02", "memory")]
    assert "differs in memory: 256 GiB (11 of 11 peers: 512 GiB)" in "\n".join(fleet_lines(found))
    assert [len(hosts) for hosts in found.types.values()] == [11, 1]


def test_a_host_that_lost_memory_is_reported_where_every_figure_is_like_the_others(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    write(tmp_path, "db02", records("db02", ALIKE, replace(server(), memory_bytes=(server().memory_bytes or 0) // 2)))
    found = fleet(tmp_path)

    assert [host.name for host in found.hosts if host.status is HostStatus.FINDING] == ["db02"]
    assert fleet_lines(found)[:3] == [
        "12 hosts, no outliers; 1 with a finding that the others lack: db02", "",
        "db02  WARN  Memory: 256 GiB; 11 like hosts with 512 GiB",
    ]  # fmt: skip


def test_memory_that_the_kernel_keeps_is_not_lost_beside_a_lost_core(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    kept = int((server().memory_bytes or 0) * 0.98)
    write(tmp_path, "db02", records("db02", ALIKE, replace(server(), memory_bytes=kept, cores=server().cores[1:])))

    assert [one.id for one in fleet(tmp_path).hosts[1].findings] == ["fleet.less-cores"]


def test_steps_of_a_continued_session_have_its_later_start_and_settings(tmp_path: Path) -> None:
    """The second plan goes on at 10:00, 3 s after the start; a step at 5 s began two seconds later."""
    written = records("db01", ALIKE, server())
    plan = next(one.plan for one in written if isinstance(one, PlanRecord))
    later = PlanRecord(3 * 10**9, replace(plan, settings={probe.probe: {"budget": 9} for probe in plan.steps}))
    place = next(at for at, one in enumerate(written) if isinstance(one, StepStartRecord) and one.t_ns >= 3 * 10**9)
    written[place:place] = [ContinuedRecord(3 * 10**9, "sizeup", "2026-03-01T10:00:00Z"), later]
    found = read_host_session(str(write(tmp_path, "db01", written)))
    times = {(one.when or 0.0) - (epoch("2026-03-01T09:00:00Z") or 0.0) for one in found.figures}

    assert times == {1.0, 2.0, 3600.0, 3601.0, 3602.0}
    assert {one.workload for one in found.figures} == {"standard, budget=9"}


def test_hosts_of_one_name_on_other_hardware_are_two(tmp_path: Path) -> None:
    for number, model in enumerate(("R650", "R750")):
        machine = replace(server(), platform=replace(server().platform, model=model))
        write(tmp_path, "localhost", records("localhost", ALIKE, machine), f"file{number}")

    assert {host.name for host in fleet(tmp_path).hosts} == {"localhost", "localhost #2"}


def test_files_that_cannot_be_read_are_reported_and_fail_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_fleet(tmp_path)
    whole = (tmp_path / "db01.sizeup.jsonl").read_bytes()
    (tmp_path / "db01.sizeup.jsonl").write_bytes(whole + b'{"kind":"samples","st')
    (tmp_path / "db02.sizeup.jsonl.gz").write_bytes(gzip.compress((tmp_path / "db02.sizeup.jsonl").read_bytes()))
    (tmp_path / "db02.sizeup.jsonl").write_text("not a session\n")
    (tmp_path / "db03.sizeup.jsonl").write_text("")
    (tmp_path / "rack2").mkdir()
    (tmp_path / "db04.sizeup.jsonl").rename(tmp_path / "rack2" / "db04.sizeup.jsonl")

    assert run(["fleet", str(tmp_path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("11 hosts, no outliers ")
    assert "db02.sizeup.jsonl: expected a sizeup session" in text
    assert "db03.sizeup.jsonl: expected a sizeup session, found an empty file" in text
    assert "Damaged: " in text
    assert "the last line is torn" in text


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("absent", "absent: no such file or directory; name session files or a directory that has some"),
        ("absent*", ABSENT),
    ],
)
def test_nothing_to_read_is_an_error(argument: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fleet", argument]) == 2
    assert capsys.readouterr().err == f"sizeup: {expected}\n"


def test_patterns_and_files_are_read_once(tmp_path: Path) -> None:
    made_fleet(tmp_path, 3)
    pattern = str(tmp_path / "db*.jsonl")

    assert len(fleet_paths([pattern, str(tmp_path), str(tmp_path / "db01.sizeup.jsonl")])) == 3
    assert session_fleet_lines(fleet_paths([pattern]))[0] == "3 hosts, no outliers"


def test_two_hosts_are_not_compared(tmp_path: Path) -> None:
    made_fleet(tmp_path, 2)

    assert fleet_lines(fleet(tmp_path))[0] == (
        "2 hosts, none compared: a figure needs 3 hosts of one machine type, measured with the same settings"
    )


def test_a_finding_that_its_peers_lack_is_reported_without_a_figure_that_stands_out(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    shared = replace(LINK_DOWN, id="memory.shared", title="Found on every host")
    for number in range(1, 13):
        host = f"db{number:02}"
        write(tmp_path, host, records(host, ALIKE, server(), findings=(shared, *((LINK_DOWN,) if number == 5 else ()))))
    found = fleet(tmp_path)

    assert [host.name for host in found.hosts if host.status is HostStatus.FINDING] == ["db05"]
    lines = fleet_lines(found)
    assert lines[0] == "12 hosts, no outliers; 1 with a finding that the others lack: db05"
    assert lines[2] == "db05  WARN  FC port host4 has no link"


def test_a_fleet_of_many_types_has_a_row_for_each(tmp_path: Path) -> None:
    for number in range(24):
        machine = replace(server(), platform=replace(server().platform, model=f"Model {number // 2}"))
        write(tmp_path, f"db{number:02}", records(f"db{number:02}", ALIKE, machine))
    lines = fleet_lines(fleet(tmp_path))

    assert len(lines) <= LINES
    assert "Model 11, Intel(R) Xeon(R) Gold 6430" in "\n".join(lines)
    assert lines[-1].strip() == "--all shows every host"
    assert len(fleet_lines(fleet(tmp_path), every_host=True)) > 24


def test_two_small_types_of_one_family_are_not_compared_with_each_other(tmp_path: Path) -> None:
    small = replace(server(), memory_bytes=(server().memory_bytes or 0) // 2)
    for host, machine in (("db01", server()), ("db02", server()), ("db03", small)):
        write(tmp_path, host, records(host, ALIKE, machine))

    assert all(host.compared_as == host.type for host in fleet(tmp_path).hosts)
    write(tmp_path, "db04", records("db04", ALIKE, server()))
    found = fleet(tmp_path).hosts
    assert len({host.type for host in found}) == 2
    assert {host.compared_as for host in found} == {found[0].type}, "three are a type to compare with"


def test_the_name_of_a_host_stands_before_its_first_line_alone(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    others = [replace(LINK_DOWN, id=f"storage.{n}", title=f"FC port host{n} has no link") for n in (2, 3)]
    write(tmp_path, "db05", records("db05", ALIKE, server(), findings=(LINK_DOWN, others[0])))
    write(tmp_path, "db07", records("db07", replace(ALIKE, dram_ns=152.0), server(), findings=(others[1],)))
    of_hosts = fleet_lines(fleet(tmp_path))
    shown = of_hosts[: next(at for at, line in enumerate(of_hosts) if line.startswith("PowerEdge"))]

    assert [line[:12] for line in shown if "has no link" in line] == ["db05  WARN  ", *["      WARN  "] * 2]
    assert len([line for line in shown if line.startswith("db07")]) == 1


def test_a_table_has_the_columns_that_fit_and_names_the_others(tmp_path: Path) -> None:
    made_fleet(tmp_path, 3)
    found = fleet(tmp_path)
    wide, narrow = ("\n".join(fleet_lines(found, width)) for width in (200, 50))

    assert "no room for" not in wide
    assert "more; --all" not in wide
    (left_out,) = (line for line in narrow.splitlines() if "no room for" in line)
    header = next(line for line in narrow.splitlines() if line.split()[:1] == ["Host"])
    assert "Status" not in left_out, "the last column is kept"
    assert left_out.split("no room for ")[1].split(",")[0] not in header
    for line in narrow.splitlines():
        assert len(line) <= 50, line
    assert len(header) + 2 + len("150,000") > 50 - len("Random IOPS"), "one column more would not fit"


def test_each_kind_of_problem_names_three_files_and_counts_the_others(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    for number in range(1, 6):
        (tmp_path / f"db0{number}.sizeup.jsonl").write_text("")
    torn = tmp_path / "db06.sizeup.jsonl"
    torn.write_bytes(torn.read_bytes() + b'{"kind":"sam')
    found = problem_sentences(fleet(tmp_path))

    assert [line.split(":")[0] for line in found] == ["Not read"] * 4 + ["Damaged"]
    assert found[3] == "Not read: 2 more files; --json lists them"
    for number in (4, 5):
        (tmp_path / f"db0{number}.sizeup.jsonl").unlink()
    assert [line.split(":")[0] for line in problem_sentences(fleet(tmp_path))] == ["Not read"] * 3 + ["Damaged"]
    assert "db06" in found[4]


def test_facts_beyond_the_first_are_counted() -> None:
    facts = [PeerDifference(f"fact {n}", f"{n}", "0", 9, relevant=False) for n in range(5)]
    facts += [PeerDifference(f"slot {n}", "empty", "full", 9, relevant=False) for n in range(3)]
    figure = HostFigure("memory", "memory.local_latency", "DRAM latency", "ns", Better.LOWER, 190.0, "", None)
    outlier = Outlier(figure, 10, 95.0, Conclusion.WORSE, PeerDifferences(tuple(facts), 10))

    assert difference_sentences(outlier, 2)[-1] == "and in 6 further facts; --json lists them"
    assert difference_sentences(outlier, 1)[0].startswith("differs in fact 0: 0 "), "one of its own before many alike"
    many_first = PeerDifferences(tuple(reversed(facts)), 10)
    assert difference_sentences(replace(outlier, differences=many_first), 1)[0].startswith("differs in fact 4: 4 ")
    assert difference_sentences(outlier, 6)[-1] == "differs in slot 0 and 2 more like it: empty (9 of 10 peers: full)"


@pytest.mark.parametrize(
    ("fact", "cards"),
    [
        ("NUMA nodes", ("memory",)), ("huge pages", ("memory",)), ("vm.swappiness", ("storage",)),
        ("governor", ("cpu", "clock")), ("product", ()),
    ],
)  # fmt: skip
def test_a_fact_concerns_the_cards_that_it_is_about(fact: str, cards: tuple[str, ...]) -> None:
    assert fact_cards(fact) == cards


def test_the_median_of_a_type_stands_below_its_hosts(tmp_path: Path) -> None:
    made_fleet(tmp_path, 3)
    write(tmp_path, "db09", records("db09", ALIKE, replace(server(), platform=replace(server().platform, model="X"))))
    medians = [line for line in fleet_lines(fleet(tmp_path), 200) if line.split()[:1] == ["median"]]

    assert len(medians) == 1, "a type of one host has none"
    assert len(medians[0].split()) > 5
    for number in (1, 2, 3):
        invalid = records(f"db0{number}", ALIKE, server(), extra={"share_where_asked": 0.5})
        write(tmp_path, f"db0{number}", invalid)
    assert "not valid" in "\n".join(fleet_lines(fleet(tmp_path), 200)), "nor has a figure that no host has"


def test_a_machine_without_a_count_of_cores_is_named_without_it(tmp_path: Path) -> None:
    write(tmp_path, "db01", records("db01", ALIKE, replace(server(), cores=(), packages=())))
    (host,) = fleet(tmp_path).hosts

    assert host.type.name == "PowerEdge R650, Intel(R) Xeon(R) Gold 6430, 512 GiB"


def test_each_column_without_room_is_named() -> None:
    columns = tuple(Column(name) for name in ("Host", "One", "Two", "Three", "Four", "Status"))
    found = fitting(Table("", columns, (("db01", "1", "2", "3", "4", "OK"),)), 24)

    assert [column.title for column in found.columns] == ["Host", "One", "Two", "Status"]
    assert found.rows == (("db01", "1", "2", "OK"),)
    assert found.note == "no room for Three, Four (--json)"
