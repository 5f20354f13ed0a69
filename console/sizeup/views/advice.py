"""Sizing as text, tables, bars and plain data: the same advice for every renderer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from sizeup.charts.chart import Axis, Bar, BarChart
from sizeup.charts.table import Column, Table
from sizeup.model.advice import Advice, AdviceSet, Input, Source
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import SUMMARY, Sizing
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.cost import term_years
from sizeup.sizing.licensing.count import End, count_range, range_end
from sizeup.sizing.licensing.table import Row, rows
from sizeup.sizing.sheet import Sheet
from sizeup.text import capitalized
from sizeup.units import format_in, format_value

if TYPE_CHECKING:
    from sizeup.sizing.rules import Rules
    from sizeup.sizing.sensitivity import Flip, Swing
    from sizeup.sizing.sizing_comparison import SizingComparison

SCHEMA = "sizeup.size/1"

_CONFIDENCE = {
    "H": "confidence high (first-hand text)",
    "M": "confidence medium (several second-hand texts)",
    "L": "confidence low (one second-hand text)",
    "C": "computed or assumed here",
    "K": "background knowledge, not looked up",
}


def _confidence(source: Source) -> str:
    """Return how sure a source is; what was read through others is no first-hand text."""
    if source.confidence == "H" and "(read through:" in source.title:
        return "confidence high (as others quote it)"
    return _CONFIDENCE[source.confidence]


def format_quantity(quantity: Quantity, unit: str) -> str:
    """Format a quantity in the unit of its field, or in the shortest one where none is named."""
    if not unit:
        return format_value(quantity.value, quantity.unit)
    return format_in(quantity.value, "" if unit == "1" else unit)


def input_text(entry: Input) -> str:
    """One input with its origin: ``machine.ghz = 2.66 GHz (user, --set)``."""
    if entry.quantity is None:
        words = entry.words
        return f"{entry.key} = {words.value} ({words.origin.value}, {words.source})" if words else entry.key
    quantity = entry.quantity
    return f"{entry.key} = {format_quantity(quantity, entry.shown_in)} ({quantity.origin.value}, {quantity.source})"


def advice_lines(advice: Advice, *, sources: bool) -> list[str]:
    """One advice as text: its verdict, the working line by line, caveats, and on request where each figure is from."""
    lines = [f"{advice.title}", f"  {advice.verdict}"]
    lines += [f"    {line}" for line in advice.working]
    lines += [f"  ! {caveat}" for caveat in advice.caveats]
    if sources:
        lines += [f"    from  {input_text(entry)}" for entry in advice.inputs]
        lines += [
            f"    rule  {source.id}: {source.title}, {source.date or 'undated'}; {_confidence(source)}; "
            f"{source.url or 'no public URL'}"
            for source in advice.sources
        ]
        lines.append(f"    id    {advice.id}")
    return lines


def sizing_lines(sizing: Sizing, *, sources: bool) -> list[str]:
    """The whole answer as text: the verdicts that matter most, then every answer with its working."""
    summary = [f"  {advice.verdict}" for name in SUMMARY if (advice := sizing.find(name)) is not None]
    blocks = [["In short", *summary]] if summary else []
    blocks += [advice_lines(advice, sources=sources) for advice in sizing.advice]
    if sizing.questions:
        blocks.append(["Not answered", *(f"  ? {question.sentence()}" for question in sizing.questions)])
    if sizing.warnings:
        blocks.append([f"! {warning}" for warning in sizing.warnings])
    return [line for block in blocks for line in (*block, "")][:-1]


def sizing_data(sizing: Sizing, rules: Rules, today: date, subject: str) -> dict[str, Any]:
    """The whole answer as plain data in base units, with enough to redo each figure by hand."""
    return {
        "schema": SCHEMA,
        "subject": subject,
        "inputs": [{"key": key, "value": msgspec.to_builtins(value)} for key, value in sorted(sizing.inputs.items())],
        "cards": msgspec.to_builtins(sizing.cards),
        "advice": msgspec.to_builtins(sizing.advice),
        "questions": [
            {"key": question.key, "calculation": question.calculation, "unused": _unused_data(sizing, question.key)}
            for question in sizing.questions
        ],
        "warnings": list(sizing.warnings),
        "rules": [
            {"pack": pack.pack, "checked": pack.checked.isoformat(), "age_days": pack.age_days(today)}
            for pack in rules.packs
        ],
        "overrides": msgspec.to_builtins(rules.overrides),
    }


def _unused_data(sizing: Sizing, key: str) -> object:
    """Return what was measured of a key and is not used, as plain data; None where nothing was."""
    value = sizing.inputs.get(key)
    return msgspec.to_builtins(value) if isinstance(value, UnusedMeasurement) else None


def comparison_lines(comparisons: tuple[SizingComparison, ...]) -> list[str]:
    """Each figure of two sizings with both directions of their difference."""
    lines = []
    for comparison in comparisons:
        ratio = comparison.ratio
        lines.append(f"{comparison.id}: {comparison.title}")
        lines.append(
            f"  {ratio.a_name} {format_quantity(ratio.a, comparison.shown_in)}, "
            f"{ratio.b_name} {format_quantity(ratio.b, comparison.shown_in)}"
        )
        points = "" if comparison.points is None else f"; {comparison.points:+.1f} percentage points"
        lines.append(f"  {ratio.sentence()}{points}")
    return lines


def comparison_table(comparisons: tuple[SizingComparison, ...]) -> Table:
    """Each figure of two sizings, with both directions of their difference in columns."""
    a_name, b_name = (comparisons[0].ratio.a_name, comparisons[0].ratio.b_name) if comparisons else ("", "")
    return Table(
        f"{capitalized(a_name)} and {b_name}",
        (
            Column("Figure"),
            Column(capitalized(a_name), numeric=True),
            Column(b_name, numeric=True),
            Column(f"{capitalized(a_name)} is", numeric=True),
            Column(f"{b_name} is", numeric=True),
        ),
        tuple(
            (
                comparison.id if comparison.id in KEYS else capitalized(comparison.title),
                format_quantity(comparison.ratio.a, comparison.shown_in),
                format_quantity(comparison.ratio.b, comparison.shown_in),
                _beside(comparison.ratio.percent, comparison.ratio.times),
                _beside(comparison.ratio.inverse_percent, 1 / comparison.ratio.times),
            )
            for comparison in comparisons
        ),
    )


def _beside(percent: float, times: float) -> str:
    """How far one figure lies from the other, which is the base."""
    if abs(percent) < 0.005:
        return "equal"
    if times >= _TIMES_FROM:
        return f"{format_in(float(f'{times:.3g}'), '')} times it"
    return f"{abs(percent):.3g}% {'above' if percent > 0 else 'below'}"


_TIMES_FROM = 10.0


def comparison_data(comparisons: tuple[SizingComparison, ...]) -> list[dict[str, Any]]:
    """The same as plain data in base units; percentages name their base."""
    return [
        {
            "id": comparison.id,
            "title": comparison.title,
            "a": msgspec.to_builtins(comparison.ratio.a),
            "b": msgspec.to_builtins(comparison.ratio.b),
            "times": comparison.ratio.times,
            "a_above_b_percent_of_b": comparison.ratio.percent,
            "b_above_a_percent_of_a": comparison.ratio.inverse_percent,
            "points": comparison.points,
            "sentence": comparison.ratio.sentence(),
        }
        for comparison in comparisons
    ]


def license_data(sizing: Sizing, rules: Rules) -> list[dict[str, Any]]:
    """Every product of every vendor as plain data, USD."""
    return [msgspec.to_builtins(row) for row in rows(sizing.inputs, rules)]


def value_text(key: str, value: Value) -> str:
    """The value of a key in the key's own unit."""
    if isinstance(value, tuple):
        return ", ".join(value_text(key, part) for part in value)
    if isinstance(value, Quantity):
        return format_quantity(value, "" if KEYS[key].unit == "1" else KEYS[key].unit)
    return f"{value_text(key, value.quantity)}, not used" if isinstance(value, UnusedMeasurement) else value.value


