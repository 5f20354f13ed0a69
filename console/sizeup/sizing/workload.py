"""The demand of a workload: what it needs of storage and processors, today and in every year of its horizon.

An importer or a user states it by these keys, for the whole database over all its servers:

| key | unit | meaning |
|---|---|---|
| ``workload.read_iops``, ``workload.write_iops`` | 1/s | random reads and writes, without redo |
| ``workload.iops``, ``workload.read_percent`` | 1/s, share | the same as a sum and the share of reads |
| ``workload.io_kib`` | bytes | block size of the random I/O |
| ``workload.mb_s`` | bytes/s | throughput of all reads and writes, without redo |
| ``workload.sequential_mb_s`` | bytes/s | its sequential part |
| ``workload.read_bytes_percent`` | share | share of reads in the throughput |
| ``redo.mb_s``, ``redo.writes_s`` | bytes/s, 1/s | redo of one of ``redo.databases`` databases |
| ``redo.written_mb_s`` | bytes/s | the same as written, partly filled blocks included |
| ``workload.cpu_cores`` | 1 | busy cores: utilization of the CPUs x physical cores, of its present servers together |
| ``workload.percentile`` | 1 | percentile that all of these are |

Load grows by ``workload.growth_percent`` a year, and data by ``db.growth_percent``, or as the load where that is not
given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Inputs, Sheet, brief, servers, shown, term, worked
from sizeup.units import as_percent, format_in

YEAR_NS = 365.25 * 86400e9
STORAGE_KEYS = (
    "workload.mb_s",
    "workload.sequential_mb_s",
    "workload.iops",
    "workload.read_iops",
    "workload.write_iops",
    "redo.mb_s",
)
"""Keys of which one is enough for a demand of storage."""
_RATES = (*STORAGE_KEYS, "redo.writes_s", "redo.written_mb_s", "workload.commits_s")
_SAME = 1.01
"""Two throughputs that differ by less are one."""


class Growth(Struct, frozen=True):
    """How a demand grows, and how many years of growth are planned for."""

    per_year: float = 0.0
    """0.2 for 20 % a year."""
    years: float = 0.0
    parts: tuple[tuple[float, float], ...] = ()
    """The shares of today's demand that grow apart, each with its rate per year; without them all of it grows alike."""

    def factor(self, years: float | None = None) -> float:
        """Return how many times today's demand it is after that many years, or at the end of the horizon."""
        after = self.years if years is None else years
        if not self.parts:
            return float((1 + self.per_year) ** after)
        return float(sum(share * (1 + rate) ** after for share, rate in self.parts)) if after else 1.0

    def grown(self, value: float) -> float:
        """Return a value of today at the end of the horizon; raise OverflowError beyond what a number holds."""
        result = value * self.factor()
        if math.isinf(result):
            raise OverflowError(f"{value:g} after {self.years:g} years at {as_percent(self.per_year)} a year")
        return result

    def year_above(self, share: float, limit: float = 1.0) -> int | None:
        """Return the first year of the horizon in which a share of today is above the limit; None where none is.

        Today is year 0.
        """
        return next((year for year in range(math.ceil(self.years) + 1) if share * self.factor(year) > limit), None)


def growth_of_sum(*parts: tuple[float, Growth]) -> Growth:
    """Return the growth of a sum of amounts of today, each with its own growth over the same years."""
    known = [(amount, each.per_year) for amount, each in parts if amount]
    years, total = parts[0][1].years, sum(amount for amount, _ in known)
    if len({rate for _, rate in known}) == 1:
        return Growth(known[0][1], years)
    return Growth(0.0, years, tuple((amount / total, rate) for amount, rate in known))


