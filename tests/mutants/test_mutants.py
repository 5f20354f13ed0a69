"""The list of mutants stays usable: each still finds its text, and names tests that exist."""

from collections import Counter
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


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_it_applies_and_names_who_notices(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text(encoding="utf-8")

    assert mutant.applied_to(source) != source
    assert mutant.wrong.endswith(".")
    assert mutant.tests, "name the tests that are expected to notice"
    for test in (*mutant.tests, *c_tests_of(mutant.file)):
        path = ROOT / (test.partition("::")[0] if "/" in test else f"native/tests/{test}.c")
        assert path.exists(), f"{test} does not exist"
    assert all(any(ROOT.glob(pattern)) for pattern in pytest_files_of(mutant.file))


def test_a_text_that_has_gone_or_comes_twice_is_told() -> None:
    mutant = Mutant("gone", "a.c", "return x;", "return 2 * x;", "Twice.")

    assert mutant.applied_to("{ return x; }") == "{ return 2 * x; }"
    for source in ("{ return y; }", "return x; return x;"):
        with pytest.raises(ValueError, match="expected its text once in"):
            mutant.applied_to(source)
