"""A session with a number at the end of what a number can be, in any field: every view shows it or leaves it out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from report.sessions import records, written
from sizeup import cli
from sizeup.charts.cells import cursor_positions, draw
from sizeup.charts.drawing import Glyphs
from sizeup.charts.svg import standalone
from sizeup.errors import SizeupError
from sizeup.session.reader import read_session
from sizeup.views.run.chart_list import chart_list, underlying_charts

COMMANDS = (
    ("session", "show", "session"),
    ("session", "export", "session", "--format", "html"),
    ("session", "export", "session", "--json"),
    ("session", "compare", "session", "--against", "whole", "--points"),
    ("size", "--machine", "session"),
    ("detect", "--against", "session"),
)


def numbers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to each number in a record; of a list its first two items."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value[:2]):
            yield from numbers(item, (*path, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def replaced(line: str, path: tuple[str | int, ...], number: float) -> str:
    record = inner = json.loads(line)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = number
    return json.dumps(record, separators=(",", ":"))


def draw_all(path: Path) -> None:
    session = read_session(str(path))
    for run in session.steps.values():
        behind = [picture for key in list(run.points)[:2] for picture in underlying_charts(run, key)]
        for picture in (*chart_list(run, session.machine), *behind):
            chart = picture.draw()
            if chart is not None:
                draw(chart, 80, 20, Glyphs.BRAILLE)
                standalone(chart)
                for place in range(min(cursor_positions(chart), 3)):
                    draw(chart, 80, 20, Glyphs.BRAILLE, place)


@pytest.mark.parametrize("number", [1e308, (1 << 63) - 1, -1e308, 5e-324, 0, -(1 << 63) + 1])
def test_no_number_in_a_session_ends_a_view(number: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = Path(written(tmp_path / "whole", *records())).read_text().splitlines()
    seen = set()
    for index, line in enumerate(lines):
        record = json.loads(line)
        for path in numbers(record):
            shape = (record["kind"], *(part for part in path if isinstance(part, str)))
            if shape in seen:
                continue
            seen.add(shape)
            spoilt = [*lines[:index], replaced(line, path, number), *lines[index + 1 :], ""]
            (tmp_path / "session").write_text("\n".join(spoilt))
            statuses = {cli.run(command) for command in COMMANDS}
            assert statuses <= {0, 2, 5}, shape
            try:
                draw_all(tmp_path / "session")
            except SizeupError:
                assert record["kind"] == "session", "only a header that is none makes a session unreadable"
    assert len(seen) > 30


def test_a_point_without_samples_has_nothing_behind_it(tmp_path: Path) -> None:
    session = read_session(written(tmp_path / "session", *records()))
    run = next(iter(session.steps.values()))

    assert underlying_charts(run, ("no such series", ())) == ()
