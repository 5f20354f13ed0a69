"""One session in every format: the same five answers, nothing obeyed that a stranger wrote."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from consoles import machine
from report.sessions import records, written
from sizeup.batch.standard_output import session_lines
from sizeup.charts.chart import Axis, ChartPoint, Line, LineChart
from sizeup.charts.drawing import Glyphs
from sizeup.charts.table import Column, Table
from sizeup.model.advice import Card
from sizeup.model.machine import Gap
from sizeup.quantity import Origin
from sizeup.report.data import results_json, write_csv
from sizeup.report.html import page
from sizeup.report.markdown import markdown
from sizeup.report.table import table_lines
from sizeup.report.text import chart_lines, text
from sizeup.session.reader import read_session
from sizeup.session.value import Session
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import KEYS
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice
from sizeup.text import plain
from sizeup.views.cards.cards import CardView
from sizeup.views.document.blocks import DocumentPart, Paragraph
from sizeup.views.document.document import Document, document

HOSTILE = "<img src=x onerror=alert(1)>'\"&|`*_]\\\u001b[31m\u202e=cmd()"
QUESTIONS = ["What it is", "What it can carry", "What limits it", "What it costs", "Caveats"]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return read_session(written(tmp_path / "one.sizeup.jsonl", *records()))


@pytest.fixture
def hostile(tmp_path: Path) -> Document:
    return document(read_session(written(tmp_path / "hostile.sizeup.jsonl", *records(HOSTILE))))


class Outline(HTMLParser):
    """Tags, their attributes and the text of a page; complains about what is not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def outline(markup: str) -> Outline:
    parser = Outline()
    parser.feed(markup)
    parser.close()
    assert parser.open == []
    return parser


def five_questions(session: Session, advice: ShownAdvice | None = None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = msgspec.json.decode(results_json(session, advice))["summary"]
    return found


def test_the_data_answer_five_questions_in_sentences(session: Session) -> None:
    answers = five_questions(session)

    assert list(answers) == QUESTIONS
    assert answers["What it is"] == [
        "Storage: 1 SCSI disk, 1 TB, 1 NFS mount",
        "CPU: 2 cores, 1.86 GHz, 1 socket, 2 threads",
        "Memory: 32 GiB",
        "Network: 1 x 10 Gb/s",
    ]
    assert answers["What it can carry"][1:] == [
        "Memory latency: Random cycle: 1.2 ns at 4 KiB to 131 ns at 512 MiB; 1 of 3 figures did not converge.",
        "Clock cost: rdtsc: 11 ns (10.9 to 11.2); system call: 110 ns.",
    ]
    assert answers["What limits it"][0].startswith("Huge pages are off. Random access costs a third more.")
    assert answers["What it costs"] == ["1 license, 40,000 USD"]
    assert answers["Caveats"][1:] == [
        "io.direct was refused: no target was named.",
        "Memory latency: 1 of 3 points did not converge in its time.",
        "I/O need by the GHz rule: The rule is from 2007",
        "2 facts could not be read; they are listed with the reasons.",
    ]


@pytest.mark.parametrize(
    ("said", "verdicts"),
    [
        ({}, ["NO VERDICT YET  Nothing is judged without a workload; memory measured, but did not converge."]),
        (
            {"workload.mb_s": "200", "capacity.mb_s": "1000", "workload.cpu_percent": "97"},
            [
                "WARN  CPU: 7.76 cores",
                "PASS  Storage: 200 MB/s",
            ],
        ),
    ],
)
def test_what_it_can_carry_leads_with_the_verdicts(session: Session, said: dict[str, str], verdicts: list[str]) -> None:
    given = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in said.items()}
    advice = ShownAdvice(AdviceOrigin.RECORDED, size(described(machine(), given)))

    lines = five_questions(session, advice)["What it can carry"]
    assert [line[: len(start)] for line, start in zip(lines, verdicts, strict=False)] == verdicts


def test_a_session_that_says_nothing_says_so(tmp_path: Path) -> None:
    session = read_session(written(tmp_path / "empty.sizeup.jsonl", records()[0]))

    answers = five_questions(session)

    assert list(answers) == ["What it can carry", "Caveats"]
    assert answers["Caveats"] == ["The last run did not end: it is going on, or it was interrupted."]
    assert "It is going on" not in text(document(session))


