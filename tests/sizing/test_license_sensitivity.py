"""What moves the cost of licenses: users, the metric, the edition and the support, beside the hardware."""

import json

import pytest

from sizeup import cli
from sizeup.sizing.editions import other_contracts
from sizeup.sizing.sensitivity import tornado
from sizing.license_cases import RULES, XEON, sized

SERVER = ("machine.cores=32", "machine.sockets=4", "machine.threads_per_core=2", XEON)


def moved(target: str, *settings: str) -> dict[str, tuple[float, float]]:
    swings = tornado(sized(*SERVER, *settings).inputs, target, RULES)
    return {swing.key: (swing.at_low, swing.at_high) for swing in swings}


def test_the_support_of_the_vendor_moves_the_cost() -> None:
    low, high = moved("license.cost.term")["license.support_percent"]

    assert (low, high) == pytest.approx((760_000 * (1 + 3 * 0.176), 760_000 * (1 + 3 * 0.264)))


def test_the_support_of_the_user_moves_the_cost_over_its_own_range() -> None:
    low, high = moved("license.cost.term", "license.support_percent=10..20..30")["license.support_percent"]

    assert (low, high) == pytest.approx((760_000 * 1.3, 760_000 * 1.9))


def test_a_subscription_has_no_support_that_moves_it() -> None:
    assert "license.support_percent" not in moved("license.cost.term", "license.pack=mysql", "license.product=standard")


def test_users_move_the_cost_of_a_metric_of_users_and_the_cheapest_edition() -> None:
    settings = ("license.metric=nup", "license.users=600")
    assert moved("license.cost.term", *settings)["license.users"] == pytest.approx((480 * 950 * 1.66, 720 * 950 * 1.66))
    assert "license.users" in moved("license.edition", *settings)


def test_other_metrics_and_editions_have_their_cost_or_the_reason_for_none() -> None:
    others = {one.setting: one for one in other_contracts(sized(*SERVER, "license.users=400").inputs, RULES)}
    by_users = others["license.metric=nup"].cost

    assert by_users.value == pytest.approx(400 * 950 * 1.66)
    assert others["license.product=se2"].cost is None
    assert others["license.product=se2"].why.startswith("not permitted: only on servers built for at most two sockets")
    unknown = {one.setting: one.why for one in other_contracts(sized(*SERVER).inputs, RULES)}
    assert unknown["license.metric=nup"] == "unknown without the number of named users or devices (license.users)"


@pytest.mark.ci
def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["size", "--machine", "none", "--show", "sensitivity", "--set", *SERVER, "license.users=400"]
    assert cli.run(arguments) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["(license.metric=nup)", "$630,800", "over", "3", "years"] in [line[-5:] for line in lines]
    assert ["Term", "2", "to", "4", "y", "(license.term_years)", "gives"] in [line[:7] for line in lines]

    assert cli.run([*arguments, "--json"]) == 0
    contracts = json.loads(capsys.readouterr().out)["sensitivity"]["contracts"]
    assert {"license.metric=nup", "license.product=se2"} <= {one["setting"] for one in contracts}
