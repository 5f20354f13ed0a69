"""Sizing on one screen: the verdict, one table of all resources, and what a reader must know beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, AdviceSet, Card, Failure
from sizeup.sizing.advise import HEADLINE
from sizeup.sizing.cards import open_cards, overall, verdict
from sizeup.sizing.io.share import PATHS
from sizeup.sizing.licensing.price_age import PRICE_WARNING
from sizeup.sizing.verdict import RESOURCE_NAMES, ShareStatus, share_text
from sizeup.text import capitalized, cell_len, one_line
from sizeup.units import format_in

if TYPE_CHECKING:
    from sizeup.model.machine import Machine
    from sizeup.session.value import Session

LINES = 25
"""Lines of one screen."""
_STATUS = {"pass": "PASS", "warn": "WARN", "fail": "FAIL", "assumed": "ASSUMED", "unknown": "–"}
_TITLES = {
    "storage": "Storage",
    "space": "Space",
    "cpu": "CPU",
    "memory": "Memory",
    "network": "Network",
    "clock": "Clock",
    "license": "License",
}
"""The cards, in their order among those of one status."""
_WORST = ("FAIL", "WARN", "ASSUMED", "PASS", "–")
_JUDGED = _WORST[:-1]
_PROBLEMS = frozenset({"short", "does-not-fit", "cyclops", "above-path", "above-catalog", "much"})
"""Decisions that a reader must know even where there is a verdict."""
NO_VERDICT = (
    "No workload. Give one with --workload FILE (AWR, Statspack, sar or iostat), or with "
    "--set workload.iops=N workload.read_percent=N workload.io_kib=N redo.mb_s=N"
)
_END = "Working: sizeup size --working or --explain storage, space, cpu, memory, license"
VERDICT = "verdict."
"""What begins the ids of verdicts of a resource."""
_OF_CARDS = ("verdict.", "license.", "io.demand.", "io.capacity", "io.line-rate.", "value.ghz-per-license")
"""What begins the ids of advice that the table has already, or that its working has."""


def card_status(card: Card) -> str:
    """Return the status of a card with what it rests on: ``FAIL (assumed)``."""
    rests = card.assumed and card.status in (ShareStatus.FAIL.value, ShareStatus.WARN.value)
    return f"{status_text(card.status)}{' (assumed)' if rests else ''}"


def status_text(status: str) -> str:
    """Return a status as it is shown: ``PASS``, or a dash for none."""
    return _STATUS.get(status, status)


def verdicts_first(given: AdviceSet) -> list[tuple[Advice, str]]:
    """Return all advice, each with its line: verdicts of resources lead with their status, the one that decides first.

    The rest follows in its own order.
    """
    status: dict[str, str] = {}
    for card in given.cards:
        if card.advice.startswith(VERDICT):
            unknown = card.status == ShareStatus.UNKNOWN.value
            status.setdefault(card.advice, "NO VERDICT" if unknown else card_status(card))
    rank = {name: place for place, name in enumerate(status)}
    ordered = sorted(given.advice, key=lambda advice: rank.get(advice.id, len(rank)))
    return [
        (advice, f"{status[advice.id]}  {advice.verdict}" if advice.id in status else advice.verdict)
        for advice in ordered
    ]


def lacks_workload(given: AdviceSet) -> bool:
    """Return whether nothing is judged because no workload is given."""
    headline = given.find(HEADLINE)
    judged = any(advice.id.startswith(VERDICT) for advice in given.advice)
    return not judged and headline is not None and headline.decision == ShareStatus.UNKNOWN.value


class CardView(Struct, frozen=True):
    """One resource as every screen and report shows it: detected, measured, demand and share of capacity.

    A text of several parts has the most important first; where room is short the last go first.
    """

    resource: str
    """``storage``, ``space``, ``cpu``, ``memory``, ``network``, ``clock`` or ``license``."""
    title: str
    status: str
    """``PASS``, ``WARN``, ``FAIL``, ``ASSUMED``, or a dash: demand or capacity is unknown."""
    detected: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    """Valid figures; where none is valid what became of the measurement, in a word."""
    measured_valid: bool = False
    """Whether ``measured`` holds figures that count."""
    demand: str = ""
    capacity: str = ""
    """What the demand was held against, and what limits it; empty where nothing was judged."""
    used: float | None = None
    """Demand over capacity today."""
    n_plus_one: float | None = None
    """The same after the worst single failure."""
    outage: bool = False
    """Whether a single failure leaves nothing."""
    last_year: float | None = None
    """The same in the last year of the horizon."""
    years: float = 0.0
    """The horizon; 0 without one."""
    statement: str = ""
    """The verdict on it in a sentence; empty where nothing was judged."""
    measured_notes: tuple[str, ...] = ()
    """Which steps have no valid figure, and why: a sentence each."""
    notes: tuple[str, ...] = ()
    """What else a reader must know: what was not judged, and in which year the capacity is exceeded."""
    advice: str = ""
    """Id of the advice that holds the working; empty where there is none."""
    steps: tuple[str, ...] = ()
    """Ids of the session's steps that were measured about it; the first leads its chart."""


