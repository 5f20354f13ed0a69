"""What is imported only once it is used: it stands for the real thing in every use, and for nobody else."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sizeup.tui.later import later

_LIBRARY = """
from abc import ABC
LIMIT = 3
class Base(ABC):
    def __init__(self, value): self.value = value
    def doubled(self): return 2 * self.value
class Closed:
    __slots__ = ("value",)
    answer = 42
def tripled(value): return 3 * value
"""
_USER = """
from later_library import Base, Closed, tripled
class Derived(Base):
    def quadrupled(self): return 2 * self.doubled()
class Stray(Closed): pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "later_library.py").write_text(_LIBRARY)
    (tmp_path / "later_user.py").write_text(_USER)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("later_library", "later_user"):
        sys.modules.pop(name, None)


def user(*names: str) -> Any:
    with later({"later_library": names}):
        return importlib.import_module("later_user")


NAMES = ("Base", "Closed", "tripled")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda user: user.tripled(5), 15),
        (lambda user: user.Base(4).doubled(), 8),
        (lambda user: user.Closed.answer, 42),
        (lambda user: isinstance(5, user.Base), False),
        (lambda user: issubclass(int, user.Base), False),
        (lambda user: user.Derived(3).quadrupled(), 12),
        (lambda user: user.Derived.doubled(user.Derived(1)), 2),
    ],
)
def test_the_first_use_of_any_kind_loads_the_module_and_is_answered_by_it(
    use: Callable[[Any], object], expected: object
) -> None:
    importing = user(*NAMES)
    before = "later_library" in sys.modules

    assert use(importing) == expected
    assert (before, "later_library" in sys.modules) == (False, True)


@pytest.mark.usefixtures("folder")
def test_what_was_derived_meanwhile_is_a_subclass_of_the_real_class_once_that_is_there() -> None:
    importing = user(*NAMES)
    real = importlib.import_module("later_library")
    made = importing.Base(1)

    assert isinstance(made, real.Base)
    assert isinstance(made, importing.Base)
    assert issubclass(importing.Derived, real.Base)
    assert isinstance(importing.Derived(1), real.Base)
    assert not isinstance(made, importing.Derived)


@pytest.mark.usefixtures("folder")
def test_a_class_whose_real_base_is_laid_out_otherwise_hinders_nothing_else() -> None:
    importing = user(*NAMES)

    assert importing.Closed().answer == 42
    assert importing.Derived(3).quadrupled() == 12


@pytest.mark.usefixtures("folder")
def test_a_name_that_was_not_said_loads_the_module_at_once() -> None:
    user("Base")

    assert "later_library" in sys.modules


@pytest.mark.usefixtures("folder")
def test_nobody_else_gets_what_stands_in() -> None:
    user(*NAMES)

    assert importlib.import_module("later_library").LIMIT == 3
    with later({"later_library": NAMES}):
        assert importlib.import_module("later_library").LIMIT == 3


@pytest.mark.usefixtures("folder")
def test_a_module_that_fails_is_imported_anew_by_the_next(folder: Path) -> None:
    (folder / "later_user.py").write_text(_USER + "raise LookupError\n")
    with pytest.raises(LookupError), later({"later_library": NAMES}):
        importlib.import_module("later_user")

    assert importlib.import_module("later_library").LIMIT == 3


_CONSOLE = """
import asyncio, sys
from sizeup.tui.loading import import_textual
import_textual()
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from consoles import machine, screen_text
from sizeup.tui.console import ConsoleApp
from sizeup.tui.runs import Runs
import textual.app, textual.theme

async def main():
    app = ConsoleApp(Runs("run.sizeup.jsonl"), machine())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        print("palette", "textual.command" in sys.modules)
        await pilot.press("colon")
        await pilot.pause()
        await pilot.press(*"topol")
        for _ in range(50):
            await pilot.pause(0.1)
            if "Show what this machine is." in screen_text(app):
                break
        print("Show what this machine is." in screen_text(app))
        await pilot.press("enter")
        await pilot.pause()
        print(app.current_mode)
        app.search_themes()
        for _ in range(50):
            await pilot.pause(0.1)
            if "sizeup-light" in screen_text(app):
                break
        print("sizeup-light" in screen_text(app))
        await pilot.press("escape")

asyncio.run(main())
"""


def test_the_palette_that_the_start_left_out_comes_when_it_is_opened(tmp_path: Path) -> None:
    here = str(Path(__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", _CONSOLE, here], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == ["palette False", "True", "topology", "True"]
