"""Licenses of made-up servers, as sizing counts them."""

from unittest.mock import patch

from sizeup.model.advice import Advice
from sizeup.sizing import rules
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.licensing.table import Row, rows
from sizeup.sizing.pack import Pack
from sizeup.sizing.sheet import Inputs

RULES = rules.shipped()
XEON = "machine.cpu_model=Intel(R) Xeon(R) CPU E5320 @ 1.86GHz"
OVERRIDE = """
schema = "sizeup.rules/1"
[[override]]
target = "product.oracle.ee.price.processor"
value = 21000
reason = "contract"
date = 2026-11-20
"""


def sized(*settings: str) -> Sizing:
    return size(parse_settings(settings), RULES)


def rows_of(pack: Pack, inputs: Inputs) -> tuple[Row, ...]:
    """The rows of one pack alone: those of all packs take as many times as long."""
    with patch.object(rules.Rules, "license_packs", lambda _: (pack,)):
        return rows(inputs, RULES)


def found(sizing: Sizing, advice_id: str) -> Advice:
    advice = sizing.find(advice_id)
    assert advice is not None, advice_id
    return advice


def units(*settings: str) -> float:
    quantity = found(sized(*settings), "license.units").quantity
    return quantity.value
