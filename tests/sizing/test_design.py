"""The smallest machine for a workload: it passes, and with one unit less of what limits it does not."""

import json
import random
from pathlib import Path

import pytest

import purchase
from sizeup import cli
from sizeup.cli.sizing_inputs import read_workload_files
from sizeup.errors import UsageError
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import size
from sizeup.sizing.design import CORES, DRIVES, MEMORY, PORTS, Design, DesignPart, design, kept_settings, kept_workload
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.rules import shipped
from sizeup.views.result.design import alternatives_table, design_notes, parts_table
from tiers import one_in

SCENARIO = (
    "path.stages=hba:fc32",
    *("workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8", "redo.mb_s=120", "db.gb=4000"),
    *("workload.growth_percent=20", "workload.horizon_years=3"),
)
TWO = {"cluster.nodes": "2"}
PROCESSOR = ("workload.cpu_cores=33", "machine.cpu_model=AMD EPYC 9174F", "machine.cores_per_socket=16")
"""33 / 0.7 = 47.1 cores, so three of it."""
HARD = ("license.product=ee", "license.scope=hard", "license.pinned_cores=16")
JUDGED = {DRIVES: ("storage", "space"), PORTS: ("storage",), CORES: ("cpu",), MEMORY: ("memory",)}


def designed(*settings: str) -> Design:
    return design(parse_settings(settings), shipped())