def test_every_format_opens_with_the_run_the_verdict_the_cards_findings_and_figures(session: Session) -> None:
    shown = document(session)
    verdict, findings = "Nothing is judged without a workload", "Huge pages are off"
    in_lines = ("run WARN", verdict, "Detected", "Storage", findings, "4 KiB to 131 ns", "Before the")
    on_page = (
        "NO WORKLOAD",
        "Run refused",
        "Detected",
        "Storage",
        "Memory: latency by working set",
        findings,
        "Before the",
    )
    for written_down, parts in ((text(shown), in_lines), (markdown(shown), in_lines), (page(shown), on_page)):
        first = " ".join((written_down.partition("<body>")[2] or written_down).split())
        places = [first.index(part) for part in parts]
        assert places == sorted(places), written_down[:60]


def test_text_keeps_to_80_columns_and_on_request_to_ascii(session: Session, hostile: Document) -> None:
    for shown in (document(session), hostile):
        assert max(map(len, text(shown).splitlines())) <= 80
        plain = text(shown, ascii_only=True)
        assert plain.isascii()
        assert set(plain) <= {"\n", *map(chr, range(32, 127))}


def test_a_report_in_ascii_has_the_stand_ins_of_the_console(session: Session) -> None:
    parts = (DocumentPart("└ ×2", (Paragraph("日 ⣿"),)),)
    shown = replace(document(session), title="Größe … 138 ns ±3.0 %", parts=parts)

    lines = text(shown, ascii_only=True).splitlines()
    assert text(shown, ascii_only=True) == plain(text(shown))
    assert lines[0].startswith("Gro?e ~ 138 ns ~3.0 %: run ")
    assert [line for line in lines if line.strip("=- ")][-2:] == ["` x2", "  ?? ."]


def test_text_draws_the_curve_with_a_mark_for_each_point_and_names_its_axes(session: Session) -> None:
    lines = text(document(session), ascii_only=True).splitlines()
    start = lines.index("  ns")
    assert lines[start - 1] == "  Memory latency  o Random cycle"
    plot = lines[start + 1 : start + 16]
    marked = [line.index("o") for line in plot if "o" in line.partition("L")[0]]

    assert len(marked) == 3
    assert marked == sorted(marked, reverse=True)
    assert "Working set" in lines[start + 17]
    assert any("L1 32 KiB" in line for line in plot)
    assert any("L3 8 MiB" in line for line in plot)


def test_a_table_too_wide_for_the_line_is_wrapped_and_not_cut(session: Session) -> None:
    shown = text(document(session))

    for word in ("echo", "madvise", ">", "/sys/kernel/mm/transparent_hugepage/enabled"):
        assert word in shown


def test_the_web_page_is_well_formed_and_asks_for_nothing(hostile: Document) -> None:
    markup = page(hostile)
    shown = outline(markup.removeprefix("<!doctype html>\n"))
    attributes = [name for _, pairs in shown.tags for name in pairs]

    assert "script" not in {tag for tag, _ in shown.tags}
    assert "img" not in {tag for tag, _ in shown.tags}
    assert not [name for name in attributes if name.startswith("on") or name in {"src", "srcset", "data", "xlink:href"}]
    assert not [pairs for _, pairs in shown.tags if "href" in pairs]
    assert "default-src 'none'" in str(shown.tags)
    assert "url(" not in markup
    assert "\x1b" not in markup
    assert "\u202e" not in markup


def test_the_web_page_has_unique_ids_a_language_a_title_and_headings_without_gaps(session: Session) -> None:
    shown = outline(page(document(session)).removeprefix("<!doctype html>\n"))
    ids = [pairs["id"] for _, pairs in shown.tags if "id" in pairs]
    levels = [int(tag[1]) for tag, _ in shown.tags if re.fullmatch("h[1-6]", tag)]

    assert len(ids) == len(set(ids))
    assert ("html", {"lang": "en"}) in shown.tags
    assert "db01: NO WORKLOAD – sizeup" in shown.words
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


