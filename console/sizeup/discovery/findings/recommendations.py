"""What vendors recommend for a setting, from ``recommendations.toml``, each with its source."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

from msgspec import Struct

from sizeup.decoding import parse_toml
from sizeup.units import whole_number


class RecommendationSource(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of a vendor."""

    id: str
    product: str
    title: str
    url: str
    doc_date: str
    """What the page says of its own age: an ISO date, or ``undated``."""


class Recommendation(Struct, frozen=True):
    """One vendor's value of one setting."""

    setting: str
    """As in ``setting_facts``."""
    value: str
    accepts: tuple[str, ...]
    source: RecommendationSource

    def agrees(self, found: str) -> bool:
        """Return whether a value as the kernel writes it is what the vendor recommends."""
        return any(_accepts(each, found) for each in self.accepts)

    @property
    def text(self) -> str:
        """Return it as a sentence for the evidence of a finding."""
        dated = "" if self.source.doc_date == "undated" else f", {self.source.doc_date}"
        return f"{self.source.product} recommends {self.value} ({self.source.url}{dated})"


def _accepts(accepted: str, found: str) -> bool:
    low, dots, high = accepted.partition("..")
    if not dots:
        return found == accepted
    number, lowest, highest = whole_number(found), int(low), int(high)
    return number is not None and lowest <= number <= highest


class _RecommendationEntry(Struct, frozen=True, forbid_unknown_fields=True):
    setting: str
    source: str
    accepts: tuple[str, ...]
    value: str


class _RecommendationFile(Struct, frozen=True, forbid_unknown_fields=True):
    checked: date
    source: tuple[RecommendationSource, ...]
    recommendation: tuple[_RecommendationEntry, ...]


@cache
def recommendations() -> dict[str, tuple[Recommendation, ...]]:
    """Return all recommendations by setting, in the order of the file."""
    # By path: importlib.resources takes longer to import than the file to read.
    text = Path(__file__).with_name("recommendations.toml").read_text(encoding="utf-8")
    file: _RecommendationFile = parse_toml(text, "recommendations.toml", "recommendations", _RecommendationFile)
    sources = {source.id: source for source in file.source}
    found: dict[str, list[Recommendation]] = {}
    for entry in file.recommendation:
        one = Recommendation(entry.setting, entry.value, entry.accepts, sources[entry.source])
        found.setdefault(entry.setting, []).append(one)
    return {setting: tuple(each) for setting, each in found.items()}


def source_lines(setting: str) -> tuple[str, ...]:
    """Return what each vendor recommends for a setting, with its source."""
    return tuple(each.text for each in recommendations().get(setting, ()))