class Demand(Struct, frozen=True):
    """Today's demand of a workload on storage, all databases and servers together; None for what is not known."""

    read_iops: Quantity | None = None
    """Random reads."""
    write_iops: Quantity | None = None
    """Random writes."""
    block: Quantity | None = None
    """Block size of both."""
    transfer_rate: Quantity | None = None
    """Bytes per second of all reads and writes, without redo."""
    sequential: Quantity | None = None
    """The sequential part of these, where it is known apart."""
    redo_rate: Quantity | None = None
    """Bytes per second of redo, as they are written."""
    redo_writes: Quantity | None = None
    """Redo writes per second."""
    growth: Growth = Growth()
    by_rule: bool = False
    """A rule of thumb, and no workload."""
    understated: Quantity | None = None
    """Throughput of all reads and writes as stated, where the random I/O alone is more."""

    @property
    def bytes_per_second(self) -> float | None:
        """Everything that the paths carry."""
        return _sum(self.transfer_rate, self.redo_rate)

    @property
    def iops(self) -> float | None:
        """All requests: random reads and writes, and redo writes; None where those of a throughput are unknown."""
        if self.transfer_rate is not None and self.read_iops is None and self.write_iops is None:
            return None
        return _sum(self.read_iops, self.write_iops, self.redo_writes)

    @property
    def throughput_is_its_own(self) -> bool:
        """Whether the bytes are more than those of the random I/O, so that IOPS alone do not judge them."""
        requests = _sum(self.read_iops, self.write_iops)
        if self.transfer_rate is None or requests is None or self.block is None:
            return False
        return self.transfer_rate.value > requests * self.block.value * _SAME

    @property
    def read_share(self) -> float | None:
        """Share of the reads in all requests."""
        return None if not self.iops or self.read_iops is None else self.read_iops.value / self.iops


def _sum(*parts: Quantity | None) -> float | None:
    known = [part.value for part in parts if part is not None]
    return sum(known) if known else None


def growth(sheet: Sheet) -> Growth:
    """Return the growth of the load; a default is left out of the working, as it changes nothing."""
    per_year, years = (_stated(sheet, key) for key in ("workload.growth_percent", "workload.horizon_years"))
    return Growth(per_year, years / YEAR_NS)


def data_growth(sheet: Sheet) -> Growth:
    """Return the growth of the data: its own rate, else that of the load, which the working says."""
    if "db.growth_percent" in sheet.inputs:
        return Growth(_stated(sheet, "db.growth_percent"), _stated(sheet, "workload.horizon_years") / YEAR_NS)
    load = growth(sheet)
    rate = sheet.inputs.get("workload.growth_percent")
    if load.per_year and load.years and isinstance(rate, Quantity):
        sheet.given("db.growth_percent", replace(rate, source="workload.growth_percent"), "%")
        sheet.line(
            f"the data grows like the load, by {format_in(load.per_year, '%')} a year "
            f"({KEYS['db.growth_percent'].flag} for another rate)"
        )
    return load


def data_rate(sheet: Sheet, data: Growth) -> Quantity:
    """Return by which part the data grows a year; that it grows like the load is a default of ours."""
    given = "db.growth_percent" in sheet.inputs or not (data.per_year and data.years)
    action = f"Use {KEYS['db.growth_percent'].flag}"
    like = Uncertainty(0.0, "the data grows like the load", action, default=True)
    return Quantity(data.per_year, "share", Origin.RULE, "db.growth_percent", uncertainties=() if given else (like,))


def _stated(sheet: Sheet, key: str) -> float:
    """Return a figure that somebody gave; 0 for a default or none."""
    value = sheet.inputs.get(key)
    if not isinstance(value, Quantity) or value.origin is Origin.RULE:
        return 0.0
    return sheet.number(key).value


