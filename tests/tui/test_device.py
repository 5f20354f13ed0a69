"""Before a device is overwritten its name is typed in full, and nothing less starts a run."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from consoles import Console, fill, pressed
from sizeup.probing.devices import Device
from sizeup.tui.dialogs import DeviceDialog
from sizeup.tui.screens import write_confirmation

FREE = Device("/dev/sizeup-test", ("wwn-0x5000c500a1b2c3d4",), 10**12, ())


def _there_is(monkeypatch: pytest.MonkeyPatch, device: Device) -> None:
    monkeypatch.setattr(write_confirmation, "read_device", lambda path: device if path == device.path else None)


async def _wish_to_write(console: Console, pilot: Pilot[int], preset: str = "redo") -> None:
    """Ask for a preset on the device, as chosen in the form."""
    await console.choose(pilot, "io.direct")
    fill(console, "io.direct", {"path": FREE.path, "preset": preset})
    await pressed(pilot, "r")


async def test_the_name_must_be_typed_in_full_before_a_device_is_written(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _there_is(monkeypatch, FREE)
    async with console.shown() as pilot:
        await _wish_to_write(console, pilot)
        asked = " ".join(str(static.render()) for static in console.app.screen.query(Static))
        asked += console.says("Static")  # the facts
        await pressed(pilot, "enter", *"wwn-0x5000", "enter")
        refused, started = console.app.screen.query_one("#message").has_class("-wrong"), list(console.runner.arguments)
        await pressed(pilot, *"c500a1b2c3d4", "enter")

    assert all(words in asked for words in ("/dev/sizeup-test", "nowhere", "1 TB", "about", "wwn-0x5000c500a1b2c3d4"))
    assert refused
    assert started == []
    assert "io.direct.allow_write_to=wwn-0x5000c500a1b2c3d4" in console.runner.arguments[0]


async def test_escape_leaves_the_device_alone_and_the_name_is_asked_for_each_time(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _there_is(monkeypatch, FREE)
    async with console.shown() as pilot:
        await _wish_to_write(console, pilot)
        await pressed(pilot, *FREE.names[0], "escape")
        after_escape = list(console.runner.arguments)
        fill(console, "io.direct", {"allow_write_to": FREE.names[0]})
        await pressed(pilot, "r")

        assert (after_escape, console.runner.arguments) == ([], [])
        assert isinstance(console.app.screen, DeviceDialog)


async def test_a_mounted_device_is_refused_whatever_would_be_typed(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _there_is(monkeypatch, Device(FREE.path, FREE.names, FREE.size_bytes, ("/var/lib/db",)))
    async with console.shown() as pilot:
        await _wish_to_write(console, pilot)

        assert [note.message for note in console.app._notifications] == [
            "/dev/sizeup-test is mounted on /var/lib/db: it is not written to"
        ]
        assert not isinstance(console.app.screen, DeviceDialog)
        assert console.runner.arguments == []


async def test_reading_a_device_asks_for_no_name(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    _there_is(monkeypatch, FREE)
    async with console.shown() as pilot:
        await _wish_to_write(console, pilot, "oltp-read")

        assert console.answers == ["no", "yes"]
        assert "a device: read only" in console.says(".facts")
        assert "Space" not in console.says(".facts")
