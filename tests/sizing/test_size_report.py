"""A sizing result as a report that stands alone: what a buyer attaches to an order."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import purchase
from report.sessions import records, written
from sizeup import cli

Report = Callable[..., str]
DRIVES = ("array.disks=24", "array.raid=10", "array.drive_iops=4000", "array.disk_gb=960")
YEARS = ("workload.growth_percent=20", "workload.horizon_years=3")
PURCHASE = ("--sysroot", "server-x", "--workload", "awr.txt", "--set", "db.gb=4000", *YEARS, *DRIVES)
CHAPTERS = [
    "Limits, failures and growth",
    "Licenses and cost",
    "Not answered",
    "Assumptions",
    "Inputs",
    "Working",
    "Sources",
    "Rules",
    "All findings",
    "Machine",
]


@pytest.fixture(scope="module")
def bought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the server and the report of its workload."""
    made = tmp_path_factory.mktemp("bought")
    purchase.files(made)
    return made


@pytest.fixture(autouse=True)
def folder(bought: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the working directory."""
    monkeypatch.chdir(bought)
    return bought


@pytest.fixture
def markdown(folder: Path) -> Report:
    """What --markdown writes for these options."""

    def run(*options: str) -> str:
        assert cli.run(["size", *options, "--format", "markdown", "-o", "result.md"]) == 0
        return (folder / "result.md").read_text(encoding="utf-8")

    return run


def chapter(text: str, title: str) -> str:
    """Return one chapter of a Markdown report, without the marks of Markdown."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1].replace("\\", "")


def rows(text: str) -> dict[str, list[str]]:
    """Return the rows of all tables by their first cell."""
    cells = ([cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line[:1] == "|")
    return {row[0]: row for row in cells}


def test_the_report_leads_with_the_verdict_and_the_resources(markdown: Report) -> None:
    text = markdown(*PURCHASE).replace("\\", "")

    assert text.startswith("# Sizing of server-x\n\n**FAIL** Storage: 41,500 IOPS ")
    assert "- **Workload**: 40,000 IOPS (60 % reads, 8 KiB), 120 MB/s redo, 4,000 GB database, +20 % a year" in text
    table = rows(text.partition("## ")[0])
    assert table["Resource"] == ["Resource", "Detected", "Demand", "Used", "N+1", "Year 3", "Status"]
    assert table["Storage"][-4:] == ["61 %", "86 %", "106 %", "FAIL"]
    assert {"Space", "Memory", "CPU", "License"} < set(table)
    assert "Clock" not in table


def test_the_chapters_stand_in_their_order(markdown: Report) -> None:
    titles = re.findall(r"^## (.*)$", markdown(*PURCHASE), re.MULTILINE)

    assert [title for title in titles if title in CHAPTERS] == [title for title in CHAPTERS if title in titles]
    assert {"Licenses and cost", "Assumptions", "Inputs", "Working", "Sources"} <= set(titles)


def test_every_failure_and_the_growth_have_their_figures(markdown: Report) -> None:
    text = chapter(markdown(*PURCHASE), "Limits, failures and growth")

    assert "- **N+1**: one of 24 drives lost: 86 % used, 149 % in year 3" in text
    assert "- **N+1**: FC port host0 lost: 28 % used, 48 % in year 3" in text
    assert "- **Growth**: Storage passes 100 % in year 3" in text


def test_the_cost_has_its_list_its_rivals_and_sources_with_date_and_address(markdown: Report) -> None:
    text = chapter(markdown(*PURCHASE), "Licenses and cost")

    assert "- **Cost**: Oracle EE (no database is chosen), 3 years: $1,261,600 = $760,000 + $501,600 support" in text
    table = rows(text)
    assert table["Oracle SE2"] == [
        "Oracle SE2",
        "$58,100 over 3 years, perhaps too few: 16 threads",
        "license.product=se2",
    ]
    price = next(row for name, row in table.items() if "Price List" in name)
    assert price[1].startswith("2026")
    assert price[3].startswith("https://www.oracle.com/")
    sources = [row for row in table.values() if len(row) == 4 and row[0] != "Source"]
    assert sources
    assert all(row[1] and row[2] and row[3] for row in sources if not set(row[0]) <= {"-"})


def test_what_nobody_chose_is_an_assumption_and_what_was_given_is_an_input(markdown: Report) -> None:
    text = markdown(*PURCHASE)
    assumed, given = rows(chapter(text, "Assumptions")), rows(chapter(text, "Inputs"))

    assert "- Oracle EE is assumed, as no edition is set" in chapter(text, "Assumptions")
    assert "Users" not in assumed
    assert assumed["Term"][1] == "3 years"
    assert given["Growth per year"] == ["Growth per year", "20 %", "typed", "--set", "workload.growth_percent"]
    assert given["IOPS wanted"][2:4] == ["imported", "awr.txt: one interval, an average"]
    assert given["Memory"] == ["Memory", "512 GiB", "detected", "/proc/meminfo", "machine.memory_gib"]
    assert not set(assumed) & set(given) - {"Input", "---"}


def test_the_inputs_stand_below_what_they_are_about(markdown: Report) -> None:
    text = chapter(markdown(*PURCHASE, "license.product=ee"), "Inputs")

    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == ["Workload", "Plan", "Storage", "Server", "License"]
    assert "license.product" in {row[-1] for row in rows(text.partition("### License")[2]).values()}


def test_the_working_is_that_of_every_answer(markdown: Report, capsys: pytest.CaptureFixture[str]) -> None:
    text = chapter(markdown(*PURCHASE), "Working")
    capsys.readouterr()
    assert cli.run(["size", *PURCHASE, "--show", "working"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]

    assert len(lines) > 50
    assert [line for line in lines if line not in text] == []


class _Page(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_stands_alone_and_has_what_decides_open(folder: Path) -> None:
    assert cli.run(["size", *PURCHASE, "--format", "html", "-o", "result.html"]) == 0
    text = (folder / "result.html").read_text(encoding="utf-8")
    page = _Page(text)
    names = [name for name, _ in page.tags]

    assert not {"script", "link", "img", "iframe", "a"} & set(names)
    assert not [attrs for _, attrs in page.tags if "src" in attrs or "href" in attrs]
    titles = re.findall(r"<summary><h2>(.*?)</h2>", text)
    parts = [attrs for name, attrs in page.tags if name == "details"]
    opened = [title for title, attrs in zip(titles, parts, strict=True) if "open" in attrs]
    assert opened == [title for title in CHAPTERS[:5] if title in titles]
    assert "Sizing of server-x: FAIL – sizeup" in page.words


def test_figures_alone_and_published_cases_and_this_machine_have_reports(markdown: Report) -> None:
    figures = ("--machine", "none", "--set", "machine.cores=32", "workload.iops=40000", "path.stages=hba:fc16*2")
    assert markdown(*figures).startswith("# Sizing of the given machine\n")
    assert markdown("--machine", "redo-10db").startswith("# Sizing of redo-10db\n")
    here = markdown()
    assert "**NO VERDICT YET**" in here
    assert "## Machine" in here


def test_licenses_alone_lead_their_report(markdown: Report) -> None:
    text = markdown("--sysroot", "server-x", "--set", "license.product=ee").replace("\\", "")

    assert text.partition("\n\n")[2].startswith("**PASS** Oracle Database Enterprise Edition: 16 licenses required")
    assert "- **Basis**: counted for 32 cores, Intel(R) Xeon(R) Gold 6326" in text
    assert "Limits, failures and growth" not in text


def test_a_session_is_sized_with_its_measurements(folder: Path, markdown: Report) -> None:
    session = written(folder / "run.sizeup.jsonl", *records())
    text = markdown("--session", session, "--set", "workload.iops=100").replace("\\", "")

    assert text.startswith("# Sizing of ")
    assert "- **Run**: " in text
    assert "Recomputed with the rules of" in text


@pytest.mark.ci
def test_further_options_add_their_chapters(markdown: Report) -> None:
    text = markdown(*PURCHASE, "--show", "licenses", "--show", "sensitivity")

    assert "SQL Server" in chapter(text, "Licenses of every vendor")
    turns = chapter(text, "What would change the answer")
    assert "Growth per year (workload.growth_percent)" in turns
    assert "verdict.storage" not in turns


def test_a_user_s_own_rule_is_named(folder: Path, markdown: Report) -> None:
    (folder / "own.toml").write_text(
        'schema = "sizeup.rules/1"\n[[override]]\ntarget = "product.oracle.ee.price.processor"\nvalue = 21000\n'
        'reason = "our contract"\ndate = 2026-11-20\n',
        encoding="utf-8",
    )
    text = markdown("--rules", "own.toml", *PURCHASE)

    assert rows(chapter(text, "Rules"))["product.oracle.ee.price.processor"][1:] == [
        "21000",
        "our contract",
        "2026-11-20",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "x.foo"), "-o x.foo: expected a name that ends as its format does; add --format: text, json, html"),
        (("--format", "html", "--json"), "--json: not allowed with argument --format"),
        (("--format", "html", "--show", "storage"), "--show storage has no effect on the format html"),
        (("compare", "server-x", "--format", "html"), "unrecognized arguments: --format html"),
        (("--workload", "awr.txt", "--format", "html", "-o", "awr.txt"), "-o awr.txt: would overwrite a file that is"),
        (("-o", "missing/x.html"), "missing/x.html: cannot write: No such file or directory"),
    ],
)
def test_what_makes_no_report_is_refused(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["size", *options]) == 2
    assert message in capsys.readouterr().err


def test_without_a_file_the_report_goes_to_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.run(["size", *PURCHASE, "--format", "markdown"]) == 0

    assert capsysbinary.readouterr().out.startswith(b"# Sizing of server-x\n")
