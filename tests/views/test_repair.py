"""What a repair takes: the fewest ports or drives that pass, and what is used then."""

import pytest

from sizeup.model.advice import AdviceSet
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.verdict import share_text
from sizeup.views.result.repair import repair_text


def sized(**typed: str) -> Sizing:
    keys = {name.replace("__", "."): value for name, value in typed.items()}
    return size({key: KEYS[key].parse(value, Origin.USER, "--set") for key, value in keys.items()})


def repaired(resource: str, given: AdviceSet) -> str:
    return repair_text(next(card for card in given.cards if card.resource == resource), given)


def test_more_links_are_counted_until_the_path_passes() -> None:
    given = sized(
        workload__mb_s="2288", workload__iops="100", path__stages="hba:fc16*2,array:fc32*4",
        path__policy="active-active",
    )  # fmt: skip

    assert repaired("storage", given) == "1 more 16GFC port (hba), then 48 %, 72 % after a failure"


@pytest.mark.parametrize(("count", "share"), [("2", "72 %"), ("4", "36 %")])
def test_what_is_told_of_the_path_is_what_the_larger_path_gives(count: str, share: str) -> None:
    given = sized(workload__mb_s="2300", path__stages=f"hba:fc16*{count}", path__policy="active-active")
    card = next(card for card in given.cards if card.resource == "storage")

    assert share_text(card.share or 0) == share


def test_ports_that_share_a_card_come_with_another_card() -> None:
    given = sized(workload__mb_s="4000", path__stages="hba:fc16*4@2", path__policy="active-active")

    assert repaired("storage", given) == "2 more 16GFC ports (hba, 1 more card), then 42 %, 63 % after a failure"


def test_an_outage_is_mended_by_a_second_link() -> None:
    text = repaired("storage", sized(workload__mb_s="300", path__stages="hba:fc8*1"))

    assert text == "1 more 8GFC port (hba), then 19 %, 38 % after a failure"


def test_more_drives_come_in_pairs() -> None:
    given = sized(
        workload__iops="4000", workload__read_percent="70", array__disks="24", array__raid="10",
        array__drive="hdd-15k", path__stages="hba:fc16*4", path__policy="active-active",
    )  # fmt: skip

    assert repaired("storage", given) == "20 more drives, then 65 %, 100 % after a failure"


def test_ports_that_were_detected_are_more_of_the_same() -> None:
    def quantity(value: float, source: str) -> Quantity:
        return Quantity(value, "bytes/s", Origin.DETECTED, source)

    found: dict[str, Value] = {
        "path.bandwidth_mb_s": quantity(1600e6, "FC ports host3, host4"),
        "path.degraded_mb_s": quantity(800e6, "FC port host3"),
        "path.kind": Words("HBA", Origin.DETECTED, "x"),
        "workload.mb_s": KEYS["workload.mb_s"].parse("1500", Origin.USER, "--set"),
        "workload.iops": KEYS["workload.iops"].parse("10", Origin.USER, "--set"),
    }

    assert repaired("storage", size(found)) == "1 more FC port of this speed, then 62 %, 94 % after a failure"


def test_a_failure_in_the_last_year_alone_is_named() -> None:
    given = sized(
        workload__mb_s="500", path__stages="hba:fc8*2", path__policy="active-active", workload__growth_percent="20",
        workload__horizon_years="3",
    )  # fmt: skip

    then = "21 %, 31 % after a failure, 36 % in year 3, 54 % after a failure in year 3"
    assert repaired("storage", given) == f"1 more 8GFC port (hba), then {then}"


def test_what_no_input_repairs_is_left_out() -> None:
    assert repaired("storage", sized(workload__mb_s="1048", capacity__mb_s="800")) == ""


def test_recorded_advice_has_no_inputs_to_change() -> None:
    given = sized(workload__mb_s="300", path__stages="hba:fc8*1").recorded()

    assert repaired("storage", given) == ""
