"""The name of a processor that the kernel's files do not have."""

import subprocess

import pytest
from msgspec.structs import replace

from sizeup.live import cpu_name
from sizeup.live.cpu_name import with_cpu_name
from sizeup.model.machine import Machine


def answer(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(cpu_name, "_ASK", code)


def test_a_name_that_is_known_is_kept_and_nobody_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("asked"))
    machine = replace(Machine(), cpu_model="EPYC")

    assert with_cpu_name(machine) is machine


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("print('POWER9  (raw)')", "POWER9 (raw) (by py-cpuinfo)"),
        ("print('')", None),
        ("print('half'); import sys; sys.exit(1)", None),
        ("import time; time.sleep(60)", None),
    ],
)
def test_an_unknown_name_is_asked_for_and_stays_unknown_without_an_answer(
    monkeypatch: pytest.MonkeyPatch, code: str, name: str | None
) -> None:
    answer(monkeypatch, code)
    if "sleep" in code:
        monkeypatch.setattr(cpu_name, "_TIMEOUT_SECONDS", 0.5)

    found = with_cpu_name(Machine()).cpu_model
    assert found == name
