"""What a product's limits and a vendor's policy permit."""

import pytest

from sizing.license_cases import XEON, found, sized, units
from sizing.test_licenses import SE2

CLOUD_TERMS = (
    f"{SE2} is not permitted on this instance: in authorized clouds, only on instances of up to eight vCPUs; one "
    "source says four on Azure and Google"
)


@pytest.mark.parametrize(("vcpus", "decision"), [(4, "allowed"), (5, "assumed"), (8, "assumed"), (9, "forbidden")])
def test_what_sources_dispute_is_assumed(vcpus: int, decision: str) -> None:
    sizing = sized("license.product=se2", "license.scope=cloud", f"machine.vcpus={vcpus}")
    (card,) = (card for card in sizing.cards if card.resource == "license")

    assert found(sizing, "license.allowed").decision == decision
    assert card.status == {"allowed": "pass", "forbidden": "fail"}.get(decision, decision)
    assert any("one source says four" in text for text in card.assumptions) is (decision == "assumed")
    assert not any("socket_capacity" in text for text in card.assumptions)


@pytest.mark.parametrize(
    ("settings", "sentence", "source"),
    [
        (
            ("machine.sockets=4", "machine.cores=32", XEON),
            f"{SE2} is not permitted on this server: only on servers built for at most two sockets, occupied or not",
            "oracle-se2",
        ),
        (("license.scope=cloud", "machine.vcpus=10"), CLOUD_TERMS, "oracle-cloud-policy"),
        (
            ("license.scope=cloud", "machine.vcpus=10", "license.metric=se2_nup", "license.users=50"),
            CLOUD_TERMS,
            "oracle-cloud-policy",
        ),
    ],
)
def test_what_the_policy_forbids_has_no_count_and_no_price_but_the_sentence_and_its_source(
    settings: tuple[str, ...], sentence: str, source: str
) -> None:
    sizing = sized("license.product=se2", "value.throughput=1000", *settings)
    allowed = found(sizing, "license.allowed")

    assert (allowed.verdict, allowed.decision) == (sentence, "forbidden")
    assert source in {one.id for one in allowed.sources}
    priced = (
        "license.units",
        "license.cost.",
        "license.break-even.oracle.se2_nup_below",
        "value.license-usd",
        "value.per-license",
    )
    assert [one.id for one in sizing.advice if one.id.startswith(priced)] == []
    card = next(card for card in sizing.cards if card.resource == "license")
    assert (card.status, card.statement) == ("fail", sentence)


def test_up_to_the_limits_of_the_policy_standard_edition_is_counted() -> None:
    assert units("license.product=se2", "license.scope=cloud", "machine.vcpus=8") == 2
    assert units("license.product=se2", "machine.sockets=2", "machine.cores=32") == 2


def test_empty_sockets_that_nobody_counted_are_an_assumption() -> None:
    sizing = sized("license.product=se2", "machine.sockets=2", "machine.cores=32")
    allowed = found(sizing, "license.allowed")

    assert allowed.decision == "assumed"
    assert allowed.verdict.startswith(f"{SE2} is assumed to be permitted on this server")
    assert allowed.verdict.endswith("--set machine.socket_capacity=N")
    assert next(card.status for card in sizing.cards if card.resource == "license") == "assumed"


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (("license.product=se2", "machine.sockets=1", "machine.cores=4"), "license.host_sockets"),
        (("license.pack=vmware", "machine.sockets=1", "machine.cores=2"), "license.host_cores"),
    ],
)
def test_a_typed_guest_is_asked_for_its_host_as_a_detected_one_is(settings: tuple[str, ...], key: str) -> None:
    sizing = sized("machine.guest=yes", *settings)

    assert (found(sizing, "license.units").quantity, found(sizing, "license.units").decision) == (None, "host-unknown")
    assert key in {question.key for question in sizing.questions}


def test_standard_edition_is_forbidden_by_capacity_even_where_sockets_are_empty() -> None:
    se2 = ("license.product=se2", "machine.sockets=2", "machine.cores=16")

    assert found(sized(*se2, "machine.socket_capacity=4"), "license.allowed").decision == "forbidden"
    assert found(sized(*se2, "machine.socket_capacity=2"), "license.allowed").decision == "allowed"
