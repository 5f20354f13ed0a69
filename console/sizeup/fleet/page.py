"""The fleet as one web page: the answer first, then the hosts that stand out, then a table per machine type.

A click on a column sorts by it. The page has one script, of its own, which its content security policy allows by its
hash; it makes no request.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib import resources

from sizeup import __version__
from sizeup.charts.markup import Markup, element, joined, style_sheet
from sizeup.compare.profile import AcceptanceResult
from sizeup.fleet.against import FleetDrift
from sizeup.fleet.fleet import Fleet, Host, HostStatus, usable
from sizeup.fleet.heat import LOOKS, by_status, fleet_band, heat_cell
from sizeup.fleet.profile import Acceptance
from sizeup.fleet.synchronized import SynchronizedRun
from sizeup.fleet.table import (
    acceptance_lines,
    columns_of,
    difference_sentences,
    drift_lines,
    headline,
    outlier_sentence,
    problem_sentences,
    short_title,
    synchronized_lines,
)
from sizeup.report.html import band_section, state, top_line, whole_page
from sizeup.text import plural
from sizeup.views.result.summary import SEVERITY_WORDS

_MOST_DIFFERENCES = 12
_WIDTH = 10_000
_SCRIPT = (resources.files("sizeup.fleet") / "fleet.js").read_text(encoding="utf-8")
_MORE_STYLE = style_sheet("sizeup.fleet", "fleet.css")
_RESULTS = {
    AcceptanceResult.PASS: ("●", "ok"),
    AcceptanceResult.FAIL: ("▼", "bad"),
    AcceptanceResult.UNDECIDED: ("?", "warn"),
}


def fleet_page(
    fleet: Fleet,
    accepted: Sequence[Acceptance] = (),
    drift: FleetDrift | None = None,
    runs: Sequence[SynchronizedRun] = (),
) -> str:
    """Return the whole page."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    results = {one.host: one.result for one in accepted}
    body = joined(
        top_line("fleet", plural(len(fleet.hosts), "host"), f"by sizeup {__version__}"),
        element(
            "main",
            band_section(fleet_band(fleet)),
            *(element("p", sentence, class_="quiet") for sentence in problem_sentences(fleet)),
            _section("Acceptance", acceptance_lines(accepted, _WIDTH) if accepted else ()),
            *(_section("Synchronized run", synchronized_lines(run, _WIDTH)) for run in runs),
            _section("Drift", drift_lines(drift, _WIDTH) if drift is not None else ()),
            *(_stands_out(host) for host in fleet.hosts if host.outliers or host.findings),
            *(_hosts(fleet, name, hosts, results) for name, hosts in fleet.types.items()),
            element("script", Markup(_SCRIPT)),
        ),
    )
    return whole_page(f"Fleet: {headline(fleet)} – sizeup", body, _MORE_STYLE, digest)


def _section(title: str, lines: Iterable[str]) -> Markup:
    found = [line.strip() for line in lines]
    if not found:
        return joined()
    items = element("ul", *(element("li", line) for line in found[1:])) if found[1:] else joined()
    return joined(element("h2", title), element("p", found[0]), items)


def _stands_out(host: Host) -> Markup:
    sentences = [outlier_sentence(one) for one in host.outliers]
    found = [f"{SEVERITY_WORDS[one.severity]}: {one.title}" for one in host.findings]
    differs = dict.fromkeys(text for one in host.outliers for text in difference_sentences(one, _MOST_DIFFERENCES))
    return element(
        "section",
        element("h2", host.name, element("span", _status(host))),
        *(element("p", text) for text in (*sentences, *found)),
        element("ul", *(element("li", text) for text in differs)) if differs else joined(),
        class_="card",
    )


def _status(host: Host) -> Markup:
    sign, token, word = LOOKS[host.status]
    return state(sign, word, token)


def _hosts(fleet: Fleet, title: str, hosts: Sequence[Host], results: dict[str, AcceptanceResult]) -> Markup:
    names = columns_of(fleet, hosts)
    titles = ["Host", *(short_title(fleet, name) for name in names), "Status", *(["Profile"] if results else [])]
    heads = (
        element("th", element("button", text, type="button"), scope="col", class_="n" if 0 < at <= len(names) else "t")
        for at, text in enumerate(titles)
    )
    rows = []
    for host in by_status(hosts):
        cells = [element("th", host.name, scope="row")]
        for name in names:
            figure, cell = host.figures.get(name), heat_cell(fleet, host, name)
            shade = f"{'worse' if cell.level < 0 else 'better'}{abs(cell.level)}" if cell.level else ""
            kinds = ("n", shade, "out" if cell.stands_out else "", "" if cell.compared else "quiet")
            sort = repr(figure.value) if figure is not None and usable(figure) else ""
            text = (cell.value, element("small", f" {cell.difference}") if cell.difference else "")
            cells.append(element("td", *text, class_=" ".join(filter(None, kinds)), data_sort=sort))
        cells.append(element("td", _status(host), data_sort=str(list(HostStatus).index(host.status))))
        if results:
            result = results[host.name]
            sign, token = _RESULTS[result]
            cells.append(element("td", state(sign, result.value, token), data_sort=result.value))
        rows.append(element("tr", *cells))
    grid = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), class_="sortable")
    wide = element("div", grid, class_="wide", tabindex="0", role="group", aria_label=title)
    return joined(element("h2", f"{title}: {plural(len(hosts), 'host')}"), wide)
