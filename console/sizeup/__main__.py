"""``python -m sizeup`` and the ``sizeup`` script."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line on ``sys.argv``; the value is the exit status."""
    from sizeup.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
