"""Which advice is shown: what the session recorded, or what is worked out now. The one place that decides.

A saved session shows what it recorded, on every screen and in every report. Working its advice out again with the
rules of this version is something the user asks for, and is labeled wherever it is shown. A machine that is being
looked at has advice worked out now; its run records the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from sizeup.model.advice import Advice, AdviceSet
from sizeup.model.machine import Machine
from sizeup.sizing.advise import described, size
from sizeup.sizing.input_value import Value, with_stated
from sizeup.text import plural

if TYPE_CHECKING:
    from sizeup.session.value import Session

RECOMPUTE = "run sizeup session show --recompute FILE"
"""How to ask for advice by the rules of this version, on a command line."""


class AdviceOrigin(Enum):
    """Where the advice that is shown comes from."""

    CURRENT = "current"
    """Worked out now for the machine that is being looked at."""
    RECORDED = "recorded"
    """As the session recorded it."""
    RECOMPUTED = "recomputed"
    """Worked out now for a saved session, because the user asked for it."""
    NONE = "none"
    """The session recorded none."""


class ShownAdvice(Struct, frozen=True):
    """The advice that screens and reports show, with its label."""

    origin: AdviceOrigin
    given: AdviceSet = AdviceSet()
    label: str = ""
    """What a reader must know of where it comes from; empty for recorded advice on a finished run."""
    recorded: AdviceSet | None = None
    """What the session recorded, beside advice that was recomputed; None otherwise, and where it recorded none."""

    def recorded_verdict(self, advice: Advice) -> str:
        """Return what the session recorded in place of recomputed advice; empty where it is the same."""
        if self.recorded is None:
            return ""
        old = self.recorded.find(advice.id)
        return "" if _said(old) == _said(advice) else "nothing" if old is None else old.verdict

    def recorded_only(self) -> tuple[Advice, ...]:
        """Return the recorded advice that could not be given when it was recomputed."""
        recorded = () if self.recorded is None else self.recorded.advice
        return tuple(advice for advice in recorded if self.given.find(advice.id) is None)

    @property
    def mark(self) -> str:
        """The label in a few words, for a heading; empty where the advice is current or recorded."""
        return {AdviceOrigin.RECOMPUTED: "recomputed", AdviceOrigin.NONE: "no advice recorded"}.get(self.origin, "")


def session_advice(
    session: Session,
    *,
    recompute: bool = False,
    stated: Mapping[str, Value] = MappingProxyType({}),
    how: str = RECOMPUTE,
) -> ShownAdvice:
    """Return the advice that a saved session recorded, or where the user asks for it the advice recomputed.

    What the user ``stated``, such as a workload, comes before what was measured, and has it recomputed. ``how`` tells a
    user how to ask for it.
    """
    if not recompute and not stated:
        return _recorded(session, how)
    from sizeup.sizing.recorded_inputs import sized_inputs  # which a console without a session does without

    given = size(sized_inputs(session, "the session", stated))
    return ShownAdvice(AdviceOrigin.RECOMPUTED, given, recomputed_label(given, session.advice), session.advice)


def recomputed_label(given: AdviceSet, recorded: AdviceSet | None) -> str:
    """Say by which rules advice was recomputed, and how it differs from what the session recorded."""
    label = f"Recomputed with {rules_text(given)}."
    if recorded is None:
        return f"{label} The session recorded no advice."
    ids = dict.fromkeys(advice.id for advice in (*given.advice, *recorded.advice))
    different = sum(_said(given.find(one)) != _said(recorded.find(one)) for one in ids)
    changes = f"{different} of {plural(len(ids), 'answer')} differ" if different else "the same answers"
    if rules_text(given) == rules_text(recorded):
        return f"Recomputed with {rules_text(given)}, as when it was recorded{'' if different else f': {changes}'}."
    return f"{label} Recorded with {rules_text(recorded)}: {changes}."


def rules_text(given: AdviceSet) -> str:
    """Return the rules by their date, which is the day that the newest of them was last checked."""
    return f"the rules of {max(given.rules.values())}" if given.rules else "rules of an unknown date"


def _recorded(session: Session, how: str) -> ShownAdvice:
    if session.advice is not None:
        at = session.stated_at[:16].replace("T", " ")
        entered = f"{plural(len(session.stated), 'input')} entered by the user{f', {at} UTC' if at else ''}"
        labels = [f"Worked out with {entered}."] if session.stated else []
        if any(run.finished and (run.ended_ns or 0) > session.advice_ns for run in session.steps.values()):
            labels.append(
                "Recorded before these measurements: the run has not finished, or was interrupted. "
                f"To include them, {how}."
            )
        return ShownAdvice(AdviceOrigin.RECORDED, session.advice, " ".join(labels))
    if session.machine is None and not session.steps:
        return ShownAdvice(AdviceOrigin.NONE, label="This session recorded no advice, and no machine to size.")
    why = "" if session.end is not None and session.end.status == "complete" else ": the run ended before it"
    label = f"This session recorded no advice{why}. To work it out now, {how}."
    return ShownAdvice(AdviceOrigin.NONE, label=label)


def _said(advice: Advice | None) -> tuple[object, ...]:
    """Return what makes advice differ from other advice; nothing where there is none."""
    if advice is None:
        return ()
    quantity = advice.quantity
    return (advice.verdict, advice.decision, *((quantity.value, quantity.unit) if quantity else ()))


class AdviceSelector:
    """Chooses the advice that a console shows, and keeps it until what it rests on changes."""

    def __init__(self, how: str = RECOMPUTE) -> None:
        self._how = how
        """How a user of this console asks for recomputed advice."""
        self._recomputed: Session | None = None
        """The saved session whose advice the user had recomputed."""
        self._measuring: Session | None = None
        self._revision: tuple[int, Mapping[str, Value]] = (0, {})
        self._known: dict[str, Value] = {}
        """What that session had measured at that revision, with what was stated then."""
        self._subject: Session | Machine | None = None
        self._basis: object = None
        self._shown = ShownAdvice(AdviceOrigin.NONE)

    def toggle(self, session: Session) -> None:
        """Show the advice of a saved session recomputed, or as it was recorded again."""
        self._recomputed = None if self._recomputed is session else session

    def of_session(self, session: Session) -> ShownAdvice:
        """Return the advice that is shown with a saved session."""
        recompute = self._recomputed is session
        if self._changed(session, (recompute, session.advice, len(session.outcomes))):
            self._shown = session_advice(session, recompute=recompute, how=self._how)
        return self._shown

    def of_machine(
        self, machine: Machine, session: Session | None, stated: Mapping[str, Value] = MappingProxyType({})
    ) -> ShownAdvice:
        """Return the advice on a machine that is being looked at, by what its session has measured so far.

        What the user ``stated`` comes before what was measured.
        """
        if session is not None and (self._measuring is not session or self._revision != (session.revision, stated)):
            from sizeup.sizing.inputs.measured import measured  # which a console without a session does without

            # Once for each revision of a growing session.
            self._measuring, self._revision = session, (session.revision, dict(stated))
            self._known = measured(session, stated)
        known = with_stated({} if session is None else self._known, stated)
        if self._changed(machine, known):
            self._shown = ShownAdvice(AdviceOrigin.CURRENT, size(described(machine, known)))
        return self._shown

    def _changed(self, subject: Session | Machine, basis: object) -> bool:
        """Whether the advice has to be chosen again; by identity, as machines and sessions are large."""
        changed = self._subject is not subject or self._basis != basis
        self._subject, self._basis = subject, basis
        return changed
