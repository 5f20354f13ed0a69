"""The published reference figures: each has a source, a date, a unit and a machine, and the nearest one is found."""

import datetime
import re

import pytest
from msgspec.structs import replace

from sizeup.compare.headlines import named_figures
from sizeup.errors import MalformedError
from sizeup.fleet.host_session import HostFigure
from sizeup.fleet.reference_figures import (
    Nearness,
    ReferenceFigure,
    nearest_reference,
    parse_reference_figures,
    shipped_reference_figures,
)
from sizeup.model.plan import Better
from sizeup.quantity import Quantity
from sizeup.sizing.inputs.presets import find_preset

REFERENCES = shipped_reference_figures()
ONE = """schema = "sizeup.reference-figures/1"
[[reference]]
name = "one"
figure = "memory.local_latency"
machine = "a machine"
value = 80
unit = "ns"
measured = "a tool"
source = "an author"
date = "2020-02"
"""
OBSERVED = {"storage.random_iops": "observed.iops", "storage.bandwidth": "observed.mb_s"}
DRAM = HostFigure("memory", "memory.local_latency@memory.latency", "DRAM latency", "ns", Better.LOWER, 95.0, "", None)


@pytest.mark.parametrize("one", REFERENCES, ids=lambda one: one.name)
def test_each_has_a_source_a_date_a_unit_and_a_machine(one: ReferenceFigure) -> None:
    assert all(text.strip() == text != "" for text in (one.source, one.machine, one.measured, one.unit))
    published = datetime.date(*[int(part) for part in (one.date + "-01-01").split("-")[:3]])
    assert datetime.date(2000, 1, 1) < published < datetime.date(2027, 1, 1)
    assert re.search(r"\d", one.machine)
    assert one.figure in named_figures()
    # A latency is between a hit in a cache and a switch to another disk, a bandwidth between a disk and a large server.
    low, high = {"ns": (5, 2000), "bytes/s": (1e8, 1e13), "1/s": (1e3, 1e8)}[named_figures()[one.figure].unit]
    assert low < one.base_value < high
    assert not one.cpu or one.cpu.split()[0] in ("Intel", "AMD")


def test_the_set_has_latency_bandwidth_and_iops() -> None:
    assert {one.figure for one in REFERENCES} == {
        "memory.local_latency", "memory.remote_latency", "memory.read_bandwidth", "memory.core_to_core_latency",
        "storage.random_iops", "storage.bandwidth",
    }  # fmt: skip
    assert len(REFERENCES) >= 19


@pytest.mark.parametrize("one", [one for one in REFERENCES if one.preset], ids=lambda one: one.name)
def test_a_figure_that_a_published_case_has_is_the_same(one: ReferenceFigure) -> None:
    preset = find_preset(one.preset)
    value = preset.values()[OBSERVED[one.figure]]

    assert isinstance(value, Quantity)
    assert value.value == pytest.approx(one.base_value)
    assert one.source in preset.source


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('source = "an author"\n', "", "missing required field `source`"),
        ('date = "2020-02"\n', "", "missing required field `date`"),
        ('unit = "ns"\n', "", "missing required field `unit`"),
        ('machine = "a machine"\n', "", "missing required field `machine`"),
        ('measured = "a tool"\n', "", "missing required field `measured`"),
        ("2020-02", "last year", "matching regex"),
        ("2020-02", "2020-13", "matching regex"),
        ("value = 80", "value = 0", "expected sizeup.reference-figures/1"),
        ('unit = "ns"', 'unit = "GB/s"', "one: expected a unit of ns, found 'GB/s'"),
        ("memory.local_latency", "memory.latency", "one: expected a figure of sizeup, found 'memory.latency'"),
        ('name = "one"', 'name = "one"\nnames = 1', "unknown field `names`"),
        ("figures/1", "figures/2", "figures/2"),
        ("[[reference]]", "[reference", "where.toml: expected sizeup.reference-figures/1"),
    ],
)
def test_an_incomplete_figure_is_refused(old: str, new: str, expected: str) -> None:
    assert len(parse_reference_figures(ONE, "where.toml")) == 1
    with pytest.raises(MalformedError, match=re.escape(expected)):
        parse_reference_figures(ONE.replace(old, new), "where.toml")


def test_a_name_is_there_once() -> None:
    with pytest.raises(MalformedError, match="expected every name once, found 'one' twice"):
        parse_reference_figures(ONE + ONE.partition("\n")[2], "where.toml")


def test_the_nearest_is_the_same_cpu_then_the_maker_then_the_newest() -> None:
    base = parse_reference_figures(ONE, "where.toml")[0]
    old_same = replace(base, name="same", cpu="Intel Xeon Gold 6430", date="2010")
    maker = replace(base, name="maker", cpu="Intel Xeon Gold 6240", date="2015")
    newer_maker = replace(base, name="newer", cpu="Intel Xeon E5320", date="2015-02")
    newest = replace(base, name="newest", cpu="AMD EPYC 7742", date="2020")
    known = [newest, maker, newer_maker, old_same]

    assert nearest_reference(DRAM, "Intel Xeon Gold 6430", known) == (old_same, Nearness.SAME_CPU)
    assert nearest_reference(DRAM, "Intel Xeon Gold 6448H", known) == (newer_maker, Nearness.SAME_MAKER)
    assert nearest_reference(DRAM, "ARM Neoverse-N1", known) == (newest, Nearness.OTHER)
    assert nearest_reference(DRAM, "AMD EPYC 7742 64-Core", known) == (newest, Nearness.SAME_CPU)
    assert nearest_reference(replace(DRAM, name="clock.read_cost@clock.cost"), "ARM Neoverse-N1", known) is None
