"""Verdicts: the share of a capacity that a demand takes, judged by the limits of the rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, Bounds, Card, Failure, ShareFacts, StageUse
from sizeup.quantity import Quantity, Uncertainty
from sizeup.sizing.sheet import Sheet, in_unit
from sizeup.sizing.workload import Growth
from sizeup.text import capitalized, uncapitalized
from sizeup.units import base_unit, format_in


class ShareStatus(Enum):
    """What a share of capacity means, worst first."""

    FAIL = "fail"
    WARN = "warn"
    UNCERTAIN = "uncertain"
    """The limit lies between the ends of what is known."""
    ASSUMED = "assumed"
    """Rests on a default that nobody chose."""
    PASS = "pass"  # noqa: S105  a verdict, and no password
    UNKNOWN = "unknown"
    """No demand, or no capacity."""


RESOURCES = ("storage", "space", "cpu", "memory", "network", "license")
"""The order among cards of one status."""
RESOURCE_NAMES = {name: name for name in RESOURCES} | {"cpu": "CPU"}
"""Resources as sentences name them."""
WORST_FIRST = tuple(ShareStatus)


class Shares(Struct, frozen=True):
    """Demand over capacity: today, after the worst single failure, and as it grows."""

    today: float
    n_plus_one: float | None = None
    """None where nothing can be lost, where nothing is left after it, or where the remaining capacity is unknown."""
    growth: Growth = Growth()
    outage: bool = False
    """Whether a single failure leaves nothing."""
    growth_after: Growth | None = None
    """Growth after the failure, where it changes what grows; None where it is the same."""

    @property
    def last_year(self) -> float | None:
        """The share at the end of the horizon; None without one."""
        return self.growth.grown(self.today) if self.growth.years else None

    @property
    def n_plus_one_last_year(self) -> float | None:
        """The share after the worst single failure at the end of the horizon; None without one of both."""
        return self.after.grown(self.n_plus_one) if self.growth.years and self.n_plus_one is not None else None

    @property
    def after(self) -> Growth:
        """The growth that applies after a failure."""
        return self.growth if self.growth_after is None else self.growth_after


class ShareLimits(Struct, frozen=True):
    """Up to which share of capacity a resource passes, and from where on it fails."""

    passes: float
    fails: float
    survives: bool = False
    """Whether the user requires that every single failure leaves enough: too little fails then."""

    def status(self, shares: Shares) -> ShareStatus:
        """Judge what is asked for, today and to the end of the horizon; a failure that leaves too little warns."""
        lost = shares.outage or self._exceeded((shares.n_plus_one, shares.n_plus_one_last_year))
        if self._exceeded((shares.today, shares.last_year)) or (self.survives and lost):
            return ShareStatus.FAIL
        return ShareStatus.WARN if shares.today > self.passes or lost else ShareStatus.PASS

    def _exceeded(self, shares: Iterable[float | None]) -> bool:
        return any(share is not None and share > self.fails for share in shares)

    def decided(self, best: Shares, worst: Shares | None) -> ShareStatus:
        """Judge both ends; where they differ and the limit lies between them the status is not certain.

        ``worst`` is None where nothing bounds the capacity from below.
        """
        if self.status(best) is ShareStatus.FAIL:
            return ShareStatus.FAIL
        at_worst = ShareStatus.FAIL if worst is None else self.status(worst)
        return ShareStatus.UNCERTAIN if at_worst is ShareStatus.FAIL else at_worst


class Judgment(Struct, frozen=True):
    """What the ends of a capacity and of its demands decide."""

    status: ShareStatus
    shares: Shares
    """At the values themselves."""
    best: float
    worst: float
    """Today's share at the ends; infinite where nothing bounds it."""
    uncertainties: tuple[Uncertainty, ...] = ()
    """What moved the ends, those first that decide."""
    defaults: tuple[Uncertainty, ...] = ()
    """The ends of defaults at which the status would be another one, each default once."""

    def clauses(self, facts: ShareFacts) -> list[str]:
        """Return the ends where they decide, and the defaults that do, a clause each."""
        defaults = [f"assumed: {'; '.join(one.reason for one in self.defaults)}"] if self.defaults else []
        today, fails = self.shares.today, self.status is ShareStatus.FAIL
        end = self.best if fails else self.worst
        if not self.uncertainties or (
            end == today and (self.status is not ShareStatus.UNCERTAIN or self.best == today)
        ):
            return defaults
        return [f"{self._span(facts, at_best=fails or end == today)}: {self.uncertainties[0].reason}", *defaults]

    def later(self, bounds: ShareLimits) -> list[str]:
        """Return the share at the worst end in the last year, where that alone leaves the status open."""
        growth, is_open = self.shares.growth, self.status is ShareStatus.UNCERTAIN and self.worst <= bounds.fails
        last = growth.grown(self.worst) if is_open and growth.years else 0.0
        return [f"up to {share_text(last)} in year {format_in(growth.years, '')}"] if last > bounds.fails else []

    def _span(self, facts: ShareFacts, *, at_best: bool) -> str:
        """Return what is certain of a capacity, or between which ends the share lies."""
        best, worst, low = share_text(self.best), share_text(self.worst), facts.capacity.low
        if at_best:
            less = "at least" if self.status is ShareStatus.FAIL else "as low as"
            return f"{less} {best}" if self.best else "perhaps less, as the capacity is open"
        if self.worst == math.inf:
            return "none of it certain"
        if low < facts.capacity.value:
            certain = amount_text(exactly(low), facts.unit)
            is_open = self.status is ShareStatus.UNCERTAIN
            return f"{certain} are certain" if is_open else f"at most {worst} of the {certain} that are certain"
        return f"up to {worst}" if self.best == self.shares.today else f"{best} to {worst}"


