"""Advice: one answer of sizing, with its working."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct, field

from sizeup.quantity import Origin, Quantity, Uncertainty, Words
from sizeup.text import capitalized


class Input(Struct, frozen=True):
    """A named figure that the advice was computed from."""

    key: str
    """The key a user can ``--set``, such as ``machine.ghz``, or the id of the rule that gave the figure."""
    quantity: Quantity | None
    """None for an input in words."""
    words: Words | None = None
    """None for a number."""
    shown_in: str = ""
    """The spelling of the unit that the key or the rule states its figure in, ``GHz`` or ``MiB``; empty for none."""


class Source(Struct, frozen=True):
    """Where a rule comes from."""

    id: str
    title: str
    date: str | None
    """Year, month or day printed in the source, as in ISO 8601; None when it has none."""
    confidence: str
    """``H``, ``M``, ``L``, ``C`` (computed) or ``K`` (not looked up)."""
    url: str | None = None


class Advice(Struct, frozen=True):
    """One figure or verdict."""

    id: str
    """Stable and dotted: ``io.demand.ghz-rule``."""
    title: str
    verdict: str
    """One sentence that stands alone, numbers and units included."""
    quantity: Quantity | None
    """None for a verdict without a figure."""
    working: tuple[str, ...]
    """The arithmetic, a line each, as a reader would redo it."""
    inputs: tuple[Input, ...]
    sources: tuple[Source, ...]
    caveats: tuple[str, ...] = ()
    shown_in: str = ""
    """The spelling of the unit that people of the field use for this figure, ``MB/s`` or ``MiB``; empty for none."""
    decision: str = ""
    """The answer as one word of a fixed set, ``short`` or ``balanced``, where the advice decides something."""


class OpenQuestion(Struct, frozen=True):
    """An input that is unknown, and without which an answer could not be given."""

    key: str
    """The key of the input."""
    calculation: str
    """The name of the calculation that needs it."""
    help: str
    """What the key means."""
    flag: str
    """How the key is set on the command line: ``--set machine.ghz=N``."""
    unused: str = ""
    """The figure that was measured, why it is not used, and what to do; empty where nothing was measured."""

    def sentence(self, enter: str = "") -> str:
        """Return what is unknown, why, and what to do: ``enter``, or else the option of the command line."""
        enter = enter or f"use {self.flag}"
        if self.unused:
            return f"{capitalized(self.calculation)}: unknown. {self.unused}, or {enter}"
        return (
            f"{capitalized(self.calculation)}: unknown, because an input is missing ({self.help}). {capitalized(enter)}"
        )


class StageUse(Struct, frozen=True):
    """One stage of a resource and the share of it that the demand takes."""

    name: str
    """``24 drives in RAID 10``."""
    share: float
    status: str = ""
    """The status by this stage alone: ``pass``, ``warn`` or ``fail``."""
    path: bool = False
    """Whether it is part of the paths, and not the drives or the storage as a whole."""
    origin: Origin | None = None
    """Where its capacity is from; ``RULE`` for one that was worked out from links or drives that somebody named."""
    unit: str = ""
    """``MB/s`` or ``IOPS``: what the share is of."""
    best: float = 0.0
    """The share of the upper end of its capacity; 0 where that is open."""
    worst: float | None = 0.0
    """The share of its lower end; None where that is 0, as a session has no number for what is infinite."""


class Failure(Struct, frozen=True):
    """A single failure and the share of what it leaves that the demand takes."""

    lost: str
    """``one of 24 drives``."""
    share: float | None
    """None where nothing is left."""
    last_year: float | None = None
    """The same in the last year of the horizon; None without a horizon."""


class Bounds(Struct, frozen=True):
    """A figure with its ends, in base units: each reason moved one of them."""

    value: float
    low: float
    high: float | None
    """None where it is open."""
    reasons: tuple[Uncertainty, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether both ends are the figure itself."""
        return self.low == self.value == self.high


class ShareFacts(Struct, frozen=True):
    """What a demand was held against."""

    demand: Bounds
    capacity: Bounds
    unit: str
    """The spelling in which both are shown: ``MB/s``."""
    whole: float | None = None
    """The capacity of which the chosen edition uses this part; None where all of it counts."""
    bottleneck: str = ""
    """What limits it: ``24 drives in RAID 10``; empty where the resource has no parts."""
    by_rule: bool = False
    """Whether the demand is that of a rule of thumb."""
    per_server: bool = False
    """Whether both are those of one server of a cluster."""


