"""``sizeup probe check`` lists what is wrong with a plug-in, with the place and what to do, and runs none of it."""

import json
import re
import subprocess
import sys
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from sizeup.cli import run
from sizeup.probing.kit.check import check_plugin
from sizeup.probing.kit.plugin_files import line_of
from sizeup.probing.kit.template import template_files
from sizeup.probing.registry import GROUP, load_registry
from tiers import one_in

ROOT = Path(__file__).parents[3]
MANIFEST, CODE = "acme_rate/probe.toml", "acme_rate/probe.py"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    for name, content in template_files("python", "acme.rate").items():
        path = tmp_path / "plugin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "plugin"


def change(plugin: Path, file: str, old: str, new: str) -> None:
    text = (plugin / file).read_text()
    assert old in text
    (plugin / file).write_text(text.replace(old, new, 1))


def test_the_built_in_probes_keep_the_contract() -> None:
    checked = check_plugin(ROOT)

    assert checked.problems == []
    assert set(checked.names) == set(load_registry().builtin_only().probes)


def test_a_sound_plug_in_has_no_problems_and_is_not_imported(plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probes", "--check", str(plugin)]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "acme.rate: no problems",
        "Nothing of the plug-in was run; --run measures with it for half a second.",
    ]
    assert not [name for name in sys.modules if name.startswith("acme_rate")]


IN_MANIFEST = [
    ('title = "Checksum rate"\n', "", "probe[0].title: expected text, found no such key"),
    ("summary =", "sumary =", "probe[0].sumary: expected a known key, found 'sumary' (did you mean summary?)"),
    ('"cpu-load"', '"cpu"', "probe[0].hazards: expected a list, each one of cpu-load, memory, io-read,"),
    ('"curve"', '"pie"', "probe[0].chart: expected one of bars, curve, histogram, matrix, none, scaling, found 'pie'"),
    (
        'unit = "bytes/s"',
        'unit = "MB/s"',
        "unit of series crc32: expected the base unit bytes/s, found 'MB/s'; multiply",
    ),
    (
        'unit = "bytes/s"',
        'unit = "ns"\nquantity = "memory.read_bandwidth"',
        "expected bytes/s, the unit of memory.read_b",
    ),
    ('axis = "block_bytes"\n', "", "axes of acme.rate: expected the axis of a series, found 'block_bytes'"),
    ('{ unit = "bytes"', '{ unit = "KiB"', "unit of axis block_bytes: expected the base unit bytes, found 'KiB'"),
    ('better = "higher"', 'better = "more"', "probe[0].series[0].better: expected one of lower, higher, neither"),
    (
        "default = 1.0",
        "default = 90.0",
        "default of parameter seconds: expected a time such as 10, 250ms or 5m from 10 ms",
    ),
    ("minimum = 0.01", 'minimum = "1"', "probe[0].parameter[0].minimum: expected a number, found '1'"),
    ('type = "seconds"', 'type = "choice"', "choices of parameter seconds: expected the choices, found none"),
    ("seconds = 0.2 } }", "second = 0.2 } }", "plans: expected a parameter of acme.rate, found 'second' (did you mean"),
    (
        "quick = { seconds = 0.2 }",
        "quik = {}",
        "plans of acme.rate: expected one of quick, standard, full, found 'quik'",
    ),
    (
        "seconds = 0.2 }",
        "seconds = 99.0 }",
        "plans.quick.seconds: expected a time such as 10, 250ms or 5m from 10 ms to",
    ),
    (", quick = 0.2 }", " }", "estimated_seconds of acme.rate: expected a number for plan quick, found none"),
    ('name = "acme.rate"', 'name = "Acme Rate"', "probe[0].name: expected lower-case words joined by dots"),
    ('card = "cpu"', 'precision = "seconds"', "type of parameter seconds: expected float, as precision names it"),
    ('limits = { cpus = "one" }', "limits = { seconds = 0 }", "limits.seconds: expected more than 0 s, found 0"),
    ("standard = 1.0", "standard = 0", "probe[0].estimated_seconds: expected a table whose values are more than 0 s"),
    ('title = "Checksum rate"', 'title = " "', "probe[0].title: expected text, found ' '"),
    ('name = "crc32"', 'name = "crc 32"', "series[0].name: expected letters, digits, dots, hyphens and underscores"),
    ('name = "seconds"', 'name = "seconds\\n"', "parameter[0].name: expected a lower-case word such as block_bytes"),
    ('type = "seconds"', 'type = "seconds"\nkey = "se"', "parameter[0].key: expected one letter, found 'se'"),
    ('schema = "sizeup.probe/1"', 'schema = "sizeup.probe/9"', "schema: expected one of sizeup.probe/1, found"),
    ("[[probe.series]]", "[[probe.series]", "file: expected TOML in UTF-8"),
]


