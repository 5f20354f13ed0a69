"""The result of a check, and how its reasons make it up."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Validity(Enum):
    """The result of a check."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


class Part(Struct, frozen=True):
    """One check and its result."""

    name: str
    verdict: Validity
    reasons: tuple[str, ...]
    """All evidence, as text."""
    caveats: tuple[str, ...] = ()
    """The reasons that did not pass, each with what to set."""
    causes: tuple[str, ...] = ()
    """The same without what to set."""
    from_cache: bool = False
    """The figure may be that of a cache: sizing does not use it, whatever the verdict."""


def _worst(verdicts: list[Validity]) -> Validity:
    for verdict in (Validity.FAIL, Validity.WARN, Validity.UNKNOWN):
        if verdict in verdicts:
            return verdict
    return Validity.PASS


class VerdictBuilder:
    """Collects the reasons of a check and their verdicts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._verdicts: list[Validity] = []
        self._reasons: list[str] = []
        self._causes: list[str] = []
        self._from_cache = False

    def add(self, verdict: Validity, cause: str, to_set: str = "") -> None:
        """Add a reason and the verdict that it leads to; ``to_set`` are the settings that would settle it."""
        self._verdicts.append(verdict)
        self._causes.append(cause)
        self._reasons.append(f"{cause}; {to_set}" if to_set else cause)

    def suspect_cache(self, verdict: Validity, reason: str) -> None:
        """Add a reason that only a cache explains."""
        self.add(verdict, f"{reason}: probably a cache; not used for sizing")
        self._from_cache = True

    def part(self) -> Part:
        """Return the check: the worst verdict, unknown if there was no evidence."""
        if not self._verdicts:
            self.add(Validity.UNKNOWN, "the kernel reports nothing that would show it")
        wanting = [index for index, verdict in enumerate(self._verdicts) if verdict is not Validity.PASS]
        return Part(
            self._name,
            _worst(self._verdicts),
            tuple(self._reasons),
            tuple(self._reasons[index] for index in wanting),
            tuple(self._causes[index] for index in wanting),
            self._from_cache,
        )
