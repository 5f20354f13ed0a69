"""Names beside values: drawn by hand, and exactly as Rich's table would."""

import pytest
from rich.console import Console

from sizeup.tui.widgets.facts import FactsGrid

_FACTS = (
    ("Processor", "AMD EPYC 9654 96-Core Processor, 2 packages of 96 cores, 384 CPUs"),
    ("Memory", "1.5 TiB"),
    ("漢字", "wide 漢字 in a value that is long enough to be folded somewhere"),
    ("Word", "a" * 150),
    ("Lines", "one\ntwo and three"),
    ("Nothing", ""),
)


@pytest.mark.parametrize("width", [10, 20, 22, 23, 30, 41, 60, 118])
@pytest.mark.parametrize("facts", [_FACTS, _FACTS[:2], ()])
def test_it_is_drawn_as_the_table_would_be(width: int, facts: tuple[tuple[str, str], ...]) -> None:
    console = Console(width=width)

    def drawn(grid: object) -> list[list[tuple[str, bool]]]:
        lines = console.render_lines(grid, console.options)  # type: ignore[arg-type]
        cells = [
            [(char, bool(part.style and part.style.dim) and char != " ") for part in line for char in part.text]
            for line in lines
        ]
        while cells and all(char == " " for char, _ in cells[-1]):
            cells.pop()
        return cells

    assert drawn(FactsGrid(facts)) == drawn(FactsGrid(facts)._table())
