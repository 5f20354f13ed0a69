"""``sizeup size cases`` and what ``sizeup size`` shows beside its answers."""

import json

import pytest

from sizeup import cli
from sizeup.errors import SizeupError
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.presets import parse_presets, shipped_presets


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(shipped_presets()))
def test_every_published_case_gives_answers(name: str) -> None:
    sizing = size(shipped_presets()[name].values())

    assert [advice for advice in sizing.advice if advice.quantity is not None]


def test_all_cases_are_listed_and_one_shows_its_inputs_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(printed(capsys, "presets").splitlines()) == len(shipped_presets())
    one = printed(capsys, "presets", "redo-10db")
    assert "source: K. Closson" in one
    assert "redo.databases = 10" in one


def test_two_cases_compare_in_both_directions(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "presets", "--compare", "netapp-nfs", "netapp-fcp")

    assert (
        "netapp-nfs is 40.63 % above netapp-fcp; netapp-fcp is 28.89 % below netapp-nfs (1.406 times as much)" in text
    )
    assert "+9.1 percentage points" in text


def test_figures_of_two_units_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    ratios = json.loads(printed(capsys, "presets", "--compare", "tpcc-oracle-5355", "tpcc-sqlserver-5355", "--json"))

    assert "license.units" not in {ratio["id"] for ratio in ratios["ratios"]}


def test_a_machine_of_ones_own_stands_against_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    own = ("--machine", "none", "--set", "machine.sockets=2", "machine.cores_per_socket=16", "machine.ghz=2.9")
    text = printed(capsys, "size", *own, "--against", "clovertown")

    assert "the given machine is 336.1 % above clovertown; clovertown is 77.07 % below the given machine" in text


def test_an_unknown_case_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["size", "--machine", "clovertwon"]) == 2
    assert "did you mean clovertown?" in capsys.readouterr().err


CASE = '[[preset]]\nname = "x"\ntitle = "X"\nsource = "S"\n[preset.inputs]\n'


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (CASE + '"machine.core" = 4\n', "did you mean machine.cores"),
        (CASE + '"machine.cores" = 0\n', "expected a whole number"),
        (CASE + '"machine.cores" = [4]\n', "expected sizeup.presets/1"),
        ((CASE + '"machine.cores" = 4\n') * 2, "preset 'x' is there twice"),
    ],
)
def test_a_case_is_checked_when_it_is_loaded(text: str, what: str) -> None:
    with pytest.raises(SizeupError, match=what):
        parse_presets('schema = "sizeup.presets/1"\n' + text, "mine.toml")


def test_the_verdicts_that_matter_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "size", "--machine", "blade-480c-x5355")

    assert text.startswith("ASSUMED  Storage: 266 MB/s ")


@pytest.mark.ci
def test_sensitivity_and_licenses_are_printed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "size", "--machine", "blade-480c-x5355", "--show", "sensitivity")
    assert "Sensitivity: I/O demand" in text
    assert (
        "Observed throughput against its path: above its path turns to within its path when Throughput claimed or "
        "measured elsewhere (observed.mb_s) is 799.995 MB/s"
    ) in text

    table = printed(capsys, "size", "--machine", "blade-480c-x5355", "--show", "licenses")
    assert "$5,672 a year" in " ".join(table.split())
    assert table.count("No legal advice.") == 1
    assert max(map(len, table.splitlines())) <= 80

    data = json.loads(
        printed(
            capsys, "size", "--machine", "blade-480c-x5355", "--show", "sensitivity", "--show", "licenses", "--json"
        )
    )
    assert data["sensitivity"]["flips"]
    assert {row["pack"] for row in data["licenses"]} >= {"oracle", "sql-server", "vmware"}


def test_every_key_is_listed_with_its_meaning_and_range(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "size", "keys")

    assert "over all sockets" in text
    assert all(name in text for name in ("sga.mb", "license.discount_percent", "workload.class", "redo.mb_s"))
