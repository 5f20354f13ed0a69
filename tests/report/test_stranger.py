"""A stranger's session, damaged anywhere, is drawn in every format or refused in one line: no traceback, no escape."""

import io
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from report.sessions import records, written
from sizeup.charts import svg
from sizeup.errors import SizeupError
from sizeup.masking import Masker
from sizeup.report.data import results_json, write_csv
from sizeup.report.html import page
from sizeup.report.markdown import markdown
from sizeup.report.text import text
from sizeup.session.reader import read_session
from sizeup.session.share import share
from sizeup.session.value import Session
from sizeup.views.document.document import document
from sizeup.views.run.finished import finished_charts

WORDS = ["", "\x1b[31m", "<script>", "a" * 5000, "=1+1", "\u202e", "/", "://", "::", "0" * 400, "\ufffe"]
NUMBERS: list[Any] = [0, -1, 1, 100_000, 2**53, 2**63 - 1, 1e308, -1e308, 5e-324, 1e-300, 0.1]
OTHERS: list[Any] = [None, True, [], {}]
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = value.keys() if isinstance(value, dict) else range(min(len(value), 30)) if isinstance(value, list) else ()
    for key in keys:
        yield (*above, key)
        yield from places(value[key], (*above, key))


def damaged(chance: random.Random, lines: list[str]) -> str:
    """The lines with up to twelve of their values changed, and some lines lost, doubled or moved."""
    items = [json.loads(line) for line in lines]
    for _ in range(chance.randint(1, 12)):
        item = chance.choice(items)
        *above, last = chance.choice(list(places(item)))
        for key in above:
            item = item[key]
        old = item[last]
        alike = WORDS if isinstance(old, str) else NUMBERS if isinstance(old, int | float) else OTHERS
        item[last] = chance.choice(alike if chance.random() < 0.7 else [*WORDS, *NUMBERS, *OTHERS])
        if chance.random() < 0.15:
            items.insert(chance.randrange(1, len(items)), items.pop(chance.randrange(1, len(items))))
    return "".join(json.dumps(item) + "\n" for item in items)


def draw_all(session: Session, path: str) -> None:
    shown = document(session)
    for written_down in (text(shown), text(shown, ascii_only=True), page(shown), markdown(shown)):
        assert not STEERING.search(written_down)
    assert "<script" not in page(shown)
    json.loads(results_json(session))
    write_csv(session, io.StringIO())
    share(path, io.BytesIO(), Masker(b"k" * 32))
    for run in session.steps.values():
        for chart in finished_charts(run, session.machine):
            ElementTree.fromstring(svg.standalone(chart))


def draw_damaged(tmp_path: Path, seeds: Iterable[int]) -> int:
    """How many of the damaged files could be opened, and were drawn."""
    lines = Path(written(tmp_path / "whole.sizeup.jsonl", *records())).read_text().splitlines()
    path, opened = tmp_path / "damaged.sizeup.jsonl", 0
    for seed in seeds:
        path.write_text(damaged(random.Random(seed), lines))
        try:
            session = read_session(str(path))
        except SizeupError:
            continue
        opened += 1
        draw_all(session, str(path))
    return opened


def test_damaged_sessions_are_drawn_or_refused(tmp_path: Path) -> None:
    assert draw_damaged(tmp_path, range(8)) > 5


@pytest.mark.ci
def test_many_damaged_sessions_are_drawn_or_refused(tmp_path: Path) -> None:
    assert draw_damaged(tmp_path, (*range(8, 20), *range(1000, 1200))) > 148


@pytest.mark.long
def test_thousands_of_damaged_sessions_are_drawn_or_refused(tmp_path: Path) -> None:
    assert draw_damaged(tmp_path, range(2000, 12_000)) > 7000
