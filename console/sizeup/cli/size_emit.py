"""``sizeup size --emit``: what the verdict rests on, as files of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizeup import files
from sizeup.cli.arguments import refuse_combination
from sizeup.cli.results import write_text
from sizeup.cli.sizing_inputs import sized_subject, sizing_rules, workload_inputs
from sizeup.errors import ExitStatus

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from sizeup.quantity import Quantity
    from sizeup.sizing.rules import Rules
    from sizeup.sizing.settings import ChosenSetting, SettingsFile

FILES = ("sysctl", "hugepages", "limits", "postgresql", "mysql", "fio")
"""The ids of the files in ``sizing/settings.toml``."""


def write_settings(arguments: argparse.Namespace) -> int:
    """Print the settings, or write a file for each name into the new directory of ``-o``."""
    from sizeup.quantity import Origin, Words
    from sizeup.sizing.advise import size
    from sizeup.sizing.settings import chosen_settings, settings_table

    others = ("--against", "--show", "--profile", "--design", "--format", "--allow-undecided")
    refuse_combination(arguments, "--emit", others)
    rules = sizing_rules(arguments.rules)
    subject = sized_subject(arguments.machine, workload_inputs(arguments))
    inputs = dict(subject.inputs)
    databases = [name for name in ("postgresql", "mysql") if name in arguments.emit]
    kin = getattr(inputs.get("license.pack"), "value", "").replace("mariadb", "mysql")
    if databases and kin not in databases:  # whatever database the workload is of
        inputs = {key: value for key, value in inputs.items() if not key.startswith("license.")}
        inputs["license.pack"] = Words(databases[0], Origin.USER, "--emit")
    sizing = size(inputs, rules)
    chosen = list(chosen_settings(sizing, rules, arguments.emit))
    failed = [card for card in sizing.cards if card.status == "fail" and card.resource != "license"]
    small = [f"this machine is too small. {card.statement}" for card in failed]
    tight = [one.verdict for one in sizing.advice if one.id == "memory.huge-pages-left"]
    documents: dict[str, str] = {}
    for file in (one for one in settings_table().file if one.id in arguments.emit):
        settings = [one for one in chosen if one.setting.file == file.id]
        of_pages = any(one.setting.answer == "memory.huge-pages" for one in settings)
        warned = [*small, *tight] if of_pages else small
        before = _present(settings) if file.kernel and arguments.machine == "this" else {}
        back = f"undo-{file.name}"
        documents[file.name] = (
            "\n".join(_lines(file, settings, subject.name, rules, back if before else "", warned)) + "\n"
        )
        if before:
            head = f"# Restores what {file.name} changes on this machine, as root: sysctl -p {back}\n"
            documents[back] = head + "".join(f"{name} = {value}\n" for name, value in before.items())
    if arguments.output == "-":
        write_text("\n".join(f"# {name}\n{text}" for name, text in documents.items()))
        return ExitStatus.OK
    contents = {name: text.encode("utf-8", "replace") for name, text in documents.items()}
    with files.new_directory(arguments.output, contents) as paths:
        write_text("".join(f"{path}\n" for path in paths))
    return ExitStatus.OK


def _present(settings: Sequence[ChosenSetting]) -> dict[str, str]:
    """Return the values in force of the kernel's settings that are set."""
    from sizeup.procfs.kernel_file import read_setting

    values = {one.setting.name: read_setting(one.setting.name) for one in settings if one.value}
    return {name: value for name, value in values.items() if value is not None}


def _lines(
    file: SettingsFile, settings: Sequence[ChosenSetting], subject: str, rules: Rules, back: str, warned: Sequence[str]
) -> Iterator[str]:
    """Yield a file: what to do with it, and each setting under its reason, working and source."""
    from sizeup.report.table import wrapped

    yield from _comment(f"Settings for {subject}, by sizeup size --emit {file.id}. {file.use}")
    for warning in warned:
        yield from _comment(f"WARNING: {warning}")
    if file.kernel:
        names = " ".join(one.setting.name for one in settings if one.value)
        keep = f"Undo: sysctl -p {back}" if back else f"Keep the present values first: sysctl {names} > before.conf"
        if names:
            yield from _comment(keep)
    section = ""
    for one in settings:
        yield ""
        if one.setting.section != section:
            section = one.setting.section
            yield from (f"[{section}]", "")
        if one.value is None:
            yield from _comment(_unset(one))
            continue
        yield from _comment(one.reason)
        for line in dict.fromkeys(_basis(one, rules)):
            yield from wrapped(line, 80, "#   ", "#   ")
        yield f"# {one.source.title}"
        yield f"# {one.source.url}"
        yield f"{one.setting.name}{file.separator}{one.value}"


def _comment(text: str) -> list[str]:
    from sizeup.report.table import wrapped

    return wrapped(text, 80, "# ", "# ")


def _unset(one: ChosenSetting) -> str:
    """Return why a setting has no value, and what gives it one."""
    from sizeup.sizing.keys import KEYS

    name = f"{one.setting.name}: not set"
    if one.missing:
        return f"{name}. Use --set {' '.join(KEYS[key].assignment for key in one.missing)}"
    why = one.reason or ("It does not follow from what is known" if one.answer is None else one.answer.verdict)
    return f"{name}. {why}"


def _basis(one: ChosenSetting, rules: Rules) -> Iterator[str]:
    """Yield the figures that a value was worked out from, each with its origin."""
    from sizeup.model.advice import Advice
    from sizeup.sizing.keys import KEYS
    from sizeup.sizing.sheet import shown

    for found in one.basis:
        if isinstance(found, Advice):
            yield from found.working
            yield from (_key(item.key, item.quantity) for item in found.inputs if item.quantity and item.key in KEYS)
        elif isinstance(found, tuple):
            yield _key(*found)
        else:
            yield f"{found.title}: {shown(rules.figure(found.id), found.unit)} ({rules.source(found.source).title})"


def _key(key: str, quantity: Quantity) -> str:
    """Return a key with its figure and where that is from."""
    from sizeup.quantity import Origin
    from sizeup.sizing.keys import KEYS
    from sizeup.sizing.sheet import shown

    origin = "default" if quantity.origin is Origin.RULE else quantity.source
    return f"{key} {shown(quantity, KEYS[key].unit.removesuffix('1'))} ({origin})"
