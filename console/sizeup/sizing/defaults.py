"""What nobody chose of a demand of storage: each default with the ends of its range, and which of them decide.

A default that cannot change the status is not worth a word. One that can makes a pass ASSUMED, and is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.sheet import Inputs, Sheet, shown
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.sizing.workload import ONE_INSTANCE, averages, covers_one_instance
from sizeup.units import format_in


class JudgedEnds(Struct, frozen=True):
    """What the storage, or a part of it, is judged as, with its shares of the ends of the capacity."""

    status: ShareStatus
    best: float
    worst: float
    when: str = ""
    """In which year they are: `` in year 3``; empty for today."""


def resting_on(
    sheet: Sheet, now: JudgedEnds, judge: Callable[[Sheet], JudgedEnds], *, by_rule: bool = False
) -> tuple[str, ...]:
    """Return the defaults that can change the status, each with the share there; all of them where none does alone."""
    if now.status is ShareStatus.UNCERTAIN:
        return ()
    given = {text: ends for text, ends in _defaults(sheet, by_rule=by_rule).items() if ends}
    unbound = JudgedEnds(ShareStatus.FAIL, math.inf, math.inf)
    reached = {
        (text, words): unbound if end is None else judge(Sheet({**sheet.inputs, **end}, sheet.rules))
        for text, ends in given.items()
        for words, end in ends.items()
    }
    changing = [place for place, at in reached.items() if at.status is not now.status]
    for choose in () if changing else (max, min):
        picked = [
            choose(((text, words) for words in ends), key=lambda at: reached[at].worst) for text, ends in given.items()
        ]
        together = {key: value for text, words in picked for key, value in (given[text][words] or {}).items()}
        if len(picked) > 1 and judge(Sheet({**sheet.inputs, **together}, sheet.rules)).status is not now.status:
            changing += [at for at in picked if reached[at] != now]
    named: dict[str, list[tuple[str, JudgedEnds]]] = {}
    for text, words in changing:
        named.setdefault(text, []).append((words, reached[text, words]))
    return tuple(_named(text, ends, now) for text, ends in named.items())


def _named(text: str, ends: Sequence[tuple[str, JudgedEnds]], now: JudgedEnds) -> str:
    """Return a default with the shares at some of its ends."""
    shares = ((words, at.best if now.status is ShareStatus.FAIL else at.worst) for words, at in ends)
    said = ", ".join(
        f"{share_text(share)}{now.when} {words}" for words, share in shares if words.strip() and share < math.inf
    )
    return f"{text} ({said})" if said else text


def _defaults(sheet: Sheet, *, by_rule: bool) -> Mapping[str, Mapping[str, Inputs | None]]:
    """Return what nobody chose of a demand, and what replaces it at each end; None where nothing bounds the demand."""
    if by_rule:  # which is no workload: neither end of it is known
        none = Quantity(0.0, "bytes/s", Origin.RULE, "no workload")
        return {"a rule of thumb in place of a workload": {"": None, " ": {"workload.mb_s": none}}}
    found: dict[str, Mapping[str, Inputs | None]] = {ONE_INSTANCE: {"": None}} if covers_one_instance(sheet) else {}
    if hidden := averages(sheet):
        factor = sheet.rule("workload.peak-factor").value
        peaks = {key: value.scaled(factor) for key, value in hidden.items()}
        found["no peaks above the average"] = {f"at {format_in(factor, '')} times that": peaks}
    for key, unit, text in (
        ("workload.io_kib", "KiB", "a block size of {} by default"),
        ("workload.read_percent", "%", "{} reads by default"),
    ):
        value = sheet.inputs.get(key)
        if isinstance(value, Quantity) and value.origin is Origin.RULE and sheet.has_used(key):
            ends = (Quantity(end, value.unit, value.origin, value.source) for end in (value.low, value.high) if end)
            found[text.format(shown(value, unit))] = {f"at {shown(end, unit)}": {key: end} for end in ends}
    if sheet.has_used("redo.write.usual"):
        largest = sheet.rules.figure("redo.write.largest")
        sizes = {"one block": sheet.inputs.get("workload.io_kib"), shown(largest, "KiB"): largest}
        found[f"redo writes of {shown(sheet.rule('redo.write.usual'), 'KiB')} by default"] = {
            f"if they are of {name}": {"redo.write_kib": size}
            for name, size in sizes.items()
            if isinstance(size, Quantity)
        }
    key = "capacity.commits_s"
    if isinstance(commits := sheet.inputs.get(key), Quantity) and sheet.has_used(key):
        for one in commits.doubts:
            if one.default and one.end:
                fewer = Quantity(one.end, commits.unit, commits.origin, commits.source)
                found[one.reason] = {"at 1": {key: fewer}}
    if sheet.has_used("path.stages") and "path.policy" not in sheet.inputs:
        passive = Words("active-passive", Origin.RULE, "half of the paths")
        found["all paths carry data"] = {"if half are passive": {"path.policy": passive}}
    return found
