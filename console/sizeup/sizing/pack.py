"""The shape of a rule pack: dated, sourced figures, factors, metrics, products and limits."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import msgspec

Confidence = Literal["H", "M", "L", "C", "K"]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a pack holds under a name of its own."""

    id: str
    """Unique over all packs: ``x86``; of a metric or product the pack's prefix and its short name: ``oracle.ee``."""


class SourcedEntry(Entry, frozen=True):
    """A rule, and where it was read."""

    source: str


class SourceEntry(Entry, frozen=True):
    """Where a rule was read."""

    title: str
    confidence: Confidence
    url: Annotated[str, msgspec.Meta(pattern=r"^(https?://\S+|no public URL)$")] | None = None
    doc_date: Annotated[str, msgspec.Meta(pattern=r"^(\d{4}(-\d{2}){0,2}|undated)$")] | None = None
    """Year, month or day printed in the source; ``undated`` where it prints none."""
    via: str | None = None
    """What was read instead of the vendor's own text; None when that itself was read."""

    @property
    def date(self) -> str | None:
        """The date printed in the source; None where there is none."""
        return None if self.doc_date == "undated" else self.doc_date

    @property
    def address(self) -> str | None:
        """Where the source is; None where no public address is known."""
        return None if self.url == "no public URL" else self.url


class FigureEntry(SourcedEntry, frozen=True):
    """One number of a rule."""

    title: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    note: str = ""
    """A caveat that travels with the figure."""
    variant: str = ""
    """How it differs from the figure that counts, where a family of figures has several: ``rounded as published``."""


class DefaultEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The default of an input key, in the key's own unit."""

    key: str
    value: str | int | float | bool
    source: str
    note: str = ""


class FactorEntry(SourcedEntry, frozen=True):
    """What one kind of processor counts in a table of factors; the first entry that matches decides."""

    table: str
    """``oracle.core_factor``, ``ibm.pvu``."""
    title: str
    value: float
    low: float | None = None
    """With ``high``: the processor's name alone is ambiguous, and both ends are shown."""
    high: float | None = None
    model: str | None = None
    """Regular expression found anywhere in the processor's name, whatever its case; None matches every name."""
    sockets_above: int = 0
    """Only servers that are built for more sockets than this."""
    assumed: bool = False
    """The name does not tell it: the count rests on the note."""
    note: str = ""


class MetricEntry(SourcedEntry, frozen=True):
    """How one unit of license is counted."""

    title: str
    unit: str
    formulas: dict[str, str]
    """By scope (``bare``, ``vm``, ``hard``, ``soft``, ``cloud``), for one server."""
    per: Literal["server", "pool", "whole"] = "server"
    """``whole``: the formula counts all servers at once; ``pool``: it is rounded once, unless told otherwise."""
    beside: str = ""
    """Price of what every server needs besides these units, as the products name it: ``server``; empty for nothing."""
    minimum_order: float = 0
    """Least that one order holds, whatever the machine."""
    least: str = ""
    """The minimum that the formulas hold users to: ``25 a processor``; empty for none."""
    notes: dict[str, str] = {}
    """Caveats by scope: what conflicts between sources, or must be true for the rule to hold."""


class PriceTier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The price on larger servers, in place of the product's own."""

    sockets_above: int
    price: dict[str, float]
    note: str = ""


class ProductEntry(SourcedEntry, frozen=True):
    """A product, edition or option with its price."""

    title: str
    metric: str
    """The one it is counted in unless the user chooses another: ``processor``."""
    metrics: tuple[str, ...] = ()
    """Others that it can be counted in; those with a price can be, too."""
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
    requires: tuple[str, ...] = ()
    """Options without which this one may not be used."""
    shares_load: bool = False
    """Whether several servers open one database with it at once; else one carries the load, and others take over."""
    for_clusters: bool = False
    """An option that several servers with one database need."""
    cluster_note: str = ""
    """What this product means on several servers, where it has no option for them."""
    lesser_of: str = ""
    """The fuller edition, which this one is compared with; empty where there is none."""
    lacks: str = ""
    """What the fuller edition has and this one does not: a clause after the title."""
    tier: tuple[PriceTier, ...] = ()
    """By rising number of sockets."""
    note: str = ""
    price_note: str = ""
    """What its price is worth: a clause after "the list price of X "."""
    price_note_version: str = ""
    """The version that the note is about; empty for all."""
    brief: str = ""
    """A name for narrow places, ``EE``; empty for the title."""

    @property
    def is_free(self) -> bool:
        """Whether its use costs nothing, so that no licenses are bought."""
        return bool(self.price) and not any(self.price.values())


