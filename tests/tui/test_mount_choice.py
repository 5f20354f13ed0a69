"""The directory that the first measurement asks for."""

import os
from pathlib import Path

import pytest
from textual.widgets import Input

from consoles import Console, ended, pressed
from sizeup.live.storage_targets import TargetChoice, keeps_reserve
from sizeup.tui.screens import mount_choice
from tui.sizing_inputs import MEASURED


async def test_the_first_measurement_asks_for_a_directory_and_the_next_does_not(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = (TargetChoice(str(tmp_path), "ext4 on sda1"), TargetChoice("/dev/sdb", "1 TB, read only", writable=False))
    monkeypatch.setattr(mount_choice, "storage_targets", lambda _: targets)
    async with console.shown(keys="r") as pilot:
        question, answers = console.says(".dialog Static"), console.answers
        await pressed(pilot, "down", "enter")
        await console.feed(pilot, MEASURED)
        await console.end(pilot, ended("io.direct.scan"))
        await pressed(pilot, "r")
        again = len(console.app.screen_stack)

    assert answers == ["without", str(tmp_path), "other"]
    assert all(text in question for text in ("at most 1 GiB", "removes it", "at least 5 GiB"))
    assert [arguments[arguments.index("--mount") + 1] for arguments in console.runner.arguments] == [str(tmp_path)] * 2
    assert again == 1
    assert mount_choice.remembered_mount() == str(tmp_path)


async def test_memory_and_clock_alone_write_nothing(console: Console) -> None:
    async with console.shown() as pilot:
        await pressed(pilot, "r", "enter")

    (arguments,) = console.runner.arguments
    assert "--mount" not in arguments
    assert arguments[arguments.index("--plan") + 1] == "quick"
    assert mount_choice.remembered_mount() == ""


@pytest.mark.parametrize(("typed", "starts"), [("/nowhere", False), ("", True)])
async def test_another_directory_is_typed_and_has_to_exist(
    console: Console, tmp_path: Path, typed: str, *, starts: bool
) -> None:
    async with console.shown(keys=("r", "end", "enter")) as pilot:
        keys = console.keys
        await pressed(pilot, *(typed or str(tmp_path)), "enter")
        kept = [field.value for field in console.app.screen.query(Input)]

    assert keys == ["OK", "Cancel"]  # it measures, and saves nothing
    assert bool(console.runner.arguments) is starts
    assert any("does not exist; enter the full name of a directory" in text for text in console.told) is not starts
    assert kept == ([] if starts else [typed])  # what was typed is not lost


async def test_a_directory_that_would_be_too_full_is_neither_offered_nor_taken(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mount_choice, "keeps_reserve", lambda _: False)
    mount_choice.remember_mount(str(tmp_path))
    async with console.shown(keys="r") as pilot:
        answers = console.answers
        await pressed(pilot, "end", "enter")
        await pressed(pilot, *str(tmp_path), "enter")

    assert str(tmp_path) not in answers
    assert console.told == [f"{tmp_path}: {mount_choice.TOO_FULL}"]
    assert console.runner.arguments == []


@pytest.mark.parametrize(
    ("size", "free", "fits"), [(40, 5, False), (40, 5.1, True), (100, 10, False), (100, 10.1, True), (4, 4, False)]
)
def test_a_tenth_and_at_least_5_gib_stay_free(
    monkeypatch: pytest.MonkeyPatch, size: float, free: float, *, fits: bool
) -> None:
    blocks, available = (int(gib * 2**30) // 4096 for gib in (size, free))
    status = os.statvfs_result((4096, 4096, blocks, available, available, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: status)

    assert keeps_reserve("/u01") is fits


async def test_a_directory_that_has_gone_is_asked_for_again(console: Console) -> None:
    mount_choice.remember_mount("/nowhere/at/all")
    async with console.shown(keys="r"):
        assert console.answers[0] == "without"
        assert console.runner.arguments == []


async def test_each_console_asks_again_with_the_last_answer_first(console: Console, tmp_path: Path) -> None:
    mount_choice.remember_mount(str(tmp_path))
    async with console.shown(keys="r") as pilot:
        assert console.answers[:2] == [str(tmp_path), "without"]
        assert console.runner.arguments == []
        await pressed(pilot, "enter")

    assert console.runner.arguments[0][console.runner.arguments[0].index("--mount") + 1] == str(tmp_path)
