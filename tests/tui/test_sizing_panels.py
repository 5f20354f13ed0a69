"""The panels of Sizing and the rows of the first screen at every width and in every look."""

import re

import pytest
from msgspec.structs import replace

from consoles import machine
from sizeup.charts.share_bar import ScreenLook, ShareBar, zone_signs
from sizeup.model.advice import Card, StageUse
from sizeup.model.finding import Finding, Severity
from sizeup.quantity import Origin
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.table import rows
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import Swing, tornado
from sizeup.text import plain
from sizeup.tui.screens.sizing_text import cost_lines, factor_lines, share_lines
from sizeup.tui.screens.summary_rows import RowTable, bar_legend, draw_balance, finding_lines, load_lines, stage_lines
from sizeup.views.cards.balance import balance
from sizeup.views.cards.cards import card_views
from sizeup.views.result.resource_rows import resource_rows

TYPED = {"workload.cpu_percent": "75", "workload.growth_percent": "15", "workload.horizon_years": "3"}
WIDTHS = pytest.mark.parametrize("width", [30, 42, 76, 116, 196])
LOOKS = pytest.mark.parametrize("look", ScreenLook)


def sizing() -> Sizing:
    return size(described(machine(), {key: KEYS[key].parse(text, Origin.USER, "") for key, text in TYPED.items()}))


@WIDTHS
@LOOKS
def test_no_line_is_wider_than_its_pane(width: int, look: ScreenLook) -> None:
    found = sizing()
    table = RowTable(resource_rows(card_views(found, machine()), [], None, machine()), width, look, 3)
    lines = [table.header, *(line for _, line in table.lines())]
    for high in (False, True):
        lines += share_lines(found.cards, {"cpu": 0.5}, width, look, high=high).split("\n")
    if width >= 42:
        swings = tornado(found.inputs, "verdict.cpu", shipped())
        lines += factor_lines(0.75, swings, width).split("\n")
    if width >= 76:
        lines += cost_lines(rows(found.inputs, shipped()), "oracle", width, look, 5).split("\n")

    assert [line.plain for line in lines if line.cell_length > width] == []


def test_a_bar_and_the_shares_behind_it_stand_apart_however_long_those_are() -> None:
    cards = [replace(card, share=1.5) if card.resource == "cpu" else card for card in sizing().cards]
    line = share_lines(cards, {"cpu": 1.26}, 76, ScreenLook.COLOR, high=False).split("\n")[1].plain

    assert " 126 % → 150 %" in line


def test_an_input_that_hardly_moves_the_share_has_no_row() -> None:
    swings = [Swing(key, 1, 2, 0.5, high, None) for key, high in (("workload.iops", 0.9), ("capacity.iops", 0.5001))]

    text = factor_lines(0.5, swings, 76).plain

    assert "IOPS wanted" in text
    assert "IOPS available" not in text


@LOOKS
def test_a_cost_of_nothing_has_no_bar_where_color_does_not_tell(look: ScreenLook) -> None:
    text = cost_lines(rows(sizing().inputs, shipped()), "postgresql", 76, look, 1).plain

    assert text.startswith("PostgreSQL")
    assert any(sign in text for sign in "▄=") == (look in (ScreenLook.COLOR, ScreenLook.SIXTEEN))


@LOOKS
def test_what_the_chosen_vendor_asks_is_unknown_and_not_absent(look: ScreenLook) -> None:
    """A guest whose host is not stated has no count of Oracle's licenses."""
    guest = {**sizing().inputs, "machine.guest": KEYS["machine.guest"].parse("yes", Origin.USER, "")}
    lines = cost_lines(rows(guest, shipped()), "oracle", 76, look, 3).plain.splitlines()

    assert lines[0].startswith("Oracle")
    assert "needs Cores of the hosts " in lines[0]
    assert lines[0].endswith("unknown")
    assert not any(sign in lines[0] for sign in "▄=")


