"""A document as one web page: no script, no request, printable, light or dark as the reader's system is.

Its first screen decides: the band, a ruler for each resource or a bar for each change, a chart and findings. Everything
else is folded. The page forbids itself every request, so that opening somebody else's report contacts no server.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from msgspec.structs import replace

from sizeup.charts import svg, text_alternative
from sizeup.charts.chart import BarChart, Chart, HeatMap, LineChart
from sizeup.charts.markup import Markup, element, empty, joined, style_sheet
from sizeup.charts.share_bar import END, MARKS, ShareBar
from sizeup.charts.table import UNKNOWN, Table
from sizeup.text import capitalized, plural
from sizeup.units import as_percent, format_in
from sizeup.views.band import Band
from sizeup.views.cards.cards import USED, CardView
from sizeup.views.comparison.answer import SCALE, SHADED, Answer, ChangeResult, ChangeRow
from sizeup.views.document.blocks import Block, Facts, Heading, Items, Paragraph, Working
from sizeup.views.document.document import DETECTED, MEASURED, Document, card_columns, without_options
from sizeup.views.inputs.option_text import by_names
from sizeup.views.result.band import card_bar, status_token
from sizeup.views.result.summary import SEVERITY_WORDS
from sizeup.views.run.run_status import RunGrade, RunStatus

_SIGNS = {"PASS": "●", "WARN": "▲", "FAIL": "▼", "NOT CERTAIN": "?", "ASSUMED": "▲"}
_SOLID = ("FAIL", "WARN")
"""Statuses that are drawn solid in the first row, and in findings."""
_SUBJECT, _WHEN = ("Machine", "Compared"), ("Measured", "Sized", "Written")
"""What of a document stands in its top line, at the left and at the right."""
_FIGURE_WIDTHS = (("roomy", 524), ("narrow", 334))
"""A chart of the first screens is drawn for two columns of a wide screen, and for a phone; one of them is shown."""
_MIDDLE = 12
"""Half the height of a bar's picture in pixels."""

_NOTHING = joined()

STYLE = style_sheet("sizeup.report", "report.css", light=svg.LIGHT, dark=svg.DARK) + svg.STYLE


def page(document: Document) -> str:
    """Return the whole page; the tab of the browser shows the host and the answer."""
    document = without_options(document)
    answer = document.compared
    band = document.band if answer is None else answer.band
    about = dict(document.about.pairs)
    subject = " · ".join((document.title, *(text for name, text in about.items() if name in _SUBJECT)))
    rest = (f"{name}: {text}" for name, text in about.items() if name not in (*_SUBJECT, *_WHEN))
    parts = []
    for place, part in enumerate(document.parts):
        blocks = (_block(f"block-{place}-{index}", block) for index, block in enumerate(part.blocks))
        heading, opened = element("summary", element("h2", part.title)), {"open": "open"} if part.open else {}
        parts.append(element("details", heading, *blocks, id=f"part-{place}", class_="part", **opened))
    charts = [
        _chart(f"chart-{place}", replace(panel.chart, title=panel.title), panel.note)
        for place, panel in enumerate(document.charts)
    ]
    own = joined(
        _run(document.run),
        *_resources(document.cards),
        _two(chain(*zip_longest(charts, _words(document), fillvalue=_NOTHING))),
        *(element("p", text, class_="legend") for text in rest),
    )
    if answer is not None and own:
        name = element("h2", f"Report on {document.title}: {document.band.word}")
        parts.insert(0, element("details", element("summary", name), own, id="own", class_="fold"))
    body = joined(
        top_line(
            "report" if answer is None else "comparison", subject, *(about[name] for name in _WHEN if name in about)
        ),
        element(
            "main",
            band_section(band),
            *((own,) if answer is None else _comparison(answer)),
            element("h2", "Details") if document.parts else joined(),
            element(
                "p", "Printing leaves out details that are closed. Open those that you need.", class_="paper quiet"
            ),
            *parts,
        ),
    )
    return whole_page(f"{document.title}: {band.word} – sizeup", body)


