"""Why a comparison as a whole may mislead, and which verdicts of the probes changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sizeup.compare.comparison import LEVEL, LEVEL_WITHOUT_TIMES
from sizeup.compare.curves import Runs
from sizeup.compare.digest import Digest, RunValue
from sizeup.units import format_verdict

SAME_SESSION = "both sides hold the same session"
_BUSY_PERCENT = 20.0
_VERDICTS_NAMED = 3


def only_published(*sides: Sequence[Digest]) -> bool:
    """Whether a side holds nothing but published cases."""
    return any(all(digest.source for digest in side) for side in sides)


def order_caveats(*, turns: bool, timed: bool) -> Iterable[str]:
    """Whether drift can look like a difference, because the runs were not interleaved."""
    if turns:
        return
    remedy = (
        "a difference must stand out from the trend over the runs, which takes more of them"
        if timed
        else f"significance level lowered from {LEVEL:g} to {LEVEL_WITHOUT_TIMES:g}"
    )
    yield f"runs were not interleaved on one host, so drift can look like a difference ({remedy})"


def comparison_caveats(new: Sequence[Digest], baseline: Sequence[Digest]) -> Iterable[str]:
    """Why the comparison as a whole may mislead."""
    if {d.id for d in new} & {d.id for d in baseline}:
        yield SAME_SESSION
    for digests, name in ((new, "new side"), (baseline, "baseline")):
        if len({d.host for d in digests if not d.source}) > 1:
            yield f"the {name} mixes hosts: {', '.join(sorted({d.host for d in digests}))}"
        for session in digests:
            for sentence in (*session.damage, *session.invalid_results):
                yield f"{session.path}: {sentence}"
    for fact in ("kernel", "governor", "transparent_huge_pages", "clock_source", "load"):
        seen = [
            sorted({str(d.facts.get(fact)) for d in side if d.facts.get(fact) is not None}) for side in (new, baseline)
        ]
        if seen[0] != seen[1] and all(seen):
            yield f"{fact.replace('_', ' ')} differs: {', '.join(seen[0])} (baseline: {', '.join(seen[1])})"
    for session in (*new, *baseline):
        busy = session.facts.get("others_busy_percent")
        if isinstance(busy, int | float) and busy >= _BUSY_PERCENT:
            names = session.facts.get("others_busy")
            yield f"{session.path}: other processes used {busy:.0f} % of a CPU at its end: {names}"


def settings_caveats(ours: Mapping[str, Runs], theirs: Mapping[str, Runs], common: Sequence[str]) -> Iterable[str]:
    """Return which parameters and versions differ, once for the metrics of a probe that share them."""
    found: dict[tuple[str, str], list[str]] = {}
    for metric in common:
        for what, pick in (("parameters", _parameters), ("versions", _versions)):
            left, right = pick(ours[metric]), pick(theirs[metric])
            if left != right:
                found.setdefault((metric.rpartition(".")[0], f"{what} differ: {_differing(left, right)}"), []).append(
                    metric
                )
    for (probe, words), metrics in found.items():
        yield f"{metrics[0] if len(metrics) == 1 else probe}: {words}"


def verdict_changes(ours: Mapping[str, Runs], theirs: Mapping[str, Runs]) -> Iterable[str]:
    """Return which verdicts differ from those of the baseline."""
    for metric in (metric for metric in ours if metric in theirs):
        shared = [key for key in ours[metric] if key in theirs[metric]]
        texts = [
            f"{', '.join(f'{name} {value}' for name, value in key[1]) or 'in all'}: {left} (baseline: {right})"
            for key in shared
            if (left := _verdicts_text(ours[metric][key])) != (right := _verdicts_text(theirs[metric][key]))
        ]
        if texts:
            more = "" if len(texts) <= _VERDICTS_NAMED else f"; and {len(texts) - _VERDICTS_NAMED} more"
            yield f"{metric}: {len(texts)} of {len(shared)} verdicts differ: {'; '.join(texts[:_VERDICTS_NAMED])}{more}"


def _verdicts_text(runs: Mapping[str, RunValue]) -> str:
    return " and ".join(sorted({format_verdict(value.value) for value in runs.values()}))


def _parameters(runs: Runs) -> set[str]:
    return {
        f"{name}={value}" for values in runs.values() for run in values.values() for name, value in run.settings.items()
    }


def _versions(runs: Runs) -> set[str]:
    return {run.distribution for values in runs.values() for run in values.values()}


def _differing(left: set[str], right: set[str]) -> str:
    only_left, only_right = sorted(left - right)[:3], sorted(right - left)[:3]
    return f"{', '.join(only_left) or 'none'} (baseline: {', '.join(only_right) or 'none'})"
