"""The templates of plug-ins work as they are written, and the documentation prints the one in Python."""

import os
import re
import shutil
import site
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from sizeup.cli import run
from sizeup.probing.kit.template import template_files
from sizeup.session.reader import read_session

DOCUMENT = Path(__file__).parents[2] / "docs/how-to/write-a-probe.md"
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")
ALONE = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}


def test_the_documentation_prints_the_template() -> None:
    blocks = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)

    assert {name: text.encode() for name, text in blocks} == template_files("python", "acme.rate")


@pytest.mark.parametrize("kind", ["python", "c"])
def test_a_template_has_the_name_that_it_is_given_and_no_problem(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new"

    assert run(["probes", "--template", kind, str(folder), "ours.disk.seek"]) == 0
    assert run(["probes", "--check", str(folder)]) == 0

    assert "ours.disk.seek: no problems" in capsys.readouterr().out
    assert (folder / "ours_disk_seek/probe.py").is_file()
    (probe,) = tomllib.loads((folder / "ours_disk_seek/probe.toml").read_text())["probe"]
    assert probe["gentle"] == {}, "a busy host would leave it out"
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in written if re.search(r"acme.(rate|fill)\b(?<!example/....)", path.read_text())]
    assert not [path for path in written if "acme" in path.name]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 0, "ran step acme.rate: "),
        (["--set", "acme.rate.seconds=300ms", "acme.rate.seconds=200ms"], 0, "ran step acme.rate: "),
        (["--set", "acme.rate.seconds=30m"], 2, "expected a time such as"),
    ],
)
def test_a_moment_of_a_run_shows_that_it_measures(arguments: list[str], status: int, said: str, tmp_path: Path) -> None:
    write(tmp_path)
    done = check(tmp_path, *arguments)

    assert done.returncode == status, done.stderr
    assert said in done.stdout + done.stderr


FAULTS = [
    ('Samples("crc32", at', 'Samples("crc" + "", at', "series of a record: expected one of crc32, found 'crc'"),
    (
        '{"block_bytes": block_bytes}',
        '{"bytes": block_bytes}',
        "coordinates of series crc32: expected its axis block_by",
    ),
    ("rates[-1],)", "float('nan'),)", "expected a step that ends without an error, found failed: ValueError"),
    ("zlib.crc32(block)", "raise OSError('gone')", "found failed: OSError: gone (probe.py:"),
    ("zlib.crc32(block)", "import os; os.abort()", "found crashed: its worker died of SIGABRT"),
    ("replicates=len(rates))", "low=1e300)", "interval of series crc32: expected low <= value <= high, found 1e+300"),
    ('yield Step("acme.rate"', 'yield Step("rate"', "plan: expected steps or refusals, found its plan is wrong"),
    (
        'yield Step("acme.rate"',
        'import time; yield Step(f"acme.rate.{time.time_ns()}"',
        "expected the same ids of step",
    ),
    (
        "2 * seconds + 5)",
        '5, (__import__("sizeup.model.plan").model.plan.Hazard.IO_WRITE,))',
        "those of the manifest, found",
    ),
    ("class Rate", "class Speed", "plan failed: AttributeError: module 'acme_rate.probe' has no attribute 'Rate'"),
    ("class Rate:", "class Rate:\n    def __init__(self, x): ...", "__init__() missing 1 required positional argument"),
    ("yield Step(", "Step(", "plan failed: TypeError: 'NoneType' object is not iterable"),
    ('settings["seconds"]', 'settings["secs"]', "plan failed: KeyError: 'secs' (probe.py:17)"),
    ("import zlib", "import zlib as", "plan failed: SyntaxError: "),
    ("(self, step, context)", "(self, step)", "found failed: TypeError: Rate.run() takes 2 positional arguments"),
]


@pytest.mark.ci
@pytest.mark.parametrize(("old", "new", "message"), FAULTS)
def test_what_only_a_run_shows_is_listed(old: str, new: str, message: str, tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "acme_rate/probe.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))

    done = check(tmp_path)

    assert done.returncode == 1, done.stderr
    assert message in done.stdout


@pytest.mark.ci
def test_a_probe_without_its_compiled_part_is_not_run_and_says_how_to_build_it(tmp_path: Path) -> None:
    assert run(["probes", "--template", "c", str(tmp_path / "new"), "acme.fill"]) == 0

    done = check(tmp_path / "new")

    assert done.returncode == 3
    assert "acme.fill: not run on this machine: its compiled part is missing: build a wheel" in done.stdout


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["python", "c"])
def test_a_template_is_built_as_a_wheel_installed_and_run(kind: str, tmp_path: Path) -> None:
    """Without network: by the build system of this environment, into a new one that borrows its packages."""
    needed = {"python": ("setuptools",), "c": ("scikit_build_core", "cffi")}[kind]
    missing = [name for name in needed if find_spec(name) is None]
    missing += [name for name in ("cmake", "ninja", "cc") if kind == "c" and shutil.which(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    source, wheels, new, out = (tmp_path / name for name in ("source", "wheels", "new", "run"))
    assert run(["probes", "--template", kind, str(source), "ours.rate"]) == 0
    execute(sys.executable, *PIP, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", wheels, source)
    (wheel,) = wheels.iterdir()

    execute(sys.executable, "-m", "sizeup", "probes", "--check", wheel, "--run")
    execute(sys.executable, "-m", "venv", "--without-pip", new)
    python = new / "bin/python"
    (library,) = new.glob("lib/python3*/site-packages")
    borrowed = [path for path in sys.path if path.endswith("-packages")] or site.getsitepackages()
    (library / "borrowed.pth").write_text(f"import site; list(map(site.addsitedir, {borrowed!r}))\n")
    execute(sys.executable, *PIP, "--python", python, "install", "--no-deps", "--no-index", wheel)
    listed = execute(python, "-m", "sizeup", "probes", "ours.rate")
    setting = "ours.rate.seconds=200ms"
    execute(python, "-m", "sizeup", "--batch", "-p", "ours.rate", "--set", setting, "-o", out)

    assert "can run here" in listed
    assert "from ours-rate 1.0" in listed
    step = read_session(str(out)).steps["ours.rate"]
    assert step.distribution == "ours-rate 1.0"
    assert step.finished
    assert len(step.points) >= 2
    assert all(point.estimate is not None and point.estimate.value > 1e6 for point in step.points.values())


def execute(*command: object, **more: str) -> str:
    words = [str(part) for part in command]
    done = subprocess.run(words, env={**ALONE, **more}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sizeup", "probes", "--check", str(folder), "--run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(folder: Path) -> None:
    """Write the files of the template."""
    for name, content in template_files("python", "acme.rate").items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def install(folder: Path) -> None:
    """Write the files, and what an installer would write beside them."""
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
    sizeup, found_at = (sys.executable, "-m", "sizeup"), {"PYTHONPATH": str(tmp_path)}

    listed = execute(*sizeup, "probes", "acme.rate", **found_at)
    setting = "acme.rate.seconds=100ms"
    execute(*sizeup, "--batch", "-p", "acme.rate", "--set", setting, "-o", tmp_path / "run", **found_at)

    assert "can run here" in listed
    assert "from acme-rate 1.0" in listed
    step = read_session(str(tmp_path / "run")).steps["acme.rate"]
    assert step.distribution == "acme-rate 1.0"
    assert step.finished
    assert [dict(point.at) for point in step.points.values()] == [{"block_bytes": 4096}, {"block_bytes": 65536}]
    assert all(point.estimate is not None and point.estimate.value > 0 for point in step.points.values())


@pytest.mark.ci
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
