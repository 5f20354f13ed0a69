"""I/O capacity: what each stage of the paths to storage can deliver, and which one is the bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, brief, shown
from sizeup.text import capitalized
from sizeup.units import format_in

MEASURE = "measure it with a storage probe"
"""What to do where the capacity of storage is unknown."""


class StageCapacity(Struct, frozen=True):
    """One stage of the path to the disks."""

    name: str
    capacity: Quantity


def _parse_stages(text: str, links: tuple[str, ...], source: str) -> list[tuple[str, str, int]]:
    stages = []
    for part in text.split(","):
        name, colon, rest = part.strip().partition(":")
        link, star, count = rest.partition("*")
        number = int(count) if count.isdigit() else 0 if star else 1
        if not colon or not name or link not in links or not number:
            raise UsageError(
                f"{source}: path.stages: expected NAME:LINK*COUNT, separated by commas, LINK one of "
                f"{', '.join(links)}; found {part.strip()!r}"
            )
        stages.append((name, link, number))
    return stages


def payload(sheet: Sheet, link: str, source: str) -> Quantity:
    """Return the payload bandwidth of one link."""
    links = _links(sheet)
    if link not in links:
        raise UsageError(f"{source}: expected a link, one of {', '.join(links)}; found {link!r}")
    return sheet.rule(f"link.{link}.payload")


def _links(sheet: Sheet) -> tuple[str, ...]:
    return tuple(
        figure_id.removeprefix("link.").removesuffix(".payload")
        for figure_id in sheet.rules.figures
        if figure_id.startswith("link.") and figure_id.endswith(".payload")
    )


def _stages(sheet: Sheet) -> list[StageCapacity]:
    """Return every known stage with its bandwidth."""
    stages: list[StageCapacity] = []
    text = sheet.optional_words("path.stages")
    policy = sheet.optional_words("path.policy")
    for name, link, count in _parse_stages(text, _links(sheet), "path.stages") if text else ():
        each = payload(sheet, link, "path.stages")
        active = _active(count, policy)
        capacity = active * each.value
        idle = f" ({count - active} passive)" if active < count else ""
        sheet.line(f"{name}: {active} x {link} of {shown(each, 'MB/s')} = {format_in(capacity, 'MB/s')}{idle}")
        if count > 1 and policy is None:
            sheet.caveat(
                f"{name}: all {count} paths are assumed to carry data; "
                "if half of them are passive, use --set path.policy=active-passive"
            )
        stages.append(StageCapacity(name, sheet.answer(capacity, "MB/s", f"link.{link}.payload")))
    found = None if text else sheet.optional("path.bandwidth_mb_s")
    if found is not None:
        bottleneck = sheet.optional_words("path.bottleneck") or "path"
        sheet.line(f"{found.source}: {shown(found, 'MB/s')} ({found.origin.value}), limited by {bottleneck}")
        stages.append(StageCapacity(bottleneck, found))
        stages += _connections(sheet)
    storage = sheet.optional("capacity.mb_s")
    unused = sheet.unused("capacity.mb_s")
    down = None if text else sheet.optional_words("path.down")
    if down is not None:
        sheet.caveat(f"down, so counted as 0: {down}")
    linked = found is not None and found.origin is not Origin.MEASURED
    if stages and storage is None and (linked or unused is not None):
        instead = capitalized(MEASURE) if unused is None else unused.sentence("MB/s")
        sheet.caveat(f"this is the bandwidth of the links; the disks may deliver less. {instead}")
    if storage is not None:
        sheet.line(f"storage: {shown(storage, 'MB/s')} ({storage.origin.value})")
        for stage in stages:
            if storage.value > stage.capacity.value:
                sheet.caveat(
                    f"the given storage throughput is above the bandwidth of {stage.name} "
                    f"({shown(stage.capacity, 'MB/s')}): it probably came from a cache"
                )
        stages.append(StageCapacity("storage", storage))
    return stages


def _active(count: int, policy: str | None) -> int:
    """Return how many paths of one stage carry data at a time."""
    return math.ceil(count / 2) if policy == "active-passive" else count


def _line_rates(sheet: Sheet) -> Iterator[Advice]:
    """Line rate of each stage after coding, where it differs from the payload bandwidth."""
    for name, link, count in _parse_stages(sheet.words("path.stages"), _links(sheet), "path.stages"):
        if f"link.{link}.line" not in sheet.rules.figures:
            continue
        text, policy = sheet.words("path.stages"), sheet.optional_words("path.policy")
        each, rated = sheet.rule(f"link.{link}.line"), payload(sheet, link, "path.stages")
        active = _active(count, policy)
        line_rate = active * each.value
        sheet.line(f"{name} of {text}: {active} x {shown(each, 'MB/s')} = {format_in(line_rate, 'MB/s')}")
        yield sheet.advice(
            f"io.line-rate.{name}",
            f"Line rate of {name}",
            f"{name}: line rate {format_in(line_rate, 'MB/s')}, payload {format_in(active * rated.value, 'MB/s')}",
            sheet.answer(line_rate, "MB/s", f"link.{link}.line"),
            "MB/s",
        )


def _connections(sheet: Sheet) -> list[StageCapacity]:
    """Return the bandwidth of the TCP connections of an NFS mount, where the path is NFS."""
    if sheet.optional_words("path.kind") != "NFS" or "net.connections" not in sheet.inputs:
        return []
    count, each = sheet.number("net.connections"), sheet.rule("link.nfs.one-connection")
    bandwidth = count.value * each.value
    sheet.line(f"{shown(count, 'connections')} x {shown(each, 'MB/s')} = {format_in(bandwidth, 'MB/s')}")
    return [StageCapacity("NFS connections (nconnect)", sheet.answer(bandwidth, "MB/s", "link.nfs.one-connection"))]


def find_bottleneck(sheet: Sheet) -> StageCapacity | None:
    """Return the stage with the least bandwidth; None where no stage is known."""
    stages = _stages(sheet)
    if not stages:
        return None
    least = min(stages, key=lambda stage: stage.capacity.value)
    if len(stages) > 1:
        sheet.line(f"least of {len(stages)} stages: {least.name}, {shown(least.capacity, 'MB/s')}")
    return least


def _capacity(sheet: Sheet) -> Iterator[Advice]:
    least = find_bottleneck(sheet)
    if least is None:
        sheet.number("machine.cores")
        unused = sheet.unused("capacity.mb_s")
        down = sheet.optional_words("path.down")
        why = "no path reports its speed" if down is None else f"no path that is up reports its speed (down: {down})"
        action = capitalized(MEASURE) if unused is None else unused.sentence("MB/s")
        if unused is None:
            sheet.line("to measure it, run a storage probe; sizeup probes lists them")
        sheet.line(f"to set it, use {KEYS['path.stages'].flag} (link by link) or {KEYS['capacity.mb_s'].flag} (in all)")
        yield sheet.advice(
            "io.capacity",
            "Storage capacity",
            f"storage capacity: unknown, because {why}. {action}",
            decision="unknown",
        )
        return
    yield sheet.advice(
        "io.capacity",
        "Storage capacity",
        f"storage capacity: {brief(least.capacity, 'MB/s')} (bottleneck: {least.name})",
        least.capacity,
        "MB/s",
        decision=least.name,
    )


CALCULATIONS = (
    Calculation("storage capacity", _capacity, ("io.capacity",)),
    Calculation("line rates of the links", _line_rates, ("io.line-rate.",)),
)
