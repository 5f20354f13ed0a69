"""One host of a fleet as lines: its status, what stands out and what it differs in, and its figures."""

from __future__ import annotations

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.fleet.fleet import Fleet, Host, usable
from sizeup.fleet.table import figure_text, figure_value, outlier_lines
from sizeup.report.table import table_lines, wrap


def host_lines(fleet: Fleet, host: Host, width: int) -> list[str]:
    """Return everything that is known of a host, folded to ``width`` columns."""
    lines = wrap(f"{host.status.value}: {host.type.name}", width, rest="  ")
    if host.compared_as != host.type:
        lines += wrap(f"Compared with: {host.compared_as.name}", width, rest="  ")
    lines += outlier_lines(host, width) or ["", "No figure stands out"]
    lines += ["", *table_lines(figures_table(fleet, host), width), "", "Sessions, the newest first"]
    for session in host.sessions:
        lines += wrap(f"  {session.path}", width, rest="    ")
    return lines


def figures_table(fleet: Fleet, host: Host) -> Table:
    """Return a row for each figure of a host, beside the median of its machine type."""
    rows = []
    for name, figure in host.figures.items():
        found = fleet.spreads.get((host.compared_as.name, name))
        compared = found is not None and found.hosts > 1 and usable(figure)
        rows.append(
            (
                fleet.title(name),
                figure_text(host, name).strip(),
                figure_value(found.median, figure.unit) if found is not None and compared else UNKNOWN,
                f"{figure.value / found.median:.2f}" if found is not None and compared else "",
            )
        )
    columns = (
        Column("Figure"),
        Column("Here", numeric=True),
        Column("Median", numeric=True),
        Column("Ratio", numeric=True),
    )
    return Table("", columns, tuple(rows))
