"""Advice and cards of a few settings."""

from sizeup.model.advice import Advice, Card
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.keys import parse_settings

SERVER = ("machine.cores=32", "machine.ghz=2.9")


def sized(*settings: str) -> Sizing:
    return size(parse_settings(settings))


def card(resource: str, *settings: str) -> Card:
    return next(card for card in sized(*settings).cards if card.resource == resource)


def advice(advice_id: str, *settings: str) -> Advice:
    found = sized(*settings).find(advice_id)
    assert found is not None
    return found


def value(advice_id: str, *settings: str) -> float:
    quantity = advice(advice_id, *settings).quantity
    return quantity.value


ARRAY = ("array.disks=24", "array.drive=hdd-15k", "array.raid=10")