def card_views(given: AdviceSet, machine: Machine | None, session: Session | None = None) -> tuple[CardView, ...]:
    """Return the cards of a machine, worst first, those without a status last, the licenses at the end.

    ``given`` is the advice that is shown; ``session`` is what was measured.
    """
    judged = {card.resource: card for card in given.cards}
    shown = [
        resource for resource in _TITLES if resource != "space" or (resource in judged and judged[resource].demand)
    ]
    views = [_card_view(judged.get(resource) or Card(resource, "unknown"), machine, session) for resource in shown]
    return tuple(sorted(views, key=lambda view: (view.resource == "license", _WORST.index(view.status))))


def _card_view(card: Card, machine: Machine | None, session: Session | None) -> CardView:
    judged = card.share is not None
    detected: tuple[str, ...] = (card.detected,) if card.detected else ()
    if machine is not None:
        from sizeup.views.card_detected import detected_texts

        detected = detected_texts(machine, card.resource) or detected
    view = CardView(
        card.resource,
        _TITLES[card.resource],
        _STATUS.get(card.status, _STATUS["unknown"]),
        detected,
        demand=card.demand,
        capacity=card.detected if judged else "",
        used=card.share,
        n_plus_one=card.n_plus_one,
        outage=_is_outage(card),
        last_year=card.last_year,
        years=card.horizon_years,
        statement=card.statement,
        notes=card.notes,
        advice=card.advice,
    )
    if session is None or not session.steps:
        return view
    from sizeup.views.card_measured import measured_texts  # which the first screen of a machine does without

    found = measured_texts(session, card.resource)
    return replace(
        view,
        measured=found.texts,
        measured_valid=found.valid,
        measured_notes=found.notes,
        steps=found.steps,
    )


def cards_data(views: Sequence[CardView]) -> list[dict[str, Any]]:
    """Return cards as plain data; shares are fractions of the capacity, unknown ones null."""
    return [
        {
            "card": view.resource,
            "status": view.status if view.status in _JUDGED else None,
            "detected": list(view.detected),
            "measured": list(view.measured),
            "measured_valid": view.measured_valid,
            "demand": view.demand,
            "capacity": view.capacity,
            "used": view.used,
            "n_plus_one": view.n_plus_one,
            "outage": view.outage,
            "last_year": view.last_year,
            "horizon_years": view.years,
            "statement": view.statement,
            "measured_notes": list(view.measured_notes),
            "notes": list(view.notes),
            "steps": list(view.steps),
        }
        for view in views
    ]


def answer_lines(
    given: AdviceSet, width: int = 80, most: int = LINES, basis: str = "", warnings: Sequence[str] = ()
) -> list[str]:
    """Return the answer on one screen: verdict, basis, the table, what limits, fails and costs, then notes.

    Notes and other answers are shown as far as there is room; assumptions come first.
    """
    first = _first(given.cards)
    lines = _verdict_lines(given, first, width)
    lines += _folded("Basis    ", basis, width) if basis else []
    table = _table(given.cards, width)
    lines += ["", *table] if table else []
    notes = [_folded("! ", note, width) for note in _notes(given.cards, first, warnings)]
    details = [_folded(f"{label:9}", text, width) for label, text in _details(given)]
    details = _shortened(details, most - len(lines) - (2 + len(notes[0]) if notes else 1))
    lines += ["", *(line for block in details for line in block)] if details else []
    others = [
        _folded("", one.verdict, width, 2)
        for one in given.advice
        if not one.id.startswith(_OF_CARDS)
        and one.quantity is not None
        and (one.decision in _PROBLEMS or first is None)
    ]
    lines += _as_many_as_fit(notes, most - len(lines))
    if not notes or most - len(lines) > 1:
        lines += _as_many_as_fit(others, most - len(lines))
    room = most - len(lines)
    return [*lines, *(["", _END] if room > 1 else [_END] if room == 1 else [])]


