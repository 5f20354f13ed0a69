"""What a console says of its own cost, as a line and back."""

import pytest

from sizeup.live.cost import ConsoleCost, format_cost, parse_cost


def test_a_cost_is_one_line_of_json_behind_its_word() -> None:
    cost = ConsoleCost(1.5, 20_480)

    assert format_cost(cost) == b'console {"cpu_seconds":1.5,"bytes":20480}'
    assert parse_cost(format_cost(cost)) == cost


@pytest.mark.parametrize(
    "line",
    [
        b"cancel",
        b"console",
        b"console {}",
        b"console 5",
        b'console {"cpu_seconds": "much", "bytes": 1}',
        b'console {"cpu_seconds": -1, "bytes": 1}',
        b'console {"cpu_seconds": 1, "bytes": -1}',
        b"console \xff",
    ],
)
def test_anything_else_is_no_cost(line: bytes) -> None:
    assert parse_cost(line) is None
