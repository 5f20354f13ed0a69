"""Every reader of a file or of a message takes what it can, and refuses the rest in one line.

Readers with tests of their own: sessions (``session/test_fuzz.py``), machines (``discovery/test_fuzz.py``), SMBIOS
(``procfs/test_smbios.py``); results of other tools and workloads (``importers``) are damaged here by hand alone. What
fails is kept beside the message. Two minutes each: ``SIZEUP_FUZZ_SECONDS=120 pytest -m "ci or long" FILE``.
"""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from damage import mutate
from importers import test_imports, test_workload
from sizeup import config
from sizeup.compare.profile import known_figures, read_profile, shipped_profiles
from sizeup.discovery.capture import capture
from sizeup.discovery.sysroot import open_sysroot
from sizeup.errors import SizeupError
from sizeup.fleet.parquet import read_parquet
from sizeup.fleet.reference_figures import parse_reference_figures
from sizeup.importers.kinds import read_foreign
from sizeup.live.cost import parse_cost
from sizeup.probing import wire
from sizeup.probing.manifest_file import parse_manifest
from sizeup.sizing.inputs import presets
from sizeup.sizing.inputs.imported import WorkloadFile, parse_toml, read_workload
from sizeup.sizing.rules import load, shipped_texts

pytestmark = pytest.mark.ci
SECONDS = float(os.environ.get("SIZEUP_FUZZ_SECONDS", "1"))
ROOT = Path(__file__).parents[1]


def a_capture(folder: Path) -> bytes:
    """One CPU and a disk, packed."""
    root = folder / "root"
    for name, text in {
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: CPU\n", "proc/meminfo": "MemTotal: 4096 kB\n",
        "sys/devices/system/cpu/online": "0\n", "sys/devices/system/cpu/present": "0\n",
        "sys/devices/system/node/node0/meminfo": "Node 0 MemTotal: 4096 kB\n",
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    capture(str(root), str(folder / "host.tar.gz"), tool="test", salt=None)
    return (folder / "host.tar.gz").read_bytes()


def toml(name: str) -> bytes:
    return (ROOT / "console/sizeup" / name).read_bytes()


def lines(*values: object) -> bytes:
    return b"".join(msgspec.json.encode(value) + b"\n" for value in values)


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()


CANDIDATE = b"""schema = "sizeup.candidate/1"
title = "offer"
[inputs]
"machine.cores" = 16
"machine.memory_gib" = 256
"path.stages" = "hba:fc16*2"
"array.drive" = "nvme-pcie4"
"""
CONFIGURATION = b"""run.busy = "gentle"
[keys]
"app.quit" = "f10"
"""
STEP = lines(
    wire.Ending("failed", "no room"),
    {"kind": "samples", "step": "s", "t_ns": 1, "series": "x", "point": {}, "values": [1.5, 2.5], "t_ns_each": [1, 2]},
)

Read = Callable[[bytes, Path], object]


def in_file(read: Callable[[str], object]) -> Read:
    def written(data: bytes, folder: Path) -> object:
        (folder / "damaged").write_bytes(data)
        return read(str(folder / "damaged"))

    return written


def messages(data: bytes, _: Path) -> None:
    """As the runner takes what a worker sends."""
    for line in data.splitlines():
        try:
            wire.MESSAGE.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):  # which the runner answers
            continue


READERS: dict[str, tuple[Callable[[Path], bytes], Read]] = {
    "capture": (a_capture, in_file(open_sysroot)),
    "configuration": (lambda _: CONFIGURATION, lambda data, _: config.parse(text(data), "x")),
    "rules": (lambda _: toml("sizing/rules/redo.toml"), lambda data, _: load({**shipped_texts(), "x": text(data)})),
    "presets": (
        lambda _: toml("sizing/inputs/presets.toml")[:6000], lambda data, _: presets.parse_presets(text(data), "x"),
    ),
    "candidate": (lambda _: CANDIDATE, lambda data, _: parse_toml(text(data), "x", "candidate")),
    "profile": (
        lambda _: next(iter(shipped_profiles().values())).read_bytes(),
        in_file(lambda path: read_profile(path, known_figures())),
    ),
    "reference figures": (
        lambda _: toml("fleet/reference_figures.toml")[:6000], lambda data, _: parse_reference_figures(text(data), "x"),
    ),
    "manifest": (
        lambda _: (ROOT / "plugins/sizeup_null/probe.toml").read_bytes(),
        lambda data, _: parse_manifest(text(data), "x"),
    ),
    "Parquet": (lambda _: b"PAR1" + bytes(64) + b"PAR1", in_file(read_parquet)),
    "messages of a worker": (lambda _: STEP, messages),
    "cost of the console": (
        lambda _: b"cost 1 2 3 4", lambda data, _: [parse_cost(line) for line in data.splitlines()],
    ),
}  # fmt: skip


for kind, whole in test_imports.WHOLE.items():
    READERS[f"results: {kind}"] = (
        lambda _, whole=whole: whole.encode(), in_file(lambda path, kind=kind: read_foreign(path, kind)),
    )  # fmt: skip
for kind, whole in (test_workload.SAMPLES | test_workload.REPORTS).items():
    READERS[f"workload: {kind}"] = (
        lambda _, whole=whole: whole.encode(),
        lambda data, _: read_workload((WorkloadFile("x", text(data)),), 95, cores=8),
    )


def marked(reader: str) -> Any:
    """The reader, left to the hand where the gate damages what it reads elsewhere."""
    return pytest.param(reader, marks=pytest.mark.long if ": " in reader else ())


@pytest.mark.parametrize("reader", [marked(name) for name in READERS])
def test_what_is_damaged_is_taken_or_refused_in_one_line(reader: str, tmp_path: Path) -> None:
    seed, read = READERS[reader]
    whole = seed(tmp_path)
    source, refused, number = random.Random(reader), 0, 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or number < 10:
        data = mutate(source, whole)
        began, number, told = time.thread_time(), number + 1, ""
        try:
            read(data, tmp_path)
        except SizeupError as error:
            refused += 1
            told = str(error)
        except BaseException:
            (tmp_path / f"failed-{number}").write_bytes(data)
            raise
        assert "\n" not in told
        assert time.thread_time() - began < 5, f"{number} took too long"

    assert refused or reader in ("messages of a worker", "cost of the console")


@pytest.mark.parametrize("reader", [name for name in READERS if name != "Parquet" and ": " not in name])
def test_what_is_whole_is_taken(reader: str, tmp_path: Path) -> None:
    seed, read = READERS[reader]

    if reader not in ("presets", "reference figures", "rules"):
        read(seed(tmp_path), tmp_path)
