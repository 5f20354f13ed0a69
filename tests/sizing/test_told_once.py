"""What an answer says beside its verdict: each thing once, with what a reader needs to act."""

from datetime import date

import pytest

from sizeup.model.advice import AdviceSet
from sizeup.model.machine import Machine, Platform
from sizeup.model.topology import Core, Package
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import described, size
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.rules import shipped
from sizeup.views.inputs.advice import sizing_data
from sizeup.views.inputs.sizing_table import AnswerRow, answer_rows
from sizeup.views.inputs.whatif import stepped
from sizeup.views.result.answer import answer_lines
from sizing.sized import sized

LOAD = ("workload.iops=20000", "workload.io_kib=8", "workload.read_percent=60", "redo.mb_s=1", "redo.write_kib=8")
YEARS = ("workload.growth_percent=20", "workload.horizon_years=3")


def rows(given: AdviceSet) -> dict[str, AnswerRow]:
    return {row.id: row for row in answer_rows(given)}


def words(*settings: str) -> str:
    return " ".join(" ".join(answer_lines(sized(*settings), most=60)).split())


def test_a_verdict_in_the_table_has_its_later_shares() -> None:
    found = rows(sized(*LOAD, *YEARS, "path.stages=hba:fc16*2", "path.policy=active-active"))

    assert found["verdict.storage"].value == "NOT CERTAIN 5.2 %"
    assert found["verdict.storage"].range_ == "N+1 10 %, year 3 8.9 %"


def test_a_demand_has_one_row_for_each_unit() -> None:
    found = rows(sized(*LOAD, "capacity.iops=50000"))

    assert "io.demand.headline" not in found
    assert found["io.demand.measured"].title == "Demand in MB/s"
    assert found["io.demand.measured-iops"].title == "Demand in IOPS"


def test_an_unknown_throughput_does_not_contradict_a_verdict_by_iops() -> None:
    found = rows(sized(*LOAD, "capacity.iops=50000", "machine.cores=8"))

    assert found["verdict.storage"].value.startswith("PASS")
    assert found["io.capacity"].title == "Storage capacity in IOPS"
    assert found["io.capacity"].value == "50,000 IOPS"


def test_an_unknown_count_of_licenses_is_one_row() -> None:
    titles = [row.title for row in answer_rows(sized("machine.guest=yes", "machine.cores=8"))]

    assert titles.count("Licenses") + titles.count("? Licenses") == 1


@pytest.mark.parametrize(
    ("number", "steps", "up"), [("20000", 3, 23150), ("8", 1, 8.4), ("123456", 1, 129600), ("2.66", 1, 2.793)]
)
def test_a_step_has_four_digits(number: str, steps: int, up: float) -> None:
    value = stepped("workload.iops", parse_settings([f"workload.iops={number}"])["workload.iops"], steps)

    assert isinstance(value, Quantity)
    assert value.value == pytest.approx(up)


def test_stages_that_a_failure_leaves_alike_are_named_once() -> None:
    paths = ("path.stages=hba:fc16*2@1,array:fc16*2", "path.policy=active-active")
    text = words(*LOAD, *YEARS, *paths)

    assert text.count("one of 2 paths lost") == 1
    assert "one of 2 paths lost: 10 % used, 18 % in year 3" in text


def test_what_was_not_judged_stands_behind_a_warning_too() -> None:
    text = words(*LOAD, "capacity.iops=25000", "sga.mb=9000")

    assert text.startswith("WARN Storage: 20,120 IOPS ")
    assert "Not judged: memory" in text


def test_the_demand_of_the_last_year_is_told_where_no_share_tells_it() -> None:
    assert "Year 3 Storage must carry 34,770 IOPS, 284.8 MB/s" in words(*LOAD, *YEARS, "machine.cores=8")
    assert "must carry" not in words(*LOAD, *YEARS, "capacity.iops=50000")
    assert "must carry" not in words(*LOAD, "machine.cores=8")


def test_whoever_says_that_it_is_no_guest_is_not_asked_again() -> None:
    machine = Machine(
        packages=(Package((0, 1), 0),), cores=(Core((0,), 0, 0, 0), Core((1,), 0, 0, 1)), platform=Platform()
    )
    open_one, answered = (
        size(described(machine, parse_settings(["license.product=ee", *more]))) for more in ((), ("machine.guest=no",))
    )

    assert any("may be virtual CPUs" in one for item in open_one.advice for one in item.caveats)
    assert not any("may be virtual CPUs" in one for item in answered.advice for one in item.caveats)


def test_a_utilization_that_is_typed_counts_before_the_cores_of_a_file() -> None:
    inputs = parse_settings(["machine.cores=8", "workload.cpu_percent=50"])
    busy = {"workload.cpu_cores": Quantity(6, "1", Origin.IMPORTED, "vm.txt")}
    both, file_alone = size({**inputs, **busy}), size({**parse_settings(["machine.cores=8"]), **busy})
    card = next(card for card in both.cards if card.resource == "cpu")

    assert card.share == pytest.approx(0.5)
    assert next(card for card in file_alone.cards if card.resource == "cpu").status == "uncertain"


def test_nothing_is_derived_from_a_measurement_that_is_no_evidence() -> None:
    unused = UnusedMeasurement(Quantity(69160, "1/s", Origin.MEASURED, "run"), "it drifted", "Run it longer")
    sizing = size({**parse_settings(["workload.iops=5000", "workload.io_kib=8"]), "capacity.iops": unused})
    card = next(card for card in sizing.cards if card.resource == "storage")

    assert (card.status, card.share) == ("unknown", None)
    assert "%" not in card.statement


@pytest.mark.parametrize(
    ("settings", "status", "card"),
    [
        ((*LOAD, "capacity.iops=50000"), "pass", "storage"),
        ((*LOAD, "capacity.iops=10000"), "fail", "storage"),
        (LOAD, "unknown", "storage"),
        ((), None, None),
    ],
)
def test_the_data_has_the_verdict(settings: tuple[str, ...], status: str | None, card: str | None) -> None:
    data = sizing_data(sized(*settings), shipped(), date(2026, 11, 22), "test")["verdict"]

    assert (data["status"], data["card"]) == (status, card)
    assert bool(data["statement"]) is bool(card)
