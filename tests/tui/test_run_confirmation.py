"""What is asked before a run: once for what only reads, each time for what writes, nothing where nothing can run."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from consoles import Console, ended, fill, records, settled
from sizeup.live import storage_targets
from sizeup.probing.devices import Device
from sizeup.tui import console as app_module
from sizeup.tui.dialogs import ChoiceDialog
from sizeup.tui.screens import write_confirmation

pytestmark = pytest.mark.ci


async def asked(console: Console, pilot: Pilot[int], values: Mapping[str, str]) -> bool:
    """Ask for a run, agree where a question comes, and let the run end; whether there was a question."""
    before = len(console.runner.arguments)
    fill(console, "io.direct", values)
    await console.choose(pilot, "io.direct")
    await settled(pilot, "r")
    question = isinstance(console.app.screen, ChoiceDialog)
    if question:
        await settled(pilot, "r")
    assert len(console.runner.arguments) == before + 1
    lines = [*records("io.direct"), *ended("io.direct")]
    await console.end(pilot, lines if not before else [])
    await settled(pilot)
    return question


async def test_what_only_reads_is_asked_for_once_for_a_directory_and_its_space(
    console: Console, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    read: Mapping[str, str] = {"path": str(first), "preset": "custom"}
    steps = (read, {"block": "16KiB", "depth": "16"}, {"size": "64MiB"}, {"path": str(second)}, {"path": str(first)})
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        found = [await asked(console, pilot, values) for values in steps]

    assert found == [True, False, True, True, False]


async def test_what_writes_is_asked_for_each_time(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        found = [await asked(console, pilot, {"path": str(tmp_path), "preset": "redo"}) for _ in range(2)]

    assert found == [True, True]


async def test_a_target_that_does_not_exist_is_refused_in_its_field(console: Console, tmp_path: Path) -> None:
    missing = f"{tmp_path}/missing"
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m")
        await settled(pilot, *missing, "enter")
        hint, focused = console.hint, console.app.screen.focused
        typed = focused.value if isinstance(focused, Input) else ""
        await settled(pilot, "escape", "r")

        assert hint == f"! {missing} does not exist: enter the full name of a directory, file or device"
        assert typed == missing
        assert console.answers == []
        assert console.runner.arguments == []


async def test_a_target_that_has_gone_is_not_run(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        fill(console, "io.direct", {"path": f"{tmp_path}/gone"})
        await settled(pilot, "r")

        assert "does not exist" in console.hint
        assert console.runner.arguments == []


@pytest.mark.parametrize(("mounted", "words"), [(("/", "/boot"), "on /, /boot"), ((), "nowhere")])
async def test_a_device_that_is_read_says_where_it_is_mounted_and_that_it_is_only_read(
    console: Console, monkeypatch: pytest.MonkeyPatch, mounted: tuple[str, ...], words: str
) -> None:
    device = Device("/dev/sizeup-test", ("wwn-0x1",), 10**12, mounted)
    monkeypatch.setattr(write_confirmation, "read_device", lambda path: device if path == device.path else None)
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        fill(console, "io.direct", {"path": device.path})
        await settled(pilot, "r")
        question = str(console.app.screen.query_one(".text Static").render())
        said = console.says(".facts")

    assert question == "Measure Direct I/O? It only reads."
    assert f"Mounted {words} " in said
    assert "devtmpfs" not in said


@pytest.mark.parametrize(("key", "runs"), [("enter", 0), ("down", 1)])
async def test_a_second_run_beside_that_of_another_console_is_asked_about(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, runs: int
) -> None:
    other = tmp_path / "other.sizeup.jsonl"
    monkeypatch.setattr(app_module, "running_session", lambda besides: other)
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await settled(pilot, "r")
        asked, started = console.answers, len(console.runner.arguments)
        question = str(console.app.screen.query_one(".text Static").render())
        await settled(pilot, key, *(["enter"] if runs else []))

    assert (asked, started, len(console.runner.arguments)) == (["no", "yes"], 0, runs)
    assert "in progress in session other" in question


async def test_a_path_that_is_typed_over_the_question_starts_nothing(console: Console, tmp_path: Path) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "io.direct")
        fill(console, "io.direct", {"path": str(tmp_path)})
        await settled(pilot, "r")
        question = console.app.screen
        await settled(pilot, *"/usr/src")

        assert isinstance(question, ChoiceDialog)
        assert console.app.screen is question
        assert console.runner.arguments == []


def _status(blocks: int, flags: int = 0) -> os.statvfs_result:
    return os.statvfs_result((4096, 4096, blocks, blocks, blocks, 0, 0, 0, flags, 255))


@pytest.mark.parametrize(
    ("status", "writable", "fits", "settings", "problem"),
    [
        (_status(0), True, True, {}, "is on no storage"),
        (_status(1 << 30, os.ST_RDONLY), False, True, {}, "is mounted read-only"),
        (_status(1 << 30), False, True, {}, "is not writable for you"),
        (_status(1 << 30), True, False, {}, "is too full (a tenth, at least 5 GiB, stays free)"),
        (_status(1 << 30), True, False, {"reserve": "1GiB"}, ""),
    ],
)
async def test_a_directory_where_no_file_can_be_made_is_told_before_the_run(
    console: Console,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: os.statvfs_result,
    writable: bool,
    fits: bool,
    settings: Mapping[str, str],
    problem: str,
) -> None:
    monkeypatch.setattr(storage_targets, "keeps_reserve", lambda _: fits)
    async with console.shown() as pilot:
        await console.choose(pilot, "io.direct")
        fill(console, "io.direct", {"path": str(tmp_path), **settings})
        with monkeypatch.context() as patch:
            patch.setattr(os, "statvfs", lambda _: status)
            patch.setattr(os, "access", lambda *_: writable)
            await settled(pilot, "r")
        said = f"! {tmp_path} {problem}: choose a directory on the storage that you want to measure"

        assert (console.hint, bool(console.answers)) == ((said, False) if problem else ("", True))
        assert console.runner.arguments == []


@pytest.mark.parametrize("gentle", [True, False])
async def test_a_gentle_run_is_said_to_wait_for_others(console: Console, tmp_path: Path, *, gentle: bool) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "io.direct")
        fill(console, "io.direct", {"path": str(tmp_path)})
        if gentle:
            console.app.action_gentle()
        await settled(pilot, "r")

        assert ("s, far longer where it waits for others" in console.says(".facts")) is gentle
