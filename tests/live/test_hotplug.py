"""Events become values; where there is no udev there are none, and nothing fails."""

import ctypes
import subprocess
from dataclasses import dataclass, field

import pytest

from sizeup.live.hotplug import HotplugChange, change_of, follow


@dataclass
class FakeEvent:
    action: str | None
    subsystem: str | None
    sys_name: str
    properties: dict[str, str] = field(default_factory=dict)


def test_an_event_keeps_what_udev_knows_of_the_device() -> None:
    event = FakeEvent("add", "block", "sdx", {"DEVNAME": "/dev/sdx", "ID_MODEL": "DISK", "ID_BUS": "scsi"})

    assert change_of(event) == HotplugChange("add", "block", "sdx", (("ID_BUS", "scsi"), ("ID_MODEL", "DISK")))


def test_udev_is_found_without_asking_ldconfig_or_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyudev")
    try:
        ctypes.CDLL("libudev.so.1")
    except OSError:
        pytest.skip("no libudev here")

    def refuse(*arguments: object, **settings: object) -> None:
        raise OSError("no process may be started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    follower = follow(lambda change: None)

    follower.stop()


def test_following_starts_and_stops_or_says_that_it_cannot() -> None:
    follower = follow(lambda change: None)

    if follower is not None:
        follower.stop()