def test_each_chart_of_the_web_page_has_its_words_and_its_values_as_a_table(session: Session) -> None:
    markup = page(document(session))

    assert markup.count("<summary>Values</summary>") == 2
    assert markup.count('role="img"') == markup.count("<desc ") == 2 + 2 * 2  # for wide screens and for phones
    assert "131 ns (125 to 138)" in markup


def test_a_license_with_its_price_takes_the_room_of_all_cells(session: Session) -> None:
    cpu = CardView(Card("cpu", "pass", demand="4 cores", share=0.5), ("8 cores",))
    sold = CardView(Card("license", "assumed", demand="8 x a product with a long name, $630,800"))
    markup = page(replace(document(session), cards=(cpu, sold), charts=(), parts=()))
    heads = markup.partition("<thead>")[2].partition("</thead>")[0].count("<th ")
    plain, whole = markup.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")[:2]

    assert plain.count("<td") + plain.count("<th") == heads
    assert re.findall(r'colspan="(\d)"', whole) == [str(heads - 2)]


def test_a_status_is_a_word_and_a_sign_beside_its_color(session: Session) -> None:
    statuses = ("fail", "warn", "assumed", "pass", "unknown")
    cards = tuple(CardView(Card("cpu", status, share=1.31), ("8 cores",)) for status in statuses)
    rows = page(replace(document(session), cards=cards)).partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")

    for row, words in zip(rows, ("FAIL", "▲ WARN", "▲ ASSUMED", "● PASS", "○ not judged"), strict=False):
        assert f">{words}</span></td>" in row
        assert "131 %" in row
        assert 'aria-label="131 percent of capacity"' in row


def test_notes_that_the_first_page_has_no_room_for_stand_among_the_caveats(session: Session) -> None:
    given = {
        key: KEYS[key].parse(text, Origin.USER, "--set")
        for key, text in {"workload.mb_s": "200", "workload.growth_percent": "90", "workload.horizon_years": "5",
                          "capacity.mb_s": "300", "license.host_cores": "8"}.items()
    }  # fmt: skip
    shown = document(session, ShownAdvice(AdviceOrigin.RECORDED, size(described(machine(), given))))
    (listed,) = next(part.blocks for part in shown.parts if part.title == "Caveats")
    notes = [note for card in shown.cards for note in card.judged.sentences]

    assert len(notes) > 1
    assert shown.notes[-1].endswith(" more under Caveats")
    assert all(any(line.endswith(note) for line in listed.lines) for note in notes)  # type: ignore[union-attr]


def test_the_first_page_names_no_option_of_the_command_line(session: Session) -> None:
    typed = {"workload.iops": "60000", "license.host_cores": "8", "workload.horizon_years": "3"}
    given = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in typed.items()}
    advice = ShownAdvice(AdviceOrigin.RECORDED, size(described(machine(), given)))
    for shown in (document(session), document(session, advice)):
        first = page(shown).partition("<body>")[2].partition("<details")[0]
        assert re.findall(r"(?<![\w-])--[a-z]+|sizeup (?:size|session|--)", re.sub("<[^>]+>", " ", first)) == []
        assert any("--set" in note for note in shown.notes) == (shown.verdict.status != "NO VERDICT YET")


def test_without_a_workload_the_page_has_the_cores_as_its_number_and_no_legend_of_bars(session: Session) -> None:
    nothing = document(session, ShownAdvice(AdviceOrigin.NONE, size(described(session.machine, {})), "", None))
    shown = page(nothing)

    assert nothing.band.number is not None
    assert nothing.band.number.name.startswith("cores")
    assert "Bar: today" not in shown
    assert 'class="legend"' not in shown


def test_the_text_has_the_shares_after_a_failure_and_in_the_last_year(session: Session) -> None:
    card = CardView(Card("cpu", "warn", "", "", "", "4.8 cores", 0.6, n_plus_one=1.2, last_year=1.04, horizon_years=3))
    shown = replace(document(session), cards=(card,))

    shown_text = text(shown)
    assert "120 %" in shown_text
    assert re.search(r"Used +N\+1 +Year 3 +Status\nCPU .* 60 % +120 % +104 % +WARN\n", shown_text)
    assert "| Used | N+1 | Year 3 |" in markdown(shown)


