"""Published cases as one side of a comparison: what their authors printed beside what was measured here.

A case is one printed figure, so that no test can decide; the ratio is shown all the same. Both sides are put
into the same headline figures, which carry the keys of sizing. Random stores are another access pattern than the
pointer chase of a memory latency, and their time depends on the number of processes and on the size, so that their
figures carry both: only like stands beside like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from msgspec.structs import replace

from sizeup.compare.digest import Digest, RunValue, digest_side, epoch
from sizeup.model.plan import Better, Series
from sizeup.quantity import Quantity
from sizeup.session.value import Session, point_key
from sizeup.sizing.inputs.measured import headlines
from sizeup.sizing.inputs.measured_figures import figures
from sizeup.sizing.inputs.presets import find_preset
from sizeup.sizing.sheet import Inputs

PREFIX = "preset:"
"""What a side is called that is a published case: ``preset:slb-e5320``."""

_CYCLES, _CLOCK = "observed.cycles_per_call", "machine.ghz"


_TIME_OF_DAY = Series("clock.gettimeofday_ns", "gettimeofday", "ns", Better.LOWER)
_HEADLINES = {
    "observed.iops": Series("capacity.iops", "I/O requests", "1/s", Better.HIGHER),
    "observed.mb_s": Series("capacity.mb_s", "I/O rate", "bytes/s", Better.HIGHER),
    "redo.sync_write_us": Series("redo.sync_write_us", "Synchronous write", "ns", Better.LOWER),
}
"""By the key of a preset that says the same."""
_RANDOM_STORE = "memory.random_store_time"
_SCALING = "memory.random_store_scaling"
_STORE_RATES = {1: "slb.one_ops_s", 2: "slb.two_ops_s", 4: "slb.four_ops_s"}
_ALONE = (
    "Random stores, not load-to-use latency. Compared with as many processes of the same size only: SLB output by its "
    "stores, a measured run by its pages."
)


def published_digest(name: str) -> Digest:
    """One published case; raises ``UsageError`` for an unknown name."""
    preset = find_preset(name)
    inputs = preset.values()
    values = []
    for key, headline in _HEADLINES.items():
        printed = inputs.get(key)
        if isinstance(printed, Quantity):
            values.append(_value(headline, printed.value, name, preset.title))
    stores = [_value(headline, time, name, preset.title) for headline, time in _published_stores(inputs)]
    values += stores
    cycles, clock = inputs.get(_CYCLES), inputs.get(_CLOCK)
    if isinstance(cycles, Quantity) and isinstance(clock, Quantity):
        values.append(_value(_TIME_OF_DAY, cycles.value / clock.value * 1e9, name, preset.title))
    side = f"{PREFIX}{name}"
    note = " ".join(filter(None, (preset.note, _ALONE if stores else "")))
    return Digest(side, side, name, "", "", None, {}, tuple(values), (), preset.source, preset.title, note)


def digest_sides(new: Sequence[str], baseline: Sequence[str]) -> tuple[tuple[Digest, ...], tuple[Digest, ...]]:
    """Both sides of a comparison: files, folders of them, and published cases.

    Sessions are read one after the other and let go; beside a published case they give its figures, too.
    """
    more = (_headlines,) if any(path.startswith(PREFIX) for path in (*new, *baseline)) else ()
    sides = []
    for paths in (new, baseline):
        published = [published_digest(path.removeprefix(PREFIX)) for path in paths if path.startswith(PREFIX)]
        sides.append((*published, *digest_side([path for path in paths if not path.startswith(PREFIX)], *more)))
    return sides[0], sides[1]


def _headlines(digest: Digest, session: Session) -> Iterator[RunValue]:
    found = headlines(session)
    when = epoch(session.header.started)
    for headline in _HEADLINES.values():
        value = found.get(headline.name)
        if isinstance(value, Quantity):
            yield replace(_value(headline, value.value, digest.id, value.source), when=when)
    sizes: dict[tuple[str, int], str] = {}
    for quantity in (_RANDOM_STORE, _SCALING):
        for figure in figures(session.steps.values(), quantity):
            if figure.invalid is None and figure.point.estimate is not None:
                extra, step = figure.point.estimate.extra, figure.run.step.id
                count = int(figure.coordinate(figure.axis))
                own = next((f"{extra[name]}-{name}" for name in ("pages", "stores") if name in extra), "unknown-size")
                size = sizes.setdefault((step, count), own)
                if quantity == _RANDOM_STORE or (count > 1 and size == sizes.get((step, 1))):
                    yield replace(_value(_stores(quantity, count, size), figure.value, digest.id, step), when=when)
    for figure in figures(session.steps.values(), "clock.gettimeofday"):
        if figure.invalid is None:
            yield replace(_value(_TIME_OF_DAY, figure.value, digest.id, figure.run.step.id), when=when)


def _published_stores(inputs: Inputs) -> Iterator[tuple[Series, float]]:
    """Return the time of a random store for each number of processes, once by the pages and once by the stores."""
    pages, loops, processes, time = (
        value.value if isinstance(value := inputs.get(f"slb.{key}"), Quantity) else 0
        for key in ("pages", "loops", "processes", "store_ns")
    )
    found = {(_RANDOM_STORE, int(processes)): time} if processes and time else {}
    alone = inputs.get(_STORE_RATES[1])
    for count, key in _STORE_RATES.items():
        rates = inputs.get(key)
        each = rates if isinstance(rates, tuple) else [rates] if isinstance(rates, Quantity) else []
        if each:
            found[_RANDOM_STORE, count] = median(1e9 / rate.value for rate in each)
        if count > 1 and each and isinstance(alone, Quantity):
            found[_SCALING, count] = sum(rate.value for rate in each) / alone.value
    sizes = (f"{pages:.0f}-pages", f"{pages * loops:.0f}-stores") if pages and loops else ("unprinted-size",)
    for (quantity, count), figure in found.items():
        yield from ((_stores(quantity, count, size), figure) for size in sizes)


def _stores(quantity: str, processes: int, size: str) -> Series:
    """Return the time of a store by each of some processes, or their throughput over that of one: S(n)."""
    name = f"{quantity}.{processes}x{size}"
    if quantity == _SCALING:
        return Series(name, "Scaling of random stores", "ratio", Better.HIGHER)
    return Series(name, "Time of a random store", "ns", Better.LOWER)


def _value(headline: Series, value: float, run: str, source: str) -> RunValue:
    return RunValue(headline.name, point_key(headline.name, {}), {}, headline, value, f"{run}~1", {}, source)
