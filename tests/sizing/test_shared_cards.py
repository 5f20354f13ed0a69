"""Several ports of one card: its loss takes all of them."""

import pytest
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Card
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.storage_paths import storage_path_bandwidths
from sizeup.views.result.answer import answer_lines
from sizing.storage_machines import budget, fibre_channel, port

LOAD = ("workload.mb_s=400",)


def storage(*settings: str) -> Card:
    values = parse_settings([*LOAD, "path.policy=active-active", *settings])
    return next(card for card in size(values).cards if card.resource == "storage")


def failures(card: Card) -> dict[str, float | None]:
    return {failure.lost: failure.share for failure in card.failures}


@pytest.mark.parametrize(
    ("stages", "lost"),
    [
        ("hba:fc8*2", {"one of 2 paths": 0.5}),
        ("hba:fc8*2@2", {"one of 2 paths": 0.5}),
        ("hba:fc8*2@1", {"the only card of hba": None, "one of 2 paths": 0.5}),
        ("hba:fc8*4@2", {"one of 2 cards of hba": 0.25, "one of 4 paths": 400 / 2400}),
        ("hba:fc8*3@2", {"one of 2 cards of hba": 0.5, "one of 3 paths": 0.25}),
        ("hba:fc8", {"the only path of hba": None}),
        ("hba:fc8@1", {"the only path of hba": None}),
    ],
)
def test_losing_a_card_loses_all_its_ports(stages: str, lost: dict[str, float | None]) -> None:
    found = failures(storage(f"path.stages={stages}"))

    assert found == {what: share if share is None else pytest.approx(share) for what, share in lost.items()}
    assert list(found) == list(lost), "the worst first"


def test_a_card_that_carries_all_paths_is_an_outage_and_no_pass() -> None:
    one, two = storage("path.stages=hba:fc8*2@1"), storage("path.stages=hba:fc8*2@2")

    assert (one.status, two.status) == ("warn", "uncertain")
    assert "Nothing is left after losing the only card of hba" in one.sentences
    assert one.share == two.share


def test_a_lost_card_that_leaves_too_little_warns_where_a_lost_port_does_not() -> None:
    card = storage("path.stages=hba:fc8*4@2", "workload.mb_s=2000")

    assert (card.status, card.n_plus_one) == ("warn", 1.25)
    assert failures(card)["one of 2 cards of hba"] == 1.25


def test_in_a_cluster_a_lost_server_and_a_lost_card_are_both_named() -> None:
    card = storage("path.stages=hba:fc8*8@4", "cluster.nodes=2")

    assert failures(card) == pytest.approx({"one of 2 servers": 400 / 3200, "one of 4 cards of hba": 400 / 4800})


@pytest.mark.parametrize(
    "stages", ["hba:fc8*2@3", "hba:fc8*2@0", "hba:fc8*2@", "hba:fc8*2@x", "hba:fc8*@1", "hba:fc8*\u00b2"]
)
def test_cards_that_cannot_be_are_refused(stages: str) -> None:
    with pytest.raises(UsageError, match=r"expected NAME:LINK\*PORTS, .* with @CARDS where ports share a card"):
        storage(f"path.stages={stages}")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("path.stages=hba:fc8*2",), True),
        (("path.stages=hba:fc8*2@2",), False),
        (("path.stages=hba:fc8*2@1",), False),
        (("path.stages=hba:fc8",), False),
        (("path.stages=hba:fc8*2", "cluster.nodes=2"), False),
    ],
)
def test_paths_whose_cards_are_not_given_count_as_a_card_each_and_say_so(more: tuple[str, ...], said: bool) -> None:
    advice = size(parse_settings([*LOAD, *more])).find("verdict.storage")

    assert advice is not None
    assert any(caveat.startswith("N+1 counts each path as a card of its own") for caveat in advice.caveats) == said


def on_slots(machine: Machine, *slots: str) -> Machine:
    budgets = zip(machine.budgets, slots, strict=True)
    return replace(machine, budgets=tuple(replace(one, pci_address=address) for one, address in budgets))


FOUR = fibre_channel(*(port(f"host{number}") for number in range(4)))
TWO_CARDS = on_slots(FOUR, "0000:3b:00.0", "0000:3b:00.1", "0000:5e:00.0", "0000:5e:00.1")
ONE_CARD = on_slots(fibre_channel(port("host0"), port("host1")), "0000:3b:00.0", "0000:3b:00.1")


def detected(machine: Machine, *settings: str) -> Card:
    sizing = size(described(machine, parse_settings([*LOAD, *settings])))
    return next(card for card in sizing.cards if card.resource == "storage")


def test_functions_of_one_pci_device_are_one_card_and_its_loss_is_named_beside_that_of_a_port() -> None:
    assert failures(detected(TWO_CARDS)) == pytest.approx(
        {"card 0000:3b:00 (FC ports host0, host1)": 400 / 1600, "FC port host0": 400 / 2400}
    )


def test_a_detected_card_that_carries_all_paths_is_an_outage() -> None:
    card = detected(ONE_CARD)

    assert failures(card) == {"card 0000:3b:00 (FC ports host0, host1)": None, "FC port host0": 0.5}
    assert card.status == "warn"
    assert "Nothing is left after losing card 0000:3b:00 (FC ports host0, host1)" in card.sentences
    lines = answer_lines(size(described(ONE_CARD, parse_settings(LOAD))))
    assert "N+1      card 0000:3b:00 (FC ports host0, host1) lost: outage" in lines


def test_ports_on_cards_of_their_own_name_no_card() -> None:
    machine = on_slots(fibre_channel(port("host0"), port("host1")), "0000:3b:00.0", "0000:5e:00.0")

    assert failures(detected(machine)) == {"FC port host0": 0.5}


def test_a_server_of_a_cluster_is_lost_in_place_of_its_card() -> None:
    assert failures(detected(TWO_CARDS, "cluster.nodes=2")) == {"one of 2 servers": 400 / 3200}


def test_members_of_a_bond_on_one_card_fail_together() -> None:
    members = (Nic("eth0", "physical", carrier=True), Nic("eth1", "physical", carrier=True))
    bond = Nic("bond0", "bond", carrier=True, lower=("eth0", "eth1"), bond_mode="802.3ad")
    both = tuple(
        replace(budget(name, 1.25e9), pci_address=f"0000:17:00.{function}")
        for function, name in enumerate(("eth0", "eth1"))
    )
    machine = Machine(nics=(*members, bond), nfs_mounts=(NfsMount("/data", "filer:/vol"),), budgets=both)
    (found,) = (one for one in storage_path_bandwidths(machine) if one.kind == "NFS")

    assert (found.card, found.failure, found.degraded_bytes_per_second) == ("0000:17:00", "eth0, eth1", 0.0)
    assert (found.port, found.port_lost_bytes_per_second) == ("eth0", 1.25e9)