def test_markdown_shows_what_was_written_and_obeys_none_of_it(hostile: Document) -> None:
    shown = markdown(hostile)

    assert not re.search(r"(?<!\\)<", shown)
    assert "\x1b" not in shown
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    bars = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows]
    header = 0
    for row, count in zip(rows, bars, strict=True):
        header = count if "---" in row else header
        assert header in (0, count) or "---" not in row


def test_csv_has_a_row_for_each_sample_with_what_disturbed_it(session: Session) -> None:
    file = io.StringIO()
    write_csv(session, file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))

    assert len(rows) == 3 * 3 + 2 + 1  # samples, estimates, advice
    assert rows[1] == {
        "step": "memory.latency", "series": "dram-4k", "unit": "ns", "kind": "sample", "t_ns": "2",
        "value": "3.5999999999999996", "low": "", "high": "", "disturbed_by": "stolen late", "invalid_reason": "",
        "at.method": "", "at.working_set_bytes": "4096",
    }  # fmt: skip
    assert (rows[9]["kind"], rows[9]["value"], rows[9]["low"]) == ("estimate", "11.0", "10.9")
    assert [row["invalid_reason"] for row in rows[6:9]] == ["measured, but did not converge (interval ±5.0 %)"] * 3


def test_csv_starts_no_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    file = io.StringIO()
    write_csv(read_session(written(tmp_path / "formula.sizeup.jsonl", *records("=cmd()"))), file)

    assert "'=cmd()" in file.getvalue()
    assert not re.search(r"(^|,)=", file.getvalue(), re.MULTILINE)


def test_json_carries_units_machine_findings_and_advice(session: Session) -> None:
    shown = json.loads(results_json(session))

    assert shown["schema"] == "sizeup.report/1"
    assert list(shown["summary"]) == QUESTIONS
    assert shown["run"]["status"] == "WARN"
    assert shown["verdict"]["status"] == "NO VERDICT YET"
    assert [card["card"] for card in shown["cards"]][-1] == "license"
    assert {card["card"]: card["detected"] for card in shown["cards"]}["memory"] == ["32 GiB"]
    assert {card["status"] for card in shown["cards"]} == {None}
    assert shown["steps"][0]["results"][0]["unit"] == "ns"
    assert shown["machine"]["memory_bytes"] == 32 * 1024**3
    assert shown["advice"][0]["quantity"]["value"] == 46.5e6
    assert shown["findings"][0]["severity"] == "warning"


def test_wide_and_combining_characters_keep_columns_in_line() -> None:
    table = Table("", (Column("Name"), Column("Size")), (("磁盘", "1"), ("e\u0301a", "2"), ("disk", "3")))

    ends = {cell_len(line.rstrip()[:-1]) for line in table_lines(table, 40)[2:]}

    assert ends == {8}


def test_what_a_step_withheld_stands_behind_what_it_measured(session: Session) -> None:
    session.gaps.append(Gap("io.direct: knee of oltp-read", "other processes used 100 % of the CPUs before the run"))

    for lines in (text(document(session)), "\n".join(session_lines(session, whole=True))):
        chapters = lines.partition("Not measured")
        assert "Measurements" in chapters[0]
        assert "other processes used 100 % of the CPUs" in chapters[2].partition("\n--")[2].partition("\n--")[0]


def test_a_chart_whose_legend_is_long_keeps_its_title() -> None:
    lines = tuple(
        Line(f"latency of the stream number {number}", (ChartPoint(1.0, 2.0), ChartPoint(2.0, 3.0)))
        for number in (1, 2)
    )
    chart = LineChart("Latency, read", Axis("Queue depth", "1"), Axis("Latency", "ns"), lines)

    assert chart_lines(chart, 80, Glyphs.BLOCK)[0] == "  Latency, read"


def test_paper_leaves_out_closed_chapters_and_says_so(session: Session) -> None:
    markup = page(document(session))
    screen, _, paper = markup.partition("<style>")[2].partition("</style>")[0].partition("@media print{")

    assert ".part:not([open])" not in screen
    assert "details:not([open]){display:none}.paper{display:block}" in paper
    assert re.search(r'<p class="paper quiet">Printing leaves out details that are closed', markup)
