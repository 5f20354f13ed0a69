"""What each plan does on the eight large machines that tests make up, as tables.

Usage: PYTHONPATH=tests python tests/benchmarks/plans.py [quick|standard|full ...]
"""

import sys

from plan_table import PLANS, table


def main() -> None:
    """Print the tables."""
    for line in table(sys.argv[1:] or PLANS):
        print(line)


if __name__ == "__main__":
    main()