def decide(bounds: ShareLimits, shares: Callable[..., Shares], capacity: Quantity, *demands: Quantity) -> Judgment:
    """Judge demands against a capacity at their ends; ``shares`` are those of amounts of the capacity and of each.

    A default counts as its value, and is named where the status would be another one at its end.
    """
    figures = (capacity, *demands)
    spans = [_span(one) for one in figures]
    best, worst = _at_ends(shares, spans)
    status = bounds.decided(best, worst)
    deciding, others, defaults = list[Uncertainty](), list[Uncertainty](), dict[str, Uncertainty]()
    for place, one in enumerate(figures):
        for uncertainty in one.uncertainties:
            end = math.inf if uncertainty.end is None else uncertainty.end
            left = _span(
                replace(one, uncertainties=tuple(other for other in one.uncertainties if other is not uncertainty))
            )
            other = [*spans[:place], (end, end) if uncertainty.default else left, *spans[place + 1 :]]
            changes = bounds.decided(*_at_ends(shares, other)) is not status
            if not uncertainty.default:
                (deciding if changes else others).append(uncertainty)
            elif changes:
                defaults.setdefault(uncertainty.reason, uncertainty)
    return Judgment(
        status,
        shares(*(one.value for one in figures)),
        best.today,
        math.inf if worst is None else worst.today,
        (*deciding, *others),
        tuple(defaults.values()),
    )


def _span(figure: Quantity) -> tuple[float, float]:
    return figure.least, math.inf if figure.most is None else figure.most


def _at_ends(shares: Callable[..., Shares], spans: Sequence[tuple[float, float]]) -> tuple[Shares, Shares | None]:
    """Return the shares at the best and at the worst ends; no worst where nothing bounds them."""
    (least, most), *demands = spans
    low, high = ([pair[place] for pair in demands] for place in (0, 1))
    best = shares(most, *low) if most and math.inf not in low else Shares(math.inf)
    return best, shares(least, *high) if least and math.inf not in high else None


