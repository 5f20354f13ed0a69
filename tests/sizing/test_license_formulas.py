"""Formulas of rule packs compute, and do nothing besides."""

import gc
import sys

import pytest

from sizeup.errors import MalformedError
from sizeup.sizing import rules
from sizeup.sizing.formula import parse_formula

PACK = """
schema = "sizeup.rules/1"
pack = "x"
title = "X"
checked = 2026-11-20
[[source]]
id = "s"
title = "S"
confidence = "H"
[[metric]]
id = "x.a"
title = "A"
unit = "licenses"
source = "s"
formulas = { bare = "ceil(cores)" }
"""


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ('"ceil(cores)"', '"b + 1"', None),
        ('"ceil(cores)"', '"a + 1"', "expected metrics that end in inputs, found a cycle: a -> a"),
        ('"ceil(cores)"', '"open(cores)"', r"expected numbers, names.*found 'open\(cores\)'"),
        ('"ceil(cores)"', '"cores ** 9"', "expected numbers"),
        ('"ceil(cores)"', '"cores["', "expected a formula such as"),
        ('"ceil(cores)"', '"True"', "expected numbers"),
        ('"ceil(cores)"', f'"{"cores + " * 40}1"', "at most 60 parts"),
        ('source = "s"\nformulas', 'source = "t"\nformulas', r"x\.a: expected the id of a \[\[source\]\]"),
    ],
)
def test_a_formula_computes_and_can_do_nothing_besides(before: str, after: str, what: str | None) -> None:
    text = PACK.replace(before, after)
    if what is None:
        assert rules.load({"x.toml": text}).packs
        return
    with pytest.raises(MalformedError, match=f"x.toml.*{what}"):
        rules.load({"x.toml": text})


def test_a_formula_shows_its_numbers() -> None:
    names = {"cores": 7.0, "sockets": 1.0}
    formula = parse_formula("ceil(max(cores, 4 * sockets) / 2)", "x")

    assert formula.evaluate(names.__getitem__) == 4
    assert formula.working(names.__getitem__) == "ceil(max(7, 4 x 1) / 2)"
    assert formula.names == ("cores", "sockets")


def test_the_branch_of_a_condition_that_does_not_count_is_not_asked_for() -> None:
    formula = parse_formula("vcpus if threads < 2 else ceil(vcpus / 2)", "x")

    assert formula.evaluate({"threads": 2.0, "vcpus": 5.0}.__getitem__) == 3


def test_a_formula_that_lacks_a_number_leaves_nothing_in_memory() -> None:
    """A console works out licenses with every run; CPython 3.11 lost a dictionary for each that it could not count."""
    formula = parse_formula("ceil(max(cores, 4) / 2)", "x")

    def fail() -> None:
        with pytest.raises(KeyError):
            formula.evaluate({}.__getitem__)

    def blocks() -> int:
        gc.collect()
        return sys.getallocatedblocks()

    for _ in range(20):
        fail()
    before = blocks()
    for _ in range(100):
        fail()

    assert blocks() - before < 100
