"""Rule packs: dated, sourced TOML, checked as a whole before one figure of it is used.

A pack holds figures, defaults and sources; ``rules/*.toml`` ships with the program. A user's own file
overrides single fields by id, and what it changed stays visible as an override wherever it is used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

import msgspec
import tomli
from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import MalformedError, UsageError
from sizeup.model.advice import Source
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.formula import Formula, parse_formula
from sizeup.sizing.keys import find
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
    doc_date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}(-\d{2}){0,2}$")] | None = None
    """Year, month or day printed in the source; None where it prints none."""
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
    """A caveat that travels with the figure."""


class DefaultEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an input key is while nobody says otherwise; in the key's own spelling."""

    key: str
    value: str | int | float | bool
    source: str
    note: str = ""


class FactorEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one kind of processor counts in a table of factors; the first entry that matches decides."""

    id: str
    table: str
    """``oracle.core_factor``, ``ibm.pvu``."""
    title: str
    value: float
    source: str
    low: float | None = None
    """With ``high``: the processor's name alone does not settle it, and both ends are shown."""
    high: float | None = None
    model: str | None = None
    """Regular expression found anywhere in the processor's name, whatever its case; None matches every name."""
    sockets_above: int = 0
    """Only machines with more sockets than this."""
    unknown: bool = False
    """The last resort for a name that nothing else matches: it is flagged, never taken silently."""
    note: str = ""


class MetricEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one unit of license is counted."""

    id: str
    """``oracle.processor``: the pack's prefix and the name that formulas of the pack use."""
    title: str
    unit: str
    formulas: dict[str, str]
    """By scope (``bare``, ``vm``, ``hard``, ``soft``, ``cloud``), for one server."""
    source: str
    per: Literal["server", "whole"] = "server"
    """``whole``: the formula counts all servers at once."""
    minimum_order: float = 0
    """Least that one order holds, whatever the machine."""
    notes: dict[str, str] = {}
    """Caveats by scope: what conflicts between sources, or must be true for the rule to hold."""


class ProductEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something with a price."""

    id: str
    """``oracle.ee``."""
    title: str
    metric: str
    """The one it is counted in unless the user chooses another: ``processor``."""
    source: str
    price: dict[str, float] = {}
    """USD a unit before discount, by metric; empty where no price is public."""
    price_low: dict[str, float] = {}
    price_high: dict[str, float] = {}
    support_percent: float = 0
    """Of the net license, a year."""
    yearly: bool = False
    """The price is a year's subscription, not a license for good."""
    option_of: tuple[str, ...] = ()
    """Products it can be added to, counted as they are."""
    allowed_if: str = ""
    """Formula that is not 0 where the product may be used; empty for everywhere."""
    allowed_why: str = ""
    note: str = ""


class LimitEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a product can use of a machine, or a count of users at which prices break even."""

    id: str
    product: str
    title: str
    formula: str
    unit: str
    source: str
    of: str = ""
    """Formula of what the machine has; more than the limit is out of the product's reach."""
    note: str = ""


class TestEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that the pack must give: it rides with the data, so that a changed rule shows what it changed."""

    set: dict[str, str | int | float]
    """Keys of ``--set``, and nothing else is known."""
    figure: str
    """Id of the advice."""
    value: float
    unit: str


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
    factor: tuple[FactorEntry, ...] = ()
    metric: tuple[MetricEntry, ...] = ()
    product: tuple[ProductEntry, ...] = ()
    limit: tuple[LimitEntry, ...] = ()
    break_even: tuple[LimitEntry, ...] = ()
    test: tuple[TestEntry, ...] = ()

    @property
    def prefix(self) -> str:
        """What the ids of its metrics and products begin with; formulas leave it away."""
        return self.metric[0].id.partition(".")[0] if self.metric else self.pack

    def find_metric(self, name: str) -> MetricEntry | None:
        """The metric that formulas call ``name``; None where the pack has none."""
        return next((metric for metric in self.metric if short(metric.id) == name), None)

    def find_product(self, name: str) -> ProductEntry | None:
        """The product that users call ``name``; None where the pack has none."""
        return next((product for product in self.product if short(product.id) == name), None)

    def age_days(self, today: date) -> int:
        """Days since the figures were last compared with their sources."""
        return (today - self.checked).days


_Shape = TypeVar("_Shape")
_Entry = TypeVar("_Entry", bound="_Identified")


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


class _Sourced(_Identified, Protocol):
    @property
    def source(self) -> str: ...


def short(entry_id: str) -> str:
    """The name of a metric or product inside its pack: ``processor`` of ``oracle.processor``."""
    return entry_id.partition(".")[2]


class _UserFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.rules/1"]
    override: tuple[OverrideEntry, ...] = ()


class Rules(Struct, frozen=True, eq=False):
    """All packs, by id; one set of rules is equal only to itself."""

    packs: tuple[Pack, ...]
    sources: Mapping[str, SourceEntry]
    figures: Mapping[str, FigureEntry]
    formulas: Mapping[str, Formula]
    """Every checked formula by its text."""
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
        quantity = Quantity(
            entry.value * scale,
            unit,
            Origin.RULE,
            figure_id,
            low=None if entry.low is None else entry.low * scale,
            high=None if entry.high is None else entry.high * scale,
            caveats=(entry.note,) if entry.note else (),
        )
        return self.marked(quantity, f"figure.{figure_id}")

    def marked(self, quantity: Quantity, entry: str) -> Quantity:
        """The quantity of the entry ``KIND.ID``, shown as the user's where the user changed it."""
        override = self.override_of(entry)
        if override is None:
            return quantity
        caveat = f"overridden by the user on {override.date}: {override.reason}"
        return replace(quantity, origin=Origin.USER, caveats=(*quantity.caveats, caveat))

    def override_of(self, entry: str) -> OverrideEntry | None:
        """The user's change of ``KIND.ID``, the last one where there are several; None where it is untouched."""
        return next((o for o in reversed(self.overrides) if o.target.startswith(f"{entry}.")), None)

    def source(self, source_id: str) -> Source:
        """A source as advice cites it."""
        entry = self.sources[source_id]
        return Source(
            entry.id,
            entry.title if entry.via is None else f"{entry.title} (read through: {entry.via})",
            entry.doc_date,
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
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
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
    formulas: dict[str, Formula] = {}
    others: dict[str, _Identified] = {}
    for pack, where in zip(packs, places, strict=True):
        _add(sources, pack.source, "source", where)
        _add(figures, pack.figure, "figure", where)
        known = {entry.id for entry in pack.source}
        sourced: tuple[_Sourced, ...] = (
            *pack.figure,
            *pack.factor,
            *pack.metric,
            *pack.product,
            *pack.limit,
            *pack.break_even,
        )
        for entry in sourced:
            _require_source(entry.id, entry.source, known, where)
        for default in pack.default:
            _require_source(f"default {default.key}", default.source, known, where)
        for entries in (pack.factor, pack.metric, pack.product, pack.limit, pack.break_even):
            _add(others, entries, "entry", where)
        _check_numbers(pack, where)
        _check_defaults(pack, where)
        formulas |= _formulas(pack, where)
        _refuse_cycles(pack, formulas, where)
        _check_patterns(pack, where)
    return Rules(packs, sources, figures, formulas, overrides)


def _check_numbers(pack: Pack, where: str) -> None:
    """Every number is finite, and lies in its own range."""
    ranges = [(figure.id, figure.value, figure.low, figure.high) for figure in pack.figure]
    ranges += [(factor.id, factor.value, factor.low, factor.high) for factor in pack.factor]
    ranges += [
        (f"{product.id}, {metric}", value, product.price_low.get(metric), product.price_high.get(metric))
        for product in pack.product
        for metric, value in product.price.items()
    ]
    for name, value, low, high in ranges:
        ends = [value if end is None else end for end in (low, value, high)]
        if not all(math.isfinite(end) for end in ends) or ends != sorted(ends):
            raise MalformedError(f"{where}: {name}: expected low <= value <= high, all finite, found {ends}")


def _check_defaults(pack: Pack, where: str) -> None:
    """Every default is a key with a value that ``--set`` would take."""
    for default in pack.default:
        try:
            find(default.key, default.source).parse(str(default.value), Origin.RULE, default.source)
        except UsageError as error:
            raise MalformedError(f"{where}: default: {error}") from error


def _formulas(pack: Pack, where: str) -> dict[str, Formula]:
    """Every formula of a pack, checked."""
    texts: list[tuple[str, str]] = []
    for metric in pack.metric:
        texts += [(f"{where}: metric {metric.id}, {scope}", text) for scope, text in metric.formulas.items()]
    texts += [(f"{where}: product {product.id}", product.allowed_if) for product in pack.product if product.allowed_if]
    for entry in (*pack.limit, *pack.break_even):
        texts += [(f"{where}: {entry.id}", text) for text in (entry.formula, entry.of) if text]
    return {text: parse_formula(text, place) for place, text in texts}


def _refuse_cycles(pack: Pack, formulas: Mapping[str, Formula], where: str) -> None:
    """Metrics may build on each other, and must end somewhere."""
    graph = {
        short(metric.id): {name for text in metric.formulas.values() for name in formulas[text].names}
        for metric in pack.metric
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        path = " -> ".join(error.args[1])
        raise MalformedError(f"{where}: expected metrics that end in inputs, found a cycle: {path}") from error


def _check_patterns(pack: Pack, where: str) -> None:
    for factor in pack.factor:
        try:
            re.compile(factor.model or "", re.IGNORECASE)
        except re.error as error:
            raise MalformedError(f"{where}: factor {factor.id}: expected a regular expression: {error}") from error


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
    # By path: importlib.resources takes longer to import than the packs to read.
    folder = Path(__file__).with_name("rules")
    return {f"rules/{path.name}": path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}
