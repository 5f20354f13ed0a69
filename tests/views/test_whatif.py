"""The inputs of what-if as lines."""

from sizeup.sizing.advise import size
from sizeup.views.whatif import UNKNOWN, input_rows


def test_an_input_that_nobody_knows_says_so_in_a_word() -> None:
    rows = {row.key: row for row in input_rows(size({}), {})}

    assert rows["machine.sockets"].value == UNKNOWN == "unknown"
    assert rows["machine.sockets"].origin == "not known"
