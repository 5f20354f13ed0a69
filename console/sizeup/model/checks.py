"""What the checks of a measurement come to, in the same words wherever they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from sizeup.decoding import data_beside


class CheckWords(Struct, frozen=True):
    """What one check comes to; empty where it comes to no such thing."""

    passed: str
    warned: str = ""
    failed: str = ""
    unchecked: str = ""
    remedy: str = ""


CHECKS: Mapping[str, CheckWords] = data_beside(__file__, "checks.toml", dict[str, CheckWords])
"""By the name of the check."""
FAILED_CHECKS = {name: words.failed for name, words in CHECKS.items() if words.failed}
"""What a check found that failed, by its name."""
