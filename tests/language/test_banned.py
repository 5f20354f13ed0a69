"""User-visible text uses the field's words: the phrases of banned.txt occur nowhere."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from language.user_visible import Text, helps, literals, paragraphs, toml_texts, user_visible

HERE = Path(__file__).parent


def read_entries(text: str) -> list[tuple[str, str, str]]:
    """Return expression, failing and passing example of each entry."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    entries = []
    for expression, no, ok in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        assert no.startswith("no: "), no
        assert ok.startswith("ok: "), ok
        entries.append((expression, no.removeprefix("no: "), ok.removeprefix("ok: ")))
    return entries


ENTRIES = read_entries((HERE / "banned.txt").read_text(encoding="utf-8"))


@cache
def texts() -> tuple[Text, ...]:
    return tuple(user_visible())


def matches(expression: str, text: str) -> list[str]:
    return [match[0].lower() for match in re.finditer(expression, text, re.IGNORECASE)]


def found(texts: Sequence[Text], expressions: Iterable[str]) -> list[str]:
    """Return each phrase that an expression matches, and where."""
    told = list[str]()
    for expression in expressions:
        search = re.compile(expression, re.IGNORECASE).search
        told += [
            f"{path}:{line}: {phrase!r} in {text[:200]!r}"
            for path, line, text in texts
            if search(text)
            for phrase in matches(expression, text)
        ]
    return told


def test_an_expression_matches_its_failing_example_only() -> None:
    for expression, no, ok in ENTRIES:
        assert matches(expression, no), expression
        assert not matches(expression, ok), expression
        assert " " in no
        among = [("a", 1, "An end."), ("b", 2, no), ("c", 3, "And more.")]
        assert [line[:4] for line in found(among, [expression])] == ["b:2:"] * len(matches(expression, no)), expression


@pytest.mark.ci
def test_no_user_visible_text_has_a_banned_phrase() -> None:
    paths = {path.partition("/")[0] for path, _, _ in texts()}
    assert {"README.md", "CHANGELOG.md", "docs", "console", "plugins", "sizeup session compare --help"} <= paths
    assert found(texts(), [expression for expression, _, _ in ENTRIES]) == []


def test_each_kind_of_text_is_read() -> None:
    """A phrase is found in a literal, in an f-string, in a manifest, in a page over two lines, and in a help text."""
    assert list(literals('"""Doc cut short."""\nx = "was cut short"')) == [(2, "was cut short")]
    assert list(literals('x = f"{a} requests under {b}way" "!"')) == [(1, "{} requests under {}way!")]
    assert list(toml_texts('name = "x"\n[[parameter]]\nhelp = "requests\\n  out"')) == [(3, "requests out")]
    assert list(paragraphs("# A\n\nrequests\nout\n- one\n  more\n| a | b |\n")) == [
        (1, "# A"), (3, "requests out"), (5, "- one more"), (7, "| a | b |"),
    ]  # fmt: skip
    assert dict(helps())["sizeup session prune --help"].startswith("usage: sizeup session prune")
