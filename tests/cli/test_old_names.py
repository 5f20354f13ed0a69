"""Each name of version 0.2 is taken for the present one, with a hint on a terminal."""

from __future__ import annotations

import sys

import pytest

from sizeup.cli import renamed, run, split_path
from sizeup.cli.parser import build_parser
from tiers import one_in

OLD = {
    "attach x": "session follow x",
    "attach --text x": "session show x",
    "check x": "drift x",
    "check --against x": "drift x",
    "check --against=x --json": "drift x --json",
    "compare x --baseline y z": "session compare x --against y z",
    "compare x --baseline y --html": "session compare x --against y --format=html",
    "compare x --baseline y --markdown": "session compare x --against y --format=markdown",
    "compare x --catalog y --json": "session rank x y --json",
    "completion bash": "help completion bash",
    "detect --diff x": "detect --against x",
    "--diff=x": "--against=x",
    "export x --html -o -": "session export x --format=html -o -",
    "export x --markdown": "session export x --format=markdown",
    "export x --text --ascii": "session export x --format=text --ascii",
    "export x --csv": "session export x --format=csv",
    "export x --json": "session export x --json",
    "export x --svg --step a": "session export x --format=svg --step a",
    "export x --openmetrics": "session export x --format=openmetrics",
    "export x --share": "session export x --format=share",
    "export x y --tidy csv": "session export x y --format=tidy-csv",
    "export x --tidy=parquet -o z": "session export x --format=tidy-parquet -o z",
    "export x --html --baseline y": "session export x --format=html --against y",
    "fleet x --csv": "fleet x --format=csv",
    "fleet x --html": "fleet x --format=html",
    "import x": "session import x",
    "manual": "help man",
    "note x y": "session note x y",
    "open x": "x",
    "open": "latest",
    "open --text x": "session show x",
    "presets redo-10db": "size cases redo-10db",
    "probes a": "probe list a",
    "probes --check x": "probe check x",
    "probes --template c x a.b": "probe new c x a.b",
    "schema": "help schema",
    "sessions": "session list",
    "sessions --json": "session list --json",
    "sessions search x": "session list x",
    "sessions tag x y z": "session note x --tag y --tag z",
    "sessions rename x y": "session rename x y",
    "sessions prune --keep 1": "session prune --keep 1",
    "show x": "session show x",
    "size --keys": "size keys",
    "size --set db.gb=1 --candidates x y --json": "size compare x y --set db.gb=1 --json",
    "size --session x": "size --machine x",
    "size --sysroot=x": "size --machine=x",
    "size --preset x": "size --machine x",
    "size --blank --working": "size --machine=none --show=working",
    "size --sources --licenses --sensitivity": "size --show=sources --show=licenses --show=sensitivity",
    "size --explain cpu --compare-with x": "size --show cpu --against x",
    "size --html -o x": "size --format=html -o x",
}


@pytest.mark.parametrize("old", one_in(4, OLD))
def test_an_old_name_is_taken_for_the_present_one(
    old: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    path, rest = renamed.modern(old.split())

    assert (path, rest) == split_path(OLD[old].split())
    build_parser(path).parse_args(rest)
    assert "is now: " in capsys.readouterr().err


def test_every_old_name_is_tried() -> None:
    options = {word.partition("=")[0] for old in OLD for word in old.split()}

    assert set(renamed.COMMANDS) <= {old.split()[0] for old in OLD}
    assert {option for names in renamed.OPTIONS.values() for option in names} <= options
    assert {option for names in renamed.MOVED.values() for option in names} <= options


def test_a_script_gets_no_hint_and_a_value_is_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert renamed.modern(["session", "note", "x", "--", "--html"]) == ("session note", ["x", "--", "--html"])
    assert renamed.modern(["presets"]) == ("size cases", [])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("typed", "meant"), [("list", "session list or probe list"), ("keys", "size keys"), ("rank", "session rank")]
)
def test_a_word_of_a_group_alone_is_refused_with_the_whole_command(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([typed]) == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err
