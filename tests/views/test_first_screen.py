"""The values of the first screen and of Sizing: the band, rows, the balance, and what changed."""

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from consoles import machine
from declared import declaration_of, series_of
from large_machines import made
from sizeup.model.advice import AdviceSet, Failure
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine, PathBudget, Stage
from sizeup.model.plan import Gentle, Plan, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.model.storage import Hba, Transport
from sizeup.quantity import Origin
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import KEYS
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice
from sizeup.views.band import NextStep, Number
from sizeup.views.cards.balance import balance, delivers
from sizeup.views.result.band import card_bar, changed_band, summary_band, worst_share
from sizeup.views.result.changed import changes, session_before
from sizeup.views.result.resource_rows import resource_rows, warnings_text
from sizeup.views.result.summary import Summary, summary

STEPS = (NextStep(key="w", does="Enter a workload"), NextStep(key="r", does="Measure"))


def given(**settings: str) -> AdviceSet:
    values = {key.replace("_", ".", 1): text for key, text in settings.items()}
    return size(
        described(machine(), {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in values.items()})
    )


def shown(**settings: str) -> Summary:
    return summary(machine(), None, ShownAdvice(AdviceOrigin.CURRENT, given(**settings), "", None))


def test_without_a_workload_nothing_is_judged_and_the_keys_lead_on() -> None:
    band = summary_band(shown(), STEPS, machine())

    assert (band.word, band.status, band.steps) == ("NO WORKLOAD", "acc", STEPS)
    assert band.number is not None
    assert (band.number.text, band.number.name) == ("8", "cores, 2 sockets")


@pytest.mark.parametrize(
    ("mb_s", "word", "token", "number"),
    [("1500", "FAIL", "bad", "150"), ("900", "WARN", "warn", "90"), ("400", "PASS", "ok", "40")],
)
def test_the_band_has_the_share_that_decides(mb_s: str, word: str, token: str, number: str) -> None:
    band = summary_band(shown(workload_mb_s=mb_s, capacity_mb_s="1000"), STEPS, tries="4")

    assert (band.word, band.status) == (word, token)
    assert band.number is not None
    assert (band.number.text, band.number.unit, band.number.name) == (number, "%", "of storage capacity")
    assert all(len(line) <= 80 for line in (band.sentence, band.short))
    assert band.steps[0].key == "4"


def test_what_is_assumed_is_the_next_thing_to_settle() -> None:
    """40,000 IOPS of 8 KiB are 328 MB/s; of 32 KiB they would be 1,311 MB/s of 1,000."""
    load = {"workload_iops": "40000", "workload_cpu_percent": "10", "sga_mb": "1000"}
    band = summary_band(shown(**load, capacity_mb_s="1000", capacity_iops="1e6"), STEPS, tries="4")

    assert band.word == "ASSUMED"
    assert band.steps[0].text.startswith("Settle what is assumed: a block size of 8 KiB by default")


def test_a_later_year_that_is_worse_is_the_number() -> None:
    found = given(workload_cpu_percent="50", workload_growth_percent="20", workload_horizon_years="3")
    card = next(card for card in found.cards if card.resource == "cpu")
    share, when = worst_share(card)
    bar = card_bar(card)

    assert (round(share or 0, 3), when) == (round(0.5 * 1.2**3, 3), " in 3 years")
    assert bar is not None
    assert (bar.best, bar.worst, bar.last_year) == (card.share, card.share, card.last_year)


def test_an_outage_lies_beyond_the_bar() -> None:
    card = next(card for card in given(workload_cpu_percent="50").cards if card.resource == "cpu")
    bar = card_bar(replace(card, failures=(Failure("the only path", None),)))

    assert bar is not None
    assert bar.n_plus_one == math.inf


def test_a_change_shows_the_verdict_before_it_and_none_where_it_is_the_same() -> None:
    before = given(workload_mb_s="1500", capacity_mb_s="1000")
    after = shown(workload_mb_s="400", capacity_mb_s="1000")

    assert changed_band(summary_band(after, STEPS), before.cards).before == ("FAIL", "bad", "150 %")
    assert changed_band(summary_band(after, STEPS), after.given.cards).before is None


