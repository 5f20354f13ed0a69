"""Figures of the Silly Little Benchmark: which processes ran together, and how they scale."""

from pathlib import Path

import pytest

from importers.results import FOUR, ONE, SLB, TWO, figures, fio_file, fio_job, slb_line
from sizeup.cli import run
from sizeup.errors import ExitStatus, MalformedError
from sizeup.importers.imported import Imported
from sizeup.importers.slb import parse_slb

SCALING = {1: 1.0, 2: 1.048, 4: 1.041}
"""S(n) of the published series."""


def scaling(imported: Imported) -> dict[str | int | float, float]:
    return {place: round(value, 3) for (series, place, _), value in figures(imported).items() if series == "scaling"}


def test_slb_lines_that_text_separates_are_processes_started_together() -> None:
    shown = figures(parse_slb(SLB, "slb.txt"))

    assert shown["random-store", 1, ""] == 131.3
    assert shown["random-store", 2, ""] == pytest.approx(250.55)
    assert shown["throughput", 2, ""] == pytest.approx(7_982_567.2)
    assert shown["scaling", 2, ""] == pytest.approx(1.048, abs=5e-4)


@pytest.mark.parametrize(
    ("text", "groups", "how"),
    [
        (ONE + TWO + FOUR, (), "as their elapsed times show"),
        (ONE + TWO + FOUR, (1, 2, 4), "as --groups says"),
        (f"one\n{ONE}two\n{TWO}four\n{FOUR}", (), "as the text between their lines separates them"),
        (f"{ONE}\n{TWO}\n{FOUR}", (), "as the text between their lines separates them"),
        # Empty lines between all of them separate nothing.
        ((ONE + TWO + FOUR).replace("\n", "\n\n"), (), "as their elapsed times show"),
        # Nor does what a shell says of its jobs.
        (
            (ONE + TWO + FOUR).replace("\n", "\n[2]+  Done   ./memhammer 131072 6000\n"),
            (),
            "as their elapsed times show",
        ),
    ],
)
def test_slb_of_a_series_gives_its_scaling(text: str, groups: tuple[int, ...], how: str) -> None:
    imported = parse_slb(text, "slb.txt", groups)

    assert scaling(imported) == SCALING
    assert imported.notes[0].startswith(f"Processes started together: 1, 2, 4, {how};")
    assert imported.summary[2] == "4 processes: 504 ns a store, 7.93 M stores/s in all, S(4) = 1.041"


@pytest.mark.parametrize(
    "text",
    [
        TWO,  # two processes, or one of them twice
        ONE + slb_line(138.3, 108_700_000, 7_234_885.0),
        ONE + ONE + TWO,  # no series of ever more processes
        ONE + slb_line(133.5, 104_988_672, 7_490_637.0) * 2,  # 1.7 % apart: neither alike nor different
        f"first machine\n{ONE + TWO}second machine\n{ONE + TWO}",  # text and times contradict each other
    ],
)
def test_slb_asks_where_neither_text_nor_times_tell_the_starts_apart(text: str) -> None:
    with pytest.raises(
        MalformedError, match=r"slb.txt: which of its \d memhammer lines .* is unknown: .* --groups 1,2,4"
    ):
        parse_slb(text, "slb.txt")


def test_slb_takes_the_users_word_over_everything_else() -> None:
    first = f"first machine\n{ONE + TWO}second machine\n{ONE + TWO}"

    assert scaling(parse_slb(first, "slb.txt", (1, 2, 1, 2))) == {1: 1.0, 2: 1.048}
    assert figures(parse_slb(TWO, "slb.txt", (1, 1)))["random-store", 1, ""] == pytest.approx(250.55)


def test_slb_scales_processes_against_one_of_as_much_work_only() -> None:
    more = "Total ops 1572864000  Avg nsec/op 200.0  gettimeofday usec 314572800 TPUT ops/sec 5000000.0\n"
    imported = parse_slb(f"1 GiB\n{more}512 MiB\n{SLB}", "slb.txt")

    assert figures(imported)["random-store", 1, "1572864000"] == 200.0
    assert {
        (estimate.at["processes"], estimate.at["stores"]): round(estimate.value, 3)
        for step in imported.steps
        for estimate in step.estimates
        if estimate.series == "scaling"
    } == {(1, "786432000"): 1.0, (2, "786432000"): 1.048}


def test_slb_without_a_start_of_one_process_says_that_scaling_is_unknown() -> None:
    imported = parse_slb(TWO, "slb.txt", (2,))

    assert scaling(imported) == {}
    assert imported.notes[1].startswith("S(n) is unknown: it requires a run of one process")


@pytest.mark.parametrize(
    "line", [slb_line(131.3, 103_240, 7_617_487.7), slb_line(131_300.0, 103_240_338, 7_617_487.7), slb_line(0, 0, 0)]
)
def test_slb_figures_that_contradict_each_other_are_of_an_unknown_unit(line: str) -> None:
    with pytest.raises(MalformedError, match=r"slb.txt: line 1: expected .* the units of this file are unknown"):
        parse_slb(line, "slb.txt")


def test_the_command_shows_the_scaling_and_takes_the_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "slb.txt").write_text(TWO + TWO)
    (tmp_path / "fio.json").write_text(fio_file(fio_job()))
    out, slb, other = (str(tmp_path / name) for name in ("out", "slb.txt", "fio.json"))

    assert run(["session", "import", slb, "-o", out]) == ExitStatus.USAGE
    assert run(["session", "import", slb, "--groups", "2,3", "-o", out]) == ExitStatus.USAGE
    assert run(["session", "import", slb, "--groups", "two", "-o", out]) == ExitStatus.USAGE
    assert run(["session", "import", other, "--groups", "1", "-o", out]) == ExitStatus.USAGE
    refused = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2].removeprefix(f"{slb}: ")[:40] for line in refused] == [
        "which of its 4 memhammer lines were star",
        "--groups 2,3: expected numbers of proces",
        "--groups: expected numbers of processes ",
        "--groups: expected a file with lines of ",
    ]
    assert run(["session", "import", slb, "--groups", "1,1,2", "-o", out]) == ExitStatus.OK
    assert "2 processes: 251 ns a store, 7.98 M stores/s in all, S(2) = 2.000" in capsys.readouterr().out
