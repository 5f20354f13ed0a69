"""A session as one web page: no script, no request, printable, light or dark as the reader's system is.

Its first screens decide: the verdict, a card per resource, findings and two charts. Everything else is folded.
The page forbids itself every request, so that opening somebody else's report contacts no server.
"""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts import svg, text_alternative
from sizeup.charts.chart import BarChart, HeatMap, LineChart
from sizeup.charts.markup import Markup, element, empty, joined, number
from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.model.finding import Finding
from sizeup.text import plural
from sizeup.views.blocks import Block, DocumentPart, Facts, Heading, Items, Paragraph, Working
from sizeup.views.cards import CardView
from sizeup.views.document import Document, finding_text, verdict_facts
from sizeup.views.document_cards import DEMAND, SHARE, cards_table
from sizeup.views.leading_charts import ShownChart
from sizeup.views.run_status import RunGrade, RunStatus
from sizeup.views.summary import SEVERITY_WORDS
from sizeup.views.verdict import VerdictText

# Contrast is 4.5 or more on the paper and on the panel. A status is a word as well.
LIGHT = "--panel:#f6f7f9;--pass:#1a7f4b;--warn:#8a5a00;--fail:#c0272d;--assumed:#5b4fc7"
DARK = "--panel:#191f26;--pass:#4cc38a;--warn:#f1a10d;--fail:#ff7b80;--assumed:#aaa6ff"
_STATUSES = ("pass", "warn", "fail", "assumed")
_FIGURE_WIDTHS = (("roomy", 524), ("narrow", 334))
"""A chart of the first screens is drawn for two columns of a wide screen, and for a phone; one of them is shown."""
_SPARK_WIDTH, _SPARK_HEIGHT = 84, 20
_SHORT = 16
"""Characters of a figure that stays on one line."""
_METER_END = 1.3
"""The share of capacity that fills a meter."""

