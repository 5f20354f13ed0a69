"""What the Sizing mode knows: the inputs that the user changed, and what they change of the answers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sizeup.input_file import read_text
from sizeup.model.advice import AdviceSet, Card
from sizeup.model.machine import Machine
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.input_value import Value, is_imported, with_stated
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import Swing, tornado
from sizeup.sizing.session_advice import ShownAdvice, rules_text
from sizeup.text import plural
from sizeup.tui.screens.sizing_text import ANSWERS
from sizeup.views.inputs.whatif import InputRow, effect, input_rows, question_of
from sizeup.views.result.verdict import first_card

if TYPE_CHECKING:
    from sizeup.tui.console import ConsoleApp

_LIMIT = 64 << 20
_PERCENTILE = 95.0


class SizingState:
    """Sizes the machine that is shown with changed inputs, and compares the answers with those on it as found."""

    def __init__(self, host: ConsoleApp) -> None:
        self._host = host
        self._added: dict[str, None] = {}
        """Inputs that the user wants to see, though nothing is known of them."""
        self._sized_with: dict[str, Value] = {}
        self._machine: Machine | None = None
        """The machine that was sized."""
        self._measured: dict[str, Value] = {}
        self.sizing = Sizing(inputs={})
        """What the inputs give by today's rules."""
        self.found = self.sizing.inputs
        """What is known or assumed without what was typed."""
        self.given = AdviceSet()
        """The answers that are shown: those of a saved session as it recorded them, until something is changed."""
        self.advice: ShownAdvice | None = None
        """The advice on the session or the machine, nothing changed."""
        self.rows: tuple[InputRow, ...] = ()
        self.effects: dict[str, str] = {}
        """How each answer differs from that on the machine as found, by its id."""
        self.base: Sizing | None = None
        """The machine as found with the typed workload; None where nothing else was changed."""
        self.asked: set[str] = set()
        """What is asked for since something was changed."""
        self.calculate()

    @property
    def changed(self) -> dict[str, Value]:
        """The inputs that were typed for the machine that is shown."""
        return dict(self._host.stated)

    @property
    def outdated(self) -> bool:
        """Whether the machine, its inputs or the advice on it are others than when it was sized."""
        host = self._host
        return (
            self._machine is not host.machine
            or self._sized_with != self.changed
            or self._measured != self._known({})
            or self.advice is not host.advice
        )

    @property
    def is_changed(self) -> bool:
        """Whether the answers are others than on the machine as found, or than a saved session recorded."""
        host = self._host
        return bool(host.stated) if host.saved_session is None else host.typed.are_unsaved(host.runs)

    def calculate(self) -> None:
        """Size the machine that is shown anew."""
        host = self._host
        self._machine = host.machine
        changed = self._sized_with = self.changed
        self.sizing = self._sized(changed)
        self._measured = self._known({})
        before = self._sized({})
        self.found = before.inputs
        self.rows = input_rows(self.sizing, changed, before.inputs, self._added)
        workload = {  # a file has sessions, too
            key: value for key, value in changed.items() if question_of(key) == "Workload" or is_imported(value)
        }
        self.base = self._sized(workload) if len(workload) < len(changed) else None
        self.asked = {item.key for item in self.sizing.questions} - {item.key for item in before.questions}
        self.effects = {advice.id: effect(advice, before.find(advice.id)) for advice in self.sizing.advice}
        self.advice = host.advice
        recorded = None if self.is_changed or host.saved_session is None else self.advice
        self.given = self.sizing if recorded is None else recorded.given

    def put(self, values: dict[str, Value]) -> None:
        """Size with these values in the place of all that were changed; those that contradict the rest are refused."""
        self._sized(values)
        self._host.stated = values
        self.calculate()

    def undo(self, key: str | None) -> str | None:
        """Take back the last change, or a recorded input; return the first input that is another now."""
        before = self.changed
        self._host.typed.undo(self._host.runs, key)
        now = self.changed
        if not now:
            self._added.clear()
        self.calculate()
        return next((name for name in {**before, **now} if before.get(name) != now.get(name)), None)

    def add(self, key: str) -> None:
        """List an input, whatever is known of it."""
        self._added[key] = None
        self.calculate()

    @property
    def deciding(self) -> Card | None:
        """The resource that decides; None without a demand."""
        return first_card(self.given.cards)

    @property
    def factors(self) -> tuple[Swing, ...]:
        """The inputs that move its share, the strongest first."""
        card = self.deciding
        return () if card is None or not card.advice else tornado(self.sizing.inputs, card.advice, shipped())

    def row(self, key: str | None) -> InputRow | None:
        """Return the row of an input; None where it is not listed."""
        return next((row for row in self.rows if row.key == key), None)

    @property
    def title(self) -> str:
        """What the answers are: current, recorded, recomputed or changed."""
        saved = self.advice if self._host.saved_session is not None else None
        if self.is_changed:
            return f"{ANSWERS}, compared with the detected machine{'' if saved is None else ', recomputed'}"
        return ANSWERS if saved is None else f"{ANSWERS}, {saved.mark or 'recorded'}"

    @property
    def label(self) -> str:
        """What must be known of the answers, in full."""
        return "" if self.advice is None or self.is_changed else self.advice.label

    @property
    def deviation(self) -> str:
        """That it is not the machine as found any more, or not what the session recorded."""
        recomputed = "" if self._host.saved_session is None else f", recomputed with {rules_text(self.sizing)}"
        return recomputed + (f", {plural(len(self.changed), 'input')} changed" if self.changed else "")

    def _sized(self, changed: dict[str, Value]) -> Sizing:
        machine = Machine() if self._host.machine is None else self._host.machine
        return size(described(machine, self._known(changed)))

    def _known(self, changed: dict[str, Value]) -> dict[str, Value]:
        """What was measured in the session, with what was changed in its place."""
        session = self._host.runs.session
        return changed if session is None else with_stated(measured(session, changed), changed)


def workload_inputs(entry: str) -> dict[str, Value]:
    """Return the inputs of workload files, read as ``sizeup size --workload`` reads them; raise if they describe none.

    ``entry`` is one name, or several with semicolons between them.
    """
    from sizeup.sizing.inputs.imported import WorkloadFile, read_workload  # which the start does without

    def whole(name: str) -> str:
        return os.path.abspath(os.path.expanduser(name))  # so that "-" is a file too, not the terminal

    names = [entry] if os.path.exists(whole(entry)) else [name.strip() for name in entry.split(";") if name.strip()]
    files = (WorkloadFile(name, read_text(whole(name), "a workload file", _LIMIT)) for name in names)
    return read_workload(tuple(files), _PERCENTILE)
