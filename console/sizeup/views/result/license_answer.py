"""The answer to a question about licenses alone: no workload is given, and somebody set what is licensed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sizeup.model.advice import AdviceSet, Card
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing
from sizeup.sizing.licensing.cost import LicenseCost
from sizeup.sizing.licensing.count import count_range
from sizeup.sizing.licensing.limits import LimitUse
from sizeup.sizing.licensing.required import LicenseCount
from sizeup.sizing.sheet import brief, find_fact
from sizeup.sizing.verdict import ShareStatus
from sizeup.text import capitalized
from sizeup.units import format_in
from sizeup.views.cards.cards import status_text

END = "Working: sizeup size --show license; every vendor: sizeup size --show licenses"
"""What ends the screen."""
_LICENSE = "license."
_LIMIT = "license.limit."
_SHOWN = ("license.units", "license.allowed", "license.edition", "license.cost.term", "license.failover", _LIMIT)
"""What begins the ids of the answers that stand in lines of their own."""
_SUPPORT = "license.cost.support-year"
_BEFORE_DISCOUNT = ("license.cost.list", "license.cost.net")
"""Answers that the cost over the term has, too, where there is no discount."""
_NOBODYS = (Origin.RULE, Origin.DETECTED)
"""Origins of figures that nobody chose."""
_COUNTED = {
    "license.host_cores": "cores of the hosts",
    "license.hosts": "hosts",
    "license.host_sockets": "sockets of each host",
    "license.pinned_cores": "cores of the partition",
    "machine.sockets": "sockets",
    "machine.cores": "cores",
    "machine.vcpus": "vCPUs",
    "machine.memory_gib": "GiB",
    "license.users": "users",
}
"""What licenses are counted by, and its unit in a sentence."""

_IN_ALL = ("license.host_cores", "license.hosts", "license.users")
"""What of it is that of all servers together."""


def is_about_licenses(given: Sizing) -> bool:
    """Return whether no resource has a demand and somebody set a figure of a license contract."""
    return not any(card.demand and card.resource != "license" for card in given.cards) and any(
        isinstance(value, Quantity | Words) and value.origin not in _NOBODYS
        for key, value in given.inputs.items()
        if key.startswith(_LICENSE)
    )


def license_verdict(given: AdviceSet) -> tuple[str, str]:
    """Return the status of the licenses, and the sentence about them."""
    card = _card(given)
    status = "UNKNOWN" if card.status == ShareStatus.UNKNOWN.value else status_text(card.status)
    question = next((one.sentence() for one in given.questions if one.calculation == "licenses"), "")
    return status, card.statement or question or "License count: unknown"


def license_basis(given: AdviceSet) -> str:
    """Return what was counted: ``1 server, 4 sockets, 32 cores``, and the processor; empty where nothing was."""
    units = given.find("license.units")
    if units is None:
        return ""
    used = {entry.key: entry for entry in units.inputs}
    counted = {
        key: brief(entry.quantity, what) if entry.quantity.low is None else count_range(entry.quantity, what)
        for key, what in _COUNTED.items()
        if (entry := used.get(key)) is not None
        and entry.quantity is not None
        and entry.quantity.origin is not Origin.RULE  # users that nobody stated are not 0
    }
    numbers = [*counted.values()]
    threads, each = (used.get(key) for key in ("machine.vcpus", "machine.threads_per_core"))
    if threads is not None and each is not None and threads.quantity is not None and each.quantity is not None:
        # Virtual processors stand in place of the threads that each of them shows.
        shown = brief(threads.quantity, "vCPUs")
        processors = format_in(math.ceil(threads.quantity.value / each.quantity.value), "")
        text = f"{processors} virtual processors ({brief(threads.quantity, 'threads')})"
        numbers = [text if one == shown else one for one in numbers]
    model = used.get("machine.cpu_model")
    names = [] if model is None or model.words is None else [model.words.value]
    nodes = used.get("cluster.nodes")
    servers = 1.0 if nodes is None or nodes.quantity is None else nodes.quantity.value
    if servers == 1 or not numbers:
        return ", ".join((*numbers, *names)) if numbers else ""
    in_all = [counted[key] for key in _IN_ALL if key in counted]
    of_each = ", ".join(one for one in (*numbers, *names) if one not in in_all)
    text = f"{format_in(servers, 'servers')}{f', each with {of_each}' if of_each else ''}"
    return f"{text}; {', '.join(in_all)} in all" if in_all else text


def license_details(given: Sizing) -> Iterator[tuple[str, str]]:
    """Yield the editions, what is unused, the cost and passive servers, each with its label."""
    card, edition, failover = _card(given), given.find("license.edition"), given.find("license.failover")
    if not card.demand:
        return
    if edition is not None:
        yield "Edition", edition.verdict
    limits = [capitalized(one.clause) for one in given.facts if isinstance(one, LimitUse) and one.is_exceeded]
    if limits and card.status != ShareStatus.FAIL.value:
        yield "Unused", "; ".join(limits)
    if (cost := find_fact(given.facts, LicenseCost)) is not None:
        yield "Cost", cost.text
    if failover is not None and failover.decision == "all-counted":
        brief_text = "Passive servers may need no licenses (--show license.failover)"
        yield "Failover", failover.verdict if is_about_licenses(given) else brief_text
    elif failover is not None and failover.decision == "passive" and not is_about_licenses(given):  # else a note
        yield "Failover", failover.caveats[-1]


def license_notes(given: Sizing) -> Iterator[str]:
    """Yield what a reader must know beside the count: assumptions, what the count rests on, old prices."""
    yield from _card(given).assumptions
    yield from (one.verdict for one in given.advice if one.id.startswith(_LIMIT) and one.decision == "unknown")
    allowed, count = given.find("license.allowed"), find_fact(given.facts, LicenseCount)
    if allowed is not None and allowed.decision == "forbidden":
        yield from map(capitalized, allowed.caveats)
    if count is not None:
        yield from map(capitalized, count.notes)
    yield from map(capitalized, given.price_warnings)


def license_rest(given: AdviceSet) -> list[str]:
    """Return how an unknown count becomes known, and the other answers about licenses, a sentence each."""
    units = given.find("license.units")
    unknown = units is not None and units.decision == "host-unknown"
    ways = [capitalized(line) for line in units.working] if unknown and units is not None else []
    prices = {one.quantity.value for one in given.advice if one.id in _BEFORE_DISCOUNT and one.quantity is not None}
    shown = _SHOWN if len(prices) > 1 else (*_SHOWN, *_BEFORE_DISCOUNT)
    return ways + [
        one.verdict
        for one in given.advice
        if one.id.startswith(_LICENSE)
        and not one.id.startswith(shown)
        and not (one.id == _SUPPORT and one.quantity is not None and not one.quantity.value)
    ]


def _card(given: AdviceSet) -> Card:
    return next((card for card in given.cards if card.resource == "license"), Card("license", "unknown"))