def bounds_of(*parts: Quantity) -> Bounds:
    """Return a sum with its ends."""
    low, high = (sum(ends) for ends in zip(*map(_span, parts), strict=True))
    return Bounds(sum(one.value for one in parts), low, high if high < math.inf else None)


def limits(sheet: Sheet) -> ShareLimits:
    """Return the limits, which a user can override as rules."""
    passes, fails = (sheet.rule(f"share.{name}").value * (1 + 1e-9) for name in ("pass-to", "fail-above"))  # 1.3**2
    policy = sheet.optional_words("policy.n_plus_one")
    return ShareLimits(passes, fails, policy == "required")


def amount_text(figure: Bounds, unit: str, digits: int = 4) -> str:
    """Return a figure with its unit, from its lower to its upper end: ``8.64 to 17.3 cores``."""
    low, high = (in_unit(end, unit, digits) for end in (figure.low, figure.low if figure.high is None else figure.high))
    text = format_in(high * base_unit(unit)[1], unit)
    if figure.high is None:
        return f"{text} or more"
    return f"{format_in(low, '')} to {text}" if high > low else text


_COUNTED = {"cores": 12}
"""Units of capacities that are counted: with all their digits."""


def demand_text(facts: ShareFacts) -> str:
    """Return a demand with its unit."""
    return amount_text(facts.demand, facts.unit, 3 if facts.unit in _COUNTED else 4)


def capacity_text(facts: ShareFacts) -> str:
    """Return a capacity, and where an edition uses a part of it of how much: ``16 of 32 cores``."""
    digits = _COUNTED.get(facts.unit, 4)
    if facts.whole is None:
        return amount_text(exactly(facts.capacity.value), facts.unit, digits)
    used = in_unit(facts.capacity.value, facts.unit, digits)
    return f"{format_in(used, '')} of {amount_text(exactly(facts.whole), facts.unit, digits)}"


def exactly(value: float) -> Bounds:
    """Return a figure both ends of which are its value."""
    return Bounds(value, value, value)


def statement(
    subject: str, facts: ShareFacts, clause: str, *, label: str = "", limited: Sequence[str] = (), not_judged: str = ""
) -> str:
    """Return the verdict on a resource: demand, capacity, the share of it, and what part of it limits."""
    bottleneck = f"{label}{facts.bottleneck}" if facts.bottleneck not in ("", uncapitalized(subject)) else ""
    within = "; ".join((", ".join(filter(None, (clause, bottleneck))), *limited))
    rule = " by rule of thumb" if facts.by_rule else ""
    each = " per server" if facts.per_server else ""
    rest = f"; {not_judged} are not judged" if not_judged else ""
    return f"{subject}: {demand_text(facts)} demand{rule}{each}, {capacity_text(facts)} capacity ({within}){rest}"


def decided_card(
    resource: str,
    found: Judgment,
    bounds: ShareLimits,
    facts: ShareFacts,
    *,
    subject: str = "",
    clause: str = "",
    label: str = "",
    advice: str = "",
    failures: Sequence[Failure] = (),
    limited: Sequence[str] = (),
    notes: Iterable[str] = (),
    stages: Sequence[StageUse] = (),
    assumed: Sequence[str] = (),
    not_judged: str = "",
    unmeasured: Sequence[str] = (),
    kept: float = 0.0,
) -> Card:
    """Return the card of a resource whose ends were judged, with what would decide where they do not.

    ``kept`` is what other programs keep of a memory, however large it is.
    """
    said_later = *later_clauses(found.shares, bounds, failures), *found.later(bounds)
    clause = clause or ", ".join((share_text(found.shares.today), *said_later))
    subject, limited = subject or capitalized(RESOURCE_NAMES[resource]), (*limited, *found.clauses(facts))
    said = statement(subject, facts, clause, label=label, limited=limited, not_judged=not_judged)
    unsettled = found.uncertainties[:1] if found.status is ShareStatus.UNCERTAIN else ()
    decides = "".join(one.action for one in unsettled)
    said += f". {decides} to decide" if decides else ""
    together = [f"assumed: {'; '.join(assumed)}"] if assumed else []
    alone = [f"assumed: {one.reason}{f'. {one.action}' if one.action else ''}" for one in found.defaults]
    assumed = [*assumed, *(one.reason for one in found.defaults)]
    status, shares = found.status, found.shares
    if assumed and status is ShareStatus.PASS:
        status = ShareStatus.ASSUMED
    beyond = _beyond(shares, bounds, failures) if shares.today <= bounds.fails else []
    texts = [*filter(None, [growth_text(shares, bounds.fails)]), *beyond]
    later = [f"{RESOURCE_NAMES[resource]}: {text}" for text in texts]
    later += [f"nothing is left after losing {one.lost}" for one in failures if one.share is None]
    each = " per server" if facts.per_server else ""
    by = f" ({facts.bottleneck})" if facts.bottleneck else ""
    bad = status in (ShareStatus.WARN, ShareStatus.FAIL) and facts.whole is None  # more is no help to an edition
    return Card(
        resource,
        status.value,
        capitalized(said),
        detected=f"{capacity_text(facts)}{each}{by}",
        demand=demand_text(facts),
        share=shares.today,
        n_plus_one=shares.n_plus_one,
        last_year=shares.last_year,
        horizon_years=shares.growth.years,
        advice=advice or f"verdict.{resource}",
        assumptions=tuple(map(capitalized, (*together, *alone))),
        notes=tuple(map(capitalized, notes)),
        later=tuple(map(capitalized, later)),
        stages=tuple(sorted(stages, key=lambda stage: -stage.share)),
        failures=tuple(sorted(failures, key=lambda one: -math.inf if one.share is None else -one.share)),
        exceeded_in=shares.growth.year_above(shares.today, bounds.fails),
        limit=round(bounds.fails, 6),
        assumed=tuple(assumed),
        not_judged=not_judged,
        unmeasured=tuple(unmeasured),
        needs=_needs(shares, bounds, facts, kept) if bad else "",
        decides=decides,
        facts=facts,
    )


def open_card(resource: str, statement: str, demand: str, *, has: str = "", note: str = "") -> Card:
    """Return the card of a resource with a demand whose capacity is unknown; ``note`` says so in short."""
    return Card(
        resource,
        ShareStatus.UNKNOWN.value,
        statement,
        has,
        demand=demand,
        advice=f"verdict.{resource}",
        notes=(note or statement,),
    )


def judged(sheet: Sheet, card: Card, said: Iterable[str] = ()) -> Advice:
    """Return the verdict on the resource of a card, with what a reader must know of it as caveats.

    What was ``said`` before is not written down again.
    """
    sheet.cards.append(card)
    known = [*map(capitalized, said)]
    for text in card.assumptions if card.share is None else card.sentences:
        if text not in known:
            sheet.caveat(uncapitalized(text))
    quantity = None if card.share is None else sheet.answer(card.share, "%", "share.fail-above")
    unit = "" if card.share is None else "%"
    title = f"{RESOURCE_NAMES[card.resource]}: share of capacity"
    return sheet.advice(card.advice, title, card.statement, quantity, unit, decision=card.status)


