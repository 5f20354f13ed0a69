"""A range of what a core counts reaches the count, the prices, the costs, the card and the table."""

import pytest

from sizeup.model.advice import Advice
from sizeup.model.machine import Machine
from sizeup.model.topology import Core, Package
from sizeup.sizing import rules
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.license_answer import license_basis, license_verdict
from sizeup.views.result.licenses import license_table
from sizing.license_cases import XEON, found, sized

SERVER = ("machine.cores=48", "machine.sockets=4", "machine.threads_per_core=1")
OPEN = (*SERVER, "machine.cpu_model=Waltrapp One")


def ends(advice: Advice) -> tuple[float | None, float | None]:
    return advice.quantity.low, advice.quantity.high


def test_a_range_is_carried_from_the_count_to_every_cost() -> None:
    sizing = sized(*OPEN)

    assert found(sizing, "license.units").verdict.endswith(": 24 to 48 licenses required")
    for name, each in (("list", 1.0), ("net", 1.0), ("support-year", 0.22), ("term", 1.66)):
        advice = found(sizing, f"license.cost.{name}")
        assert ends(advice) == pytest.approx((24 * 47500 * each, 48 * 47500 * each)), name
    assert found(sizing, "license.cost.list").verdict.startswith(
        "List price: $1,140,000 to $2,280,000 for 24 to 48 licenses"
    )
    assert "$1,892,400 to $3,784,800 = $1,140,000 to $2,280,000 + " in found(sizing, "license.cost.term").verdict


def test_the_row_of_the_licenses_has_both_ends() -> None:
    card = next(card for card in sized(*OPEN).cards if card.resource == "license")

    assert card.demand == "24 to 48 x Oracle EE, $1.89M to $3.78M over 3 years"


def test_the_table_of_all_vendors_has_both_ends() -> None:
    table = {row[1]: row[2:] for row in license_table(sized(*OPEN), rules.shipped()).rows}

    assert table["Oracle Database Enterprise Edition"] == (
        "24 to 48 licenses",
        "$1,140,000 to $2,280,000",
        "$1,892,400 to $3,784,800",
        "ASSUMED",
    )
    assert "over the term of 3 years with support" in (license_table(sized(*OPEN), rules.shipped()).note or "")
    assert table["Windows Server Standard"][1] == "$3,207 to $3,528"


def test_a_subscription_with_a_range_has_one_over_its_term() -> None:
    advice = found(sized("license.pack=mysql", "license.product=enterprise"), "license.cost.term")

    assert ends(advice) == (15000, 30000)
    assert "$15,000 to $30,000 = 3 x $5,000 to $10,000 a year" in advice.verdict


def test_an_engineering_sample_of_amd_counts_as_its_series_do() -> None:
    counted = found(sized(*SERVER, "machine.cpu_model=AMD Engineering Sample"), "license.units")

    assert (counted.quantity.low, counted.quantity.value, counted.quantity.high) == (None, 24, None)
    assert any("one with a single core counts 1.0" in caveat for caveat in counted.caveats)


def test_every_amount_of_a_range_has_both_ends_also_in_the_working() -> None:
    sizing = sized(*OPEN, "license.product=ee")

    assert "24 to 48 licenses x $47,500 = $1,140,000 to $2,280,000" in found(sizing, "license.cost.list").working
    assert found(sizing, "license.cloud").verdict.endswith("in place of the 24 to 48 on premises")


def test_what_a_range_of_licenses_gives_per_unit_has_both_ends() -> None:
    sizing = sized(*OPEN, "license.product=ee", "value.throughput=4800", "value.unit=tps", "workload.cpu_percent=35")

    assert found(sizing, "value.per-license").verdict == "Throughput per license: 100 to 200 tps"
    assert ends(found(sizing, "value.per-license")) == (100, 200)
    price = found(sizing, "value.license-usd-per-unit")
    assert ends(price) == (1_140_000 / 4800, 2_280_000 / 4800)
    assert "$237.5" in price.verdict
    assert " to $475" in price.verdict
    assert "licensed for $570,000 to $1,140,000 at list price" in found(sizing, "value.idle-cores").verdict


@pytest.mark.parametrize(
    ("stated", "licenses", "cores"), [((), "2", "4"), ((4,), "2 to 4", "4 to 8"), ((1, 2), "1 to 2", "2 to 4")]
)
def test_cores_that_a_machine_counts_in_two_ways_give_a_range(
    stated: tuple[int, ...], licenses: str, cores: str
) -> None:
    pairs = ((0, 1), (2, 3))
    machine = Machine(
        packages=tuple(Package(pus, number, "Xeon", stated) for number, pus in enumerate(pairs)),
        cpu_model="Intel(R) Xeon(R) Gold 6338",
        cores=tuple(Core((pu,), package, 0, pu) for package, pus in enumerate(pairs) for pu in pus),
    )
    sizing = size(described(machine, parse_settings(["license.product=ee", "machine.guest=no"])), rules.shipped())

    status, sentence = license_verdict(sizing)
    assert status == ("ASSUMED" if stated else "PASS")
    assert sentence == f"Oracle Database Enterprise Edition: {licenses} licenses required"
    assert license_basis(sizing).startswith(f"{cores} cores")


def test_users_at_which_metrics_cost_the_same_have_both_ends() -> None:
    advice = found(sized("machine.cores=128", "license.product=ee", "machine.cpu_model=AMD EPYC"), _BELOW)

    assert advice.verdict == "Users below which Named User Plus costs less than Processor: 3,200 to 6,400 users"
    assert ends(advice) == (3200, 6400)
    assert found(sized("machine.cores=8", XEON), _BELOW).verdict.endswith(": 200 users")


_BELOW = "license.break-even.oracle.nup_below"