@pytest.fixture
def without_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take most of the time of a design, and change nothing else of it."""
    monkeypatch.setattr("sizeup.sizing.design._changes", lambda base, parts: [])


def part_of(key: str, found: Design) -> DesignPart:
    return next(one for one in found.parts if one.key == key)


@pytest.mark.usefixtures("without_alternatives")
def test_the_space_in_pairs_of_drives_and_a_spare_port() -> None:
    """Space: 4,000 / 0.7 = 5,714 GB today, 4,000 x 1.2^3 = 6,912 in year 3; 2 drives in RAID 10 have 3,840, 4 7,680.

    Ports: 40,000 x 8,192 + 120 MB/s = 447.68 MB/s of 3,200, so one is enough, and none is left without a second.
    """
    found = designed(*SCENARIO)

    drives, ports = part_of(DRIVES, found), part_of(PORTS, found)
    assert (drives.buy, drives.limit, drives.when) == (4, "GB", "today")
    assert drives.counts["today"] == drives.counts["last-year"] == drives.counts["failure"] == 4
    assert ports.counts == {"today": 1, "failure": 2, "last-year": 1, "failure-last-year": 2}
    assert (ports.buy, ports.limit, ports.when) == (2, "outage", "failure")
    assert set(found.undesigned) == {CORES, MEMORY}


@pytest.mark.ci
def test_nvme_drives_are_in_the_server_unless_ports_are_named_or_several_servers_share_them() -> None:
    inside = designed(*SCENARIO[1:], "workload.cpu_cores=8")
    assert [part.key for part in inside.parts] == [DRIVES, CORES]
    assert PORTS not in inside.undesigned
    assert not any(key.startswith("path.") for key in kept_settings(inside))
    assert any("path.stages=hba:fc32" in note for note in design_notes(inside))
    two = next(one for one in inside.alternatives if "cluster.nodes" in one.changed)
    assert (two.buy[DRIVES], two.buy[PORTS]) == (4, 2)
    assert "shared drives behind hba:fc32" in alternatives_table(inside).note

    for more in ("array.drive=hdd-15k", "cluster.nodes=2"):
        assert part_of(PORTS, designed(*SCENARIO[1:], more)).buy == 2


@pytest.mark.ci
def test_the_upper_ends_of_ranges_are_bought_for() -> None:
    """Each with the other parts of the load as they are; what varies between intervals is no range."""
    slow = ("array.drive=hdd-10k", "array.disk_gb=1200", "redo.write_kib=64")
    load = ("workload.iops={}40000", "db.gb={}4000", "workload.cpu_cores={}20", "sga.mb={}100000")
    exact, ranged = (
        designed(*SCENARIO[2:4], *SCENARIO[5:], *slow, *(one.format(start) for one in load))
        for start in ("", "1..11..")
    )

    assert ranged.parts == exact.parts
    assert [one.buy for one in ranged.alternatives] == [one.buy for one in exact.alternatives]
    assert kept_workload(ranged)["workload.iops"] == "1..11..40000"
    assert any(
        note.startswith("Bought for the upper ends of ranges: workload.iops 40,000") for note in design_notes(ranged)
    )
    assert designed("workload.cpu_cores=2..3..9", "workload.percentile=95").upper_ends.keys() == {"workload.cpu_cores"}


@pytest.mark.usefixtures("without_alternatives")
def test_ports_that_no_failure_may_leave_without_one_say_so() -> None:
    rows = {row[0]: row for row in parts_table(designed(*SCENARIO)).rows}
    assert rows["Ports: fc32"][-1] == "outage on failure"
    assert part_of(DRIVES, designed(*SCENARIO)).limit == "GB"


def test_more_drives_with_parity_than_a_group_holds_are_called_so() -> None:
    """120,000 GB / 3,840 / 0.7 = 44.6 drives of data."""
    [note] = [one for one in design_notes(designed("db.gb=120000")) if "one group" in one]

    assert note.startswith("RAID 5: 46 drives count as one group")
    assert not any("one group" in one for one in design_notes(designed("db.gb=4000")))


def test_an_order_without_cores_names_no_processor() -> None:
    def kept(*settings: str) -> set[str]:
        found = designed(*settings)
        return {key for key in {**kept_settings(found), **kept_workload(found)} if "cpu" in key or "specrate" in key}

    assert kept("db.gb=4000", "workload.iops=1000") == set()
    assert kept("workload.cpu_cores=8") == {"machine.cpu_model", "workload.cpu_cores", "workload.cpu_model"}


@pytest.mark.ci
def test_memory_for_postgresql_is_as_its_manual_advises() -> None:
    """64 GiB are 40 % of 160; 65.04 GiB / 0.7 are 92.9 and 70.4 / 0.7 are 100.6, of MySQL."""
    chosen = designed("sga.mb=65536", "workload.cpu_cores=4", "license.pack=postgresql")
    table = alternatives_table(designed("sga.mb=65536", "workload.cpu_cores=4"))

    assert part_of(MEMORY, chosen).counts["today"] == 96
    assert (part_of(MEMORY, chosen).buy, part_of(MEMORY, chosen).limit) == (160, "page-cache")
    assert {row[0]: row[2] for row in table.rows if "sql" in row[0]} == {"postgresql": "160", "mysql community": "112"}
    assert "postgresql, mysql community: memory by manual" in table.note
    assert "mysql community" not in licenses_of(designed("workload.cpu_cores=4", "license.pack=mysql"))
    assert "memory by" not in alternatives_table(designed("sga.mb=1024", "workload.cpu_cores=4")).note


@pytest.mark.usefixtures("without_alternatives")
def test_what_a_lost_drive_leaves_decides_of_slow_ones() -> None:
    """1,000 reads/s of drives with 182: 1,000 / (182 x 0.7) = 7.8, so 8 today.

    The other half of a pair takes the reads of both: 1,000 / (182 / 2) = 10.99, so 12 after a failure.
    """
    drives = part_of(DRIVES, designed("workload.iops=1000", "workload.read_percent=100", "array.drive=hdd-15k"))

    assert drives.counts == {"today": 8, "failure": 12}
    assert (drives.buy, drives.limit, drives.when) == (12, "IOPS", "failure")


def test_a_second_server_is_a_standby_of_a_product_that_shares_no_load() -> None:
    """12 / 0.7 = 17.1 cores on each of both; with RAC, 12 / 0.7 / 2 = 8.6, and 12 after one is lost."""
    found = {
        pack: next(one for one in designed("workload.cpu_cores=12", *pack).alternatives if one.changed == TWO)
        for pack in ((), ("license.pack=postgresql",))
    }

    assert found[()].buy[CORES] == 12
    assert found["license.pack=postgresql",].buy[CORES] == 18


@pytest.mark.usefixtures("without_alternatives")
def test_a_write_takes_four_operations_in_raid_5() -> None:
    """1,000 IOPS, half of them writes: 500 + 500 x 4 = 2,500 operations / (182 x 0.7) = 19.6, so 20 today."""
    given = ("workload.iops=1000", "workload.read_percent=50", "array.drive=hdd-15k", "array.raid=5")

    assert part_of(DRIVES, designed(*given)).counts["today"] == 20


@pytest.mark.usefixtures("without_alternatives")
def test_what_a_failure_leaves_holds_the_data() -> None:
    """4,000 GB: 2 drives of 3,840 GB in RAID 10 hold 3,840, and 3 in RAID 5 7,680; 4 in RAID 6 hold as much."""
    for level, fewest in (("10", 4), ("5", 3), ("6", 4)):
        assert part_of(DRIVES, designed(*SCENARIO, f"array.raid={level}")).counts["failure"] == fewest


@pytest.mark.ci
def test_a_default_that_the_design_rests_on_is_named() -> None:
    """Redo of 120 MB/s is 1,831 writes/s of 64 KiB or 14,648 of 8 KiB: with those too few of slow drives are bought."""
    found = designed(*SCENARIO, "array.drive=hdd-15k", "array.disk_gb=900")
    rests = part_of(DRIVES, found).rests

    assert [text.partition(" (")[0] for text in rests] == ["redo writes of 64 KiB by default"]
    assert f", {rests[0]}" in design_notes(found)[-1]
    assert not any(part.rests for part in designed(*SCENARIO, "redo.write_kib=8", "array.drive=hdd-15k").parts)
    others = next(one for one in found.alternatives if one.changed == {"array.raid": "5"}).rests
    assert others != rests
    assert alternatives_table(found).note.endswith(f"RAID 5: assumed {others[0]}")


@pytest.mark.parametrize(
    "more", [(), *(pytest.param((one,), marks=pytest.mark.ci) for one in ("array.drive=hdd-15k", "cluster.nodes=2"))]
)
def test_each_alternative_passes_as_designed(more: tuple[str, ...]) -> None:
    """What is assumed of it is named in its row."""
    found = designed(*SCENARIO, "workload.cpu_cores=12", "sga.mb=65536", *more)
    for one in found.alternatives:
        if one.unmet:
            continue
        stage = str(kept_settings(found)[PORTS]).partition("*")[0]
        count = one.buy[PORTS]
        bought = {**one.changed, **one.buy, PORTS: f"{stage}*{count}@{count}"}
        cards = size({**found.inputs, **parse_settings([f"{key}={value}" for key, value in bought.items()])}).cards
        judged = [card for card in cards if card.share is not None and card.resource != "network"]
        assert {card.status for card in judged} <= {"pass", "assumed"}, one
        assert {text for card in judged for text in card.assumed} == set(one.rests), one


@pytest.mark.ci
def test_an_edition_that_is_too_small_loses_its_cores_alone() -> None:
    """16 threads carry at most 16 x 0.7 = 11.2 busy cores."""
    found = designed(*SCENARIO, "workload.cpu_cores=12", "sga.mb=65536", "license.product=se2")

    assert found.alternatives[0].unmet == {CORES: "none: 16 threads"}
    assert [part.key for part in found.parts] == [DRIVES, PORTS, MEMORY]
    assert "Cores: none passes for certain with this edition (none: 16 threads)" in design_notes(found)
    table = alternatives_table(found)
    assert table.rows[0][:4] == ("as above", "4", "2", "none: 16 threads")
    assert next(row for row in table.rows if row[0] == "oracle ee")[3] == "21"
    assert {"postgresql", "mysql community"} <= {row[0] for row in table.rows}


@pytest.mark.usefixtures("without_alternatives")
def test_what_is_designed_is_not_taken_from_what_is_given() -> None:
    given = ("machine.cores=8", "machine.memory_gib=64", "array.disks=6", "path.stages=nvme:pcie4-x4*4")
    found = designed(*SCENARIO, "workload.cpu_cores=12", *given)

    assert part_of(CORES, found).buy == 21
    assert (
        "Designed, so not taken from what is given: array.disks, machine.cores, machine.memory_gib, path.stages"
        in design_notes(found)
    )
    assert not designed(*SCENARIO, "path.stages=hba:fc16").replaced


def test_cores_and_memory() -> None:
    """Cores: 13.2 / 0.7 = 18.9 today, 13.2 x 1.728 = 22.8 in year 3. Memory: 256 / 0.7 = 365.7 GiB in modules of 16.

    Cores twice as fast: 6.6 / 0.7 = 9.4 today, 11.4 in year 3.
    """
    found = designed(*SCENARIO[-2:], "workload.cpu_cores=13.2", "sga.mb=262144")

    cores, memory = part_of(CORES, found), part_of(MEMORY, found)
    assert (cores.counts, cores.buy, cores.when) == ({"today": 19, "last-year": 23}, 23, "last-year")
    assert (memory.buy, memory.limit, memory.when) == (368, "GiB", "today")
    fast = next(one for one in found.alternatives if one.changed == {"machine.specrate_per_core": "2"})
    assert fast.buy[CORES] == 12
    assert set(found.undesigned) == {DRIVES}


def test_licenses_of_the_cores_as_designed() -> None:
    """24 cores of an x86 processor count half: 12 x 47,500 = 570,000, and 22 % of that for 3 years, 376,200."""
    model = "machine.cpu_model=Intel(R) Xeon(R) Gold 6338"
    product = ("license.pack=oracle", "license.product=ee")
    found = designed("workload.cpu_cores=16.8", *product, model, "workload.cpu_model=Intel(R) Xeon(R) Gold 6338")

    assert found.alternatives[0].buy == {CORES: 24}
    cost = found.alternatives[0].cost
    assert cost is not None
    assert cost.value == pytest.approx(946_200)
    free = next(one for one in found.alternatives if one.changed == {"license.pack": "postgresql"})
    assert free.cost is not None
    assert free.cost.value == 0


def _check(seed: int) -> None:
    chance = random.Random(seed)
    settings = [
        f"workload.iops={chance.randint(100, 200_000)}",
        f"workload.read_percent={chance.randint(0, 100)}",
        f"workload.io_kib={chance.choice((4, 8, 16, 64))}",
        f"workload.cpu_cores={chance.uniform(0.5, 200):.2f}",
        f"sga.mb={chance.randint(1000, 1_000_000)}",
        f"array.raid={chance.choice(('10', '5', '6'))}",
        f"array.drive={chance.choice(('hdd-10k', 'ssd-sata', 'nvme-pcie4'))}",
        f"path.stages=hba:{chance.choice(('fc16', 'fc32', 'eth25'))}",
        f"cluster.nodes={chance.choice((1, 1, 2, 3))}",
    ]
    settings += [f"redo.mb_s={chance.randint(1, 300)}"] if chance.random() < 0.6 else []
    settings += [f"db.gb={chance.randint(10, 50_000)}"] if chance.random() < 0.8 else []
    if chance.random() < 0.6:
        settings += [f"workload.growth_percent={chance.randint(0, 60)}", "workload.horizon_years=3"]
    settings += [f"workload.sequential_mb_s={chance.randint(10, 5000)}"] if chance.random() < 0.5 else []
    try:
        found = designed(*settings)
    except UsageError:  # more than the largest machine that is tried
        assert "hdd" in settings[6], settings
        return
    bought = parse_settings([f"{key}={value}" for key, value in kept_settings(found).items()])
    inputs = {**found.inputs, **bought}
    status = {card.resource: card.status for card in size(inputs).cards}
    for one in found.parts:
        passed = [status[resource] for resource in JUDGED[one.key] if status[resource] != "unknown"]
        assert passed, (seed, one)
        assert set(passed) <= {"pass", "assumed"}, (seed, one)
        assert ("assumed" in passed) == bool(one.rests), (seed, one)
        if one.limit != "least":
            stage = str(bought.get(PORTS) and kept_settings(found)[PORTS]).partition("*")[0]
            less = one.buy - one.step
            text = f"{stage}*{less}@{less}" if one.key == PORTS else str(less)
            cards = size({**inputs, **parse_settings([f"{one.key}={text}"])}).cards
            after = {card.status for card in cards if card.resource in JUDGED[one.key]}
            assert after - {"pass", "assumed", "unknown"}, (seed, one)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.ci), pytest.param(2, marks=pytest.mark.ci)])
@pytest.mark.usefixtures("without_alternatives")
def test_a_machine_as_designed_passes_and_a_smaller_one_does_not(seed: int) -> None:
    _check(seed)


@pytest.mark.ci
@pytest.mark.parametrize("part", range(10))
@pytest.mark.usefixtures("without_alternatives")
def test_so_do_five_hundred(part: int) -> None:
    for seed in range(3 + part, 503, 10):
        _check(seed)


def test_what_to_buy_is_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    more = ("workload.cpu_cores=13.2", "sga.mb=262144", "license.pack=oracle", "license.product=ee")
    assert cli.run(["size", "--design", "--set", *SCENARIO, *more]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:1] == ["Cores"] and line.split()[4] == "23" for line in lines)


def test_a_design_is_kept_as_a_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["size", "--design", "--set", *SCENARIO, "-o", "order.toml"]) == 0
    assert cli.run(["size", "--machine", "order.toml", "--set", *SCENARIO[1:]]) == 0
    assert "PASS     Space" in capsys.readouterr().out
    assert cli.run(["size", "--design", "--json", "--set", *SCENARIO]) == 0
    data = json.loads(capsys.readouterr().out)
    before = Path("order.toml").read_text(encoding="utf-8")
    assert cli.run(["size", "--design", "--set", "workload.iops=1", "-o", "order.toml"]) == 2
    assert capsys.readouterr().err == "sizeup: order.toml: already exists; choose another name\n"
    assert Path("order.toml").read_text(encoding="utf-8") == before
    assert data["schema"] == "sizeup.design/1"
    assert [one["buy"] for one in data["parts"]] == [4, 2]


@pytest.mark.ci
def test_an_order_keeps_the_product_that_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two servers of PostgreSQL do not share the load, and cost nothing."""
    monkeypatch.chdir(tmp_path)
    given = ("workload.cpu_cores=12", "cluster.nodes=2", "license.pack=postgresql")
    assert cli.run(["size", "--design", "--set", *SCENARIO, *given, "-o", "order.toml"]) == 0
    assert '"license.pack" = "postgresql"' in Path("order.toml").read_text(encoding="utf-8")
    capsys.readouterr()
    assert cli.run(["size", "--machine", "order.toml", "--workload", "order.toml"]) == 0
    shown = capsys.readouterr().out
    assert "Oracle" not in shown
    assert "57 %" in shown  # 12 of 21 cores


