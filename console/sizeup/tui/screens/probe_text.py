"""What the Measure page says of a probe and of a step, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text
from textual.content import Content

from sizeup.charts.share_bar import ScreenLook, draw_share
from sizeup.model.advice import Card
from sizeup.model.checks import CHECKS, FAILED_CHECKS
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard
from sizeup.model.sample import Disturbance, Status
from sizeup.probing.manifest import PLANS
from sizeup.probing.planner import unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.probing.settings import why_unused
from sizeup.session.validity import StepValidity, check_reasons
from sizeup.session.value import StepRun
from sizeup.sizing.verdict import share_text
from sizeup.text import capitalized, plural
from sizeup.tui.run_form import format_seconds, format_setting, label, value_label
from sizeup.tui.runs import Runs
from sizeup.tui.widgets.cells import SegmentRow
from sizeup.tui.widgets.facts import facts_grid
from sizeup.units import as_percent, format_verdict
from sizeup.views.result.band import card_bar, status_token
from sizeup.views.run.live_figures import time_left
from sizeup.views.run.point_rows import point_rows
from sizeup.views.run.results import coordinates_text, stated_once
from sizeup.views.run.step import FigureStanding, headline_figure, latest_refusal, standing_of
from sizeup.views.run.step_badge import BadgeLook, headline_point, invalid_points, step_badge, value_text


def validity_rows(run: StepRun, *, brief: bool = False) -> list[SegmentRow]:
    """Return what is known of the validity of a step, to be folded, with the mark of the status that a line is of.

    In ``brief`` a line for each check, and one for all figures that are too noisy, without their reasons.
    """
    lines = [line for line in _checks(run) if line[0] or not brief]
    invalid = list(invalid_points(run)) if StepValidity(run).whole is None else []
    reasons = stated_once(
        f"{coordinates_text(point.at, run.series.get(point.series)) or run.series[point.series].title}: {found.clause}"
        for point, found in invalid
    )
    if brief and reasons:
        lines.append(("warn", f"{plural(len(invalid), 'figure')} too noisy or not valid"))
        reasons = []
    if reasons:
        lines += [*([("", "")] if lines else []), ("", "Too noisy, or not valid:")]
        lines += [("warn", reason) for reason in reasons]
    if run.outcome is None:
        lines = [("", "Judged when the step ends.")]
    elif not lines:
        badge = step_badge(run)
        counted = "all figures count" if badge.look is BadgeLook.PASS else f"{badge.word}: {badge.text}"
        lines.append((badge.look.value, f"{counted}; this probe makes no further checks"))
    rows: list[SegmentRow] = []
    for status, text in lines:
        mark = (f"{_MARKS[BadgeLook(status)][0]} ", f"status-{status}") if status in _CHECKED else ("  ", "")
        rows.append((mark, (text, "text" if status in _CHECKED else "dim")))
    return rows


def _checks(run: StepRun) -> list[tuple[str, str]]:
    """Return each check with its verdict, the worst of its places with how many these are, and its reasons."""
    validity = StepValidity(run)
    found: dict[str, list[float]] = {}
    reasons: dict[str, list[str]] = {}
    for point in run.points.values():
        value = point.value
        if not validity.is_verdict(point) or value is None:
            continue
        part = str(point.at.get("part", run.series[point.series].title))
        found.setdefault(part, []).append(value)
        if value < 1.0 and point.estimate is not None:
            texts = zip(point.estimate.caveats, check_reasons(point.estimate.caveats), strict=True)
            reasons.setdefault(part, []).extend(reason if check == part else text for text, (check, reason) in texts)
    found.pop("all", None)
    lines = []
    for part, values in sorted(found.items(), key=lambda pair: (min(pair[1]), pair[0])):
        worst = min(values)
        word = format_verdict(worst)
        count = f" ({values.count(worst)} of {len(values)})" if len(values) > 1 else ""
        name = CHECKS[part].passed if part in CHECKS else part.capitalize()
        if worst <= 0.0:
            lines.append((word, f"{capitalized(FAILED_CHECKS.get(part, f'{name}: fail'))}{count}"))
        else:
            lines.append((word, name if worst == 1.0 else f"{name}: {word}{count}"))
        lines += [("", reason) for reason in stated_once(reasons.get(part, ()))[:3]]
    return lines


_CARDS = {"storage": "Storage", "memory": "Memory", "cpu": "CPU", "network": "Network", "clock": "Clock", "": "Other"}
"""What the groups of probes are called, in their order; what tests sizeup itself comes last."""
_EFFECTS = {
    Hazard.CPU_LOAD: "loads CPUs",
    Hazard.MEMORY: "takes memory",
    Hazard.IO_READ: "reads the target",
    Hazard.IO_WRITE: "writes its own file",
    Hazard.DISK_SPACE: "takes disk space",
    Hazard.NETWORK_LOAD: "loads the network",
    Hazard.NETWORK_FILE_SYSTEM: "loads a file server",
    Hazard.RAW_DEVICE_WRITE: "may overwrite a device that you name",
}
"""What a probe may do to the machine, in words."""
_MARKS = {
    BadgeLook.PASS: ("●", "$ok"),
    BadgeLook.WARN: ("▲", "$warn"),
    BadgeLook.FAIL: ("▼", "$bad"),
    BadgeLook.ACTIVE: ("●", "$acc"),
    BadgeLook.NONE: ("·", "$faint"),
}
"""The sign and the token of each status in the list."""
_BAR_COLUMNS, _NARROW_BAR_COLUMNS = 24, 12
_LISTED_COLUMNS = 34
"""Of figures beside a chart."""
_CHECKED = {look.value for look in BadgeLook if look is not BadgeLook.NONE}
_UNLISTED = ("±", "Flag")
_NARROW = 70
"""Columns of a page below which its rows leave out what is least."""


def card_groups(probes: Iterable[RegisteredProbe]) -> list[tuple[str, list[RegisteredProbe]]]:
    """Return the probes by what their results are about, those that test sizeup itself behind all others.

    Those of the quick plan come first, and of them the one that measures most, which leads the list.
    """
    groups: dict[str, list[RegisteredProbe]] = {card: [] for card in _CARDS}
    own = []
    for probe in probes:
        if probe.manifest.diagnostic:
            own.append(probe)
        else:
            groups.setdefault(probe.manifest.card, []).append(probe)
    for found in groups.values():
        found.sort(
            key=lambda one: (-len(one.manifest.series) if one.manifest.estimated_seconds.get(PLANS[0]) else 0, one.name)
        )
    quick = [found for found in groups.values() if found and found[0].manifest.estimated_seconds.get(PLANS[0])]
    main = [found.pop(0) for found in quick] if len(quick) > 1 else []
    named = [("Main", main)] if main else []
    named += [(_CARDS.get(card, card.capitalize()), found) for card, found in groups.items() if found]
    return [*named, ("Self-test", own)] if own else named


def card_title(probe: RegisteredProbe, shown: tuple[StepRun, str] | None, *, is_narrow: bool) -> str:
    """Return what the page of a probe is called; of a step its session and the numbers that the form shows at once."""
    card = "Self-test" if probe.manifest.diagnostic else _CARDS.get(probe.manifest.card, probe.manifest.card)
    title, settings = f"{card}: {probe.manifest.title}", {} if shown is None else shown[0].step.settings
    numbers = (
        f"{label(one).lower()} {value_label(one, format_setting(one, settings[one.name]))}"
        for one in probe.manifest.parameter
        if one.basic and one.type in ("int", "bytes") and one.name in settings and not why_unused(one, settings)
    )
    return title if shown is None else ", ".join((*(() if is_narrow else (title,)), shown[1], *numbers))


def entry(
    probe: RegisteredProbe,
    seconds: float | None,
    run: StepRun | None,
    machine: Machine | None,
    width: int,
    *,
    pending: str,
    refused: bool,
    going_on: bool,
) -> Content:
    """A line of the list: a mark, the name, and its figure or its time where there is room for both.

    ``seconds`` are what a run takes, ``pending`` says that its run waits or starts, ``refused`` whether its step
    was before it began, ``going_on`` whether any run is going on.
    """
    look = BadgeLook.NONE
    state = "" if seconds is None else format_seconds(seconds)
    if pending:
        look, state = BadgeLook.ACTIVE, pending
    elif run is not None:
        look, state = _listed(run, going_on=going_on)
    elif refused:
        look, state = BadgeLook.FAIL, "refused"
    elif machine is not None and unmet(machine, probe.manifest):
        state = "not here"
    sign, token = _MARKS[look]
    name = Content.assemble((sign, token), " ", probe.manifest.title)
    room = width - cell_len(state) - 1
    if not state or name.cell_length > room:  # the mark still says how it stands
        return name
    return name.pad_right(room - name.cell_length) + Content.styled(f" {state}", "" if run else "$dim")


def _listed(run: StepRun, *, going_on: bool) -> tuple[BadgeLook, str]:
    """How a step stands in a list; how far it is stands on its page, as each change here repaints the list."""
    if run.outcome is None:
        return (BadgeLook.ACTIVE, "running") if going_on else (BadgeLook.WARN, "interrupted")
    if not run.finished:
        status = run.outcome.status
        look = BadgeLook.WARN if status is Status.CANCELED else BadgeLook.FAIL
        return look, status.words
    validity = StepValidity(run)
    if validity.whole is not None:
        return BadgeLook.FAIL, "not valid"
    figure, standing = headline_figure(run, placed=False, spread=False)
    if (found := headline_point(run)) is not None and (value := found[1].value) is not None:
        figure, standing = value_text(value, found[0]), standing_of(run, [found[1]])
    shown = {FigureStanding.COUNTS: figure, FigureStanding.OPEN: f"{figure}?", FigureStanding.INVALID: standing.value}[
        standing
    ]
    return (BadgeLook.WARN if validity.summary() else BadgeLook.PASS), shown


def waiting_text(name: str, runs: Runs, refusal: str) -> tuple[str, bool]:
    """Return why a probe that has not begun cannot be run, or what its request waits for; and if it was refused.

    ``refusal`` is the reason why this machine cannot run it, empty if it can.
    """
    refused = latest_refusal(runs.session, name)
    if runs.queues(name):
        return "Queued: it starts when the current run ends. x removes it.", False
    if runs.includes(name) and not refused:
        return "Starting: no samples yet.", False
    plan = None if runs.session is None else runs.session.plan
    if runs.going_on and plan is not None and any(step.probe == name for step in plan.steps):
        return "Waiting in the current run: no samples yet.", False
    if refused:
        return f"! refused: {refused}", True
    return f"! {refusal}" if refusal else "", False


def about(
    probe: RegisteredProbe, state: tuple[str, bool], settings: Mapping[str, str], typed: Collection[str]
) -> Group:
    """What a probe measures and takes, before it is run; ``state`` is its ``waiting_text``."""
    state_text, refused = state
    manifest = probe.manifest
    advanced = (item.name for item in manifest.parameter if not item.basic)  # which the form does not show at once
    effects = ", ".join(_EFFECTS.get(hazard, hazard.value) for hazard in manifest.hazards) or "none declared"
    facts = [
        ("Touches", manifest.touches),
        *(("Changed", f"{key} = {settings[key]}") for key in advanced if key in typed),
        ("Memory", manifest.limits.memory),
        ("CPUs", manifest.limits.cpus),
        ("Time limit", f"{format_seconds(manifest.limits.seconds)} a step"),
        ("Effects", effects),
        ("Method", manifest.method),
        ("Part of", probe.distribution),
    ]
    first, state_words = Text(f"{manifest.summary}\n"), Text(f"{state_text}\n", style="bold")
    words = (state_words, first) if refused else (first, state_words) if state_text else (first,)
    return Group(*words, facts_grid(facts))  # how a step ended stands on the first line


def progress_rows(run: StepRun, position: str, runs: Runs, width: int) -> list[SegmentRow]:
    """Return how far a step is and what it is at, and below it what was counted and what to be careful with."""
    mark = (" PAUSED " if runs.paused else " RUNNING ", "badge-active")
    words = (f"{_counted(run) or 'no samples yet'}{_aim(run)}", runs.caveat)
    below = (("; ".join(filter(None, words)), "dim"),)
    step = f" {position}" if position else ""
    progress = run.progress
    if progress is None:
        return [(mark, (step, "text")), below]
    done = min(max(progress.done, 0.0), 1.0)
    columns = _BAR_COLUMNS if width >= _NARROW else _NARROW_BAR_COLUMNS
    filled = round(done * columns)
    left = f"no sample for {format_seconds(runs.quiet_seconds)}" if runs.quiet_seconds else time_left(progress)
    doing = "  ".join(filter(None, (as_percent(done, "3.0f"), left, progress.activity)))
    bar = ("━" * filled, "status-active"), ("━" * (columns - filled), "track")
    return [(mark, (f"{step}  ", "text"), *bar, (f" {doing}", "title")), below]


def _counted(run: StepRun) -> str:
    """Return how many samples there are, and how many of them were disturbed; empty for none."""
    total = sum(len(point.values) for point in run.points.values())
    # Counted in C, as it is with every frame.
    calm = (Disturbance.NONE.value, Disturbance.WARMUP.value)
    disturbed = sum(len(point.flags) - sum(map(point.flags.count, calm)) for point in run.points.values())
    words = plural(total, "sample") if total else "", f"! {disturbed} disturbed" if disturbed else ""
    return ", ".join(filter(None, words))


def _aim(run: StepRun) -> str:
    """Return up to where a step takes samples: the precision it aims at, else its time limit."""
    aim = run.step.settings.get(run.declaration.precision)
    if isinstance(aim, int | float) and aim > 0:
        return f"; target ±{as_percent(aim)}"
    return f"; at most {format_seconds(run.step.time_limit_seconds)}"


def share_rows(card: Card, look: ScreenLook) -> list[SegmentRow]:
    """Return the share that the workload takes of what was measured, as a bar with its status."""
    bar = card_bar(card)
    if bar is None:
        return []
    status = "NOT CERTAIN" if card.status == "uncertain" else card.status.upper()
    demand = ("Your workload ", "title"), (card.demand, "text")
    words = (f"{status} {share_text(bar.worst)}", status_token(status)), ("  1", "acc"), (" why", "dim")
    return [demand, draw_share(bar, _LISTED_COLUMNS, look), words, (("", ""),)]


def fact_rows(run: StepRun, share: Sequence[SegmentRow]) -> list[SegmentRow]:
    """Return the main figures, the ``share`` of a workload, which checks passed, and the figures of other loads."""
    table = point_rows(run)
    shown = [number for number, title in enumerate(table.columns) if title not in _UNLISTED]
    columns = [number for number in shown if table.numeric[number]]
    columns[2:] = sorted(columns[2:], key=lambda number: table.columns[number] not in table.heads)
    kinds = [tuple(row[number].text for number in shown if number not in columns) for row in table.rows]
    kinds_by_size = Counter(kinds).most_common()
    # Bars have their values beside their names.
    named = bool(kinds) and (kinds_by_size[0][1] > 1 or table.numeric[:1] == (True,))
    titles = [table.columns[number] for number in columns]
    texts = [[table.heads.get(title, title) for title in titles]]
    texts += [[row[at].text for at in columns] for row in table.rows]
    widths = [max(map(len, cells)) + 2 * bool(at) for at, cells in enumerate(zip(*texts, strict=True))]
    widths = [wide for wide, end in zip(widths, accumulate(widths), strict=True) if end <= _LISTED_COLUMNS]
    head, *drawn = (
        tuple(
            (text.rjust(width), "text" if number and column < 2 else "dim")
            for column, (text, width) in enumerate(zip(row, widths, strict=False))
        )
        for number, row in enumerate(texts)
    )
    groups: list[list[SegmentRow]] = [
        [
            *([((", ".join(kind), "title"),)] if kind else []),
            *(row for row, one in zip(drawn, kinds, strict=True) if one == kind),
        ]
        for kind, _ in kinds_by_size
    ]
    found: list[SegmentRow] = [head, *groups[0]] if named else []
    found += [*([(("", ""),)] if found else ()), *share, (("Validity", "title"),), *validity_rows(run, brief=True)]
    return [*found, *(row for group in groups[1:] if named for row in ((("", ""),), *group))]
