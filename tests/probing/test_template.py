"""The probe of docs/how-to/write-a-probe.md works exactly as printed."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sizeup.session.reader import read_session

DOCUMENT = Path(__file__).parents[2] / "docs/how-to/write-a-probe.md"


def write(folder: Path) -> None:
    """Write the printed files."""
    for name, content in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", DOCUMENT.read_text(), re.DOTALL):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)


def install(folder: Path) -> None:
    """Write the printed files, and what an installer would write beside them."""
    write(folder)
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"acme_rate-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {target}" for name, target in project["entry-points"]["sizeup.probes"].items()]
    (info / "entry_points.txt").write_text("[sizeup.probes]\n" + "\n".join(lines) + "\n")


@pytest.mark.ci
def test_the_printed_probe_is_found_runs_and_is_named_with_its_version(tmp_path: Path) -> None:
    install(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "sizeup"]

    listed = subprocess.run(
        [*command, "probes", "acme.rate"], env=environment, capture_output=True, text=True, check=True
    )
    subprocess.run(
        [*command, "--batch", "-p", "acme.rate", "--set", "acme.rate.seconds=100ms", "-o", tmp_path / "run"],
        env=environment,
        capture_output=True,
        check=True,
    )

    assert "can run here" in listed.stdout
    assert "from acme-rate 1.0" in listed.stdout
    step = read_session(str(tmp_path / "run")).steps["acme.rate"]
    assert step.distribution == "acme-rate 1.0"
    assert step.finished
    assert [dict(point.at) for point in step.points.values()] == [{"block_bytes": 4096}, {"block_bytes": 65536}]
    assert all(point.estimate is not None and point.estimate.value > 0 for point in step.points.values())


@pytest.mark.ci
def test_the_printed_project_is_whole_when_it_is_built_and_installed(tmp_path: Path) -> None:
    source, wheels, target = (tmp_path / name for name in ("source", "wheels", "target"))
    source.mkdir()
    write(source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    alone = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}

    for command in (
        [*pip, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", wheels, source],
        [*pip, "install", "--no-deps", "--no-index", "--target", target, "--find-links", wheels, "acme-rate"],
    ):
        done = subprocess.run(command, env=alone, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    listed = subprocess.run(
        [sys.executable, "-m", "sizeup", "probes", "acme.rate"],
        env={**os.environ, "PYTHONPATH": str(target)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert (target / "acme_rate/probe.toml").is_file()
    assert "can run here" in listed.stdout
    assert "from acme-rate 1.0" in listed.stdout


def test_a_strangers_probe_can_be_left_out(tmp_path: Path) -> None:
    install(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "sizeup", "--batch", "--only-builtin", "-p", "acme.rate", "-o", tmp_path / "run"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "unknown probe 'acme.rate'" in done.stderr
