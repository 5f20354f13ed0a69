"""Acceptance of hosts by a requirement profile: its limits, absolute or relative to the median of like hosts."""

from __future__ import annotations

from msgspec import Struct

from sizeup.compare.profile import (
    NOT_MEASURED,
    AcceptanceResult,
    Profile,
    ProfileLimit,
    Requirement,
    held,
    known_figures,
    machine_figures,
    requirements,
)
from sizeup.compare.profile import read_profile as read_named_profile
from sizeup.fleet.fleet import Fleet, Host, usable
from sizeup.fleet.outliers import LEAST_HOSTS
from sizeup.model.plan import Better, Series
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.inputs.detected import detected
from sizeup.units import format_value


class Acceptance(Struct, frozen=True):
    """One host held against a profile."""

    host: str
    checks: tuple[Requirement, ...]

    @property
    def result(self) -> AcceptanceResult:
        """Return the worst result of its checks."""
        results = {check.result for check in self.checks}
        worst = (AcceptanceResult.FAIL, AcceptanceResult.UNDECIDED)
        return next((one for one in worst if one in results), AcceptanceResult.PASS)


def read_profile(given: str, fleet: Fleet) -> Profile:
    """Return a profile with limits of the figures that are known, or that any host has."""
    known = known_figures()
    for host in fleet.hosts:
        for figure in host.figures.values():
            name = figure.name.partition("@")[0]
            known.setdefault(name, Series(name, figure.title, figure.unit, figure.better))
    return read_named_profile(given, known)


def accept(fleet: Fleet, profile: Profile) -> tuple[Acceptance, ...]:
    """Return how each host stands to a profile."""
    accepted = []
    for host in fleet.hosts:
        figures, checks = _figures(host, profile), list[Requirement]()
        for limit in profile.limits:
            checks += requirements(limit, figures)
            if limit.worse_than_median is not None:
                found = figures.get(limit.figure, NOT_MEASURED)
                checks.append(_relative(fleet, host, limit, limit.worse_than_median, found))
        accepted.append(Acceptance(host.name, tuple(checks)))
    return tuple(accepted)


def _figures(host: Host, profile: Profile) -> dict[str, Quantity | str]:
    """Return what a profile asks of a host: what was detected, and above that what was measured."""
    found: dict[str, Quantity | str] = {}
    for figure in reversed([*host.figures.values()]):
        name = figure.name.partition("@")[0]
        if usable(figure):
            # With its interval where it did not converge.
            low, high = (figure.interval if figure.scatter else None) or (figure.value, figure.value)
            low, high = min(low, figure.value), max(high, figure.value)
            found[name] = Quantity(figure.value, figure.unit, Origin.MEASURED, figure.path, low, high)
        elif not isinstance(found.get(name), Quantity):
            found[name] = f"not valid: {figure.invalid}"
    machine = next((one.machine for one in host.sessions if one.packed_machine), None)
    if machine is not None and any(limit.figure not in found or limit.per for limit in profile.limits):
        found = {**machine_figures(detected(machine), machine), **found}
    return found


def _relative(fleet: Fleet, host: Host, limit: ProfileLimit, share: float, found: Quantity | str) -> Requirement:
    named = (one for one in host.figures.values() if one.name.partition("@")[0] == limit.figure and usable(one))
    figure = next(named, None)
    limits = None if figure is None else fleet.spreads.get((host.compared_as.name, figure.name))
    kind, text, higher, bound = "worse_than_median", "", False, None
    if figure is not None and (limits is None or limits.hosts < LEAST_HOSTS or figure.name in host.other_workload):
        why = f"fewer than {LEAST_HOSTS} like hosts with the same settings to compare with"
        return Requirement(limit, kind, AcceptanceResult.UNDECIDED, "", unknown=why)
    if figure is not None and limits is not None:
        higher = figure.better is Better.HIGHER
        bound = limits.median / (1 + share) if higher else limits.median * (1 + share)
        text = f"at most {share * 100:.3g} % worse than the median of {format_value(limits.median, limit.unit)}"
    return held(limit, kind, text, bound, found, least=higher)