def test_rows_have_health_until_something_is_judged() -> None:
    finding = Finding("memory.x", Severity.WARNING, "t", (), "c", "r", ("memory",))
    found = shown()
    health = {row.resource: row for row in resource_rows(found.cards, [finding], balance(machine()), machine())}
    judged = {row.resource: row for row in resource_rows(shown(workload_cpu_percent="97").cards, [], None, machine())}

    assert (health["memory"].status, health["memory"].token) == ("1 WARN", "warn")
    assert (health["cpu"].status, health["cpu"].delivers) == ("ok", "21.3 GHz in all")
    assert (judged["cpu"].status, judged["cpu"].used) == ("WARN", "97 %")
    assert judged["memory"].status == "no demand"
    assert "clock" in health
    assert "clock" not in judged
    assert warnings_text([finding, finding]) == "2 WARN"


@pytest.mark.parametrize("name", ["io.commit.validity", "nvme.failing", "mount.device-gone", "storage.scheduler"])
def test_storage_is_not_healthy_beside_a_finding_on_it(name: str) -> None:
    finding = Finding(name, Severity.WARNING, "Something of the storage", (), "", "")
    rows = {row.resource: row for row in resource_rows(shown().cards, [finding], balance(machine()), machine())}

    assert rows["storage"].status == "1 WARN"


def test_what_was_not_detected_is_not_called_healthy() -> None:
    bare = machine(nics=())
    rows = {row.resource: row for row in resource_rows(summary(bare, None, None).cards, [], balance(bare), bare)}

    assert (rows["network"].status, rows["network"].token) == ("unknown", "")
    assert rows["memory"].status == "ok"


def test_equally_grave_findings_come_in_the_order_of_what_they_decide() -> None:
    grave = [
        Finding(f"{area}.broken", Severity.CRITICAL, area, (), "", "") for area in ("bond", "cpu", "memory", "nvme")
    ]
    found = machine(findings=(Finding("memory.low", Severity.WARNING, "low", (), "", ""), *grave))
    busy = shown(workload_cpu_percent="97").given

    without = summary(found, None, None)
    judged = summary(found, None, ShownAdvice(AdviceOrigin.CURRENT, busy, "", None))
    assert [one.title for _, one in without.findings] == ["nvme", "cpu", "memory", "bond", "low"]
    assert [one.title for _, one in judged.findings][:1] == ["cpu"]


def test_the_balance_is_that_of_the_rule_of_thumb() -> None:
    ports = tuple(Hba(f"host{n}", Transport.FC, state="Online", speed_bits_per_second=16 * 10**9) for n in range(2))
    found = balance(machine(hbas=ports))

    assert found is not None
    assert found.typical == pytest.approx(12.5e6 * 8 * 2.66)
    assert (found.least, found.most) == pytest.approx((8 * 10.5e6, 8 * 190e6))
    assert {one.resource: one.bytes_per_second for one in found.supplies}["network"] == 10e9 / 8
    assert balance(None) is None
    assert balance(machine(base_clock=None)) is None


def test_the_widest_path_is_named_by_its_own_kind_and_the_network_has_what_detect_says() -> None:
    ports = (
        Hba("host0", Transport.FC, state="Online", speed_bits_per_second=16 * 10**9),
        Hba("host11", Transport.SAS, state="Online"),
    )
    budgets = tuple(
        PathBudget(device, None, None, (Stage("port", device, rate, "link"),), rate, f"port {device}")
        for device, rate in (("host0", 1.6e9), ("host11", 3.6e9), (machine().ports[0].name, 1.1e9))
    )
    found = balance(machine(hbas=ports, budgets=budgets))

    assert found is not None
    assert [(one.title, one.bytes_per_second) for one in found.supplies if one.resource != "memory"] == [
        ("SAS", 3.6e9), ("Fibre Channel", 1.6e9), ("Network", 1.1e9),
    ]  # fmt: skip
    assert found.sentence().startswith("SAS feeds")
    assert (delivers(found, "storage"), delivers(found, "network")) == ("3.6 GB/s, SAS", "1.1 GB/s")