@LOOKS
def test_a_finding_is_shown_whole_where_there_is_room(look: ScreenLook) -> None:
    words = " ".join(f"word{number}" for number in range(30))
    finding = Finding("memory.x", Severity.WARNING, words, (), "c", f"Mend {words}.")
    short, fact, whole = (finding_lines(finding, look, 40, folded) for folded in (0, 1, 2))

    assert len(short.plain.splitlines()) == 2
    assert words in " ".join(fact.plain.split())
    assert fact.plain.splitlines()[-1] == short.plain.splitlines()[-1]
    assert " ".join(whole.plain.split()).endswith(f"{words} Mend {words}.")
    assert all(line.cell_length <= 40 for line in whole.split("\n"))


@LOOKS
def test_a_change_shows_before_and_now_in_one_row(look: ScreenLook) -> None:
    (line,) = [
        line.plain
        for line in share_lines(sizing().cards, {"cpu": 0.5}, 76, look, high=False).split("\n")
        if line.plain.startswith("CPU")
    ]

    assert "50 % → 75 %" in line
    assert "FAIL" in line
    assert ("." if look is ScreenLook.ASCII else "○") in line


@LOOKS
def test_worst_row_and_its_status_can_be_named_in_every_look(look: ScreenLook) -> None:
    table = RowTable(resource_rows(card_views(sizing(), machine()), [], None, machine()), 116, look)
    first = next(line.plain for _, line in table.lines())

    assert first.startswith("CPU")
    assert "75 %" in first
    assert "FAIL" in first


@LOOKS
def test_the_balance_names_its_values(look: ScreenLook) -> None:
    found = balance(machine())
    assert found is not None
    text = draw_balance(found, 60, 20, look).text()

    assert all(words in text for words in ("CPU can use", "266 MB/s typical load", "Network", "1.25 GB/s"))
    assert text.count("unknown until measured") == len({"memory", "storage"} - {one.resource for one in found.supplies})
    assert "?" not in plain(text)


@pytest.mark.parametrize(("width", "least"), [(56, 16), (76, 20), (116, 22), (196, 60)])
def test_the_bar_of_a_share_takes_the_columns_that_the_figures_leave(width: int, least: int) -> None:
    table = RowTable(resource_rows(card_views(sizing(), machine()), [], None, machine()), width, ScreenLook.COLOR, 3)
    first = next(line.plain for _, line in table.lines())

    assert len(re.findall("[▄▖│◇◆▶]", first)) >= least
    assert first.rstrip().endswith("FAIL") or "WARN" in first
    assert table.header.cell_length <= width


@pytest.mark.parametrize(("width", "least", "of_stages"), [(36, 15, 15), (53, 20, 17), (68, 28, 25), (120, 40, 40)])
def test_bars_beside_the_findings_grow_with_their_pane(width: int, least: int, of_stages: int) -> None:
    found = balance(machine())
    assert found is not None
    stored = replace(found, supplies=(replace(found.supplies[0], resource="storage"),))
    stages = [StageUse("ports of the fabric", 0.4), StageUse("drives", 0.2)]
    loads = load_lines(stored, width, ScreenLook.COLOR).split("\n")
    paths = stage_lines(stages, width, ScreenLook.COLOR).split("\n")[1:]
    lines = [*loads, *paths]

    assert len(lines) == 5
    assert all(len(re.findall("[▄▖│]", line.plain)) == least for line in loads)
    assert all(len(re.findall("[▄▖│]", line.plain)) == of_stages for line in paths)
    assert all(line.cell_length <= width for line in lines if width > 50)


def test_a_stage_says_what_its_share_is_of_and_how_far_it_is_certain() -> None:
    stages = [
        StageUse("storage", 4.73, "uncertain", unit="IOPS", best=0.0, worst=None),
        StageUse("vda", 1.13, "fail", unit="MB/s", best=1.07, worst=None),
    ]
    _, open_, failing = stage_lines(stages, 54, ScreenLook.COLOR).split("\n")
    pale = [str(part.style) for part in open_.spans if "-pale" in str(part.style)]

    assert open_.plain.startswith("▶ storage, IOPS")
    assert failing.plain.startswith("· vda, MB/s")
    assert "$ok-pale" in pale
    assert not any("$ok-pale" in str(part.style) for part in failing.spans), "up to 100 % the failure is certain"


