"""Rule packs: dated, sourced TOML, checked as a whole before one figure of it is used.

A pack holds figures, defaults and sources; ``rules/*.toml`` ships with the program. A user's own file
overrides single fields by id, and what it changed stays visible as an override wherever it is used.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar

import msgspec

from sizeup.errors import MalformedError
from sizeup.model.advice import Source
from sizeup.quantity import Origin, Quantity
from sizeup.units import base_unit

MAXIMUM_AGE_DAYS = 365
"""A pack checked longer ago than this is still used, with a warning."""

Confidence = Literal["H", "M", "L", "C", "K"]


class SourceEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a rule was read."""

    id: str
    title: str
    confidence: Confidence
    url: str | None = None
    doc_date: date | None = None
    """Printed in the source; None where it prints none."""
    via: str | None = None
    """What was read instead of the vendor's own text; None when that itself was read."""


class FigureEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One number of a rule."""

    id: str
    title: str
    value: float
    unit: str
    source: str
    low: float | None = None
    high: float | None = None
    note: str = ""
    """A doubt that travels with the figure."""


class DefaultEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an input key is while nobody says otherwise; in the key's own spelling."""

    key: str
    value: str | int | float | bool
    source: str
    note: str = ""


class OverrideEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field of one entry replaced by the user."""

    target: str
    """``KIND.ID.FIELD``: ``figure.io.ghz-rule.exact.value``, ``product.oracle.ee.price.processor``."""
    value: str | int | float | bool
    reason: str
    date: date


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    """One file of rules."""

    format: Literal["sizeup.rules/1"]
    pack: str
    title: str
    checked: date
    """When the figures were last compared with their sources."""
    source: tuple[SourceEntry, ...]
    figure: tuple[FigureEntry, ...] = ()
    default: tuple[DefaultEntry, ...] = ()

    def age_days(self, today: date) -> int:
        """Days since the figures were last compared with their sources."""
        return (today - self.checked).days


_Shape = TypeVar("_Shape")
_Entry = TypeVar("_Entry", SourceEntry, FigureEntry)


class _UserFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.rules/1"]
    override: tuple[OverrideEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """All packs, by id."""

    packs: tuple[Pack, ...]
    sources: Mapping[str, SourceEntry]
    figures: Mapping[str, FigureEntry]
    overrides: tuple[OverrideEntry, ...] = ()

    def figure(self, figure_id: str) -> Quantity:
        """The figure in base units, with its rule's id as source."""
        entry = self.figures[figure_id]
        unit, scale = base_unit(entry.unit)
        override = self.override_of(f"figure.{figure_id}")
        doubts: tuple[str, ...] = (entry.note,) if entry.note else ()
        if override is not None:
            doubts += (f"overridden by the user on {override.date}: {override.reason}",)
        return Quantity(
            entry.value * scale,
            unit,
            Origin.RULE if override is None else Origin.USER,
            figure_id,
            low=None if entry.low is None else entry.low * scale,
            high=None if entry.high is None else entry.high * scale,
            doubts=doubts,
        )

    def override_of(self, entry: str) -> OverrideEntry | None:
        """The user's change of ``KIND.ID``, the last one where there are several; None where it is untouched."""
        return next((o for o in reversed(self.overrides) if o.target.startswith(f"{entry}.")), None)

    def source(self, source_id: str) -> Source:
        """A source as advice cites it."""
        entry = self.sources[source_id]
        return Source(
            entry.id,
            entry.title if entry.via is None else f"{entry.title} (read through: {entry.via})",
            None if entry.doc_date is None else entry.doc_date.isoformat(),
            entry.confidence,
            entry.url,
        )

    def warnings(self, today: date) -> tuple[str, ...]:
        """A sentence for each pack that was checked too long ago."""
        return tuple(
            f"rules of {pack.title!r} were last checked {pack.age_days(today)} days ago ({pack.checked}): "
            "look at their sources before relying on them"
            for pack in self.packs
            if pack.age_days(today) > MAXIMUM_AGE_DAYS
        )


def load(texts: Mapping[str, str], user: tuple[str, str] | None = None) -> Rules:
    """Read packs from TOML; ``texts`` maps where each stands to its text, ``user`` is the override file likewise.

    Refused, with the place: unknown keys, a repeated id, a figure without a known source, an override of
    something that does not exist.
    """
    documents = {where: _parse(text, where) for where, text in texts.items()}
    overrides: tuple[OverrideEntry, ...] = ()
    if user is not None:
        where, text = user
        overrides = _convert(_parse(text, where), _UserFile, where).override
        for override in overrides:
            _override(documents.values(), override, where)
    packs = tuple(_convert(document, Pack, where) for where, document in documents.items())
    return _merge(packs, tuple(documents), overrides)


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MalformedError(f"{where}: expected TOML: {error}") from error


def _convert(document: dict[str, Any], shape: type[_Shape], where: str) -> _Shape:
    try:
        return msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        raise MalformedError(f"{where}: expected sizeup.rules/1: {error}") from error


def _override(documents: Iterable[dict[str, Any]], override: OverrideEntry, where: str) -> None:
    """Replace one field in the parsed packs; ids hold dots, so the entry is the one whose id the target begins with."""
    kind, _, rest = override.target.partition(".")
    for document in documents:
        for entry in document.get(kind, ()):
            name = entry.get("id", entry.get("key"))
            if isinstance(name, str) and rest.startswith(f"{name}."):
                *parents, field = rest.removeprefix(f"{name}.").split(".")
                place = entry
                for parent in parents:
                    place = place.get(parent, {})
                if field in place:
                    place[field] = override.value
                    return
    raise MalformedError(
        f"{where}: override of {override.target!r}: expected KIND.ID.FIELD of a rule that exists, "
        "such as figure.io.ghz-rule.exact.value"
    )


def _merge(packs: tuple[Pack, ...], places: tuple[str, ...], overrides: tuple[OverrideEntry, ...]) -> Rules:
    sources: dict[str, SourceEntry] = {}
    figures: dict[str, FigureEntry] = {}
    for pack, where in zip(packs, places, strict=True):
        _add(sources, pack.source, "source", where)
        _add(figures, pack.figure, "figure", where)
        known = {entry.id for entry in pack.source}
        for entry in pack.figure:
            _require_source(f"figure {entry.id}", entry.source, known, where)
        for default in pack.default:
            _require_source(f"default {default.key}", default.source, known, where)
    return Rules(packs, sources, figures, overrides)


def _add(into: dict[str, _Entry], entries: Iterable[_Entry], kind: str, where: str) -> None:
    for entry in entries:
        if entry.id in into:
            raise MalformedError(f"{where}: {kind} {entry.id!r} is there twice; ids are unique over all packs")
        into[entry.id] = entry


def _require_source(what: str, source: str, known: set[str], where: str) -> None:
    if source not in known:
        raise MalformedError(f"{where}: {what}: expected the id of a [[source]] of this file, found {source!r}")


@cache
def shipped() -> Rules:
    """The packs that come with the program."""
    return load(shipped_texts())


@cache
def shipped_texts() -> dict[str, str]:
    """Name and text of each pack that comes with the program, in order of name."""
    folder = files("sizeup.sizing") / "rules"
    return {
        f"rules/{entry.name}": entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }
