"""Verdicts: the share of a capacity that a demand takes, judged by the limits of the rules."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from sizeup.model.advice import Card
from sizeup.sizing.sheet import Sheet
from sizeup.sizing.workload import Growth
from sizeup.text import capitalized
from sizeup.units import format_in


class ShareStatus(Enum):
    """What a share of capacity means."""

    PASS = "pass"  # noqa: S105  a verdict, and no password
    WARN = "warn"
    FAIL = "fail"
    ASSUMED = "assumed"
    """Rests on a default that nobody chose."""
    UNKNOWN = "unknown"
    """No demand, or no capacity."""


WORST_FIRST = (ShareStatus.FAIL, ShareStatus.WARN, ShareStatus.ASSUMED, ShareStatus.PASS, ShareStatus.UNKNOWN)


class Shares(Struct, frozen=True):
    """Demand over capacity: today, after the worst single failure, and as it grows."""

    today: float
    n_plus_one: float | None = None
    """None where nothing can be lost, or where the remaining capacity is unknown."""
    growth: Growth = Growth()

    @property
    def last_year(self) -> float | None:
        """The share at the end of the horizon; None without one."""
        return self.growth.grown(self.today) if self.growth.years else None


class ShareLimits(Struct, frozen=True):
    """Up to which share of capacity a resource passes, and from where on it fails."""

    passes: float
    fails: float

    def status(self, shares: Shares) -> ShareStatus:
        """Judge today's share; a failure or the growth that goes beyond the capacity makes a pass a warning."""
        if shares.today > self.fails:
            return ShareStatus.FAIL
        later = (shares.n_plus_one, shares.last_year)
        if shares.today > self.passes or any(share is not None and share > self.fails for share in later):
            return ShareStatus.WARN
        return ShareStatus.PASS


def limits(sheet: Sheet) -> ShareLimits:
    """Return the limits, which a user can override as rules."""
    return ShareLimits(sheet.rule("share.pass-to").value, sheet.rule("share.fail-above").value)


def share_card(
    resource: str,
    status: ShareStatus,
    statement: str,
    shares: Shares,
    *,
    detected: str,
    demand: str,
    advice: str,
    notes: Iterable[str] = (),
) -> Card:
    """Return the card of a resource whose share of capacity is known."""
    return Card(
        resource,
        status.value,
        capitalized(statement),
        detected=detected,
        demand=demand,
        share=shares.today,
        n_plus_one=shares.n_plus_one,
        last_year=shares.last_year,
        horizon_years=shares.growth.years,
        advice=advice,
        notes=tuple(map(capitalized, notes)),
    )


def share_text(share: float) -> str:
    """Return a share in whole percent from 10 % on, else with two digits."""
    percent = share * 100
    return f"{percent:,.0f}%" if percent >= 9.95 else f"{percent:.2g}%"


def growth_text(shares: Shares, limit: float) -> str:
    """Return the year in which the capacity is exceeded, as a sentence; empty where none of the horizon is."""
    year = shares.growth.year_above(shares.today, limit)
    if not year:
        return ""
    per_year = format_in(shares.growth.per_year, "%")
    return f"{share_text(limit)} is exceeded in year {year} (+{per_year} a year)"