def test_titles_stand_above_their_columns_however_narrow_those_are() -> None:
    found = machine()
    rows = resource_rows(card_views(size(described(found, {})), found), [], balance(found, None), found)
    for width in range(56, 120, 4):
        table = RowTable(rows, width, ScreenLook.COLOR)
        line = next(line.plain for name, line in table.lines() if name == "cpu")

        assert table.header.plain.index("Health") == line.index("● ok")


def test_the_bars_of_the_balance_take_the_rows_that_there_are() -> None:
    found = balance(machine())
    assert found is not None
    high, low = (draw_balance(found, 116, rows, ScreenLook.COLOR) for rows in (44, 7))
    bars = [sum("█" in "".join(row[:16]) for row in drawing.rows) for drawing in (high, low)]
    shaded = [sum(role.endswith("@track") for role in column) for column in zip(*high.roles, strict=True)]

    assert bars == [5, 0]
    assert max(shaded) == 15
    assert all(name in low.text() for name in ("Memory", "Network"))


def test_the_least_balance_names_every_part_while_none_is_known() -> None:
    found = balance(replace(machine(), nics=()))
    assert found is not None
    text = draw_balance(found, 76, 7, ScreenLook.COLOR).text()

    assert text.count("unknown until measured") == 3


@LOOKS
@pytest.mark.parametrize("width", [42, 60, 116])
def test_no_two_labels_of_the_balance_run_into_each_other(look: ScreenLook, width: int) -> None:
    found = balance(machine())
    assert found is not None

    labels = draw_balance(found, width, 20, look).text().splitlines()[-1].split("  ")

    assert all(re.fullmatch(r"1(0|00)? [GMT]B/s", label.strip()) for label in labels if label)


def test_what_parts_deliver_has_one_heading_that_is_whole_in_80_columns() -> None:
    found = machine()
    rows = [
        replace(row, measured=("20,000 IOPS", "0.2 ms"))
        for row in resource_rows(card_views(size(described(found, {})), found), [], balance(found, None), found)
    ]

    assert " Can deliver  " in RowTable(rows, 76, ScreenLook.COLOR).header.plain


@LOOKS
def test_the_legend_names_only_signs_that_stand_on_a_bar(look: ScreenLook) -> None:
    cards = [card for card in sizing().cards if card.resource == "cpu"]
    plain_cards = [replace(card, n_plus_one=None, last_year=None) for card in cards]

    def legend(shown: list[Card], before: dict[str, float | None]) -> str:
        return share_lines(shown, before, 116, look, high=True).plain

    assert not any(words in legend(plain_cards, {}) for words in ("before the change", "N+1", "in "))
    assert "before the change" in legend(plain_cards, {"cpu": 9.0})
    assert "N+1" in legend([replace(card, n_plus_one=1.5) for card in plain_cards], {})

    for bar, named in ((ShareBar(0.5, 0.5), False), (ShareBar(0.5, 1.2), True)):
        assert (f"{zone_signs(look)[-1]} not certain" in bar_legend([bar], look, 0.0).plain) is named
    assert bar_legend([], look, 0.0).plain == ""


@WIDTHS
@LOOKS
def test_a_demand_without_a_capacity_has_its_status_in_one_line(width: int, look: ScreenLook) -> None:
    typed = {"workload.iops": KEYS["workload.iops"].parse("20000", Origin.USER, "")}
    cards = size(described(machine(), typed)).cards
    lines = share_lines(cards, {}, width, look, high=False).split("\n")
    open_ones = [replace(card, status="uncertain") for card in cards]

    assert "NO VERDICT" in "".join(line.plain for line in lines)
    assert "NOT CERTAIN" in share_lines(open_ones, {}, width, look, high=False).plain
    assert [line.plain for line in lines if line.cell_length > width] == []
