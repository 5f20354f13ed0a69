"""An option that has no effect beside the others is refused, and nothing is left out without a word."""

import pytest

from sizeup import cli
from sizeup.errors import ExitStatus


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("size --machine none --percentile 50", "--percentile"),
        ("size --machine none --devices sda", "--devices"),
        ("size --machine none --show cpu --json", "--show"),
        ("size --machine none --against sla-oltp --format html", "--against"),
        ("fleet x --all --format csv", "--all"),
        ("session compare x --against y --points --json", "--points"),
        ("size cases sla-oltp --compare a b", "NAME"),
        ("detect --watch 1s --json", "--json"),
        ("detect --watch 1s --against other", "--against"),
        ("detect --since file --against other", "--against"),
        ("detect numa --json", "--json"),
        ("detect numa --watch 1s", "--watch"),
    ],
)
def test_an_option_without_effect_is_refused(line: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(line.split()) == ExitStatus.USAGE

    errors = capsys.readouterr().err
    assert named in errors
    assert "cannot be combined with" in errors or "needs" in errors or "has no effect on the format" in errors
    assert "leave out" in errors


@pytest.mark.parametrize(
    "line",
    [
        "size keys",
        "size --machine none --show licenses",
        "size --machine none --show licenses sensitivity working --against redo-10db",
        "size --machine none --show licenses sources --json",
    ],
)
def test_options_that_go_together_are_taken(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(line.split()) == ExitStatus.OK
    assert capsys.readouterr().out