def whole_page(title: str, body: Markup, style: str = "", script_hash: str = "") -> str:
    """Return a page that may ask for nothing; ``script_hash`` allows the one script that has it."""
    allowed = f"; script-src 'sha256-{script_hash}'" if script_hash else ""
    policy = f"default-src 'none'; style-src 'unsafe-inline'{allowed}"
    head = joined(
        empty("meta", charset="utf-8"),
        empty("meta", name="viewport", content="width=device-width, initial-scale=1"),
        empty("meta", http_equiv="Content-Security-Policy", content=policy),
        empty("meta", name="generator", content="sizeup"),
        element("title", title),
        element("style", Markup(STYLE + style)),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def top_line(name: str, subject: str, *right: str) -> Markup:
    """Return the line at the top: what this is, what it is about, and when it was made by what."""
    mark = element("span", *(element("i"),) * 3, class_="mark", aria_hidden="true")
    spans = (element("span", text, class_="r") for text in right)
    return element("header", mark, element("b", "sizeup ", name), element("span", subject), *spans)


def band_section(band: Band) -> Markup:
    """Return the answer: badge, sentence, what to do next, basis and the one large number."""
    steps = [
        element("p", element("b", "Next"), step.text, class_="next")
        for step in band.steps[:1]
        if step.text and not step.key
    ]
    basis = element("p", band.basis, class_="quiet") if band.basis else joined()
    parts = [
        element("div", band.word, class_="word"),
        element("div", element("h1", band.sentence), *steps, basis, class_="says"),
    ]
    if band.number is not None:
        unit = element("small", f" {band.number.unit}") if band.number.unit else joined()
        css_class = f"num {band.number.token}".rstrip()
        parts.append(element("div", band.number.text, unit, element("div", band.number.name), class_=css_class))
    return element("section", *parts, class_=f"hero {band.status}", aria_label="Answer")


def _run(run: RunStatus) -> Markup:
    """Return how the run went; as quiet as a legend where it went as planned."""
    if not run.sentence:
        return _NOTHING
    if run.grade in (RunGrade.WARN, RunGrade.FAIL):
        mark = pill(run.grade.value, status_token(run.grade.value))
        return element("p", mark, f" Run {run.cause}: {run.sentence}.", class_="run legend")
    return element("p", f"{f'Run {run.grade.value}: ' if run.grade.value else ''}{run.sentence}.", class_="run legend")


def pill(word: str, token: str) -> Markup:
    """Return a word on the color of its status."""
    return element("span", word, class_=f"pill {token}")


def state(sign: str, word: str, token: str) -> Markup:
    """Return a status as sign and word in its color."""
    return element("span", f"{sign} {word}", class_=f"state {token}")


def _rows(heads: Iterable[tuple[str, Markup | str]], rows: Iterable[Sequence[Markup]], css_class: str) -> Markup:
    """Return a table whose rows become name, value and status above a bar on a phone; ``heads`` have their class."""
    head = (element("th", title, scope="col", class_=name) for name, title in heads)
    body = (element("tr", *cells) for cells in rows)
    return element("table", element("thead", element("tr", *head)), element("tbody", *body), class_=css_class)


_CLASSES = {DETECTED: "x w", MEASURED: "x w", USED: "n used"}
"""The classes of cells by the title of their column: only wide screens have ``w``, and a phone has no ``x``."""


def _resources(cards: Sequence[CardView]) -> Iterator[Markup]:
    """Yield a row for each resource with its ruler, and what the marks mean."""
    if not cards:
        return
    columns, judged = card_columns(cards), any(card.status != UNKNOWN for card in cards)
    bars = {card.resource: bar for card in cards if (bar := card_bar(card.judged)) is not None}
    place = next((number for number, (title, _) in enumerate(columns) if title == USED), len(columns))
    heads: list[tuple[str, Markup | str]] = [(_CLASSES.get(title, "n x"), title) for title, _ in columns]
    marks = (("at70", "70"), ("at100 mid", "100 %"), ("end", "200"))
    scale = (element("span", text, class_=name) for name, text in marks)
    if bars:
        heads.insert(place, ("bar", element("span", *scale, class_="scale")))
    rows: list[Sequence[Markup]] = []
    for number, card in enumerate(cards):
        if card.status == UNKNOWN and not (card.detected or card.found.texts or card.judged.demand):
            continue
        cells = [element("td", texts[number], class_=_CLASSES.get(title, "n x")) for title, texts in columns]
        if bars:
            bar = bars.get(card.resource)
            cells.insert(place, element("td", _share_bar(bar) if bar is not None else joined(), class_="bar"))
        if card.resource == "license" and card.judged.demand:  # a product with its price needs the room
            cells = [element("td", card.judged.demand, colspan=str(len(cells)), class_="whole")]
        if judged:
            sign, token = _SIGNS.get(card.status, "○"), status_token(card.status)
            shown = pill(card.label, token) if card.status in _SOLID and not rows else state(sign, card.label, token)
            cells.append(element("td", state("○", "not judged", "dim") if card.status == UNKNOWN else shown))
        rows.append((element("th", card.title, scope="row"), *cells))
    yield _rows(
        (("", "Resource"), *heads, *((("", "Status"),) if judged else ())), rows, "rows" if bars else "rows plain"
    )
    if bars:
        yield element("p", " ".join(_legend(list(bars.values()), cards)), class_="legend")


def _legend(bars: Sequence[ShareBar], cards: Sequence[CardView]) -> Iterator[str]:
    """Yield what the parts and marks are that some bar has."""
    years = max(card.judged.horizon_years for card in cards)
    yield (
        "Solid bar: today. Pale: up to the worst case." if any(bar.worst > bar.best for bar in bars) else "Bar: today."
    )
    if any(bar.n_plus_one is not None for bar in bars):
        yield "◆ N+1, the worst single part lost."
    if any(bar.last_year is not None for bar in bars):
        yield f"◇ in {format_in(years, 'years')}."


def _share_bar(bar: ShareBar) -> Markup:
    """Return a share on the scale that all rows have, in parts by zone, with marks at 70 and 100 %."""
    shapes = [_rectangle(0, 1, "track", 9)]
    shapes += [
        _rectangle(start / END, end / END, f"{token}{' pale' if pale else ''}", 9)
        for start, end, token, pale in bar.parts()
    ]
    shapes += [_upright(mark / END, name) for mark, name in zip(MARKS, ("at70", "at100"), strict=True)]
    said = [f"{100 * bar.best:.0f} percent of capacity"]
    if bar.worst > bar.best:
        said.append("at worst unknown" if math.isinf(bar.worst) else f"at worst {100 * bar.worst:.0f}")
    for share, name in bar.marks():
        words = {"n_plus_one": "with one part lost", "last_year": "in the last year", "before": "before"}[name]
        said.append(f"{words} {'an outage' if math.isinf(share) else f'{100 * share:.0f}'}")
        shapes.append(_point(share / END, "M0 -6.5l6 6.5l-6 6.5l-6 -6.5z", "" if name == "n_plus_one" else " hollow"))
    return _picture(shapes, ", ".join(said))


def _comparison(answer: Answer) -> Iterator[Markup]:
    """Yield a row for each figure with its change, the overlay, and what else changed."""
    ends = (element("span", text, class_=name) for name, text in (("", "◀ worse"), ("mid", "0 %"), ("", "better ▶")))
    heads = (
        ("", "Figure"), ("n x", answer.names[0]), ("n x", answer.names[1]),
        ("bar", element("span", *ends, class_="ends")), ("n", "Change"), ("", "Result"),
    )  # fmt: skip
    if answer.rows:
        rows = (
            (
                element("th", row.title, scope="row"),
                element("td", row.baseline, class_="n x s3"),
                element("td", row.new, class_="n x s1"),
                element("td", _change_bar(row), class_="bar none" if row.better is None else "bar"),
                element("td", row.change, class_="n"),
                element("td", state(row.result.sign, row.result.word, row.result.status)),
            )
            for row in answer.rows
        )
        yield _rows(heads, rows, "rows compared")
        shaded, end = f"{100 * SHADED:.0f}", f"{100 * SCALE:.0f}"
        legend = f"Shaded: ±{shaded} %. Bracket: {answer.interval} interval of the runs. ◀ ▶ beyond {end} %."
        yield element("p", legend, class_="legend")
    causes = dict.fromkeys(answer.likely, " (likely cause)")
    changed = [(one.what, f"{one.baseline} → {one.new}{causes.get(one.what, '')}") for one in answer.differences]
    trust = [(one.name, state({"ok": "●"}.get(one.status, "▲"), one.text, one.status)) for one in answer.trust]
    words = joined(
        element("h2", "What else changed", element("span", plural(len(changed), "setting") if changed else "")),
        _pairs(changed) if changed else element("p", "No setting that was detected."),
        element("h2", "Can the runs be compared?"),
        _pairs(trust),
    )
    overlay = _NOTHING if answer.overlay is None else _chart("overlay", answer.overlay)
    yield _two((overlay, element("section", words, class_="card")))


def _change_bar(row: ChangeRow) -> Markup:
    """Return a change from zero to its side with its interval; what is beyond the scale ends in an arrow."""
    shapes = [_rectangle(_across(-SHADED), _across(SHADED), "same", 2 * _MIDDLE), _upright(0.5, "at100")]
    if row.better is None:
        return _picture(shapes, "not compared")
    decided = row.result in (ChangeResult.FASTER, ChangeResult.SLOWER, ChangeResult.HIGHER, ChangeResult.LOWER)
    token = "dim" if not decided else "s2" if row.better < 0 else "s1"
    at = _across(row.better)
    shapes.append(_rectangle(min(at, 0.5), max(at, 0.5), f"{token} pale", 6))
    said = f"{as_percent(abs(row.better))} {'worse' if row.better < 0 else 'better'}"
    if row.low is not None and row.high is not None:
        low, high = _across(row.low), _across(row.high)
        span = {"x1": _percent(low), "x2": _percent(high)}
        shapes.append(empty("line", **span, y1=_MIDDLE, y2=_MIDDLE, class_=f"{token} bracket"))
        shapes += [_upright(end, f"{token} bracket", 6) for end in (low, high)]
        said += f", between {100 * row.low:+.0f} and {100 * row.high:+.0f} percent"
    arrow = "M-8 0l11 -7v14z" if row.better < 0 else "M8 0l-11 -7v14z"
    circle = "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z"
    shapes.append(_point(at, circle if abs(row.better) <= SCALE else arrow, ""))
    return _picture(shapes, said)


def _across(share: float) -> float:
    """Return where a change lies on its bar, 0 at the left end and 1 at the right one."""
    return 0.5 + min(max(share / SCALE, -1.0), 1.0) / 2


def _picture(shapes: Sequence[Markup], said: str) -> Markup:
    return element("svg", *shapes, class_="sb", role="img", aria_label=said)


def _percent(part: float) -> str:
    return f"{100 * min(max(part, 0.0), 1.0):.1f}%"


def _rectangle(start: float, end: float, css_class: str, height: float) -> Markup:
    x, width = _percent(start), _percent(end - start)
    return empty("rect", x=x, y=_MIDDLE - height / 2, width=width, height=height, class_=css_class)


def _upright(at: float, css_class: str, half: float = _MIDDLE - 2) -> Markup:
    return empty("line", x1=_percent(at), x2=_percent(at), y1=_MIDDLE - half, y2=_MIDDLE + half, class_=css_class)


def _point(at: float, path: str, css_class: str) -> Markup:
    return element(
        "svg", empty("path", d=path, class_=f"point{css_class}"), x=_percent(at), y=_MIDDLE, overflow="visible"
    )


def _two(cards: Iterable[Markup]) -> Markup:
    """Return cards in two columns."""
    shown = joined(*cards)
    return element("div", shown, class_="two") if shown else shown


def _pairs(pairs: Iterable[tuple[str, str]]) -> Markup:
    texts = ((name, value if isinstance(value, Markup) else by_names(value)) for name, value in pairs)
    return element("dl", *(joined(element("dt", name), element("dd", text)) for name, text in texts))


def _chart(name: str, chart: Chart, note: str = "") -> Markup:
    warning = element("p", pill("WARN", "warn"), f" {capitalized(note)}.") if note else _NOTHING
    drawn = (
        svg.draw(chart, f"{name}-{kind}", width=width, titled=False, css_class=f"chart {kind}")
        for kind, width in _FIGURE_WIDTHS
    )
    return element("section", element("h2", chart.title), warning, *drawn, class_="card")


def _words(document: Document) -> Iterator[Markup]:
    """Yield the findings and the notes of the first page."""
    if document.findings or document.more_findings:
        more = f"{document.more_findings} more under All findings" if document.more_findings else ""
        found = [element("h2", "Findings", element("span", more))]
        for one in document.findings:
            word = SEVERITY_WORDS[one.severity]
            text = joined(element("b", one.title), element("p", one.remedy or one.consequence, class_="quiet"))
            found.append(element("div", pill(word, status_token(word)), element("div", text), class_="f"))
        yield element("section", *found, class_="card")
    if document.notes:
        notes = element("ul", *(element("li", note) for note in document.notes))
        yield element("section", element("h2", "Notes"), notes, class_="card")


def _block(name: str, block: Block) -> Markup:
    match block:
        case Heading(text):
            return element("h3", text)
        case Paragraph(text):
            return element("p", by_names(text))
        case Items(lines):
            return element("ul", *(element("li", by_names(line)) for line in lines))
        case Working(lines):
            return element("pre", "\n".join(lines))
        case Facts():
            return _pairs(block.pairs)
        case Table():
            return _table(block)
        case LineChart() | BarChart() | HeatMap():
            values = element("details", element("summary", "Values"), _table(text_alternative.table(block)))
            caption = element("figcaption", block.caption) if block.caption else joined()
            return joined(element("figure", _scrolling(svg.draw(block, name), block.title), caption), values)


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
                element("td", by_names(text), class_="n" if column.numeric else "t")
                for column, text in zip(table.columns, row, strict=True)
            ),
        )
        for row in table.rows
    )
    note = element("p", table.note, class_="quiet") if table.note else joined()
    caption = element("caption", table.title) if table.title else joined()
    grid = element("table", caption, element("thead", element("tr", *heads)), element("tbody", *rows))
    return _scrolling(joined(grid, note), f"Values of {table.title}" if table.title else "Table")


def _scrolling(content: Markup, label: str) -> Markup:
    """What may be wider than the page; it takes the focus, so that it scrolls by the keyboard as well."""
    return element("div", content, class_="wide", tabindex="0", role="group", aria_label=label)