@pytest.mark.ci
def test_an_order_carries_its_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The speed of cores is a name, no SPECrate beside offers."""
    monkeypatch.chdir(tmp_path)
    given = ("workload.cpu_cores=12", "sga.mb=65536")
    assert cli.run(["size", "--design", "--set", *SCENARIO, *given, "-o", "order.toml"]) == 0
    capsys.readouterr()
    sized = ["size", "--machine", "order.toml", "--workload", "order.toml"]
    assert cli.run(sized) == 0
    rows = capsys.readouterr().out.splitlines()
    for resource in ("Storage ", "Space ", "CPU ", "Memory "):
        assert any(row.startswith(resource) and row.endswith("PASS") for row in rows), resource
    assert cli.run([*sized, "--emit", "postgresql"]) == 0
    assert "120 MB/s x 300 s" in capsys.readouterr().out
    text = Path("order.toml").read_text(encoding="utf-8")
    assert "specrate" not in text


@pytest.mark.ci
@pytest.mark.parametrize("name", ["wl.toml", "awr.txt"])
def test_an_order_keeps_the_workload_of_a_file_with_its_ranges(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A report of one interval is an average, which its ends say, and 13.2 to 24 cores were busy."""
    monkeypatch.chdir(tmp_path)
    load = '"workload.iops" = 1000.125\n"workload.cpu_cores" = "2..3.125..4"\n"memory.sessions" = 9\n'
    Path("wl.toml").write_text(f'schema = "sizeup.workload/1"\n[inputs]\n{load}', encoding="utf-8")
    Path("awr.txt").write_text(purchase.AWR, encoding="utf-8")
    typed = {"db.gb": "100", "memory.session_mib": "20"}
    settings = [f"{key}={value}" for key, value in typed.items()]
    assert cli.run(["size", "--design", "--workload", name, "--set", *settings, "-o", "order.toml"]) == 0

    stated, kept = read_workload_files([name]), read_workload_files(["order.toml"])
    assert kept.keys() == stated.keys() | typed.keys() | {"workload.cpu_model"}
    for key, value in stated.items():
        back = kept[key]
        assert isinstance(value, Quantity)
        assert isinstance(back, Quantity)
        assert (back.value, back.low, back.high) == pytest.approx((value.value, value.low, value.high))
    for more in (["--show", "cpu"], ["--against", "order.toml"]):
        assert cli.run(["size", "--machine", "order.toml", "--workload", "order.toml", *more]) == 0
    assert "what the workload of the order needs" in capsys.readouterr().out