def first_of(value: Value) -> Quantity | Words | None:
    """Return the first figure or word of a value; None for an empty list."""
    if isinstance(value, tuple):
        return value[0] if value else None
    return value.quantity if isinstance(value, UnusedMeasurement) else value


def license_table(sizing: Sizing, rules: Rules) -> Table:
    """Return every product of every vendor on this machine: licenses required, and the list price."""
    products = rows(sizing.inputs, rules)
    years = format_in(term_years(Sheet(sizing.inputs, rules)), "years")
    return Table(
        "Licenses",
        (
            Column("Vendor"),
            Column("Product"),
            Column("Licenses", numeric=True),
            Column("List price", numeric=True),
            Column("Over the term", numeric=True),
        ),
        tuple((row.pack, row.title, _license_count(row), _license_price(row), _term_price(row)) for row in products),
        note=f"List prices in USD before discount; over the term of {years} with support, less your discount. No legal "
        "advice. Licenses are counted for "
        f"{', '.join(_counted(sizing))}.{_missing(products)}{_refused(products)}",
    )


def _missing(products: tuple[Row, ...]) -> str:
    """What makes the unknown counts and prices known; empty where all are."""
    missing = dict.fromkeys(row.missing for row in products if row.missing not in ("", _NOT_PUBLIC))
    flags = [KEYS[name].flag for name in missing if name in KEYS]
    sentences = [f"For the unknown ones, use {', '.join(flags)}."] if flags else []
    return "".join(
        f" {one}" for one in (*sentences, *(f"{capitalized(name)}." for name in missing if name not in KEYS))
    )


