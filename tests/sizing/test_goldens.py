"""Every sentence and working of sizing, kept as text: one line for each shape that the recorded inputs give.

``goldens/inputs.jsonl`` holds a set of inputs a line. The texts beside it are written again with
``SIZEUP_UPDATE_GOLDENS=1``; a difference then shows in the commit as what readers will see.
"""

import difflib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sizeup.model.advice import Advice, Card
from sizeup.quantity import Quantity, Words
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.input_value import UnusedMeasurement, Value

GOLDENS = Path(__file__).parent / "goldens"
FAMILIES = ("storage", "space", "cpu", "memory", "network", "license", "io", "redo", "flash", "value", "other")
_SHAPE = 60
"""How many characters tell one shape of sentence from another; names of products follow later in most."""
_FIGURE = re.compile(r"[0-9][0-9.,]*(?:e[+-]?[0-9]+)?")


def _value(built: Any) -> Value:
    if isinstance(built, list):
        return msgspec.convert(built, tuple[Quantity, ...])
    kind = UnusedMeasurement if "cause" in built else Quantity if "unit" in built else Words
    return msgspec.convert(built, kind)


def recorded_sizings() -> list[Sizing]:
    """Return the sizing of each recorded set of inputs."""
    lines = (GOLDENS / "inputs.jsonl").read_text(encoding="utf-8").splitlines()
    return [size({key: _value(built) for key, built in json.loads(line).items()}) for line in lines]


def _card_lines(card: Card) -> Iterator[str]:
    yield f"{card.resource} {card.status}: {card.statement}"
    yield from (f"{card.resource} note: {note}" for note in card.sentences)
    yield from (f"{card.resource} assumed: {text}" for text in card.assumed)


def _advice_lines(advice: Advice) -> Iterator[str]:
    decision = f" [{advice.decision}]" if advice.decision else ""
    yield f"{advice.id}{decision}: {advice.verdict}"
    yield from (f"{advice.id} working: {line}" for line in advice.working)
    yield from (f"{advice.id} caveat: {text}" for text in advice.caveats)


def _lines(sizing: Sizing) -> Iterator[str]:
    for card in sizing.cards:
        yield from _card_lines(card)
    for advice in sizing.advice:
        yield from _advice_lines(advice)
    yield from (f"question {question.key}: {question.sentence()}" for question in sizing.questions)


def _family(line: str) -> str:
    name = line.split(" ", 1)[0].removeprefix("verdict.").partition(".")[0].rstrip(":")
    return name if name in FAMILIES else "other"


def _goldens() -> dict[str, str]:
    """Return the text of each family: under the number of a set the lines whose shape no earlier set has."""
    texts: dict[str, list[str]] = {family: [] for family in FAMILIES}
    seen: set[str] = set()
    for number, sizing in enumerate(recorded_sizings(), 1):
        for line in _lines(sizing):
            shape = _FIGURE.sub("#", line)[:_SHAPE]
            if shape not in seen:
                seen.add(shape)
                texts[_family(line)].append(f"{number}: {line}")
    return {family: "\n".join(lines) + "\n" for family, lines in texts.items()}


@pytest.fixture(scope="module")
def goldens() -> dict[str, str]:
    return _goldens()


@pytest.mark.parametrize("family", FAMILIES)
def test_sizing_says_what_is_recorded(family: str, goldens: dict[str, str]) -> None:
    file = GOLDENS / f"{family}.txt"
    if os.environ.get("SIZEUP_UPDATE_GOLDENS"):
        file.write_text(goldens[family], encoding="utf-8")
    kept = file.read_text(encoding="utf-8")
    changed = difflib.unified_diff(kept.splitlines(), goldens[family].splitlines(), "kept", "now", lineterm="", n=0)
    assert kept == goldens[family], "\n".join([*changed][:60])
