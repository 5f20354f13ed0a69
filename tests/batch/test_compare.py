"""``sizeup compare`` from files to exit status."""

import json
from pathlib import Path

from batch.conftest import Run

RUN = ("--batch", "-q", "-p", "null", "--set", "null.samples=5", "--repeat", "5")


def test_sessions_and_folders_compare_and_an_asked_difference_is_status_5(sizeup: Run, tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    sizeup(*RUN, "--set", "null.interval=0.2ms", "-o", "fast/a.sizeup.jsonl")
    sizeup(*RUN, "--set", "null.interval=2ms", "-o", "slow.sizeup.jsonl")

    plain = sizeup("compare", "slow.sizeup.jsonl", "--against", "fast")
    asked = sizeup("compare", "slow.sizeup.jsonl", "--against", "fast", "--fail-if", "null.gap > +5%")
    other = sizeup("compare", "slow.sizeup.jsonl", "--against", "fast", "--fail-if", "null.gap < -5%")
    data = json.loads(sizeup("compare", "slow.sizeup.jsonl", "--against", "fast", "--json").stdout)

    assert (plain.returncode, asked.returncode, other.returncode) == (0, 5, 0)
    assert "worse" in plain.stdout
    assert "! null.gap: parameters differ: interval=0.002 against interval=0.0002" in plain.stdout
    assert "YES" in asked.stdout
    assert data["schema"] == "sizeup.compare/1"
    assert data["metrics"][0]["runs"] == [5, 5]
    assert data["metrics"][0]["verdict"] == "worse"


def test_sessions_with_nothing_in_common_are_said_to_have_nothing(sizeup: Run, tmp_path: Path) -> None:
    sizeup(*RUN, "-o", "a")
    sizeup("--batch", "-q", "-p", "null", "--set", "null.misbehave=raise", "-o", "b")

    done = sizeup("compare", "a", "--against", "b")

    assert done.returncode == 2
    assert "nothing measured on both sides: the first has null.gap, the base no finished step" in done.stderr
