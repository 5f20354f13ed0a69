"""A warning or a failure that rests on a default says so wherever it is shown, and no whole passes in part."""

from collections.abc import Callable

import pytest

from sizeup.batch.standard_output import verdict_lines
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import flips
from sizeup.views.cards.cards import CardView, card_views, cards_data
from sizeup.views.cards.table import card_table
from sizeup.views.document.document import cards_table
from sizeup.views.inputs.sensitivity import flip_table
from sizeup.views.inputs.sizing_table import answer_rows
from sizeup.views.result.answer import answer_lines
from sizeup.views.result.verdict import verdict_text

PATHS = ("workload.mb_s=300", "path.stages=hba:fc16*2@2", "path.policy=active-active")
DRIVES = ("array.disks=24", "array.raid=10", "array.drive_iops=20000", "array.drive_mb_s=500")
THUMB = "workload.rules_of_thumb=yes"
SERVER = ("machine.memory_gib=64", "db.gb=4000", THUMB)


def sized(*settings: str) -> Sizing:
    return size(parse_settings([*PATHS, *settings]))


def memory(sizing: Sizing) -> CardView:
    return next(view for view in card_views(sizing, None) if view.resource == "memory")


SHOWN: dict[str, Callable[[Sizing, int], str]] = {
    "answer": lambda sizing, _: "\n".join(answer_lines(sizing)),
    "table": lambda sizing, width: "\n".join(card_table(card_views(sizing, None), width)),
    "report": lambda sizing, _: "\n".join(map(" ".join, cards_table(card_views(sizing, None)).rows)),
    "verdict": lambda sizing, width: "\n".join(
        verdict_lines(verdict_text(sizing, card_views(sizing, None)), max(width, 60))
    ),
}


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize(("gib", "status"), [("64", "FAIL"), ("500", "WARN")])
def test_what_rests_on_a_rule_never_reads_like_a_fact(name: str, width: int, gib: str, status: str) -> None:
    by_rule = sized("db.gb=4000", THUMB, f"machine.memory_gib={gib}", *DRIVES)
    by_fact = sized("sga.mb=400000", f"machine.memory_gib={gib}", *DRIVES)

    assert f"{status} (assumed)" in SHOWN[name](by_rule, width)
    text = SHOWN[name](by_fact, width)
    assert status in text
    assert "(assumed)" not in text


def test_the_narrowest_table_marks_it_with_a_question_mark() -> None:
    lines = card_table(card_views(sized(*SERVER), None), 24)

    assert any(line.startswith("Memory") and line.endswith("FAIL?") for line in lines)
    assert max(map(len, lines)) <= 25


def test_the_list_of_answers_marks_the_subject() -> None:
    titles = {row.title for row in answer_rows(sized(*SERVER)) if row.id == "verdict.memory"}

    assert titles == {"Memory (assumed)"}
    titles = {row.title for row in answer_rows(sized("sga.mb=1024000", "machine.memory_gib=64"))}
    assert "Memory" in titles


def test_the_reason_is_in_the_data() -> None:
    data = next(card for card in cards_data(card_views(sized(*SERVER), None)) if card["card"] == "memory")
    assert not data["certain"]

    assert data["assumed"] == ["a buffer pool of 10 % of the database"]


@pytest.mark.parametrize(
    ("settings", "row", "status", "of_row"),
    [
        (PATHS, "Paths", "NOT CERTAIN", "NOT CERTAIN"),
        (("workload.iops=4000", "workload.io_kib=8", "workload.read_percent=60", *DRIVES), "Drives", "ASSUMED", "PASS"),
        ((*PATHS, *DRIVES), "Storage", "PASS", "PASS"),
        ((*PATHS, "capacity.mb_s=2000"), "Storage", "PASS", "PASS"),
    ],
)
def test_the_whole_passes_only_where_paths_and_disks_were_judged(
    settings: tuple[str, ...], row: str, status: str, of_row: str
) -> None:
    sizing = size(parse_settings([*settings, "redo.mb_s=1", "redo.write_kib=8"]))
    lines = answer_lines(sizing)

    assert lines[0].startswith(f"{status} ")
    assert any(line.startswith(f"{row} ") and line.endswith(f" {of_row}") for line in lines)
    assert verdict_text(sizing, card_views(sizing, None)).status == status


def test_what_would_change_a_decision_says_where_it_rests_on_a_rule() -> None:
    sizing = sized(*SERVER)
    turns = flips(sizing.inputs, sizing.advice, shipped())
    now = {row[1] for row in flip_table(turns, sizing, shipped()).rows if row[0] == "Memory"}

    assert now == {"FAIL (assumed)"}
