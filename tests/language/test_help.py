"""Every command, argument and option has one line of help in the same form."""

import pytest

from sizeup.cli import COMMANDS, GROUPS, run
from sizeup.cli.parser import build_parser

ALL = {path: build_parser(path) for path in ("", *COMMANDS)}


@pytest.mark.parametrize("name", ALL)
def test_every_argument_has_one_line_of_help(name: str) -> None:
    lines = {str(action.metavar or action.dest): action.help for action in ALL[name]._actions}

    assert [argument for argument, line in lines.items() if not line] == []
    assert [line for line in lines.values() if line[0].isupper() and line.split()[0].isalpha() and line[1:2].islower()
            and line.split()[0] != "Markdown"] == []  # fmt: skip
    assert [line for line in lines.values() if line.endswith(".")] == []


@pytest.mark.parametrize("name", ALL)
def test_every_command_is_described_in_sentences(name: str) -> None:
    description = (ALL[name].description or "").strip()

    assert description[:1].isupper()
    assert "``" not in description
    assert description.partition("\n\n")[0].rstrip().endswith(".")


def test_the_first_help_fits_one_screen_and_names_what_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    options = {word for line in lines for word in line.split() if word.startswith("--") and line.strip()[:2] == "--"}

    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert [
        name for name in {path.split()[0] for path in COMMANDS} if not any(f"  {name} " in line for line in lines)
    ] == []
    assert options <= set(ALL[""]._option_string_actions)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_lists_its_commands(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([group, "--help"]) == 0
    shown = capsys.readouterr().out

    assert [path for path in COMMANDS if path.startswith(f"{group} ") and path not in shown] == []
