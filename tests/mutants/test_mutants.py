"""The list of mutants stays usable: each still finds its text, and names tests that exist."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.areas import c_tests_of, pytest_files_of
from mutants.run import LIST, Mutant, mutants

ROOT = Path(__file__).parents[2]
MUTANTS = mutants()
FEWEST = 30


def test_there_are_enough_with_names_of_their_own() -> None:
    assert len(MUTANTS) >= FEWEST
    assert [name for name, count in Counter(mutant.name for mutant in MUTANTS).items() if count > 1] == []
    assert LIST.parent == Path(__file__).parent


def problems(mutant: Mutant) -> Iterator[str]:
    """Return what is wrong with an entry of the list."""
    source = (ROOT / mutant.file).read_text(encoding="utf-8")
    try:
        if mutant.applied_to(source) == source:
            yield "it changes nothing"
    except ValueError as error:
        yield str(error)
    if not mutant.wrong.endswith("."):
        yield f"expected a sentence, found {mutant.wrong!r}"
    if not mutant.tests:
        yield "name the tests that are expected to notice"
    for test in (*mutant.tests, *c_tests_of(mutant.file)):
        path = ROOT / (test.partition("::")[0] if "/" in test else f"native/tests/{test}.c")
        if not path.exists():
            yield f"{test} does not exist"
    yield from (f"no file is {pattern}" for pattern in pytest_files_of(mutant.file) if not any(ROOT.glob(pattern)))


def test_each_applies_and_names_who_notices() -> None:
    assert [f"{mutant.name}: {problem}" for mutant in MUTANTS for problem in problems(mutant)] == []


def test_an_entry_that_is_wrong_is_told() -> None:
    one = MUTANTS[0]

    assert list(problems(one)) == []
    for change in (
        {"new": one.old},
        {"old": "no such text"},
        {"wrong": "No end"},
        {"tests": ()},
        {"tests": ("t/u.py",)},
    ):
        assert len(list(problems(replace(one, **change)))) == 1, change


def test_a_text_that_has_gone_or_comes_twice_is_told() -> None:
    mutant = Mutant("gone", "a.c", "return x;", "return 2 * x;", "Twice.")

    assert mutant.applied_to("{ return x; }") == "{ return 2 * x; }"
    for source in ("{ return y; }", "return x; return x;"):
        with pytest.raises(ValueError, match="expected its text once in"):
            mutant.applied_to(source)
