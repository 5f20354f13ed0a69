"""I/O capacity: what each stage of the paths to storage can deliver, and which one is the bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from string import ascii_lowercase

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.sizing.io.array import StageCapacity, drives_stage, flash_drives
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import shares_load
from sizeup.sizing.sheet import Calculation, Sheet, Term, answered, brief, servers, shown, term, worked
from sizeup.text import capitalized, nearest
from sizeup.units import format_in

STORAGE = "storage"
"""The stage of what was measured or stated of the storage as a whole."""
MEASURE = "measure it with a storage probe"
"""What to do where the capacity of storage is unknown."""

ONE_CARD_EACH = "N+1 counts each path as a card of its own. For two ports on one, use --set path.stages=hba:fc16*2@1"
"""What is said of paths whose cards are not given."""


class StatedStage(Struct, frozen=True):
    """One stage of ``path.stages``."""

    name: str
    link: str
    count: int
    """Paths, each a port."""
    cards: int | None = None
    """Cards that the ports are on; None where it is not said."""


def _parse_stages(sheet: Sheet, text: str) -> list[StatedStage]:
    stages = []
    for part in text.split(","):
        name, colon, rest = part.strip().partition(":")
        rest, at, cards = rest.partition("@")
        link, star, count = rest.partition("*")
        number, of_cards = _whole(count, star), _whole(cards, at)
        if not colon or not name or not 1 <= of_cards <= number:
            raise UsageError(
                "path.stages: expected NAME:LINK*PORTS, separated by commas, with @CARDS where ports share a card, "
                f"such as hba:fc16*2,array:fc32*4@2; found {part.strip()!r}"
            )
        payload(sheet, link, "path.stages")
        stages.append(StatedStage(name, link, number, of_cards if at else None))
    return stages


def stated_stages(sheet: Sheet) -> list[StatedStage]:
    """Return the stages of ``path.stages``; none where it is not set."""
    text = sheet.optional_words("path.stages")
    return _parse_stages(sheet, text) if text else []


def _whole(text: str, sign: str) -> int:
    """Return the number behind a sign: 1 where neither is there, and 0 for what is no number."""
    return int(text) if text.isdecimal() and text.isascii() else 0 if sign else 1


def payload(sheet: Sheet, link: str, source: str) -> Quantity:
    """Return the payload bandwidth of one link; another is refused with those that are known: ``fc1 to fc64``."""
    if f"link.{link}.payload" not in sheet.rules.figures:
        ids = (name for name in sheet.rules.figures if name.startswith("link.") and name.endswith(".payload"))
        links = [name.removeprefix("link.").removesuffix(".payload") for name in ids]
        families = (
            list(kind) for _, kind in groupby(links, lambda name: name[: len(name) - len(name.lstrip(ascii_lowercase))])
        )
        known = ", ".join(kind[0] if len(kind) == 1 else f"{kind[0]} to {kind[-1]}" for kind in families)
        raise UsageError(f"{source}: expected a link, one of {known}; found {link!r}{nearest(link, links)}")
    return sheet.rule(f"link.{link}.payload")


def path_stages(sheet: Sheet) -> list[StageCapacity]:
    """Return every known stage of the paths and the storage behind them, with bytes per second and IOPS."""
    text = sheet.optional_words("path.stages")
    stages = _stated_links(sheet, text) if text and (servers(sheet) == 1 or _leads_out(sheet, text)) else []
    found = None if text else sheet.optional("path.bandwidth_mb_s")
    if found is not None:
        stages += _found_links(sheet, found)
    storage, requests = sheet.optional("capacity.mb_s"), sheet.optional("capacity.iops")
    unused = sheet.unused("capacity.mb_s")
    down = None if text else sheet.optional_words("path.down")
    if down is not None:
        sheet.caveat(f"down, so counted as 0: {down}")
    linked = found is not None and found.origin is not Origin.MEASURED
    linked = linked and not {"array.disks", "array.raid"} <= sheet.inputs.keys()  # its drives are judged or named
    if stages and storage is None and (linked or unused is not None):
        instead = capitalized(MEASURE) if unused is None else unused.sentence("MB/s")
        sheet.caveat(f"this is the bandwidth of the links; the disks may deliver less. {instead}")
    if storage is not None:
        sheet.line(f"storage: {shown(storage, 'MB/s')} ({storage.origin.value})")
        for stage in stages:
            if stage.rate is not None and storage.value > stage.rate.value:
                sheet.caveat(
                    f"the given storage throughput is above the bandwidth of {stage.name} "
                    f"({shown(stage.rate, 'MB/s')}): it probably came from a cache"
                )
    if requests is not None:
        sheet.line(f"storage: {shown(requests, 'IOPS')} ({requests.origin.value})")
    if storage is not None or requests is not None:
        stages.append(StageCapacity(STORAGE, storage, requests))
    return stages


def inside_servers(sheet: Sheet) -> bool:
    """Whether flash drives are inside the servers of a cluster: no path to shared storage is known.

    No other server reaches them, so they hold nothing but caches.
    """
    text = sheet.optional_words("path.stages")
    shared = _leads_out(sheet, text) if text else "path.bandwidth_mb_s" in sheet.inputs
    return servers(sheet) > 1 and flash_drives(sheet) and not shared


def _leads_out(sheet: Sheet, text: str) -> bool:
    """Whether stages hold more than links inside a server."""
    return any(not stage.link.startswith(("pcie", "sata")) for stage in _parse_stages(sheet, text))


INSIDE = "drives inside one server of a cluster are no shared storage"
"""Why they do not count."""


def _stated_links(sheet: Sheet, text: str) -> list[StageCapacity]:
    """Return the stages of ``path.stages``: all servers together, the first of them in the servers."""
    policy, nodes = sheet.optional_words("path.policy"), servers(sheet)
    stages = []
    for place, stated in enumerate(_parse_stages(sheet, text)):
        stage, standby = stated, place == 0 and stated.count >= nodes > 1 and not shares_load(sheet)
        if standby:  # one server carries the load
            cards = None if stated.cards is None else max(int(stated.cards // nodes), 1)
            stage = replace(stated, count=int(stated.count // nodes), cards=cards)
        name, link, count = stage.name, stage.link, stage.count
        each = payload(sheet, link, "path.stages")
        active = _active(count, policy)
        capacity = active * each.value
        idle = f" ({count - active} passive)" if active < count else ""
        line = sheet.rules.figures.get(f"link.{link}.line")
        raw = "" if line is None else f" (line rate: {format_in(line.value * 1e6, 'MB/s')})"
        sheet.line(f"{name}: {active} x {link} of {shown(each, 'MB/s')}{raw} = {format_in(capacity, 'MB/s')}{idle}")
        if link.startswith(("fc", "eth", "pcie")):
            one_way = "reads and writes together are compared with one direction"
            sheet.caveat(f"links carry their MB/s in each direction at once; {one_way}")
        if count > 1 and policy is None:
            sheet.caveat(
                f"{name}: all {count} paths are assumed to carry data; "
                "if half of them are passive, use --set path.policy=active-passive"
            )
        if count > 1 and stage.cards is None and nodes == 1:
            sheet.caveat(ONE_CARD_EACH)
        failures = _failures_of(stage, active, nodes if place == 0 and not standby else 1.0)
        if standby:
            failures = [*(one for one in failures if one[1]), (f"one of {format_in(nodes, 'servers')}", 1.0)]
        (failure, left), *smaller = failures
        rate = sheet.answer(capacity, "MB/s", f"link.{link}.payload")
        network = link.startswith(("eth", "gbe"))
        stages.append(StageCapacity(name, rate, None, left, failure, network, smaller=tuple(smaller)))
    return stages


def _failures_of(stage: StatedStage, active: int, nodes: float) -> list[tuple[str, float]]:
    """Return the single failures of a stage, each with the share of its capacity that it leaves, the largest first."""
    count, cards = stage.count, stage.cards
    failures = [(f"one of {count} paths" if count > 1 else f"the only path of {stage.name}", count - 1)]
    if nodes > 1 and count > 1:  # passive paths of the other servers stay so
        rest, policy = count - math.ceil(count / nodes), "active-passive" if active < count else None
        failures = [(f"one of {format_in(nodes, 'servers')}", min(rest, _active(rest, policy)))]
    if cards is not None and cards < count:
        what = f"one of {cards} cards of {stage.name}" if cards > 1 else f"the only card of {stage.name}"
        failures.append((what, count - math.ceil(count / cards)))
    left = [(what, max(min(active, rest), 0) / active) for what, rest in failures]
    return sorted(left, key=lambda failure: failure[1])


def _found_links(sheet: Sheet, found: Quantity) -> list[StageCapacity]:
    """Return the detected paths, once for each server of a cluster, and the TCP connections of an NFS mount."""
    bottleneck = sheet.optional_words("path.bottleneck") or "path"
    title = "" if found.origin is Origin.MEASURED else found.source
    sheet.line(f"{found.source}: {shown(found, 'MB/s')} ({found.origin.value}), limited by {bottleneck}")
    halved = found.origin is not Origin.MEASURED and sheet.optional_words("path.policy") == "active-passive"
    half = sheet.optional("path.active_mb_s") if halved else None
    if half is not None:
        sheet.line(f"half of the paths carry data (path.policy=active-passive): {shown(half, 'MB/s')}")
        found, bottleneck = replace(found, value=half.value, low=None, high=None), half.source
    degraded = sheet.optional("path.degraded_mb_s")
    left = None if degraded is None else min(degraded.value / found.value, 1.0)
    port = None if degraded is None else sheet.optional("path.port_lost_mb_s")  # where losing its card is the larger
    failure = "" if degraded is None else degraded.source
    smaller = () if port is None else ((port.source, min(port.value / found.value, 1.0)),)
    nodes = servers(sheet)
    if nodes > 1 and found.origin is Origin.MEASURED:
        sheet.caveat("measured on one server; the storage may deliver less to several servers at once")
    if nodes > 1 and shares_load(sheet):
        worked(sheet, term(nodes, "servers") * term(found, "MB/s"), "MB/s")
        found = found.scaled(nodes)
        left, failure, smaller = (nodes - 1) / nodes, f"one of {format_in(nodes, 'servers')}", ()
    network = sheet.optional_words("path.kind") == "NFS"
    stage = StageCapacity(bottleneck, found, None, left, failure, network, title=title, smaller=smaller)
    if not network or "net.connections" not in sheet.inputs:
        return [stage]
    count, each = sheet.number("net.connections"), sheet.rule("link.nfs.one-connection")
    of_each = term(count, "connections") * term(each, "MB/s")
    bandwidth = worked(sheet, term(nodes, "servers") * of_each if nodes > 1 else of_each, "MB/s")
    rate = sheet.answer(bandwidth.value, "MB/s", "link.nfs.one-connection")
    return [stage, StageCapacity("NFS connections (nconnect)", rate)]


def _active(count: int, policy: str | None) -> int:
    """Return how many paths of one stage carry data at a time; of an odd number, the one more may be passive."""
    return max(count // 2, 1) if policy == "active-passive" else count


def _line_rates(sheet: Sheet) -> Iterator[Advice]:
    """Line rate of each stage after coding, where it differs from the payload bandwidth."""
    for stage in _parse_stages(sheet, sheet.words("path.stages")):
        name, link, count = stage.name, stage.link, stage.count
        if f"link.{link}.line" not in sheet.rules.figures:
            continue
        text, policy = sheet.words("path.stages"), sheet.optional_words("path.policy")
        each, rated = sheet.rule(f"link.{link}.line"), payload(sheet, link, "path.stages")
        active = _active(count, policy)
        rate = worked(sheet, Term(active, f"{name} of {text}: {active}") * term(each, "MB/s"), "MB/s")
        verdict = f"{name}: line rate {rate}, payload {format_in(active * rated.value, 'MB/s')}"
        yield answered(sheet, f"io.line-rate.{name}", f"Line rate of {name}", verdict, rate, f"link.{link}.line")


def with_drives(
    sheet: Sheet, stages: list[StageCapacity], reads: float | None, read_bytes: float | None
) -> list[StageCapacity]:
    """Return the stages with the drives of the array behind them, at shares of reads in requests and in bytes.

    What was measured or stated of the storage takes the place of what its drives are good for.
    """
    known = [one for one in stages if one.name == STORAGE or (one.rate and one.rate.origin is Origin.MEASURED)]
    reads = None if any(stage.iops is not None for stage in known) else reads
    read_bytes = None if any(stage.rate is not None for stage in known) else read_bytes
    drives = None if inside_servers(sheet) else drives_stage(sheet, reads, read_bytes)
    return stages if drives is None else [*stages, drives]


def find_bottleneck(sheet: Sheet) -> tuple[str, Quantity] | None:
    """Return the stage with the least bandwidth, and this; None where no stage reports its bandwidth."""
    reads = (sheet.optional("workload.read_bytes_percent") or sheet.number("workload.read_percent")).value
    stages = with_drives(sheet, path_stages(sheet), None, reads)
    known = [(stage.name, stage.rate) for stage in stages if stage.rate is not None]
    if not known:
        return None
    name, rate = min(known, key=lambda one: one[1].value)
    if len(known) > 1:
        sheet.line(f"least of {len(known)} stages: {name}, {shown(rate, 'MB/s')}")
    return name, rate


def _capacity(sheet: Sheet) -> Iterator[Advice]:
    least = find_bottleneck(sheet)
    if least is None:
        sheet.number("machine.cores")
        unused = sheet.unused("capacity.mb_s")
        down = sheet.optional_words("path.down")
        why = "no path reports its speed" if down is None else f"no path that is up reports its speed (down: {down})"
        action = capitalized(MEASURE) if unused is None else unused.sentence("MB/s")
        if unused is None:
            sheet.line("to measure it, run a storage probe; sizeup probe list lists them")
        sheet.line(f"to set it, use {KEYS['path.stages'].flag} (link by link) or {KEYS['capacity.mb_s'].flag} (in all)")
        by_iops = isinstance(sheet.inputs.get("capacity.iops"), Quantity)
        what = "Storage capacity in MB/s" if by_iops else "Storage capacity"
        verdict = f"{what}: unknown, because {why}. {action}"
        yield sheet.advice("io.capacity", what, verdict, decision="unknown")
        return
    name, rate = least
    for uncertainty in rate.uncertainties:
        sheet.caveat(bound_text(uncertainty, "MB/s") + (f". {uncertainty.action}" if uncertainty.action else ""))
    verdict = f"storage capacity: {brief(rate, 'MB/s')} (bottleneck: {name})"
    yield sheet.advice("io.capacity", "Storage capacity", verdict, rate, "MB/s", decision=name)


def bound_text(uncertainty: Uncertainty, unit: str) -> str:
    """Return an end of a capacity and what moved it."""
    end = "" if uncertainty.end is None else format_in(float(f"{uncertainty.end:.4g}"), unit)
    known = f"only {end} are certain" if uncertainty.end else "nothing of it is certain"
    if uncertainty.upper:
        known = f"at most {end}" if end else "perhaps more"
    return f"{known}, because {uncertainty.reason}"


CALCULATIONS = (
    Calculation("storage capacity", _capacity, ("io.capacity",)),
    Calculation("line rates of the links", _line_rates, ("io.line-rate.",)),
)
