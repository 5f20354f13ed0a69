"""What sizing answers, on one screen: the verdict, a table of all resources, and what a reader must know beside it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from sizeup.model.advice import Advice, AdviceSet, Card, Failure
from sizeup.model.finding import Finding
from sizeup.sizing.advise import Sizing
from sizeup.sizing.inputs.presets import Preset, unchanged_preset
from sizeup.sizing.sizing_comparison import beside_printed
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.sizing.workload import YEAR_NS
from sizeup.text import capitalized, clipped, one_line, wrap
from sizeup.units import format_in
from sizeup.views.cards.cards import OUTAGE, TITLES, CardView, card_status, status_text
from sizeup.views.cards.measured_texts import MeasuredTexts
from sizeup.views.cards.table import card_table
from sizeup.views.result.license_answer import END as LICENSE_END
from sizeup.views.result.license_answer import (
    is_about_licenses,
    license_basis,
    license_details,
    license_notes,
    license_rest,
    license_verdict,
)
from sizeup.views.result.summary import critical
from sizeup.views.result.verdict import first_card, in_order, overall_text, unsettled_note

_GIVES = {
    "storage": "storage demand (--workload FILE or workload.iops)",
    "cpu": "CPU demand (workload.cpu_cores)",
    "memory": "memory demand (sga.mb or db.hot_gb)",
    "license": "licenses ({})",
}
"""What is unknown of a resource without a demand, and the keys that tell it; of the licenses the one they lack."""
LINES = 25
"""Lines of one screen."""
_PROBLEMS = frozenset({"short", "does-not-fit", "cyclops", "above-path", "above-catalog", "much"})
"""Decisions that a reader must know even where there is a verdict."""
_NO_WORKLOAD = (
    "No workload. Give one with --workload FILE (AWR, Statspack, sar or iostat) or --set workload.iops=N, or judge by "
    "published requirements with --profile etcd"
)
_END = "Working: sizeup size --show working, or storage, space, cpu, memory, license"
_OF_CARDS = ("verdict.", "license.", "io.demand.", "io.capacity", "io.line-rate.", "value.ghz-per-license")
"""What begins the ids of advice that the table has already, or that its working has."""


def answer_lines(
    given: Sizing, width: int = 80, most: int = LINES, basis: str = "", findings: Sequence[Finding] = ()
) -> list[str]:
    """Return the answer on one screen: verdict, basis, what is broken, the table, what limits and costs, then notes.

    Notes and other answers are shown as far as there is room; assumptions come first.
    """
    case = unchanged_preset(given.inputs)
    printed = [] if case is None else _printed(case, given, width)
    if is_about_licenses(given):
        return _license_lines(given, width, most, printed)
    first = first_card(given.cards)
    lines = _folded("NO VERDICT YET  ", _NO_WORKLOAD, width)
    if first is not None:
        status = overall_text(given.cards)
        status = card_status(first) if status == status_text(first.status) else status
        lines = _folded(f"{status:8} ", f"{first.statement}{unsettled_note(first, given.cards)}", width)
    lines += _folded("Basis    ", basis, width) if basis else []
    if grave := critical(sorted(findings, key=in_order([card.resource for card in given.cards]))):
        more = f" (and {len(grave) - 1} more)" if len(grave) > 1 else ""
        lines.append(f"Critical {clipped(grave[0].title, width - 9 - len(more))}{more}")
    lines += printed
    rows = [card for card in given.cards if card.resource in _ALWAYS or card.detected or card.demand]
    known = [(tuple(filter(None, (card.detected,))), tuple(filter(None, (card.measured,)))) for card in rows]
    views = [CardView(card, one, MeasuredTexts(two)) for card, (one, two) in zip(rows, known, strict=True)]
    views.sort(key=lambda view: view.resource == "license")
    lines += ["", *card_table(views, width)] if views else []
    notes = [_folded("! ", note, width) for note in answer_notes(given, first)]
    details = [_folded(f"{label:9}", text, width) for label, text in (*answer_details(given), *license_details(given))]
    details = _shortened(details, most - len(lines) - (2 + len(notes[0]) if notes else 1))
    lines += ["", *(line for block in details for line in block)] if details else []
    stated = () if case is None else case.printed
    others = [_folded("", text, width, 2) for text in other_answers(given, first, stated)]
    lines += _as_many_as_fit(notes, most - len(lines))
    if not notes or most - len(lines) > 1:
        lines += _as_many_as_fit(others, most - len(lines))
    max_lines = most - len(lines)
    return [*lines, *(["", _END] if max_lines > 1 else [_END] if max_lines == 1 else [])]


def _printed(case: Preset, given: Sizing, width: int) -> list[str]:
    """Return what the author of a published case states, beside what follows from its inputs."""
    lines = [""]
    for text, ours in beside_printed(case, given):
        found = ours.verdict if isinstance(ours, Advice) else f"{ours.title}: {ours.ratio.sentence()}"
        lines += _folded("Printed  " if lines == [""] else " " * 9, f"{text}; worked out: {found}", width)
    return lines[1:] and lines


def _license_lines(given: Sizing, width: int, most: int, printed: Sequence[str]) -> list[str]:
    """Return the answer about licenses alone: count, editions, cost, then what they rest on."""
    status, statement = license_verdict(given)
    lines = _folded(f"{status:8} ", statement, width)
    counted = license_basis(given)
    lines += _folded("Counted  ", counted, width) if counted else []
    lines += printed
    details = [_folded(f"{label:9}", text, width) for label, text in license_details(given)]
    lines += ["", *(line for block in details for line in block)] if details else []
    notes = dict.fromkeys(license_notes(given))
    lines += _as_many_as_fit([_folded("! ", note, width) for note in notes], most - len(lines) - 2)
    lines += _as_many_as_fit([_folded("", text, width, 2) for text in license_rest(given)], most - len(lines) - 2)
    max_lines = most - len(lines)
    return [*lines, *(["", LICENSE_END] if max_lines > 1 else [LICENSE_END] if max_lines == 1 else [])]


def _shortened(blocks: Sequence[list[str]], max_lines: int) -> list[list[str]]:
    """Return the blocks with the longest of them cut to what there is room for, two lines at least."""
    excess = sum(map(len, blocks)) - max_lines
    longest = max(blocks, key=len, default=[])
    kept = max(len(longest) - excess, 2)
    if excess <= 0 or kept >= len(longest):
        return list(blocks)
    cut = [*longest[: kept - 1], f"{longest[kept - 1][: -len(_MORE)].rpartition(' ')[0].rstrip()}{_MORE}"]
    return [cut if block is longest else block for block in blocks]


_MORE = " … (--show working)"
"""What ends a text that was cut."""


def _as_many_as_fit(blocks: Sequence[list[str]], max_lines: int) -> list[str]:
    """Return the lines of the first blocks that fit, after an empty line where all do, and how many do not."""
    whole = [line for block in blocks for line in block]
    if not whole or len(whole) <= max_lines:
        return ["", *whole] if whole and len(whole) < max_lines else whole
    shown: list[str] = []
    left = len(blocks)
    for block in blocks:
        if len(shown) + len(block) > max_lines - 1:
            break
        shown, left = [*shown, *block], left - 1
    return [*shown, f"! {left} more: sizeup size --show working"] if max_lines > 0 else []


def answer_notes(given: Sizing, first: Card | None) -> list[str]:
    """Return what stands nowhere else on the screen: assumptions, prices that are old, notes, rules that are old."""
    found = [note for card in given.cards for note in card.notes if card.resource != "license" or not card.demand]
    said = "" if first is None else first.statement
    unique = [note for note in dict.fromkeys(found) if note != said]
    says_so = first if first is not None and first.status != ShareStatus.ASSUMED.value else None
    assumed = dict.fromkeys(text for card in given.cards if card is not says_so for text in card.assumptions)
    rest = [*unique, *(text for text in given.warnings if text not in given.price_warnings)]
    return [*assumed, *map(capitalized, given.price_warnings), *map(capitalized, rest)]


def other_answers(given: AdviceSet, first: Card | None, stated: Container[str] = ()) -> list[str]:
    """Return what else has an answer but the ids ``stated``: beside a verdict (``first``) only what is a problem."""
    return [
        one.verdict
        for one in given.advice
        if not one.id.startswith(_OF_CARDS)
        and one.quantity is not None
        and one.id not in stated
        and (one.decision in _PROBLEMS or first is None)
    ]


def _folded(first: str, text: str, width: int, rest: int | None = None) -> list[str]:
    indent = " " * (len(first) if rest is None else rest)
    return wrap(one_line(text, 2000), width, first, indent)


_ALWAYS = frozenset({"storage", "cpu", "memory", "license"})
"""Resources with a line where nothing of them is known as well."""


def answer_details(given: AdviceSet) -> Iterator[tuple[str, str]]:
    """Yield what is unknown, limits, fails and grows, each with its label."""
    bare = {card.resource for card in given.cards if not card.demand and not card.notes}
    asked = given.lacks("licenses") or "machine.cores"
    missing = "; ".join(text.format(asked) for resource, text in _GIVES.items() if resource in bare)
    if first_card(given.cards) is not None and missing:
        yield "Unknown", capitalized(missing)
    storage = next((card for card in given.cards if card.resource == "storage"), None)
    if storage is not None and len(storage.stages) > 1:
        known = {
            stage: "" if stage.status != ShareStatus.UNCERTAIN.value else " (not certain)" for stage in storage.stages
        }
        yield "Limit", "; ".join(f"{stage.name} at {share_text(stage.share)}{known[stage]}" for stage in storage.stages)
    failures = _failure_lines(given.cards)
    if failures:
        yield from zip(["N+1", *[""] * (len(failures) - 1)], failures, strict=True)
    elif storage is not None and storage.share is not None:
        yield "N+1", "Storage: unknown, because neither paths nor drives are given (path.stages, array.disks)"
    grown = [card for card in given.cards if card.last_year is not None and card.last_year != card.share]
    if grown:
        used = [entry for card in grown if (one := given.find(card.advice)) is not None for entry in one.inputs]
        rates = [entry.quantity for entry in used if entry.key == "db.growth_percent" and entry.quantity is not None]
        like_load = any(rate.source == "workload.growth_percent" for rate in rates)
        yield "Growth", f"{_growth_text(grown)}{'; the data grows like the load' * like_load}"
    if storage is not None and storage.share is None and (later := _later_demand(given)):
        yield later


def _failure_lines(cards: Sequence[Card]) -> list[str]:
    """Return a sentence for each failure with what it leaves: of the storage, or of each resource that it strikes."""
    struck: dict[str, list[tuple[Card, Failure]]] = {}
    for card in cards:
        for failure in card.failures:
            struck.setdefault(failure.lost, []).append((card, failure))
    lines = []
    for lost, parts in struck.items():
        alone = all(card.resource == "storage" for card, _ in parts)
        texts: dict[str, None] = {}
        for card, one in parts:  # what it leaves, today and at the end of the horizon: 64 % used, 111 % in year 3
            left = OUTAGE if one.share is None else f"{share_text(one.share)} used"
            if one.last_year is not None and one.last_year != one.share:
                left += f", {share_text(one.last_year)} in {_year(card)}"
            texts[left if alone else f"{TITLES[card.resource]} {left}"] = None
        lines.append(f"{lost} lost: {'; '.join(texts)}")
    return lines


def _year(card: Card) -> str:
    return f"year {format_in(card.horizon_years, '')}"


def _later_demand(given: AdviceSet) -> tuple[str, str] | None:
    """Return what the storage has to carry in the last year, which no share tells while its capacity is unknown."""
    texts = []
    for name, unit in (("io.demand.measured-iops", "IOPS"), ("io.demand.measured", "MB/s")):
        advice = given.find(name)
        if advice is None or advice.quantity is None:
            continue
        rates = {entry.key: entry.quantity.value for entry in advice.inputs if entry.quantity is not None}
        years = rates.get("workload.horizon_years", 0.0) / YEAR_NS
        if not years:
            return None
        later = advice.quantity.value * (1 + rates.get("workload.growth_percent", 0.0)) ** years
        texts.append(format_in(float(f"{later:.4g}"), unit))
    return (f"Year {format_in(years, '')}", f"Storage must carry {', '.join(texts)}") if texts else None


def _growth_text(cards: Sequence[Card]) -> str:
    """Return the year in which each resource exceeds its capacity; where none does, the highest share."""
    exceeded = [card for card in cards if card.exceeded_in is not None]
    if not exceeded:
        most = max(cards, key=lambda card: card.last_year or 0.0)
        return (
            f"Nothing judged passes {share_text(most.limit)} within {format_in(most.horizon_years, 'years')}; highest: "
            f"{TITLES[most.resource]}, {share_text(most.last_year or 0.0)} in {_year(most)}"
        )
    return "; ".join(
        f"{TITLES[card.resource]} is above {share_text(card.limit)} today"
        if card.exceeded_in == 0
        else f"{TITLES[card.resource]} passes {share_text(card.limit)} in year {card.exceeded_in}"
        for card in exceeded
    )
