"""Every published figure comes out of the command that docs/results/golden-figures.md prints."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from sizeup import cli
from sizeup.units import base_unit

PAGE = Path(__file__).parents[2] / "docs" / "results" / "golden-figures.md"
RATIOS = {
    "times": "times",
    "a-above-b": "a_above_b_percent_of_b",
    "b-above-a": "b_above_a_percent_of_a",
    "points": "points",
}
LISTED = {
    *(f"G-{number:02}" for number in (*range(1, 8), 9, 10, *range(12, 24), *range(25, 43), *range(45, 52))),
    *(f"G-{number}" for number in (53, 54, 55, 56, 58)),
    *(f"T-0{number}" for number in (47, 52, 53, 55, 60, 61, 63, 68, 70, 71, 72, 73)),
}
"""The figures that must be reached; a missing row fails."""


@dataclass(frozen=True)
class FigureRow:
    id: str
    command: str
    figure: str
    ours: str


def rows() -> list[FigureRow]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| [A-Z]-\d", line)]
    found = []
    for line in lines:
        number, _, command, figure, _, ours, _ = (cell.strip() for cell in line.strip("|").split("|"))
        found.append(FigureRow(number, command.strip("`"), figure.strip("`"), ours))
    return found


def answer(command: str, capture: pytest.CaptureFixture[str]) -> dict:
    program, *arguments = shlex.split(command)
    assert program == "sizeup"
    assert cli.run([*arguments, "--json"]) == 0
    return json.loads(capture.readouterr().out)


def looked_up(data: dict, figure: str) -> float | str:
    kind, _, rest = figure.rpartition(" ")
    if figure.startswith("ratio "):
        _, name, field = figure.split()
        return next(ratio for ratio in data["ratios"] if ratio["id"] == name)[RATIOS[field]]
    advice = next(advice for advice in data["advice"] if advice["id"] == rest)
    return advice["decision"] if kind == "decision" else advice["quantity"]["value"]


def agrees(value: float | str, ours: str, figure: str) -> bool:
    """Whether ``value`` in base units rounds to the number as the page prints it."""
    if isinstance(value, str):
        return value == ours
    match = re.fullmatch(r"(-?[\d,]+(?:\.(\d+))?)\s*(\S*)", ours)
    assert match is not None, ours
    is_ratio = figure.startswith("ratio ") or match[3] == "x"
    scale = 1 if is_ratio else base_unit(match[3])[1]
    half = 0.5 * 10.0 ** -len(match[2] or "")
    return abs(value / scale - float(match[1].replace(",", ""))) <= half * 1.000001


def test_every_published_figure_has_its_row() -> None:
    assert LISTED - {row.id for row in rows()} == set()


@pytest.mark.ci
def test_every_command_of_the_page_gives_the_figure_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    answers = {command: answer(command, capsys) for command in {row.command for row in rows()}}
    wrong = {
        (row.id, row.command, row.figure): (row.ours, value)
        for row in rows()
        if not agrees(value := looked_up(answers[row.command], row.figure), row.ours, row.figure)
    }

    assert wrong == {}
