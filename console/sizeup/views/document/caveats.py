"""Every reason to mistrust the figures of a session, as sentences."""

from __future__ import annotations

from sizeup.model.sample import Status
from sizeup.session.value import Session
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.text import plural
from sizeup.views.run.results import stated_once


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
        if not outcome.status.finished:
            title = session.steps[step].step.title if step in session.steps else step
            found.append(f"{title} was {_ENDS.get(outcome.status, 'not completed')}{_because(outcome.reason)}.")
    for run in session.steps.values():
        estimates = [point.estimate for point in run.points.values() if point.estimate is not None]
        open_ended = sum(estimate.converged is False for estimate in estimates)
        disturbed = sum((estimate.disturbed_share or 0.0) > 0.1 for estimate in estimates)
        told = stated_once(caveat for estimate in estimates for caveat in estimate.caveats)
        if disturbed:
            told.insert(0, f"more than a tenth of the samples were disturbed at {plural(disturbed, 'point')}.")
        if open_ended:
            told.insert(0, f"{open_ended} of {plural(len(estimates), 'point')} did not converge in its time.")
        found.extend(_listed(run.step.title, told, each))
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


_ENDS = {
    Status.REFUSED: "refused",
    Status.CANCELED: "canceled",
    Status.CRASHED: "lost to a crash",
    Status.TIMED_OUT: "ended at its time limit",
}


def _because(reason: str) -> str:
    return f": {reason.rstrip('.')}" if reason else ""
