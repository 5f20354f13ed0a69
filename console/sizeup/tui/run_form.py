"""The values of a probe's form: what was changed, what has an effect, and what a run will be given.

A change that has no effect with the chosen workload is refused with the reason, or changes the workload where only one
takes it; what is shown is what runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from sizeup.errors import SizeupError
from sizeup.model.plan import SettingValue
from sizeup.probing.manifest import Manifest, Parameter, accepts, parse_value
from sizeup.probing.settings import how_used, resolve, why_unused
from sizeup.units import format_bytes, format_ns


class FormChange(Struct, frozen=True):
    """What became of a change."""

    problem: str = ""
    """Why it was refused; empty where it was taken."""
    note: str = ""
    """What changed with it."""


class RunForm:
    """The settings of one probe as its form shows them."""

    def __init__(self, manifest: Manifest, plan: str) -> None:
        self.manifest = manifest
        self._plan = plan
        self._typed: dict[str, str] = {}

    @property
    def plan(self) -> str:
        """The plan whose settings count where nothing was changed."""
        return self._plan

    @plan.setter
    def plan(self, plan: str) -> None:
        self._plan = plan
        kept = dict(self._typed)
        self._typed = {}
        for name, text in kept.items():
            self._keep(self.parameter(name), text)

    @property
    def typed(self) -> Mapping[str, str]:
        """What differs from the plan, as typed: what a run is given."""
        return dict(self._typed)

    @property
    def settings(self) -> dict[str, SettingValue]:
        """Every value as the run will have it, those without effect among them."""
        chosen = {name: parse_value(self.parameter(name), text, name) for name, text in self._typed.items()}
        return resolve(self.manifest, self._plan, chosen)

    def parameter(self, name: str) -> Parameter:
        """The declaration of a parameter."""
        return next(parameter for parameter in self.manifest.parameter if parameter.name == name)

    @property
    def texts(self) -> dict[str, str]:
        """Every value by its name, as the form shows it."""
        return {parameter.name: self.text(parameter.name) for parameter in self.manifest.parameter}

    def text(self, name: str) -> str:
        """Return a value as a user would type it; of one without effect what is done in its place."""
        if name in self._typed:
            return self._typed[name]
        parameter = self.parameter(name)
        implied = self.implied().get(name)
        value = implied if implied is not None and self.unused(name) else self.settings.get(name)
        return format_setting(parameter, value)

    def shown(self, name: str) -> str:
        """Return a value as a form shows it: by its label where it has one."""
        return value_label(self.parameter(name), self.text(name))

    def unused(self, name: str) -> str:
        """Return with which other value a parameter has no effect; empty where it has one."""
        return why_unused(self.parameter(name), self.settings)

    def implied(self) -> dict[str, SettingValue]:
        """What the chosen values do in place of parameters that have no effect with them."""
        settings = self.settings
        found: dict[str, SettingValue] = {}
        for parameter in self.manifest.parameter:
            found |= parameter.implies.get(str(settings.get(parameter.name, "")), {})
        return found

    def lacking(self) -> tuple[str, ...]:
        """Names of the parameters that only the user can give, and has not; the target among them."""
        target = self.manifest.target
        settings = self.settings
        return tuple(
            parameter.name
            for parameter in self.manifest.parameter
            if (parameter.name not in settings or (target is not None and parameter.name == target.setting))
            and not settings.get(parameter.name)
            and not why_unused(parameter, settings)
        )

    def change(self, name: str, text: str) -> FormChange:
        """Take a value for a parameter, or say why not."""
        parameter = self.parameter(name)
        default = format_setting(parameter, resolve(self.manifest, self._plan, {}).get(name))
        text = entered(parameter, text) or default
        if text == self.text(name) and not (name in self._typed and self.unused(name)):
            return FormChange()
        if text != default:
            try:
                parse_value(parameter, text, label(parameter))
            except SizeupError as error:
                return FormChange(str(error))
        text = _normalized(parameter, text)
        before, notes = dict(self._typed), []
        while reason := self.unused(name):
            switched = self._switch_for(parameter)
            if not switched:
                self._typed = before
                remedy = how_used(parameter, self.settings)
                return FormChange(f"{label(parameter)} has no effect with {reason}: {remedy}")
            notes.append(switched)
        self._keep(parameter, text)
        dropped = [name for name in self._typed if self.unused(name)]
        for name in dropped:
            del self._typed[name]
        if dropped:
            notes.append(
                f"{', '.join(label(self.parameter(name)) for name in dropped)} has no effect now and was reset"
            )
        return FormChange(note="; ".join(notes))

    def _keep(self, parameter: Parameter, text: str) -> None:
        """Note a value, unless it is what the run has anyway."""
        default = resolve(self.manifest, self._plan, {}).get(parameter.name)
        if text == format_setting(parameter, default) or _same(parameter, text, default):
            self._typed.pop(parameter.name, None)
        else:
            self._typed[parameter.name] = text

    def _switch_for(self, parameter: Parameter) -> str:
        """Choose the only value of another parameter with which this one has an effect; what was changed, or nothing.

        What the value before did by itself stays, as far as it can be set now.
        """
        settings = self.settings
        for other_name, values in parameter.used_with.items():
            if settings.get(other_name) in values:
                continue
            other = self.parameter(other_name)
            if len(values) != 1 or other.type != "choice":
                return ""
            kept = self.implied()
            self._keep(other, format_setting(other, values[0]))
            for name, value in kept.items():
                if name not in self._typed and not self.unused(name):
                    self._keep(self.parameter(name), format_setting(self.parameter(name), value))
            names = dict.fromkeys(name for values in other.implies.values() for name in values)
            mix = [self.parameter(name) for name in names if name != parameter.name and not self.unused(name)]
            words = ", ".join(
                f"{label(one)} {self.shown(one.name)}{' %' if one.unit == '%' else ''}".lower() for one in mix
            )
            return f"{label(other)} is now {self.shown(other_name)}{f': {words}' if words else ''}"
        return ""


def label(parameter: Parameter) -> str:
    """Return what a form calls a parameter."""
    return parameter.label or parameter.name.replace("_", " ").capitalize()


def value_label(parameter: Parameter, text: str) -> str:
    """Return what a form calls a value."""
    return parameter.labels.get(text, text)


def entered(parameter: Parameter, text: str) -> str:
    """Return the value that a typed text stands for: that of a label, and KiB of a number that is no size in bytes."""
    text = {name: value for value, name in parameter.labels.items()}.get(text.strip(), text.strip())
    if parameter.type == "bytes" and text.isdecimal() and not accepts(parameter, int(text)):
        return f"{text}KiB"
    return text


def _normalized(parameter: Parameter, text: str) -> str:
    """Return a size as suggestions spell it, ``24k`` as ``24KiB``, where that is exact."""
    if parameter.type != "bytes" or not text:
        return text
    formatted = format_setting(parameter, parse_value(parameter, text, parameter.name))
    return formatted if _same(parameter, formatted, parse_value(parameter, text, parameter.name)) else text


def _same(parameter: Parameter, text: str, value: SettingValue | None) -> bool:
    try:
        return value is not None and parse_value(parameter, text, parameter.name) == value
    except SizeupError:
        return False


def format_setting(parameter: Parameter, value: SettingValue | None) -> str:
    """Return a setting as a user would type it; empty where it has no value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if parameter.type == "bytes" and isinstance(value, int | float):
        return format_bytes(value).replace(" ", "")
    if parameter.type == "seconds" and isinstance(value, int | float):
        # In the unit that leaves it short, and exact: ``10s``, ``500ms``.
        unit, factor = ("s", 1.0) if value >= 1 or not value else ("ms", 1e3) if value >= 1e-3 else ("us", 1e6)
        return f"{value * factor:.12g}{unit}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def format_seconds(seconds: float) -> str:
    """Return a time as people say it: ``60 s``, ``8 min``, ``24 h``."""
    if seconds < 120:
        return format_ns(seconds * 1e9)
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"
