"""What a repair takes: the ports of a path or the drives of an array with which the storage passes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import AdviceSet, Card
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing, answer, size
from sizeup.sizing.input_value import Value
from sizeup.sizing.rules import shipped
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.text import plural
from sizeup.units import format_in

_PASSED = (ShareStatus.PASS.value, ShareStatus.ASSUMED.value, ShareStatus.UNCERTAIN.value)
"""What a repair reaches; of links alone no pass is certain."""
_MOST = 24
"""Sizes that are tried of one thing before it is given up."""
_LINKS = {"fc": "{}GFC port", "eth": "{} GbE port"}
"""What links are called, by the letters that their names begin with."""
_Change = tuple[str, Mapping[str, Value]]
"""What is added, ``2 more 16GFC ports (hba)``, and the inputs with it."""
_LATEST: list[tuple[AdviceSet, str, str]] = []
"""The advice that was asked about last, the resource, and the answer: a screen asks again with each frame of a run."""


def repair_text(card: Card, given: AdviceSet) -> str:
    """Return the fewest ports or drives with which the storage passes, and what is used of it then.

    Empty where the inputs are not known, as in advice that a session recorded, and where no one input is enough.
    """
    if not isinstance(given, Sizing) or card.share is None:
        return ""
    if not (_LATEST and _LATEST[0][0] is given and _LATEST[0][1] == card.resource):
        _LATEST[:] = [(given, card.resource, _repair(card, given.inputs))]
    return _LATEST[0][2]


def _repair(card: Card, inputs: Mapping[str, Value]) -> str:
    series: list[Iterator[_Change]] = []  # each of rising size
    if card.resource == "storage":
        series += [*(_links(inputs, stage.name) for stage in card.stages), _ports(inputs)]
    if card.resource in ("storage", "space"):
        series.append(_drives(inputs))
    for changes in series:
        for what, changed in changes:
            try:
                found = answer(changed, card.advice, shipped())
            except UsageError:
                break  # it contradicts another input
            if found is None or found.decision not in _PASSED:
                continue
            after = next(one for one in size(changed).cards if one.resource == card.resource)
            last = f"in year {after.horizon_years:g}"
            shares = {
                "": after.share,
                " after a failure": after.n_plus_one,
                f" {last}": after.last_year,
                f" after a failure {last}": max((one.last_year or 0.0 for one in after.failures), default=0.0) or None,
            }
            used = (f"{share_text(share)}{when}" for when, share in shares.items() if share is not None)
            return f"{what}, then {', '.join(used)}"
    return ""


def _links(inputs: Mapping[str, Value], stage: str) -> Iterator[_Change]:
    """More links in one stage of the path that was entered."""
    path = inputs.get("path.stages")
    if not isinstance(path, Words):
        return
    parts = [part.strip() for part in path.value.split(",")]
    place = next((place for place, part in enumerate(parts) if part.partition(":")[0] == stage), None)
    if place is None:
        return
    rest, _, card_text = parts[place].partition(":")[2].partition("@")
    link, _, count = rest.partition("*")
    ports, cards = int(count or 1), int(card_text or 0)
    if cards and ports % cards:
        return
    step = ports // cards if cards else 1
    for more in range(1, _MOST + 1):
        total = ports + more * step
        on = f"@{cards + more}" if cards else ""
        wider = ",".join((*parts[:place], f"{stage}:{link}*{total}{on}", *parts[place + 1 :]))
        where = f"{stage}, {_more(more, 'card')}" if cards else stage
        letters = link.rstrip("0123456789")
        name = _LINKS.get(letters, f"{link} link").format(link.removeprefix(letters))
        what = f"{_more(more * step, name)} ({where})"
        yield what, {**inputs, "path.stages": replace(path, value=wider)}


def _ports(inputs: Mapping[str, Value]) -> Iterator[_Change]:
    """More adapter ports of the kind that was detected, each on a slot of its own."""
    rate, lost = inputs.get("path.bandwidth_mb_s"), inputs.get("path.degraded_mb_s")
    kind = inputs.get("path.kind")
    if not isinstance(rate, Quantity) or not isinstance(kind, Words) or "path.stages" in inputs:
        return
    if rate.origin is not Origin.DETECTED or kind.value != "HBA":
        return
    ports = rate.source.count(",") + 1
    what = "FC port" if rate.source.startswith("FC port") else "HBA"
    for more in range(1, _MOST + 1):
        total = rate.value * (ports + more) / ports
        changed: dict[str, Value] = {"path.bandwidth_mb_s": replace(rate, value=total)}
        if isinstance(lost, Quantity):
            changed["path.degraded_mb_s"] = replace(lost, value=total - (rate.value - lost.value))
        yield f"{_more(more, what)} of this speed", {**inputs, **changed}


def _drives(inputs: Mapping[str, Value]) -> Iterator[_Change]:
    """More drives in the array, in pairs."""
    disks = inputs.get("array.disks")
    if not isinstance(disks, Quantity):
        return
    volumes = inputs.get("array.volumes")
    each = f" in each of {format_in(volumes.value, 'volumes')}" if isinstance(volumes, Quantity) else ""
    pairs = max(math.ceil(disks.value / _MOST), 1)
    for step in range(1, _MOST + 1):
        more = 2 * pairs * step
        yield f"{_more(more, 'drive')}{each}", {**inputs, "array.disks": replace(disks, value=disks.value + more)}


def _more(count: int, what: str) -> str:
    return plural(count, what).replace(" ", " more ", 1)
