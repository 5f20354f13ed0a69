"""sizeup export: one session in, one file out, whole or not at all."""

import gzip
import json
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import copied_probes
from importers.results import SLB
from report.sessions import records, written
from sizeup import cli
from sizeup.errors import ExitStatus
from sizeup.session.reader import read_session
from sizeup.session.share import kept_key
from tiers import in_gate

FIRST_WORDS = {
    "html": "<!doctype html>",
    "markdown": "# db01",
    "text": "db01: run",
    "csv": "step,series,unit",
    "json": "{",
    "svg": "<?xml",
}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def export(session: str, form: str, *more: str) -> int:
    return cli.run(["session", "export", session, "--format", form, *more])


@pytest.fixture
def session(tmp_path: Path) -> str:
    return written(tmp_path / "one.sizeup.jsonl", *records())


@pytest.mark.parametrize("name", FIRST_WORDS)
def test_each_format_is_written_whole_with_nothing_beside_it(session: str, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    step = ["--step", "clock.cost"] if name == "svg" else []

    assert export(session, name, *step, "-o", str(folder / "report")) == ExitStatus.OK
    assert [path.name for path in folder.iterdir()] == ["report"]
    assert (folder / "report").read_text().startswith(FIRST_WORDS[name])


def test_without_a_place_it_goes_to_standard_output(session: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.run(["session", "export", session, "--json"]) == ExitStatus.OK
    assert json.loads(capsysbinary.readouterr().out)["schema"] == "sizeup.report/1"


@pytest.mark.parametrize("name", ["html", "markdown", "text"])
def test_a_report_beside_a_published_case_says_where_it_was_printed(
    tmp_path: Path, name: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "slb.txt").write_text(SLB)
    path = str(tmp_path / "slb.sizeup.jsonl")
    assert cli.run(["session", "import", str(tmp_path / "slb.txt"), "-o", path]) == ExitStatus.OK

    assert export(path, name, "--against", "preset:slb-e5320") == ExitStatus.OK

    said = " ".join(capsysbinary.readouterr().out.decode().split())
    for words in ("Compared", "131 ns", "Silly Little Benchmark", "2006 to 2007", "B (new) contains no machine"):
        assert words in said


def test_a_report_beside_nothing_it_shares_a_figure_with_is_refused(
    session: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")

    assert export(session, "html", "--against", "preset:redo-10db", "-o", out) == ExitStatus.USAGE
    assert export(session, "csv", "--against", "preset:redo-10db", "-o", out) == ExitStatus.USAGE
    told = capsys.readouterr().err
    assert "nothing measured on both sides" in told
    assert "--against has no effect on the format csv" in told
    assert not (tmp_path / "out").exists()


def test_the_share_opens_and_what_was_masked_is_shown_to_the_sender_alone(
    session: str, tmp_path: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "share.sizeup.jsonl.gz"

    assert export(session, "share", "-o", str(out)) == ExitStatus.OK

    told = capsys.readouterr().err
    assert "S3RIAL-9X7" in told
    assert "Check the file before you send it" in told
    assert b"S3RIAL-9X7" not in gzip.decompress(out.read_bytes())
    assert read_session(str(out)).header.host.startswith("host-")
    assert stat.S_IMODE((state / "sizeup/masking.key").stat().st_mode) == 0o600


def test_a_name_that_only_a_note_has_is_masked_on_request(
    session: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["session", "note", session, "for Acme Mills, the ACME MILLS ledger"]) == ExitStatus.OK
    out = tmp_path / "share.gz"
    capsys.readouterr()

    assert export(session, "share", "-o", str(out), "--also-mask", "Acme Mills", "--also-mask", "Zenith") == 0

    told = capsys.readouterr().err
    assert "acme" not in gzip.decompress(out.read_bytes()).decode().lower()
    assert [line for line in told.splitlines() if line.startswith("Not masked")] == [
        "Not masked, as it is not in the session or the same on every host: Zenith"
    ]
    free = told.index("Free text, which may hold names that only you know")
    assert free < told.index("  for name-") < told.index("names masked in"), told
    assert "  for Acme" not in told
    assert export(session, "share", "-o", str(out), "--also-mask", "ab") == ExitStatus.USAGE
    assert "at least 3 characters, found 'ab'" in capsys.readouterr().err
    assert export(session, "html", "-o", str(tmp_path / "x.html"), "--also-mask", "Acme") == ExitStatus.USAGE


@pytest.mark.parametrize(
    ("chosen", "name", "said"),
    [
        ("share", "m.html", "expected a name that ends as the format share does (.gz), found .html"),
        ("html", "m.gz", "expected a name that ends as the format html does (.html), found .gz"),
    ],
)
def test_no_format_is_written_under_the_name_of_another(
    session: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], chosen: str, name: str, said: str
) -> None:
    out = tmp_path / name

    assert export(session, chosen, "-o", str(out)) == ExitStatus.USAGE
    assert said in capsys.readouterr().err
    assert not out.exists()
    assert export(session, "markdown", "-o", str(tmp_path / "m.txt")) == ExitStatus.OK


def test_charts_of_a_probe_that_is_not_installed_are_shared(tmp_path: Path) -> None:
    own = next(probe for probe in copied_probes.OWN if probe.name == "memory.latency")
    absent = replace(own, manifest=replace(own.manifest, name="acme.latency"))
    path = written(tmp_path / "one.sizeup.jsonl", *copied_probes.records(absent))
    shared, report = str(tmp_path / "shared.gz"), tmp_path / "report.html"
    assert export(path, "share", "-o", shared) == ExitStatus.OK

    for session in (path, shared):
        (run,) = read_session(session).steps.values()
        assert run.declaration == absent.manifest.declaration()
        assert run.declaration.title == "Memory latency"
        assert cli.run(["session", "show", session]) == ExitStatus.OK
        assert export(session, "html", "-o", str(report)) == ExitStatus.OK
        assert "<svg" in report.read_text("utf-8")


def test_two_shares_of_one_installation_use_the_same_pseudonyms(session: str, tmp_path: Path) -> None:
    places = [tmp_path / "first.gz", tmp_path / "second.gz"]
    for place in places:
        assert export(session, "share", "-o", str(place)) == ExitStatus.OK

    assert places[0].read_bytes() == places[1].read_bytes()


def test_what_a_full_disk_left_of_the_key_is_replaced(
    session: str, tmp_path: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = state / "sizeup/masking.key"
    key.parent.mkdir(parents=True, exist_ok=True)
    key.touch()

    assert export(session, "share", "-o", str(tmp_path / "share.gz")) == ExitStatus.OK

    assert len(key.read_bytes()) == 32
    assert "the masking key cannot be saved" not in capsys.readouterr().err


def test_a_key_that_finds_no_room_leaves_nothing_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "masking.key"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            kept_key(place, bytes(32))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert not place.exists()


def test_a_chart_must_be_chosen_where_there_are_several(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(session, "svg") == ExitStatus.USAGE
    assert "choose the step with --step, one of: memory.latency, clock.cost" in capsys.readouterr().err
    assert export(session, "svg", "--step", "nonsense") == ExitStatus.USAGE
    assert "choose one of: memory.latency, clock.cost" in capsys.readouterr().err


def test_the_session_is_not_overwritten_by_its_own_report(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(session).read_bytes()

    assert export(session, "html", "-o", session) == ExitStatus.USAGE
    assert "would overwrite a file that is read" in capsys.readouterr().err
    assert Path(session).read_bytes() == before


def test_a_new_file_obeys_the_umask_and_an_old_one_keeps_its_mode_and_its_link(session: str, tmp_path: Path) -> None:
    old, link = tmp_path / "old", tmp_path / "link"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to(old)

    assert export(session, "text", "-o", str(link)) == ExitStatus.OK

    assert link.is_symlink()
    assert old.read_text().startswith("db01")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from sizeup.cli import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", in_gate("csv|share", ["html", "csv", "share"]))
def test_a_full_disk_keeps_the_old_file_and_removes_what_was_begun(session: str, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report").write_text("last year's report")
    if name in ("csv", "share"):
        many = [record for record in records() if type(record).__name__ == "SamplesRecord"]
        session = written(tmp_path / "many.sizeup.jsonl", *records()[:6], *_distinct(many))

    result = subprocess.run(
        [sys.executable, "-c", LIMITED, "export", session, "--format", name, "-o", str(folder / "report")],
        capture_output=True, text=True, check=False, env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )  # fmt: skip

    assert result.returncode == ExitStatus.USAGE, result.stderr
    assert "the file that was there is unchanged" in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in folder.iterdir()] == ["report"]
    assert (folder / "report").read_text() == "last year's report"


def _distinct(batches: list[object]) -> list[object]:
    """The batches many times over, with times and values of their own, so that they neither repeat nor pack well."""
    import random

    import msgspec

    chance = random.Random(1)
    return [
        msgspec.structs.replace(batch, t_ns=(n, n + 1, n + 2), values=tuple(chance.random() for _ in range(3)))
        for n in range(1, 400)
        for batch in batches
    ]


def test_a_place_that_does_not_exist_is_named(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(session, "html", "-o", "/nonexistent/report.html") == ExitStatus.USAGE
    assert "/nonexistent/report.html: cannot write: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["--set", "--workload"])
def test_a_report_starts_with_the_verdict_of_a_workload_that_the_session_has_not(
    how: str, session: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "db.toml"
    file.write_text('schema = "sizeup.workload/1"\n[inputs]\n"workload.cpu_cores" = 1\n')
    stated = {"--set": "workload.cpu_cores=1", "--workload": str(file)}[how]

    cli.run(["session", "export", session, "--json"])
    recorded = json.loads(capsys.readouterr().out)["verdict"]
    assert cli.run(["session", "export", session, "--json", how, stated]) == ExitStatus.OK
    verdict = json.loads(capsys.readouterr().out)["verdict"]

    assert recorded["status"] == "NO VERDICT YET"
    assert verdict["status"] != "NO VERDICT YET"
    assert "CPU" in verdict["statement"]


def test_workload_files_of_a_repeated_option_all_count(
    session: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = []
    for key in ("cpu_cores", "iops"):
        file = tmp_path / f"{key}.toml"
        file.write_text(f'schema = "sizeup.workload/1"\n[inputs]\n"workload.{key}" = 1\n')
        given += ["--workload", str(file)]

    assert cli.run(["session", "export", session, "--json", *given]) == ExitStatus.OK
    keys = {entry["key"] for answer in json.loads(capsys.readouterr().out)["advice"] for entry in answer["inputs"]}

    assert {"workload.cpu_cores", "workload.iops"} <= keys


@pytest.mark.parametrize(
    "arguments", [("--format", "svg", "--set", "workload.iops=1"), ("--format", "share", "--workload", "awr.txt")]
)
def test_a_workload_is_refused_where_no_advice_is_written(arguments: tuple[str, ...], session: str) -> None:
    assert cli.run(["session", "export", session, *arguments]) == ExitStatus.USAGE
