"""The Topology mode: what differs from another machine."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from consoles import Console, ended, machine, pressed, records
from sizeup.model.network import Nic
from sizeup.session.records import SessionRecord
from sizeup.session.store import annotate, new_path
from sizeup.session.writer import Writer
from sizeup.text import plain
from sizeup.views.machine.difference import OtherMachine
from topology_mode import in_topology, tree_of

OTHER = machine(1, 4, 2, nics=(Nic("eth5", "physical", "ixgbe", carrier=True, node=0),))


async def test_two_machines_are_one_tree_and_a_key_goes_from_difference_to_difference(console: Console) -> None:
    console.app.compared_with = OtherMachine("db00 2025-01-31 08:00", OTHER)
    async with console.shown(120, 40) as pilot:
        await pilot.pause()
        await pilot.pause()
        pane = console.app.screen.query_one("#tree")
        titles, parts = [str(pane.border_title)], console.parts
        sides = str(console.app.screen.query_one("#detail-pane").border_title)
        await pressed(pilot, ">")
        await pilot.pause()
        titles.append(str(pane.border_title))
        second = console.says("#detail")
        await pressed(pilot, "d")

        assert console.mode == "topology"
        assert ["1 of 11" in titles[0], "2 of 11" in titles[1]] == [True, True]
        assert sides.startswith("db00 2025-01-31 08:00")
        assert parts["package:1"].startswith("+ ")
        assert any(label.startswith("- removed eth5") for label in parts.values())
        assert "->" in second
        assert console.parts["package:1"] == "Socket 1: 4 cores"
        assert not any("eth5" in label for label in console.parts.values())


async def test_in_ascii_a_plus_stands_before_what_was_added_alone(console: Console) -> None:
    console.app.compared_with = OtherMachine("db00", OTHER)
    async with console.shown(120, 40) as pilot:
        await pilot.pause()
        await pilot.pause()
        rows = [plain(row) for row in tree_of(console)]

    assert {"added" in row for row in rows if "+" in row} == {True}


async def test_parts_that_differ_have_a_color_besides_their_sign_and_word(console: Console) -> None:
    console.app.compared_with = OtherMachine("db00", OTHER)
    async with console.shown(120, 40) as pilot:
        await pilot.pause()
        await pilot.pause()
        rows = console.app.screen._compositor.render_strips()
        colors = {
            segment.text.strip(): segment.style.color
            for row in rows
            for segment in row
            if segment.style is not None and segment.style.color is not None
        }

    marks = ("+ added", "- removed", "~ changed Core")
    assert len({next(color for text, color in colors.items() if text.startswith(mark)) for mark in marks}) == 3


def stored(host: str, *tags: str) -> None:
    """A session of the store that holds the other machine."""
    path = str(new_path(host, datetime(2026, 1, 1, tzinfo=UTC)))
    with Writer.create(path) as writer:
        writer.write(
            *[replace(one, host=host) if isinstance(one, SessionRecord) else one for one in records(found=OTHER)]
        )
        writer.write(*ended())
    if tags:
        annotate(path, tags=tags)


async def test_d_takes_the_baseline_and_without_one_asks(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "store"))
    async with in_topology(console, "d") as pilot:
        told = [note.message for note in console.app._notifications]
        stored("db07")
        await pressed(pilot, "d")
        asked = console.entries()
        await pressed(pilot, "enter")
        compared_with = [console.app.compared_with]
        await pilot.press("d")
        stored("db08", "baseline")
        await pressed(pilot, "d")
        compared_with.append(console.app.compared_with)

        assert told == ["No other session to compare with; for a file use: sizeup --against FILE"]
        assert any(line.startswith("db07 2026-01-01") for line in asked.values())
        assert [other.name for other in compared_with if other] == ["db07 2026-01-01 00:00", "db08 2026-01-01 00:00"]


async def test_a_session_that_went_is_one_sentence(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "store"))
    stored("db07")
    async with in_topology(console, "D") as pilot:
        for path in (tmp_path / "store").rglob("*.jsonl"):
            path.unlink()
        await pressed(pilot, "enter")

        assert [
            "expected a session file, but there is no such file" in note.message for note in console.app._notifications
        ] == [True]
