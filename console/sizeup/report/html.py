"""A session as one web page: no script, no request, printable, light or dark as the reader's system is.

The page forbids itself every request, so that opening somebody else's report contacts no server.
"""

from __future__ import annotations

from sizeup.charts import svg, text_alternative
from sizeup.charts.chart import BarChart, HeatMap, LineChart
from sizeup.charts.markup import Markup, element, empty, joined
from sizeup.charts.table import Table
from sizeup.views.document import Block, Document, DocumentPart, Facts, Heading, Items, Paragraph, Working
from sizeup.views.summary import SummaryAnswer

_STYLE = (
    Markup(
        f":root{{color-scheme:light dark;{svg.LIGHT}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{svg.DARK}}}}}"
        "*{box-sizing:border-box}"
        "body{margin:0 auto;padding:1.5rem;max-width:60rem;background:var(--paper);color:var(--ink);"
        "font:16px/1.5 system-ui,'DejaVu Sans',sans-serif}"
        "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .5rem}"
        "h2{font-size:1.3rem;margin:2.5rem 0 .75rem;padding-top:.75rem;border-top:2px solid var(--grid)}"
        "h3{font-size:1.05rem;margin:1.75rem 0 .4rem}"
        "p,ul,pre,dl,figure,table{margin:.4rem 0}"
        "p,li,dd{overflow-wrap:anywhere}"
        "ul{padding-left:1.2rem}"
        "a{color:var(--s0)}"
        "nav{margin-top:1rem}nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0}"
        "dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.1rem 1rem}"
        "dt,.quiet,figcaption,caption{color:var(--muted)}dd{margin:0}"
        "header dl{font-size:.9rem}"
        ".answers{display:grid;grid-template-columns:1fr 1fr;gap:1rem;margin-top:1rem}"
        ".answers section{border:1px solid var(--grid);border-radius:6px;padding:.75rem 1rem}"
        ".answers section:last-child{grid-column:1/-1}"
        ".answers h3{margin:0 0 .25rem}"
        ".answers ul{font-size:.95rem;line-height:1.4}"
        ".wide{overflow-x:auto}"
        "table{border-collapse:collapse;font-size:.9rem}"
        "caption{text-align:left;padding-bottom:.25rem}"
        "th,td{text-align:left;vertical-align:top;padding:.2rem 1.2rem .2rem 0;border-bottom:1px solid var(--grid)}"
        "th{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}"
        "pre{font:.9rem/1.45 ui-monospace,'DejaVu Sans Mono',monospace;white-space:pre-wrap;"
        "padding:.5rem .75rem;border-left:3px solid var(--grid)}"
        "figure svg{max-width:100%;height:auto}"
        "summary{cursor:pointer;color:var(--muted)}"
        "@media (max-width:45rem){.answers{grid-template-columns:1fr}}"
        "@media screen and (max-width:45rem){figure svg{max-width:none}}"
        f"@media print{{:root{{{svg.LIGHT}}}body{{max-width:none;padding:0;font-size:10.5pt}}nav{{display:none}}"
        "#parts{break-before:page}h2,h3{break-after:avoid}figure,tr,.answers section{break-inside:avoid}"
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
        element("title", f"{document.title} – sizeup"),
        element("style", Markup(_STYLE)),
    )
    body = joined(
        element("header", element("h1", document.title), _facts(document.about)),
        element(
            "main",
            element("h2", "In one page"),
            element("div", *map(_answer, document.answers), class_="answers"),
            _contents(document),
            element("div", *(_part(number, part) for number, part in enumerate(document.parts)), id="parts"),
        ),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _answer(answer: SummaryAnswer) -> Markup:
    if answer.silent:
        return element("section", element("h3", answer.question), element("p", *answer.statements, class_="quiet"))
    items = (element("li", statement) for statement in answer.statements)
    return element("section", element("h3", answer.question), element("ul", *items))


def _contents(document: Document) -> Markup:
    links = (
        element("li", element("a", part.title, href=f"#part-{number}")) for number, part in enumerate(document.parts)
    )
    return element("nav", element("ul", *links), aria_label="Chapters") if document.parts else joined()


def _part(number: int, part: DocumentPart) -> Markup:
    blocks = (_block(f"block-{number}-{index}", block) for index, block in enumerate(part.blocks))
    return element("section", element("h2", part.title, id=f"part-{number}"), *blocks)


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
