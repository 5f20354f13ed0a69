"""What licenses rest on where nobody stated it, and inputs that contradict one another or change nothing."""

import pytest

from sizeup.model.machine import Machine
from sizeup.model.topology import Core, Package
from sizeup.quantity import Quantity
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.detected import detected
from sizeup.sizing.keys import parse_settings
from sizing.license_cases import XEON, found, sized, units

GUEST = ("machine.guest=yes", "machine.sockets=4", "machine.cores=32", XEON)
LPAR = ("machine.guest=yes", "machine.cores=16", "machine.cpu_model=POWER7")


def status(*settings: str) -> str:
    return next(card.status for card in sized(*settings).cards if card.resource == "license")


def caveats(*settings: str) -> tuple[str, ...]:
    return found(sized(*settings), "license.units").caveats


@pytest.mark.parametrize(
    ("settings", "scope"),
    [
        (("license.product=ee", "license.host_cores=64"), "soft"),
        (("license.pack=sql-server", "license.product=standard", "machine.vcpus=32"), "vm"),
    ],
)
def test_the_scope_of_a_guest_is_an_assumption_until_it_is_set(settings: tuple[str, ...], scope: str) -> None:
    assert status(*GUEST, *settings) == "assumed"
    assert any(one.startswith("assumed: this guest is") and scope in one for one in caveats(*GUEST, *settings))
    assert status(*GUEST, *settings, f"license.scope={scope}") == "pass"


def test_a_guest_that_is_larger_than_its_hosts_is_an_assumption_even_with_its_scope() -> None:
    settings = (*GUEST, "license.product=ee", "license.scope=soft")

    assert status(*settings, "license.host_cores=8") == "assumed"
    assert (
        "assumed: hosts with 8 cores in all run a guest that shows 32, so its CPUs are threads or share cores. Check "
        "license.host_cores"
    ) in caveats(*settings, "license.host_cores=8")
    assert status(*settings, "license.host_cores=32") == "pass"
    by_vcpus = ("machine.guest=yes", "machine.vcpus=3", "license.product=ee", "license.scope=soft", XEON)
    assert status(*by_vcpus, "license.host_cores=2") == "assumed"


@pytest.mark.parametrize("key", ["license.host_cores", "license.host_sockets", "license.hosts"])
def test_hosts_of_a_server_that_is_no_guest_change_nothing_and_say_so(key: str) -> None:
    server = ("license.product=ee", "machine.guest=no", "machine.cores=32", XEON)
    unused = f"{key} changes nothing here: this is no guest (--set machine.guest=yes|no)"

    assert units(*server, f"{key}=64") == 16
    assert unused in caveats(*server, f"{key}=64")
    assert not any("changes nothing here" in one for one in caveats(*server))


def test_a_partition_that_changes_nothing_says_which_of_two_reasons_holds() -> None:
    hosts = ("license.product=se2", "license.partition=dedicated", "license.host_sockets=2")
    nothing = "license.partition changes nothing here: "

    assert f"{nothing}this license counts all LPARs alike" in caveats(*LPAR, *hosts)
    assert f"{nothing}this is no LPAR" in caveats(*GUEST, *hosts)


def test_an_engineering_sample_keeps_the_licenses_from_passing() -> None:
    assert status("license.product=ee", "machine.cores=48", "machine.cpu_model=AMD Engineering Sample") == "assumed"


def test_a_product_of_some_processors_is_assumed_to_run_on_an_unknown_one() -> None:
    product = ("license.pack=sql-server", "license.product=standard", "machine.sockets=1", "machine.cores=8")

    assert status(*product) == "assumed"
    assert "assumed: it runs on this processor, which is unknown. Use --set machine.cpu_model=TEXT" in caveats(*product)
    assert status(*product, XEON) == "pass"


def test_sockets_that_two_sources_count_differently_are_a_range() -> None:
    """Four cores in two sockets by their ids, and in one socket of four by /proc/cpuinfo: packs for 4 cores or 8."""
    cores = tuple(Core((number,), number // 2, None, number) for number in range(4))
    packages = tuple(Package((first, first + 1), number, stated_cores=(4,)) for number, first in ((0, 0), (1, 2)))
    sockets = detected(Machine(packages=packages, cores=cores))["machine.sockets"]

    assert isinstance(sockets, Quantity)
    assert (sockets.value, sockets.low, sockets.high) == (2, 1, 2)
    known = {"machine.sockets": sockets, **parse_settings(["license.product=se2", "machine.guest=no", XEON])}
    count = found(size(known), "license.units").quantity
    assert count is not None
    assert (count.value, count.low, count.high) == (2, 1, 2)