@pytest.mark.usefixtures("without_alternatives")
def test_a_rate_with_three_decimals_is_no_thousands_in_an_order() -> None:
    rate = Quantity(12.345, "1/s", Origin.IMPORTED, "awr.txt", low=12.345, high=20)

    assert kept_workload(design({"workload.iops": rate}, shipped()))["workload.iops"] == "12.3450..12.3450..20"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected a workload, found none"),
        (
            ("--set", "workload.iops=1000", "array.raid=0"),
            "array.disks: no count carries the demand in IOPS after any",
        ),
        (("--set", "workload.iops=9", "machine.cores=2", "machine.sockets=4"), "at most machine.cores = 2, found 4"),
        (("--set", "workload.iops=9", "array.disks=0"), "array.disks: expected"),
        (("--set", "workload.iops=9", "db.gb=1e12"), "array.disks: no count carries db.gb today"),
        (("--set", "workload.iops=9", "path.stages=fc32"), "found 'fc32'\n"),
        (
            ("--set", *PROCESSOR, "machine.socket_capacity=2"),
            "48 are required, and machine.socket_capacity=2 has 32 (2 x 16). Use processors of more cores",
        ),
        (
            ("--set", "workload.cpu_cores=12", *HARD),
            "no count carries workload.cpu_cores today; the partition has 16 cores (license.pinned_cores)",
        ),
        (("--set", *PROCESSOR, "machine.sockets=2"), "48 are required, and machine.sockets=2 has 32 (2 x 16)"),
        (("--set", "workload.iops=9", "path.stages=hba:fc16,array:fc32"), "expected one stage to design"),
        (("--set", "workload.iops=9", "-o", "order.html"), "expected a name that ends in .toml"),
        (("--set", "workload.iops=9", "--show", "cpu"), "--machine order.toml --workload order.toml --show cpu\n"),
        (("--set", "workload.iops=9", "--against", "clovertown"), "--against cannot be combined with --design"),
    ],
)
def test_what_cannot_be_designed_is_one_line(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["size", "--design", *arguments]) == 2

    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_file_keeps_every_digit_of_what_is_bought() -> None:
    """9,000 GiB / 0.7 = 12,857.1, so 804 modules of 16 GiB = 12,864 GiB."""
    found = design(parse_settings([f"sga.mb={9000 * 1024}"]), shipped())

    assert kept_settings(found)[MEMORY] == 12_864