def _shortened(blocks: Sequence[list[str]], room: int) -> list[list[str]]:
    """Return the blocks with the longest of them cut to what there is room for, two lines at least."""
    excess = sum(map(len, blocks)) - room
    longest = max(blocks, key=len, default=[])
    kept = max(len(longest) - excess, 2)
    if excess <= 0 or kept >= len(longest):
        return list(blocks)
    cut = [*longest[: kept - 1], f"{longest[kept - 1][: -len(_MORE)].rpartition(' ')[0].rstrip()}{_MORE}"]
    return [cut if block is longest else block for block in blocks]


_MORE = " … (--working)"
"""What ends a text that was cut."""


def _as_many_as_fit(blocks: Sequence[list[str]], room: int) -> list[str]:
    """Return the lines of the first blocks that fit, after an empty line where all do, and how many do not."""
    whole = [line for block in blocks for line in block]
    if not whole or len(whole) <= room:
        return ["", *whole] if whole and len(whole) < room else whole
    shown, left = _fitting(blocks, room - 1)
    return [*shown, f"! {left} more: sizeup size --working"] if room > 0 else []


def _notes(cards: Sequence[Card], first: Card | None, warnings: Sequence[str]) -> list[str]:
    """Return what stands nowhere else on the screen: assumptions, prices that are old, notes, rules that are old."""
    found = [
        note
        for card in cards
        for note in card.notes
        if note not in card.later
        and (card.resource != "license" or (card.share is None and not card.demand) or _assumes(note))
    ]
    said = "" if first is None else first.statement
    unique = [note for note in dict.fromkeys(found) if note != said and not _within(note, said)]
    prices = [warning for warning in warnings if warning.startswith(PRICE_WARNING)]
    assumed = [note for note in unique if _assumes(note)]
    rest = [*(note for note in unique if note not in assumed), *(text for text in warnings if text not in prices)]
    return [*assumed, *map(capitalized, prices), *map(capitalized, rest)]


def _within(note: str, statement: str) -> bool:
    """Whether a sentence has all of a note behind its subject already."""
    clause = note.partition(": ")[2]
    return bool(clause) and clause in statement


def _assumes(note: str) -> bool:
    return note.startswith("Assumed")


_GIVES = {
    "storage": "storage demand (--workload FILE or workload.iops)",
    "cpu": "CPU demand (workload.cpu_cores)",
    "memory": "memory demand (sga.mb or db.gb)",
    "license": "licenses (machine.cores)",
}
"""What is unknown of a resource without a demand, and the keys that tell it."""


def _missing(cards: Sequence[Card]) -> str:
    """Return what is unknown of the resources that have no demand, with what gives it; empty where nothing is."""
    bare = {card.resource for card in cards if not card.demand and not card.notes}
    return "; ".join(text for resource, text in _GIVES.items() if resource in bare)


