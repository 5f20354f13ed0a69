"""Refuse options that would have no effect together with others."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from sizeup.errors import UsageError


def refuse_combination(arguments: argparse.Namespace, flag: str, others: Collection[str]) -> None:
    """Raise UsageError where ``flag`` was typed together with one of ``others``."""
    if not _typed(arguments, flag):
        return
    ignored = [other for other in others if _typed(arguments, other)]
    if ignored:
        raise UsageError(f"{' and '.join(ignored)} cannot be combined with {flag}; leave out one or the other")


def refuse_without(arguments: argparse.Namespace, flag: str, needed: str) -> None:
    """Raise UsageError where ``flag`` was typed and ``needed``, which gives it an effect, was not."""
    if _typed(arguments, flag) and not _typed(arguments, needed):
        raise UsageError(f"{flag} needs {needed}; add {needed}, or leave out {flag}")


def _typed(arguments: argparse.Namespace, flag: str) -> bool:
    names = _NAMES.get(flag, (flag.lstrip("-").replace("-", "_"),))
    values = [getattr(arguments, name) for name in names if hasattr(arguments, name)]
    assert values, flag
    return any(value is not None and value is not False and value != [] for value in values)


_NAMES = {
    "--against": ("diff", "baseline", "compare_with"),
    "SECTION": ("section",),
    "--set": ("settings", "assignments"),
    "NAME": ("name",),
}
"""Where argparse keeps what is not named as its flag is."""
