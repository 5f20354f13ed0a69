"""Decisions of sizing in words: what an answer says where it is one of a fixed set."""

from __future__ import annotations

from sizeup.model.advice import Advice
from sizeup.sizing.licensing.contract import chosen_pack
from sizeup.sizing.pack import short
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Inputs, Sheet
from sizeup.views.cards.cards import VERDICT, status_text

_OF_PRODUCTS = ("license.edition", "license.break-even.")
"""What begins the ids of answers whose decision is a product."""
_WORDS = {
    "above-catalog": "above the catalog",
    "above-path": "above its path",
    "all-counted": "all servers counted",
    "below-catalog": "below the catalog",
    "cache": "flash as a cache",
    "catalog": "as in the catalog",
    "consolidate": "cores are idle",
    "cyclops": "on one node",
    "does-not-fit": "does not fit",
    "machine": "cheaper by the machine",
    "passive": "passive servers not counted",
    "schema": "the whole database on flash",
    "short": "too small",
    "spills": "spills to other nodes",
    "spread": "spread over the nodes",
    "tier": "the hot set on flash",
    "users": "cheaper by users",
    "within": "within its path",
}


def answer_title(advice: Advice) -> str:
    """Return what an answer is about: ``Storage`` for the verdict on it."""
    if advice.id.startswith(VERDICT):
        return advice.title.partition(":")[0]
    return advice.title.removeprefix("Licenses: ")


def decision_text(advice_id: str, decision: str, inputs: Inputs, rules: Rules) -> str:
    """Return a decision in words: ``FAIL``, ``the whole database on flash``, the name of an edition."""
    if advice_id.startswith(VERDICT):
        return status_text(decision)
    if advice_id.startswith(_OF_PRODUCTS):
        products = chosen_pack(Sheet(inputs, rules)).product
        named = (one.brief or one.title for one in products if short(one.id) == decision)
        return next(named, decision_words(decision))
    return decision_words(decision)


def decision_words(decision: str) -> str:
    """Return a decision in words: ``the whole database on flash``."""
    return _WORDS.get(decision, decision.replace("-", " "))
