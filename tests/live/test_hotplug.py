"""Where there is no udev there are no events, and nothing fails."""

import ctypes
import subprocess

import pytest

from sizeup.live.hotplug import follow


def test_udev_is_found_without_asking_ldconfig_or_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyudev")
    try:
        ctypes.CDLL("libudev.so.1")
    except OSError:
        pytest.skip("no libudev here")

    def refuse(*arguments: object, **settings: object) -> None:
        raise OSError("no process may be started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    follower = follow(lambda: None)

    follower.stop()


def test_following_starts_and_stops_or_says_that_it_cannot() -> None:
    follower = follow(lambda: None)

    if follower is not None:
        follower.stop()
