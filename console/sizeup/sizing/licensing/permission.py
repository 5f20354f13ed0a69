"""Whether the vendor permits a product on a machine."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import architecture, chosen_metric, count_basis
from sizeup.sizing.licensing.count import evaluated, physical_count
from sizeup.sizing.pack import ConditionEntry, Pack, ProductEntry, short
from sizeup.sizing.sheet import MissingError, Sheet

Decision = Literal["allowed", "assumed", "forbidden"]
CAPACITY = "machine.socket_capacity"


class Permission(Struct, frozen=True):
    """What the conditions of a product say of a machine."""

    product: str
    """Its title."""
    decision: Decision
    """``assumed``: permitted, if the server has no empty sockets beyond the permitted ones."""
    why: str
    """The rule that decides; empty where none restricts the product."""
    place: str
    """What the rule is about: a server, or an instance of a cloud."""
    runs: bool = True
    """Whether the product runs on the processor at all."""

    @property
    def condition(self) -> str:
        """The rule, and what would settle a permission that is assumed."""
        return f"{self.why}. Use {KEYS[CAPACITY].flag}" if self.decision == "assumed" else self.why

    @property
    def refused(self) -> str:
        """That the product may not be used here."""
        return f"{self.product} {'is not permitted' if self.runs else 'does not run'}"

    @property
    def refusal(self) -> str:
        """That the product may not be used here, where, and why."""
        return f"{self.refused} on this {self.place}: {self.why}"


class ForbiddenError(MissingError):
    """The vendor does not permit the product here: nothing is counted, and another product is asked for."""

    def __init__(self, permission: Permission) -> None:
        super().__init__("license.product")
        self.permission = permission


def permission(sheet: Sheet, pack: Pack, product: ProductEntry) -> Permission:
    """Judge the processor and the conditions of a product, the strictest first."""
    kind = architecture(sheet)
    for platform in pack.platform:
        ours = not platform.products or short(product.id) in platform.products
        if ours and kind is not None and kind not in platform.architectures:
            sheet.cite(platform.source)
            return Permission(product.title, "forbidden", platform.why, "server", runs=False)
    scope = count_basis(sheet, pack, chosen_metric(sheet, pack, product)).scope
    place = "instance" if scope == "cloud" else "server"
    found = Permission(product.title, "allowed", "", place)
    for condition in pack.condition:
        if condition.product not in ("", short(product.id)) or (condition.scopes and scope not in condition.scopes):
            continue
        decision = _decision(sheet, pack, product, condition)
        if decision == "forbidden" or found.decision == "allowed":
            found = Permission(product.title, decision, condition.why, place)
        if decision == "forbidden":
            break
    return found


def require_permission(sheet: Sheet, pack: Pack, product: ProductEntry) -> None:
    """Raise where the product is not permitted; one whose conditions cannot be judged yet is."""
    judge = Sheet(sheet.inputs, sheet.rules)
    try:
        found = permission(judge, pack, product)
    except MissingError:
        return
    if found.decision == "forbidden":
        sheet.include(judge)
        raise ForbiddenError(found)


def _decision(sheet: Sheet, pack: Pack, product: ProductEntry, condition: ConditionEntry) -> Decision:
    """A server of unknown capacity is built for at least the sockets that it has."""
    sheet.cite(condition.source)
    formula = sheet.rules.formula(condition.formula)
    judged, is_assumed = sheet, "socket_capacity" in formula.names and CAPACITY not in sheet.inputs
    if is_assumed:
        occupied = replace(physical_count(sheet, "sockets"), source="occupied sockets")
        judged = Sheet({**sheet.inputs, CAPACITY: occupied}, sheet.rules)
    basis = count_basis(judged, pack, chosen_metric(judged, pack, product))
    value, _, _ = evaluated(judged, basis, formula, "allowed where", "")
    if is_assumed:
        sheet.include(judged)
    if not value:
        return "forbidden"
    if is_assumed:
        sheet.caveat(
            "empty sockets count too, and their number is unknown: only occupied sockets are assumed. "
            f"Use {KEYS[CAPACITY].flag}, which sets all of them"
        )
    return "assumed" if is_assumed else "allowed"
