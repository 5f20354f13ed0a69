"""What the console says of inputs that were typed in Sizing: no session holds them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from sizeup.session.store import command_name
from sizeup.sizing.input_value import Value
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice, rules_text
from sizeup.text import plural
from sizeup.tui.runs import Runs
from sizeup.views.whatif import sizing_command


def unsaved_inputs_text(stated: Mapping[str, Value], runs: Runs, *, is_capture: bool) -> str:
    """Return that the inputs are not in the session of the console, and the command that repeats them."""
    command = sizing_command(
        stated,
        session=command_name(runs.path) if runs.session is not None else "",
        capture="CAPTURE" if is_capture else "",
    )
    return f"Inputs typed in Sizing are not saved. Repeat them with: {command}"


def recomputed_with(shown: ShownAdvice, count: int) -> ShownAdvice:
    """Return advice on a saved session with inputs that it did not record, labeled so."""
    label = f"Recomputed with {plural(count, 'input')} typed in Sizing and {rules_text(shown.given)}: not as recorded."
    return replace(shown, origin=AdviceOrigin.RECOMPUTED, label=label)