def test_critical_findings_are_not_called_warnings() -> None:
    grave = [Finding(f"md.{n}", Severity.CRITICAL, "degraded", (), "", "") for n in range(2)]
    found = machine(findings=(*grave, Finding("memory.low", Severity.WARNING, "low", (), "", "")))
    band = summary_band(summary(found, None, None), STEPS, found)

    assert band.sentence == "This server has 2 critical findings and 1 warning; no measurements yet."
    assert band.short == "2 critical findings and 1 warning; no measurements yet."
    assert band.number == Number("2", "", "critical findings", "bad")
    assert band.steps == (NextStep("Mend 2 critical findings first: degraded.", ""), STEPS[0])


def test_a_clock_of_many_cores_is_written_out() -> None:
    large = replace(made(8, 128, 8, 32 << 20), base_clock=machine().base_clock)
    shown_of = summary(large, None, None)
    (row,) = (row for row in resource_rows(shown_of.cards, [], None, large) if row.resource == "cpu")

    assert large.base_clock is not None
    assert row.delivers == f"{(large.core_count or 0) * large.base_clock.value / 1e9:,.0f} GHz in all"


@pytest.mark.parametrize(
    ("gentle", "words"),
    [
        (None, "feeds a typical load 3 times over"),
        (Gentle(), "feeds a typical load at least 3 times over"),
    ],
)
def test_what_a_gentle_run_measured_is_the_least_that_the_storage_feeds(gentle: Gentle | None, words: str) -> None:
    plan = Step("io.direct", "io.direct", "Direct I/O", {"path": "/dev/sda"}, 1.0, 2.0, gentle=gentle)
    run = StepRun(plan, "sizeup", series_of("io.direct"), "curve", 0, declaration=declaration_of("io.direct"))
    run.outcome = Outcome(Status.OK)
    for depth in (8, 32):
        at: Coordinates = {"workload": "dss-rand", "queue_depth": depth, "path": "/dev/sda"}
        run.points[point_key("rate", at)] = Point("rate", at, estimate=Estimate("rate", at, 800e6))
    header = SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z")
    session = Session(header, plans=[Plan("custom", (plan,))], steps={"io.direct": run})
    found = balance(machine(), session)

    assert found is not None
    assert found.sentence() == f"Storage {words}"


def test_what_changed_is_of_the_session_before_of_the_same_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    header = SessionRecord(format=1, id="1", tool="sizeup", host="db01", started="2026-11-20T00:00:00Z")
    before = Session(header, machine=machine())
    now = machine(platform=replace(machine().platform, kernel="6.9.9"))

    assert ("kernel", "6.1.0", "6.9.9") in changes(before, now, None)
    assert changes(before, machine(), None) == ()
    assert session_before("db01", "9", "") is None


def test_a_workload_without_a_verdict_asks_for_measurements_and_not_for_a_workload() -> None:
    band = summary_band(shown(workload_iops="20000"), STEPS, machine())

    assert band.word in ("NO VERDICT", "NOT CERTAIN")
    assert STEPS[0] not in band.steps
    recorded = summary_band(shown(workload_iops="20000"), STEPS[:1], machine(), tries="4")
    assert recorded.steps == (NextStep("Measure storage, or enter the capacity.", "4", "leads to the inputs"),)


def test_a_warning_by_what_is_certain_says_the_share_of_it() -> None:
    """350 of 512 GiB are 68 %, and 88 % of the 400 that are available."""
    half = Machine(memory_bytes=512 << 30, memory_available_bytes=400 << 30)
    found = size(described(half, {"sga.mb": KEYS["sga.mb"].parse("350GiB", Origin.USER, "--set")}))
    band = summary_band(summary(half, None, ShownAdvice(AdviceOrigin.CURRENT, found, "", None)), STEPS)

    assert band.sentence == "Memory reaches 68 %, at worst 88 %: 350 GiB of 512 GiB today."


def test_ends_that_read_alike_stand_once() -> None:
    band = summary_band(shown(workload_mb_s="163.8", path_bandwidth_mb_s="1830"), STEPS, machine())

    assert band.sentence == "Storage is not certain: 163.8 MB/s take 9 % of its capacity."
