"""The rank of a machine in a catalog, as lines of a terminal and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.fleet.catalog import LEAST_MACHINES, CatalogComparison, Standing, short_cpu
from sizeup.fleet.data import figure_data
from sizeup.fleet.fleet import usable
from sizeup.fleet.reference_figures import Nearness, ReferenceFigure, nearest_reference
from sizeup.model.plan import Better
from sizeup.report.table import fits, table_lines
from sizeup.text import one_line, plural, wrap
from sizeup.units import format_bytes, format_range, format_value

SCHEMA = "sizeup.catalog/1"
_CARDS = {"cpu": "CPU", "": "Other"}
_LISTED = 5


def catalog_lines(found: CatalogComparison, folder: str, width: int) -> list[str]:
    """Return the conclusion, the table of figures, what does not count, and published figures where nothing else is."""
    own = found.own
    model = f", {own.model}" if own.model else ""
    sizes = sorted(session.memory_bytes for session in found.like if session.memory_bytes)
    ends = dict.fromkeys(format_bytes(size) for size in (*sizes[:1], *sizes[-1:]))
    memory = f", with {' to '.join(ends)} of memory" if ends else ""
    versions = ", ".join(sorted({standing.figure.distribution for standing in found.standings}))
    workloads = "; ".join(sorted({standing.figure.workload for standing in found.standings}))
    about = (
        f"This machine:  {own.path} ({own.host}{model})",
        f"Like machines: {len(found.like)} in {folder}: {found.machine_type}{memory}",
        f"Compared:      valid figures of the same probe version ({versions}) and workload ({workloads})",
    )
    lines = [*_wrapped([conclusion(found)], width), "", *_wrapped(about, width), ""]
    lines += [*table_lines(_table(found, width), width), ""]
    lines += _wrapped(_remarks(found), width)
    problems = [f"{'Damaged' if one.read else 'Cannot be read'}: {one.path}: {one.problem}" for one in found.problems]
    lines += _wrapped(problems[:_LISTED], width)
    if len(problems) > _LISTED:
        lines.append(f"  and {plural(len(problems) - _LISTED, 'more file')}; --json lists all")
    published = _wrapped(_references(found), width)
    return [*lines, "", *published] if published else lines


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    return [line for one in sentences for line in wrap(one_line(one, 10_000), width, rest="  ", break_words=False)]


def conclusion(found: CatalogComparison) -> str:
    """Return the figure with the lowest percentile, or that none can be placed."""
    if not found.placed:
        most = max((len(standing.values) for standing in found.standings), default=0)
        counting = "" if most == len(found.like) else f", of which at most {most} can be compared in a figure"
        return (
            f"No percentile: {plural(len(found.like), 'like machine')} ({found.machine_type}){counting}; "
            f"at least {LEAST_MACHINES} are needed"
        )
    rated = [standing for standing in found.placed if standing.figure.better is not Better.NEITHER]
    lowest = min(rated or found.placed, key=lambda standing: standing.percentile)
    figure, unit = lowest.figure, lowest.figure.unit
    cpu = short_cpu(found.own.cpu_model).removeprefix("Intel ").removeprefix("AMD ")
    word = "higher" if figure.better is Better.NEITHER else "better"
    lead = "Lowest figure: " if len(found.placed) > 1 else ""
    return (
        f"{lead}{figure.title}: {format_value(figure.value, unit)} is the {ordinal(lowest.percentile)} "
        f"percentile of {len(lowest.values)} x {cpu} ({word} than {lowest.exceeded}; "
        f"median {format_value(lowest.median, unit)}, range {_range(lowest)})"
    )


def ordinal(value: float) -> str:
    """Return ``1st``, ``22nd``, ``13th`` of a number, rounded."""
    number = int(value + 0.5)
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def catalog_data(found: CatalogComparison, folder: str) -> dict[str, Any]:
    """Return the document of ``--json``, in base units."""
    own = found.own
    return {
        "schema": SCHEMA,
        "session": {"path": own.path, "id": own.id, "host": own.host, "started": own.started},
        "catalog": folder,
        "machine_type": found.machine_type,
        "cpu": own.cpu_model,
        "like_machines": len(found.like),
        "least_machines": LEAST_MACHINES,
        "left_out": {
            "sessions_of_this_host": found.own_sessions,
            "hosts_of_another_type": found.other_types,
            "sessions_without_a_machine": found.without_machine,
            "unreadable_files": len(found.unread),
        },
        "figures": [_figure(found, standing) for standing in found.standings],
        "files": found.problems,
    }


def _figure(found: CatalogComparison, standing: Standing) -> dict[str, Any]:
    figure, placed = standing.figure, standing.placed
    reference = _reference(found, standing)
    return {
        **figure_data(figure), "converged": not figure.scatter, "invalid_reason": figure.invalid or None,
        "workload": figure.workload, "probe_version": figure.distribution, "machines": len(standing.values),
        "left_out": {reason.name.lower(): count for reason, count in standing.left_out.items()},
        "percentile": standing.percentile if placed else None,
        "percentile_range": standing.percentile_range if placed else None,
        "better_than": standing.exceeded if placed and figure.better is not Better.NEITHER else None,
        "median": standing.median if placed else None,
        "range": [standing.values[0], standing.values[-1]] if placed else None,
        "no_percentile_reason": _no_percentile(standing),
        "published_reference": None
        if reference is None
        else {
            "machine": reference[0].machine, "nearness": reference[1].value, "value": reference[0].base_value,
            "measured": reference[0].measured, "source": reference[0].source, "date": reference[0].date,
            "url": reference[0].url or None, "note": reference[0].note or None,
        },
    }  # fmt: skip


def _range(standing: Standing) -> str:
    return format_range(standing.values[0], standing.values[-1], standing.figure.unit)


def _table(found: CatalogComparison, width: int) -> Table:
    rows, last = [], None
    for standing in found.standings:
        figure, unit = standing.figure, standing.figure.unit
        card = _CARDS.get(figure.card, figure.card.capitalize())
        several = sum(other.figure.name == figure.name for other in found.standings) > 1
        title = f"{figure.title} ({figure.workload})" if several else figure.title
        mark = "! " if not usable(figure) else "? " if figure.scatter else ""
        cells = (f"{len(standing.values)} of {LEAST_MACHINES} needed", UNKNOWN, UNKNOWN)
        if standing.placed:
            place = f"{ordinal(standing.percentile)} of {len(standing.values)}"
            cells = (place, format_value(standing.median, unit), _range(standing))
        rows.append((card if card != last else "", title, mark + format_value(figure.value, unit), *cells))
        last = card
    columns = (
        Column("Card"), Column("Quantity"), Column("This machine", numeric=True), Column("Percentile", numeric=True),
        Column("Median", numeric=True), Column("Range"),
    )  # fmt: skip
    notes = ["100 is the best of the like machines, 0 the worst; equal figures count half."]
    if any(standing.figure.better is Better.NEITHER for standing in found.placed):
        notes.append("Where neither direction is better, 100 is the highest.")
    table = Table("Figures", columns, tuple(rows), " ".join(notes) if found.placed else "")
    if fits(table, width):
        return table
    # The names say which card it is; wrapped names would not be easy to read.
    return replace(table, columns=columns[1:], rows=tuple(row[1:] for row in rows))


def _remarks(found: CatalogComparison) -> Iterator[str]:
    """Return which figures have no percentile and why, then those that did not converge, and what was left out."""
    for why, titles in _titles_by_reason((_no_percentile(one), one) for one in found.standings):
        yield f"! No percentile, as {why}: {'; '.join(titles)}"
    for standing in found.placed:
        if standing.figure.scatter:
            low, high = map(ordinal, standing.percentile_range or (standing.percentile,) * 2)
            yield f"? {standing.figure.title} did not converge: its 95 % interval is the {low} to {high} percentile"
    parts = (
        (found.other_types, "host", "of another machine type"),
        (found.own_sessions, "session", "of this host"),
        (found.without_machine, "session", "without a machine"),
        (len(found.unread), "file", "that cannot be read"),
    )
    counted = [f"{plural(count, noun)} {what}" for count, noun, what in parts if count]
    if counted:
        yield f"Left out: {', '.join(counted)}"
    left_out = (
        (", ".join(f"{count} {reason.value}" for reason, count in one.left_out.items()), one) for one in found.standings
    )
    for why, titles in _titles_by_reason(left_out):
        yield f"Like machines left out: {why} ({', '.join(titles)})"


def _titles_by_reason(reasons: Iterable[tuple[str | None, Standing]]) -> Iterable[tuple[str, Iterable[str]]]:
    """Return the titles of figures by what is said of them, each once; figures without a reason are left out."""
    found: dict[str, dict[str, None]] = {}
    for why, standing in reasons:
        if why:
            found.setdefault(why, {})[standing.figure.title] = None
    return found.items()


def _no_percentile(standing: Standing) -> str | None:
    figure = standing.figure
    if figure.invalid:
        return f"not valid on this machine ({figure.invalid})"
    if not usable(figure):
        return "not above zero on this machine"
    if not standing.placed:
        return f"{plural(len(standing.values), 'like machine')} of at least {LEAST_MACHINES} can be compared"
    return None


def _reference(found: CatalogComparison, standing: Standing) -> tuple[ReferenceFigure, Nearness] | None:
    """Return the nearest published figure, where too few like machines have a figure."""
    if standing.placed or not usable(standing.figure):
        return None
    return nearest_reference(standing.figure, short_cpu(found.own.cpu_model))


def _references(found: CatalogComparison) -> Iterator[str]:
    shown = set[str]()
    for standing in found.standings:
        nearest = _reference(found, standing)
        if nearest is None or nearest[0].name in shown:
            continue
        reference, nearness = nearest
        if not shown:
            yield "Published figures of other machines, measured with other tools:"
        shown.add(reference.name)
        kind = "" if nearness is Nearness.OTHER else f" ({nearness.value})"
        note = f" ({reference.note})" if reference.note else ""
        address = f" {reference.url}" if reference.url else ""
        yield (
            f"- {standing.figure.title}: {format_value(reference.base_value, standing.figure.unit)} on "
            f"{reference.machine}{kind}, by {reference.measured}{note}. {reference.source}, {reference.date}{address}"
        )