def _refused(products: tuple[Row, ...]) -> str:
    """Why products are not allowed, a sentence for each reason with its products."""
    reasons: dict[str, list[str]] = {}
    for row in products:
        if row.forbidden:
            reasons.setdefault(row.forbidden.rpartition(": ")[2], []).append(row.title)
    return "".join(f" Not allowed: {', '.join(titles)}: {why}." for why, titles in reasons.items())


_NOT_PUBLIC = "license.list_usd"
"""What is missing where a vendor publishes no price."""


_COUNTED = (
    ("cluster.nodes", "servers"),
    ("machine.sockets", "sockets"),
    ("machine.cores", "cores"),
    ("machine.vcpus", "vCPUs"),
    ("license.users", "users"),
)


def _counted(sizing: Sizing) -> Iterator[str]:
    """What of the machine licenses are counted by."""
    is_guest = sizing.inputs.get("machine.guest")
    for key, what in _COUNTED:
        value = sizing.inputs.get(key)
        if key == "machine.sockets" and isinstance(is_guest, Words) and is_guest.value == "yes":
            what = "virtual sockets"  # noqa: PLW2901  of the guest, which no license counts
        yield f"{what} unknown" if not isinstance(value, Quantity) else format_in(value.value, what)
    guest, cores = sizing.inputs.get("machine.guest"), sizing.inputs.get("license.host_cores")
    if isinstance(guest, Words) and guest.value == "yes":
        yield "in a guest of hosts with " + (
            f"{format_in(cores.value, 'cores')}" if isinstance(cores, Quantity) else "an unknown number of cores"
        )
    counted = sizing.inputs.get("machine.cores")
    if guest is None and isinstance(counted, Quantity) and counted.origin is Origin.DETECTED:
        yield "perhaps in a guest, as nothing proves bare metal"


def _license_count(row: Row) -> str:
    if row.forbidden:
        return "not allowed here"
    if row.units is None:
        return "unknown"
    return count_range(row.units, row.units.unit)


def _license_price(row: Row) -> str:
    if row.forbidden:
        return ""
    if row.list_price is None:
        missing = "not public" if row.missing == _NOT_PUBLIC else "unknown"
        return "" if row.units is None else missing
    return f"{_dollars(row.list_price)}{' a year' if row.yearly else ''}"


def _term_price(row: Row) -> str:
    return "" if row.term_cost is None else _dollars(row.term_cost)


def _dollars(price: Quantity) -> str:
    """Return a price in whole dollars, with both ends of its range."""
    low, high = (range_end(price, end) for end in _ENDS)
    return f"${high:,.0f}" if low == high else f"${low:,.0f} to ${high:,.0f}"


_ENDS: tuple[End, ...] = ("low", "high")


