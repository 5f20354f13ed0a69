"""A session as one web page: no script, no request, printable, light or dark as the reader's system is.

Its first screens decide: the verdict, a card per resource, findings and two charts. Everything else is folded.
The page forbids itself every request, so that opening somebody else's report contacts no server.
"""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts import svg, text_alternative
from sizeup.charts.chart import BarChart, HeatMap, LineChart
from sizeup.charts.markup import Markup, element, empty, joined, number, style_sheet
from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.model.finding import Finding
from sizeup.text import plural
from sizeup.views.cards.cards import CardView
from sizeup.views.cards.panels import ShownChart
from sizeup.views.document.blocks import Block, DocumentPart, Facts, Heading, Items, Paragraph, Working
from sizeup.views.document.document import DEMAND, MEASURED, SHARE, Document, cards_table, finding_text, verdict_facts
from sizeup.views.result.summary import SEVERITY_WORDS
from sizeup.views.result.verdict import VerdictText
from sizeup.views.run.run_status import RunGrade, RunStatus

# Contrast is 4.5 or more on the paper and on the panel. A status is a word as well.
LIGHT = "--panel:#f6f7f9;--pass:#1a7f4b;--warn:#8a5a00;--fail:#c0272d;--assumed:#5b4fc7"
DARK = "--panel:#191f26;--pass:#4cc38a;--warn:#f1a10d;--fail:#ff7b80;--assumed:#aaa6ff"
_STATUSES = {"PASS": "pass", "WARN": "warn", "FAIL": "fail", "NOT CERTAIN": "warn", "ASSUMED": "assumed"}
"""The colors of statuses."""
_FIGURE_WIDTHS = (("roomy", 524), ("narrow", 334))
"""A chart of the first screens is drawn for two columns of a wide screen, and for a phone; one of them is shown."""
_SPARK_WIDTH, _SPARK_HEIGHT = 84, 20
_SHORT = 16
"""Characters of a figure that stays on one line."""
_METER_END = 1.3
"""The share of capacity that fills a meter."""

STYLE = (
    style_sheet(
        "sizeup.report",
        "report.css",
        light=f"{svg.LIGHT};{LIGHT}",
        dark=f"{svg.DARK};{DARK}",
        whole=f"{1 / _METER_END:.0%}",
    )
    + svg.STYLE
)