def workload_demand(sheet: Sheet) -> Demand | None:
    """Return the storage demand of the given workload; None where no figure of one is given."""
    if not any(isinstance(sheet.inputs.get(key), Quantity) for key in STORAGE_KEYS):
        return None
    reads, writes = _requests(sheet)
    redo_rate, redo_writes = _redo(sheet)
    block = None if reads is None and writes is None else sheet.optional("workload.io_kib")
    rate, understated = _transfer_rate(sheet, (reads, writes))
    known = any(part is not None for part in (reads, writes, rate))
    if sheet.optional("workload.percentile") is None and known and not averages(sheet):
        sheet.caveat(
            "the percentile of the workload's figures is unknown, and an average hides peaks; "
            f"use {KEYS['workload.percentile'].flag}"
        )
    streams = sheet.optional("workload.sequential_mb_s")
    return Demand(reads, writes, block, rate, streams, redo_rate, redo_writes, growth(sheet), understated=understated)


def averages(sheet: Sheet) -> dict[str, Quantity]:
    """Return the figures of a demand that a file has of a single interval; none where their percentile is given."""
    if "workload.percentile" in sheet.inputs:
        return {}
    return {
        key: value
        for key in _RATES
        if isinstance(value := sheet.inputs.get(key), Quantity)
        and value.origin is Origin.IMPORTED
        and value.low == value.high is not None
    }


def at_ends(sheet: Sheet) -> tuple[Sheet, ...]:
    """Return the least and the largest demand that is stated as ranges; nothing without any.

    What varies between the intervals of a file is no uncertainty of their percentile.
    """
    of_file = () if "workload.percentile" in sheet.inputs else _RATES
    least, most = dict(sheet.inputs), dict(sheet.inputs)
    for key in (*_RATES, "workload.io_kib", "workload.read_percent"):
        value = sheet.inputs.get(key)
        if isinstance(value, Quantity) and value.low != value.high and (value.origin is Origin.USER or key in of_file):
            low, high = (most, least) if key == "workload.read_percent" else (least, most)  # more writes are more load
            low[key] = replace(value, value=value.least, high=None)
            high[key] = replace(value, value=value.most or value.value, low=None)
    return () if least == most else tuple(Sheet(end, sheet.rules) for end in (least, most))


def random_size(inputs: Inputs, iops: float) -> Quantity | None:
    """Return the mean size of the random requests by their throughput; None where a size is stated or none follows."""
    size, whole, streams = (inputs.get(f"workload.{name}") for name in ("io_kib", "mb_s", "sequential_mb_s"))
    if not isinstance(whole, Quantity) or not iops or (isinstance(size, Quantity) and size.origin is not Origin.RULE):
        return None
    mean = whole.scaled(1 / iops, -streams.value / iops if isinstance(streams, Quantity) else 0.0)
    return mean if mean.value > 0 else None


ONE_INSTANCE = "one instance of the cluster is its whole load"
"""What a verdict assumes where the report covers no other instance."""


def covers_one_instance(sheet: Sheet) -> bool:
    """Whether the workload is that of one instance of a cluster, so that the demand of the whole is higher."""
    return sheet.optional_words("workload.scope") == "instance"


def lacks_redo(sheet: Sheet) -> bool:
    """Return whether a workload that somebody typed has no redo; other tools count it among all writes."""
    typed = any(getattr(sheet.inputs.get(key), "origin", None) is Origin.USER for key in STORAGE_KEYS)
    return typed and "redo.mb_s" not in sheet.inputs


def _requests(sheet: Sheet) -> tuple[Quantity | None, Quantity | None]:
    """Random reads and writes: as given, the other as what is left of the sum, else the sum by the share of reads."""
    reads, writes = sheet.optional("workload.read_iops"), sheet.optional("workload.write_iops")
    stated, both = reads or writes, sheet.optional("workload.iops")
    if stated is not None:
        if both is not None and (reads is None or writes is None):
            rest = replace(stated, value=max(both.value - stated.value, 0.0), low=None, high=None)
            sheet.line(f"{shown(both, 'IOPS')} - {shown(stated, 'IOPS')} = {shown(rest, 'IOPS')}")
            return (reads, rest) if writes is None else (rest, writes)
        return reads, writes
    if both is None:
        return None, None
    share = sheet.number("workload.read_percent").value
    parts = (both.scaled(share), both.scaled(1 - share))
    sheet.line(
        f"{shown(both, 'IOPS')} at {format_in(share, '%')} reads: {format_in(parts[0].value, 'reads/s')}, "
        f"{format_in(parts[1].value, 'writes/s')}"
    )
    return parts


