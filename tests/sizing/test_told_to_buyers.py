"""What a buyer must not miss: broken parts beside a pass, minimums, versions, what is missing, no redo."""

from datetime import date

import pytest
from msgspec.structs import replace

from sizeup.cli import run
from sizeup.model.advice import AdviceSet
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.storage import Hba, Transport
from sizeup.quantity import Origin
from sizeup.session.records import SessionRecord, StatedInput
from sizeup.session.value import Session
from sizeup.sizing.advise import Sizing
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.cost import price_warnings
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice, recomputed_label
from sizeup.views.cards.cards import card_views
from sizeup.views.cards.detected import detected_texts
from sizeup.views.document.document import document
from sizeup.views.inputs.advice import confidence_text
from sizeup.views.result.answer import answer_lines
from sizeup.views.result.band import summary_band
from sizeup.views.result.basis import basis_text
from sizeup.views.result.summary import Summary
from sizeup.views.result.verdict import verdict_text
from sizing.license_cases import RULES, XEON, found, sized

SERVER = ("machine.sockets=2", "machine.socket_capacity=2", "machine.cores=32", "machine.threads_per_core=2", XEON)
WORKLOAD = ("workload.iops=1000", "workload.read_percent=70", "capacity.iops=9000", "machine.cores=8")
_TODAY = date(2026, 11, 28)
BROKEN = (
    Finding("memory.uncorrectable", Severity.CRITICAL, "Memory had 5 uncorrectable errors", (), "", ""),
    Finding("storage.degraded-array", Severity.CRITICAL, "/dev/md5 is degraded", (), "", ""),
    Finding("cpu.governor", Severity.WARNING, "The governor is powersave", (), "", ""),
)


def shown(sizing: Sizing, *findings: Finding) -> Summary:
    views = card_views(sizing, None)
    return Summary(verdict_text(sizing, views, findings), views, tuple((one.id, one) for one in findings), sizing)


def test_a_pass_names_what_is_not_judged_and_leads_to_what_is_broken() -> None:
    sizing = sized(*WORKLOAD)
    bands = [summary_band(shown(sizing, *findings), ()) for findings in ((), BROKEN[2:], BROKEN)]

    assert [band.steps[0].text for band in bands] == [
        "Enter the demand on CPU and memory.",
        "Enter the demand on CPU and memory.",
        "Mend 2 critical findings first: Memory had 5 uncorrectable errors.",
    ]
    assert all(band.sentence.endswith(" Not judged: CPU, memory.") for band in bands)


def test_the_text_has_one_line_of_critical_findings() -> None:
    sizing = sized(*WORKLOAD)

    lines = answer_lines(sizing, findings=BROKEN)
    assert [line for line in lines if line.startswith("Critical")] == [
        "Critical /dev/md5 is degraded (and 1 more)"  # the storage decides
    ]
    assert not [line for line in answer_lines(sizing, findings=BROKEN[2:]) if line.startswith("Critical")]


def test_a_badge_has_the_word_of_the_table() -> None:
    sizing = sized("workload.iops=20000", "capacity.iops=9000")
    assumed = replace(sizing, cards=tuple(replace(one, assumed=("assumed: reads",)) for one in sizing.cards))
    storage = next(view for view in card_views(assumed, None) if view.resource == "storage")

    assert summary_band(shown(assumed), ()).word == storage.label == "FAIL (assumed)"


@pytest.mark.parametrize(
    ("speeds", "text"),
    [((16, 16), "2 FC 16 Gb/s"), ((16, 8), "2 FC 8 Gb/s and 16 Gb/s"), ((16, None), "2 FC unknown and 16 Gb/s")],
)
def test_ports_of_different_speeds_are_named_with_each(speeds: tuple[int | None, ...], text: str) -> None:
    rates = [None if speed is None else speed * 10**9 for speed in speeds]
    ports = (Hba(f"host{n}", Transport.FC, state="Online", speed_bits_per_second=of) for n, of in enumerate(rates))

    assert detected_texts(Machine(hbas=tuple(ports)), "storage") == (text,)