def page(document: Document) -> str:
    """The whole page; the tab of the browser shows the verdict, or a run that gives none."""
    tab_text = document.run.words if document.run.grade is RunGrade.FAIL else document.verdict.label
    head = joined(
        empty("meta", charset="utf-8"),
        empty("meta", name="viewport", content="width=device-width, initial-scale=1"),
        empty("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        empty("meta", name="generator", content="sizeup"),
        element("title", f"{document.title}: {tab_text} – sizeup"),
        element("style", Markup(STYLE)),
    )
    about = (element("p", f"{name}: {value}") for name, value in document.about.pairs)
    body = joined(
        element("header", element("h1", document.title), _run(document.run), *about),
        element(
            "main",
            _verdict(document.verdict),
            _cards(document),
            _findings(document.findings, document.more_findings),
            _charts(document.charts),
            _notes(document.notes),
            element("h2", "Details") if document.parts else joined(),
            element(
                "p", "Printing leaves out details that are closed. Open those that you need.", class_="paper quiet"
            ),
            *(_part(place, part) for place, part in enumerate(document.parts)),
        ),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def badge(status: str, label: str = "") -> Markup:
    """A status in its color; ``label`` says more than the status."""
    if status == UNKNOWN:
        return element("span", "not judged", class_="quiet unjudged")
    return element("span", label or status, class_=f"badge {_STATUSES.get(status, '')}".rstrip())


def _run(run: RunStatus) -> Markup:
    """The status of the run; one that went as planned is as quiet as the machine's name."""
    if run.grade is RunGrade.NONE:
        return element("p", f"{run.sentence}.") if run.sentence else joined()
    if run.grade is RunGrade.PASS:
        return element("p", f"Run {run.grade.value}: {run.sentence}.")
    return element("p", badge(run.grade.value), f" Run {run.cause}: {run.sentence}.", class_="run")


def _verdict(verdict: VerdictText) -> Markup:
    lines = (element("p", element("b", name), f" {text}") for name, text in verdict_facts(verdict))
    classes = f"verdict {_STATUSES.get(verdict.status, '')}".rstrip()
    return element(
        "section",
        badge(verdict.status, verdict.label),
        element("h2", verdict.statement),
        *lines,
        class_=classes,
        aria_label="Verdict",
    )


def _cards(document: Document) -> Markup:
    table = cards_table(document.cards)
    head = (
        element("th", column.title, scope="col", **({"class_": "n"} if column.numeric else {}))
        for column in table.columns
    )
    rows = (
        _card(card, table.columns, row, document.trends.get(card.resource, ()))
        for card, row in zip(document.cards, table.rows, strict=True)
    )
    grid = element("table", element("thead", element("tr", *head)), element("tbody", *rows), class_="cards")
    return joined(element("h2", "Resources"), grid)


def _card(card: CardView, columns: Sequence[Column], row: Sequence[str], trend: Sequence[float]) -> Markup:
    names = [column.title for column in columns]
    demand = names.index(DEMAND) if DEMAND in names else 0
    # A product with its price has the room of the empty cells before it.
    first = demand
    while len(card.judged.demand) > _SHORT and first > 1 and row[first - 1] == UNKNOWN:
        first -= 1
    cells = []
    for index, (column, text) in enumerate(zip(columns, row, strict=True)):
        if index in (0, len(row) - 1) or first <= index < demand:
            continue
        content: str = text
        if column.title == SHARE and card.judged.share is not None:
            content = joined(_meter(card.judged.share, card.status), element("span", text, class_="share"))
        elif column.title == MEASURED and text != UNKNOWN:
            content = joined(text, _spark(trend))
        spans = {"colspan": str(demand - first + 1)} if index == demand > first else {}
        kinds = ("n" if column.numeric and not spans else "t", "none" if text == UNKNOWN else "")
        cells.append(element("td", content, class_=" ".join(filter(None, kinds)), data_label=column.title, **spans))
    return element("tr", element("th", card.title, scope="row"), *cells, element("td", badge(card.status, card.label)))


def _meter(share: float, status: str) -> Markup:
    """The share as a bar with a mark at the whole capacity; its figure stands beside it."""
    filled = min(max(share, 0.0), _METER_END) / _METER_END
    bar = element("i", class_=_STATUSES.get(status, "none"), style=f"width:{filled:.0%}")
    return element("span", bar, element("b"), class_="meter", aria_hidden="true")


def _spark(trend: Sequence[float]) -> Markup:
    """The course of a series as a small line; its values stand in the chart, so it is for the eye alone."""
    if not trend:
        return joined()
    low, reach = min(trend), (max(trend) - min(trend)) or 1.0
    across, up = (_SPARK_WIDTH - 2) / (len(trend) - 1), _SPARK_HEIGHT - 4
    points = " ".join(
        f"{number(1 + index * across)},{number(2 + up * (1 - (value - low) / reach))}"
        for index, value in enumerate(trend)
    )
    return element(
        "svg",
        empty("polyline", points=points),
        viewBox=f"0 0 {_SPARK_WIDTH} {_SPARK_HEIGHT}",
        width=_SPARK_WIDTH,
        height=_SPARK_HEIGHT,
        class_="spark",
        aria_hidden="true",
    )


def _findings(findings: Sequence[Finding], more: int) -> Markup:
    if not findings and not more:
        return joined()
    items = (
        element(
            "li",
            badge(SEVERITY_WORDS[finding.severity]),
            element(
                "div",
                element("p", finding.title),
                element("p", finding_text(finding), class_="quiet"),
            ),
        )
        for finding in findings
    )
    listed = element("ul", *items, class_="findings") if findings else joined()
    told = plural(more, "more finding" if findings else "note")
    rest = element("p", f"{told} under All findings.", class_="quiet") if more else joined()
    return joined(element("h2", "Findings"), listed, rest)


def _charts(charts: Sequence[ShownChart]) -> Markup:
    if not charts:
        return joined()
    figures = (_shown_chart(f"chart-{index}", shown) for index, shown in enumerate(charts))
    return joined(element("h2", "Measured"), element("div", *figures, class_="charts"))


def _shown_chart(name: str, shown: ShownChart) -> Markup:
    drawn = (
        svg.draw(shown.chart, f"{name}-{kind}", width=width, titled=False, css_class=f"chart {kind}")
        for kind, width in _FIGURE_WIDTHS
    )
    invalid = element("p", badge(shown.grade.value), f" {shown.invalid}.") if shown.invalid else joined()
    caption = element("figcaption", element("h3", shown.chart.title), element("p", f"{shown.figures}."), invalid)
    return element("figure", caption, *drawn)


def _notes(notes: Sequence[str]) -> Markup:
    if not notes:
        return joined()
    return joined(element("h2", "Notes"), element("ul", *(element("li", note) for note in notes)))


def _part(place: int, part: DocumentPart) -> Markup:
    blocks = (_block(f"block-{place}-{index}", block) for index, block in enumerate(part.blocks))
    state = {"open": "open"} if part.open else {}
    heading = element("summary", element("h2", part.title))
    return element("details", heading, *blocks, id=f"part-{place}", class_="part", **state)


def _block(name: str, block: Block) -> Markup:
    match block:
        case Heading(text):
            return element("h3", text)
        case Paragraph(text):
            return element("p", text)
        case Items(lines):
            return element("ul", *(element("li", line) for line in lines))
        case Working(lines):
            return element("pre", "\n".join(lines))
        case Facts():
            pairs = (joined(element("dt", name), element("dd", value)) for name, value in block.pairs)
            return element("dl", *pairs)
        case Table():
            return _table(block)
        case LineChart() | BarChart() | HeatMap():
            return _figure(name, block)


def _table(table: Table) -> Markup:
    heads = (
        element("th", column.title, scope="col", class_="n" if column.numeric else "t")
        if column.title
        else element("td")
        for column in table.columns
    )
    rows = (
        element(
            "tr",
            *(
                element("td", text, class_="n" if column.numeric else "t")
                for column, text in zip(table.columns, row, strict=True)
            ),
        )
        for row in table.rows
    )
    note = element("p", table.note, class_="quiet") if table.note else joined()
    caption = element("caption", table.title) if table.title else joined()
    grid = element("table", caption, element("thead", element("tr", *heads)), element("tbody", *rows))
    return _scrolling(joined(grid, note), f"Values of {table.title}" if table.title else "Table")


def _figure(name: str, chart: LineChart | BarChart | HeatMap) -> Markup:
    values = element("details", element("summary", "Values"), _table(text_alternative.table(chart)))
    caption = element("figcaption", chart.caption) if chart.caption else joined()
    return joined(element("figure", _scrolling(svg.draw(chart, name), chart.title), caption), values)


def _scrolling(content: Markup, label: str) -> Markup:
    """What may be wider than the page; it takes the focus, so that it scrolls by the keyboard as well."""
    return element("div", content, class_="wide", tabindex="0", role="group", aria_label=label)
