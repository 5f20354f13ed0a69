"""What the kernel allows this process, as far as a measurement meets it."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """None wherever the kernel does not say."""

    capabilities: frozenset[int] | None = None
    """Effective ones by number, see capabilities(7)."""
    open_files: int | None = None
    """Soft limit of this process."""
    aio_requests_max: int | None = None
    """Of all processes together, for io_submit(2)."""
    aio_requests_used: int | None = None
    io_uring_disabled: int | None = None
    """0 for everybody, 1 for a group and the privileged, 2 for nobody; None on kernels without the switch."""
    perf_event_paranoid: int | None = None
    """Above 2 some distributions mean: nothing at all without privilege."""
