"""``python -m sizeup`` and the ``sizeup`` script."""

from __future__ import annotations

import gc
import os
import signal
import sys

_GC_THRESHOLD = 150_000
"""A start makes some 100,000 objects that all stay. To look through them every 700, Python's default, takes an eighth
of its CPU time, so the first look comes after the start."""


def main() -> int:
    """Run the command line on ``sys.argv``; the value is the exit status."""
    gc.set_threshold(_GC_THRESHOLD, 20, 100)
    if len(sys.argv) == 1:
        from sizeup.terminal.splash import show_splash

        show_splash()
    from sizeup.cli import run
    from sizeup.cli.streams import take_streams

    take_streams()
    for name in ("SIGTERM", "SIGHUP"):  # so that temporary files are removed, as after an interrupt
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    return run(sys.argv[1:])


if __name__ == "__main__":
    # ``python -m`` looks for modules in the working directory first: none of ours is there, unless sizeup itself is.
    if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):
        del sys.path[0]
    sys.exit(main())
