"""Probes are known by their manifests; a broken plug-in is listed with its reason and harms no other."""

import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from sizeup.errors import UsageError
from sizeup.model.finding import Finding, Severity
from sizeup.model.plan import SeriesQuantity
from sizeup.probing.registry import GROUP, BrokenProbe, Registry, load_registry

MANIFEST = """
schema = "sizeup.probe/1"
[[probe]]
name = "acme.seek"
title = "Seek"
summary = "Seeks."
touches = "nothing"
method = "https://example.org/seek"
series = [{ name = "time", title = "Seek time", unit = "ns", better = "lower" }]
"""


def point(name: str, package: str) -> EntryPoint:
    return EntryPoint(name, f"{package}.probe:Probe", GROUP)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def package(folder: Path, name: str, manifest: str | None) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported to be listed')")
    if manifest is not None:
        (folder / name / "probe.toml").write_text(manifest)


def test_a_probe_is_listed_without_importing_it(packages: Path) -> None:
    package(packages, "acme_seek", MANIFEST)

    registry = load_registry([point("acme.seek", "acme_seek")])

    probe = registry.get("acme.seek")
    assert (probe.target, probe.distribution, probe.builtin) == ("acme_seek.probe:Probe", "unknown", False)
    assert "acme_seek" not in sys.modules


def test_a_broken_plugin_is_listed_with_its_reason_and_harms_no_other(packages: Path) -> None:
    package(packages, "acme_seek", MANIFEST)
    package(packages, "acme_none", None)
    package(packages, "acme_typo", MANIFEST.replace("touches", "tuoches"))
    package(packages, "acme_toml", "schema = ")

    registry = load_registry(
        [
            point("gone", "acme_gone"),
            point("none", "acme_none"),
            point("typo", "acme_typo"),
            point("toml", "acme_toml"),
            point("other", "acme_seek"),
            point("acme.seek", "acme_seek"),
        ]
    )

    assert list(registry.probes) == ["acme.seek"]
    reasons = {broken.name: broken.reason for broken in registry.broken}
    assert reasons["gone"] == "package acme_gone cannot be found; reinstall its distribution"
    assert reasons["none"] == "package acme_none has no probe.toml; see docs/how-to/write-a-probe.md"
    assert "probe[0].tuoches: expected a known key, found 'tuoches' (did you mean touches?)" in reasons["typo"]
    assert "expected a sizeup.probe/1 manifest" in reasons["toml"]
    assert reasons["other"] == "its probe.toml declares no probe of this name (it declares acme.seek)"


def test_an_unknown_probe_is_refused_with_the_nearest_name(packages: Path) -> None:
    package(packages, "acme_seek", MANIFEST)
    registry = load_registry([point("acme.seek", "acme_seek")])

    with pytest.raises(
        UsageError, match=r"unknown probe 'acme.sek' \(did you mean acme.seek\?\); see: sizeup probe list"
    ):
        registry.get("acme.sek")


def test_a_broken_probe_asked_for_by_name_says_why() -> None:
    registry = Registry({}, (BrokenProbe("acme.seek", "acme 2.0", "package acme has no probe.toml"),))

    with pytest.raises(UsageError, match=r"probe acme.seek of acme 2.0 cannot be used: package acme has no"):
        registry.get("acme.seek")


def test_the_installed_probes_are_found_and_none_is_imported() -> None:
    code = (
        "import sys\n"
        "from sizeup.probing.registry import load_registry\n"
        "registry = load_registry()\n"
        "assert 'null' in registry.probes and registry.get('null').builtin\n"
        "assert not [name for name in sys.modules if name.startswith('sizeup_') and '.' in name], sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def declaring(*series: str, more: str = "") -> str:
    """The manifest with a quantity for the series, and with further lines of the probe."""
    quantity = f'better = "lower", quantity = [{", ".join(series)}]'
    return MANIFEST.replace('better = "lower"', quantity).replace('touches = "nothing"', f'touches = "nothing"\n{more}')


def test_the_first_quantity_that_matches_a_point_is_what_it_is(packages: Path) -> None:
    same = '{ name = "memory.local_latency", same = ["cpu_node", "memory_node"] }'
    named = '{ name = "storage.read_latency", where = { workload = ["dss*", "load"] } }'
    package(packages, "acme_seek", declaring(same, named, '{ name = "acme.other" }'))
    (series,) = load_registry([point("acme.seek", "acme_seek")]).get("acme.seek").series

    found = [
        None if (quantity := series.quantity(at)) is None else quantity.name
        for at in (
            {"cpu_node": 1, "memory_node": 1},
            {"cpu_node": 1, "memory_node": 0},
            {"workload": "dss-rand"},
            {"workload": "loaded"},
            {"cpu_node": 1},
        )
    ]

    assert found == ["memory.local_latency", "acme.other", "storage.read_latency", "acme.other", "acme.other"]


def test_one_word_says_what_all_points_of_a_series_are(packages: Path) -> None:
    package(packages, "acme_seek", MANIFEST.replace('"lower"', '"lower", quantity = "storage.seek_time"'))
    registry = load_registry([point("acme.seek", "acme_seek")])
    probe = registry.giving("storage.seek_time")

    assert probe.series[0].quantity({"any": 1}) == SeriesQuantity("storage.seek_time")
    assert registry.giving("storage.bandwidth") is None


@pytest.mark.parametrize(
    ("more", "quantity", "message"),
    [
        ('precision = "targt"', '{ name = "a.b" }', "precision: expected a parameter of acme.seek, found 'targt'"),
        ('target = { setting = "pth" }', '{ name = "a.b" }', "target: expected a parameter of acme.seek, found 'pth'"),
        ("", '{ name = "a.b", measure_with = { prest = "x" } }', "measure_with of series time: expected a parameter"),
        ("", '{ name = "storage.bandwidth" }', "unit of series time: expected bytes/s, the unit of storage.bandwidth"),
        (
            "",
            '{ name = "a.b", wher = { x = ["y"] } }',
            "quantity[0].wher: expected a known key, found 'wher' (did you mean where?)",
        ),
    ],
)
def test_a_declaration_that_names_what_is_not_there_is_refused(
    more: str, quantity: str, message: str, packages: Path
) -> None:
    package(packages, "acme_seek", declaring(quantity, more=more))

    (broken,) = load_registry([point("acme.seek", "acme_seek")]).broken
    assert message in broken.reason


def test_of_two_probes_that_give_a_quantity_the_built_in_one_comes_first(packages: Path) -> None:
    given = load_registry().giving("clock.gettimeofday")
    assert given is not None
    name = "aaaa.seek"
    package(packages, "acme_seek", declaring('{ name = "clock.gettimeofday" }').replace("acme.seek", name))

    both = load_registry([*entry_points(group=GROUP), point(name, "acme_seek")])

    assert next(iter(both.probes)) == name
    assert both.giving("clock.gettimeofday") == given


def test_a_finding_is_confirmed_by_who_stated_it_or_by_who_gives_the_quantity() -> None:
    registry = load_registry()

    def confirmed_by(**said: str) -> str:
        probe = registry.confirming(Finding("x", Severity.INFO, "It is so", (), "", "", **said))
        return "" if probe is None else probe.name

    giving = registry.giving("memory.remote_latency")
    assert confirmed_by(quantity="memory.remote_latency") == giving.name
    assert confirmed_by(probe="null", quantity="memory.remote_latency") == "null"
    assert confirmed_by(probe="gone.since") == confirmed_by() == ""
