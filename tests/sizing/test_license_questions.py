"""What a license count asks for, in place of counting what nobody stated."""

import pytest

from sizing.license_cases import XEON, found, sized

SERVER = ("machine.cores=32", "machine.sockets=4", XEON)
CALS = ("license.pack=sql-server", "license.product=standard", "license.metric=server_cal")


def test_a_metric_of_users_asks_for_them_and_counts_none_meanwhile() -> None:
    sizing = sized(*SERVER, "machine.threads_per_core=2", *CALS)
    asked = found(sizing, "license.units")

    assert asked.quantity is None
    assert asked.verdict == (
        "License count: unknown without the number of named users or devices. Use --set license.users=N"
    )
    assert [one.id for one in sizing.advice if one.id.startswith("license.cost")] == []
    assert "license.users" in {question.key for question in sizing.questions}


def test_no_users_at_all_are_a_count_that_nothing_is_compared_with() -> None:
    sizing = sized(*SERVER, "machine.threads_per_core=2", *CALS, "license.users=0")

    assert found(sizing, "license.units").quantity is not None
    assert sizing.find("license.cloud") is None


def test_the_least_number_of_users_says_that_it_is_the_least() -> None:
    least = found(sized("machine.cores=8", XEON, "license.metric=nup"), "license.units")

    assert least.quantity.value == 100
    assert any("the number of users is unknown, so this is the least" in one for one in least.caveats)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (("license.scope=hard",), "license.pinned_cores"),
        (("license.scope=soft",), "license.host_cores"),
        (CALS, "license.users"),
    ],
)
def test_the_row_of_the_licenses_asks_for_what_is_missing(settings: tuple[str, ...], key: str) -> None:
    card = next(card for card in sized(*SERVER, *settings).cards if card.resource == "license")

    assert card.status == "unknown"
    assert f"--set {key}=N" in card.statement
    assert card.sentences == (card.statement,)
