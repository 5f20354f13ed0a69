"""The answer of a comparison: one word, one sentence, and for each figure a change that agrees with its words."""

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from compare.test_headlines import FAST, compared, session, side, storage
from sizeup.charts.markup import Markup
from sizeup.compare.compare import compare
from sizeup.compare.comparison import Comparison
from sizeup.compare.conditions import parse_condition
from sizeup.compare.machines import Difference
from sizeup.report.html import _change_bar, page
from sizeup.views.comparison.answer import ChangeResult, change_rows, changed_card, comparison_band, side_names, trust
from sizeup.views.comparison.comparison import only_lines
from sizeup.views.document.comparison_document import comparison_document


def noisy(values: Sequence[float]) -> Comparison:
    return compare(side(values, 0), side([value * 1.01 for value in values], 10))


CASES = {
    "slower": (compared([value * 1.4 for value in FAST]), ChangeResult.SLOWER, "DRAM latency: 40 % longer since", "40"),
    "faster": (compared([value / 2 for value in FAST]), ChangeResult.FASTER, "DRAM latency: 50 % shorter since", "50"),
    "times": (compared([value * 3.1 for value in FAST]), ChangeResult.SLOWER, "DRAM latency: 3.1 times as long", "3.1"),
    "same": (compared(FAST), ChangeResult.SAME, "No difference: a change of 7 % or more is excluded.", ""),
    "few": (compare(side(FAST[:1], 0), side(FAST[:1], 9)), ChangeResult.CANNOT_TELL, "Too few runs: 1", "3"),
    "noisy": (noisy([92.0, 140.0, 70.0, 95.0]), ChangeResult.CANNOT_TELL, "The runs differ by up to ±", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_band_has_a_word_a_sentence_that_fits_and_a_number(name: str) -> None:
    comparison, result, sentence, number = CASES[name]
    band = comparison_band(comparison)

    assert (band.word, band.status) == (result.word, result.status)
    assert band.sentence.startswith(sentence)
    assert len(band.sentence) <= 80
    assert ("" if band.number is None else band.number.text) == number
    assert "--" not in " ".join((band.sentence, band.basis, *(step.text for step in band.steps)))


def test_a_session_beside_itself_is_the_same_and_asks_for_another_one() -> None:
    alone = side(FAST[:1], 0)
    band = comparison_band(compare(alone, alone))

    assert (band.word, band.sentence) == ("SAME", "Both sides are the same session.")
    assert band.number is None
    assert [step.text for step in band.steps] == ["A second session would show what changed."]


def test_where_no_figure_is_on_both_sides_none_is_called_valid() -> None:
    found = {one.name: one for one in trust(replace(CASES["slower"][0], headlines=()))}

    assert (found["All figures valid"].status, found["All figures valid"].text) == ("warn", "no, none is on both sides")


def test_the_largest_change_decides_and_the_others_are_named() -> None:
    pairs = [
        (session(2 * at, storage("d", (64, 40000.0 + at, 1.0 + at / 100))),
         session(2 * at + 1, storage("d", (64, 30000.0 + at, 0.9 + at / 100))))
        for at in range(6)
    ]  # fmt: skip
    comparison = compare([new for _, new in pairs], [old for old, _ in pairs])
    band = comparison_band(comparison)

    assert band.word == "SLOWER"
    assert band.sentence.startswith("Random read IOPS")
    assert "25 % less" in band.sentence
    assert change_rows(comparison)[0].change == "25 % less"


@pytest.mark.parametrize("name", CASES)
def test_bar_words_and_result_of_a_row_agree(name: str) -> None:
    (row,) = change_rows(CASES[name][0])
    assert row.better is not None

    if row.result in (ChangeResult.FASTER, ChangeResult.SLOWER):
        assert (row.better > 0) == (row.result is ChangeResult.FASTER) == ("shorter" in row.change)
        assert row.low is not None
        assert row.high is not None
        assert row.low <= row.better <= row.high
        assert (row.low > 0) == (row.high > 0) == (row.better > 0)


def drawn(markup: Markup, css_class: str, name: str) -> list[float]:
    return [float(at) for at in re.findall(rf'{name}="([\d.]+)%"[^>]*class="{css_class}"', markup)]


def test_a_change_bar_starts_at_zero_and_has_its_bracket_at_the_ends_of_the_interval() -> None:
    (row,) = change_rows(CASES["slower"][0])
    bar = _change_bar(replace(row, better=-0.2, low=-0.25, high=-0.15))
    better = _change_bar(replace(row, better=0.1, low=None, high=None, result=ChangeResult.FASTER))

    assert drawn(bar, "s2 pale", "x") == [18.0]  # 0.5 - 0.2 / 0.625
    assert drawn(bar, "s2 pale", "width") == [32.0]
    assert drawn(bar, "s2 bracket", "x1") == [10.0, 10.0, 26.0]
    assert drawn(bar, "same", "x") == [45.2]
    assert "20 % worse, between -25 and -15 percent" in bar
    assert drawn(better, "s1 pale", "x") == [50.0]
    assert "bracket" not in better


def test_a_change_beyond_the_scale_ends_in_an_arrow_to_its_side() -> None:
    (row,) = change_rows(CASES["slower"][0])
    inside, left, right = (_change_bar(replace(row, better=better)) for better in (-0.1, -0.9, 0.9))

    assert len({bar.partition('class="point"')[0].rpartition('d="')[2] for bar in (inside, left, right)}) == 3


def test_sides_are_told_apart_by_host_day_or_time() -> None:
    comparison = CASES["slower"][0]
    new, baseline = comparison.sides

    def named(**changes: str) -> tuple[str, str]:
        return side_names(replace(comparison, sides=((replace(new[0], **changes),), baseline)))

    assert named(host="db02") == ("db01", "db02")
    assert named(started="2026-02-03T00:00:00Z") == ("1 Jan", "3 Feb")
    assert named(started="2026-01-01T07:30:00Z") == ("1 Jan 00:00", "1 Jan 07:30")
    assert named(started=baseline[0].started) == ("baseline", "new")


def test_what_decides_whether_sides_can_be_compared_is_told_with_its_status() -> None:
    found = {name: [one.status for one in trust(CASES[name][0])] for name in ("slower", "few")}

    assert found == {"slower": ["ok", "ok", "ok"], "few": ["ok", "ok", "warn"]}


def test_the_page_opens_with_the_comparison_and_names_hosts_and_no_file() -> None:
    found = (Difference("Kernel", "6.2", "6.1"), Difference("THP", "never", "always"))
    comparison = replace(CASES["slower"][0], differences=found)
    markup = page(comparison_document(comparison))
    first = re.sub("<[^>]+>", " ", markup.partition("<body>")[2].partition("<details")[0])

    assert "<title>db01: SLOWER – sizeup</title>" in markup
    likely = "always → never (likely cause)"  # of a latency of memory
    parts = ("SLOWER", "Check THP", "Figure", "What else changed", likely, "6.1 → 6.2", "Interleaved")
    places = [first.index(part) for part in parts]
    assert places == sorted(places)
    assert "Check THP: always before, never now." in first
    assert first.count("likely cause") == 1
    rows = change_rows(comparison)
    assert changed_card(rows) == "memory"
    assert changed_card([replace(row, result=ChangeResult.NOT_VALID) for row in rows]) == ""
    assert "s0" not in first.split()  # the name of a file
    assert "--" not in first


def test_figures_of_one_side_are_counted_by_probe_and_those_at_other_loads_are_apart() -> None:
    new, baseline = ("io.direct.slo-p99", "null.one", "null.two"), ("io.direct.slo-p99", "clock.cost.cost")
    comparison = replace(CASES["same"][0], only_new=new, only_baseline=baseline)

    assert only_lines(comparison) == [
        "Only in B (new): null (2 figures)",
        "Only in A (baseline): clock.cost (1 figure)",
        "On both sides, at different loads: io.direct (1 figure)",
    ]


def test_conditions_decide_the_page_of_a_comparison() -> None:
    sides = side([value * 1.4 for value in FAST], 10), side(FAST, 0)
    met = compare(*sides, questions=[parse_condition("memory.latency.dram-thp-level > +5 %")])
    kept = compare(*sides, questions=[parse_condition("memory.latency.dram-thp-level > +900 %")])

    assert [comparison_document(one).band.word for one in (met, kept)] == ["FAIL", "PASS"]
