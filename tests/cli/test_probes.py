"""``sizeup probe list`` says what each probe is and whether it can run here."""

import json
import subprocess
import sys

import pytest

from sizeup.cli import run


def test_every_probe_is_listed_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", "list", "--json"]) == 0

    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "sizeup.probes/1"
    null = next(probe for probe in data["probes"] if probe["name"] == "null")
    assert (null["can_run"], null["reason"], null["distribution"].split()[0]) == (True, None, "sizeup")
    assert {parameter["name"] for parameter in null["parameter"]} == {"samples", "interval", "misbehave"}


def test_one_probe_in_full_shows_how_to_set_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", "list", "null"]) == 0

    out = capsys.readouterr().out
    assert "--set null.samples=...  Number of samples; a whole number from 0" in out
    assert "touches nothing; hazards: none declared" in out


def test_an_unknown_probe_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", "list", "nul"]) == 2
    assert "did you mean null?" in capsys.readouterr().err


def test_the_list_runs_no_code_of_any_plug_in() -> None:
    listing = (
        "import sys\n"
        "from sizeup.cli import run\n"
        "run(['probe', 'list'])\n"
        "loaded = sorted(name for name in sys.modules if name.startswith('sizeup_'))\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)\n"
    )

    result = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=False)

    assert (result.returncode, result.stderr) == (0, "")
    assert "memory.latency" in result.stdout