@pytest.mark.parametrize(("old", "new", "message"), one_in(3, IN_MANIFEST))
def test_what_the_check_finds_in_a_manifest_the_registry_refuses(
    plugin: Path, old: str, new: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One validation: what is a problem before the installation is one after it, and the other way round."""
    monkeypatch.syspath_prepend(plugin)
    points = [EntryPoint("acme.rate", "acme_rate.probe:Rate", GROUP)]
    assert not load_registry(points).broken
    change(plugin, MANIFEST, old, new)

    found = [str(problem) for problem in check_plugin(plugin).problems]

    assert any(message in line for line in found), found
    assert all(line.startswith((MANIFEST, "pyproject.toml")) for line in found), found
    assert load_registry(points).broken


@pytest.mark.parametrize(
    ("hazards", "key"),
    [('"cpu-load"', "cpus"), ('"memory"', "memory"), ('"disk-space"', "space"), ('"io-read", "io-write"', "space")],
)
def test_a_hazard_without_the_limit_that_it_needs_is_a_problem_but_no_reason_to_refuse_the_probe(
    hazards: str, key: str, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(plugin)
    change(
        plugin, MANIFEST, 'hazards = ["cpu-load"]\nlimits = { cpus = "one" }', f"hazards = [{hazards}]\nlimits = {{}}"
    )

    (problem,) = check_plugin(plugin).problems

    assert str(problem).startswith(f"{MANIFEST}:10: limits.{key} of acme.rate: expected the most that a step takes")
    assert not load_registry([EntryPoint("acme.rate", "acme_rate.probe:Rate", GROUP)]).broken


IN_PROJECT = [
    ("sizeup.probes", "sizeup.probe", "entry points: expected one of group sizeup.probes for each probe, found none"),
    ("acme_rate.probe:Rate", "acme_rate.probe", ":10: entry point acme.rate: expected package.module:Class, found"),
    (
        "acme_rate.probe:Rate",
        "acme_rate.prob:Rate",
        ":10: entry point acme.rate: expected a module acme_rate.prob, found",
    ),
    ("acme_rate.probe:Rate", "acme.probe:Rate", ":10: entry point acme.rate: expected a package acme, found no such"),
    (
        '"acme.rate" =',
        '"acme.rat" =',
        ":10: entry point acme.rat: expected a probe of this name in acme_rate/probe.toml",
    ),
    ('"acme.rate" =', '"null" =', ":10: entry point null: expected a probe of this name"),
    (
        "package-data",
        "# package-data",
        "tool.setuptools.package-data: expected probe.toml among the files of the package",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), IN_PROJECT)
def test_a_problem_of_the_distribution_is_listed(plugin: Path, old: str, new: str, message: str) -> None:
    change(plugin, "pyproject.toml", old, new)

    found = [str(problem) for problem in check_plugin(plugin).problems]

    assert any(message in line for line in found), found


def test_every_problem_is_listed_and_not_the_first_alone(plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(plugin, MANIFEST, "summary =", "sumary =")
    change(plugin, MANIFEST, '"higher"', '"more"')
    change(plugin, "pyproject.toml", "package-data", "# package-data")

    assert run(["probes", "--check", str(plugin), "--run", "--json"]) == 2

    data = json.loads(capsys.readouterr().out)
    assert data["trials"] == []
    assert [(problem["file"], problem["line"]) for problem in data["problems"]] == [
        ("pyproject.toml", 12),
        (MANIFEST, 6),  # the unknown key
        (MANIFEST, 3),  # the missing one, at the head of its table
        (MANIFEST, 24),
    ]


def test_a_name_that_an_installed_probe_has_is_a_problem(plugin: Path) -> None:
    change(plugin, "pyproject.toml", '"acme.rate" =', '"null" =')
    change(plugin, MANIFEST, 'name = "acme.rate"', 'name = "null"')

    (problem,) = check_plugin(plugin).problems

    assert re.search(r"found sizeup \S+ provides a probe of this name already", str(problem))


@pytest.mark.ci
def test_a_wheel_without_its_manifest_is_a_problem(plugin: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "acme_rate-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("acme_rate/__init__.py", "")
        archive.writestr(CODE, (plugin / CODE).read_text())
        archive.writestr("acme_rate-1.0.dist-info/entry_points.txt", f"[{GROUP}]\nacme.rate = acme_rate.probe:Rate\n")

    done = subprocess.run(
        [sys.executable, "-m", "sizeup", "probes", "--check", wheel], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stdout.startswith(
        "acme_rate/probe.toml: file: expected the manifest of the package, found no such file\n"
    )


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (b"[sizeup.probes]\nacme.rate\n", "file: expected lines in UTF-8 such as acme.rate = acme_rate.probe:Rate"),
        (b"\xff\xfe", "file: expected lines in UTF-8"),
        (
            b"[sizeup.probes]\nacme.rate = :::\n",
            ":2: entry point acme.rate: expected package.module:Class, found ':::'",
        ),
        (b"[console_scripts]\nacme = acme:main\n", ": entry points: expected one of group sizeup.probes"),
    ],
)
def test_a_folder_that_pip_installed_into_is_checked_by_what_pip_wrote(
    points: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "acme-1.0.dist-info").mkdir()
    (tmp_path / "acme-1.0.dist-info/entry_points.txt").write_bytes(points)

    (problem,) = check_plugin(tmp_path).problems

    assert message in str(problem)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "{gone}"], "expected a folder or a wheel, found neither"),
        (["check", "{file}"], "expected a wheel: File is not a zip file; build it with: pip wheel"),
        (["check", "{folder}", "null"], "unrecognized arguments: null; try: sizeup probe check --help"),
        (["check", "{folder}", "--set", "a.b=1"], "--set needs --run"),
        (["new", "rust", "{gone}", "acme.rate"], "expected python or c, found 'rust'"),
        (["new", "c", "{gone}"], "the following arguments are required: PROBE; try: sizeup probe new --help"),
        (["new", "c", "{gone}", "Rate"], "two or more lower-case words joined by dots such as acme.fill, found"),
        (["new", "c", "{folder}", "acme.fill"], "exists and is not an empty directory; choose another one"),
    ],
)
def test_what_cannot_be_checked_or_written_is_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("text")
    names = {"gone": str(tmp_path / "gone"), "file": str(tmp_path / "file"), "folder": str(tmp_path)}

    assert run(["probe", *(argument.format(**names) for argument in arguments)]) == 2

    assert message in capsys.readouterr().err
    assert not (tmp_path / "gone").exists()


def test_a_key_in_an_inline_table_is_found_at_the_line_of_that_table() -> None:
    text = 'schema = "x"\n[[probe]]\nseries = [{ name = "a" }]\n[probe.limits]\nseconds = 0\n[[probe]]\nname = "b"\n'

    assert line_of(text, ("probe", 0, "series", 0, "unit")) == 3
    assert line_of(text, ("probe", 0, "limits", "seconds")) == 5
    assert line_of(text, ("probe", 1, "name")) == 7
    assert line_of(text, ("other",)) == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("pyproject.toml", "[project]", "deep = " + "[" * 5000 + "\n[project]", "expected TOML, found"),
        ("acme_rate/probe.toml", "schema", "deep = " + "[" * 5000 + "\nschema", "expected TOML in UTF-8, found"),
        ("pyproject.toml", 'acme_rate = ["probe.toml"]', "acme_rate = 5", "package-data: expected probe.toml"),
        ("acme_rate/probe.toml", 'method =', '"\\u001b[31m" = 1\nmethod =', "\ufffd[31m"),
    ],
)  # fmt: skip
def test_a_plug_in_that_means_harm_is_a_problem_like_others(
    plugin: Path, file: str, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(plugin, file, old, new)

    assert run(["probes", "--check", str(plugin)]) == 2

    out = capsys.readouterr().out
    assert message in out
    assert "\x1b" not in out


@pytest.mark.parametrize("damaged", [True, False], ids=["damaged", "with a file below a file"])
def test_a_wheel_that_cannot_be_unpacked_is_refused(
    damaged: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", "x" * 1000)
        if not damaged:
            archive.writestr("a/b", "")
    if damaged:
        content = bytearray(wheel.read_bytes())
        content[32:36] = b"\xff" * 4
        wheel.write_bytes(content)

    assert run(["probes", "--check", str(wheel)]) == 2
    assert f"{wheel}: expected a wheel: " in capsys.readouterr().err
