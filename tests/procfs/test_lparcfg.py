"""Processors of a PowerVM partition, as its kernel prints them."""

import pytest

from sizeup.model.machine import LogicalPartition
from sizeup.procfs.lparcfg import parse_lparcfg, reduced_lparcfg

SHARED = """\
lparcfg 1.9

serial_number=IBM,0210ABCDE
system_type=IBM,8286-42A
partition_id=4
R4=0x96
BoundThrds=1
DesEntCap=150
DesProcs=4
partition_max_entitled_capacity=400
system_potential_processors=24
partition_entitled_capacity=150
group=32772
system_active_processors=16
pool=0
pool_capacity=1600
capped=1
partition_active_processors=4
partition_potential_processors=8
shared_processor_mode=1
slb_size=32
"""


def test_capacities_are_hundredths_of_a_core() -> None:
    assert parse_lparcfg(SHARED) == LogicalPartition(
        shared=True, capped=True, entitled_cores=1.5, max_entitled_cores=4.0, server_cores=16
    )


@pytest.mark.parametrize(
    ("changed", "shared", "capped"),
    [
        (("capped=1", "capped=0"), True, False),
        (("capped=1\n", ""), True, None),
        (("shared_processor_mode=1", "shared_processor_mode=0"), False, True),
        (("shared_processor_mode=1", "shared_processor_mode=2"), None, True),
        (("shared_processor_mode=1", ""), None, True),
    ],
)
def test_what_the_file_does_not_say_is_unknown(
    changed: tuple[str, str], shared: bool | None, capped: bool | None
) -> None:
    found = parse_lparcfg(SHARED.replace(*changed))

    assert (found.shared, found.capped) == (shared, capped)


@pytest.mark.parametrize("value", ["", "x", "-150", "1e3", "0", "9" * 40, "150 180"])
def test_a_capacity_that_is_none_is_unknown(value: str) -> None:
    found = parse_lparcfg(SHARED.replace("partition_entitled_capacity=150", f"partition_entitled_capacity={value}"))

    assert found.entitled_cores is None


@pytest.mark.parametrize("text", ["", "lparcfg 1.9\n\n", "\0\x7f=1", "capped", "serial_number=IBM,1"])
def test_a_file_without_a_word_on_processors_is_nothing(text: str) -> None:
    assert parse_lparcfg(text) is None


def test_the_reduced_file_says_the_same_without_serial_numbers() -> None:
    reduced = reduced_lparcfg(SHARED.encode())

    assert b"0210ABCDE" not in reduced
    assert parse_lparcfg(reduced.decode()) == parse_lparcfg(SHARED)