@pytest.mark.ci
def test_the_parts_of_two_servers_are_told_from_those_of_each() -> None:
    """Drives and ports are shared, cores and memory are in each."""
    found = designed(*SCENARIO, "workload.cpu_cores=10", "sga.mb=20000")
    table = alternatives_table(found)

    assert any(row[0] == "2 servers" for row in table.rows)
    assert "2 servers: cores, GiB in each" in table.note


@pytest.mark.usefixtures("without_alternatives")
def test_a_design_tells_how_wide_the_demand_of_its_cores_is() -> None:
    models = ("workload.cpu_model=Intel Xeon E5-2690 v4 @ 2.60GHz", "machine.cpu_model=Intel Xeon Gold 6338 @ 2.00GHz")
    found = designed("workload.cpu_cores=10", *models)

    (rest,) = part_of(CORES, found).rests
    assert rest.endswith(" cores demand by the results of both processors, of which the most count")
    assert part_of(CORES, designed("workload.cpu_cores=10", *models[:1])).rests == ()


def test_an_edition_whose_threads_are_unknown_is_not_called_too_small_for_certain() -> None:
    """Of 16 cores with a thread each 10 are 63 %, of 8 with two 125 %."""
    unmet = {}
    for more in ((), ("machine.threads_per_core=2",)):
        found = designed("workload.cpu_cores=10", *more)
        of_edition = next(one for one in found.alternatives if one.changed.get("license.product") == "se2")
        unmet[more] = of_edition.unmet[CORES]

    assert list(unmet.values()) == ["open: 16 threads", "open: 16 threads"]


