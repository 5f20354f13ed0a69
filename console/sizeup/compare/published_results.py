"""Published cases as one side of a comparison: what their authors printed beside what was measured here.

A case is one printed figure, so that no test can decide; the ratio is shown all the same. Both sides are put
into the same headline figures, which carry the keys of sizing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.digest import Digest, RunValue, digest_side, epoch
from sizeup.model.plan import Better, Series
from sizeup.quantity import Quantity
from sizeup.session.value import Session, point_key
from sizeup.sizing.inputs.measured import headlines
from sizeup.sizing.inputs.measured_figures import figures
from sizeup.sizing.inputs.presets import find_preset

PREFIX = "preset:"
"""What a side is called that is a published case: ``preset:slb-e5320``."""

_CYCLES, _CLOCK = "observed.cycles_per_call", "machine.ghz"


class _Headline(Struct, frozen=True):
    key: str
    title: str
    unit: str
    better: Better
    printed_as: str
    """The key of a preset that says the same."""


_TIME_OF_DAY = _Headline("clock.gettimeofday_ns", "gettimeofday", "ns", Better.LOWER, _CYCLES)
_HEADLINES = (
    _Headline("memory.local_ns", "Memory latency", "ns", Better.LOWER, "observed.latency_ns"),
    _Headline("capacity.iops", "I/O requests", "1/s", Better.HIGHER, "observed.iops"),
    _Headline("capacity.mb_s", "I/O rate", "bytes/s", Better.HIGHER, "observed.mb_s"),
    _Headline("redo.sync_write_us", "Synchronous write", "ns", Better.LOWER, "redo.sync_write_us"),
)


def published_digest(name: str) -> Digest:
    """One published case; raises ``UsageError`` for an unknown name."""
    preset = find_preset(name)
    inputs = preset.values()
    values = []
    for headline in _HEADLINES:
        printed = inputs.get(headline.printed_as)
        if isinstance(printed, Quantity):
            values.append(_value(headline, printed.value, name, preset.title))
    cycles, clock = inputs.get(_CYCLES), inputs.get(_CLOCK)
    if isinstance(cycles, Quantity) and isinstance(clock, Quantity):
        values.append(_value(_TIME_OF_DAY, cycles.value / clock.value * 1e9, name, preset.title))
    side = f"{PREFIX}{name}"
    return Digest(
        side,
        side,
        name,
        "",
        "",
        None,
        {},
        tuple(values),
        (),
        source=preset.source,
        title=preset.title,
        note=preset.note,
    )


def digest_sides(new: Sequence[str], baseline: Sequence[str]) -> tuple[tuple[Digest, ...], tuple[Digest, ...]]:
    """Both sides of a comparison: files, folders of them, and published cases.

    Sessions are read one after the other and let go; beside a published case they give its figures, too.
    """
    only_published = any(path.startswith(PREFIX) for path in (*new, *baseline))
    return _side(new, headlines=only_published), _side(baseline, headlines=only_published)


def _side(paths: Sequence[str], *, headlines: bool) -> tuple[Digest, ...]:
    published = [published_digest(path.removeprefix(PREFIX)) for path in paths if path.startswith(PREFIX)]
    sessions = [path for path in paths if not path.startswith(PREFIX)]
    return (*published, *(digest_side(sessions, _headlines) if headlines else digest_side(sessions)))


def _headlines(digest: Digest, session: Session) -> Iterator[RunValue]:
    found = headlines(session)
    when = epoch(session.header.started)
    for headline in _HEADLINES:
        value = found.get(headline.key)
        if isinstance(value, Quantity):
            yield replace(_value(headline, value.value, digest.id, value.source), when=when)
    for figure in figures(session.steps.values(), "clock.gettimeofday"):
        if figure.invalid is None:
            yield replace(_value(_TIME_OF_DAY, figure.value, digest.id, figure.run.step.id), when=when)


def _value(headline: _Headline, value: float, run: str, source: str) -> RunValue:
    series = Series(headline.key, headline.title, headline.unit, headline.better)
    return RunValue(headline.key, point_key(headline.key, {}), {}, series, value, f"{run}~1", {}, source)
