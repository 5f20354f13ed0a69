"""The share of the storage's space that a database takes, today and in the last year of the horizon."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice, ShareFacts
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.io.array import drive_count, raw_bytes, usable_bytes
from sizeup.sizing.io.capacity import INSIDE, inside_servers, servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, brief, shown
from sizeup.sizing.verdict import (
    Shares,
    assumed_clause,
    exactly,
    judged,
    limits,
    open_card,
    share_card,
    share_text,
    shares_clause,
    statement,
    without_unconfirmed_pass,
)
from sizeup.sizing.workload import data_growth
from sizeup.units import format_in

VERDICT = "verdict.space"
"""The id of the advice."""
_ARRAY = ("array.disks", "array.disk_gb", "array.raid")
"""What the usable capacity of an array follows from."""


def _space(sheet: Sheet) -> Iterator[Advice]:
    database = sheet.optional("db.gb")
    if database is None:
        return
    needed = brief(database, "GB")
    capacity, what = _capacity(sheet)
    if capacity is None:
        capacity, what = _most(sheet)
        if capacity is None or database.value <= capacity.value:
            yield _unknown(sheet, needed)
            return
    shares = Shares(database.value / capacity.value, growth=data_growth(sheet))
    bounds = limits(sheet)
    sheet.line(f"{shown(database, 'GB')} / {shown(capacity, 'GB')} = {share_text(shares.today)}")
    if shares.last_year is not None:
        later = format_in(float(f"{shares.growth.grown(database.value):.4g}"), "GB")
        sheet.line(f"in year {format_in(shares.growth.years, '')}: {later}, {share_text(shares.last_year)}")
    sheet.caveat("tables and indexes alone count; redo and archived logs, backups and a reserve come on top")
    assumptions, notes, assumed = _assumptions(sheet, capacity)
    status = without_unconfirmed_pass(bounds.status(shares), assumed)
    facts = ShareFacts(exactly(database.value), exactly(capacity.value), "GB", bottleneck=what)
    said = statement("Space", facts, shares_clause(shares, bounds), limited=assumed_clause(status, assumed))
    yield judged(
        sheet,
        share_card(
            "space",
            status,
            said,
            shares,
            bounds,
            facts,
            advice=VERDICT,
            assumptions=assumptions,
            notes=notes,
            assumed=assumed,
        ),
    )


def _assumptions(sheet: Sheet, capacity: Quantity) -> tuple[list[str], list[str], list[str]]:
    """Return what of a detected space is assumed, in sentences, what must be known of it, and the same assumptions."""
    if capacity.origin is not Origin.DETECTED or capacity is not sheet.inputs.get("capacity.gb"):
        return [], [], []
    unsure, used = sheet.optional_words("path.space_unsure"), sheet.optional_words("path.space_used")
    place = None if "db.device" in sheet.inputs else sheet.optional_words("path.measured")
    sentences, notes, assumed = [], [], []
    if place is not None:
        assumed.append(f"that the database goes to {place}, where the storage was measured")
        sentences.append(f"assumed: {assumed[0]}. Use {KEYS['db.device'].flag}")
    if unsure is not None:
        assumed.append(f"that {unsure}")
        why = f"it is in use ({used}), and its free space is unknown"
        sentences.append(f"assumed: that {unsure}: {why}. Use {KEYS['capacity.gb'].flag}")
    elif sheet.optional_words("path.free_on") is not None:
        change = f"if data of this database is there already, add its size: {KEYS['capacity.gb'].flag}"
        notes.append(f"space: {brief(capacity, 'GB')} {capacity.source} counts; {change}")
    return sentences, notes, assumed


def _capacity(sheet: Sheet) -> tuple[Quantity | None, str]:
    """Return the space for the database and what gives it: as set, of the drives, else as detected; None if unknown."""
    stated = sheet.inputs.get("capacity.gb")
    drives = all(key in sheet.inputs for key in _ARRAY) and not inside_servers(sheet)
    if isinstance(stated, Quantity) and not (drives and stated.origin is Origin.DETECTED):
        return sheet.number("capacity.gb"), stated.source
    if not drives:
        return None, ""
    return usable_bytes(sheet), f"{format_in(drive_count(sheet), 'drives')} in RAID {sheet.words('array.raid')}"


def _most(sheet: Sheet) -> tuple[Quantity | None, str]:
    """Return what the space cannot exceed and why: drives without RAID, else all disks; None where nothing tells."""
    if "array.disks" not in sheet.inputs:
        seen = sheet.optional("path.disks_gb")
        return seen, "" if seen is None else f"{seen.source}, all that the machine sees"
    if "array.disk_gb" not in sheet.inputs or inside_servers(sheet):
        return None, ""
    return raw_bytes(sheet), "all drives, without RAID"


def _unknown(sheet: Sheet, needed: str) -> Advice:
    """Return the verdict where the space is unknown, with the reason and what to do."""
    seen = sheet.optional("path.disks_gb")
    missing = next((key for key in _ARRAY if key not in sheet.inputs), "")
    if servers(sheet) > 1 and seen is None and (not missing or "array.disks" not in sheet.inputs):
        why, key = INSIDE, "path.stages"
    elif "array.disks" in sheet.inputs:
        why, key = f"the {KEYS[missing].help} is not given", missing
    elif seen is not None:
        why, key = f"nothing says which of the disks ({brief(seen, 'GB')} in all) are for the database", "db.device"
    else:
        why, key = "nothing tells how large the storage is", "capacity.gb"
    also = "" if key == "capacity.gb" else f" or {KEYS['capacity.gb'].assignment}"
    said = f"Space: {needed} demand, capacity unknown, because {why}. Use {KEYS[key].flag}{also}"
    return judged(sheet, open_card("space", said, needed, VERDICT))


CALCULATIONS = (Calculation("space", _space, ("verdict.space",), about=("db.gb", "capacity.gb")),)
