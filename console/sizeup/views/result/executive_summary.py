"""A session on one page, for somebody who reads one page."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from sizeup.charts.text_alternative import value_range
from sizeup.model.advice import Advice, AdviceSet
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine
from sizeup.model.sample import Status
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session, StepRun
from sizeup.sizing.session_advice import ShownAdvice, session_advice
from sizeup.text import capitalized, counted, plural
from sizeup.units import format_bytes, format_hz
from sizeup.views.cards.cards import VERDICT, lacks_workload, verdicts_first
from sizeup.views.cards.detected import detected_texts
from sizeup.views.machine.virtualization import runs_on
from sizeup.views.result.finding_text import worded
from sizeup.views.run.finished import headline
from sizeup.views.run.results import stated_once

_MOST_STATEMENTS = 8
"""What one page has room for under each question."""
_COST = frozenset({"license", "value", "cost", "price"})
_LIMIT = frozenset({"limit", "chain", "bottleneck", "balance", "ceiling"})


class AnsweredQuestion(Struct, frozen=True):
    """One of the five questions, and what the session says to it."""

    question: str
    statements: tuple[str, ...]
    """Sentences that stand alone."""
    silent: bool = False
    """The session says nothing to it; the only statement says what would."""


def executive_summary(
    session: Session,
    rest: str = ", further down",
    advice: ShownAdvice | None = None,
    *,
    price: str = "with sizeup size --set license....",
    workload: str = "no workload. Run sizeup size --workload FILE",
) -> tuple[AnsweredQuestion, ...]:
    """What it is, what it can carry, what limits it, what it costs, caveats; always these five.

    ``rest`` says where those stand that are too many for a summary; ``advice`` is what the session recorded unless
    another is given; ``price`` says how to name an edition and prices, ``workload`` that there is none,
    and how to enter one.
    """
    shown = session_advice(session) if advice is None else advice
    advices = [item for item in shown.given.advice if not item.id.startswith(VERDICT)]
    costs = [item for item in advices if _subject(item) & _COST]
    limits = [item for item in advices if item not in costs and _limits(item)]
    carries = [item for item in advices if item not in costs and item not in limits]
    return (
        _answer(
            rest, "What it is", _identity(session), "This session contains no machine: it was interrupted or imported."
        ),
        _answer(
            rest,
            "What it can carry",
            [*_verdicts(shown.given, workload), *_by_subject(carries, _measured(session))],
            "Nothing was sized or measured yet: run a plan, or sizeup size.",
        ),
        _answer(
            rest,
            "What limits it",
            [*(item.verdict for item in limits), *_grave_findings(session)],
            "No finding names a limit, and none was sized.",
        ),
        _answer(
            rest,
            "What it costs",
            [item.verdict for item in costs],
            f"No licenses were sized: name an edition and prices {price}",
        ),
        _answer(
            rest,
            "Caveats",
            caveats(session, shown, each=1),
            "Nothing: all steps converged and nothing was unreadable.",
        ),
    )


def _answer(rest: str, question: str, statements: Iterable[str], otherwise: str) -> AnsweredQuestion:
    known = tuple(dict.fromkeys(map(_sentence, statements)))
    if not known:
        return AnsweredQuestion(question, (otherwise,), silent=True)
    if len(known) > _MOST_STATEMENTS:
        hidden = len(known) - _MOST_STATEMENTS + 1
        known = (*known[: _MOST_STATEMENTS - 1], f"And {hidden} more{rest}.")
    return AnsweredQuestion(question, known)


def _verdicts(given: AdviceSet, workload: str) -> list[str]:
    """The verdict on each resource with its status, the worst first, or what is missing for one."""
    if lacks_workload(given):
        return [f"No verdict yet: {workload}"]
    return [line for advice, line in verdicts_first(given) if advice.id.startswith(VERDICT)]


def _by_subject(advice: list[Advice], measured: list[str]) -> list[str]:
    """The first verdict on each subject, then what was measured, then all other verdicts."""
    leading = list({item.id.partition(".")[0]: item for item in reversed(advice)}.values())[::-1]
    rest = [item for item in advice if item not in leading]
    return [*(item.verdict for item in leading), *measured, *(item.verdict for item in rest)]


def _sentence(text: str) -> str:
    text = capitalized(text.strip())
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _subject(advice: Advice) -> set[str]:
    return set(advice.id.split("."))


def _limits(advice: Advice) -> bool:
    return advice.decision != "unknown" and bool(advice.decision or _subject(advice) & _LIMIT)


def _identity(session: Session) -> list[str]:
    machine = session.machine
    if machine is None:
        return []
    statements = [_processors(machine), _memory(machine)]
    platform = machine.platform
    where = runs_on(platform)
    kind = "Whether it is a guest is unknown" if where is None else f"It is {_with_article(where)}"
    statements.append(f"{kind}{f', running Linux {platform.kernel}' if platform.kernel else ''}.")
    parts = {resource: ", ".join(detected_texts(machine, resource)) for resource in ("storage", "network")}
    return statements + [f"{capitalized(resource)}: {listed}." for resource, listed in parts.items() if listed]


def _with_article(words: str) -> str:
    return words if words == "bare metal" else f"a {words}"


def _processors(machine: Machine) -> str:
    counts = machine.pu_counts
    clock = "" if machine.base_clock is None else f" at {format_hz(machine.base_clock.value)}"
    sizes = f"{counted(machine.socket_count, 'socket')}, {counted(machine.core_count, 'core')}"
    return f"{machine.cpu_model or 'Processor of unknown model'}: {sizes}, {plural(counts.present, 'thread')}{clock}."


def _memory(machine: Machine) -> str:
    size = "Memory of unknown size" if machine.memory_bytes is None else f"{format_bytes(machine.memory_bytes)} memory"
    count = machine.node_count
    nodes = f" on {plural(count, 'NUMA node')}" if count else ", no NUMA" if count == 0 else ", NUMA nodes unknown"
    return f"{size}{nodes}."


def _measured(session: Session) -> list[str]:
    return [
        f"{run.step.title}: {value_range(headline(run, session.machine))}{f'; {marked}' if marked else ''}."
        for run in session.steps.values()
        if run.points
        for marked in (StepValidity(run).summary().partition(" (")[0],)  # the checks are among the caveats
    ]


def _grave_findings(session: Session) -> list[str]:
    every = [*(session.machine.findings if session.machine else ()), *map(worded, session.findings)]
    return [
        f"{finding.title}. {finding.consequence}".strip()
        for severity in (Severity.CRITICAL, Severity.WARNING)
        for finding in every
        if finding.severity is severity
    ]


def caveats(session: Session, shown: ShownAdvice, *, each: int | None = None) -> list[str]:
    """Every reason to mistrust the figures of a session and the advice that is shown with it, the gravest first.

    Of a step or an advice at most ``each``, with a count of those left out.
    """
    found = list(session.damage.sentences())
    if shown.label and session.machine is not None:
        found.append(shown.label)
    if session.end is None:
        found.append("The last run did not end: it is going on, or it was interrupted.")
    elif session.end.status != "complete":
        found.append(f"The last run was {session.end.status}{_because(session.end.reason)}.")
    for step, outcome in session.outcomes.items():
        if outcome.status not in (Status.OK, Status.NOT_CONVERGED):
            found.append(f"{_title(session, step)} was {_ended(outcome.status)}{_because(outcome.reason)}.")
    for run in session.steps.values():
        found.extend(_listed(run.step.title, _step_caveats(run), each))
    titles: dict[str, str] = {}
    for advice in shown.given.advice:
        for caveat in advice.caveats:
            titles.setdefault(caveat, advice.title)
    for title in dict.fromkeys(titles.values()):
        found.extend(_listed(title, [caveat for caveat, owner in titles.items() if owner == title], each))
    gaps = [*(session.machine.gaps if session.machine else ()), *session.gaps]
    if gaps:
        found.append(f"{plural(len(gaps), 'fact')} could not be read; they are listed with the reasons.")
    if session.machine is not None and session.machine.platform.is_guest:
        found.append("It is a guest: other guests on the same host may have taken part of what was measured.")
    return list(dict.fromkeys(found))


def _listed(title: str, found: list[str], each: int | None) -> list[str]:
    found = list(dict.fromkeys(found))
    shown = found if each is None else found[:each]
    lines = [f"{title}: {caveat}" for caveat in shown]
    if len(shown) < len(found):
        lines[-1] = f"{lines[-1].rstrip('.')} (and {plural(len(found) - len(shown), 'more caveat')})"
    return lines


def _step_caveats(run: StepRun) -> list[str]:
    estimates = [point.estimate for point in run.points.values() if point.estimate is not None]
    open_ended = sum(estimate.converged is False for estimate in estimates)
    disturbed = sum((estimate.disturbed_share or 0.0) > 0.1 for estimate in estimates)
    found = []
    if open_ended:
        found.append(f"{open_ended} of {plural(len(estimates), 'point')} did not converge in its time.")
    if disturbed:
        found.append(f"more than a tenth of the samples were disturbed at {plural(disturbed, 'point')}.")
    return [*found, *stated_once(caveat for estimate in estimates for caveat in estimate.caveats)]


_ENDS = {
    Status.REFUSED: "refused",
    Status.CANCELED: "canceled",
    Status.CRASHED: "lost to a crash",
    Status.TIMED_OUT: "ended at its time limit",
}


def _ended(status: Status) -> str:
    return _ENDS.get(status, "not completed")


def _because(reason: str) -> str:
    return f": {reason.rstrip('.')}" if reason else ""


def _title(session: Session, step: str) -> str:
    run = session.steps.get(step)
    return run.step.title if run is not None else step