def _transfer_rate(
    sheet: Sheet, requests: tuple[Quantity | None, Quantity | None]
) -> tuple[Quantity | None, Quantity | None]:
    """Bytes per second without redo: as given, else random requests times block size, and the sequential part.

    A figure that is less than the random I/O by itself contradicts it: then that counts, and the second value is what
    was stated.
    """
    stated, iops, block = sheet.optional("workload.mb_s"), _sum(*requests), sheet.inputs.get("workload.io_kib")
    chosen = isinstance(block, Quantity) and block.origin is not Origin.RULE
    random, counts = None, stated is None
    if stated is not None and chosen and isinstance(block, Quantity):
        counts = stated.value * _SAME < (iops or 0.0) * block.value
    if counts and iops is not None:
        part, size = next(one for one in requests if one is not None), sheet.number("workload.io_kib")
        random = Quantity(iops * size.value, "bytes/s", part.origin, part.source)
        sheet.line(f"{format_in(iops, 'IOPS')} x {shown(size, 'KiB')} = {shown(random, 'MB/s')}")
    if stated is not None:
        return (stated, None) if random is None else (random, stated)
    sequential = sheet.optional("workload.sequential_mb_s")
    if random is None or sequential is None:
        return random or sequential, None
    total = random.value + sequential.value
    sheet.line(f"{shown(random, 'MB/s')} + {shown(sequential, 'MB/s')} sequential = {format_in(total, 'MB/s')}")
    return Quantity(total, "bytes/s", random.origin, random.source), None


def _redo(sheet: Sheet) -> tuple[Quantity | None, Quantity | None]:
    """Redo of all databases: bytes and writes per second."""
    each, written = sheet.optional("redo.mb_s"), sheet.optional("redo.written_mb_s")
    stated = sheet.optional("redo.writes_s")
    if (each is None and stated is None) or (each is not None and not each.value):
        return None, None
    count = sheet.number("redo.databases")
    if each is None:
        return None, None if stated is None else stated.scaled(count.value)
    rate = each.scaled(count.value)
    if count.value != 1:
        sheet.line(f"redo: {shown(count, 'databases')} x {shown(each, 'MB/s')} = {shown(rate, 'MB/s')}")
    if written is not None:
        sheet.line(f"redo: {shown(rate, 'MB/s')} generated, {shown(written.scaled(count.value), 'MB/s')} written")
    to_storage = rate if written is None else written.scaled(count.value)
    if stated is not None:
        return to_storage, stated.scaled(count.value)
    size = sheet.optional("redo.write_kib") or sheet.rule("redo.write.usual")
    writes = Quantity(rate.value / size.value, "1/s", each.origin, each.source)
    sheet.line(f"redo: {shown(rate, 'MB/s')} / {shown(size, 'KiB')} = {shown(writes, 'IOPS')}")
    return to_storage, writes


def cores(sheet: Sheet) -> Quantity:
    """Physical cores of one server, with a line that says how they lie in sockets."""
    total = sheet.number("machine.cores")
    sockets = sheet.optional("machine.sockets")
    if sockets is None:
        sheet.line(f"{shown(total, 'cores')} in all (machine.cores)")
    elif total.value % sockets.value:
        sheet.line(f"{shown(total, 'cores')} in all, unevenly over {shown(sockets, 'sockets')} (machine.cores)")
    else:
        each = total.value / sockets.value
        sheet.line(
            f"{shown(sockets, 'sockets')} x {format_in(each, 'cores')} = {shown(total, 'cores')}"
            " in all (machine.cores counts all sockets, machine.cores_per_socket one)"
        )
    return total