class Card(Struct, frozen=True):
    """One resource of a machine against its demand: what a reader decides from."""

    resource: str
    """``storage``, ``space``, ``cpu``, ``memory``, ``network`` or ``license``."""
    status: str
    """``pass``, ``warn``, ``fail``, ``assumed`` (would pass, but rests on an unchosen default) or ``unknown``."""
    statement: str = ""
    """One sentence that stands alone: demand, capacity, and what limits it."""
    detected: str = ""
    """The capacity by what was detected or set."""
    measured: str = ""
    demand: str = ""
    share: float | None = None
    """Demand over capacity today; None where one of them is unknown."""
    n_plus_one: float | None = None
    """The same after the worst single failure; None where nothing is left (an outage), or where that is unknown."""
    last_year: float | None = None
    """The same as ``share`` in the last year of the horizon; None without a horizon."""
    horizon_years: float = 0.0
    advice: str = ""
    """Id of the advice that holds the working; empty where there is none."""
    assumptions: tuple[str, ...] = ()
    """What nobody chose, with what is to be known of it, a sentence each."""
    notes: tuple[str, ...] = ()
    """What was not judged and what else a reader must know; in files of format 1 the two others as well."""
    later: tuple[str, ...] = ()
    """What ``failures`` and ``exceeded_in`` hold as figures: what has no second, and what is exceeded in which year."""
    stages: tuple[StageUse, ...] = ()
    """Every stage whose capacity is known, the bottleneck first; empty where the resource has no stages."""
    failures: tuple[Failure, ...] = ()
    """The largest single failure of each stage, the worst first; empty where none is known."""
    exceeded_in: int | None = None
    """The first year of the horizon in which the demand exceeds the capacity, 0 for today; None where none is."""
    limit: float = 1.0
    """The share from which on the resource fails."""
    assumed: tuple[str, ...] = ()
    """The defaults that nobody chose and that the verdict rests on."""
    not_judged: str = ""
    """What of the resource was not judged: ``the disks``; empty where all of it was."""
    unmeasured: tuple[str, ...] = ()
    """What the workload needs beside a capacity and no measurement tells yet: ``p99 latency``."""
    needs: str = ""
    """The capacity that would pass, with the limit: ``234 MB/s (limit 70 %)``; empty where it passes."""
    decides: str = ""
    """What to do to decide what is not certain, a sentence without its end; empty where it is certain."""
    facts: ShareFacts | None = None
    """What the statement says, as values; None where demand or capacity is unknown, and in files of format 1."""

    @property
    def ends(self) -> tuple[float, float]:
        """Today's share at best and at worst, by the ends of both; the share itself where they are exact."""
        share, facts = self.share or 0.0, self.facts
        if facts is None or (facts.demand.exact and facts.capacity.exact):
            return share, share
        demand, found = facts.demand, facts.capacity
        worst = math.inf if demand.high is None or not found.low else demand.high / found.low
        return (0.0 if found.high is None else demand.low / found.high), worst

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything beside the statement: assumptions, notes, and what comes later."""
        return tuple(dict.fromkeys((*self.assumptions, *self.notes, *self.later)))

    @property
    def is_open(self) -> bool:
        """Whether there is a demand and its share of the capacity is unknown."""
        return bool(self.demand) and self.share is None

    @property
    def outage(self) -> bool:
        """Whether a single failure leaves nothing."""
        return any(one.share is None for one in self.failures)


class AdviceSet(Struct, frozen=True):
    """All advice of one calculation, and which rules it follows."""

    advice: tuple[Advice, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    unused: Mapping[str, str] = field(default_factory=dict)
    """Figures that were measured and not used, by key: which, why, and what to do."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """Rule packs and the day that each was last checked, as in ISO 8601."""
    cards: tuple[Card, ...] = ()
    """One for each resource, worst first; empty in sessions of versions that recorded none."""

    def lacks(self, calculation: str) -> str:
        """Return the key of the input that a calculation lacks; empty where it lacks none."""
        return next((one.key for one in self.questions if one.calculation == calculation), "")

    def find(self, advice_id: str) -> Advice | None:
        """Return the advice of that id; None where it could not be given."""
        return next((advice for advice in self.advice if advice.id == advice_id), None)
