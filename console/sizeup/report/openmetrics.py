"""The estimates of one session in the text format of OpenMetrics, for a file that node_exporter reads.

Only what OpenMetrics and Prometheus' own text format have in common is used, as node_exporter's textfile collector
reads the latter: gauges, no time of a sample, and comments that it passes over (``# UNIT``, ``# EOF``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC

from msgspec import Struct, field

from sizeup.report.tidy import column_names, session_rows
from sizeup.session.value import PointKey, Session
from sizeup.text import one_line

_UNITS: Mapping[str, tuple[str, float]] = {
    "ns": ("seconds", 1e-9),
    "bytes": ("bytes", 1.0),
    "bytes/s": ("bytes_per_second", 1.0),
    "1/s": ("per_second", 1.0),
    "Hz": ("hertz", 1.0),
    "share": ("ratio", 1.0),
    "ratio": ("ratio", 1.0),
    "1": ("", 1.0),
    "verdict": ("", 1.0),
}
"""The unit that ends the name of a metric, and the factor to it: Prometheus has seconds, no nanoseconds."""


class _Family(Struct):
    """The samples of one metric."""

    help: str
    unit: str
    samples: list[tuple[Mapping[str, str], float]] = field(default_factory=list)


def openmetrics(session: Session, times: Mapping[tuple[str, PointKey], int]) -> str:
    """Return the text; estimates of a quantity have its name, others those of their probe and series."""
    rows = list(session_rows(session, times))
    labels = column_names(sorted({key for row in rows for key in row.at}))
    families: dict[str, _Family] = {}
    for row in rows:
        fixed = {name: str(getattr(row, name)) for name in ("probe", "step", "run", "series", "status")}
        found = fixed | {label: str(row.at[key]) for key, label in labels.items() if key in row.at}
        unit, factor = _UNITS.get(row.unit or "1", (_word(row.unit or ""), 1.0))
        base = f"sizeup_{_word(row.quantity or f'{row.probe}_{row.series}')}".removesuffix(f"_{unit}")
        what = row.quantity or f"{row.probe}, series {row.series}"
        ends = (("", "", row.value), ("_low", ": low end of the 95 % interval", row.low))
        for ending, text, value in (*ends, ("_high", ": high end of the 95 % interval", row.high)):
            if value is not None:
                family = families.setdefault(f"{base}{ending}_{unit}".rstrip("_"), _Family(f"{what}{text}", unit))
                family.samples.append((found, value * factor))
    about = {"session": session.header.id, "host": session.header.host, "tool": session.header.tool}
    if rows:
        about["machine_type"] = rows[0].machine_type or ""
    families["sizeup_session_info"] = _Family("The session that the estimates are of.", "", [(about, 1.0)])
    moments = [row.time for row in rows if row.time is not None]
    if moments:
        last = max(moments).replace(tzinfo=UTC).timestamp()
        text = "When the last estimate was made, in seconds since 1970."
        families["sizeup_session_timestamp_seconds"] = _Family(text, "seconds", [({}, last)])
    return "\n".join([*_lines(families), "# EOF", ""])


def _lines(families: Mapping[str, _Family]) -> Iterator[str]:
    for name, family in sorted(families.items()):
        yield f"# TYPE {name} gauge"
        if family.unit:
            yield f"# UNIT {name} {family.unit}"
        yield f"# HELP {name} {_escaped(family.help.replace(chr(34), chr(39)))}"
        # node_exporter wants the same labels for all samples of a metric.
        labels = list(dict.fromkeys(label for found, _ in family.samples for label in found))
        seen: set[tuple[str, ...]] = set()
        for found, value in family.samples:
            values = tuple(found.get(label, "") for label in labels)
            if values in seen:
                continue
            seen.add(values)
            text = ",".join(f'{label}="{_escaped(one)}"' for label, one in zip(labels, values, strict=True))
            yield f"{name}{{{text}}} {value!r}" if text else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return one_line(text, 1000).replace("\\", "\\\\").replace('"', '\\"')


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "unnamed"
