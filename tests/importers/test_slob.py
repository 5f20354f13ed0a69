"""Figures of SLOB's reports."""

from importers.results import SLOB, caveats, figures
from sizeup.importers.slob import parse_slob


def test_slob_counts_mebibytes_and_microseconds() -> None:
    imported = parse_slob(SLOB, "awr_info.txt")
    shown = figures(imported)

    assert shown["physical-reads", 8, ""] == 52_100
    assert shown["read-rate", 8, ""] == 407 * 1024**2
    assert shown["write-rate", 8, ""] == 3 * 1024**2
    assert shown["redo-rate", 8, ""] == 0.5 * 1024**2
    assert shown["sequential-read-wait", 8, ""] == 512_000
    assert shown["sequential-read-wait", 16, ""] == 950_000
    assert caveats(imported) == set()


def test_slob_events_that_the_report_does_not_list_are_unknown_and_not_0() -> None:
    imported = parse_slob(SLOB, "awr_info.txt")

    assert {(series, at) for series, at, _ in figures(imported) if series.endswith("-wait")} == {
        ("sequential-read-wait", 8),
        ("parallel-write-wait", 8),
        ("log-write-wait", 8),
        ("sequential-read-wait", 16),
        ("parallel-write-wait", 16),
    }
    assert ("physical-writes", 16, "") not in figures(imported)
    assert imported.notes[1] == (
        "awr.txt.8 (8 sessions): wait unknown, because awr_info found no such event in the report: "
        "direct path read, db file parallel read."
    )


def test_slob_cells_that_the_script_cannot_have_printed_are_left_out_with_a_note() -> None:
    imported = parse_slob(SLOB.replace("     512|", "0.5|").replace("  407.0", "407,0"), "awr_info.txt")

    assert ("sequential-read-wait", 8, "") not in figures(imported)
    assert ("read-rate", 8, "") not in figures(imported)
    assert "awr.txt.8 (8 sessions): READ_MBS left out: expected a number, as awr_info prints it, found '407,0'." in (
        imported.notes
    )
    assert any("DFSR_LAT left out: expected a whole number of microseconds" in note for note in imported.notes)


def test_slob_rows_without_sessions_are_named_and_further_ones_of_as_many_are_another_round() -> None:
    imported = parse_slob(SLOB.replace("awr.txt.16|16|", "awr.txt.8|8|") + "awr.txt||300|4|||1|\n", "awr_info.txt")

    assert [dict(step.estimates[0].at) for step in imported.steps] == [{"sessions": 8}] * 2
    assert any(
        note.startswith("awr.txt: left out, because its number of sessions is unknown") for note in imported.notes
    )
