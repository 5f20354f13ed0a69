"""The configuration: one file, its twin variables, and who wins."""

import json
from pathlib import Path

import pytest

from sizeup import cli
from sizeup.cli import console
from sizeup.cli.parser import build_parser
from sizeup.config import KEYS, Setting, default_path, load, parse
from sizeup.errors import MalformedError, UsageError
from sizeup.tui.options import GLYPHS, THEMES, Options

ROOT = Path(__file__).parent.parent


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "sizeup").mkdir()
    (tmp_path / "sizeup/config.toml").write_text('[run]\nplan = "full"\n[console]\nmouse = false\n')
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def test_without_a_file_every_key_has_its_default(tmp_path: Path) -> None:
    configuration = load({"HOME": str(tmp_path)})

    assert configuration.path == f"{tmp_path}/.config/sizeup/config.toml"
    assert not configuration.found
    assert configuration.text("run.plan") == "standard"
    assert configuration.switch("console.mouse") is True


def test_the_file_wins_over_the_default_and_the_environment_over_the_file(home: dict[str, str]) -> None:
    configuration = load(home | {"SIZEUP_RUN_PLAN": "quick"})

    assert configuration.settings == {
        "run.plan": Setting("quick", "SIZEUP_RUN_PLAN"),
        "console.mouse": Setting(False, configuration.path),
    }
    assert configuration.text("run.plan") == "quick"
    assert configuration.switch("console.mouse") is False


def test_what_is_typed_wins_over_all(home: dict[str, str]) -> None:
    assert load(home | {"SIZEUP_RUN_PLAN": "quick"}, {"run.plan": "standard"}).text("run.plan") == "standard"
    assert load(home, {"run.plan": None}).text("run.plan") == "full"
    with pytest.raises(UsageError, match=r"^--theme: expected one of dark, .*, found 'pink'$"):
        load(home, {"console.theme": "pink"})


def test_actions_get_keys(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[keys]\n"run.start" = "f5,r"\nmode.next = "n"\n')

    assert load({"SIZEUP_CONFIG": str(path)}).keymap == {"run.start": "f5,r", "mode.next": "n"}


def test_a_relative_configuration_directory_is_ignored_as_the_specification_asks() -> None:
    assert default_path({"XDG_CONFIG_HOME": "here", "HOME": "/home/ann"}) == "/home/ann/.config/sizeup/config.toml"


def test_a_variable_of_someone_else_is_noted_and_no_error(tmp_path: Path) -> None:
    configuration = load({"HOME": str(tmp_path), "SIZEUP_PORT": "tcp://10.0.0.1:80", "SIZEUP_CONSOLE_ASCII": "yes"})

    assert configuration.unknown_variables == ("SIZEUP_PORT",)
    assert configuration.switch("console.ascii") is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[console]\nmuose = true", "c.toml: unknown key 'console.muose' (did you mean console.mouse?); see: {}"),
        ("[a]\nb.c = 'quick'", "c.toml: unknown key 'a.b.c'; see: {}"),
        ("[console]\nmouse = 'yes'", "c.toml: console.mouse: expected true or false, found 'yes'"),
        ("[run]\nplan = 'fast'", "c.toml: run.plan: expected one of quick, standard, full, found 'fast'"),
        ("[keys]\nrun.start = 5", "c.toml: keys.run.start: expected keys such as \"f5\", found 5"),
        ("[run]\nplan = 3", "c.toml: run.plan: expected one of quick, standard, full, found 3"),
        ('["\\u001b[31m"]\nx = 1', "c.toml: unknown key '\ufffd[31m.x'; see: sizeup doctor --keys"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, "c.toml")

    assert str(caught.value) == message.format("sizeup doctor --keys")


def test_what_is_no_toml_is_said_with_its_place() -> None:
    with pytest.raises(MalformedError, match=r"c\.toml: expected a configuration in TOML: .*line 1"):
        parse("plan: quick", "c.toml")


def test_a_variable_with_a_wrong_value_is_named() -> None:
    with pytest.raises(UsageError, match=r"^SIZEUP_CONSOLE_MOUSE: expected true or false, found 'maybe'$"):
        load({"HOME": "/nonexistent", "SIZEUP_CONSOLE_MOUSE": "maybe"})


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="expected the configuration file named by SIZEUP_CONFIG, but there is no such file"
    ):
        load({"SIZEUP_CONFIG": str(tmp_path / "none.toml")})


def test_a_file_in_another_encoding_or_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"# caf\xe9\n")
    with pytest.raises(UsageError, match="SIZEUP_CONFIG in UTF-8, found byte 0xe9 at offset 5"):
        load({"SIZEUP_CONFIG": str(path)})
    path.write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(UsageError, match="SIZEUP_CONFIG of at most 1 MiB, found more"):
        load({"SIZEUP_CONFIG": str(path)})
    with pytest.raises(UsageError, match="found a character device"):
        load({"SIZEUP_CONFIG": "/dev/zero"})


def test_every_key_stands_in_the_document() -> None:
    text = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    rows = [
        f"| `{key.name}` | `{key.variable}` | {f'`{key.option}`' if key.option else 'none'} | {key.expectation} "
        f"| `{json.dumps(key.default)}` |"
        for key in KEYS
    ]

    assert [row for row in rows if row not in text] == []


def test_every_key_stands_for_an_option_that_is_there() -> None:
    options = {**build_parser()._option_string_actions, **build_parser("run")._option_string_actions}

    for key in KEYS:
        if not key.option:
            continue
        text = options[key.option].help or ""
        default = {True: "on", False: "off"}.get(key.default, key.default)  # type: ignore[call-overload]
        assert text.endswith(f"(default: {default})")
        assert key.help.split(";")[0] in text or key.name == "run.plan"
        if key.option in ("--theme", "--glyphs"):
            assert key.choices == {"--theme": THEMES, "--glyphs": GLYPHS}[key.option]
            assert ", ".join(key.choices[:-1]) + f" or {key.choices[-1]}" in text


def test_nothing_typed_needs_no_parser_and_means_what_the_parser_makes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[Options, dict[str, object]]] = []
    monkeypatch.setenv("SIZEUP_CONFIG", "")
    monkeypatch.setattr(
        console, "show_console", lambda typed, **others: shown.append((console.options(typed), others)) or 0
    )
    bare = cli.run([])
    parsed = console.run(build_parser().parse_args([]))

    assert (bare, parsed) == (0, 0)
    assert shown[0][0] == shown[1][0]
    assert (shown[0][1], shown[1][1]) == ({}, {"sysroot": "/"})
