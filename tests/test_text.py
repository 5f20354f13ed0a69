"""Nothing that a device, a file or a probe says can steer the terminal."""

import pytest

from sizeup.text import clean, clipped, decode, first_of, nearest, one_line


def test_control_characters_and_overrides_are_replaced_and_text_is_kept() -> None:
    assert clean("KVM\x1b[31m \u202eevil\x9b ümlaut 漢 \ud800") == "KVM\ufffd[31m \ufffdevil\ufffd ümlaut 漢 \ufffd"


@pytest.mark.parametrize("character", "\x00\x1b\x7f\x9f\u061c\u200e\u200f\u2028\u202e\u2066\u2069\udfff\ufeff")
def test_each_character_that_steers_is_replaced_where_it_stands_alone(character: str) -> None:
    assert clean(character) == clean(f"a{character}")[1:] == "\ufffd"


def test_one_line_is_one_line_of_bounded_length() -> None:
    assert one_line("a\n b\tc") == "a b c"
    assert one_line("x" * 400, 10) == "xxxxxxxxx…"


def test_a_kernel_file_keeps_what_parts_it_and_loses_what_steers() -> None:
    assert decode(b"model\t: a\nb\0c") == "model\t: a\nb\0c"
    assert decode(b"a\x1b]0;x\x07\tb\xe2\x80\xae\xc2\x9b\xff") == "a\ufffd]0;x\ufffd\tb\ufffd\ufffd\ufffd"


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("machine.core", "machine.cores"),
        ("machin.ghz", "machine.ghz"),
        ("license.cores", ""),
        ("license.scop", "license.scope"),
        ("nothing", ""),
    ],
)
def test_only_a_near_spelling_is_suggested(name: str, suggested: str) -> None:
    hint = nearest(name, ("machine.cores", "machine.ghz", "license.scope", "license.pack"))

    assert hint == (f" (did you mean {suggested}?)" if suggested else "")


def test_of_many_names_the_first_are_given_and_the_others_counted() -> None:
    assert [first_of(list("abcd")[:count], 2) for count in range(5)] == [
        "",
        "a",
        "a, b",
        "a, b and 1 more",
        "a, b and 2 more",
    ]


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("as it is", 8, "as it is"),
        ("between two words", 12, "between two…"),
        ("inside of words", 11, "inside of…"),
        ("after a comma, and on", 15, "after a comma…"),
        ("unbreakable", 6, "unbre…"),
        ("a unbreakable", 8, "a unbre…"),
        ("none", 0, "…"),
    ],
)
def test_a_text_is_cut_between_words_where_these_are_short(text: str, columns: int, shown: str) -> None:
    assert clipped(text, columns) == shown