@pytest.mark.ci
def test_an_edition_without_cores_that_pass_says_with_how_many_it_does_without_hyper_threading(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """8 of the 16 cores of one thread that SE2 uses are 50 %, 20 are 125 %: 8 / 0.7 = 11.4, so 12 are bought."""
    way = "12 cores with hyper-threading off (--set machine.threads_per_core=1)"
    assert f"oracle se2: {way}" in alternatives_table(designed("workload.cpu_cores=8")).note
    chosen = designed("workload.cpu_cores=8", "license.pack=oracle", "license.product=se2")
    assert f"Cores: none passes for certain with this edition (open: 16 threads); {way}" in design_notes(chosen)
    assert "hyper-threading" not in alternatives_table(designed("workload.cpu_cores=20")).note

    followed = designed("workload.cpu_cores=8", "license.product=se2", "machine.threads_per_core=1")
    assert part_of(CORES, followed).buy == 12
    assert cli.run(["size", "--design", "--set", "workload.cpu_cores=8", "license.product=se2"]) == 0
    assert "open: 16 threads" in capsys.readouterr().out


@pytest.mark.ci
def test_an_edition_of_an_older_version_ends_at_the_limits_of_that_version() -> None:
    """Standard 2022 ends at 24 cores, of which 24.2 are needed, and at a buffer pool of 128 GiB, not at that server."""
    load, edition = ("workload.cpu_cores=16.9",), ("license.pack=sql-server", "license.product=standard")
    chosen = designed(*load, "sga.mb=131073", *edition, "license.version=2022")

    assert chosen.alternatives[0].unmet == {CORES: "none: 24 cores", MEMORY: "none: 128 GiB"}
    little = designed("workload.cpu_cores=8", "sga.mb=131073", *edition, "license.version=2022").alternatives[0]
    assert (little.unmet, little.cost) == ({MEMORY: "none: 128 GiB"}, None)
    # 128 GiB / 0.7 = 182.9 GiB in modules of 16.
    assert part_of(MEMORY, designed(*load, "sga.mb=131072", *edition, "license.version=2022")).buy == 192


def test_the_cost_of_two_servers_names_the_option_of_clusters_that_it_includes() -> None:
    load = ("workload.cpu_cores=4", "license.product=ee")
    said = "2 servers: with RAC"

    assert said in alternatives_table(designed(*load)).note
    assert "with RAC" not in alternatives_table(designed(*load, "license.options=none")).note


@pytest.mark.parametrize("nodes", one_in(3, [1, 2, 3, 8]))
@pytest.mark.usefixtures("without_alternatives")
def test_each_server_of_a_cluster_has_a_port_to_the_drives(nodes: int) -> None:
    found = designed("workload.iops=1000", f"cluster.nodes={nodes}", "path.stages=hba:fc32")

    assert part_of(PORTS, found).buy == max(nodes, 2)


def licenses_of(found: Design) -> dict[str, str]:
    return {row[0]: row[-1] for row in alternatives_table(found).rows}


def test_what_another_vendor_has_no_scope_for_is_a_guest_to_it() -> None:
    soft = ("license.scope=soft", "license.host_cores=64", "machine.threads_per_core=1")
    found = designed("workload.cpu_cores=4", "license.product=ee", *soft)

    assert licenses_of(found)["as above"].startswith("$")
    assert (licenses_of(found)["oracle se2"], licenses_of(found)["postgresql"]) == ("–", "$0")
    assert "oracle se2: licenses unknown, use --set license.host_sockets=N" in alternatives_table(found).note


def test_hosts_with_fewer_cores_than_the_guest_are_named() -> None:
    """12 / 0.7 = 17.1 cores."""
    soft = ("license.product=ee", "license.scope=soft", "license.host_cores=16")
    note = alternatives_table(designed("workload.cpu_cores=12", *soft)).note

    assert "as above: assumed: hosts with 16 cores in all run a guest that shows 18, so its" in note
    assert "cores twice as fast: assumed" not in note


def test_no_more_cores_are_bought_than_a_hard_partition_has() -> None:
    """11 / 0.7 = 15.7 cores."""
    found = designed("workload.cpu_cores=11", *HARD)

    assert part_of(CORES, found).buy == 16
    assert licenses_of(found)["as above"] == "$630,800 to $1.26M"  # 8 to 16 licenses


def test_a_cloud_licenses_the_vcpus_of_the_cores_as_designed() -> None:
    """8 / 0.7 = 11.4: 12 cores of 2 threads are 24 vCPUs, 12 licenses at $78,850 each; SE2 ends at 8 vCPUs."""
    load = ("workload.cpu_cores=8", "license.scope=cloud", "license.product=ee", "machine.vcpus=16")
    found = designed(*load)
    assert {licenses_of(found)[row] for row in ("as above", "cores twice as fast")} == {"–"}
    assert licenses_of(found)["oracle se2"] == "not permitted"
    assert "vCPUs: unknown, one a core or more. Use --set machine.threads_per_core=N" in design_notes(found)
    assert "licenses unknown, use --set machine.threads_per_core=N" in alternatives_table(found).note
    assert "Designed, so not taken from what is given: machine.vcpus" in design_notes(found)

    found = designed(*load, "machine.threads_per_core=2")
    assert licenses_of(found)["as above"] == "$946,200"
    assert licenses_of(found)["cores twice as fast"] == "$473,100"
    assert licenses_of(found)["oracle se2"] == "not permitted"
    assert kept_settings(found)["machine.vcpus"] == 24
    assert "vCPUs: 24" in design_notes(found)
    assert licenses_of(designed("workload.cpu_cores=5", *load[1:3]))["oracle se2"] == "–"  # 8 vCPUs, or 16


def test_an_edition_that_the_server_is_too_large_for_is_not_permitted_whatever_its_cores() -> None:
    found = designed("workload.cpu_cores=6", "machine.sockets=4", "license.product=ee")

    assert licenses_of(found)["oracle se2"] == "not permitted"
    assert "hyper-threading" not in alternatives_table(found).note


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("license.metric=nup", "license.users=N"),
        ("machine.guest=yes", "license.host_cores=N"),
        ("license.pack=db2", "license.list_usd=N"),
    ],
)
def test_a_row_without_a_price_names_what_it_lacks(more: str, said: str) -> None:
    product = [] if "pack" in more else ["license.product=ee"]
    found = designed("workload.cpu_cores=8", *product, more)

    assert licenses_of(found)["as above"] == "–"
    assert f"as above, cores twice as fast, 2 servers: licenses unknown, use --set {said}" in (
        alternatives_table(found).note
    )


