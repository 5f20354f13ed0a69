"""Loads of CPUs, and none where there is no /proc."""

import psutil
import pytest

from sizeup.live.environment import cpu_loads


def test_loads_without_a_proc_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "PROCFS_PATH", "/nonexistent")

    assert cpu_loads() == {}
