"""The recipes of docs/how-to/analyze-results.md: all of one question give one answer, and its commands run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from report.sessions import written
from report.test_tidy import SEEK, one_step
from sizeup import cli
from sizeup.model.plan import SeriesQuantity
from sizeup.model.sample import Estimate
from sizeup.session.records import Record

PAGE = (Path(__file__).parents[2] / "docs/how-to/analyze-results.md").read_text(encoding="utf-8")
RECIPES = {
    (tool, question): code
    for tool, question, code in re.findall(r"<!-- recipe: (\w+) (\w+) -->\n```python\n(.*?)```", PAGE, re.DOTALL)
}
ANSWERS = {
    "best": [("db02", 300.0), ("db01", 220.0)],
    "spread": [("db01", 4, 2, pytest.approx(20 / 210)), ("db02", 4, 2, 0.0)],
    "invalid": [("db02", "it did not converge", 2)],
}
PACKAGES = {"duckdb": ("duckdb",), "polars": ("polars",), "pandas": ("pandas", "pyarrow")}


def session(host: str, name: str, *values: float, valid: bool = True) -> list[Record]:
    series = SEEK.__class__(
        "iops", "IOPS", "1/s", SEEK.better, "queue_depth", quantities=(SeriesQuantity("storage.random_iops"),)
    )
    points = [
        Estimate("iops", {"queue_depth": depth, **({} if valid else {"workload": "x"})}, value, converged=valid)
        for depth, value in zip((1, 4), values, strict=False)
    ]
    first, *rest = one_step("io.direct", *points, series=series, host=host)
    return [first.__class__(1, name, "sizeup 0", host, "2026-01-31T09:30:00Z"), *rest]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sessions of two hosts."""
    (tmp_path / "sessions").mkdir()
    found = {
        "a": session("db01", "1", 100.0, 200.0),
        "b": session("db01", "2", 120.0, 220.0),
        "c": session("db02", "3", 90.0, 300.0),
        "d": session("db02", "4", 90.0, 300.0),
        "e": session("db02", "5", 900.0, 950.0, valid=False),
    }
    for name, records in found.items():
        written(tmp_path / f"sessions/{name}.sizeup.jsonl", *records)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_question_has_a_recipe_for_each_tool() -> None:
    assert set(RECIPES) == {(tool, question) for tool in PACKAGES for question in ANSWERS}
    assert PAGE.count("```python") == len(RECIPES)


@pytest.mark.ci
@pytest.mark.parametrize(("tool", "question"), sorted(RECIPES))
def test_a_recipe_gives_the_answer(tool: str, question: str, folder: Path) -> None:
    for package in (*PACKAGES[tool], "duckdb"):  # DuckDB writes the Parquet file
        pytest.importorskip(package, reason=f"the recipe needs {package}")
    sessions = sorted(map(str, folder.glob("sessions/*")))
    assert cli.run(["session", "export", *sessions, "--format", "tidy-parquet", "-o", "estimates.parquet"]) == 0
    for number, path in enumerate(sessions):
        assert cli.run(["export", path, "--format", "tidy-csv", "-o", f"{number}.csv"]) == 0

    names: dict[str, object] = {}
    exec(RECIPES[tool, question], names)

    assert rows(names[question]) == ANSWERS[question]


def rows(found: object) -> list[tuple[object, ...]]:
    """The rows of a relation of DuckDB or a frame; of the spread those at queue depth 4."""
    if hasattr(found, "fetchall"):
        plain = found.fetchall()
    elif hasattr(found, "rows"):
        plain = found.rows()
    else:
        plain = list(found.itertuples(index=False, name=None))
    return [row for row in plain if len(row) < 4 or row[1] == 4]


@pytest.mark.ci
def test_the_commands_of_the_page_run_as_they_are_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb", reason="Parquet needs DuckDB (extra fleet)")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    commands = re.findall(r"^sizeup .*$", PAGE, re.MULTILINE)
    script = "\n".join(("set -e", f'sizeup() {{ "{sys.executable}" -m sizeup "$@"; }}', *commands))

    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert len(commands) == 6
    made = {"estimates.parquet", "estimates.csv", "sizeup.prom", "masked.sizeup.jsonl.gz", "masked.csv"}
    assert made <= {path.name for path in folder.iterdir()}
