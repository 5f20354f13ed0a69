"""Exports from the Sessions mode: where they go, what is masked, and what stops one."""

import json
import os
import sys
from pathlib import Path

import pytest
from textual.widgets import Input

from consoles import Console, MakeConsole, pressed
from sizeup.tui.options import Options
from tui.stored_sessions import stored


async def test_a_masked_page_has_no_name_of_its_session_and_replaces_nothing(console: Console, folder: Path) -> None:
    stored(folder, "oracleprod")
    taken = folder / "sizeup-20260101T093000Z.shared.html"
    taken.write_text("kept")
    async with console.shown(keys="5e") as pilot:
        assert console.app.screen.query_one("#folder", Input).value == str(folder)
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

    assert taken.read_text() == "kept"
    made = folder / "sizeup-20260101T093000Z-2.shared.html"
    assert console.told[-1] == f"Wrote {made}; read it before you send it"
    assert made.read_text().startswith("<!doctype html>")


async def test_a_key_that_cannot_be_kept_is_told_with_the_masked_copy(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(folder, "one")
    async with console.shown(keys=("5", "e", "down", "down")) as pilot:
        monkeypatch.setenv("XDG_STATE_HOME", "/proc")
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

    assert "Wrote" in console.told[-1]
    assert "the masking key cannot be saved" in console.told[-1]


async def test_an_export_goes_into_the_folder_that_is_entered_and_the_next_one_too(
    console: Console, tmp_path: Path, folder: Path
) -> None:
    stored(folder, "one")
    elsewhere = tmp_path / "for the customer"
    elsewhere.mkdir()
    async with console.shown(keys="5e") as pilot:
        await pressed(pilot, "tab", *str(elsewhere))  # which replaces the folder that is offered
        assert console.app.screen.query_one("#folder", Input).value == str(elsewhere)
        await pilot.press("enter", "down", "enter")
        await console.app.workers.wait_for_complete()
        told = console.told[-1]
        await pressed(pilot, "e")
        again = console.app.screen.query_one("#folder", Input).value

    assert told == f"Wrote {elsewhere}/one.html"
    assert (elsewhere / "one.html").is_file()
    assert again == str(elsewhere)


async def test_a_folder_that_takes_no_file_is_refused_with_the_reason(
    console: Console, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {
        "": "Enter a folder.",
        f"{tmp_path}/none": "no such folder. Create it first, or enter another.",
        f"{tmp_path}/report.html": "is a file that exists, and is left as it is. Enter a folder.",
        "/proc": "you may not write there. Enter another folder.",
    }
    stored(folder, "one")
    (tmp_path / "report.html").write_text("kept")
    before = os.access
    monkeypatch.setattr(os, "access", lambda path, *how: path != "/proc" and before(path, *how))
    async with console.shown(keys="5e") as pilot:
        for entered, words in refused.items():
            console.app.screen.query_one("#folder", Input).value = entered
            await pressed(pilot, "enter")

            assert " ".join(console.says("#message").split()).endswith(words)
            assert isinstance(console.app.focused, Input)
    assert console.told == []
    assert (tmp_path / "report.html").read_text() == "kept"


async def test_a_full_disk_is_told_and_another_folder_asked_for(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(path: str, kind: str, place: str, baseline: str, *_: str) -> tuple[bool, str]:
        return True, f"{place}: cannot write: No space left on device"

    monkeypatch.setattr("sizeup.tui.screens.export_dialog.write_export", full)
    stored(folder, "one")
    async with console.shown(keys="5e") as pilot:
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()
        await pilot.pause()
        said = "".join(console.says("#message").split())

    assert console.told[-1].endswith(".shared.html: cannot write: No space left on device")
    assert said.startswith(f"!{folder}/sizeup-")
    assert said.endswith("Nospaceleftondevice")


async def test_a_masked_session_is_not_put_beside_the_others(
    console: Console, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    stored(folder, "one")
    async with console.shown(keys="5e") as pilot:
        await pressed(pilot, "down", "down", "enter")
        said = console.says("#message")
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

    assert "would be listed as one of them" in " ".join(said.split())
    assert any(name.endswith(".shared.sizeup.jsonl.gz") for name in os.listdir(tmp_path))
    assert not any(name.endswith(".gz") for name in os.listdir(folder))


async def test_an_export_that_cannot_begin_is_told_and_ends_nothing(
    console: Console, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(folder, "one")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    async with console.shown(keys="5e") as pilot:
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

        assert console.told[-1].endswith(".shared.html: cannot write: No such file or directory")
        assert console.app.is_running


async def test_readonly_exports_nothing(make_console: MakeConsole, folder: Path) -> None:
    stored(folder, "one")
    console = make_console(options=Options(readonly=True))
    async with console.shown(keys="5e"):
        assert console.told == ["read-only: nothing is written"]
        assert console.answers == []


@pytest.mark.ci
async def test_a_comparison_is_exported_with_both_sessions(console: Console, folder: Path) -> None:
    stored(folder, "old", day=1)
    stored(folder, "new", day=2)
    async with console.shown(keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()
        for downs, ending in enumerate(("html", "md", "json")):
            await pressed(pilot, "e")
            await pilot.press(*["down"] * downs, "enter")
            await console.app.workers.wait_for_complete()
            await pilot.pause()

            made = folder / f"new.compared.{ending}"
            assert console.told[-1] == f"Wrote {made}"
            text = made.read_text()
            assert "old" in text
            assert "A (baseline)" in text or json.loads(text)["schema"] == "sizeup.compare/1"
            if ending == "html":  # the report on the new session is closed below the comparison
                assert text.index("What else changed") < text.index('<details id="own" class="fold">')
                assert "What else changed" not in text.partition('id="own"')[2].partition("</details>")[0]
    assert made.stat().st_mode & 0o077 == 0
