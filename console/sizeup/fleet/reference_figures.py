"""Published figures of known machines: what stands beside a figure that has too few like machines to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from sizeup.compare.headlines import named_figures
from sizeup.decoding import parse_toml
from sizeup.errors import MalformedError
from sizeup.fleet.host_session import HostFigure
from sizeup.units import base_unit

_FILE = "reference_figures.toml"
_Words = Annotated[str, Meta(min_length=3)]
_Date = Annotated[str, Meta(pattern=r"^(19|20)\d\d(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$")]
_Address = Annotated[str, Meta(pattern=r"^(https://\S+)?$")]


class ReferenceFigure(Struct, frozen=True, forbid_unknown_fields=True):
    """One printed figure of one machine, measured with another tool."""

    name: _Words
    figure: _Words
    """Name of a figure without its probe: ``memory.local_latency``."""
    machine: _Words
    value: Annotated[float, Meta(gt=0)]
    """In ``unit``, as printed."""
    unit: str
    measured: _Words
    """The tool and the conditions."""
    source: _Words
    date: _Date
    """When it was published."""
    cpu: str = ""
    """Maker and model as ``short_cpu`` has them; empty where the source names none."""
    url: _Address = ""
    preset: str = ""
    """The published case that has the same figure."""
    note: str = ""

    @property
    def base_value(self) -> float:
        """Return the value in the base unit of the figure."""
        return self.value * base_unit(self.unit)[1]


class _ReferenceFile(Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.reference-figures/1"]
    reference: tuple[ReferenceFigure, ...]


class Nearness(Enum):
    """What a published machine has in common with another."""

    OTHER = "another machine"
    SAME_MAKER = "a CPU of the same maker"
    SAME_CPU = "the same CPU"


def parse_reference_figures(text: str, where: str) -> tuple[ReferenceFigure, ...]:
    """Return the figures of a file; raises ``MalformedError`` where one is incomplete or of another unit."""
    file: _ReferenceFile = parse_toml(text, where, "sizeup.reference-figures/1", _ReferenceFile)
    found = file.reference
    known = named_figures()
    names = set[str]()
    for one in found:
        if one.name in names:
            raise MalformedError(f"{where}: expected every name once, found {one.name!r} twice")
        names.add(one.name)
        if one.figure not in known:
            raise MalformedError(f"{where}: {one.name}: expected a figure of sizeup, found {one.figure!r}")
        unit = known[one.figure].unit
        if base_unit(one.unit)[0] != unit:
            raise MalformedError(f"{where}: {one.name}: expected a unit of {unit}, found {one.unit!r}")
    return found


@cache
def shipped_reference_figures() -> tuple[ReferenceFigure, ...]:
    """Return the figures that come with the program."""
    return parse_reference_figures(Path(__file__).with_name(_FILE).read_text(encoding="utf-8"), _FILE)


def nearest_reference(
    figure: HostFigure, cpu: str, known: Sequence[ReferenceFigure] | None = None
) -> tuple[ReferenceFigure, Nearness] | None:
    """Return the published figure of the same kind that is nearest: the same CPU, else its maker, else the newest.

    ``cpu`` is a name as ``short_cpu`` has it.
    """
    known = shipped_reference_figures() if known is None else known
    found = [one for one in known if one.figure == figure.name.partition("@")[0]]
    if not found:
        return None
    # The latest date of those that are nearest; a year alone counts as its first day.
    order = list(Nearness)
    one = max(found, key=lambda one: (order.index(_nearness(one.cpu, cpu)), one.date))
    return one, _nearness(one.cpu, cpu)


def _nearness(published: str, cpu: str) -> Nearness:
    theirs, ours = published.split(), cpu.split()
    if theirs and set(theirs) <= set(ours):
        return Nearness.SAME_CPU
    return Nearness.SAME_MAKER if theirs[:1] == ours[:1] and theirs else Nearness.OTHER
