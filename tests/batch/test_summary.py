"""The summary of a run: what decides on one screen, and nothing that is wrong left out."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batch.conftest import Run
from consoles import machine
from sizeup.batch.standard_output import LINES, summary_lines
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Plan
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import Registry
from sizeup.session.records import EndRecord, EnvironmentRecord
from sizeup.session.value import Session
from sizeup.text import cell_len
from sizeup.views.run.results import results_data
from views.test_cards import FAILED, JUDGED, RAMP, session, step

FINDINGS = tuple(
    Finding(f"f.{number}", Severity.WARNING, f"disk {number} is failing", (), "", "Replace it.") for number in range(30)
)


def judged(*runs: Estimate, findings: tuple[Finding, ...] = ()) -> Session:
    found = session(step("io.direct", *(runs or RAMP)))
    found.machine = machine(findings=findings)
    found.advice = JUDGED
    return found


def test_the_verdict_leads_and_each_card_has_a_line() -> None:
    lines = summary_lines(judged(), 80)

    assert lines[2].startswith("FAIL   Storage: 1,048 MB/s ")
    assert [line.split()[0] for line in lines[2:] if line][1:3] == ["Fix", "Basis"]
    assert [line.split()[0] for line in lines if line][-7:] == [
        "Capacity", "Storage", "CPU", "Memory", "Network", "Clock", "License",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_however_much_was_found_it_fits_a_screen_and_says_what_is_left_out(width: int) -> None:
    found = judged(findings=FINDINGS)
    found.gaps += [Gap(f"cell {number}", "not measured, as time ran out") for number in range(40)]
    lines = summary_lines(found, width, name="db01-1")

    assert len(lines) <= LINES
    assert all(cell_len(line) <= width for line in lines)
    assert any("more findings: sizeup session show db01-1" in line for line in lines)
    assert any("more notes: sizeup session show db01-1" in line for line in lines)


def test_what_is_not_valid_or_was_refused_is_said() -> None:
    found = judged(*RAMP, *FAILED)
    found.outcomes["memory.numa"] = Outcome(Status.REFUSED, "needs 2 NUMA nodes; this machine has 1")
    text = " ".join(" ".join(summary_lines(found, 120)).split())

    assert "not valid" in text
    assert "throughput was not steady" in text
    assert "! memory.numa refused: needs 2 NUMA nodes" in text


@pytest.mark.parametrize(("converged", "told"), [(False, True), (True, False)])
def test_how_busy_the_host_was_is_told_where_a_figure_did_not_converge(converged: bool, told: bool) -> None:
    found = judged(*(replace(estimate, converged=converged) for estimate in RAMP))
    for busy in (12.0, 141.0):
        facts = {"others_busy_percent": busy, "steal_percent": 0.2, "psi_io_some_avg10_percent": 20.0}
        found.environment.append(EnvironmentRecord(1, facts))
    text = " ".join(" ".join(summary_lines(found, 160)).split())

    assert (
        "the host was busy: other processes used 141 % of a CPU, tasks waited for I/O 20 % of the time" in text
    ) is told
    found.environment.clear()
    assert "the host was busy" not in " ".join(summary_lines(found, 160))


def test_whether_the_results_are_valid_is_in_the_first_line() -> None:
    found = judged(*RAMP, *FAILED)
    found.end = EndRecord(9, "complete")

    assert summary_lines(found, 120)[0] == "host: complete, run WARN (not valid)"
    assert results_data(found)["run"]["status"] == "WARN"
    assert "not valid" in results_data(found)["run"]["sentence"]


def test_a_result_that_no_card_shows_has_a_line_of_its_own() -> None:
    found = session(step("io.direct", *RAMP), step("null", Estimate("gap", {}, 1e6)))

    assert "Step of null: 1 ms" in summary_lines(found, 80)
    assert not any(line.startswith("Step of io.direct") for line in summary_lines(found, 80))


def test_without_a_workload_there_is_no_verdict_and_the_command_for_one() -> None:
    found = replace(judged(), advice=None)
    lines = summary_lines(found, 80, name="db01-1")

    assert lines[2].startswith("NO VERDICT YET  No workload.")
    assert "sizeup size --machine db01-1 --workload FILE" in " ".join(" ".join(lines).split())


@pytest.mark.ci
def test_a_run_prints_one_screen_and_says_how_to_include_storage(
    sizeup: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_null_alone(machine: Machine, registry: Registry, **chosen: Any) -> Plan:
        return make_plan(machine, registry, **{**chosen, "probes": ["null"]})

    stored = sizeup("--batch", "-q", "--plan", "quick", "--mount", str(tmp_path))
    whole = sizeup("--batch", "-q", "-p", "null", "--details")
    monkeypatch.setattr("sizeup.engine.run.make_plan", with_null_alone)
    short = sizeup("--batch", "-q", "--plan", "quick", "-o", str(tmp_path / "short"))

    assert (short.returncode, stored.returncode, whole.returncode) == (0, 0, 0)
    assert "add --mount DIR" in short.stdout
    assert len(stored.stdout.splitlines()) <= LINES
    assert "--mount" not in stored.stdout
    assert not list(tmp_path.glob(".sizeup-*"))
    assert "Measurements" in whole.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--mount", "/nowhere"), "--mount /nowhere: expected a directory"),
        (("--mount", "/", "-p", "null"), "cannot be combined with -p"),
        (("--mount", "/", "--resume", "x"), "--mount cannot be combined with --resume"),
        (("--details", "--json"), "--details cannot be combined with --json"),
    ],
)
def test_options_that_contradict_each_other_are_refused(sizeup: Run, arguments: tuple[str, ...], words: str) -> None:
    done = sizeup("--batch", *arguments)

    assert done.returncode == 2
    assert words in done.stderr