def demand_and_capacity(given: AdviceSet) -> BarChart | None:
    """Return I/O demand and storage capacity as bars; None while neither is known."""
    bars = tuple(
        Bar(label, advice.quantity.value, advice.quantity.low, advice.quantity.high, advice.decision)
        for label, advice_id in (
            ("demand, rule of thumb", "io.demand.ghz-rule"),
            ("demand, workload", "io.demand.measured"),
            ("capacity", "io.capacity"),
        )
        if (advice := given.find(advice_id)) is not None
        and advice.quantity is not None
        and advice.quantity.unit == "bytes/s"  # a saved file may hold anything
    )
    if not bars:
        return None
    # A recorded session may hold a balance in place of a verdict.
    balance = given.find("verdict.storage") or given.find("io.balance")
    unknown = given.unused.get(
        "capacity.mb_s", "measure it with a storage probe, or enter path.stages or capacity.mb_s"
    )
    headline = given.find("io.demand.headline")
    if balance is not None:
        caption = balance.verdict
    elif headline is not None and headline.decision == "unknown":
        caption = headline.verdict.partition(". ")[0]
    else:
        caption = f"Storage capacity: not measured yet; {unknown}"
    return BarChart("I/O demand and capacity", Axis("transfer rate", "bytes/s", low=0), bars, caption)


FACTORS = "Factors"
"""What the console calls the inputs that move an answer."""


def tornado_chart(target: Advice, swings: tuple[Swing, ...], heading: str = "Sensitivity") -> BarChart:
    """How far one answer moves with each of its inputs, widest first."""
    base = target.quantity
    assert base is not None, target.id
    bars = []
    for swing in swings:
        low, high = (end(swing.at_low, swing.at_high, base.value) for end in (min, max))
        moved = _span(swing.low_input, swing.high_input, "" if KEYS[swing.key].unit == "1" else KEYS[swing.key].unit)
        bars.append(Bar(f"{swing.key} {moved}", base.value, low, high, _span(low, high, target.shown_in)))
    now = format_quantity(Quantity(float(f"{base.value:.4g}"), base.unit, base.origin, base.source), target.shown_in)
    caption = (
        f"The vertical line is the present answer, {now}. Each bar varies one input over the range beside its name: "
        "its own range, or 20% in both directions."
        if bars
        else "No numeric input moves this answer."
    )
    axis = Axis(target.title, base.unit)
    return BarChart(f"{heading}: {target.title}", axis, tuple(bars), caption, spans=True)


def unmoved_chart(title: str) -> BarChart:
    """Return the chart for an answer that has no figure to move."""
    return BarChart(f"{FACTORS}: {title}", Axis(title, "1"), (), "This answer is not a number, so no input moves it.")


def _span(low: float, high: float, unit: str) -> str:
    """Both ends of a range, the unit once: ``2.96 to 4.44 GHz``."""
    first, last = (format_in(float(f"{end:.4g}"), "" if unit == "1" else unit) for end in (low, high))
    return f"{first.partition(' ')[0]} to {last}"


def _in_key(key: str, value: float) -> str:
    return format_in(value, "" if KEYS[key].unit == "1" else KEYS[key].unit)


def flip_table(turns: tuple[Flip, ...]) -> Table:
    """At which value of which input a decision turns."""
    return Table(
        "What would change a decision",
        (Column("Decision"), Column("Now"), Column("Turns to"), Column("When"), Column("Is", numeric=True)),
        tuple((flip.advice, flip.now, flip.then, flip.key, _in_key(flip.key, flip.threshold)) for flip in turns),
    )


def sensitivity_lines(charts: tuple[BarChart, ...], turns: Table) -> list[str]:
    """Tornados and turns as text."""
    lines = []
    for chart in charts:
        lines.append(chart.title)
        room = max((len(bar.label) for bar in chart.bars), default=0)
        lines += [f"  {bar.label:{room}}  gives {bar.note}" for bar in chart.bars]
    if turns.rows:
        lines.append(turns.title)
        lines += [f"  {name}: {now} turns to {then} when {key} is {at}" for name, now, then, key, at in turns.rows]
    return lines


def sensitivity_data(swings: tuple[tuple[Advice, tuple[Swing, ...]], ...], turns: tuple[Flip, ...]) -> dict[str, Any]:
    """Tornados by answer, and turns, in base units."""
    return {
        "tornado": {target.id: msgspec.to_builtins(bars) for target, bars in swings},
        "flips": msgspec.to_builtins(turns),
    }