@pytest.mark.parametrize(("version", "warned"), [((), True), (("2025",), True), (("2022",), False)])
def test_a_note_on_the_price_of_a_version_is_about_that_version(version: tuple[str, ...], *, warned: bool) -> None:
    settings = [f"license.version={one}" for one in version]
    sizing = sized(*SERVER, "license.pack=sql-server", "license.product=enterprise", *settings)
    texts = list(price_warnings(sizing.inputs, RULES, sizing.advice, _TODAY))

    assert any("version 2025" in text for text in texts) is warned


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (("license.product=ee", "license.users=10"), "400 users required by the minimum of 25 a processor"),
        (("license.product=ee", "license.users=900"), "900 users required"),
        (("license.product=se2", "license.users=3"), "10 users required by the minimum of 10 a server"),
        (("license.product=se2", "license.users=100"), "100 users required"),
    ],
)
def test_a_minimum_of_users_is_named_and_nup_is_that_of_the_edition(settings: tuple[str, ...], sentence: str) -> None:
    units = found(sized(*SERVER, "license.metric=nup", *settings), "license.units")

    assert units.verdict.endswith(f": {sentence}")


@pytest.mark.parametrize("asked", ["license.units", "license.cost.term"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((*SERVER[2:], "machine.sockets=8", "license.product=se2"), "only on servers built for at most two sockets"),
        (("machine.cores=8", "machine.guest=yes", "license.product=ee"), "--set license.host_cores=N"),
    ],
)
def test_a_count_or_cost_that_there_is_not_says_why(
    settings: tuple[str, ...], said: str, asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["size", "--machine", "none", "--set", *settings, "--show", asked, "license.allowed"])
    assert said in capsys.readouterr().out


def test_no_redo_is_a_statement() -> None:
    sizing = sized(*WORKLOAD, "redo.mb_s=0")

    assert "no redo" in basis_text(sizing.inputs)
    assert not [one.id for one in sizing.advice if one.id.startswith("redo.")]
    assert not any("redo is not part of the demand" in note for card in sizing.cards for note in card.notes)
    assert KEYS["redo.mb_s"].parse("0", Origin.USER, "--set").value == 0


def test_reads_and_writes_that_are_given_are_the_mix_of_every_answer() -> None:
    drives = ("array.disks=24", "array.raid=10", "array.drive_iops=4000")
    given = ("workload.read_iops=1000", "workload.write_iops=9000")

    assert " at 10 % reads" in found(sized(*drives, *given), "io.capacity.iops").verdict
    assert " at 70 % reads" in found(sized(*drives, "workload.iops=10000"), "io.capacity.iops").verdict
    assert sized(*drives, *given).inputs["workload.read_percent"].origin is Origin.USER


def test_answers_that_differ_by_their_inputs_alone_are_not_counted() -> None:
    before, after = sized(*WORKLOAD), sized(*WORKLOAD, "redo.mb_s=9")

    assert recomputed_label(after, before).endswith(", as when it was recorded.")
    assert recomputed_label(before, before).endswith(", as when it was recorded: the same answers.")


@pytest.mark.parametrize("recorded", [True, False])
def test_a_report_of_a_session_states_its_workload(*, recorded: bool) -> None:
    header = SessionRecord(format=1, id="1", tool="sizeup", host="db01", started="2026-01-31T09:30:00Z")
    sizing = sized(*WORKLOAD)
    stated = tuple(
        StatedInput(key, text, Origin.USER, "--set") for key, _, text in (one.partition("=") for one in WORKLOAD)
    )
    session = Session(header, advice=AdviceSet(sizing.advice, cards=sizing.cards), stated=stated)
    shown = document(session, None if recorded else ShownAdvice(AdviceOrigin.RECOMPUTED, sizing))

    assert dict(shown.about.pairs)["Workload"].startswith("1,000 IOPS (70 % reads")


def test_what_is_read_through_others_is_of_medium_confidence() -> None:
    sources = {source.id: source for one in sized(*SERVER, "license.product=ee").advice for source in one.sources}

    assert confidence_text(sources["oracle-definitions"]) == "medium (as others quote it)"
