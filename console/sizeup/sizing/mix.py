"""What a mix of reads and writes costs where only reads, or another mix, were measured."""

MIXED_WRITES = 0.3
"""The share of writes of the mix that is measured."""
_WRITE_COST, _ARRAY_WRITE_COST = 40.0, 10.0
"""Reads that a write costs at most where none was measured: of a device, and of an array, whose cache takes writes."""


def mix_cost(written: float, *, shared: bool) -> float:
    """Return how many reads a request of a mix costs at most; ``shared``: on an array or a filer."""
    return 1 - written + written * (_ARRAY_WRITE_COST if shared else _WRITE_COST)
