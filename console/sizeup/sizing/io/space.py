"""The share of the storage's space that a database takes, today and in the last year of the horizon."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.model.advice import Advice, ShareFacts
from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.io.array import drive_count, raw_bytes, usable_bytes
from sizeup.sizing.io.capacity import INSIDE, inside_servers, servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, brief, shown
from sizeup.sizing.verdict import Shares, bounds_of, decide, decided_card, judged, limits, open_card, share_text
from sizeup.sizing.workload import Growth, data_growth, data_rate
from sizeup.units import format_in

_DRIVES = {"array.disks", "array.disk_gb"}
"""What the capacity of drives follows from, at least half of it."""


def _space(sheet: Sheet) -> Iterator[Advice]:
    database = sheet.optional("db.gb")
    if database is None:
        return
    found = _capacity(sheet)
    if found is None:
        yield _unknown(sheet, brief(database, "GB"))
        return
    capacity, what = found
    growth, bounds = data_growth(sheet), limits(sheet)

    def shares(space: float, size: float, rate: float) -> Shares:
        return Shares(size / space, growth=Growth(rate, growth.years))

    judgment = decide(bounds, shares, capacity, database, data_rate(sheet, growth))
    today, last = judgment.shares.today, judgment.shares.last_year
    sheet.line(f"{shown(database, 'GB')} / {shown(capacity, 'GB')} = {share_text(today)}")
    if last is not None:
        later = format_in(float(f"{growth.grown(database.value):.4g}"), "GB")
        sheet.line(f"in year {format_in(growth.years, '')}: {later}, {share_text(last)}")
    sheet.caveat("tables and indexes alone count; redo and archived logs, backups and a reserve come on top")
    facts = ShareFacts(bounds_of(database), bounds_of(capacity), "GB", bottleneck=what)
    yield judged(sheet, decided_card("space", judgment, bounds, facts))


def _capacity(sheet: Sheet) -> tuple[Quantity, str] | None:
    """Return the space for the database and what gives it: as set, of the drives, else as detected; None if unknown.

    Of drives without a RAID level it is between half and all of them; all disks of the machine are an upper end alone.
    """
    stated, inside = sheet.inputs.get("capacity.gb"), inside_servers(sheet)
    drives = sheet.inputs.keys() >= _DRIVES and not inside
    of_level = drives and "array.raid" in sheet.inputs
    if isinstance(stated, Quantity) and not (of_level and stated.origin is Origin.DETECTED):
        space = sheet.number("capacity.gb")
        place = None if "db.device" in sheet.inputs else sheet.optional_words("path.measured")
        if place is None or space.origin is not Origin.DETECTED:
            return space, stated.source
        why, way = f"that the database goes to {place}, where the storage was measured", f"Use {KEYS['db.device'].flag}"
        ends = (Doubt(end, why, way, upper=end is None, default=True) for end in (0.0, None))
        return replace(space, doubts=(*space.doubts, *ends)), stated.source
    if drives:
        count = format_in(drive_count(sheet), "drives")
        if of_level:
            return usable_bytes(sheet), f"{count} in RAID {sheet.words('array.raid')}"
        raw = raw_bytes(sheet)
        level = Doubt(raw.value, "the RAID level is not given", f"Use {KEYS['array.raid'].flag}", upper=True)
        copies = sheet.rule("raid.10.copies").value
        return replace(raw, value=raw.value / copies, doubts=(level,)), f"half of {count}, as in RAID 10"
    seen = None if "array.disks" in sheet.inputs else sheet.optional("path.disks_gb")
    if seen is None:
        return None
    why = f"nothing says which of the disks ({brief(seen, 'GB')} in all) are for the database"
    which = Doubt(0.0, why, f"Use {KEYS['db.device'].flag} or {KEYS['capacity.gb'].assignment}")
    return replace(seen, doubts=(which,)), f"{seen.source}, all that the machine sees"


def _unknown(sheet: Sheet, needed: str) -> Advice:
    """Return the verdict where the space is unknown, with the reason and what to do."""
    if "array.disks" in sheet.inputs and "array.disk_gb" not in sheet.inputs:
        why, key = f"the {KEYS['array.disk_gb'].help} is not given", "array.disk_gb"
    elif servers(sheet) > 1:
        why, key = INSIDE, "path.stages"
    else:
        why, key = "nothing tells how large the storage is", "capacity.gb"
    also = "" if key == "capacity.gb" else f" or {KEYS['capacity.gb'].assignment}"
    said = f"Space: {needed} demand, capacity unknown, because {why}. Use {KEYS[key].flag}{also}"
    return judged(sheet, open_card("space", said, needed))


CALCULATIONS = (Calculation("space", _space, ("verdict.space",), about=("db.gb", "capacity.gb")),)
