"""The band in every look: the same words, one row each, nothing outside."""

import pytest
from msgspec.structs import replace

from sizeup.charts.share_bar import ScreenLook
from sizeup.text import plain
from sizeup.tui.widgets.band import band_rows
from sizeup.views.band import Band, NextStep, Number

BAND = Band(
    "FAIL",
    "bad",
    "Storage is too slow: 40,000 IOPS wanted, 30,500 measured on /u01.",
    steps=(NextStep("Move /u01 to the local NVMe mirror: 14 %.", "4", "tries it"),),
    basis="AWR peak hour, 96 snapshots · measured 12 min ago, ±1.8 % · 2 assumed",
    why="Enter",
    number=Number("131", "%", "of storage capacity"),
    short="Storage: 40,000 IOPS wanted, 30,500 measured",
)


@pytest.mark.parametrize("look", ScreenLook)
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("width", [40, 76, 116, 196])
def test_every_row_is_as_wide_as_the_screen(look: ScreenLook, width: int, *, small: bool) -> None:
    for band in (BAND, Band("NO WORKLOAD", "acc", "A balanced server."), Band("WARN", "warn", "x", before=BEFORE)):
        rows = band_rows(band, width, look, small=small)

        assert len(rows) == 3 if small else 4
        assert all(row.cell_length <= width for row in rows)


BEFORE = ("FAIL", "bad", "131 %")


@pytest.mark.parametrize("look", ScreenLook)
def test_every_look_has_the_same_words(look: ScreenLook) -> None:
    shown = "\n".join(row.plain for row in band_rows(BAND, 116, look, small=False))

    for part in ("FAIL", BAND.sentence, "Next  Move /u01", "4 tries it", "2 assumed", "Enter why", " %", "of storage"):
        assert part in shown


def test_without_color_the_badge_has_a_frame() -> None:
    for look in (ScreenLook.PLAIN, ScreenLook.ASCII):
        shown = band_rows(BAND, 76, look, small=False)[1].plain.split("Next")[0].strip()

        assert (shown, plain(shown)) == ("┃    FAIL   ┃", "|    FAIL   |")


def test_in_ascii_the_number_is_plain_text_and_no_sign_is_lost() -> None:
    band = Band("WARN", "warn", "Solved.", number=Number("82", "%", "CPU"), before=BEFORE)
    shown = plain("".join(row.plain for row in band_rows(band, 116, ScreenLook.ASCII, small=False)))

    assert "82 %" in shown
    assert "?" not in shown


def test_a_narrow_screen_takes_the_short_sentence_and_no_number() -> None:
    shown = "\n".join(row.plain for row in band_rows(BAND, 76, ScreenLook.COLOR, small=False))

    assert BAND.short in shown
    assert "of storage" not in shown
    assert "…" not in shown.splitlines()[0]


def test_a_change_shows_what_was_before() -> None:
    rows = band_rows(Band("WARN", "warn", "CPU reaches 82 %.", before=BEFORE), 116, ScreenLook.PLAIN, small=False)

    assert rows[1].plain.split("┃")[0].strip() == "[FAIL] 131 %  ━━━▶"


def test_where_there_is_little_room_what_to_do_stays_whole_before_the_basis_and_its_last_parts_go() -> None:
    step = NextStep("Run io.direct again while the machine is idle, with more seconds.", "r", "measures")
    basis = "90k IOPS at QD 128, p99 6.52 ms · not valid · 13,248 samples"
    long, short = (
        [row.plain.rstrip() for row in band_rows(band, 60, ScreenLook.COLOR, small=True)]
        for band in (
            Band("WARN", "warn", "x", steps=(step,), basis=basis),
            Band("WARN", "warn", "x", steps=(NextStep("Run it again.", "r"),), basis=basis),
        )
    )

    assert " ".join(" ".join(long[1:]).split()) == f"Next {step.text} r measures"
    assert short[2].endswith("90k IOPS at QD 128, p99 6.52 ms · not valid")


def test_what_to_do_goes_on_in_the_row_that_a_narrow_band_has_for_no_number() -> None:
    text = "Measure where 4 GiB or more are older than a day (less was found), or enter capacity.iops."
    band = Band("NOT CERTAIN", "warn", "Storage", steps=(NextStep(text, "3", "measures"),), basis="Capacity measured")
    rows = [row.plain.rstrip() for row in band_rows(band, 76, ScreenLook.COLOR, small=False)]
    shown = " ".join(" ".join(row[15:].removeprefix("  Next").split()) for row in rows[1:3])

    assert shown.startswith("Measure where 4 GiB or more are older than a day (less was found)")
    assert rows[2].endswith((" 3", " 3 measures"))
    assert rows[3].endswith("Capacity measured")


@pytest.mark.parametrize("width", range(60, 84))
def test_no_row_begins_with_a_percent_sign(width: int) -> None:
    step = NextStep("Provide at least 103,700 IOPS (259 % at worst, limit 100 %).", "4", "tries it")
    rows = band_rows(Band("FAIL", "bad", "x", steps=(step,)), width, ScreenLook.COLOR, small=False)

    assert not any(row.plain[15:].lstrip().startswith("%") for row in rows)


def test_what_a_key_does_goes_before_a_word_of_what_to_do() -> None:
    text = "Measure each side 3 more times, interleaved."
    band = Band("WARN", "warn", "x", steps=(NextStep(text, "r", "measures again"),))
    _, following, _ = (row.plain.rstrip() for row in band_rows(band, 62, ScreenLook.COLOR, small=True))

    assert following.endswith(f"{text} r")


def test_what_a_key_alone_does_is_cut_at_the_edge() -> None:
    step = NextStep(key="r", does="Measure memory, the clock and a disk (about 40 s)")
    rows = band_rows(Band("NO WORKLOAD", "acc", "x", steps=(step,)), 56, ScreenLook.COLOR, small=False)

    assert rows[1].plain.partition("Next ")[2].startswith("r Measure memory, the clock")


def test_a_sentence_for_which_a_change_leaves_no_room_gives_way_to_the_short_one() -> None:
    shown = [
        band_rows(replace(BAND, before=before), 112, ScreenLook.COLOR, small=False)[0].plain
        for before in (None, BEFORE)
    ]

    assert BAND.sentence in shown[0]
    assert BAND.short in shown[1]
