"""The cards: what was detected, measured and judged of each resource, and the table that every screen draws."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from consoles import machine
from declared import declaration_of, series_of
from sizeup.model.advice import AdviceSet, Card
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.plan import Better, Declaration, Series, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.model.storage import Hba, Transport
from sizeup.quantity import Origin, Quantity
from sizeup.session.records import SessionRecord
from sizeup.session.store import StoredSession
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import KEYS
from sizeup.text import cell_len
from sizeup.views.cards.cards import CardView, card_views, cards_data
from sizeup.views.cards.measured_texts import MeasuredTexts
from sizeup.views.cards.table import WIDE, card_table, fitted
from sizeup.views.result.sessions import listed_figures
from sizeup.views.result.verdict import verdict_text


def step(probe: str, *estimates: Estimate, status: Status | None = Status.OK, **settings: Any) -> StepRun:
    """A step of a probe that is installed, with these results."""
    plan = Step(f"{probe}.1", probe, f"Step of {probe}", settings, 1.0, 2.0)
    run = StepRun(plan, "sizeup 0", series_of(probe), "curve", 0, declaration=declaration_of(probe))
    run.outcome = None if status is None else Outcome(status)
    for one in estimates:
        run.points[point_key(one.series, one.at)] = Point(one.series, one.at, estimate=one)
    return run


def session(*runs: StepRun) -> Session:
    header = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")
    return Session(header, steps={run.step.id: run for run in runs})


def at(depth: int, **more: str) -> Coordinates:
    return {"workload": "oltp-read", "queue_depth": depth, **more}


RAMP = (
    *(Estimate("iops", at(depth), iops) for depth, iops in ((1, 9e3), (8, 60e3), (32, 91.2e3), (64, 90e3))),
    *(Estimate("latency-p99", at(depth, direction="read"), ns) for depth, ns in ((8, 0.2e6), (32, 0.9e6), (64, 2e6))),
)


def failed(part: str, reason: str) -> tuple[Estimate, Estimate]:
    """The verdict of a probe whose check failed."""
    whole = Estimate("validity", {"part": "all"}, 0.0, extra={"reasons": f"{part}: {reason}"})
    return Estimate("validity", {"part": part}, 0.0), whole


FAILED = failed("steady", "throughput drifted 18 %")
CACHED = failed("direct", "only 3 % of the I/O were direct")


def view(resource: str, *runs: StepRun, found: Machine | None = None) -> CardView:
    return next(one for one in card_views(AdviceSet(), found, session(*runs)) if one.resource == resource)


def sized(**settings: str) -> AdviceSet:
    said = {name.replace("__", "."): text for name, text in settings.items()}
    return size(described(machine(), {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in said.items()}))


def test_the_best_valid_figure_stands_with_its_load_and_its_latency() -> None:
    found = view("storage", step("io.direct", *RAMP))

    assert found.found.texts == ("91.2k IOPS at QD 32", "p99 900 us")
    assert found.found.valid
    assert found.found.steps == ("io.direct.1",)


@pytest.mark.parametrize(
    ("failed", "text", "said"),
    [(FAILED, "91.2k IOPS, uncertain", "throughput was not steady"), (CACHED, "not valid", "bypass")],
)
def test_an_uncertain_figure_is_shown_and_what_is_no_evidence_is_not(
    failed: tuple[Estimate, Estimate], text: str, said: str
) -> None:
    found = view("storage", step("io.direct", *RAMP, *failed))

    assert (found.found.texts, found.found.valid) == ((text,), False)
    assert any(said in note for note in found.found.notes)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status.FAILED, "failed"),
        (Status.TIMED_OUT, "timed out"),
        (Status.CANCELED, "canceled"),
        (None, "no result yet"),
    ],
)
def test_a_step_that_did_not_finish_shows_no_figure(status: Status | None, text: str) -> None:
    assert view("storage", step("io.direct", *RAMP, status=status)).found.texts == (text,)


def test_a_headline_that_did_not_converge_is_not_a_dash() -> None:
    settled = Estimate("dram-thp-level", {"level": "L1"}, 0.9)
    moving = Estimate("dram-thp-level", {"level": "DRAM"}, 497.0, converged=False)
    found = view("memory", step("memory.latency", settled, moving))

    assert found.found.texts == ("497 ns, not converged",)
    (note,) = found.found.notes
    assert note.startswith("Step of memory.latency: 1 of 2 figures did not converge. Run ")
    assert note.endswith("on an idle machine, with more time")


def test_a_valid_step_counts_beside_a_failed_one_which_is_still_named() -> None:
    second = step("io.direct", *RAMP, status=Status.CRASHED)
    second.step = replace(second.step, id="io.direct.2")
    found = view("storage", step("io.direct", *RAMP), second)

    assert found.found.texts[0] == "91.2k IOPS at QD 32"
    assert any("crashed" in note for note in found.found.notes)


def test_the_clock_shows_the_method_that_its_series_leads_with() -> None:
    costs = (("gettimeofday", 25.0), ("clock_gettime-monotonic", 22.0), ("rdtsc", 9.0))
    found = view("clock", step("clock.cost", *(Estimate("cost", {"method": name}, cost) for name, cost in costs)))

    assert found.found.texts == ("22 ns per read",)

    open_lead = [Estimate("cost", {"method": name}, cost, converged=cost != 22.0) for name, cost in costs]
    found = view("clock", step("clock.cost", *open_lead))
    assert (found.found.texts, found.found.valid) == (("22 ns per read, not converged",), False)

    found = view("clock", step("clock.cost", open_lead[2]))
    assert found.found.texts == ("9 ns per read (rdtsc)",)


def test_of_runs_that_did_not_converge_the_storage_shows_the_one_that_sizing_names() -> None:
    runs = [step("io.direct", *(replace(one, converged=False) for one in ramp)) for ramp in (RAMP, RAMP[:1])]
    runs[1].step = replace(runs[1].step, id="io.direct.2")

    assert view("storage", *runs).found.texts == ("91.2k IOPS, not converged",)


@pytest.mark.parametrize(
    ("settings", "ends"),
    [
        ({"capacity__iops": "90000"}, "capacity by its links, not measured"),
        ({"capacity__iops": "9000"}, "capacity as entered"),
        ({"path__stages": "nic:eth1*1", "capacity__iops": "90000"}, "capacity as entered"),
    ],
)
def test_the_basis_is_of_what_decides(settings: dict[str, str], ends: str) -> None:
    typed = {key.replace("__", "."): text for key, text in settings.items()}
    given = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in (typed | DEMAND).items()}
    link = Quantity(118e6, "bytes/s", Origin.DETECTED, "eth0")
    sizing = size(described(machine(), {"path.bandwidth_mb_s": link, **given}))
    found = verdict_text(sizing, card_views(sizing, machine()))

    assert found.basis.endswith(ends)


DEMAND = {"workload.iops": "20000", "workload.read_percent": "70", "workload.io_kib": "8"}


def test_memory_shows_local_and_remote_latency() -> None:
    cells = ((0, 0, 92.0), (0, 1, 178.0), (1, 0, 190.0), (1, 1, 95.0))
    estimates = [Estimate("latency", {"cpu_node": cpu, "memory_node": node}, value) for cpu, node, value in cells]
    found = view("memory", step("memory.numa", *estimates))

    assert found.found.texts == ("92 ns local", "190 ns remote")


def test_a_figure_of_one_card_is_not_that_of_another() -> None:
    run = step("memory.core-to-core", Estimate("handoff", {"cpu": 0, "partner": 1}, 57.0))

    assert view("cpu", run).found.texts == ("core to core 57 ns",)
    assert view("memory", run).found.texts == ()


def test_a_probe_that_declares_no_quantity_shows_its_own_headline_while_it_is_valid() -> None:
    series = {"rate": Series("rate", "Rate", "bytes/s", Better.HIGHER)}
    run = step("memory.latency", Estimate("rate", {}, 3e9))
    run = replace(run, series=series, declaration=Declaration(card="network"))

    assert view("network", run).found.texts == ("3 GB/s",)
    assert view("network", replace(run, outcome=Outcome(Status.FAILED))).found.texts == ("failed",)


def test_without_a_demand_no_card_passes() -> None:
    views = card_views(sized(), machine(), session(step("io.direct", *RAMP)))

    assert [one.resource for one in views] == ["storage", "cpu", "memory", "network", "clock", "license"]
    assert {one.status for one in views if one.resource != "license"} == {"–"}
    assert all(one.judged.share is None for one in views)


def test_cards_are_worst_first_and_a_status_of_a_stranger_is_a_dash() -> None:
    given = AdviceSet(
        cards=(
            Card("cpu", "fail", share=1.5),
            Card("storage", "splendid", share=0.1),
            Card("license", "assumed"),
            Card("memory", "warn", share=0.8),
        )
    )
    views = card_views(given, None)

    assert [(one.resource, one.status) for one in views] == [
        ("cpu", "FAIL"), ("memory", "WARN"), ("storage", "–"), ("network", "–"), ("clock", "–"),
        ("license", "ASSUMED"),
    ]  # fmt: skip


def test_ports_that_are_down_are_counted() -> None:
    ports = (
        Hba("host4", Transport.FC, state="Linkdown"),
        Hba("host3", Transport.FC, state="Online", speed_bits_per_second=8_000_000_000),
    )
    found = view("storage", found=machine(hbas=ports))

    assert found.detected[:2] == ("1 of 2 FC 8 Gb/s up", "1 SCSI disk")


JUDGED = sized(
    workload__mb_s="1048", capacity__mb_s="800", workload__cpu_percent="34", workload__growth_percent="20",
    workload__horizon_years="3",
)  # fmt: skip


def test_the_table_has_n_plus_one_and_the_last_year_where_there_is_room() -> None:
    views = card_views(JUDGED, machine(), session(step("io.direct", *RAMP)))
    narrow, wide = card_table(views, 80), card_table(views, WIDE)

    assert narrow[0].split() == ["Capacity", "Demand", "Used", "Year", "3", "Status"]
    assert wide[0].split() == ["Capacity", "Demand", "Used", "N+1", "Year", "3", "Status"]
    assert narrow[1].startswith("Storage  800 MB/s (storage) entered ")
    assert narrow[1].endswith("131 %   226 %  FAIL")
    assert "226 %" in wide[1]
    assert "  ████████████│█  " in wide[1]


@pytest.mark.parametrize("width", [34, 52, 60, 62, 70, 77, 80, 109])
def test_the_share_after_a_failure_stands_in_the_table_at_every_width(width: int) -> None:
    paths = {"path__stages": "hba:fc16*2", "path__policy": "active-active"}
    given = sized(workload__mb_s="1000", capacity__mb_s="9000", **paths)
    views = card_views(given, machine(), session(step("io.direct", *RAMP)))
    table = card_table(views, width)
    row = next(line for line in table if line.startswith("Storage"))

    assert table[0].split()[-3:] == ["Used", "N+1", "Status"]
    assert row.replace(" %", "%").split()[-3:] == ["31%", "62%", "PASS"]
    assert all(cell_len(line) <= width for line in table)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_range_of_cores_keeps_its_unit(width: int) -> None:
    same = {"workload__cpu_model": "Xeon Gold 6326", "machine__cpu_model": "Xeon Gold 6326"}
    given = sized(workload__cpu_cores="12.3", workload__spread_cores="24.6", machine__cores="32", **same)

    assert any("12.3 to 24.6 cores  " in line for line in card_table(card_views(given, machine()), width))


def test_without_a_failure_that_is_known_its_column_leaves_the_room_to_the_others() -> None:
    assert "N+1" not in card_table(card_views(sized(workload__mb_s="100", capacity__mb_s="800"), machine()), 80)[0]


@pytest.mark.parametrize("width", [25, 61, 62, 72, 80, 100, 109, 110, 160, 200])
def test_no_line_is_wider_than_the_screen_and_all_statuses_stand_in_one_column(width: int) -> None:
    long = ("a rather long text of what was found", "and one more", "and yet another")
    views = [
        CardView(replace(one.judged, demand="123,456,789 IOPS in all"), long, MeasuredTexts(long))
        for one in card_views(JUDGED, None)
    ]
    table = card_table(views, width)

    assert all(cell_len(line) <= width for line in table)
    at = table[0].index("Status")
    assert all(line[at - 1] == " " != line[at] for line in table[1 : 1 + len(views)])


def test_of_parts_the_last_go_first_and_none_is_half_shown() -> None:
    assert fitted(("91k IOPS at QD 32", "p99 0.9 ms", "1.2 GB/s"), 30) == "91k IOPS at QD 32, p99 0.9 ms"
    assert fitted(("91k IOPS at QD 32", "p99 0.9 ms"), 20) == "91k IOPS at QD 32"
    assert fitted(("91k IOPS at QD 32",), 8) == "91k IOP…"
    assert fitted((), 8) == "–"


def test_data_has_null_for_what_is_not_judged() -> None:
    data = {one["card"]: one for one in cards_data(card_views(JUDGED, machine()))}

    assert (data["storage"]["status"], data["storage"]["used"]) == ("FAIL", pytest.approx(1.31))
    assert (data["clock"]["status"], data["clock"]["used"]) == (None, None)


def test_the_verdict_names_what_decides_what_lacks_and_what_it_rests_on() -> None:
    found = verdict_text(JUDGED, card_views(JUDGED, machine()))

    assert found.status == "FAIL"
    assert found.statement == next(card.statement for card in JUDGED.cards if card.resource == "storage")
    assert found.fix == "Provide at least 1,811 MB/s (226 % at worst, limit 100 %)"
    assert found.basis == "workload of your inputs; +20 % a year: 226 % in year 3; capacity as entered"


@pytest.mark.parametrize(
    ("used", "fix"),
    [("72.8", "Provide at least 9 cores (limit 70 %)"), ("97", "Provide at least 12 cores (limit 70 %)")],
)
def test_the_capacity_that_passes_is_named_with_its_limit(used: str, fix: str) -> None:
    given = sized(workload__cpu_percent=used)

    assert verdict_text(given, card_views(given, machine())).fix == fix


def test_the_fix_of_too_few_cores_is_no_setting_and_of_an_edition_no_hardware() -> None:
    found = [
        Finding(name, Severity.WARNING, "t", (), "c", f"Mend {name}.") for name in ("cpu.microcode", "cpu.offline")
    ]
    few = sized(workload__cpu_percent="97")
    se2 = sized(workload__cpu_percent="97", machine__cores="64", license__product="se2")
    barred = sized(license__product="se2", machine__socket_capacity="4")

    fixes = [
        verdict_text(few, card_views(few, None), found[:1]).fix,
        verdict_text(few, card_views(few, None), found).fix,
        *(verdict_text(one, card_views(one, None), found[:1]).fix for one in (se2, barred)),
    ]
    assert fixes[0].startswith("Provide at least 12 cores")
    assert fixes[1:] == ["Mend cpu.offline.", *["Choose another edition"] * 2]


def test_the_fix_is_what_is_down_else_what_a_finding_on_the_resource_asks_for() -> None:
    ports = (
        Hba("host4", Transport.FC, state="Linkdown"),
        Hba("host3", Transport.FC, state="Online", speed_bits_per_second=8_000_000_000),
    )
    workload = {key: KEYS[key].parse("2000", Origin.USER, "--set") for key in ("workload.mb_s",)}
    found = machine(hbas=ports)
    down = size(described(found, {**workload, "capacity.mb_s": KEYS["capacity.mb_s"].parse("800", Origin.USER, "x")}))
    finding = Finding("fc.uneven", Severity.WARNING, "t", (), "c", "Replace the cable.", quantity="storage.bandwidth")
    other = Finding("numa.x", Severity.CRITICAL, "t", (), "c", "Move the memory.")

    assert verdict_text(down, card_views(down, found), (finding,)).fix == "Bring up host4 (Linkdown)"
    assert verdict_text(JUDGED, card_views(JUDGED, None), (other, finding)).fix == "Replace the cable."


def test_the_basis_says_where_the_capacity_comes_from() -> None:
    rate = [
        Estimate("rate", {"workload": "dss-rand", "queue_depth": depth, "path": "/dev/sda"}, 800e6) for depth in (8, 32)
    ]
    run = step("io.direct", *rate, path="/dev/sda")
    found = machine()
    known = measured(replace(session(run), machine=found))
    workload = {"workload.mb_s": KEYS["workload.mb_s"].parse("500", Origin.USER, "--set")}
    given = size(described(found, {**known, **workload}))

    assert verdict_text(given, card_views(given, found)).basis == "workload of your inputs; capacity measured"


def test_without_a_workload_the_verdict_says_so() -> None:
    nothing = verdict_text(sized(), card_views(sized(), machine()), actions=("Press w.",))
    measured = verdict_text(sized(), card_views(sized(), machine(), session(step("io.direct", *RAMP))))

    assert (nothing.status, nothing.statement) == ("NO VERDICT YET", "No workload and nothing measured. Press w.")
    assert measured.statement == "No workload."


def test_without_a_workload_a_measurement_that_is_not_valid_is_said() -> None:
    void = verdict_text(sized(), card_views(sized(), machine(), session(step("io.direct", *RAMP, *FAILED))))
    refused = verdict_text(sized(), card_views(sized(), machine(), session(step("io.direct", status=Status.REFUSED))))

    assert void.statement == "No workload; storage measured, but not valid."
    assert refused.statement == "No workload and nothing measured."


def test_a_verdict_that_rests_on_another_resource_names_it() -> None:
    given = sized(
        workload__mb_s="100", capacity__mb_s="800", machine__memory_gib="2048", db__gb="1000", capacity__gb="9000",
        workload__rules_of_thumb="yes",
    )  # fmt: skip
    found = verdict_text(given, card_views(given, machine()))

    assert found.status == "ASSUMED"
    assert found.statement.startswith("Storage: 100 MB/s ")
    assert found.statement.endswith("; memory assumed")


def test_an_outage_stands_in_every_table_and_the_verdict_asks_for_a_second() -> None:
    given = sized(
        workload__mb_s="300", path__stages="hba:fc8*1", workload__growth_percent="5", workload__horizon_years="2"
    )
    views = card_views(given, machine())
    row = next(line for line in card_table(views, WIDE) if line.startswith("Paths"))

    assert "outage" in row.split()
    assert cards_data(views)[0]["outage"] is True
    assert card_table(views, 40)[1 + len(views)].startswith("Year 2    Storage ")
    found = verdict_text(given, views)
    then = "19 %, 38 % after a failure, 21 % in year 2, 41 % after a failure in year 2"
    assert (found.status, found.fix) == ("WARN", f"1 more 8GFC port (hba), then {then}")
    recorded = verdict_text(given.recorded(), views)
    assert recorded.fix == "Add a second: the loss of the only path of hba is an outage"


def test_the_fix_of_a_failure_in_the_last_year_counts_it() -> None:
    given = sized(
        workload__mb_s="500", path__stages="hba:fc8*2", path__policy="active-active", workload__growth_percent="20",
        workload__horizon_years="3",
    )  # fmt: skip

    recorded = given.recorded()
    assert (
        verdict_text(recorded, card_views(recorded, machine())).fix
        == "Provide at least 1,728 MB/s (108 % at worst, limit 100 %)"
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_without_a_demand_no_column_is_full_of_dashes(width: int) -> None:
    views = card_views(AdviceSet(), machine(), session(step("io.direct", *RAMP)))
    table = card_table(views, width)

    assert "Demand" not in table[0]
    assert "Used" not in table[0]
    assert "91.2k IOPS" in "".join(table[1 : 1 + len(views)])
    assert all(cell_len(line) <= width for line in table)


@pytest.mark.parametrize("width", [25, 40, 80, 109])
def test_what_has_no_column_of_its_own_has_a_line_below(width: int) -> None:
    views = card_views(JUDGED, machine())
    table = card_table(views, width)

    assert "Year" in table[0] or any(line.startswith("Year 3") for line in table[1 + len(views) :])
    assert all(cell_len(line) <= width for line in table)


def test_a_much_higher_figure_that_did_not_converge_stands_beside_the_valid_one() -> None:
    low = Estimate("iops", {"workload": "oltp-read", "queue_depth": 1}, 12_500.0)
    high = Estimate("iops", {"workload": "oltp-read", "queue_depth": 64}, 87_600.0, converged=False)

    assert view("storage", step("io.direct", low, high)).found.texts == ("12.5k IOPS at QD 1", "87.6k not converged")


@pytest.mark.parametrize(
    ("estimates", "listed"),
    [
        ([Estimate("iops", {"workload": "oltp-read", "queue_depth": 32}, 91_200.0)], "91.2k"),
        ([Estimate("iops", {"workload": "oltp-read", "queue_depth": 32}, 91_200.0, converged=False)], "91.2k?"),
        ([*RAMP, *FAILED], "91.2k?"),
        ([*RAMP, Estimate("iops", at(128), 130e3, converged=False)], "130k?"),
        ([*RAMP, Estimate("iops", at(128), 105e3, converged=False)], "91.2k"),
        ([*RAMP, *CACHED], "!"),
        ([], ""),
    ],
)
def test_a_list_of_sessions_has_a_sign_for_each_state_of_a_figure(estimates: list[Estimate], listed: str) -> None:
    found = session(step("io.direct", *estimates)) if estimates else session()
    entry = StoredSession(Path("a.sizeup.jsonl"), 1, 0, found)

    assert listed_figures(entry).iops == listed
    assert listed_figures(entry).certain is listed.endswith("k")


def test_a_capacity_that_was_entered_stands_before_what_was_detected() -> None:
    texts = {"machine.memory_gib": "256", "sga.mb": "50000", "workload.cpu_percent": "50"}
    inputs = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in texts.items()}
    found = {view.resource: view.detected for view in card_views(size(described(machine(), inputs)), machine())}

    assert found["memory"][0] == "256 GiB entered"
    assert len(found["memory"]) > 1
    assert not any("entered" in text for text in found["cpu"])  # of which the demand alone was entered
