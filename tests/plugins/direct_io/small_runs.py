"""Runs of io.direct on a small file."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from fakes import HandContext
from sizeup.model.machine import Machine
from sizeup.model.plan import SettingValue, Step
from sizeup.probing.api import Emission
from sizeup.probing.manifest_file import parse_manifest
from sizeup_direct_io.probe import DirectIo

MANIFEST = parse_manifest((files("sizeup_direct_io") / "probe.toml").read_text(encoding="utf-8"), "probe.toml")[0]

SMALL: dict[str, SettingValue] = {
    "size": 32 << 20,
    "reserve": 1 << 20,
    "seconds": 0.5,
    "warmup": 0.2,
    "precision": 1.0,
    "ramps": 1,
    "depth": 2,
}


def step(path: Path, **settings: SettingValue) -> Step:
    defaults = {parameter.name: parameter.default for parameter in MANIFEST.parameter}
    chosen = {**defaults, **SMALL, "path": str(path)}
    if not path.is_dir():
        chosen["reserve"] = 0  # has an effect on folders alone
    chosen |= settings
    (planned,) = DirectIo().plan(Machine(), {name: value for name, value in chosen.items() if value is not None})
    assert isinstance(planned, Step)
    return planned


def run(planned: Step, context: HandContext | None = None) -> Iterator[Emission]:
    return iter(DirectIo().run(planned, context or HandContext()))
