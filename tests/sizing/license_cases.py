"""Licenses of made-up servers, as sizing counts them."""

from sizeup.model.advice import Advice
from sizeup.sizing import rules
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.keys import parse_settings

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


def found(sizing: Sizing, advice_id: str) -> Advice:
    advice = sizing.find(advice_id)
    assert advice is not None, advice_id
    return advice


def units(*settings: str) -> float:
    quantity = found(sized(*settings), "license.units").quantity
    return quantity.value