def test_each_socket_has_as_many_cores() -> None:
    """17 / 0.7 = 24.3 cores."""
    bought = [part_of(CORES, designed("workload.cpu_cores=17", f"machine.sockets={one}")).buy for one in (1, 2, 4)]

    assert bought == [25, 26, 28]


def test_licenses_are_paid_for_the_years_that_are_planned() -> None:
    licensed = ("license.pack=oracle", "license.product=ee", "machine.cores=8")
    costs = {
        more: size(parse_settings([*licensed, *more])).find("license.cost.term").title
        for more in ((), ("workload.horizon_years=5",), ("workload.horizon_years=5", "license.term_years=2"))
    }

    assert [title[:17] for title in costs.values()] == ["Cost over 3 years", "Cost over 5 years", "Cost over 2 years"]


NAMED = (
    "workload.cpu_cores=13.2",
    "machine.cpu_model=Intel Xeon Gold 6426Y",
    "workload.cpu_model=Intel Xeon Gold 6426Y",
)
NAMED += (*SCENARIO[-2:], "license.product=ee")


def test_of_a_processor_that_is_named_whole_ones_are_bought() -> None:
    """23 cores are two processors of 16, of which licenses count 32 x 0.5 = 16 at $78,850 each."""
    found = designed(*NAMED, "machine.cores_per_socket=16")
    kept = kept_settings(found)

    cores = part_of(CORES, found)
    assert (cores.counts, cores.buy, cores.step) == ({"today": 32, "last-year": 32}, 32, 16)
    assert (kept["machine.sockets"], kept["machine.cores"], kept["machine.cores_per_socket"]) == (2, 32, 16)
    cost = found.alternatives[0].cost
    assert cost is not None
    assert cost.value == pytest.approx(1_261_600)
    assert part_of(CORES, designed(*NAMED, "machine.sockets=1", "machine.cores=16")).buy == 32
    assert "Cores: 2 whole processors Intel Xeon Gold 6426Y" in design_notes(found)
    cards = size({**found.inputs, **parse_settings([f"{key}={value}" for key, value in kept.items()])}).cards
    assert next(card for card in cards if card.resource == "cpu").status == "pass"


