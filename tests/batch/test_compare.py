"""``sizeup session compare`` from files to exit status."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from batch.conftest import Run, measured

RUN = ("--batch", "-q", "-p", "null", "--set", "null.samples=5", "--repeat", "5")


def set_gap(session: Path, gap_ns: float) -> None:
    """Put figures into a session that no load of the host can move: 1 % apart from round to round."""
    lines = []
    for number, line in enumerate(session.read_text().splitlines()):
        record = json.loads(line)
        if record["kind"] == "estimate":
            value = gap_ns * (1 + number / 1000)
            record["estimate"] |= {"value": value, "low": None, "high": None}
        lines.append(json.dumps(record, separators=(",", ":")))
    session.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions of a fast and a slow setting, five rounds each, and one without a finished step."""
    folder = tmp_path_factory.mktemp("made")
    for name, interval, gap_ns in (("fast", "0.2ms", 2e5), ("slow", "2ms", 2e6)):
        (folder / name).write_bytes(measured(folder, *RUN[4:], "--set", f"null.interval={interval}"))
        set_gap(folder / name, gap_ns)
    (folder / "failed").write_bytes(measured(folder, "--set", "null.misbehave=raise"))
    return folder


@pytest.fixture(autouse=True)
def _copied(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def test_sessions_and_folders_compare_and_an_asked_difference_is_status_5(sizeup: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "fast").rename(tmp_path / "folder/a.sizeup.jsonl")

    plain = sizeup("session", "compare", "slow", "--against", "folder")
    asked = sizeup("session", "compare", "slow", "--against", "folder", "--fail-if", "null.gap > +5%")
    other = sizeup("session", "compare", "slow", "--against", "folder", "--fail-if", "null.gap < -5%")
    data = json.loads(sizeup("session", "compare", "slow", "--against", "folder", "--json").stdout)

    assert (plain.returncode, asked.returncode, other.returncode) == (0, 5, 0)
    assert "▼ SLOWER" in plain.stdout or "v SLOWER" in plain.stdout
    assert "! null.gap: parameters differ: interval=0.002 (baseline: interval=0.0002)" in plain.stdout
    assert "MET: x " in asked.stdout
    assert data["schema"] == "sizeup.compare/1"
    assert data["metrics"][0]["runs"] == [5, 5]
    assert data["metrics"][0]["verdict"] == "worse"


def test_a_comparison_is_written_as_a_document_of_its_own(sizeup: Run, tmp_path: Path) -> None:
    sides = ("session", "compare", "slow", "--against", "fast", "--fail-if", "null.gap > +5%")

    text, web = sizeup(*sides, "--format", "markdown"), sizeup(*sides, "--format", "html", "-o", "c.html")
    alone = sizeup("session", "compare", "slow", "--fail-if", "null.gap > 9s", "--format", "markdown")

    assert (text.returncode, web.returncode, alone.returncode) == (5, 5, 6)
    for words in ("**FAIL**", "MET: x ", "▼ worse"):
        assert words in text.stdout
    assert (tmp_path / "c.html").read_text().startswith("<!doctype html>")
    assert "**NOT CERTAIN**" in alone.stdout  # five runs give no interval
    for refused in (
        (*sides, "-o", "x"),
        (*sides, "--format", "html", "-o", "slow"),
        (*sides, "--format", "html", "--json"),
    ):
        assert sizeup(*refused).returncode == 2


def test_several_settings_follow_one_set_and_a_session_comes_from_standard_input(sizeup: Run, tmp_path: Path) -> None:
    sizeup("--batch", "-q", "-p", "null", "--set", "null.samples=5", "null.interval=0.2ms", "-o", "s.sizeup.jsonl")
    session = (tmp_path / "s.sizeup.jsonl").read_bytes()

    settings = next(json.loads(line) for line in session.splitlines() if b'"plan"' in line[:20])["plan"]["steps"][0]
    assert settings["settings"] | {"samples": 5, "interval": 0.0002} == settings["settings"]
    shown = sizeup("session", "show", "s.sizeup.jsonl").stdout
    for content in (session, gzip.compress(session)):
        piped = subprocess.run([sys.executable, "-m", "sizeup", "show", "-"], input=content, capture_output=True)
        assert (piped.returncode, piped.stdout.decode()) == (0, shown)


def test_a_slowdown_that_one_run_a_side_cannot_decide_is_status_6_unless_that_is_allowed(sizeup: Run) -> None:
    once = ("--batch", "-q", "-p", "null", "--set", "null.samples=5", "--set")
    sizeup(*once, "null.interval=0.2ms", "-o", "one fast")
    sizeup(*once, "null.interval=2ms", "-o", "one slow")
    condition = ("session", "compare", "one slow", "--against", "one fast", "--fail-if", "null.gap > +5%")

    open_, allowed = sizeup(*condition), sizeup(*condition, "--allow-undecided")
    data = json.loads(sizeup(*condition, "--json").stdout)

    assert (open_.returncode, allowed.returncode) == (6, 0)
    assert open_.stderr == "sizeup: 1 of 1 condition could not be decided; --allow-undecided accepts that\n"
    assert "too few runs (1 new, 1 baseline)" in open_.stdout
    assert allowed.stderr == ""
    assert (data["conditions"][0]["decision"], data["conditions"][0]["met"], data["undecided"]) == (
        "undecided",
        False,
        1,
    )


def test_an_absolute_bound_needs_no_base_and_is_status_5_where_it_is_met(sizeup: Run) -> None:
    sizeup(*RUN[:-1], "6", "--set", "null.interval=2ms", "-o", "a")

    met = sizeup("session", "compare", "a", "--fail-if", "null.gap > 1ms")
    passed = sizeup("session", "compare", "a", "--fail-if", "null.gap > 60 s")
    both = sizeup(
        "session", "compare", "a", "--fail-if", "null.gap > 1ms", "--fail-if", "null.gap > 60s", "--allow-undecided"
    )
    data = json.loads(sizeup("session", "compare", "a", "--fail-if", "null.gap > 1ms", "--json").stdout)
    change = sizeup("session", "compare", "a", "--fail-if", "null.gap > +5%")
    nothing = sizeup("session", "compare", "a")

    assert (met.returncode, passed.returncode, both.returncode) == (5, 0, 5)
    assert "MET: " in met.stdout
    assert "not met: " in passed.stdout
    assert data["conditions"][0]["measurement"]["bound"] == 1e6
    assert data["conditions"][0]["measurement"]["runs"] == 6
    assert data["baseline"] == []
    assert (change.returncode, nothing.returncode) == (2, 2)
    assert change.stderr == nothing.stderr
    assert "--against is missing" in change.stderr


def test_a_metric_that_the_new_side_lacks_is_undecided_and_one_that_nobody_knows_an_error(sizeup: Run) -> None:
    assert sizeup("session", "compare", "failed", "--against", "fast", "--fail-if", "null.gap > +5%").returncode == 6
    unknown = sizeup("session", "compare", "failed", "--against", "fast", "--fail-if", "null.gaps > +5%")
    assert unknown.returncode == 2
    assert "did you mean null.gap?); they have: null.gap" in unknown.stderr


def test_sessions_with_nothing_in_common_are_said_to_have_nothing(sizeup: Run) -> None:
    done = sizeup("session", "compare", "fast", "--against", "failed")

    assert done.returncode == 2
    assert "nothing measured on both sides: B (new) has null.gap, A (baseline) no finished step" in done.stderr
