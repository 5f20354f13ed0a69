"""What kind of processor a name stands for."""

from __future__ import annotations

import re
from functools import lru_cache

from sizeup.sizing.sheet import Sheet


@lru_cache(maxsize=1024)  # the same few names, for every keystroke of the console
def is_named(pattern: str, model: str) -> bool:
    """Whether a pattern of a pack is found in a processor's name."""
    return re.search(pattern, model, re.IGNORECASE) is not None


def architecture(sheet: Sheet) -> str | None:
    """Return the id of the processor's architecture, by its name; None where no pattern names it."""
    model = sheet.optional_words("machine.cpu_model") or ""
    kinds = (one for pack in sheet.rules.packs for one in pack.architecture)
    return next((one.id for one in kinds if is_named(one.model, model)), None)
