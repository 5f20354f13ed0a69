"""A run without a screen: what is asked is done or refused in one line, and what is measured is kept."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from batch.conftest import Run
from sizeup.engine.run import _status
from sizeup.engine.spec import RunSpec
from sizeup.errors import ExitStatus
from sizeup.model.plan import Plan, Refusal, Step
from sizeup.model.sample import Outcome, Status
from sizeup.session.reader import read_session
from sizeup.session.records import OutcomeRecord

FAST = ("-p", "null", "--set", "null.samples=20", "--set", "null.interval=0.2ms")


def test_a_run_saves_machine_plan_samples_and_advice(sizeup: Run, tmp_path: Path) -> None:
    done = sizeup("--batch", *FAST, "--repeat", "2", "-o", "run")

    assert done.returncode == 0, done.stderr
    session = read_session(str(tmp_path / "run"))
    assert session.machine.pus
    assert [step.id for step in session.plan.steps] == ["null", "null~2"] if session.plan else False
    assert [sum(len(p.values) for p in run.points.values()) for run in session.steps.values()] == [20, 20]
    demand = session.advice.find("io.demand.headline")
    assert demand.decision == "unknown"  # no workload
    assert {card.resource for card in session.advice.cards} == {
        "storage",
        "space",
        "cpu",
        "memory",
        "network",
        "license",
    }
    assert len(session.environment) == 4  # before the run, after each step, and at the end
    assert session.end.status == "complete"
    assert session.damage.sentences() == ()


def test_results_go_to_stdout_and_progress_to_stderr_without_moving_lines(sizeup: Run) -> None:
    done = sizeup("--batch", *FAST, "-o", "run")

    assert "20 samples of nothing" in done.stdout
    assert "[1/1] null" in done.stderr
    assert "\r" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert sizeup("--batch", *FAST, "--quiet", "-o", "run2").stderr == ""


def test_json_is_alone_on_stdout_in_base_units(sizeup: Run) -> None:
    done = sizeup("--batch", *FAST, "--json", "-o", "run")

    data = json.loads(done.stdout)
    assert data["schema"] == "sizeup.results/1"
    result = data["steps"][0]["results"][0]
    assert (result["metric"], result["unit"], result["better"], result["samples"]) == ("null.gap", "ns", "lower", 20)
    assert result["value"] > 200_000


def test_a_session_alone_on_stdout(sizeup: Run, tmp_path: Path) -> None:
    done = sizeup("--batch", *FAST, "-o", "-")

    (tmp_path / "piped").write_text(done.stdout)
    assert read_session(str(tmp_path / "piped")).end is not None
    assert done.returncode == 0


def test_without_a_file_the_session_goes_to_the_state_directory(sizeup: Run, tmp_path: Path) -> None:
    done = sizeup("--batch", *FAST)

    (saved,) = (tmp_path / "state/sizeup/sessions").iterdir()
    assert str(saved) in done.stdout


def test_how_many_steps_measured_is_said_where_the_session_is_saved(sizeup: Run, tmp_path: Path) -> None:
    done = sizeup("--batch", "-p", "io.direct", "--set", "io.direct.path=/proc/nowhere", "-o", str(tmp_path / "run"))

    assert done.returncode == 3
    assert f"Session saved in {tmp_path / 'run'} (0 of 1 step measured, 1 refused; run FAIL (refused))" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-p", "nul"), "unknown probe 'nul' (did you mean null?)"),
        (("-p", "null", "--set", "null.sampels=1"), "has no parameter 'sampels' (did you mean samples?)"),
        (
            ("-p", "null", "--set", "null.samples=-1"),
            "--set null.samples: expected a whole number from 0 to 10,000,000",
        ),
        (("-p", "null", "-o", "/nowhere/run"), "/nowhere/run: cannot write the session: No such file or directory"),
        (("-p", "null", "-o", "/proc/version"), "/proc/version: cannot write the session"),
        (("--plan", "huge"), "argument --plan: invalid choice: 'huge'"),
        (("-p", "null", "--repeat", "0"), "--repeat: expected a whole number from 1 to 1,000, found 0"),
        (("--json", "-o", "-"), "--json and -o - both write to standard output"),
        (
            ("--resume", "x", "--plan", "quick"),
            "--plan cannot be combined with --resume, which runs the rest of the session's own plan",
        ),
        (("--gentle", "--full-load"), "not allowed with argument"),
        (("--gentle", "--resume", "x"), "--gentle cannot be combined with --resume"),
        (("--gentle", "--gentle-iops", "5"), "--gentle-iops: expected a number of at least 10, found 5"),
        (("--gentle", "--gentle-mb-s", "nan"), "--gentle-mb-s: expected a number of at least 1, found nan"),
        (("--gentle-iops", "50"), "--gentle-iops needs --gentle"),
        (("--resume", "/nowhere"), "/nowhere: expected a session file, but there is no such file"),
        (("--sysroot", "/srv/rec"), "unrecognized arguments: --sysroot /srv/rec; try: sizeup run --help"),
        (("--repeatedly",), "unrecognized arguments: --repeatedly"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(sizeup: Run, arguments: tuple[str, ...], words: str) -> None:
    done = sizeup("--batch", *arguments)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("sizeup: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_batch_options_without_batch_say_what_is_missing(sizeup: Run) -> None:
    done = sizeup("--plan", "quick")

    assert (done.returncode, done.stderr) == (2, "sizeup: --plan is an option of run; try: sizeup run --plan quick\n")


def test_without_a_terminal_the_console_points_to_batch(sizeup: Run) -> None:
    done = sizeup()

    assert done.returncode == 2
    assert "use: sizeup --batch" in done.stderr


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ("segfault", Status.CRASHED, 1),
        ("garbage", Status.FAILED, 1),
        ("raise", Status.FAILED, 1),
        ("refuse", Status.REFUSED, 3),
    ],
)
def test_a_probe_that_misbehaves_loses_nothing_measured(
    sizeup: Run, tmp_path: Path, how: str, status: Status, code: int
) -> None:
    done = sizeup("--batch", *FAST, "--set", f"null.misbehave={how}", "--repeat", "2", "-o", "run")

    session = read_session(str(tmp_path / "run"))
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert [outcome.status for outcome in session.outcomes.values()] == [status, status]
    assert [sum(len(p.values) for p in run.points.values()) for run in session.steps.values()] == [20, 20]


@pytest.mark.parametrize(
    ("spec", "refused", "status"),
    [
        (RunSpec(plan="quick"), "memory.numa", ExitStatus.OK),  # which the machine does not have
        (RunSpec(plan="quick"), "null", ExitStatus.REFUSED),
        (RunSpec(plan="quick", mount="/u01"), "memory.numa", ExitStatus.OK),
        (RunSpec(plan="quick", mount="/u01"), "io.direct", ExitStatus.REFUSED),
        (RunSpec(probes=("null", "memory.numa")), "memory.numa", ExitStatus.REFUSED),
    ],
)
def test_what_was_planned_or_asked_for_and_refused_is_no_success(
    spec: RunSpec, refused: str, status: ExitStatus
) -> None:
    step = Step("null", "null", "Nothing", {}, 0, 0, touches="nothing")
    refusals = tuple(Refusal(name, name, "not here") for name in ("memory.numa", "io.direct") if name == refused)
    plan = Plan("quick", (step, replace(step, id="clock")), refusals, settings={"io.direct": {"target": "/u01"}})
    ended = {"clock": Status.OK, "null": Status.OK, refused: Status.REFUSED}

    outcomes = [OutcomeRecord(0, name, Outcome(one)) for name, one in ended.items()]
    assert _status(spec, plan, outcomes) is status


def test_append_adds_a_run_under_ids_of_its_own(sizeup: Run, tmp_path: Path) -> None:
    sizeup("--batch", *FAST, "-o", "run")

    done = sizeup("--batch", *FAST, "--append", "run")

    assert done.returncode == 0, done.stderr
    session = read_session(str(tmp_path / "run"))
    assert list(session.steps) == ["null", "null~2"]
    assert len(session.continued) == 1
    assert session.steps["null~2"].started_ns > (session.steps["null"].ended_ns or 0)


def test_a_session_of_another_host_is_not_continued(sizeup: Run, tmp_path: Path) -> None:
    sizeup("--batch", *FAST, "-o", "run")
    text = (tmp_path / "run").read_text().replace(f'"host":"{os.uname().nodename}"', '"host":"db99"', 1)
    (tmp_path / "run").write_text(text)

    done = sizeup("--batch", "--resume", "run")

    assert done.returncode == 3
    assert "was recorded on db99 and cannot be continued" in done.stderr


def test_batch_and_its_help_load_no_textual() -> None:
    code = (
        "import sys\n"
        "from sizeup.cli import run\n"
        "status = run(['--batch', '-p', 'null', '--set', 'null.samples=1', '--quiet', '-o', '/dev/null'])\n"
        "assert status == 0, status\n"
        "loaded = [name for name in sys.modules if name.split('.')[0] == 'textual']\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_help_imports_little_more_than_the_parser() -> None:
    code = (
        "import sys\n"
        "from sizeup.cli import run\n"
        "try:\n"
        "    run(['--batch', '--help'])\n"
        "except SystemExit as ended:\n"
        "    assert ended.code == 0\n"
        "heavy = {'textual', 'msgspec', 'psutil', 'platformdirs', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_what_cannot_be_resumed_names_what_can_be_done(sizeup: Run, tmp_path: Path) -> None:
    run = ("--batch", "-q", "-p", "null", "--set", "null.samples=1")
    assert sizeup(*run, "-o", "whole").returncode == 0
    (tmp_path / "no plan").write_bytes((tmp_path / "whole").read_bytes().splitlines(keepends=True)[0])

    refused = sizeup("--batch", "--resume", "no plan")

    assert refused.returncode == 2
    advice = refused.stderr.strip().partition(" with: ")[2]
    assert sizeup(*shlex.split(advice)[1:], *run[1:]).returncode == 0
