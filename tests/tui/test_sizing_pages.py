"""What the Sizing mode opens: licenses, published cases and other sessions."""

import re
from pathlib import Path

import pytest

from consoles import Console, MakeConsole, ended, machine, pressed, records
from played_runs import PlayedRunner
from sizeup.tui.dialogs import PageDialog
from sizeup.tui.widgets.lists import KeyList
from tui.sizing_inputs import choose_input


async def test_licenses_say_what_is_not_allowed_here_and_what_has_no_public_price(make_console: MakeConsole) -> None:
    console = make_console(machine(packages=4))
    async with console.shown(120, 40, keys="4l"):
        assert isinstance(console.app.screen, PageDialog)
        lines = console.app.screen._lines

        assert "not allowed here" in next(line for line in lines if "Oracle Database Standard" in line)
        assert "not public" in next(line for line in lines if "SAP HANA" in line)
        assert sum("No legal advice" in line for line in lines) == 1
        assert "1 server, 4 sockets, 16 cores" in console.says(".page Static")


async def test_a_published_case_is_a_table_with_its_source_and_both_directions(console: Console) -> None:
    async with console.shown(120, 40, keys="4") as pilot:
        await choose_input(pilot, "machine.sockets")
        await pressed(pilot, "right", "c", "enter")
        await pilot.pause()
        assert isinstance(console.app.screen, PageDialog)
        page = console.app.screen._lines

        assert "1 input changed compared with blade-480c-x5355" in console.app.screen._title
        assert any("K. Closson, Oracle performance archive" in line for line in page)
        assert any(re.search(r"Sockets +3 +2 +50 % above +33.3 % below", line) for line in page)
        assert not any(re.search(r"\d 1 ", line) for line in page)


async def test_pages_break_no_word_where_their_tables_have_no_room(make_console: MakeConsole) -> None:
    console = make_console(machine(packages=4))
    async with console.shown(80, 24, keys=("4", "c", "enter")) as pilot:
        await pilot.pause()
        pages = [console.app.screen]
        await pressed(pilot, "escape", "l")
        await pilot.pause()
        pages.append(console.app.screen)
        beside, licenses = ([*page._lines] for page in pages if isinstance(page, PageDialog))

        assert any("Cores per socket" in line for line in beside)
        assert any("4 here, 2 there; this machine is 100 % above, the case 50 % below" in line for line in beside)
        assert any("not allowed" in line for line in licenses)
        assert max(len(row) for line in (*beside, *licenses) for row in line.splitlines()) < 78


async def test_a_published_case_with_nothing_in_common_says_so(console: Console) -> None:
    async with console.shown(120, 40, keys="4c") as pilot:
        listed = console.app.screen.query_one(KeyList)
        listed.highlighted = listed.get_option_index("preset:netapp-nfs")
        await pressed(pilot, "enter")
        await pilot.pause()

        assert "the two have no figure in common" in console.says(".page Static")


async def test_this_machine_stands_beside_that_of_another_session(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = tmp_path / "state/sizeup/sessions"
    store.mkdir(parents=True)
    path = store / "other.sizeup.jsonl"
    PlayedRunner(path).write([*records(found=machine(4, 8, 2)), *ended()])
    async with console.shown(120, 40, keys="4c") as pilot:
        listed = console.app.screen.query_one(KeyList)
        listed.highlighted = listed.get_option_index(str(path))
        await pressed(pilot, "enter")
        await pilot.pause()
        assert isinstance(console.app.screen, PageDialog)
        page = "\n".join(console.app.screen._lines)

    assert re.search(r"Sockets +2 +4 +50 % below +100 % above", page)
