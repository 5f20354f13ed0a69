"""The fleet as a screen shows it: the answer, and each figure of each host beside the median of its peers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sizeup.compare.comparison import Conclusion
from sizeup.compare.figures import direction
from sizeup.fleet.fleet import Fleet, Host, HostStatus, usable
from sizeup.fleet.outliers import LEAST_HOSTS
from sizeup.fleet.table import figure_value, headline, short_title
from sizeup.text import plural
from sizeup.views.band import Band, NextStep, Number
from sizeup.views.comparison.answer import change_words

_SHOWN = 0.02
"""The least difference from the median that a cell names."""
_LEVELS = (_SHOWN, 0.06, 0.12)
"""From these differences on a cell is colored more strongly."""
LOOKS = {
    HostStatus.OUTLIER: ("▲", "warn", "OUTLIER"),
    HostStatus.NO_RESULT: ("○", "dim", "no result"),
    HostStatus.NOT_VALID: ("▲", "warn", "NOT VALID"),
    HostStatus.FINDING: ("▲", "warn", "FINDING"),
    HostStatus.UNDECIDED: ("?", "warn", "UNDECIDED"),
    HostStatus.BETTER: ("▲", "s1", "BETTER"),
    HostStatus.NOT_COMPARED: ("○", "dim", "not compared"),
    HostStatus.OK: ("●", "ok", "normal"),
}
"""Sign, token and words of each status."""


class HeatCell(Struct, frozen=True):
    """One figure of one host."""

    value: str
    difference: str = ""
    """``-23 %``; empty below 2 %, or where it is not compared."""
    level: int = 0
    """0 to 3: how far from the median; negative where that is worse."""
    compared: bool = False
    stands_out: bool = False


def heat_cell(fleet: Fleet, host: Host, name: str) -> HeatCell:
    """Return a figure with its difference from the median of its peers; without one where fewer than 3 are like it."""
    figure = host.figures.get(name)
    if figure is None or not usable(figure):
        return HeatCell("not measured" if figure is None else "not valid")
    text = figure_value(figure.value, figure.unit)
    found = fleet.spreads.get((host.compared_as.name, name))
    if found is None or found.hosts < LEAST_HOSTS or name in host.other_workload:
        return HeatCell(f"{text} ~" if name in host.other_workload else text)
    change = figure.value / found.median - 1
    level = sum(abs(change) >= least for least in _LEVELS)
    if direction(1 + change, figure.better) is Conclusion.WORSE:
        level = -level
    difference = f"{change * 100:+.0f} %" if abs(change) >= _SHOWN else ""
    out = any(one.figure.name == name for one in host.outliers)
    return HeatCell(f"{text} ?" if figure.scatter else text, difference, level, compared=True, stands_out=out)


def by_status(hosts: Sequence[Host]) -> list[Host]:
    """Return hosts with those that stand out first, the furthest of them above the others."""
    by_distance = sorted(hosts, key=lambda host: -max((one.distance for one in host.outliers), default=0.0))
    return sorted(by_distance, key=lambda host: list(HostStatus).index(host.status))


def normal_peer(fleet: Fleet, host: Host) -> Host | None:
    """Return a host like this one in which nothing stands out; None where there is none."""
    return next(
        (one for one in fleet.hosts if one.compared_as == host.compared_as and one.status is HostStatus.OK
         and one.name != host.name), None,
    )  # fmt: skip


def fleet_band(fleet: Fleet) -> Band:
    """Return how many hosts stand out, which one most and by how much, and what to do."""
    out = by_status([host for host in fleet.hosts if host.status is HostStatus.OUTLIER])
    found = [host for host in fleet.hosts if host.status in (HostStatus.FINDING, HostStatus.UNDECIDED)]
    hosts = plural(len(fleet.hosts), "host")
    types = [f"{len(each)} × {', '.join(filter(None, each[0].type.family))}" for each in fleet.types.values()]
    basis = " · ".join((types[0] if len(types) == 1 else f"{len(types)} machine types", "newest valid figures"))
    if out:
        number = Number(str(len(out)), "", f"of {hosts}")
        step = NextStep("Compare it with a normal host:", "c", "· Enter opens it")
        word = plural(len(out), "OUTLIER").upper()
        worse = [one for one in out[0].outliers if one.conclusion is Conclusion.WORSE]
        change = change_words(worse[0].ratio, worse[0].figure.unit)
        than = f"{'as' if 'times' in change else 'than'} its {plural(worse[0].peers, 'peer')}"
        where = f"{out[0].name} stands out{f' in {len(worse)} figures' if len(worse) > 1 else ''}:"
        sentence = " ".join((where, *change, than, f"in {short_title(fleet, worse[0].figure.name)}."))
        return Band(word, "warn", sentence, steps=(step,), basis=basis, number=number)
    if found:
        step = NextStep("Look at", "t", "what is different")
        number = Number(str(len(found)), "", f"of {hosts}")
        return Band("NOT CERTAIN", "warn", f"{headline(fleet)}.", steps=(step,), basis=basis, number=number)
    if any(host.status is HostStatus.OK for host in fleet.hosts):
        sentence = f"Every one of {hosts} lies within the scatter of those like it."
        return Band("ALL NORMAL", "ok", sentence, steps=(NextStep("Open a host:", "Enter"),), basis=basis)
    sentence = "Fewer than 3 like hosts with the same settings: no host can stand out."
    step = NextStep("Measure 3 hosts of one machine type with the same plan.")
    return Band("NOT COMPARED", "acc", sentence, short="Fewer than 3 like hosts.", steps=(step,), basis=basis)
