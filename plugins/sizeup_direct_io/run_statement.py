"""What the checks of a whole run come to, in words: no name of a check or a setting."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.text import plural
from sizeup_direct_io.check_result import Part, Validity

FAILED = {
    "direct": "the I/O did not bypass the page cache",
    "physical": "the data may not have come from the device",
    "steady": "throughput was not steady",
    "concurrent": "writers to one file wait for each other",
    "extending": "writers that extend one file wait for each other",
    "submitters": "the submitting threads were the bottleneck",
}
_WARNED = {
    "direct": "part of the I/O may have used the page cache",
    "physical": "part of the data may have come from a cache",
    "steady": "throughput varied",
    "concurrent": "writers to one file slow each other down",
    "extending": "writers that extend one file slow each other down",
    "submitters": "the submitting threads were busy",
}
_UNCHECKED = {
    "direct": "whether the page cache was bypassed",
    "physical": "whether the data came from the device",
    "steady": "whether throughput was steady",
    "concurrent": "writers to one file",
    "extending": "writers that extend one file",
    "submitters": "whether the submitting threads were the bottleneck",
}
_REMEDIES = {
    "direct": "Measure on a file system that supports direct I/O.",
    "physical": "Measure in a directory, with a file several times as large as every cache.",
    "steady": "Measure again while the machine is idle.",
    "submitters": "Measure with more submitting threads.",
}
_MOST_REASONS = 6


def run_statement(title: str, parts: Sequence[Part], path_changes: Sequence[str]) -> dict[str, str]:
    """Return the statement on a run, and what goes with it; ``title`` is what was run and where."""
    failed, warned, unknown = (
        [part.name for part in parts if part.verdict is verdict]
        for verdict in (Validity.FAIL, Validity.WARN, Validity.UNKNOWN)
    )
    if failed:
        state, clauses = "Storage figures are not valid", [FAILED[name] for name in failed]
    elif warned:
        state, clauses = "Storage figures with a caveat", [_WARNED[name] for name in warned]
    elif unknown:
        named = ", ".join(_UNCHECKED[name] for name in unknown)
        state, clauses = "Storage figures with a caveat", [f"not checked: {named}"]
    else:
        return {"statement": "Storage figures passed every check", "evidence": "\n".join(path_changes)}
    use = "They are not used for a verdict" if failed else "They are used; read the reasons"
    return {
        "statement": f"{state}: {' and '.join(clauses)}",
        "consequence": f"{use} ({title}).",
        "evidence": "\n".join(_reasons(parts, path_changes)),
        "remedy": " ".join(_REMEDIES[name] for name in failed if name in _REMEDIES),
    }


def _reasons(parts: Sequence[Part], path_changes: Sequence[str]) -> list[str]:
    """Return lost paths, the reasons of all checks, those of failed ones first, and how many more there are."""
    order = [Validity.FAIL, Validity.WARN, Validity.UNKNOWN, Validity.PASS]
    gravest_first = sorted(parts, key=lambda part: order.index(part.verdict))
    causes = dict.fromkeys(cause for part in gravest_first for cause in part.causes)
    on_paths = [cause for cause in causes if any(change in cause for change in path_changes)]
    on_paths += [change for change in path_changes if not any(change in cause for cause in causes)]
    found = [*on_paths, *(cause for cause in causes if cause not in on_paths)]
    more = len(found) - _MOST_REASONS
    return [*found[:_MOST_REASONS], *([plural(more, "further reason")] if more > 0 else [])]
