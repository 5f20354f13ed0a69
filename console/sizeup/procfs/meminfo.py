"""``meminfo``, of the machine or of one node, where each line begins with ``Node N``."""

from __future__ import annotations

import re

_LINE = re.compile(r"^(?:Node \d+ )?([\w()]+): +(\d{1,15})( kB)?$", re.MULTILINE)


def parse_meminfo(text: str) -> dict[str, int]:
    """Bytes by name; page counts (``HugePages_Total``) stay counts."""
    return {name: int(number) * (1024 if unit else 1) for name, number, unit in _LINE.findall(text)}