def _details(given: AdviceSet) -> Iterator[tuple[str, str]]:
    """Yield what is unknown, limits, fails, grows and costs, each with its label."""
    if _first(given.cards) is not None and (missing := _missing(given.cards)):
        yield "Unknown", capitalized(missing)
    storage = next((card for card in given.cards if card.resource == "storage"), None)
    if storage is not None and len(storage.stages) > 1:
        yield "Limit", "; ".join(f"{stage.name} at {share_text(stage.share)}" for stage in storage.stages)
    failures = _failure_lines(given.cards)
    if failures:
        yield from zip(["N+1", *[""] * (len(failures) - 1)], failures, strict=True)
    elif storage is not None and storage.share is not None:
        yield "N+1", "Storage: unknown, because neither paths nor drives are given (path.stages, array.disks)"
    grown = [card for card in given.cards if card.last_year is not None and card.last_year != card.share]
    if grown:
        yield "Growth", _growth_text(grown)
    license_card = next((card for card in given.cards if card.resource == "license"), None)
    if license_card is not None and license_card.demand:
        edition, unused = given.find("license.edition"), _unused(given)
        if edition is not None:
            yield "Edition", edition.verdict
        if unused:
            yield "Unused", unused
        cost = given.find("license.cost.term") or given.find("license.cost.list")
        if cost is not None:
            yield "Cost", cost.verdict.removeprefix(f"{cost.title}: ")


def _unused(given: AdviceSet) -> str:
    """Return what the chosen edition does not use of the machine: a clause for each limit that is exceeded."""
    limits = [one for one in given.advice if one.id.startswith("license.limit.") and one.decision == "exceeded"]
    return "; ".join(one.verdict.partition(". ")[0].partition("; ")[0] for one in limits)


def _failure_lines(cards: Sequence[Card]) -> list[str]:
    """Return a sentence for each failure with what it leaves: of the storage, or of each resource that it strikes."""
    struck: dict[str, list[tuple[Card, Failure]]] = {}
    for card in cards:
        for failure in card.failures:
            struck.setdefault(failure.lost, []).append((card, failure))
    lines = []
    for lost, parts in struck.items():
        alone = len(parts) == 1 and parts[0][0].resource == "storage"
        texts = [f"{'' if alone else f'{_TITLES[card.resource]} '}{_left_text(card, one)}" for card, one in parts]
        lines.append(f"{lost} lost: {'; '.join(texts)}")
    return lines


def _left_text(card: Card, failure: Failure) -> str:
    """Return what a failure leaves, today and at the end of the horizon: ``64% used, 111% in year 3``."""
    left = "outage" if failure.share is None else f"{share_text(failure.share)} used"
    if failure.last_year is not None and failure.last_year != failure.share:
        left += f", {share_text(failure.last_year)} in {_year(card)}"
    return left


def _year(card: Card) -> str:
    return f"year {format_in(card.horizon_years, '')}"


def _growth_text(cards: Sequence[Card]) -> str:
    """Return the year in which each resource exceeds its capacity; where none does, the highest share."""
    exceeded = [card for card in cards if card.exceeded_in is not None]
    if not exceeded:
        most = max(cards, key=lambda card: card.last_year or 0.0)
        return (
            f"Nothing judged passes {share_text(most.limit)} within {format_in(most.horizon_years, 'years')}; highest: "
            f"{_TITLES[most.resource]}, {share_text(most.last_year or 0.0)} in {_year(most)}"
        )
    return "; ".join(
        f"{_TITLES[card.resource]} is above {share_text(card.limit)} today"
        if card.exceeded_in == 0
        else f"{_TITLES[card.resource]} passes {share_text(card.limit)} in year {card.exceeded_in}"
        for card in exceeded
    )


def _first(cards: Sequence[Card]) -> Card | None:
    """Return the card that decides, else the one that keeps the verdict open; None where nothing has a demand."""
    return verdict(cards) or next(iter(open_cards(cards)), None)


def _verdict_lines(given: AdviceSet, first: Card | None, width: int) -> list[str]:
    if first is not None:
        open_first = first.share is None and first.status == ShareStatus.UNKNOWN.value
        status = "NO VERDICT " if open_first else overall_text(given.cards, first)
        return _folded(f"{status:8} ", f"{first.statement}{beside_first(first, given.cards)}", width)
    lines = _folded("NO VERDICT YET  ", NO_VERDICT, width)
    headline = given.find("io.demand.headline")
    rule = "" if headline is None else headline.verdict.partition(". ")[2]
    return [*lines, *_folded("         ", rule, width)] if rule else lines


def overall_text(cards: Sequence[Card], first: Card) -> str:
    """Return the status of all resources together; ``first`` decides."""
    status = overall(cards).value
    return card_status(first) if status == first.status else status_text(status)


