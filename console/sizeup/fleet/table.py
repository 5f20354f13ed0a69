"""The fleet as lines of a terminal: the answer, the hosts that stand out and what they differ in, a row per host.

The options add acceptance, drift, and synchronized runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.compare.figures import direction
from sizeup.compare.headlines import NAMED
from sizeup.compare.profile import AcceptanceResult
from sizeup.fleet.against import FleetDrift
from sizeup.fleet.explanation import PeerDifference
from sizeup.fleet.fleet import Fleet, Host, HostStatus, Outlier, build_fleet, read_fleet, usable
from sizeup.fleet.profile import Acceptance
from sizeup.fleet.synchronized import SynchronizedRun
from sizeup.report.table import table_lines
from sizeup.text import cell_len, first_of, plural, wrap
from sizeup.units import as_percent, format_count, format_ns, format_value
from sizeup.views.result.summary import SEVERITY_WORDS

WIDTH = 100
LINES = 25
"""What a healthy fleet takes at most, however many hosts it has."""
_LISTED = 8
"""Names on the first line, differences of an outlier, files with a problem: more are counted."""
_DIFFERENCES = 3
_TOTALS = 3
_FRAME = 8
"""Lines of a type beside the rows of its hosts: its name, the head and rule of the table, median and notes."""
_OUTLIERS = 4
_ROWS_BESIDE_OUTLIERS = 20
"""Lines for the hosts below what is said of outliers: the fleet is not healthy, and may take more than ``LINES``."""


def session_fleet_lines(paths: Iterable[str], width: int = WIDTH) -> list[str]:
    """Return the fleet table of these session files, as ``sizeup fleet`` prints it."""
    return fleet_lines(build_fleet(read_fleet(paths)), width)


def fleet_lines(fleet: Fleet, width: int = WIDTH, *, every_host: bool = False, more: Sequence[str] = ()) -> list[str]:
    """Return the whole text; without ``every_host`` a healthy fleet takes no more than ``LINES``.

    ``more`` are lines to show below the answer.
    """
    problems = (line for sentence in problem_sentences(fleet) for line in wrap(sentence, width, rest="  "))
    lines = [headline(fleet), *problems]
    if several := [host.name for host in fleet.hosts if len(host.sessions) > 1]:
        names, count = first_of(several, _LISTED), sum(len(host.sessions) for host in fleet.hosts)
        lines.append(f"{count} sessions; of {names} the newest valid figure of each probe and workload counts")
    lines += more
    for host in fleet.hosts:
        lines += outlier_lines(host, width)
    return [*lines, *_type_lines(fleet, width, None if every_host else max(LINES - len(lines), _ROWS_BESIDE_OUTLIERS))]


def headline(fleet: Fleet) -> str:
    """Return the answer: ``12 hosts, 3 outliers: db03, db07, db11``."""
    hosts = plural(len(fleet.hosts), "host")
    named = [host.name for host in fleet.hosts if host.outliers]
    found = [host.name for host in fleet.hosts if host.findings and not host.outliers]
    open_ = [host.name for host in fleet.hosts if host.status is HostStatus.UNDECIDED]
    undecided = f"; {len(open_)} undecided, measure again: {first_of(open_, _LISTED)}" if open_ else ""
    others = f"; {plural(len(found), 'other')} with a finding: {first_of(found, _LISTED)}" if found else ""
    if named:
        return f"{hosts}, {plural(len(named), 'outlier')}: {first_of(named, _LISTED)}{others}{undecided}"
    if found:
        names = first_of(found, _LISTED)
        return f"{hosts}, no outliers; {len(found)} with a finding that the others lack: {names}{undecided}"
    if not fleet.hosts:
        return "No session could be read"
    if undecided or any(host.status is HostStatus.OK for host in fleet.hosts):
        return f"{hosts}, no outliers{undecided}"
    return f"{hosts}, none compared: a figure needs 3 hosts of one machine type, measured with the same settings"


def problem_sentences(fleet: Fleet) -> list[str]:
    """Return which files could not be read, or only in part, a few of each kind."""
    lines = []
    for label, read in (("Not read", False), ("Damaged", True)):
        problems = [problem for problem in fleet.problems if problem.read is read]
        lines += [f"{label}: {problem.path}: {problem.problem}" for problem in problems[:_DIFFERENCES]]
        if len(problems) > _DIFFERENCES:
            lines.append(f"{label}: {len(problems) - _DIFFERENCES} more files; --json lists them")
    return lines


def outlier_lines(host: Host, width: int) -> list[str]:
    """Return what stands out on a host and what it differs in, below an empty line; nothing if nothing does."""
    if not host.outliers and not host.findings:
        return []
    lines, indent = [""], " " * (cell_len(host.name) + 2)
    findings = [f"{SEVERITY_WORDS[finding.severity]}  {finding.title}" for finding in host.findings]
    for sentences, most, noun in (
        ([outlier_sentence(outlier) for outlier in host.outliers], _OUTLIERS, "further figure"),
        (findings, _DIFFERENCES, "further finding"),
    ):
        for sentence in sentences[:most]:
            lines += wrap(f"{host.name}  {sentence}" if len(lines) == 1 else indent + sentence, width, rest=indent)
        if (more := len(sentences) - most) > 0:
            lines.append(f"{indent}and {plural(more, noun)}; --json lists them")
    for sentence in dict.fromkeys(text for outlier in host.outliers for text in difference_sentences(outlier)):
        lines += wrap(f"{indent}{sentence}", width, rest=f"{indent}  ")
    return lines


def outlier_sentence(outlier: Outlier) -> str:
    """Return ``DRAM latency 152 ns, 1.6 x the median of 95 ns (11 peers): worse``."""
    figure = outlier.figure
    value, median = (figure_value(number, figure.unit) for number in (figure.value, outlier.median))
    open_ = ", not converged" if figure.scatter else ""
    return (
        f"{figure.title} {value}{open_}, {outlier.ratio:.2f} x the median of {median} "
        f"({plural(outlier.peers, 'peer')}): {outlier.conclusion.value}"
    )


def difference_sentences(outlier: Outlier, most: int = _DIFFERENCES) -> list[str]:
    """Return what an outlier differs in, the most relevant facts first."""
    found = outlier.differences
    if found.problem:
        return [f"differences unknown: {found.problem}"]
    if not found.found:
        return ["no difference of hardware or settings was found"]
    # With the number of others of the same values; a fact of its own stands before many slots.
    same: dict[tuple[bool, str, str, int], list[PeerDifference]] = {}
    for fact in found.found:
        same.setdefault((fact.relevant, fact.value, fact.peers_value, fact.peers), []).append(fact)
    groups = [(each[0], len(each) - 1) for each in same.values()]
    groups.sort(key=lambda group: (not group[0].relevant, group[1] > 0))
    shown = [
        f"differs in {one.fact}{f' and {more} more like it' if more else ''}: {one.value} "
        f"({one.peers} of {plural(found.peers, 'peer')}: {one.peers_value})"
        for one, more in groups[:most]
    ]
    left = sum(1 + more for _, more in groups[most:])
    return [*shown, f"and in {plural(left, 'further fact')}; --json lists them"] if left else shown


def _type_lines(fleet: Fleet, width: int, free_lines: int | None) -> list[str]:
    types = fleet.types
    if free_lines is not None and (_FRAME + 1) * len(types) > free_lines and len(types) > 1:
        found = [
            (name, str(len(hosts)), str(sum(bool(host.outliers) for host in hosts))) for name, hosts in types.items()
        ]
        more = len(found) - (free_lines - 4)
        note = f"{more} more machine types; --all shows every host" if more > 0 else "--all shows every host"
        columns = (Column("Machine type"), Column("Hosts", numeric=True), Column("Outliers", numeric=True))
        return ["", *table_lines(Table("", columns, tuple(found[: free_lines - 4]), note), width)]
    lines = []
    for name, hosts in types.items():
        # Those that are not OK before the others, as many as there is room for.
        rows = len(hosts) if free_lines is None else max(free_lines // len(types) - _FRAME, 1)
        chosen = sorted(hosts, key=lambda host: list(HostStatus).index(host.status))[:rows]
        shown = [host for host in hosts if host in chosen] if len(hosts) > rows else hosts
        lines += ["", *wrap(f"{name}: {plural(len(hosts), 'host')}", width, rest="  ")]
        lines += table_lines(fitting(_hosts_table(fleet, hosts, shown), width), width)
        if len(shown) < len(hosts):
            lines.append(f"  {len(hosts) - len(shown)} more; --all shows them")
    return lines


def _hosts_table(fleet: Fleet, hosts: Sequence[Host], shown: Sequence[Host]) -> Table:
    """Return a row for each of the hosts that are shown, and the median of all hosts of the type."""
    names = columns_of(fleet, hosts)
    rows = [(host.name, *(figure_text(host, name) for name in names), host.status.value) for host in shown]
    medians = []
    for name in names:
        found = fleet.spreads.get((hosts[0].type.name, name))
        unit = next(host.figures[name].unit for host in hosts if name in host.figures)
        medians.append(f"{figure_value(found.median, unit)}  " if found is not None and found.hosts > 1 else "")
    if len(hosts) > 1:
        rows.append(("median", *medians, ""))
    columns = (Column("Host"), *(Column(short_title(fleet, name), numeric=True) for name in names), Column("Status"))
    return Table("", columns, tuple(rows))


def columns_of(fleet: Fleet, hosts: Sequence[Host]) -> list[str]:
    """Return the figures in which hosts stand out before the others, and each quantity by one probe.

    First of all is the one in which a host stands out most: a narrow table has no room for all.
    """
    out = {outlier.figure.name for host in hosts for outlier in host.outliers}
    most = {host.outliers[0].figure.name for host in hosts if host.outliers}
    measured = [name for name in fleet.names if any(name in host.figures for host in hosts)]
    measured.sort(key=lambda name: (name not in most, name not in out))
    one_each = {name.partition("@")[0]: name for name in reversed(measured)}
    return [name for name in measured if name in one_each.values()]


def figure_text(host: Host, name: str) -> str:
    """Return a figure with what must be known of it: ``152 ns *``, ``369 ns ?``, ``not valid``."""
    figure = host.figures.get(name)
    if figure is None:
        return f"{UNKNOWN}  "
    if not usable(figure):
        return "not valid  "
    if name in host.other_workload:
        mark = " ~"
    elif any(one.figure.name == name for one in host.outliers):
        mark = " *"
    else:
        mark = " ?" if figure.scatter else "  "
    return f"{figure_value(figure.value, figure.unit)}{mark}"


def figure_value(value: float, unit: str) -> str:
    """Return a figure with its unit; a rate per second without."""
    return format_count(value, "") if unit == "1/s" else format_value(value, unit)


def short_title(fleet: Fleet, name: str) -> str:
    """Return the title of a column; of several probes that measured a quantity all but the first are named."""
    quantity, _, probe = name.partition("@")
    short = NAMED[quantity].short if quantity in NAMED else ""
    if not short:
        return fleet.title(name)
    first = next(other for other in fleet.names if other.partition("@")[0] == quantity)
    return short if name == first else f"{short} ({probe})"


def fitting(table: Table, width: int) -> Table:
    """Return the table with as many columns as fit, the last ones of the figures left out and counted."""
    widths = [
        max(cell_len(row[place]) for row in (*table.rows, tuple(column.title for column in table.columns)))
        for place in range(len(table.columns))
    ]
    kept = len(widths)
    while kept > 3 and 2 * kept + sum(widths[: kept - 1]) + widths[-1] > width:
        kept -= 1
    left_out = [column.title for column in table.columns[kept - 1 : -1]]
    places = [*range(kept - 1), len(widths) - 1]
    cells = [cell for row in table.rows for cell in row]
    meanings = (("*", "stands out"), ("?", "did not converge"), ("~", "other settings than most, not compared"))
    marks = ", ".join(f"{mark} {words}" for mark, words in meanings if any(cell.endswith(f" {mark}") for cell in cells))
    note = "; ".join(filter(None, (marks, f"no room for {', '.join(left_out)} (--json)" if left_out else "")))
    return Table(
        table.title,
        tuple(table.columns[place] for place in places),
        tuple(tuple(row[place] for place in places) for row in table.rows),
        note,
    )


def host_lines(host: Host, width: int) -> list[str]:
    """Return what a host differs in, and its sessions, folded to ``width`` columns."""
    lines = wrap(f"{host.status.value}: {host.type.name}", width, rest="  ")
    if host.compared_as != host.type:
        lines += wrap(f"Compared with: {host.compared_as.name}", width, rest="  ")
    lines += outlier_lines(host, width) or ["", "No figure stands out"]
    lines += ["", "Sessions, the newest first"]
    for session in host.sessions:
        lines += wrap(f"  {session.path}", width, rest="    ")
    return lines


def acceptance_lines(accepted: Sequence[Acceptance], width: int) -> Iterator[str]:
    """Return how many hosts pass, then each host that does not with the limits that it misses."""
    counts = [f"{sum(one.result is result for one in accepted)} {result.value}" for result in AcceptanceResult]
    yield f"Profile: {', '.join(counts)}"
    for one in accepted:
        if one.result is not AcceptanceResult.PASS:
            missed = [check.sentence for check in one.checks if check.result is one.result]
            yield from wrap(f"{one.result.value}  {one.host}  {'; '.join(missed)}", width, rest="      ")


def drift_lines(found: FleetDrift, width: int) -> Iterator[str]:
    """Return what changed since the earlier run, that of the fleet first."""
    if not found.of_fleet and not found.of_hosts and not found.facts:
        yield f"Against the earlier run: nothing changed on {plural(found.hosts, 'host')} ({found.figures} figures)"
    else:
        changed = len({change.host for change in found.of_hosts})
        yield (
            f"Against the earlier run, {plural(found.hosts, 'host')} of both: figures changed on {changed}, "
            f"{plural(len(found.facts), 'fact')} drifted"
        )
    for change in (*found.of_fleet, *found.of_hosts)[:_LISTED]:
        word = direction(change.ratio, change.better).value
        now, before = (format_value(value, change.unit) for value in (change.now, change.before))
        who = change.host or f"median of {plural(change.hosts, 'host')}"
        sentence = f"  {who}: {change.title} {now}, was {before} ({change.ratio:.2f} x): {word}"
        yield from wrap(sentence, width, rest="    ")
    if (more := len(found.of_fleet) + len(found.of_hosts) - _LISTED) > 0:
        yield f"  {plural(more, 'more figure')}; --json lists them"
    for fact in found.facts[:_LISTED]:
        yield from wrap(
            f"  {first_of(fact.hosts, _LISTED)}: {fact.fact}: {fact.now}, was {fact.before}", width, rest="    "
        )
    if (more := len(found.facts) - _LISTED) > 0:
        yield f"  {plural(more, 'more fact')}; --json lists them"
    for problem in found.problems[:_LISTED]:
        label = "Damaged" if problem.read else "Not read"
        yield from wrap(f"  {label}: {problem.path}: {problem.problem}", width, rest="    ")
    for names, label in ((found.missing, "Not in this run"), (found.new, "Not in the earlier run")):
        if names:
            yield f"  {label}: {first_of(names, _LISTED)}"


def _moment(epoch: float) -> str:
    """Return a time in UTC; a file may hold any number."""
    try:
        found = datetime.fromtimestamp(epoch, UTC)
    except (OverflowError, ValueError, OSError):
        return f"at {epoch:g} s"
    return f"{found.isoformat(sep=' ', timespec='seconds').removesuffix('+00:00')} UTC"


def synchronized_lines(run: SynchronizedRun, width: int) -> Iterator[str]:
    """Return the totals of a run that several hosts began together, or why there are none."""
    at = _moment(run.at)
    hosts = plural(len(run.hosts), "host")
    if run.spoiled:
        yield f"Synchronized run {at}: spoiled, no totals; {hosts} measured"
        for sentence in run.spoiled:
            yield from wrap(f"  {sentence}", width, rest="    ")
    else:
        yield f"Synchronized run {at}: {hosts}, started at most {format_ns(run.latest_ns)} late"
    for total in run.totals[:_TOTALS]:
        shares = sorted(share for _, share in total.shares)
        yield from wrap(
            f"  {total.title}: {format_value(total.total, total.unit)} in total, {as_percent(shares[0])} "
            f"to {as_percent(shares[-1])} per host, fairness {total.fairness:.3f} (Jain's index)",
            width, rest="    ",
        )  # fmt: skip
    for caveat in run.caveats:
        yield from wrap(f"  Caution: {caveat}", width, rest="    ")