def _by_clock(sheet: Sheet, rule: str) -> Quantity:
    """I/O demand of all servers by the GHz rule with the coefficient of ``rule``."""
    count, nodes = term(cores(sheet), "cores"), servers(sheet)
    if nodes > 1:
        count = worked(sheet, term(nodes, "servers") * count, "cores")
    clock, per_hz = sheet.number("machine.ghz"), sheet.rule(rule)
    hertz = clock.scaled(count.value)
    demand = hertz.scaled(per_hz.value)
    sheet.line(f"{count} x {shown(clock, 'GHz')} = {shown(hertz, 'GHz')} over all cores")
    sheet.line(f"{shown(hertz, 'GHz')} x {shown(per_hz, 'MB/s/GHz')} = {shown(demand, 'MB/s')}")
    return sheet.answer(demand.value, "MB/s", rule, low=demand.low, high=demand.high)


def fills_in(sheet: Sheet) -> bool:
    """Whether rules of thumb fill in where no workload is given: the user asked for it, or a preset did."""
    return sheet.optional_words("workload.rules_of_thumb") == "yes"


def _rule_of_thumb(sheet: Sheet, rule: str) -> str:
    return f"rule of thumb: {shown(sheet.rule(rule), 'MB/s/GHz').replace('/GHz', ' per GHz')}"


def _ghz_rule(sheet: Sheet) -> Iterator[Advice]:
    """The GHz rule with each of its coefficients."""
    if not fills_in(sheet):
        return
    for figure in sheet.rules.figures.values():
        family, _, name = figure.id.rpartition(".")
        if family != "io.ghz-rule":
            continue
        demand = _by_clock(sheet, figure.id)
        count, clock = sheet.number("machine.cores"), sheet.number("machine.ghz")
        by = _rule_of_thumb(sheet, figure.id)
        ending, variant = (f"-{name}", f", {figure.variant}") if figure.variant else ("", "")
        of_all = f"{format_in(count.value * servers(sheet), 'cores')} at {brief(clock, 'GHz')}"
        title, verdict = f"I/O demand by the GHz rule{variant}", f"{brief(demand, 'MB/s')} for {of_all} ({by}{variant})"
        yield sheet.advice(f"io.demand.ghz-rule{ending}", title, verdict, demand, "MB/s")


def _class_demands(sheet: Sheet) -> Iterator[Advice]:
    """What saturates the same cores under each kind of workload, and what was measured on later machines."""
    wanted = sheet.optional_words("workload.class")
    if not fills_in(sheet):
        return
    for figure_id, entry in sheet.rules.figures.items():
        family, _, rest = figure_id.removeprefix("io.").partition(".")
        if family not in {"class", "anchor"} or not rest.endswith(".per-core"):
            continue
        name = rest.removesuffix(".per-core")
        count, nodes = sheet.number("machine.cores"), servers(sheet)
        each = sheet.rule(figure_id)
        found = each.scaled(count.value).scaled(nodes)
        low, high, text = found.low, found.high, shown(found, entry.unit)
        times = f"{format_in(nodes, 'servers')} x " if nodes > 1 else ""
        sheet.line(f"{times}{shown(count, 'cores')} x {shown(each, entry.unit)} = {text}")
        if entry.unit == "IOPS":
            size = sheet.number("workload.io_kib")
            sheet.line(f"{text} x {shown(size, 'KiB')} = {format_in(found.value * size.value, 'MB/s')}")
        span = "" if low is None or high is None else f" ({format_in(low, '')} to {format_in(high, '')})"
        title, verdict = f"I/O demand by kind of workload: {entry.title}", f"{entry.title}: up to {text}{span}"
        demand, decision = sheet.answer(found.value, entry.unit, figure_id, low=low, high=high), wanted == name
        advice_id, said = f"io.demand.{family}.{name}", f"{verdict} for these cores"
        yield sheet.advice(advice_id, title, said, demand, entry.unit, decision="chosen" if decision else "")


