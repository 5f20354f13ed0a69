"""A figure without a single value is shown as a range, alike in every place; a note stands beside its figure."""

import pytest

from sizeup.charts import text_alternative
from sizeup.charts.cells import bar_readout, draw_bars
from sizeup.charts.drawing import Glyphs
from sizeup.charts.svg import standalone
from sizeup.model.plan import Better, Series, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.report.data import results_json
from sizeup.report.markdown import markdown
from sizeup.report.text import text
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.units import format_range
from sizeup.views.document.document import document
from sizeup.views.run.finished import headline
from sizeup.views.run.point_rows import point_rows
from sizeup.views.run.step import point_value

LEVELS = Series("levels", "Latency by level", "ns", Better.LOWER, headline={"level": "L3"})
CAUSE = "the latencies at 8 MiB and 16 MiB differ by a factor of 3.3; cause unknown"


def run(**extra: str) -> StepRun:
    one = StepRun(
        Step("s", "p", "Memory latency", {}, 1.0, 2.0),
        "sizeup",
        {"levels": LEVELS},
        "curve",
        0,
        outcome=Outcome(Status.OK),
    )
    figures = {"L1": (1.2, 1.1, 1.3, {"note": "4.9 core cycles"}), "L3": (26.0, 12.0, 40.0, extra)}
    for level, (value, low, high, more) in figures.items():
        at = {"level": level}
        caveats = (extra["range_cause"],) if more is extra and extra else ()
        estimate = Estimate("levels", at, value, low, high, 5, converged=True, caveats=caveats, extra=more)
        one.points[point_key("levels", at)] = Point("levels", at, estimate=estimate)
    return one


def shown(one: StepRun) -> dict[str, str]:
    """Everything that shows the figure of the L3, by what it is called."""
    session = Session(SessionRecord(1, "1", "sizeup 0", "db01", "2026-01-01T00:00:00Z"), steps={"s": one})
    chart = headline(one, None)
    drawn = draw_bars(chart, 78, 8, Glyphs.BLOCK, None)  # type: ignore[arg-type]
    return {
        "status line": point_value(one),
        "reach": text_alternative.value_range(chart),
        "readout": bar_readout(chart, 1),  # type: ignore[arg-type]
        "drawing": "\n".join("".join(row) for row in drawn.rows),
        "picture": standalone(chart),
        "text": text(document(session)),
        "markdown": markdown(document(session)),
        "json": results_json(session),
    }


@pytest.mark.parametrize("where", shown(run(range_cause=CAUSE)))
def test_a_range_is_told_as_one_in_every_place_and_never_as_one_figure(where: str) -> None:
    ranged, single = shown(run(range_cause=CAUSE))[where], shown(run())[where]

    assert "12 to 40 ns" in ranged
    assert "26 ns" not in ranged
    assert "26 ns" in single


def test_the_cause_of_a_range_is_among_the_caveats_and_its_bar_is_marked() -> None:
    found = shown(run(range_cause=CAUSE))

    assert any(CAUSE in note for note in point_rows(run(range_cause=CAUSE)).notes)
    assert CAUSE in " ".join(found["text"].split())
    assert found["readout"] == "L3 12 to 40 ns range"


def test_a_note_stands_beside_the_figure_of_a_bar() -> None:
    assert "4.9 core cycles" in shown(run())["text"]


@pytest.mark.parametrize(
    ("low", "high", "told"), [(12, 40, "12 to 40 ns"), (900, 1200, "900 ns to 1.2 us"), (12.0, 12.0, "12 to 12 ns")]
)
def test_the_unit_of_a_range_is_told_once_where_both_ends_have_it(low: float, high: float, told: str) -> None:
    assert format_range(low, high, "ns") == told
