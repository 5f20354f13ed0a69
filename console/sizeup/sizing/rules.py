"""Rules: all packs by id, with the user's changes.

A pack holds figures, defaults and sources; ``rules/*.toml`` ships with the program. A user's own file
overrides single fields by id, and what it changed stays visible as an override wherever it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sizeup.decoding import convert, parse_toml
from sizeup.errors import MalformedError
from sizeup.model.advice import Source
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.formula import Formula, parse_formula
from sizeup.sizing.pack import Entry, FigureEntry, Pack, SourceEntry
from sizeup.text import nearest
from sizeup.units import base_unit

MAXIMUM_AGE_DAYS = 365
"""A pack checked longer ago than this is still used, with a warning."""


class OverrideEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field of one entry replaced by the user."""

    target: str
    """``KIND.ID.FIELD``: ``figure.io.ghz-rule.exact.value``, ``product.oracle.ee.price.processor``."""
    value: str | int | float | bool
    reason: str
    date: date


_Entry = TypeVar("_Entry", bound=Entry)


class _UserFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.rules/1"]
    override: tuple[OverrideEntry, ...] = ()


class Rules(Struct, frozen=True, eq=False):
    """All packs, by id; one set of rules is equal only to itself."""

    packs: tuple[Pack, ...]
    sources: Mapping[str, SourceEntry]
    figures: Mapping[str, FigureEntry]
    overrides: tuple[OverrideEntry, ...] = ()

    def pack(self, name: str) -> Pack | None:
        """The pack of that name; None where there is none."""
        return next((pack for pack in self.packs if pack.pack == name), None)

    def license_packs(self) -> tuple[Pack, ...]:
        """The packs that count licenses."""
        return tuple(pack for pack in self.packs if pack.metric)

    def figure(self, figure_id: str) -> Quantity:
        """The figure in base units, with its rule's id as source."""
        entry = self.figures[figure_id]
        unit, scale = base_unit(entry.unit)
        caveats = (entry.note,) if entry.note else ()
        figure = Quantity(entry.value, unit, Origin.RULE, figure_id, low=entry.low, high=entry.high, caveats=caveats)
        return self.marked(figure.scaled(scale), f"figure.{figure_id}")

    def marked(self, quantity: Quantity, entry: str) -> Quantity:
        """The quantity of the entry ``KIND.ID``, shown as the user's where the user changed it."""
        override = self.override_of(entry)
        if override is None:
            return quantity
        caveat = f"overridden by the user on {override.date}: {override.reason}"
        return replace(quantity, origin=Origin.USER, caveats=(*quantity.caveats, caveat))

    def override_of(self, entry: str) -> OverrideEntry | None:
        """The user's change of ``KIND.ID`` or a field of it, the last one of several; None where it is untouched."""
        return next((o for o in reversed(self.overrides) if f"{o.target}.".startswith(f"{entry}.")), None)

    @staticmethod
    @cache
    def formula(text: str) -> Formula:
        """A formula of one of the packs, ready to be evaluated."""
        return parse_formula(text, "rules")

    def source(self, source_id: str) -> Source:
        """A source as advice cites it."""
        entry = self.sources[source_id]
        title = entry.title if entry.via is None else f"{entry.title} (read through: {entry.via})"
        return Source(entry.id, title, entry.date, entry.confidence, entry.address)

    def warnings(self, today: date) -> tuple[str, ...]:
        """A sentence for the packs of each day that were last checked too long ago."""
        old = [pack for pack in self.packs if pack.age_days(today) > MAXIMUM_AGE_DAYS]
        return tuple(
            f"rules of {', '.join(repr(pack.title) for pack in old if pack.checked == day)} were last checked "
            f"{(today - day).days} days ago ({day}) and may be outdated: compare them with their sources"
            for day in dict.fromkeys(pack.checked for pack in old)
        )


def load(texts: Mapping[str, str], user: tuple[str, str] | None = None) -> Rules:
    """Read packs from TOML and check them; ``texts`` maps the name of each to its text.

    ``user`` is the place and the text of the file of overrides. Refused, with the place: unknown keys, a repeated
    id, a figure without a known source, an override of something that does not exist.
    """
    from sizeup.sizing.pack_check import check

    documents = {where: parse_toml(text, where, "TOML") for where, text in texts.items()}
    overrides: tuple[OverrideEntry, ...] = ()
    if user is not None:
        where, text = user
        overrides = parse_toml(text, where, "sizeup.rules/1", _UserFile).override
        for override in overrides:
            _override(documents.values(), override, where)
    rules = _rules(documents, overrides)
    for pack, where in zip(rules.packs, documents, strict=True):
        check(pack, where)
    return rules


def _override(documents: Iterable[dict[str, Any]], override: OverrideEntry, where: str) -> None:
    """Replace one field in the parsed packs."""
    known = {
        target: (table, field)
        for document in documents
        for kind, entries in document.items()
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
        for target, table, field in _fields(entry, f"{kind}.{entry.get('id', entry.get('key'))}")
    }
    if override.target not in known:
        group = override.target.rpartition(".")[0]
        there = [name for name in known if name.startswith(f"{group}.")] or ["figure.io.ghz-rule.exact.value"]
        expected = f"KIND.ID.FIELD of a rule that exists, such as {', '.join(there[:5])}"
        hint = nearest(override.target, known)
        raise MalformedError(f"{where}: override of {override.target!r}: expected {expected}{hint}")
    table, field = known[override.target]
    table[field] = override.value


def _fields(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield each field below a table: the target that replaces it, and where it is."""
    for field, value in table.items():
        yield f"{prefix}.{field}", table, field
        if isinstance(value, dict):
            yield from _fields(value, f"{prefix}.{field}")


def _rules(documents: Mapping[str, dict[str, Any]], overrides: tuple[OverrideEntry, ...] = ()) -> Rules:
    sources: dict[str, SourceEntry] = {}
    figures: dict[str, FigureEntry] = {}
    others: dict[str, Entry] = {}
    packs = []
    for where, document in documents.items():
        try:
            pack = convert(document, Pack)
        except msgspec.ValidationError as error:
            raise MalformedError(f"{where}: expected sizeup.rules/1: {error}") from error
        packs.append(pack)
        _add(sources, pack.source, "source", where)
        _add(figures, pack.figure, "figure", where)
        _add(others, pack.architecture, "entry", where)
        _add(others, pack.entries, "entry", where)
    return Rules(tuple(packs), sources, figures, overrides)


def _add(into: dict[str, _Entry], entries: Iterable[_Entry], kind: str, where: str) -> None:
    for entry in entries:
        if entry.id in into:
            raise MalformedError(f"{where}: {kind} {entry.id!r} is there twice; ids are unique over all packs")
        into[entry.id] = entry


@cache
def shipped() -> Rules:
    """The packs that come with the program, as they are: the tests check them, and no start pays for that again."""
    return _rules({where: parse_toml(text, where, "TOML") for where, text in shipped_texts().items()})


def shipped_texts() -> dict[str, str]:
    """Name and text of each pack that comes with the program, in order of name."""
    # By path: importlib.resources takes longer to import than the packs to read.
    folder = Path(__file__).with_name("rules")
    return {f"rules/{path.name}": path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}