def beside_first(first: Card, cards: Sequence[Card]) -> str:
    """Return what a reader of the first sentence alone must know: what is assumed, and what was not judged."""
    assumed = [
        RESOURCE_NAMES[card.resource]
        for card in cards
        if card is not first and card.status == "assumed" and card.share is not None
    ]
    text = f"; {' and '.join(assumed)} assumed" if assumed and first.status == "pass" else ""
    names = [RESOURCE_NAMES[card.resource] for card in open_cards(cards) if card is not first]
    return f"{text}. Not judged either: {', '.join(names)}" if names and first.share is None else text


def _folded(first: str, text: str, width: int, rest: int | None = None) -> list[str]:
    indent = " " * (len(first) if rest is None else rest)
    return textwrap.wrap(
        one_line(text, 2000), width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )


def _fitting(blocks: Sequence[list[str]], room: int) -> tuple[list[str], int]:
    """Return the lines of the first blocks that fit, and how many blocks do not."""
    lines: list[str] = []
    for number, block in enumerate(blocks):
        if len(lines) + len(block) > room:
            return lines, len(blocks) - number
        lines += block
    return lines, 0


def _table(cards: Sequence[Card], width: int) -> list[str]:
    """Return the table: a line for each resource, also where nothing of it is known."""
    rows = [card for card in cards if card.resource not in _ONLY_KNOWN or card.detected or card.demand]
    if not rows:
        return []
    last = [card for card in rows if card.resource == "license"]
    rows = [*(card for card in rows if card.resource != "license"), *last]
    years = max((card.horizon_years for card in rows), default=0.0)
    numbers = [("Used", [_share(card.share) for card in rows]), ("N+1", [_after_failure(card) for card in rows])]
    if years:
        numbers.append((f"Year {format_in(years, '')}", [_share(card.last_year) for card in rows]))
    statuses = [_table_status(card) for card in rows]
    end = max(7, *map(cell_len, statuses))
    tail = 2 + end + 8 * len(numbers)
    demand = min(max([6, *(cell_len(card.demand) for card in rows if card.resource != "license")]), 20)
    room = width - 9 - tail - demand - 2
    head = f"{'':9}{'Capacity':{room}}  {'Demand':>{demand}}"
    lines = [f"{head}{''.join(f'{title:>8}' for title, _ in numbers)}  Status".rstrip()]
    for number, card in enumerate(rows):
        name = f"{_row_name(card):9}"
        if card.resource == "license":
            text = card.demand or "unknown"
            text = text if cell_len(text) <= width - 11 - end else text.partition(" over ")[0]
            text = _clipped(text, width - 11 - end)
            lines.append(f"{name}{text:{width - 11 - end}}  {statuses[number]}")
            continue
        cells = "".join(f"{values[number]:>8}" for _, values in numbers)
        capacity = _clipped(", ".join(filter(None, (card.detected, card.measured))) or "unknown", room)
        needed = _clipped(card.demand or "–", demand)
        lines.append(f"{name}{capacity:{room}}  {needed:>{demand}}{cells}  {statuses[number]}")
    return lines


OUTAGE = "outage"
"""What stands for the share after a failure that leaves nothing."""
_ONLY_KNOWN = frozenset({"space", "network"})
"""Resources without a line where nothing of them is known."""


def _table_status(card: Card) -> str:
    """Return the status of a line; ``unknown`` where there is a demand, and a dash where there is none."""
    return "unknown" if card.demand and card.status == ShareStatus.UNKNOWN.value else card_status(card)


def _share(share: float | None) -> str:
    return "–" if share is None else share_text(share)


def _row_name(card: Card) -> str:
    """Return the resource of a row; the disks are no part of storage where the paths alone are judged."""
    return "Paths" if card.statement.startswith(capitalized(PATHS)) else _TITLES[card.resource]


def _after_failure(card: Card) -> str:
    """Return the share after the worst single failure; ``outage`` where a failure leaves nothing."""
    return OUTAGE if _is_outage(card) else _share(card.n_plus_one)


def _is_outage(card: Card) -> bool:
    return any(one.share is None for one in card.failures)


def _clipped(text: str, room: int) -> str:
    return text if cell_len(text) <= room else f"{text[: room - 1]}…"
