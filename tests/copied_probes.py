"""The built-in probes under other names, in a distribution of somebody else, and what their steps might record."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_letters

from msgspec.structs import replace

from consoles import machine
from sizeup import __version__
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Plan, Series, SeriesQuantity, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.probing.registry import GROUP, OWN_DISTRIBUTION, RegisteredProbe, load_registry
from sizeup.session.records import (
    EndRecord,
    EstimateRecord,
    FindingRecord,
    MachineRecord,
    OutcomeRecord,
    PlanRecord,
    Record,
    SamplesRecord,
    SessionRecord,
    StepStartRecord,
)

PACKAGE = "vendor_probes"
DISTRIBUTION = f"vendor {__version__}"
"""As long as that of sizeup's own, so that no line wraps elsewhere."""

_FAMILIES = {"io": "xy", "memory": "vendor", "clock": "third", "net": "far", "nfs": "zzz", "null": "qqqq"}
OWN = tuple(load_registry().builtin_only().probes.values())
NAMES = {probe.name: ".".join([_FAMILIES[part[0]], *part[1:]]) for probe in OWN for part in (probe.name.split("."),)}
"""Another name of the same length for each."""
SERIES = {
    probe.name: {
        one.name: f"qj{ascii_letters[index]}".ljust(len(one.name), "x") for index, one in enumerate(probe.series)
    }
    for probe in OWN
}
"""Another name of the same length for each of their series, which no text has."""

_CODE = '''"""Probes that do what the built-in ones do, under other names."""

from msgspec.structs import replace

from sizeup.model.sample import Estimate, Samples
from sizeup.probing.registry import load_class


class _Copy:
    def plan(self, machine, settings):
        for planned in load_class(self.target).plan(machine, settings):
            names = {name: getattr(planned, name).replace(self.own, self.name, 1) for name in self.naming(planned)}
            yield replace(planned, **names)

    def run(self, step, context):
        own = {name: getattr(step, name).replace(self.name, self.own, 1) for name in ("id", "probe")}
        for emission in load_class(self.target).run(replace(step, **own), context):
            named = isinstance(emission, (Samples, Estimate))
            yield replace(emission, series=self.series[emission.series]) if named else emission

    @staticmethod
    def naming(planned):
        return ("id", "probe") if hasattr(planned, "id") else ("step", "probe", "reason")
'''


