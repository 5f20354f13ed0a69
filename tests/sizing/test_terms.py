"""Terms: the working is made of the same arithmetic as its result."""

import math

from sizeup.quantity import Origin, Quantity
from sizeup.sizing.rules import shipped
from sizeup.sizing.sheet import Sheet, answered, in_seconds, term, worked


def test_a_working_is_the_arithmetic_of_its_result_in_the_units_of_its_numbers() -> None:
    """3 pages of 4 KiB less 2 KiB are 10,240 bytes, in 5 s 2,048 B/s; the nodes that 10 KiB fill by 4 KiB are 3."""
    sheet = Sheet({}, shipped())

    left = worked(sheet, term(3, "pages") * term(4096, "KiB") - term(2048, "KiB"), "KiB")
    rate = worked(sheet, left / in_seconds(Quantity(5e9, "ns", Origin.USER, "--set"), "s"), "B/s")
    nodes = worked(sheet, math.ceil(left / term(4096, "KiB")), "nodes")
    advice = answered(sheet, "test.rate", "rate", f"rate: {rate}", rate, "test", decision="low")

    assert (left.value, rate.value, nodes.value) == (10240, 2048, 3)
    assert advice.working == (
        "3 pages x 4 KiB - 2 KiB = 10 KiB",
        "10 KiB / 5 s = 2,048 B/s",
        "ceil(10 KiB / 4 KiB) = 3 nodes",
    )
    assert (advice.verdict, advice.shown_in, advice.decision) == ("Rate: 2,048 B/s", "B/s", "low")
    assert advice.quantity == Quantity(2048, "bytes/s", Origin.RULE, "test")
