"""The fleet as JSON, CSV, JUnit XML and a web page, and the limits of an acceptance profile."""

import csv
import html
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from fleet_sessions import LINK_DOWN, Figures, made_fleet, records, server, with_port_down, write
from sizeup.cli import run
from sizeup.fleet.fleet import build_fleet, fleet_paths, read_fleet
from sizeup.fleet.heat import heat_cell
from sizeup.model.sample import Status

ALIKE = Figures()
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four like hosts, a slow one, one whose run failed, and a file that is no session."""
    made_fleet(tmp_path, 4)
    slow = replace(ALIKE, dram_ns=152.0)
    write(tmp_path, "db05", records("db05", slow, with_port_down(server()), findings=(LINK_DOWN,)))
    write(tmp_path, "db06", records("db06", ALIKE, server(), status=Status.CRASHED))
    (tmp_path / "db07.sizeup.jsonl").write_text("x\n")
    return tmp_path


def profile(folder: Path, text: str) -> str:
    path = folder / "profile.toml"
    path.write_text(text)
    return str(path)


def test_json_has_all_in_base_units(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fleet", str(folder), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    hosts = {host["host"]: host for host in data["hosts"]}

    assert data["schema"] == "sizeup.fleet/1"
    assert {name: host["status"] for name, host in hosts.items()} == {
        "db01": "OK", "db02": "OK", "db03": "OK", "db04": "OK", "db05": "OUTLIER", "db06": "NO RESULT",
    }  # fmt: skip
    (dram, numa) = hosts["db05"]["outliers"]
    assert (dram["value"], dram["unit"], dram["peers"], dram["conclusion"]) == (152.0, "ns", 4, "worse")
    assert numa["figure"] == "memory.local_latency@memory.numa"
    facts = [(one["fact"], one["value"], one["peers"], one["relevant"]) for one in dram["differs_in"]]
    assert ("adapter host4 state", "Linkdown", "Online", False) in facts
    assert hosts["db05"]["findings"] == [
        {"id": "storage.link-down", "severity": "warning", "title": "FC port host4 has no link"}
    ]
    assert [Path(one["path"]).name for one in data["files"]] == ["db07.sizeup.jsonl"]


def test_csv_has_a_row_for_each_figure_and_runs_no_formula(folder: Path, tmp_path: Path) -> None:
    write(folder, "=cmd", records("=cmd()", ALIKE, server()))
    alone = replace(server(), platform=replace(server().platform, model="Alone"))
    write(folder, "db90", records("db90", ALIKE, alone, extra={"share_where_asked": 0.5}))
    out = tmp_path / "fleet.csv"
    assert run(["fleet", str(folder), "--format", "csv", "-o", str(out)]) == 0
    found = list(csv.DictReader(io.StringIO(out.read_text())))

    slow = next(
        row for row in found if row["host"] == "db05" and row["figure"] == "memory.local_latency@memory.latency"
    )
    assert (slow["value"], slow["unit"], slow["state"], slow["outlier"]) == ("152.0", "ns", "valid", "worse")
    assert 1.5 < float(slow["ratio"]) < 1.7
    assert (slow["model"], slow["cpu"], slow["card"]) == ("PowerEdge R650", "Intel(R) Xeon(R) Gold 6430", "memory")
    assert [row["figure"] for row in found if row["host"] == "db06"] == [""]
    (absent,) = (row for row in found if row["host"] == "db06")
    assert absent["session"].endswith("db06.sizeup.jsonl")
    assert absent["started"].startswith("2026-")
    invalid = [row for row in found if row["host"] == "db90" and row["state"] == "not valid"]
    assert {(row["peers_median"], row["ratio"]) for row in invalid} == {("", "")}, "no valid figure of its type"
    assert "'=cmd()" in {row["host"] for row in found}


def test_the_page_makes_no_request_and_shows_no_markup_of_a_file(folder: Path, tmp_path: Path) -> None:
    write(folder, "bad", records("<script>alert(1)</script>", ALIKE, server()))
    out = tmp_path / "fleet.html"
    assert run(["fleet", str(folder), "--format", "html", "-o", str(out)]) == 0
    page = out.read_text()

    assert page.count("<script>") == 1
    assert "&lt;script&gt;alert(1)" in page
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert "http://" not in page
    assert "https://" not in page
    assert "src=" not in page
    assert '<table class="sortable">' in page
    assert "differs in adapter host4 state: Linkdown" in page


def test_a_figure_far_from_its_peers_is_shaded_with_its_difference_and_its_host_comes_first(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "fleet.html"
    assert run(["fleet", str(folder), "-o", str(out)]) == 0
    page = out.read_text()
    rows = page.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")
    (slow,) = re.findall(r'<td class="n worse3 out"[^>]*>(.*?)</td>', page)

    assert 'class="hero warn"' in page
    assert ">db05</th>" in rows[0]
    assert re.fullmatch(r"152 ns<small> \+\d\d %</small>", slow)


LIMITS = """
[memory.local_latency]
max = "110 ns"
worse_than_median = "15 %"
[storage.bandwidth]
min = "2 GB/s"
"""


def test_a_profile_passes_fails_or_is_undecided(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    junit = folder / "junit.xml"
    assert run(["fleet", str(folder), "--profile", profile(folder, LIMITS), "--junit", str(junit)]) == 5
    lines = capsys.readouterr().out.splitlines()

    assert "Profile: 4 PASS, 1 FAIL, 1 UNDECIDED" in lines
    assert next(line for line in lines if line.startswith("FAIL")).startswith(
        "FAIL  db05  DRAM latency: 152 ns; limit: at most 110 ns; DRAM latency: 152 ns; limit: at most 15 %"
    )
    assert next(line for line in lines if line.startswith("UNDECIDED")).startswith(
        "UNDECIDED  db06  DRAM latency: not measured"
    )
    root = ElementTree.fromstring(junit.read_text())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("19", "2", "4")
    assert [suite.get("name") for suite in root] == ["db01", "db02", "db03", "db04", "db05", "db06", "files"]
    assert root.findall(".//testcase[@classname='db05']/failure")


def test_a_file_that_cannot_be_read_leaves_a_profile_undecided(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "db06.sizeup.jsonl").unlink()
    (folder / "db05.sizeup.jsonl").unlink()
    path = profile(folder, LIMITS)

    assert run(["fleet", str(folder), "--profile", path]) == 6
    assert "1 file could not be read; measure again, or add --allow-undecided" in capsys.readouterr().err
    assert run(["fleet", str(folder), "--profile", path, "--allow-undecided"]) == 0


@pytest.mark.parametrize(("figure", "limit"), [("machine.cpus", "1"), ("machine.memory", '"1 GiB"')])
def test_what_a_machine_is_needs_no_measurement(tmp_path: Path, figure: str, limit: str) -> None:
    made_fleet(tmp_path, 3)

    assert run(["fleet", str(tmp_path), "--profile", profile(tmp_path, f"[{figure}]\nmin = {limit}\n")]) == 0


def test_a_cell_stands_out_where_its_own_figure_does(folder: Path) -> None:
    (folder / "db07.sizeup.jsonl").unlink()
    fleet = build_fleet(read_fleet(fleet_paths([str(folder)])))
    (slow,) = (host for host in fleet.hosts if host.name == "db05")
    outliers = {one.figure.name for one in slow.outliers}

    marked = {name for name in slow.figures if heat_cell(fleet, slow, name).stands_out}

    assert marked == outliers
    assert outliers
    assert outliers < slow.figures.keys()


def test_a_limit_within_the_interval_of_what_did_not_converge_is_undecided(tmp_path: Path) -> None:
    made_fleet(tmp_path, 3)
    write(tmp_path, "db04", records("db04", replace(ALIKE, dram_ns=109.0), server(), converged=False))

    assert run(["fleet", str(tmp_path), "--profile", profile(tmp_path, '[memory.local_latency]\nmax = "110 ns"')]) == 6


@pytest.mark.parametrize(("rate", "status"), [(2.01e9, 0), (1.95e9, 5)])
def test_a_rate_may_be_so_many_percent_worse_than_the_median(tmp_path: Path, rate: float, status: int) -> None:
    """The median of 2.4 GB/s is 20 % more than 2 GB/s."""
    for host, own in (("db01", 2.4e9), ("db02", 2.4e9), ("db03", 2.4e9), ("db04", rate)):
        write(tmp_path, host, records(host, replace(ALIKE, scan_bytes_per_second=own), server()))
    path = profile(tmp_path, '[storage.bandwidth]\nworse_than_median = "20 %"')

    assert run(["fleet", str(tmp_path), "--profile", path]) == status


def test_a_figure_of_other_settings_is_not_held_against_the_median(tmp_path: Path) -> None:
    made_fleet(tmp_path)
    path = profile(tmp_path, '[storage.bandwidth]\nworse_than_median = "20 %"')
    assert run(["fleet", str(tmp_path), "--profile", path]) == 0
    slow, other = replace(ALIKE, scan_bytes_per_second=1e9), {"io.direct": {"block": 512}}
    write(tmp_path, "db04", records("db04", slow, server(), settings=other))

    assert run(["fleet", str(tmp_path), "--profile", path]) == 6


def test_a_figure_that_is_not_required_may_be_absent(tmp_path: Path) -> None:
    made_fleet(tmp_path, 3)
    write(tmp_path, "db04", records("db04", ALIKE, server(), status=Status.FAILED))
    text = '[memory.local_latency]\nmax = "110 ns"\nrequired = false'

    assert run(["fleet", str(tmp_path), "--profile", profile(tmp_path, text)]) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = ", "expected a requirement profile in TOML: cut or incomplete TOML at line 1; write it again"),
        ("", "expected a table for each figure, such as [memory.local_latency], found none"),
        ("memory = 3", "memory: expected a table such as [memory.local_latency], found 3"),
        (
            "[memory.local_latncy]\nmax = 1",
            "memory.local_latncy: expected a figure (did you mean memory.local_latency?)",
        ),
        (
            "[memory.local_latency]\nmaxi = 1",
            "memory.local_latency.maxi: expected min, max, worse_than_median, required",
        ),
        ("[memory.local_latency]\nmax = '5 GB/s'", "memory.local_latency.max: expected a value in "),
        ("[memory.local_latency]\nmax = '-1 ns'", "memory.local_latency.max: expected "),
        (
            "[memory.local_latency]\nmax = 20",
            'memory.local_latency.max: expected an amount with its unit such as "110 ns"',
        ),
        ("[storage.random_iops]\nmin = inf", "storage.random_iops.min: expected an amount above 0, found inf"),
        ("[storage.random_iops]\nmin = 0", "storage.random_iops.min: expected an amount above 0, found 0"),
        (
            "[memory.local_latency]\nworse_than_median = 15",
            'memory.local_latency.worse_than_median: expected a percentage such as "15 %", found 15',
        ),
        (
            "[memory.local_latency]\nworse_than_median = '15'",
            'memory.local_latency.worse_than_median: expected a percentage such as "15 %"',
        ),
        ("[memory.local_latency]\nmax = true", "memory.local_latency.max: expected an amount, found True"),
        ("[memory.local_latency]\nrequired = 1", "memory.local_latency.required: expected true or false, found 1"),
        ("[memory.local_latency]\nrequired = true", "memory.local_latency: expected min, max or worse_than_median"),
        ("[memory.local_latency]\nmin='9 ns'\nmax='3 ns'", "memory.local_latency.min: expected at most max, '3 ns'"),
        ("[memory.local_latency]\nmin=9\n[memory.local_latency.x]\nmax=3", "memory.local_latency: expected limits"),
    ],
)
def test_a_bad_profile_says_key_expected_and_found(
    tmp_path: Path, text: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made_fleet(tmp_path, 1)
    path = profile(tmp_path, text)

    assert run(["fleet", str(tmp_path), "--profile", path]) == 2
    assert capsys.readouterr().err.startswith(f"sizeup: {path}: {expected}")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--junit", "x"], "--junit needs --profile; add --profile, or leave out --junit"),
        (["--partition"], "--partition needs --parquet; add --parquet, or leave out --partition"),
        (["-o", "x"], "-o x: expected a name that ends as its format does; add --format: text, json, csv, html"),
        (["--allow-undecided"], "--allow-undecided needs --profile; add --profile, or leave out --allow-undecided"),
        (["--all", "--json"], "--all has no effect on the format json; leave out --all, or add --format text"),
        (
            ["--against", "x", "--format", "csv"],
            "--against has no effect on the format csv; leave out --against, or add --format text or json or html",
        ),
    ],
)
def test_an_option_without_the_one_that_it_belongs_to_is_refused(
    tmp_path: Path, options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made_fleet(tmp_path, 1)

    assert run(["fleet", str(tmp_path), *options]) == 2
    assert capsys.readouterr().err == f"sizeup: {expected}\n"


def test_nothing_but_unreadable_files_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sizeup.jsonl").write_text("x\n")

    assert run(["fleet", str(tmp_path)]) == 2
    assert "a.sizeup.jsonl: expected a sizeup session" in capsys.readouterr().err


def test_an_earlier_run_of_unreadable_files_alone_is_an_error(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = tmp_path / "earlier.sizeup.jsonl"
    earlier.write_text("damaged")

    assert run(["fleet", str(folder), "--against", str(earlier)]) == 2
    assert f"{earlier}: expected a sizeup session" in capsys.readouterr().err


@pytest.mark.ci
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_click_on_a_column_sorts_by_it(folder: Path, tmp_path: Path) -> None:
    """With its content security policy, under which no other script runs: the click comes from the frame around it."""
    assert CHROMIUM is not None
    out = tmp_path / "fleet.html"
    assert run(["fleet", str(folder), "--format", "html", "-o", str(out)]) == 0
    ask = """const shown = document.querySelector("iframe").contentDocument;
        const heads = [...shown.querySelectorAll("thead button")];
        const hosts = () => [...shown.querySelectorAll("tbody tr")].map(row => row.children[0].textContent).join(",");
        const dram = heads.find(head => head.textContent === "DRAM"), found = [hosts()];
        dram.click(); found.push(hosts()); dram.click(); found.push(hosts());
        document.title = found.join(" ")"""
    frame = f'<iframe srcdoc="{html.escape(out.read_text())}"></iframe>'
    (tmp_path / "frame.html").write_text(f"{frame}<script>onload = () => {{ {ask} }}</script>")
    dumped = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--dump-dom", (tmp_path / "frame.html").as_uri()],
        capture_output=True, text=True, check=True, timeout=300,
    ).stdout  # fmt: skip

    before, up, down = dumped.rpartition("<title>")[2].partition("</title>")[0].split()
    assert before.split(",")[:2] == ["db05", "db06"]  # what stands out, and what was not measured
    assert before.split(",")[2:] == ["db01", "db02", "db03", "db04"]
    assert up.split(",")[-2:] == ["db05", "db06"]  # the slowest, then the one without a figure
    assert down.split(",")[0] == "db05"
    assert down.split(",")[-1] == "db06"
