"""The first screen as a value."""

from msgspec.structs import replace

from consoles import machine
from sizeup.discovery.machine import assessed
from sizeup.model.advice import Advice, AdviceSet, Card
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, NumaNode
from sizeup.quantity import Origin
from sizeup.session.records import SessionRecord
from sizeup.session.value import Session
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import KEYS
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice
from sizeup.text import capitalized
from sizeup.views.cards.cards import verdicts_first
from sizeup.views.result.summary import finding_parts, summary

FULL = Finding("memory.full-node", Severity.INFO, "node 0 is full", ("0 MiB free",), "slow", "free some", ("node:0",))


def test_a_finding_of_discovery_and_of_the_run_is_shown_once_and_each_part_of_the_machine_by_itself() -> None:
    other = replace(FULL, title="node 1 is full", subjects=("node:1",))
    worse = replace(FULL, title="node 0 is full still", severity=Severity.WARNING)
    session = Session(SessionRecord(1, "id", "sizeup 0.1.0", "db01", "2026-01-31T09:30:00Z"))
    session.findings.append(worse)

    shown = summary(Machine(findings=(FULL, other)), session, None)

    assert [capitalized(finding.title) for _, finding in shown.findings] == ["Node 0 is full still", "Node 1 is full"]
    assert len(dict(shown.findings)) == 2


def test_a_finding_says_what_to_measure_or_which_probe_stated_it() -> None:
    def last(finding: Finding) -> tuple[str, ...]:
        return finding_parts(finding)[-1]

    assert last(replace(FULL, quantity="storage.random_iops")) == (
        "What would confirm it",
        "measuring storage random IOPS",
    )
    assert last(replace(FULL, probe="acme.seek")) == ("What would confirm it", "the probe acme.seek")
    assert last(FULL)[0] == "What to do"


def test_findings_of_one_kind_about_one_part_are_each_shown() -> None:
    twice = (FULL, replace(FULL, title="node 0 is full of something else"))

    shown = summary(Machine(findings=twice), None, None)

    assert [capitalized(finding.title) for _, finding in shown.findings] == [
        "Node 0 is full",
        "Node 0 is full of something else",
    ]
    assert len(dict(shown.findings)) == 2


def test_uneven_pools_of_two_sizes_are_two_lines_also_after_a_run_wrote_them_down() -> None:
    def node(number: int, small: int, large: int) -> NumaNode:
        pools = (HugePages(2 << 20, small, small), HugePages(1 << 30, large, large))
        return NumaNode(number, (number,), (0,), memory_bytes=1 << 40, free_bytes=1 << 39, huge_pages=pools)

    machine = assessed(Machine(nodes=(node(0, 64, 0), node(1, 192, 1))))
    session = Session(SessionRecord(1, "id", "sizeup 0.1.0", "db01", "2026-01-31T09:30:00Z"))
    session.findings.extend(machine.findings)

    lines = [capitalized(finding.title) for _, finding in summary(machine, session, None).findings]

    assert lines == [
        "2 MiB huge pages are unevenly reserved: 64 to 192 per NUMA node",
        "1 GiB huge pages are unevenly reserved: 0 to 1 per NUMA node",
    ]


def test_a_verdict_on_the_cpu_alone_leaves_storage_unknown_and_asks_for_no_workload() -> None:
    given = {"workload.cpu_percent": KEYS["workload.cpu_percent"].parse("40", Origin.USER, "--set")}
    advice = ShownAdvice(AdviceOrigin.CURRENT, size(described(machine(), given)))
    shown = summary(machine(), None, advice)

    assert (shown.verdict.status, shown.verdict.statement) == ("PASS", advice.given.find("verdict.cpu").verdict)
    assert [card.status for card in shown.cards[:2]] == ["PASS", "–"]


def test_the_verdict_that_decides_leads_also_where_another_card_rests_on_the_same_advice() -> None:
    advice = tuple(
        Advice(name, "", f"line of {name}", None, (), (), ())
        for name in ("verdict.cpu", "io.capacity", "verdict.storage")
    )
    cards = (
        Card("storage", "fail", advice="verdict.storage"),
        Card("cpu", "warn", advice="verdict.cpu"),
        Card("network", "pass", advice="verdict.storage"),
    )

    assert [line for _, line in verdicts_first(AdviceSet(advice, cards=cards))] == [
        "FAIL  line of verdict.storage",
        "WARN  line of verdict.cpu",
        "line of io.capacity",
    ]
