"""What inputs of sizing are called: the name of a key in plain words."""

from __future__ import annotations

import re

from sizeup.sizing.keys import KEYS
from sizeup.sizing.rules import shipped
from sizeup.text import capitalized

_OF_PRODUCTS = {
    "price": "Price",
    "price_low": "Lowest price",
    "price_high": "Highest price",
    "support_percent": "Support per year",
}
"""Figures of products, by the part of their id that names the field."""


def input_label(key: str) -> str:
    """Return what an input is called: ``IOPS wanted``."""
    return KEYS[key].label or capitalized(re.split(r"[,;:(]", KEYS[key].help, maxsplit=1)[0].strip())


def used_name(key: str) -> str:
    """Return what a figure that was used is called, an input or a rule's; empty where its id says all."""
    name = key.partition("[")[0]
    if name in KEYS:
        return input_label(name)
    figure = shipped().figures.get(key)
    if figure is not None:
        return capitalized(figure.title)
    factor = next((one for pack in shipped().packs for one in pack.factor if one.id == key), None)
    if factor is not None:
        return f"Factor of {factor.title}"
    return next((text for part, text in _OF_PRODUCTS.items() if part in key.split(".")), "")
