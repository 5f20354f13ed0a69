"""What a license auditor checks first: figures that contradict each other, and processors without their name."""

import pytest

from sizeup.errors import UsageError
from sizing.license_cases import found, sized

GUEST = (
    "machine.guest=yes",
    "machine.hypervisor=vmware",
    "machine.cores=32",
    "machine.cpu_model=Intel(R) Xeon(R) Gold 6338",
)
BARE = ("machine.guest=no", "machine.cores=32", "machine.sockets=2", "machine.cpu_model=Intel(R) Xeon(R) Gold 6338")
LPAR = ("machine.guest=yes", "machine.hypervisor=phyp", "machine.cores=16", "machine.cpu_model=POWER9")
PVU = ("license.pack=db2", "license.product=v11_1", "machine.guest=no", "machine.cores=48", "machine.sockets=4")


def test_a_cap_above_the_processors_of_the_lpar_is_refused() -> None:
    with pytest.raises(UsageError, match=r"expected at most the 16 cores of the LPAR, found 40"):
        sized(*LPAR, "license.partition=capped", "license.pinned_cores=40")


def test_units_by_sockets_go_by_those_that_the_server_is_built_for() -> None:
    xeon = "machine.cpu_model=Intel(R) Xeon(R) CPU X7550 @ 2.00GHz"
    four, eight = (
        found(sized(*PVU, xeon, *more), "license.units").quantity for more in ((), ("machine.socket_capacity=8",))
    )

    assert (four.low, four.high) == (100 * 48, 120 * 48)
    assert (eight.low, eight.value, eight.high) == (None, 120 * 48, None)


@pytest.mark.parametrize(("pack", "product"), [("oracle", "EE"), ("SQL-Server", "Standard")])
def test_products_are_found_in_any_case(pack: str, product: str) -> None:
    assert (
        found(sized(*BARE, f"license.pack={pack}", f"license.product={product}"), "license.units").quantity is not None
    )


@pytest.mark.parametrize(
    ("settings", "loses"),
    [
        (("license.pack=mysql", "license.product=enterprise"), "no support and none of the features"),
        (("license.pack=sql-server", "license.product=enterprise"), "basic availability groups alone"),
        (("license.product=ee", "machine.socket_capacity=2"), "none of the options and packs"),
    ],
)
def test_the_cheaper_edition_says_what_it_lacks(settings: tuple[str, ...], loses: str) -> None:
    assert loses in found(sized(*BARE, *settings), "license.edition").verdict
