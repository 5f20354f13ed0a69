"""A batch run beside a live database: asked for, or because others keep the host busy; the session says so."""

from pathlib import Path

import pytest

from batch.conftest import Run
from sizeup.engine import run as engine
from sizeup.live import host_load
from sizeup.live.host_load import LoadWindow
from sizeup.model.plan import Gentle
from sizeup.session.reader import read_session
from sizeup.session.value import Session

NULL = ("--batch", "-p", "null", "--set", "null.samples=5", "null.interval=1ms")
BUSY, IDLE = LoadWindow({"I/O pressure": 34.0}, {}), LoadWindow({"I/O pressure": 3.0}, {})
LINE = "sizeup: this host is busy (I/O pressure 34 % (limit 10 %)): measuring gently; or add --full-load\n"


@pytest.fixture(autouse=True)
def _asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIZEUP_RUN_BUSY")


def loads(monkeypatch: pytest.MonkeyPatch, *values: LoadWindow) -> None:
    """Have the host show these loads, the last one from then on."""
    left = list(values)
    for module in (host_load, engine):
        monkeypatch.setattr(module, "measure_load", lambda: left.pop(0) if len(left) > 1 else left[0])


def caps_of(folder: Path, name: str = "run") -> Gentle | None:
    session = read_session(str(folder / name))
    assert session.plan is not None
    assert {step.gentle for step in session.plan.steps} == {session.gentle}
    assert all(run.step.gentle == session.gentle for run in session.steps.values())
    return session.gentle


def caveats(session: Session) -> set[str]:
    points = (point for run in session.steps.values() for point in run.points.values())
    return {caveat for point in points if point.estimate is not None for caveat in point.estimate.caveats}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("load", "busy", "options", "gently", "line"),
    [
        (BUSY, "ask", (), True, LINE),
        (BUSY, "gentle", (), True, LINE),
        (BUSY, "ask", ("-q",), True, LINE),
        (BUSY, "ignore", (), False, ""),
        (BUSY, "ask", ("--full-load",), False, ""),
        (IDLE, "ask", (), False, ""),
        (IDLE, "ask", ("--gentle",), True, ""),
    ],
)
def test_a_busy_host_is_measured_gently_unless_full_load_is_asked_for(
    sizeup: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    load: LoadWindow, busy: str, options: tuple[str, ...], gently: bool, line: str,
) -> None:  # fmt: skip
    loads(monkeypatch, load)
    monkeypatch.setenv("SIZEUP_RUN_BUSY", busy)
    done = sizeup(*NULL, *options, "-o", "run")
    session, caps = read_session(str(tmp_path / "run")), caps_of(tmp_path)

    assert (done.returncode, LINE in done.stderr) == (0, bool(line))
    assert (caps is not None) == gently
    assert ("complete, measured gently" in done.stdout) == gently
    assert caveats(session) == ({"measured gently: on one CPU at the lowest priority"} if gently else set()), (
        "without I/O"
    )


@pytest.mark.ci
def test_the_caps_that_were_set_are_recorded_and_kept_by_a_run_that_resumes(
    sizeup: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads(monkeypatch, IDLE)
    sizeup(*NULL, "--gentle", "--gentle-iops", "80", "--gentle-mb-s", "4", "-o", "run")
    first, path = caps_of(tmp_path), tmp_path / "run"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"t_ns"' not in line or '"kind":"plan"' in line))
    interrupted = read_session(str(path))
    done = sizeup("--batch", "--resume", "run")
    resumed = read_session(str(path))

    assert first is not None
    assert (first.iops, first.bytes_per_second) == (80.0, 4e6)
    assert not interrupted.steps
    assert (done.returncode, resumed.steps["null"].step.gentle) == (0, first)


@pytest.mark.ci
def test_a_gentle_step_waits_for_a_load_that_rose_and_at_the_limit_goes_on_and_says_so(
    sizeup: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rising = "I/O pressure 34 % (limit 13 %)"
    loads(monkeypatch, IDLE, IDLE, BUSY, BUSY, IDLE)
    waited = sizeup(*NULL, "--gentle", "--repeat", "2", "-o", "waited")
    monkeypatch.setattr(engine, "MOST_PAUSE_SECONDS", 0.0)
    loads(monkeypatch, IDLE, IDLE, BUSY)
    sizeup(*NULL, "--gentle", "--repeat", "2", "-o", "run")
    gaps = [(gap.subject, gap.reason) for gap in read_session(str(tmp_path / "run")).gaps]

    assert waited.stderr.count(f"pausing at most 30 s before null~2: {rising}") == 1
    assert read_session(str(tmp_path / "waited")).gaps == []
    reason = f"it began after a pause of 0 s although others load the host: {rising}"
    assert gaps == [("gentle pause before null~2", reason)]
    assert all(run.finished for run in read_session(str(tmp_path / "run")).steps.values())