STYLE = (
    Markup(
        f":root{{color-scheme:light dark;{svg.LIGHT};{LIGHT}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{svg.DARK};{DARK}}}}}"
        "*{box-sizing:border-box}"
        "body{margin:0 auto;padding:1.25rem;max-width:72rem;background:var(--paper);color:var(--ink);"
        "font:15px/1.45 system-ui,'DejaVu Sans',sans-serif}"
        "h1{font-size:1.5rem;line-height:1.2;margin:0}"
        "h2{font-size:1.1rem;margin:1.4rem 0 .4rem}"
        "h3{font-size:1rem;margin:1.5rem 0 .4rem}"
        "p,ul,pre,dl,figure,table{margin:.3rem 0}"
        "p,li,dd,td{overflow-wrap:anywhere}"
        "ul{padding-left:1.2rem}"
        "header p,.quiet,figcaption,caption,dt{color:var(--muted)}"
        "header p{margin:.15rem 0}"
        "header .run{color:var(--ink);margin:.5rem 0}"
        "dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.1rem 1rem}dd{margin:0}"
        # Statuses
        ".badge{display:inline-block;font-weight:700;font-size:.75rem;line-height:1.3;letter-spacing:.04em;"
        "padding:.1rem .55rem;border-radius:1rem;border:1.5px solid;white-space:nowrap;color:var(--muted)}"
        + "".join(f".badge.{status}{{color:var(--{status})}}" for status in _STATUSES)
        + ".verdict{display:grid;grid-template-columns:auto 1fr;gap:.3rem 1rem;align-items:center;margin:.9rem 0;"
        "padding:.8rem 1rem;border:1px solid var(--grid);border-left:6px solid var(--muted);border-radius:8px;"
        "background:var(--panel)}"
        + "".join(f".verdict.{status}{{border-left-color:var(--{status})}}" for status in _STATUSES)
        + ".verdict h2{margin:0;font-size:1.2rem}.verdict p{margin:0;grid-column:2}"
        ".verdict .badge{font-size:.95rem;padding:.25rem .9rem}"
        # Cards
        "table{border-collapse:collapse}"
        "caption{text-align:left;padding-bottom:.25rem}"
        "th,td{text-align:left;vertical-align:top;padding:.25rem 1.1rem .25rem 0;border-bottom:1px solid var(--grid)}"
        "th{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}"
        ".cards{width:100%;font-variant-numeric:tabular-nums}"
        ".cards th,.cards td{padding:.45rem .6rem;vertical-align:middle}"
        ".cards thead th{font-size:.8rem;color:var(--muted)}"
        ".cards .n,.unjudged{white-space:nowrap}"
        ".cards .none{color:var(--muted)}"
        ".meter{position:relative;display:inline-block;width:78px;height:9px;margin-right:.5rem;border-radius:5px;"
        "overflow:hidden;background:var(--grid)}"
        ".meter i{position:absolute;inset:0 auto 0 0;background:var(--muted)}"
        + "".join(f".meter i.{status}{{background:var(--{status})}}" for status in _STATUSES)
        + f".meter b{{position:absolute;left:{100 / _METER_END:.0f}%;top:0;bottom:0;width:2px;background:var(--ink)}}"
        ".share{display:inline-block;min-width:2.9rem}"
        ".spark{vertical-align:middle;margin-left:.4rem}.cards td{min-width:4rem}"
        ".spark polyline{fill:none;stroke:var(--s0);stroke-width:1.6}"
        # Findings and charts
        ".findings{list-style:none;padding:0}"
        ".findings li{display:grid;grid-template-columns:4.5rem 1fr;gap:.6rem;align-items:start;justify-items:start;"
        "padding:.4rem .6rem;border-top:1px solid var(--grid)}"
        ".findings p{margin:0}"
        ".charts{display:grid;grid-template-columns:1fr 1fr;gap:1rem}"
        ".charts figure{min-width:0;padding:.7rem;border:1px solid var(--grid);border-radius:8px}"
        ".charts h3{margin:0;color:var(--ink)}.charts figcaption p{margin:.1rem 0 .5rem;font-size:.85rem}"
        ".charts svg{display:block;width:100%;height:auto}.charts svg.narrow{display:none}"
        ".wide{overflow-x:auto}"
        "figure svg{max-width:100%;height:auto}"
        "pre{font:.9rem/1.45 ui-monospace,'DejaVu Sans Mono',monospace;white-space:pre-wrap;"
        "padding:.5rem .75rem;border-left:3px solid var(--grid)}"
        # Chapters
        ".part{border-top:1px solid var(--grid)}.part>summary{padding:.55rem 0}"
        "summary{cursor:pointer;color:var(--muted)}"
        ".part>summary h2{display:inline;margin:0;color:var(--ink)}"
        ".part table{font-size:.9rem}.part td.t{min-width:5.2em}"
        "@media screen{.part td.n{white-space:nowrap}}"
        ".paper{display:none}"
        "@media screen and (max-width:45rem){"
        "body{padding:.9rem}.charts{grid-template-columns:1fr}.charts svg.roomy{display:none}"
        ".charts svg.narrow{display:block}.part figure svg{max-width:none}"
        ".verdict{grid-template-columns:1fr}.verdict p{grid-column:1}.verdict .badge{justify-self:start}"
        ".cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
        ".cards tbody tr{display:grid;grid-template-columns:1fr auto;padding:.4rem 0;"
        "border-bottom:1px solid var(--grid)}"
        ".cards tbody th,.cards tbody td{border:0;padding:.1rem 0;text-align:left}"
        ".cards tbody td{grid-column:1/-1}.cards tbody td:last-child{grid-column:2;grid-row:1}"
        ".cards tbody td.none{display:none}"
        ".cards td[data-label]::before{content:attr(data-label) ' ';color:var(--muted)}"
        ".findings li{grid-template-columns:1fr;gap:.2rem}"
        "}"
        f"@media print{{:root{{color-scheme:light;font-size:13px;{svg.LIGHT};{LIGHT}}}"
        "body{max-width:none;padding:0;font-size:12.5px}"
        ".part:not([open]),details:not([open]){display:none}.paper{display:block}"
        ".badge,.meter,.meter i,.meter b,.verdict{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
        ".cards th,.cards td{padding:.25rem .4rem}"
        "h2,h3{break-after:avoid}figure,tr,.verdict,.findings li{break-inside:avoid}"
        ".wide{overflow:visible}}"
    )
    + svg.STYLE
)


