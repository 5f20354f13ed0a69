"""The lines of the first screen: what decides is cut at the end of a sentence."""

from sizeup.tui.screens.summary_text import status_styles, verdict_content
from sizeup.views.result.verdict import VerdictText

LONG = VerdictText("NO VERDICT", "Storage: unknown. " + " ".join(f"Sentence {at} says a good deal." for at in range(9)))


def test_a_long_statement_ends_with_a_sentence_and_the_key_that_shows_the_rest() -> None:
    lines = verdict_content(LONG, 60, status_styles(ansi=False), 4).plain.splitlines()

    assert len(lines) == 4
    assert lines[0].startswith("  NO VERDICT   Storage: unknown. Sentence 0")
    assert " ".join(" ".join(lines).split()).endswith("deal. Enter on the card shows the rest.")


def test_with_room_all_of_it_is_shown() -> None:
    text = " ".join(verdict_content(LONG, 60, status_styles(ansi=False), 20).plain.split())

    assert text.endswith("Sentence 8 says a good deal.")
