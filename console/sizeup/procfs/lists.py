"""CPU and node lists as the kernel writes them; Documentation/core-api/printk-formats.rst, bitmaps."""

from __future__ import annotations

from functools import lru_cache

IDS_LIMIT = 1 << 13
"""Ids from here on are no CPU or node of any kernel (NR_CPUS is at most 8,192, MAX_NUMNODES 1,024)."""

_SPANS_LIMIT = IDS_LIMIT // 2
"""Every second id; a file of 4 MiB that repeats one span would take minutes."""


def _bounded(number: str, text: str) -> int:
    digits = number.strip()
    if not digits.isdecimal() or len(digits) > 9 or int(digits) >= IDS_LIMIT:
        raise ValueError(f"expected a list of ids below {IDS_LIMIT}, such as 0-3,8, found {text.strip()[:40]!r}")
    return int(digits)


# Hundreds of CPUs share a few lists.
@lru_cache(maxsize=4096)
def parse_cpulist(text: str) -> tuple[int, ...]:
    """Expand a kernel list, ``0-3,8`` or with a stride ``0-76:4``; empty for a memory-only node."""
    ids: set[int] = set()
    for span in text.strip().split(",")[:_SPANS_LIMIT]:
        if not span or span.isspace():
            continue
        bounds, _, stride = span.partition(":")
        # 0-7:2/4 in the kernel's own notation means two of every four.
        used, _, group = stride.partition("/")
        first, dash, last = bounds.partition("-")
        low = _bounded(first, text)
        high = _bounded(last, text) if dash else low
        if group:
            step, taken = max(_bounded(group, text), 1), _bounded(used, text)
            ids.update(cpu for cpu in range(low, high + 1) if (cpu - low) % step < taken)
        else:
            ids.update(range(low, high + 1, max(_bounded(stride, text), 1) if stride else 1))
    return tuple(sorted(ids))


@lru_cache(maxsize=4096)
def parse_cpumask(text: str) -> tuple[int, ...]:
    """Expand a kernel mask, ``00000000,000000ff``: hexadecimal words of 32 bits, highest first."""
    digits = text.strip().replace(",", "").removeprefix("0x")
    if len(digits) > IDS_LIMIT // 4:
        raise ValueError(f"expected a mask of at most {IDS_LIMIT} bits, found {len(digits)} digits")
    try:
        mask = int(digits, 16)
    except ValueError:
        raise ValueError(f"expected a mask such as 00000000,000000ff, found {text.strip()[:40]!r}") from None
    ids = []
    while mask > 0:
        low = mask & -mask
        ids.append(low.bit_length() - 1)
        mask ^= low
    return tuple(ids)


def format_list(ids: tuple[int, ...]) -> str:
    """Write ids as the kernel does, ``0-3,8``."""
    spans: list[list[int]] = []
    for number in sorted(ids):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)
