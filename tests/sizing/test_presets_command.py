"""``sizeup size cases`` and what ``sizeup size`` shows beside its answers."""

import json

import pytest

from sizeup import cli
from sizeup.errors import SizeupError
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.presets import parse_presets, shipped_presets
from tiers import one_in


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", one_in(4, sorted(shipped_presets())))
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


@pytest.mark.parametrize(
    ("case", "published", "ours"),
    one_in(
        3,
        [
            # 7,700 - 7,584 = 116 MB; 7,584 / 2 = 3,792 pages, one more for the segment; 1 / 4 nodes = 25 %
            ("cyclops-dl585", "116 MB", "116 MiB stay free"),
            ("cyclops-dl585", "3,800 huge pages", "3,793 huge pages"),
            ("cyclops-dl585", "up to 25%", "25 % of accesses are local"),
            # 40 MB/s / 65,536 B = 610.35; 40 MiB/s would be 640. 10 x 2 = 20; 4,000 MB / 40 MB/s = 100 s
            ("redo-10db", "640 IOPS (MB for MiB)", "610 IOPS of 64 KiB writes"),
            ("redo-10db", "20 LUNs", "Redo on LUNs of its own: 20 LUNs"),
            ("redo-10db", "every 100 s or so", "fills the whole cache every 100 s and"),
            # (3,992,992.8 + 3,989,574.4) / 7,617,487.7 = 1.0479; four processes: 7,933,208.2 / 7,617,487.7 = 1.0414
            ("slb-e5320", "131.3 ns", "131.277 ns"),
            ("slb-e5320", "250.4 and 250.7 ns", "1.048 times the throughput of one"),
            ("slb-e5320", "503.6 to 505.1 ns", "1.041 times the throughput of one"),
            # 100 / 121 = 0.82645: 17.36 % below; 31.5 / 22.4 = 1.40625
            ("netapp-nfs", "21% deficit", "netapp-nfs is 17.36 % below netapp-fcp"),
            ("netapp-nfs", "28% more CPU", "netapp-nfs is 40.63 % above netapp-fcp"),
            # 5,875 s / 915 s = 6.4208; 79 % of is 0.79 times, 79 % over is 1.79 times
            ("ault-tmsorcl", "642%", "6.421 times as much"),
            ("ault-tmsorcl", "79%", "0.79 times as fast if of the baseline, 1.79 times if over it"),
            ("ault-tmsorcl", "4,474%", "44.74 times as fast if of the baseline, 45.74 times if over it"),
            # 1 - 1 / 5.8 = 0.827586
            ("dell-uc3", "response time divided by 5.8", "82.7586 % below the baseline"),
            ("dell-uc3", "+44.5%", "1.445 times the baseline, 44.5 % more"),
            # 1,000 ms / 12 ms = 83.33
            ("dell-uc1", "99 times less", "83.33 times as much"),
            # 59,369.5 / 55,529.25 = 1.06916, an answer about licenses
            ("barcelona", "7% more", "barcelona is 6.916 % above clovertown"),
        ],
    ),
)
def test_the_first_screen_has_what_the_author_printed_beside_ours(
    capsys: pytest.CaptureFixture[str], case: str, published: str, ours: str
) -> None:
    screen = printed(capsys, "size", "--machine", case)

    assert len(screen.splitlines()) <= 25
    words = " ".join(screen.split())
    assert published in words.partition("Printed ")[2].partition(ours)[0]
    assert words.count(ours) == 1


@pytest.mark.parametrize("name", one_in(4, [name for name, case in shipped_presets().items() if case.printed]))
def test_everything_printed_is_worked_out_on_the_first_screen(capsys: pytest.CaptureFixture[str], name: str) -> None:
    screen = printed(capsys, "size", "--machine", name)
    lines = screen.splitlines()

    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    words = " ".join(screen.split())
    assert [text for text in shipped_presets()[name].printed.values() if f"{text}; worked out: " not in words] == []
    assert "worked out: unknown" not in words


@pytest.mark.parametrize("given", [("redo.mb_s=8",), ("slb.pages=1",)])
def test_a_case_with_another_figure_is_not_what_its_author_printed(
    capsys: pytest.CaptureFixture[str], given: tuple[str, ...]
) -> None:
    text = printed(capsys, "size", "--machine", "redo-10db", "--set", *given)

    assert ("Printed " in text) is (given != ("redo.mb_s=8",))