def install(folder: Path) -> None:
    """Write the package and what an installer would write beside it."""
    package, info = folder / PACKAGE, folder / f"vendor-{__version__}.dist-info"
    package.mkdir()
    info.mkdir()
    manifests, classes, points = ['schema = "sizeup.probe/1"\n'], [_CODE], [f"[{GROUP}]"]
    for path in sorted((Path(__file__).parents[1] / "plugins").glob("*/probe.toml")):
        text = path.read_text(encoding="utf-8")
        for own in (probe["name"] for probe in tomllib.loads(text)["probe"]):
            before, head, rest = text.partition(f'[[probe]]\nname = "{own}"\n')
            assert head
            declared, mark, after = rest.partition("[[probe]]\n")
            for name, other in SERIES[own].items():
                declared = declared.replace(
                    f'[[probe.series]]\nname = "{name}"\n', f'[[probe.series]]\nname = "{other}"\n'
                )
                declared = declared.replace(f'samples = "{name}"\n', f'samples = "{other}"\n')
            text = f'{before}[[probe]]\nname = "{NAMES[own]}"\n{declared}{mark}{after}'
        manifests.append(text.replace('schema = "sizeup.probe/1"\n', ""))
    for number, probe in enumerate(OWN):
        name = NAMES[probe.name]
        classes.append(
            f"\n\nclass Copy{number}(_Copy):\n    name, own, target = {name!r}, {probe.name!r}, {probe.target!r}\n"
            f"    series = {SERIES[probe.name]!r}\n"
        )
        points.append(f"{name} = {PACKAGE}.probes:Copy{number}")
    (package / "__init__.py").write_text("")
    (package / "probe.toml").write_text("".join(manifests), encoding="utf-8")
    (package / "probes.py").write_text("".join(classes), encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vendor\nVersion: {__version__}\n")
    (info / "entry_points.txt").write_text("\n".join(points) + "\n")


def renamed(text: str, probe: str) -> str:
    """What was said of the copy of a probe, as it would be said of the probe."""
    for name, other in SERIES[probe].items():
        text = text.replace(other, name)
    return text.replace(NAMES[probe], probe).replace(DISTRIBUTION, f"{OWN_DISTRIBUTION} {__version__}")


def records(probe: RegisteredProbe, factor: float = 1.0, id_: str = "1") -> list[Record]:
    """A session in which a probe measured something of every kind that its manifest declares."""
    settings = {"other": "kept"}
    manifest = probe.manifest
    if manifest.target is not None:
        settings[manifest.target.setting] = "/dev/sda"
    above = {quantity.above: 32 << 20 for series in probe.series for quantity in series.quantities if quantity.above}
    aim = {manifest.precision: 0.05} if manifest.precision else {}
    step = Step(probe.name, probe.name, manifest.title, {**settings, **above, **aim}, 1.0, 2.0, (Hazard.CPU_LOAD,))
    start = StepStartRecord(10, step, probe.distribution, probe.series, manifest.chart, 0, manifest.declaration())
    finding = Finding("it.is", Severity.WARNING, "Something is so", ("seen",), "bad", "mend it", probe=probe.name)
    found = list(_estimates(probe.series, factor))
    return [
        SessionRecord(1, id_, "sizeup 0", "db01", "2026-01-01T00:00:00Z"),
        MachineRecord(1, _machine()),
        PlanRecord(2, Plan("custom", (step,))),
        start,
        *(
            SamplesRecord(step.id, one.series, one.at, (at + 1, at + 2, at + 3), (one.value, one.value, one.value))
            for at, one in enumerate(found, start=11)
        ),
        *(EstimateRecord(100, step.id, one) for one in found),
        OutcomeRecord(200, step.id, Outcome(Status.OK)),
        FindingRecord(201, finding),
        EndRecord(202, "complete"),
    ]


def _machine() -> Machine:
    return replace(machine(), gaps=())


def _estimates(declared: Sequence[Series], factor: float) -> Iterator[Estimate]:
    first = next((quantity for series in declared for quantity in series.quantities), SeriesQuantity(""))
    place = {name: of[0].replace("*", "") for name, of in first.where.items()}
    figures = [one for series in declared if series.unit != "verdict" for one in _figures(series, place, factor)]
    yield from figures
    for series in declared:
        if series.unit != "verdict":
            continue
        yield Estimate(series.name, {"part": "all"}, 1.0)
        # One part failed at each of some points, and one may come from a cache.
        for part, one in zip(series.remedies, figures[1::3], strict=False):
            extra = {"sizing": "left out"} if part == "cache" else {}
            at = {**one.at, "part": part}
            yield Estimate(series.name, at, 0.5 if extra else 0.0, caveats=(f"{part}: so",), extra=extra)


def _figures(series: Series, place: Coordinates, factor: float) -> Iterator[Estimate]:
    """Points that hold each quantity of a series, along its axis where it has one; first of all a statement.

    They lie at ``place`` where the quantity does not say otherwise, so that figures of several series belong together.
    """
    sames = next((quantity.same for quantity in series.quantities if quantity.same), ())
    for number, quantity in enumerate(series.quantities or (SeriesQuantity("none.at_all"),)):
        at = {name: word for name, word in place.items() if name != series.axis}
        at |= {name: of[0].replace("*", "") for name, of in quantity.where.items()}
        at |= {name: 0 if quantity.same else index for index, name in enumerate(sames)}
        at |= {quantity.size: 65536} if quantity.size else {}
        for index, point in enumerate(_along(series, quantity, at)):
            value = factor * _BASE.get(series.unit, 10.0) * (2.0 - 0.9**index + 0.1 * number)
            extra: dict[str, str | int | float] = {quantity.extra: value / 2} if quantity.extra else {}
            extra |= {"statement": f"{series.title} is so", "severity": "warning"} if index == number == 0 else {}
            extra |= {"throughput": 1e4} if quantity.name == "load.knee" else {}
            yield Estimate(series.name, point, value, value * 0.98, value * 1.02, 5, converged=index != 2, extra=extra)


def _along(series: Series, quantity: SeriesQuantity, at: Coordinates) -> Iterator[Coordinates]:
    axis = quantity.load or series.axis
    if axis is None:
        yield at
    elif series.axis_unit is None:
        yield from ({axis: word, **at} for word in ("first", "second"))
    else:
        steps = (1 << 14, 1 << 22, 1 << 28, 1 << 29) if series.axis_unit == "bytes" else (1, 2, 4, 8)
        yield from ({**at, axis: step} for step in steps)


_BASE = {"1/s": 1e4, "bytes/s": 1e8, "ns": 100.0, "share": 0.1}
"""What a figure of a unit may be about."""