def _needs(shares: Shares, bounds: ShareLimits, facts: ShareFacts, kept: float) -> str:
    """Return the capacity that passes at worst, rounded up, and what decides; empty where more is no help."""
    has, most, least = facts.capacity.value, facts.demand.high, facts.capacity.low
    memory = facts.unit == "GiB"
    least = least if facts.unit in _COUNTED else has  # new storage does not inherit the uncertainty of the old
    worst = max(most / least / shares.today, 1.0) if most and least and shares.today else 1.0
    later = max(filter(None, (shares.n_plus_one, shares.last_year, shares.n_plus_one_last_year)), default=0.0) * worst
    factor = max(shares.today * worst / bounds.passes, later / bounds.fails)
    if has * factor + kept <= has:
        return ""
    why = f"limit {share_text(bounds.passes)}"
    if later / bounds.fails == factor:
        at_worst = later * has / (has - kept) if has > kept else later
        why = f"{share_text(at_worst)} at worst, limit {share_text(bounds.fails)}"
    if kept:
        why += f", {amount_text(exactly(kept), facts.unit)} kept by others"
    scale = base_unit(facts.unit)[1]
    needed = (has * factor + kept) / scale
    step = 10.0 ** (math.floor(math.log10(needed)) - 3)
    if facts.unit in _COUNTED or (memory and step > 1):
        step = 1.0
    rounded = math.ceil(round(needed / step, 6)) * step
    return f"{format_in(float(f'{rounded:.9g}') * scale, facts.unit)} ({why})"


def failure(lost: str, share: float | None, growth: Growth) -> Failure:
    """Return a failure with its shares today and at the end of the horizon; no share where nothing is left."""
    return Failure(lost, share, growth.grown(share) if share is not None and growth.years else None)


def server_failures(shares: Shares, nodes: float) -> list[Failure]:
    """Return the loss of one server of a cluster; an empty list for a single server."""
    return [failure(f"one of {format_in(nodes, 'servers')}", shares.n_plus_one, shares.after)] if nodes > 1 else []


def write_later_shares(sheet: Sheet, shares: Shares, failures: Iterable[Failure]) -> None:
    """Add the shares after each failure and in the last year to the working."""
    for lost in failures:
        if lost.share is not None:
            sheet.line(f"after losing {lost.lost}: {share_text(lost.share)}")
    if shares.last_year is not None:
        sheet.line(f"in year {format_in(shares.growth.years, '')}: {share_text(shares.last_year)}")


def _beyond(shares: Shares, bounds: ShareLimits, failures: Sequence[Failure]) -> list[str]:
    """Return the worst of the failures that leave too little, today or by growth; an empty list where none does."""
    known = [(one.share, one.lost) for one in failures if one.share is not None]
    (share, lost), growth = max(known, default=(0.0, "")), shares.after
    year = growth.year_above(share, bounds.fails)
    if year is None or (year and shares.growth.grown(shares.today) > bounds.fails):
        return []  # what growth alone exceeds says enough
    when = f" in year {year}" if year else ""
    return [f"{share_text(share * growth.factor(year))}{when} after losing {lost}"]


def later_clauses(shares: Shares, bounds: ShareLimits, failures: Sequence[Failure] = ()) -> list[str]:
    """Return the shares after a failure and at the end of the horizon that exceed the capacity, a clause each."""
    if shares.today > bounds.fails:
        return []
    parts = _beyond(shares, bounds, failures)
    if lost := [one.lost for one in failures if one.share is None]:
        parts.append(f"outage after losing {' or '.join(lost)}")
    if shares.last_year is not None and shares.last_year > bounds.fails:
        parts.append(f"{share_text(shares.last_year)} in year {format_in(shares.growth.years, '')}")
    return parts


def share_text(share: float) -> str:
    """Return a share in whole percent from 10 % on, else with two digits; >100 % and >999 % beyond."""
    percent = share * 100
    if percent >= 999.5 or 100 + 1e-6 < percent < 100.5:
        return ">100 %" if percent < 101 else ">999 %"
    return f"{percent:,.0f} %" if percent >= 9.95 else f"{percent:.2g} %"


def growth_text(shares: Shares, limit: float) -> str:
    """Return the year in which the capacity is exceeded, as a sentence; empty where none of the horizon is."""
    year = shares.growth.year_above(shares.today, limit)
    if not year:
        return ""
    per_year = format_in(shares.growth.per_year, "%")
    return f"{share_text(limit)} is exceeded in year {year} (+{per_year} a year)"