def page(document: Document) -> str:
    """The whole page."""
    head = joined(
        empty("meta", charset="utf-8"),
        empty("meta", name="viewport", content="width=device-width, initial-scale=1"),
        empty("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        empty("meta", name="generator", content="sizeup"),
        element("title", f"{document.title}: {_tab_text(document)} – sizeup"),
        element("style", Markup(STYLE)),
    )
    body = joined(
        element("header", element("h1", document.title), _run(document.run), _about(document.about)),
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


def _tab_text(document: Document) -> str:
    """What the tab of a browser shows: the verdict, or a run that gives none."""
    return document.run.words if document.run.grade is RunGrade.FAIL else document.verdict.label


def badge(status: str, label: str = "") -> Markup:
    """A status in its color; ``label`` says more than the status."""
    if status == UNKNOWN:
        return element("span", "not judged", class_="quiet unjudged")
    return element("span", label or status, class_=f"badge {_status_class(status)}".rstrip())


def _status_class(status: str) -> str:
    return status.lower() if status.lower() in _STATUSES else ""


def _run(run: RunStatus) -> Markup:
    """The status of the run; one that went as planned is as quiet as the machine's name."""
    if run.grade is RunGrade.NONE:
        return element("p", f"{run.sentence}.") if run.sentence else joined()
    if run.grade is RunGrade.PASS:
        return element("p", f"Run {run.grade.value}: {run.sentence}.")
    return element("p", badge(run.grade.value), f" Run {run.cause}: {run.sentence}.", class_="run")


def _about(about: Facts) -> Markup:
    return joined(*(element("p", f"{name}: {value}") for name, value in about.pairs))


def _verdict(verdict: VerdictText) -> Markup:
    lines = (element("p", element("b", name), f" {text}") for name, text in verdict_facts(verdict))
    classes = f"verdict {_status_class(verdict.status)}".rstrip()
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
    while len(card.demand) > _SHORT and first > 1 and row[first - 1] == UNKNOWN:
        first -= 1
    cells = []
    for index, (column, text) in enumerate(zip(columns, row, strict=True)):
        if index in (0, len(row) - 1) or first <= index < demand:
            continue
        content: str = text
        if column.title == SHARE and card.used is not None:
            content = joined(_meter(card.used, card.status), element("span", text, class_="share"))
        elif column.title == "Measured" and text != UNKNOWN:
            content = joined(text, _spark(trend))
        spans = {"colspan": str(demand - first + 1)} if index == demand > first else {}
        kinds = ("n" if column.numeric and not spans else "t", "none" if text == UNKNOWN else "")
        cells.append(element("td", content, class_=" ".join(filter(None, kinds)), data_label=column.title, **spans))
    return element("tr", element("th", card.title, scope="row"), *cells, element("td", badge(card.status, card.label)))


def _meter(share: float, status: str) -> Markup:
    """The share as a bar with a mark at the whole capacity; its figure stands beside it."""
    filled = min(max(share, 0.0), _METER_END) / _METER_END
    bar = element("i", class_=_status_class(status) or "none", style=f"width:{filled:.0%}")
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
            return _facts(block)
        case Table():
            return _table(block)
        case LineChart() | BarChart() | HeatMap():
            return _figure(name, block)


def _facts(facts: Facts) -> Markup:
    return element("dl", *(joined(element("dt", name), element("dd", value)) for name, value in facts.pairs))


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