def io_demand(sheet: Sheet) -> Demand | None:
    """The demand that counts: the workload's own where there is one, else the rule's if it fills in; never a blend."""
    demand = workload_demand(sheet)
    if demand is not None or not fills_in(sheet):
        return demand
    return Demand(transfer_rate=_by_clock(sheet, EXACT), growth=growth(sheet), by_rule=True)


EXACT = "io.ghz-rule.exact"
"""The GHz rule that counts."""


def _measured_demand(sheet: Sheet) -> Iterator[Advice]:
    """The workload's throughput and requests, redo included: today, and at the end of the horizon."""
    for unit, name in (("MB/s", "measured"), ("IOPS", "measured-iops")):
        demand = workload_demand(sheet)
        value = None if demand is None else demand.iops if unit == "IOPS" else demand.bytes_per_second
        if demand is None or value is None:
            continue
        parts: tuple[Quantity | None, ...] = (demand.transfer_rate, demand.redo_rate)
        if unit == "IOPS":
            parts = (demand.read_iops, demand.write_iops, demand.redo_writes)
        known = [part for part in parts if part is not None]
        if len(known) > 1:
            sheet.line(f"{' + '.join(shown(part, unit) for part in known)} = {format_in(value, unit)}")
        low = high = None
        if any(part.low is not None and part.high is not None for part in known):
            low = min(sum(part.least for part in known), value)
            high = max(sum(part.most or part.value for part in known), value)
        with_redo = ", redo included" if parts[-1] is not None else ""
        today = Quantity(value, known[0].unit, known[0].origin, known[0].source, low, high)
        growth = demand.growth
        verdict = f"workload: {brief(today, unit)} today{with_redo}"
        if growth.years:
            later = growth.grown(value)
            sheet.line(
                f"{format_in(value, unit)} x (1 + {format_in(growth.per_year, '%')})^{format_in(growth.years, '')} = "
                f"{format_in(later, unit)}"
            )
            verdict += f", {format_in(float(f'{later:.4g}'), unit)} in year {format_in(growth.years, '')}"
        yield sheet.advice(f"io.demand.{name}", f"Demand in {unit}", verdict, today, unit)


def _headline(sheet: Sheet) -> Iterator[Advice]:
    demand = io_demand(sheet)
    if demand is None:
        verdict = "I/O demand: unknown, because no workload is given"
        yield sheet.advice("io.demand.headline", "I/O demand", verdict, decision="unknown")
        return
    known = [part for part in (demand.transfer_rate, demand.redo_rate) if part is not None]
    if not known:
        return
    total = sum(part.value for part in known)
    if len(known) > 1:
        sheet.line(f"{' + '.join(shown(part, 'MB/s') for part in known)} redo = {format_in(total, 'MB/s')}")
    rate = known[0] if len(known) == 1 else Quantity(total, known[0].unit, known[0].origin, known[0].source)
    about, by = "", "given workload" if demand.redo_rate is None else "given workload, redo included"
    if demand.by_rule:
        about, by = "about ", f"{_rule_of_thumb(sheet, EXACT)}; no workload given"
    verdict = f"I/O demand: {about}{brief(rate, 'MB/s')} ({by})"
    yield sheet.advice("io.demand.headline", "I/O demand", verdict, rate, "MB/s")


CALCULATIONS = (
    Calculation("I/O demand", _headline, ("io.demand.headline",), about=("machine.",)),
    Calculation("I/O demand by the GHz rule", _ghz_rule, ("io.demand.ghz-rule",)),
    Calculation("I/O demand by kind of workload", _class_demands, ("io.demand.class.", "io.demand.anchor.")),
    Calculation("I/O demand of the workload", _measured_demand, ("io.demand.measured",)),
)
