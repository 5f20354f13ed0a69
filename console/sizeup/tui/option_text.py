"""Options of the command line in texts that the console shows: a key and a field take their place."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from sizeup.tui.actions import first_key_of
from sizeup.views.inputs.option_text import by_names
from sizeup.views.result.summary import Summary


def by_keys(text: str, keymap: Mapping[str, str], *, in_sizing: bool = False) -> str:
    """Return a text with keys and names of inputs in place of ``--set``: ``enter Cores (4, then a)``.

    ``in_sizing`` is whether it is shown there, where one key is enough.
    """
    known = dict(keymap)
    keys = first_key_of("sizing.add", known)
    return by_names(text, keys if in_sizing else f"{first_key_of('mode.sizing', known)}, then {keys}")


def in_console(shown: Summary, keymap: Mapping[str, str]) -> Summary:
    """Return what is shown with keys of the console in place of options of the command line."""
    verdict = shown.verdict
    return replace(
        shown,
        verdict=replace(verdict, statement=by_keys(verdict.statement, keymap), fix=by_keys(verdict.fix, keymap)),
        findings=tuple(
            (key, replace(finding, remedy=by_keys(finding.remedy, keymap))) for key, finding in shown.findings
        ),
    )
