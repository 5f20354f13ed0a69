"""The inputs entered in the console, apart for this machine and for each session, until one records them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.session.store import command_name, free_path
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice, rules_text
from sizeup.text import plural

if TYPE_CHECKING:
    from sizeup.model.machine import Machine
    from sizeup.session.records import StatedInput
    from sizeup.sizing.input_value import Value
    from sizeup.tui.runs import Runs

_OWN = ""
"""Stands for the session of this console, which may have no file yet."""


def recomputed_with(shown: ShownAdvice, count: int) -> ShownAdvice:
    """Return advice on a saved session with inputs that it did not record, labeled so."""
    inputs = f"{plural(count, 'input')} entered in the console"
    label = f"Recomputed with {inputs} and {rules_text(shown.given)}."
    return replace(shown, origin=AdviceOrigin.RECOMPUTED, label=label)


class TypedInputs:
    """Keeps what was typed for each machine apart; without a change it is what the session recorded."""

    def __init__(self, own: Runs, machine: Callable[[], Machine | None], *, readonly: bool, is_capture: bool) -> None:
        self._own = own
        self._machine = machine
        """The machine of this console, where its session has no file yet."""
        self._readonly = readonly
        self._is_capture = is_capture
        self._changed: dict[str, dict[str, Value]] = {}
        """By the session's path, inputs that are others than it recorded."""
        self._before: dict[str, list[Mapping[str, Value]]] = {}
        """By the session's path, the inputs before each change, those before the last one last."""
        self._stated: tuple[StatedInput, ...] = ()
        self._recorded: dict[str, Value] = {}
        """What these recorded inputs are."""
        self._saving = asyncio.Lock()

    def of(self, runs: Runs) -> Mapping[str, Value]:
        """Return the inputs of a session: those typed since it was opened, else those that it recorded."""
        changed = self._changed.get(self._key(runs))
        return self._recorded_in(runs) if changed is None else changed

    def take(self, runs: Runs, values: Mapping[str, Value]) -> None:
        """Take the inputs of a session in place of those before: one change, however many they are."""
        if values != (before := self.of(runs)):
            self._before.setdefault(self._key(runs), []).append(before)
            self._put(runs, values)

    def undo(self, runs: Runs, key: str | None) -> None:
        """Take back the last change; where there was none, what a user entered for the recorded input ``key``."""
        from sizeup.sizing.input_value import is_imported  # which the first screen does without
        from sizeup.sizing.recorded_inputs import parsed_inputs

        stated, session = self.of(runs), runs.session
        if before := self._before.get(self._key(runs)):
            self._put(runs, before.pop())
        elif key is not None and key in stated and not is_imported(stated[key]):
            imported = parsed_inputs(() if session is None else session.imported)
            kept = {name: value for name, value in stated.items() if name != key}
            self._put(runs, {**kept, key: imported[key]} if key in imported else kept)

    def _put(self, runs: Runs, values: Mapping[str, Value]) -> None:
        from sizeup.engine.advice import stated_inputs  # which the first screen does without

        key = self._key(runs)
        if stated_inputs(values) == stated_inputs(self._recorded_in(runs)):
            self._changed.pop(key, None)
        else:
            self._changed[key] = dict(values)

    def resume(self, path: str) -> bool:
        """Run what a saved session is missing, in the session of this console from now on; False during a run.

        What was typed stays with the session that it was typed for.
        """
        before = "" if self._own.session is None else os.path.realpath(self._own.path)
        if not self._own.resume(path):
            return False
        by_path: tuple[dict[str, Any], ...] = (self._changed, self._before)
        for kept in by_path:
            if before and _OWN in kept:
                kept[before] = kept.pop(_OWN)
            if (typed := kept.pop(os.path.realpath(path), None)) is not None:
                kept[_OWN] = typed
        return True

    def are_unsaved(self, runs: Runs) -> bool:
        """Return whether the inputs of a session are others than it recorded."""
        return self._key(runs) in self._changed

    def unsaved(self, path: str = "") -> list[str]:
        """Return the sessions with inputs that they did not record, of all or of this path."""
        return [key for key in self._changed if not path or os.path.realpath(path) == self._path(key)]

    def of_path(self, path: str) -> Mapping[str, Value]:
        """Return the unsaved inputs of a session."""
        return next((self._changed[key] for key in self.unsaved(path)), {})

    def names(self, keys: list[str]) -> str:
        """Return what the unsaved inputs of some sessions are called."""
        from sizeup.views.inputs.input_names import input_label

        return ", ".join(dict.fromkeys(input_label(name) for key in keys for name in self._changed[key]))

    def commands(self, keys: list[str]) -> list[str]:
        """Return the command that repeats the inputs of each session, as nothing recorded them."""
        from sizeup.views.inputs.whatif import sizing_command

        unsaved = "CAPTURE" if self._is_capture else ""
        return [
            sizing_command(
                self._changed[key],
                unsaved if key == _OWN and self._own.session is None else command_name(key or self._own.path),
            )
            for key in keys
            if self._changed[key]
        ]

    def why_unsaveable(self, keys: list[str]) -> str:
        """Return why the inputs of some sessions cannot be recorded in them; empty where they can be."""
        if self._readonly:
            return "Read-only: nothing is written."
        for key in keys:
            path = self._path(key)
            if not self._own.path and key == _OWN:
                return self._own.problem or "This console has no session."
            if path.endswith(".gz"):
                return f"{path} is compressed and cannot be added to."
            if key == _OWN and self._own.running and not self._own.begun:  # its first advice would replace them
                return "The run is just starting. Try again in a moment."
            if os.path.exists(path) and not os.access(path, os.W_OK):
                return f"{path}: no permission to write."
        return ""

    async def save(self, keys: list[str]) -> list[str]:
        """Record the inputs of some sessions with the advice on them, and return the files; raise where one fails."""
        from sizeup.engine.advice import save_advice

        saved = []
        async with self._saving:
            for key in keys:
                if key not in self._changed:  # saved, or taken back, while another one was saved
                    continue
                if problem := self.why_unsaveable([key]):
                    raise UsageError(problem)
                values, path = self._changed[key], self._path(key)
                if key == _OWN and self._own.session is None:
                    path = self._own.path = str(free_path(Path(path)))
                try:
                    machine, before = self._machine() if key == _OWN else None, tuple(self._before.get(key, ()))
                    await asyncio.to_thread(save_advice, path, values, machine, before)
                except OSError as error:
                    raise UsageError(f"{path}: cannot save the inputs: {error.strerror}") from error
                if key == _OWN:
                    self._own.follow()
                if self._changed.get(key) is values:  # nothing was typed meanwhile
                    del self._changed[key]
                saved.append(path)
        return saved

    def _key(self, runs: Runs) -> str:
        return _OWN if runs is self._own else os.path.realpath(runs.path)

    def _path(self, key: str) -> str:
        return key or os.path.realpath(self._own.path)

    def _recorded_in(self, runs: Runs) -> dict[str, Value]:
        session = runs.session
        if session is None or not session.stated:
            return {}
        if session.stated is not self._stated:
            from sizeup.sizing.recorded_inputs import recorded_inputs

            self._stated, self._recorded = session.stated, recorded_inputs(session)
        return self._recorded


def unsaved_text(typed: TypedInputs, path: str = "") -> str:
    """Return that inputs are not in their session, and the commands that repeat them; empty where all are."""
    commands = typed.commands(typed.unsaved(path))
    return f"Inputs entered in the console are not saved. Repeat them with: {'; '.join(commands)}" if commands else ""
