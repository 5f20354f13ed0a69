"""The quantities that probes declare and that sizing, comparisons, charts and findings know, each with its unit.

``docs/reference/probe-contract.md`` says what each is. A manifest may name others, which nothing looks for.
"""

from __future__ import annotations

from collections.abc import Mapping

from sizeup.decoding import data_beside

UNITS: Mapping[str, str] = data_beside(__file__, "quantities.toml", dict[str, str])
"""The base unit of each, which a series that declares it must have."""