@pytest.mark.parametrize(
    ("more", "sockets", "replaced"),
    [
        (("machine.sockets=4",), 4, ()),
        (("machine.socket_capacity=3",), 3, ()),
        (("machine.sockets=1", "machine.cores=16"), 3, (CORES, "machine.sockets")),  # of a server that is there
    ],
)
def test_sockets_that_are_given_are_kept_or_named(
    more: tuple[str, ...], sockets: int, replaced: tuple[str, ...]
) -> None:
    found = designed(*PROCESSOR, *more)

    kept = kept_settings(found)
    assert (kept["machine.sockets"], kept[CORES], found.replaced) == (sockets, 16 * sockets, replaced)


def test_without_the_cores_of_the_processor_no_sockets_are_made_up() -> None:
    found = designed(*NAMED)

    assert part_of(CORES, found).buy == 23
    assert "machine.sockets" not in kept_settings(found)
    assert "--set machine.cores_per_socket=N" in " ".join(design_notes(found))


def test_a_server_has_the_cores_that_its_hard_partition_is_pinned_to() -> None:
    settings = ("workload.cpu_cores=2", "license.scope=hard", "license.pinned_cores=8", "license.product=ee")
    found = design(parse_settings(settings), shipped())
    (cores,) = (part for part in found.parts if part.key == CORES)
    assert (cores.buy, cores.limit) == (8, "least")
