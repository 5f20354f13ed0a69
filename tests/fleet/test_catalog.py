"""A machine among like ones of a catalog, by fleets made by hand: percentiles, refusals, and what is left out."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from fleet_sessions import Figures, records, server, write
from sizeup.cli import run
from sizeup.fleet.catalog import CatalogComparison, LeftOut, Standing, percentile, place, short_cpu
from sizeup.fleet.catalog_text import catalog_lines, ordinal
from sizeup.fleet.fleet import fleet_paths, read_fleet
from sizeup.fleet.host_session import read_host_session
from sizeup.model.machine import Machine
from sizeup.model.plan import Better
from sizeup.model.sample import Status
from sizeup.model.topology import Cache, CacheKind
from sizeup.session.records import OutcomeRecord, Record, SessionRecord, StepStartRecord

ALIKE = Figures()
DRAM = "memory.local_latency@memory.latency"
DIRECT = {"io.direct": {"block": 4096, "path": "/u01"}}


def host(folder: Path, name: str, dram_ns: float, *, machine: Machine | None = None, file: str = "", **rest) -> Path:
    figures = replace(ALIKE, dram_ns=dram_ns)
    return write(folder, name, records(name, figures, server() if machine is None else machine, **rest), file)


def with_version(content: list[Record], version: str, probe: str) -> list[Record]:
    """The records as another version of a probe would write them."""
    return [
        replace(one, distribution=version) if isinstance(one, StepStartRecord) and one.step.probe == probe else one
        for one in content
    ]


def with_failure(content: list[Record], probe: str) -> list[Record]:
    return [
        replace(one, outcome=replace(one.outcome, status=Status.FAILED))
        if isinstance(one, OutcomeRecord) and one.step == probe
        else one
        for one in content
    ]


def compared(file: Path, catalog: Path) -> CatalogComparison:
    return place(read_host_session(str(file)), read_fleet(fleet_paths([str(catalog)])))


def standing(found: CatalogComparison, name: str = DRAM) -> Standing:
    return next(one for one in found.standings if one.figure.name == name)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """Ten like machines of 91 to 100 ns, in two folders."""
    folder = tmp_path / "catalog"
    for number in range(10):
        owner = folder / ("a" if number < 5 else "b/deep")
        owner.mkdir(parents=True, exist_ok=True)
        host(owner, f"other{number}", 91.0 + number)
    return folder


@pytest.mark.parametrize(
    ("value", "others", "better", "expected"),
    [
        (3, (1, 2, 4, 5), Better.HIGHER, 50),
        (5, (1, 2, 3, 4), Better.HIGHER, 100),
        (0, (1, 2, 3, 4), Better.HIGHER, 0),
        (0, (1, 2, 3, 4), Better.LOWER, 100),
        (4, (1, 2, 3, 4), Better.LOWER, 12.5),
        (4, (1, 2, 3, 4), Better.HIGHER, 87.5),
        (2, (2, 2, 2, 2, 2), Better.LOWER, 50),
        (2, (1, 2, 2, 2, 9), Better.HIGHER, 50),
        (3, (1, 2, 4, 5, 6), Better.NEITHER, 40),
        (7, (8,), Better.LOWER, 100),
    ],
)
def test_a_percentile_counts_what_is_worse_and_half_of_what_is_equal(
    value: float, others: tuple[float, ...], better: Better, expected: float
) -> None:
    assert percentile(value, others, better) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0th"), (1, "1st"), (2.4, "2nd"), (2.5, "3rd"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st"),
     (52, "52nd"), (99.4, "99th"), (100, "100th")],
)  # fmt: skip
def test_ordinals(value: float, expected: str) -> None:
    assert ordinal(value) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Intel(R) Xeon(R) Gold 6430", "Intel Xeon Gold 6430"),
        ("Intel(R) Xeon(R) Platinum 8360Y CPU @ 2.40GHz", "Intel Xeon Platinum 8360Y"),
        ("AMD EPYC 7742 64-Core Processor", "AMD EPYC 7742 64-Core"),
    ],
)
def test_the_short_name_of_a_cpu(name: str, expected: str) -> None:
    assert short_cpu(name) == expected


def test_a_machine_is_placed_among_like_ones(tmp_path: Path, catalog: Path) -> None:
    found = compared(host(tmp_path, "mine", 97.5), catalog)
    dram = standing(found)

    assert (len(dram.values), dram.percentile, dram.exceeded) == (10, 30, 3)
    assert (dram.median, dram.values[0], dram.values[-1]) == (95.5, 91.0, 100.0)
    assert not dram.left_out
    text = " ".join("\n".join(catalog_lines(found, "catalog", 120)).split())
    assert text.startswith(
        "Lowest figure: DRAM latency: 97.5 ns is the 30th percentile of 10 x Xeon Gold 6430 (better than 3; median "
        "95.5 ns, range 91 to 100 ns)"
    )
    assert "30th of 10" in text


def test_the_direction_is_that_of_the_figure(tmp_path: Path, catalog: Path) -> None:
    worse = write(tmp_path, "mine", records("mine", replace(ALIKE, iops=1e5, dram_ns=90.0), server()))
    found = compared(worse, catalog)

    assert (standing(found).percentile, standing(found).exceeded) == (100, 10)
    equal = standing(compared(host(tmp_path, "equal", 95.0), catalog))
    assert (equal.percentile, equal.exceeded) == (55, 5)  # better than 96 to 100 ns, as good as 95 ns
    assert standing(found, "storage.random_iops@io.direct").percentile == 0


def test_the_table_fits_a_terminal_of_80_columns(tmp_path: Path, catalog: Path) -> None:
    found = compared(host(tmp_path, "mine", 97.5), catalog)
    narrow, wide = catalog_lines(found, "catalog", 80), catalog_lines(found, "catalog", 120)

    # A path is never broken, so that it can be copied.
    assert max(len(line) for line in narrow if "mine.sizeup.jsonl" not in line) <= 80
    assert [line for line in narrow if re.search(r"DRAM latency +97.5 ns +30th of 10 +95.5 ns +91 to 100 ns", line)]
    assert "  Card  " in "\n".join(wide)
    assert not [line for line in wide if "latency (standard)" in line], "one workload needs no name"


@pytest.mark.parametrize("machines", [4, 5])
def test_fewer_than_five_like_machines_are_refused(
    tmp_path: Path, machines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    for number in range(machines):
        host(folder, f"other{number}", 91.0 + number)
    mine = host(tmp_path, "mine", 90.0)
    status = run(["session", "compare", str(mine), "--catalog", str(folder)])
    captured = capsys.readouterr()

    if machines == 5:
        assert status == 0
        assert "100th of 5" in captured.out
        assert "Published figures" not in captured.out
        return
    assert status == 6
    assert captured.out.startswith("No percentile: 4 like machines (2 x Intel Xeon Gold 6430, 4 cores, not virtual)")
    assert not re.search(r"\d(th|st|nd|rd)\b", captured.out.partition("Published")[0])
    assert "4 of 5 needed" in captured.out
    assert "no figure has enough like machines" in captured.err
    assert run(["session", "compare", str(mine), "--catalog", str(folder), "--allow-undecided"]) == 0


def test_another_version_of_the_probe_does_not_count(tmp_path: Path, catalog: Path) -> None:
    content = records("new", replace(ALIKE, dram_ns=50.0), server())
    write(catalog, "new", with_version(content, "sizeup 0.3.0", "memory.latency"))
    found = compared(host(tmp_path, "mine", 97.5), catalog)

    assert standing(found).values[0] == 91.0
    assert standing(found).left_out == {LeftOut.OTHER_VERSION: 1}
    assert not standing(found, "clock.read_cost@clock.cost").left_out
    assert "Like machines left out: 1 other version of the probe (DRAM latency)" in "\n".join(
        catalog_lines(found, "catalog", 100)
    )


def test_another_workload_does_not_count_and_another_target_does(tmp_path: Path, catalog: Path) -> None:
    host(catalog, "plan", 50.0, plan="quick")
    host(catalog, "block", 91.0, settings=DIRECT)
    host(catalog, "target", 91.0, settings={"io.direct": {"path": "/u02"}})
    found = compared(host(tmp_path, "mine", 97.5), catalog)

    assert standing(found).left_out == {LeftOut.OTHER_WORKLOAD: 1}
    assert standing(found).values[0] == 91.0
    iops = standing(found, "storage.random_iops@io.direct")
    assert iops.left_out == {LeftOut.OTHER_WORKLOAD: 2}
    assert len(iops.values) == 11


def test_figures_that_are_not_valid_or_did_not_converge_do_not_count(tmp_path: Path, catalog: Path) -> None:
    failed = with_failure(records("failed", replace(ALIKE, dram_ns=50.0), server()), "memory.latency")
    write(catalog, "failed", failed)
    host(catalog, "moving", 50.0, converged=False)
    host(catalog, "zero", 0.0)
    found = compared(host(tmp_path, "mine", 97.5), catalog)

    assert standing(found).values[0] == 91.0
    assert standing(found).left_out == {
        LeftOut.NOT_MEASURED: 1, LeftOut.NOT_CONVERGED: 1, LeftOut.NOT_VALID: 1,
    }  # fmt: skip


def test_a_host_counts_once_by_its_newest_valid_figure(tmp_path: Path, catalog: Path) -> None:
    host(catalog, "other0", 70.0, file="older", started="2026-02-01T09:00:00Z")
    host(catalog, "other1", 80.0, file="newer", started="2026-03-05T09:00:00Z")
    host(catalog, "other2", 60.0, file="moving", started="2026-03-06T09:00:00Z", converged=False)
    dram = standing(compared(host(tmp_path, "mine", 97.5), catalog))

    assert len(dram.values) == 10
    assert dram.values == (80.0, 91.0, *(93.0 + number for number in range(8)))


def test_the_session_itself_and_others_of_its_host_do_not_count(tmp_path: Path, catalog: Path) -> None:
    mine = host(catalog, "mine", 97.5)
    host(catalog, "mine", 50.0, file="earlier", started="2026-01-01T09:00:00Z")
    found = compared(mine, catalog)

    assert found.own_sessions == 2
    assert standing(found).values == tuple(91.0 + number for number in range(10))


def test_a_masked_copy_of_the_session_and_others_of_that_host_do_not_count(tmp_path: Path, catalog: Path) -> None:
    mine = host(tmp_path, "mine", 97.5)
    masked = records("host-0badcafe", replace(ALIKE, dram_ns=97.5), server())
    masked[0] = SessionRecord(1, "uuid-12345678", "sizeup 0.2.0", "host-0badcafe", "2026-03-01T09:00:00Z")
    write(catalog, "masked", masked)
    host(catalog, "host-0badcafe", 50.0, file="earlier", started="2026-01-01T09:00:00Z")
    host(catalog, "host-00000000", 91.0)
    found = compared(mine, catalog)

    assert found.own_sessions == 2
    assert len(standing(found).values) == 11


@pytest.mark.ci
def test_a_masked_session_of_this_host_is_known_by_the_key_of_the_installation(
    tmp_path: Path, catalog: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    earlier = host(tmp_path, "mine", 50.0, file="earlier", started="2026-01-01T09:00:00Z")
    assert (
        run(["session", "export", str(earlier), "--format", "share", "-o", str(catalog / "masked.sizeup.jsonl.gz")])
        == 0
    )
    mine = host(tmp_path, "mine", 97.5)
    capsys.readouterr()

    assert run(["session", "compare", str(mine), "--catalog", str(catalog), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["left_out"]["sessions_of_this_host"], data["like_machines"]) == (1, 10)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "none"))
    assert run(["session", "compare", str(mine), "--catalog", str(catalog), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["left_out"]["sessions_of_this_host"], data["like_machines"]) == (0, 11)
    assert not (tmp_path / "none").exists()


def test_virtual_machines_are_like_only_with_the_same_caches(tmp_path: Path, catalog: Path) -> None:
    cache = Cache(2, CacheKind.UNIFIED, 1 << 20, 64, (0,))
    virtual = replace(server().platform, is_guest=True)
    guest = replace(server(), platform=virtual, cpu_model="Intel Xeon Processor", caches=(cache,))
    host(catalog, "same", 50.0, machine=replace(guest, caches=(replace(cache, shared_by=(1,)),)))
    host(catalog, "newer", 50.0, machine=replace(guest, caches=(replace(cache, size_bytes=2 << 20),)))
    found = compared(host(tmp_path, "mine", 97.5, machine=guest), catalog)

    assert [session.host for session in found.like] == ["same"]
    assert found.other_types == 11
    assert found.machine_type.endswith("virtual")


def test_machines_of_another_type_are_counted_and_never_compared(tmp_path: Path, catalog: Path) -> None:
    guest = replace(server(), platform=replace(server().platform, is_guest=True))
    other_cpu = replace(server(), cpu_model="Intel(R) Xeon(R) Gold 6448H")
    more_memory = replace(
        server(), memory_bytes=1 << 40, platform=replace(server().platform, model="ProLiant DL380 Gen11")
    )
    host(catalog, "guest", 50.0, machine=guest)
    host(catalog, "cpu", 50.0, machine=other_cpu)
    host(catalog, "cpu", 50.0, machine=other_cpu, file="again", started="2026-02-01T09:00:00Z")
    host(catalog, "memory", 95.0, machine=more_memory)
    write(catalog, "unknown", records("unknown", ALIKE, None))
    (catalog / "torn.sizeup.jsonl").write_text("version https://git-lfs.github.com/spec/v1\n")
    found = compared(host(tmp_path, "mine", 97.5), catalog)

    assert (found.other_types, found.without_machine, len(found.unread)) == (2, 1, 1)
    assert len(standing(found).values) == 11
    text = " ".join("\n".join(catalog_lines(found, "catalog", 100)).split())
    assert "Left out: 2 hosts of another machine type, 1 session without a machine, 1 file that cannot be read" in text
    assert "torn.sizeup.jsonl: expected a sizeup session" in text
    assert "with 512 GiB to 1 TiB of memory" in text


def test_text_and_numbers_of_others_cannot_harm_the_terminal(
    tmp_path: Path, catalog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host(catalog, "endless", 1e308)
    content = (catalog / "endless.sizeup.jsonl").read_bytes().replace(b"1e308", b"1e999")
    (catalog / "endless.sizeup.jsonl").write_bytes(content)
    (catalog / "evil\x1b[2J.sizeup.jsonl").write_text("\x1b]0;owned\x07")
    mine = host(tmp_path, "mine\x1b[31m", 97.5)

    assert run(["session", "compare", str(mine), "--catalog", str(catalog)]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "30th of 10" in text
    assert run(["session", "compare", str(mine), "--catalog", str(catalog), "--json"]) == 0
    dram = next(one for one in json.loads(capsys.readouterr().out)["figures"] if one["name"] == DRAM)
    assert (dram["machines"], dram["range"]) == (10, [91.0, 100.0])


@pytest.mark.parametrize(("unread", "told"), [(5, []), (6, ["  and 1 more file; --json lists all"])])
def test_files_that_cannot_be_read_are_listed_up_to_five(
    tmp_path: Path, catalog: Path, unread: int, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(unread):
        (catalog / f"bad{number}.sizeup.jsonl").write_text("not a session")
    assert run(["session", "compare", str(host(tmp_path, "mine", 97.5)), "--catalog", str(catalog)]) == 0
    text = capsys.readouterr().out.splitlines()

    assert len([line for line in text if line.startswith("Cannot be read")]) == 5
    assert [line for line in text if line.startswith("  and ")] == told


def test_the_machine_s_own_figure_must_be_valid(tmp_path: Path, catalog: Path) -> None:
    found = compared(host(tmp_path, "mine", 0.0), catalog)

    assert not standing(found).placed
    assert "! No percentile, as not above zero on this machine: DRAM latency" in "\n".join(
        catalog_lines(found, "catalog", 100)
    )


def test_a_figure_that_did_not_converge_is_placed_by_its_interval_too(tmp_path: Path, catalog: Path) -> None:
    found = compared(host(tmp_path, "mine", 95.5, converged=False), catalog)
    dram = standing(found)

    # 3 % to both sides: 92.6 and 98.4 ns.
    assert (dram.percentile, dram.percentile_range) == (50, (20, 80))
    assert "? DRAM latency did not converge: its 95 % interval is the 20th to 80th percentile" in "\n".join(
        catalog_lines(found, "catalog", 100)
    )


def test_the_document_for_programs(tmp_path: Path, catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host(catalog, "block", 91.5, settings=DIRECT)
    mine = host(tmp_path, "mine", 97.5)

    assert run(["session", "compare", str(mine), "--catalog", str(catalog), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    dram = next(one for one in data["figures"] if one["name"] == DRAM)
    iops = next(one for one in data["figures"] if one["name"] == "storage.random_iops@io.direct")
    assert (data["schema"], data["like_machines"], data["least_machines"]) == ("sizeup.catalog/1", 11, 5)
    assert dram["percentile"] == pytest.approx(100 * 3 / 11)
    assert (dram["better"], dram["better_than"], dram["machines"], dram["range"]) == ("lower", 3, 11, [91.0, 100.0])
    assert (dram["no_percentile_reason"], dram["published_reference"]) == (None, None)
    assert iops["left_out"] == {"other_workload": 1}


def test_without_like_machines_the_nearest_published_figure_is_labeled(
    tmp_path: Path, catalog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ice_lake = replace(server(), cpu_model="Intel(R) Xeon(R) Platinum 8360Y CPU @ 2.40GHz")
    mine = host(tmp_path, "mine", 97.5, machine=ice_lake)

    assert run(["session", "compare", str(mine), "--catalog", str(catalog)]) == 6
    text = " ".join(capsys.readouterr().out.split())
    assert "Published figures of other machines, measured with other tools:" in text
    assert "- DRAM latency: 89.2 ns on 2 x Xeon Platinum 8360Y, 72 cores, 251 GiB (the same CPU), by Intel" in text
    assert run(["session", "compare", str(mine), "--catalog", str(catalog), "--json", "--allow-undecided"]) == 0
    dram = next(one for one in json.loads(capsys.readouterr().out)["figures"] if one["name"] == DRAM)
    assert dram["percentile"] is None
    assert dram["published_reference"]["value"] == 89.2
    assert dram["published_reference"]["date"] == "2023-04-13"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{mine} {tmp}/absent", "expected a directory of sessions, found nothing of that name"),
        ("{mine} {mine}", "expected a directory of sessions, found a file"),
        ("{mine} {tmp}/empty", "expected session files"),
        ("{tmp} {tmp}", "expected one session, found a directory"),
        ("preset:slb-e5320 {tmp}", "expected one session, found a published case"),
        ("{tmp}/none.sizeup.jsonl {tmp}", "there is no such file"),
        ("{bare} {tmp}", "expected a session with a machine, found none"),
    ],
)
def test_bad_input_is_a_clear_error(
    line: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    names = {
        "tmp": tmp_path,
        "mine": host(tmp_path, "mine", 95.0),
        "bare": write(tmp_path, "bare", records("bare", ALIKE, None)),
    }

    assert run(["session", "rank", *(word.format(**names) for word in line.split())]) == 2
    assert expected in capsys.readouterr().err
