"""What the options of ``sizeup fleet`` add to its text: acceptance, drift, and synchronized runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from sizeup.compare.figures import direction
from sizeup.compare.profile import AcceptanceResult
from sizeup.fleet.against import FleetDrift
from sizeup.fleet.profile import Acceptance
from sizeup.fleet.synchronized import SynchronizedRun
from sizeup.report.table import wrap
from sizeup.text import first_of, plural
from sizeup.units import format_ns, format_value

_LISTED = 8
_TOTALS = 3


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
            f"  {total.title}: {format_value(total.total, total.unit)} in total, {shares[0]:.0%} to {shares[-1]:.0%} "
            f"per host, fairness {total.fairness:.3f} (Jain's index)",
            width, rest="    ",
        )  # fmt: skip
    for caveat in run.caveats:
        yield from wrap(f"  Caution: {caveat}", width, rest="    ")
