"""Where the kernel swaps to, ``/proc/swaps``; proc_swaps(5)."""

from __future__ import annotations

from sizeup.model.os_settings import SwapArea
from sizeup.procfs.kernel_file import PROC, Unreadable, parse_integer, read_file
from sizeup.procfs.mounts import unescape

_LARGEST_KIB = 1 << 52


def parse_swap_areas(text: str) -> tuple[SwapArea, ...]:
    """Return the devices and files in use as swap, below the heading."""
    return tuple(_area(words) for line in text.splitlines()[1:] if (words := line.split()))


def _area(words: list[str]) -> SwapArea:
    path, kind, size, used, priority = [*words, *("" for _ in range(5))][:5]
    return SwapArea(unescape(path), kind or None, _kibibytes(size), _kibibytes(used), _number(priority))


def _number(word: str) -> int | None:
    try:
        return parse_integer(word)
    except ValueError:
        return None


def _kibibytes(word: str) -> int | None:
    number = _number(word)
    return number * 1024 if number is not None and 0 <= number < _LARGEST_KIB else None


def parse_swaps(text: str) -> tuple[str, ...]:
    """Return the devices and files in use as swap by their paths."""
    return tuple(area.path for area in parse_swap_areas(text))


def read_swaps(proc: str = PROC) -> tuple[str, ...] | None:
    """Return the devices and files in use as swap, none in a kernel without swap; None where that is unknown."""
    text = read_file(f"{proc}/swaps")
    if isinstance(text, Unreadable):
        return () if text.missing else None
    return parse_swaps(text)
