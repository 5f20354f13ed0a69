"""Settings of a kernel or a database that a sizing rests on, from a table of data (``settings.toml``)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from sizeup.decoding import data_beside
from sizeup.model.advice import Advice
from sizeup.quantity import Quantity, Words
from sizeup.sizing.advise import Sizing, answer
from sizeup.sizing.io.share import mixed_writes
from sizeup.sizing.io.transfer_cost import raised_sizes
from sizeup.sizing.keys import KEYS
from sizeup.sizing.pack import FigureEntry
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import MissingError, Sheet, figure
from sizeup.sizing.workload import random_size, workload_demand
from sizeup.text import one_line
from sizeup.units import base_unit


class SettingSource(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the recommendation was read."""

    id: str
    title: str
    url: str


class SettingsFile(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of settings."""

    id: str
    name: str
    use: str
    """What to do with the file."""
    kernel: bool = False
    """Whether it holds settings of the kernel, which have a way back."""
    separator: str = " = "


class EmittedSetting(Struct, frozen=True, forbid_unknown_fields=True):
    """One setting, and what its value is worked out from."""

    file: str
    name: str
    reason: str
    """Why, with ``{}`` for each formula of ``said``."""
    source: str
    text: str = ""
    """The value, with ``{}`` for each formula or for the words; empty for one that does not apply, for its reason."""
    said: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    of: dict[str, str] = {}
    """The names in the formulas: an answer, a figure of a rule, or a key."""
    words: str = ""
    """A key whose words fill the text."""
    condition: str = ""
    """Formula; the setting is left out where it is 0."""
    when: dict[str, tuple[str, ...]] = {}
    """Words of keys with which the setting applies."""
    needs: tuple[str, ...] = ()
    """Keys to state where a figure is unknown."""
    answer: str = ""
    """The answer that says why it is not set, where all of these keys are known or its memory does not fit."""
    section: str = ""
    caution: str = ""
    """The reason in its place where ``caution_if`` is not 0."""
    caution_if: str = "0"


class _SettingsTable(Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.settings/1"]
    source: tuple[SettingSource, ...]
    file: tuple[SettingsFile, ...]
    setting: tuple[EmittedSetting, ...]


_USERS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql", "db2": "db2inst1"}
"""The usual user that starts a database, by its pack or file of settings; else that of Oracle."""
Basis = Advice | FigureEntry | tuple[str, Quantity]
"""What a value was worked out from; a key with its figure."""
_Figure = tuple[float, tuple[Basis, ...]]


class ChosenSetting(Struct, frozen=True):
    """A setting with its value for one machine and workload."""

    setting: EmittedSetting
    value: str | None
    """None where a figure is unknown."""
    source: SettingSource
    reason: str = ""
    """Why it has this value, or does not apply."""
    basis: tuple[Basis, ...] = ()
    missing: tuple[str, ...] = ()
    """Keys that would give the value."""
    answer: Advice | None = None
    """Why there is no value although all keys are known."""


def settings_table() -> _SettingsTable:
    """Return the files and settings that can be written."""
    return data_beside(__file__, "settings.toml", _SettingsTable)  # type: ignore[no-any-return]


def chosen_settings(sizing: Sizing, rules: Rules, files: Collection[str]) -> Iterator[ChosenSetting]:
    """Yield the settings of these files that apply to a sizing, with their values where these are known."""
    derived, sources = _derived(sizing, rules), {one.id: one for one in settings_table().source}
    words = {key: one_line(value.value, 4096) for key, value in sizing.inputs.items() if isinstance(value, Words)}
    place = words.get("db.device")
    user = next((_USERS[name] for name in (words.get("license.pack"), *files) if name in _USERS), "oracle")
    words["emit.target"] = "none" if place is None else "device" if place.startswith("/dev/") else "directory"
    for entry in settings_table().setting:
        one = replace(entry, name=entry.name.format(user=user))
        if one.file not in files or any(key in words and words[key] not in one.when[key] for key in one.when):
            continue
        found = {name: _figure(target, sizing, rules, derived) for name, target in one.of.items()}
        known = {name: pair[0] for name, pair in found.items() if pair is not None}
        needs = (*one.needs, *one.when, *filter(None, (one.words,)))
        refusal = sizing.find(one.answer)
        refused = refusal is not None and refusal.decision == "does-not-fit"
        if (
            not one.text
            or refused
            or len(known) < len(found)
            or any(key not in words for key in needs if key in (*one.when, one.words))
        ):
            missing = tuple(key for key in dict.fromkeys(needs) if key in KEYS and key not in sizing.inputs)
            reason = "" if one.text else one.reason
            yield ChosenSetting(one, None, sources[one.source], reason, missing=missing, answer=refusal)
        elif not one.condition or rules.formula(one.condition).evaluate(known.__getitem__):
            numbers = (f"{rules.formula(text).evaluate(known.__getitem__):.0f}" for text in one.formulas)
            said = (figure(rules.formula(text).evaluate(known.__getitem__)) for text in one.said)
            value = one.text.format(*filter(None, (words.get(one.words),)), *numbers)
            basis = tuple(dict.fromkeys(each for pair in found.values() if pair is not None for each in pair[1]))
            reason = one.caution if rules.formula(one.caution_if).evaluate(known.__getitem__) else one.reason
            yield ChosenSetting(one, value, sources[one.source], reason.format(*said, user=user), basis)


def _figure(target: str, sizing: Sizing, rules: Rules, derived: Mapping[str, _Figure]) -> _Figure | None:
    """Return a figure in the unit that it is shown in, with what it is; None where it is unknown."""
    if target in derived:
        return derived[target]
    advice, value = sizing.find(target), sizing.inputs.get(target)
    if target == "redo.postgresql.max-wal-size":  # whatever database the verdict is about
        advice = answer({key: one for key, one in sizing.inputs.items() if key != "license.pack"}, target, rules)
    if advice is not None:
        if advice.quantity is None:
            return None
        return advice.quantity.value / base_unit(advice.shown_in)[1], (advice,)
    if target in rules.figures:
        return rules.figures[target].value, (rules.figures[target],)
    if isinstance(value, Quantity):
        return value.value / base_unit(KEYS[target].unit)[1], ((target, value),)
    return None


def _derived(sizing: Sizing, rules: Rules) -> dict[str, _Figure]:
    """Return the figures that are neither a key nor an answer: parts of a demand, and raised TCP buffers."""
    slow = str(getattr(sizing.inputs.get("array.drive"), "value", "")).startswith("hdd")
    latency = _figure("capacity.latency_ms", sizing, rules, {}) or (10.0 if slow else 1.0, ())
    memory = _figure("machine.memory_gib", sizing, rules, {}) or (math.inf, ())  # in MiB below, as sga.mb
    derived: dict[str, _Figure] = {"emit.latency": latency, "emit.memory": (memory[0] * 1024, memory[1])}
    if isinstance(mixed := sizing.inputs.get("capacity.mixed_iops"), Quantity):
        certain = replace(mixed, value=mixed.least)
        derived["emit.mixed_writes"] = mixed_writes(sizing.inputs) * certain.value, (("capacity.mixed_iops", certain),)
    buffers = sizing.find("net.tcp-buffers")
    for key in ("net.tcp_rmem", "net.tcp_wmem"):
        sizes = sizing.inputs.get(key)
        if buffers is None or buffers.quantity is None or not isinstance(sizes, tuple):
            continue
        needed = buffers.quantity.value
        if sizes[-1].value < needed:
            raised = zip(("least", "first", "largest"), raised_sizes(sizes, needed), strict=True)
            derived |= {f"{key}.{name}": (value, (buffers,)) for name, value in raised}
    try:
        demand = workload_demand(Sheet(sizing.inputs, rules))
    except MissingError:
        demand = None
    for name in ("read_iops", "write_iops"):
        part = None if demand is None else getattr(demand, name)
        if part is not None:
            alone = f"workload.{name}" in sizing.inputs
            keys = (f"workload.{name}",) if alone else ("workload.iops", "workload.read_percent")
            stated = ((key, value) for key in keys if isinstance(value := sizing.inputs.get(key), Quantity))
            derived[f"demand.{name}"] = part.value, tuple(stated)
    for name, key in {"all": "workload.mb_s", "redo": "redo.mb_s", "block": "workload.io_kib"}.items():
        derived[f"emit.{name}"] = _figure(key, sizing, rules, {}) or (0.0, ())
    requests = [found for name, found in derived.items() if name.startswith("demand.")]
    iops, basis = sum(one[0] for one in requests), tuple(each for one in requests for each in one[1])
    derived["emit.iops"] = iops, basis
    if (block := random_size(sizing.inputs, iops)) is not None:
        derived["emit.block"] = block.value / 1024, basis
    return derived
