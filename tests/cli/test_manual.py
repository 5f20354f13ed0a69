"""What is printed for other programs to read: the manual page and shell completion."""

import importlib.util
import shutil
import subprocess

import pytest

from sizeup.cli import COMMANDS, run


def test_the_manual_page_holds_every_command_and_no_stray_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "man"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line for line in lines if line.startswith(".SS")] == [f'.SS "sizeup {name}"' for name in COMMANDS]
    assert {line.split()[0] for line in lines if line.startswith((".", "'"))} <= {".TH", ".SH", ".SS", ".nf", ".fi"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands_and_what_is_a_file(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "completion", shell]) == 0
    script = capsys.readouterr().out

    assert [name for name in COMMANDS if name.split()[-1] not in script] == []
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode == 0


def test_without_the_extra_the_way_to_get_it_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    assert run(["help", "completion", "bash"]) == 2
    assert "pip install 'sizeup[completion]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (["detekt"], " (did you mean detect?), and no such file or saved session; see: sizeup --help"),
        (
            ["serve", "--port", "8765"],
            ", which was removed; use the console over ssh, or share a page: sizeup session export FILE -o page.html",
        ),
    ],
)
def test_an_unknown_command_is_refused_with_what_to_use(
    typed: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(typed) == 2
    assert capsys.readouterr().err == f"sizeup: unknown command {typed[0]!r}{hint}\n"


@pytest.mark.parametrize("words", [["session", "show"], ["run", "--mount"], ["probe", "check"]])
def test_a_value_of_any_length_leaves_the_message_short(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, f"{'a' * 5000}z"]) == 2
    told = capsys.readouterr().err
    assert len(told) < 800
    assert f"{'a' * 100}..." in told


def test_an_option_before_the_command_is_not_taken_for_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--sysroot", "/", "detect"]) == 2
    assert "options must follow the command detect; try: sizeup detect --help" in capsys.readouterr().err