class ArchitectureEntry(Entry, frozen=True):
    """A kind of processor, recognized by its name."""

    model: str
    """Regular expression found anywhere in the processor's name, whatever its case; the first that matches decides."""
    threads: int
    """The most threads of a core."""


class PlatformEntry(SourcedEntry, frozen=True):
    """The processors that products run on."""

    architectures: tuple[str, ...]
    """Ids of architectures; a processor of none of them, or one that no pattern names, is not judged."""
    why: str
    """The rule, after "does not run on this server:"."""
    products: tuple[str, ...] = ()
    """Empty for every product of the pack."""


class ConditionEntry(SourcedEntry, frozen=True):
    """Where the vendor permits a product."""

    product: str
    """Empty for every product of the pack."""
    formula: str
    """Not 0 where the product may be used."""
    why: str
    """The rule, after "is not permitted on this server:"."""
    sure: str = ""
    """A stricter formula, where sources differ: what it refuses is assumed to be permitted. Empty where they agree."""
    scopes: tuple[str, ...] = ()
    """Where the rule holds; empty for everywhere."""


class PartitionEntry(SourcedEntry, frozen=True):
    """Partitions that limit the count where they have processors of their own or a cap: the user says which."""

    title: str
    hypervisors: tuple[str, ...]
    """What discovery calls what these partitions run under: ``phyp``."""
    architectures: tuple[str, ...]
    """Processors that a guest has such a partition of where nothing names what it runs under."""
    note: str = ""
    """A caveat: on what the limited count rests."""


class FailoverEntry(SourcedEntry, frozen=True):
    """Servers of a cluster that need no licenses as long as they only take over."""

    products: tuple[str, ...]
    unlicensed: int
    """How many of them at most."""
    why: str
    """The rule as a clause."""
    with_support: bool = False
    """Only where support is bought."""
    note: str = ""
    """A caveat: what the rule asks for besides."""


class LimitEntry(SourcedEntry, frozen=True):
    """What a product can use of a machine, or a count of users at which prices break even."""

    product: str
    title: str
    formula: str
    unit: str
    of: str = ""
    """Formula of what the machine has; more than the limit is out of the product's reach."""
    scopes: tuple[str, ...] = ()
    """Where the limit holds; empty for everywhere."""
    version: str = ""
    """The version of the product that it is about, ``2025``; empty for every version."""
    note: str = ""
    with_sessions: bool = False
    """Of memory: the private memory of sessions counts within the limit, too."""


class TestEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that the pack must give: it rides with the data, so that a changed rule shows what it changed."""

    set: dict[str, str | int | float]
    """Keys of ``--set``, and nothing else is known."""
    figure: str
    """Id of the advice."""
    value: float
    unit: str


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
    architecture: tuple[ArchitectureEntry, ...] = ()
    platform: tuple[PlatformEntry, ...] = ()
    condition: tuple[ConditionEntry, ...] = ()
    partition: tuple[PartitionEntry, ...] = ()
    failover: tuple[FailoverEntry, ...] = ()
    limit: tuple[LimitEntry, ...] = ()
    break_even: tuple[LimitEntry, ...] = ()
    test: tuple[TestEntry, ...] = ()
    soft_hypervisors: tuple[str, ...] = ()
    """What the names of hypervisors begin with whose partitions the vendor never accepts as hard, without hyphens."""
    cloud: str = "cloud"
    """What the vendor calls the clouds that its rules are about."""
    aliases: dict[str, tuple[str, ...]] = {}
    """By this pack's name or a product's: what else people call it, which a refusal of that name proposes."""

    @property
    def prefix(self) -> str:
        """What the ids of its metrics and products begin with; formulas leave it away."""
        return self.metric[0].id.partition(".")[0] if self.metric else self.pack

    @property
    def entries(self) -> tuple[SourcedEntry, ...]:
        """All entries but figures and defaults that name their source."""
        counted: tuple[SourcedEntry, ...] = (*self.factor, *self.metric, *self.product, *self.platform, *self.condition)
        return (*counted, *self.partition, *self.failover, *self.limit, *self.break_even)

    def find_metric(self, name: str) -> MetricEntry | None:
        """The metric that formulas call ``name``; None where the pack has none."""
        return next((metric for metric in self.metric if short(metric.id) == name), None)

    def find_product(self, name: str) -> ProductEntry | None:
        """The product that users call ``name``; None where the pack has none."""
        return next((product for product in self.product if short(product.id) == name), None)

    def age_days(self, today: date) -> int:
        """Days since the figures were last compared with their sources."""
        return (today - self.checked).days


def short(entry_id: str) -> str:
    """The name of a metric or product inside its pack: ``processor`` of ``oracle.processor``."""
    return entry_id.partition(".")[2]
