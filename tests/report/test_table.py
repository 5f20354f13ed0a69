"""Tables as lines of text."""

from sizeup.charts.table import Column, Table
from sizeup.report.table import table_lines


def test_a_column_without_any_text_is_drawn() -> None:
    table = Table("Values", (Column("Series"), Column("")), (("latency", ""),))

    assert table_lines(table, 40) == ["  Series", "  -------  ", "  latency"]
